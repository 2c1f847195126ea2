"""Backlog, drops and overlimits of every queueing discipline (rtnetlink)."""

from functools import lru_cache, partial

from wirespeed.machines.kept import kept_dump
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.path import Qdisc
from wirespeed.model.samples import Key, Layout
from wirespeed.model.source import Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import link_names
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted
from wirespeed.readers.netlink import rtnetlink

_FIELDS = (
    ("sent_bytes", "bytes", "counter"), ("sent_packets", "packets", "counter"), ("dropped_packets", "packets", "counter"),
    ("overlimits_count", "1", "counter"), ("requeues_count", "1", "counter"), ("backlog_bytes", "bytes", "gauge"),
    ("backlog_packets", "packets", "gauge"),
)  # fmt: skip
_SOURCE = Source(tool="rtnetlink", path="rtnetlink qdiscs")


@lru_cache(maxsize=64)
def _layout(scopes: tuple[str, ...]) -> Layout:
    return tuple(
        Key("qdiscs", scope, name.removesuffix("_count"), unit, "gauge" if kind == "gauge" else "counter")
        for scope in scopes
        for name, unit, kind in _FIELDS
    )


def _parse(machine: Machine, names: dict[int, str], raw: Raw) -> Row:
    """The scope is the link, the discipline and its handle, as `eth0/tbf/8001:`; one that never queues (`noqueue`) is left out."""
    scopes: list[str] = []
    values: list[float] = []
    seen = list(rtnetlink.qdiscs(raw[0], names, _SOURCE))
    if any(found.link.startswith("if") and found.link[2:].isdigit() and found.link not in names.values() for found in seen):
        names |= _names_now(machine)
        seen = list(rtnetlink.qdiscs(raw[0], names, _SOURCE))
    for found in seen:
        if found.discipline != "noqueue":
            scopes.append(f"{found.link}/{found.discipline}/{_place(found)}")
            given = [getattr(found, name) for name, _, _ in _FIELDS]
            values += [float("nan") if value is None else float(value) for value in given]
    return _layout(tuple(scopes)), values


def _names_now(machine: Machine) -> dict[int, str]:
    """Names of interfaces, some of which are new."""
    try:
        return link_names(machine)
    except MachineProblem:
        return {}


def _place(found: Qdisc) -> str:
    """The handle, or for one the kernel made itself and gave none, where it hangs."""
    return (found.parent if found.handle == "0:" else found.handle) or "0:"


def _open(machine: Machine, wanted: Wanted) -> Probe:
    dump = kept_dump(machine, rtnetlink.NETLINK_ROUTE, (rtnetlink.QDISCS_REQUEST,))
    probe = Probe(sources=(dump,), parse=partial(_parse, machine, link_names(machine)))
    if not probe.parse((dump.read(),))[0]:
        dump.close()
        raise MachineProblem("absent", Text(en="no interface here has a queueing discipline", zh="此处没有带排队规则的接口"))
    return probe


FAMILY = Family(title=Text(en="queueing disciplines", zh="排队规则"), open=_open, period_s=0.02, named_period_s=0.005)
"""A burst of 20 ms must not pass between two looks at the queue it fills."""
