"""The machine's queueing disciplines, from rtnetlink."""

from collections.abc import Iterator
from functools import partial

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.path import Qdisc
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import dumped, link_names
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import rtnetlink


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    names = link_names(machine)
    source = Source(tool="rtnetlink", path="rtnetlink qdiscs", host=machine.host)
    read = partial(rtnetlink.qdiscs, names=names, source=source)
    yield from dumped(machine, rtnetlink.NETLINK_ROUTE, rtnetlink.QDISCS_REQUEST, source, read)


COLLECTOR = Collector(title=Text(en="queueing disciplines", zh="排队规则"), gives=(Qdisc,), observe=_observe, cost_s=0.002)
