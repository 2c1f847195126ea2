"""The machine's addresses, from rtnetlink."""

from collections.abc import Iterator
from functools import partial

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.path import Address
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import dumped, link_names
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import rtnetlink


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    names = link_names(machine)
    source = Source(tool="rtnetlink", path="rtnetlink addresses", host=machine.host)
    read = partial(rtnetlink.addresses, names=names, source=source)
    yield from dumped(machine, rtnetlink.NETLINK_ROUTE, rtnetlink.ADDRESSES_REQUEST, source, read)


COLLECTOR = Collector(title=Text(en="addresses", zh="地址"), gives=(Address,), observe=_observe, cost_s=0.002)
