"""Ways in which the families of counters open what they read, and tables of /proc in the few shapes they come in."""

from collections.abc import Iterable
from functools import lru_cache
from math import nan

from wirespeed.machines.kept import Kept, kept_file
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.samples import Key
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import LINKS, link_names, listing_or_nothing, value_of
from wirespeed.observation.sampler import Probe, Raw, Row
from wirespeed.readers.netlink import ethtool_ioctl, rtnetlink

TOOL = "record"


def opened_files(machine: Machine, paths: Iterable[str]) -> tuple[list[Kept], list[Problem]]:
    """Every file that can be read, and why the others cannot; those of which there is none leave no trace."""
    kept: list[Kept] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            kept.append(kept_file(machine, path))
        except MachineProblem as trouble:
            problems.append(Problem(source=Source(tool=TOOL, path=path, host=machine.host), why=trouble.why, reason=trouble.reason))
    return kept, problems


def links_in_sysfs(machine: Machine) -> tuple[tuple[str, ...], Problem | None]:
    """Interfaces whose files in /sys/class/net are those of our own network namespace.

    A process that moved to another namespace still sees the sysfs of the old one: then there are none, and a problem says so.
    """
    shown = {name for name in listing_or_nothing(machine, LINKS) if name != "bonding_masters"}
    try:
        own = {name: index for index, name in link_names(machine).items()}
    except MachineProblem:
        return tuple(sorted(shown)), None
    for name in shown & own.keys():
        if _index(machine, name) != own[name]:
            shown.discard(name)
    if own.keys() - shown:
        why = Text(
            en="/sys belongs to another network namespace: queues and statistics in it are not ours",
            zh="/sys 属于另一个网络命名空间：其中的队列与统计不属于当前命名空间",
        )
        return (), Problem(source=Source(tool=TOOL, path=LINKS, host=machine.host), why=why, reason="absent")
    return tuple(sorted(shown & own.keys())), None


def _index(machine: Machine, name: str) -> int | None:
    try:
        return int(machine.read(f"{LINKS}/{name}/ifindex"))
    except (MachineProblem, ValueError):
        return None


@lru_cache(maxsize=64)
def words(line: bytes) -> tuple[str, ...]:
    """The words of a heading."""
    return tuple(line.decode(errors="replace").split())


def number_probe(machine: Machine, numbers: Iterable[tuple[Key, str]]) -> Probe | None:
    """A probe of files that hold one whole number each; None where none of them can be read. Files that hold no number are left out."""
    keys: list[Key] = []
    kept: list[Kept] = []
    for key, path in numbers:
        try:
            file = kept_file(machine, path)
        except MachineProblem:
            continue
        if file.read().strip().isdigit():
            keys.append(key)
            kept.append(file)
        else:
            file.close()
    layout = tuple(keys)

    def parse(raw: Raw) -> Row:
        """A file that went away is a gap in its own series alone."""
        return layout, [float(text) if text else nan for text in raw]

    return Probe(sources=tuple(kept), parse=parse) if kept else None


def _names_of_links(machine: Machine) -> dict[int, str]:
    """From the kernel, or from what is listed; none where neither is to be had."""
    try:
        return link_names(machine)
    except MachineProblem:
        pass
    try:
        listed = machine.listing(LINKS)
    except MachineProblem:
        return {}
    return dict(enumerate(name for name in listed if name != "bonding_masters"))


def link_rates(machine: Machine) -> dict[str, float]:
    """Bits a second each interface can carry: what its driver says, or less where a token bucket shapes it. Unknown ones are missing."""
    rates: dict[str, float] = {}
    names = _names_of_links(machine)
    for name in names.values():
        rate = _driver_rate(machine, name)
        if rate:
            rates[name] = rate
    try:
        shapers = rtnetlink.qdiscs(
            machine.netlink(rtnetlink.NETLINK_ROUTE, rtnetlink.QDISCS_REQUEST), names, Source(tool=TOOL, path="")
        )
    except MachineProblem:
        return rates
    for shaper in shapers:
        if shaper.rate_bits_per_s:
            rates[shaper.link] = min(rates.get(shaper.link, shaper.rate_bits_per_s), shaper.rate_bits_per_s)
    return rates


def _driver_rate(machine: Machine, name: str) -> float | None:
    try:
        request = ethtool_ioctl.settings_request(machine.ioctl(name, ethtool_ioctl.SETTINGS_PROBE))
        settings = ethtool_ioctl.settings(machine.ioctl(name, request)) if request else None
        return None if settings is None else settings.rate_bits_per_s
    except MachineProblem:
        speed = value_of(machine, f"{LINKS}/{name}/speed")
        return int(speed) * 1e6 if speed is not None and speed.isdigit() else None
