"""The machine's neighbours, from rtnetlink."""

from collections.abc import Iterator
from functools import partial

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.path import Neighbour
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import dumped, link_names
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import rtnetlink


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    names = link_names(machine)
    source = Source(tool="rtnetlink", path="rtnetlink neighbours", host=machine.host)
    read = partial(rtnetlink.neighbours, names=names, source=source)
    yield from dumped(machine, rtnetlink.NETLINK_ROUTE, rtnetlink.NEIGHBOURS_REQUEST, source, read)


COLLECTOR = Collector(title=Text(en="neighbours", zh="邻居表"), gives=(Neighbour,), observe=_observe, cost_s=0.002)
