"""The machine's neighbours, from rtnetlink."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.path import Neighbour
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import link_names
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import rtnetlink


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    names = link_names(machine)
    reply = machine.netlink(rtnetlink.NETLINK_ROUTE, rtnetlink.NEIGHBOURS_REQUEST)
    yield from rtnetlink.neighbours(reply, names, Source(tool="rtnetlink", path="rtnetlink neighbours", host=machine.host))


COLLECTOR = Collector(title=Text(en="neighbours", zh="邻居表"), gives=(Neighbour,), observe=_observe, cost_s=0.002)
