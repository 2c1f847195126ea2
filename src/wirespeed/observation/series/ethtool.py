"""The driver's own statistics of every interface: drops by reason, pause, PFC, ECN, symbol errors (ethtool ioctl)."""

from functools import partial

from wirespeed.machines.kept import Kept, kept_ioctl
from wirespeed.machines.machine import Machine, MachineProblem, absent
from wirespeed.model.counters import canonical_name
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.asking import LINKS, link_names, listing_or_nothing
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted
from wirespeed.readers.netlink import ethtool_ioctl as ethtool

MOST_COUNTERS = 4_096
"""Of the whole machine: an adapter with 128 queues has some 3,000, most of them of single queues."""


def _names(machine: Machine, link: str) -> tuple[str, ...]:
    count = ethtool.string_count(machine.ioctl(link, ethtool.string_count_request(ethtool.SET_STATS)))
    return ethtool.strings(machine.ioctl(link, ethtool.strings_request(ethtool.SET_STATS, count))) if count else ()


def _unit(name: str) -> str:
    canonical = canonical_name(name) or ""
    return (
        "bytes"
        if "bytes" in name or "octets" in name
        else "s"
        if canonical.endswith("_us")
        else "packets"
        if "packets" in name
        else "1"
    )


def _parse(layouts: tuple[Layout, ...], whole: Layout, raw: Raw) -> Row:
    """A link that went away is a gap in its own series alone."""
    nothing = float("nan")
    values: list[float] = []
    for layout, reply in zip(layouts, raw, strict=True):
        found = ethtool.statistics(reply)[: len(layout)]
        values += map(float, found)
        values += [nothing] * (len(layout) - len(found))
    return whole, [value / 1e6 if key.unit == "s" else value for key, value in zip(whole, values, strict=True)]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    kept: list[Kept] = []
    layouts: list[Layout] = []
    try:
        links = sorted(link_names(machine).values())
    except MachineProblem:
        links = list(listing_or_nothing(machine, LINKS))
    for link in links:
        try:
            names = _names(machine, link)
            if names and sum(map(len, layouts)) + len(names) <= MOST_COUNTERS:
                kept.append(kept_ioctl(machine, link, ethtool.statistics_request(len(names))))
                layouts.append(tuple(Key("ethtool", link, name, _unit(name)) for name in names))
        except MachineProblem:
            continue  # a link without statistics of its own, such as the loopback
    if not kept:
        raise absent("driver statistics")
    return Probe(sources=tuple(kept), parse=partial(_parse, tuple(layouts), tuple(key for layout in layouts for key in layout)))


FAMILY = Family(title=Text(en="driver statistics", zh="驱动统计"), open=_open)
