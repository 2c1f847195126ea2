"""What changed in the facts between two looks at a machine: records matched by what they are about, compared field by field.

Every kind of fact declares here by what it is known again and which of its fields are no facts, with the reason; a test holds that
no kind is forgotten.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, cast

from wirespeed.model.comparison import FactChange, FieldChange, Plain
from wirespeed.model.facts.cluster import ClusterEvent, JobNodes, NetworkPolicy, NodeGroup, NodeState
from wirespeed.model.facts.fabric import DeviceHealth, FabricLink, LinkNeighbour, LinkSignal, SubnetManager
from wirespeed.model.facts.gpu import DevicePath, Gpu, GpuCheck, GpuProcess, NvLink, PeerAccess
from wirespeed.model.facts.host import (
    ContainerState,
    CpuMask,
    CpuQuota,
    DiskUse,
    EnvVar,
    HostIdentity,
    HostsEntry,
    Interrupt,
    IommuState,
    KernelModule,
    Mount,
    NumaNode,
    PciDevice,
    ProcessLimit,
    ProcessUse,
    ResolverSetup,
    SoftirqCpu,
    SoftnetCpu,
    SoftwareVersion,
    Sysctl,
)
from wirespeed.model.facts.link import (
    Bond,
    Counter,
    Link,
    LinkChannels,
    LinkCoalescing,
    LinkModule,
    LinkOffload,
    LinkPause,
    LinkRings,
    PriorityFlowControl,
    QueueSteering,
)
from wirespeed.model.facts.path import Address, Neighbour, Qdisc, Route
from wirespeed.model.facts.rdma import Gid, RdmaDeviceNode, RdmaPort
from wirespeed.model.facts.serving import ModelPlacement
from wirespeed.model.facts.sockets import Listener, SocketSummary, TcpSocket
from wirespeed.model.link_runs import HeaderRun, PathMtuRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem

Leave: TypeAlias = Literal["counts", "moment", "lives-once", "measured"]
"""Why something is no fact: it counts on by itself; it is the state of a moment; it has a name that is used once; it is a measurement."""

FIRST_EPHEMERAL_PORT = 32768
"""Default of net.ipv4.ip_local_port_range: a listener above it got its port by chance."""
DAMAGE = "archive"
"""The tool that names what could not be read of a run: a record that is lost is not a fact that is gone."""
_UNSHOWN = frozenset({"source", "quotes", "missing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """How one kind of fact is known again. `identities` are fields that redaction replaces anew in each run."""

    key: tuple[str, ...] = ()
    leaves: Mapping[str, Leave] = field(default_factory=dict)
    merges: bool = False
    """Several records may describe one thing, each with the fields its source knows."""
    left_out: Callable[[Any], Leave | None] = lambda record: None
    identities: frozenset[str] = frozenset()


def _left(reason: Leave, *names: str) -> dict[str, Leave]:
    return dict.fromkeys(names, reason)


def _of_listener(one: Listener) -> Leave | None:
    return "lives-once" if one.port >= FIRST_EPHEMERAL_PORT else None


def _of_sysctl(one: Sysctl) -> Leave | None:
    return "counts" if one.name.endswith("_count") else None


FACTS: Mapping[type[Record], Fact] = {
    HostIdentity: Fact(identities=frozenset({"hostname"})),
    Link: Fact(key=("name",), merges=True, leaves=_left("counts", "carrier_changes_count"), identities=frozenset({"mac_address"})),
    LinkRings: Fact(key=("link",)),
    LinkChannels: Fact(key=("link",)),
    LinkCoalescing: Fact(key=("link",)),
    LinkOffload: Fact(key=("link", "feature")),
    LinkPause: Fact(key=("link",)),
    PriorityFlowControl: Fact(key=("link",)),
    LinkModule: Fact(key=("link",), leaves=_left("moment", "temperature_celsius")),
    Bond: Fact(key=("name",)),
    QueueSteering: Fact(key=("link", "queue", "what")),
    Qdisc: Fact(
        key=("link", "parent"),
        leaves=_left("counts", "sent_bytes", "sent_packets", "dropped_packets", "overlimits_count", "requeues_count")
        | _left("moment", "backlog_bytes", "backlog_packets")
        | _left("lives-once", "handle"),
    ),
    Address: Fact(key=("link", "address"), identities=frozenset({"address"})),
    Route: Fact(
        key=("destination", "table", "metric_number", "is_lookup"),
        identities=frozenset({"destination", "gateway", "preferred_source", "next_hops"}),
    ),
    PathMtuRun: Fact(key=("sender", "receiver", "address"), identities=frozenset({"sender", "receiver", "address"})),
    HeaderRun: Fact(
        key=("sender", "receiver", "address"),
        leaves=_left("measured", "ttl_received_hops"),
        identities=frozenset({"sender", "receiver", "address"}),
    ),
    RdmaPort: Fact(key=("device", "port")),
    Gid: Fact(key=("device", "port", "index"), identities=frozenset({"gid", "ipv4"})),
    RdmaDeviceNode: Fact(key=("path",)),
    Gpu: Fact(
        key=("index",),
        leaves=_left("moment", "utilisation_ratio", "memory_used_bytes", "power_w", "temperature_celsius", "sm_clock_hz")
        | _left("moment", "throttle_reasons", "pcie_generation_number")
        | _left("moment", "sm_active_ratio", "power_limited_ratio", "is_thermally_limited")
        | _left("counts", "ecc_uncorrected_count", "pcie_replays_count", "last_xid_number")
        | _left("counts", "thermal_slowed_s", "power_capped_s", "power_braked_s"),
    ),
    NvLink: Fact(key=("gpu_index", "link_index"), leaves=_left("counts", "replay_count", "recovery_count", "crc_errors_count")),
    DevicePath: Fact(key=("near", "far")),
    PeerAccess: Fact(key=("near_index", "far_index"), leaves=_left("measured", "latency_s", "bandwidth_bytes_per_s")),
    PciDevice: Fact(key=("address",)),
    NumaNode: Fact(key=("index",)),
    IommuState: Fact(),
    Sysctl: Fact(key=("name",), left_out=_of_sysctl),
    KernelModule: Fact(key=("name",)),
    ProcessLimit: Fact(key=("subject", "name")),
    CpuMask: Fact(key=("subject",)),
    CpuQuota: Fact(
        key=("subject",), leaves=_left("counts", "throttled_count", "periods_count") | _left("moment", "throttled_ratio")
    ),
    ContainerState: Fact(key=("subject",)),
    Mount: Fact(key=("path",), leaves=_left("moment", "used_bytes")),
    Interrupt: Fact(key=("irq", "name"), leaves=_left("counts", "per_cpu_counts")),
    ResolverSetup: Fact(identities=frozenset({"nameservers", "search"})),
    HostsEntry: Fact(key=("name", "address"), identities=frozenset({"name", "address"})),
    EnvVar: Fact(key=("name", "rank"), identities=frozenset({"setting"})),
    SoftwareVersion: Fact(key=("name", "rank")),
    FabricLink: Fact(key=("near", "near_port")),
    LinkNeighbour: Fact(key=("link",)),
    ModelPlacement: Fact(key=("server", "device")),
    NodeGroup: Fact(key=("level", "name", "nodes")),
    NetworkPolicy: Fact(key=("name",)),
    Listener: Fact(
        key=("address", "port"),
        leaves=_left("moment", "queue_count") | _left("lives-once", "process"),
        left_out=_of_listener,
        identities=frozenset({"address"}),
    ),
}
"""In the order in which changes are told."""

LEFT_OUT: Mapping[type[Record], Leave] = {
    Counter: "counts",
    SoftnetCpu: "counts",
    SoftirqCpu: "counts",
    Neighbour: "moment",
    SocketSummary: "moment",
    ProcessUse: "moment",
    GpuProcess: "moment",
    GpuCheck: "measured",
    DiskUse: "measured",
    TcpSocket: "lives-once",
    ClusterEvent: "moment",
    NodeState: "moment",
    DeviceHealth: "moment",
    SubnetManager: "moment",
    LinkSignal: "measured",
    JobNodes: "lives-once",
}
"""Kinds that are no facts as a whole."""


def changed_facts(
    before: Iterable[Record | Problem], after: Iterable[Record | Problem], *, with_identities: bool = True
) -> tuple[FactChange, ...]:
    """Facts of two runs that differ, in the order of `FACTS`.

    A field that one run could not get (denied, unsupported, timed out) is not known, and no change; nor is a kind of record that one run has none of because
    its source failed there. Without identities (one of the runs had them replaced) nothing is said that rests on them.
    """
    old, new = _by_kind(before), _by_kind(after)
    return tuple(change for kind, fact in FACTS.items() for change in _changes(kind, fact, old, new, with_identities))


@dataclass(frozen=True, slots=True)
class _Seen:
    """The records of a run by kind, and the tools that failed in it."""

    records: dict[type[Record], list[Record]]
    failed: frozenset[str]


def _by_kind(items: Iterable[Record | Problem]) -> _Seen:
    records: dict[type[Record], list[Record]] = defaultdict(list)
    failed: set[str] = set()
    for item in items:
        if isinstance(item, Problem):
            failed.add(item.source.tool)
        elif type(item) in FACTS:
            records[type(item)].append(item)
    return _Seen(records, frozenset(failed))


def _changes(kind: type[Record], fact: Fact, before: _Seen, after: _Seen, with_identities: bool) -> Iterator[FactChange]:
    if not with_identities and set(fact.key) & fact.identities:
        return
    old, new = _by_key(before.records.get(kind, ()), fact), _by_key(after.records.get(kind, ()), fact)
    hidden = frozenset() if with_identities else fact.identities
    names = tuple(name for name in kind.__struct_fields__ if name not in _UNSHOWN | set(fact.key) | set(fact.leaves) | hidden)
    is_unsure = _is_unsure(before, after, kind)
    for key in sorted(old.keys() | new.keys(), key=_sortable):
        yield from _changes_of(kind, key, names, (old.get(key, []), new.get(key, [])), is_unsure)


def _is_unsure(before: _Seen, after: _Seen, kind: type[Record]) -> bool:
    """Whether records of this kind may lack in one run only because what gives them failed there."""
    if any(DAMAGE in seen.failed for seen in (before, after)):
        return True
    tools = {record.source.tool for seen in (before, after) for record in seen.records.get(kind, ())}
    return any(not seen.records.get(kind) and bool(tools & seen.failed) for seen in (before, after))


def _changes_of(
    kind: type[Record], key: tuple[object, ...], names: tuple[str, ...], sides: tuple[list[Record], list[Record]], is_unsure: bool
) -> Iterator[FactChange]:
    """Changes of the records under one key: those alike on both sides are matched first, the rest in order."""
    old, new = list(sides[0]), list(sides[1])
    for one in sides[0]:
        alike = next((other for other in new if not _differing(one, other, names)), None)
        if alike is not None:
            old.remove(one)
            new.remove(alike)
    told = partial(FactChange, fact=kind.__name__, identity=" ".join(str(part) for part in key if part not in (None, False)))
    for one, other in zip(old, new, strict=False):
        yield told(change="changed", fields=tuple(_differing(one, other, names)))
    if is_unsure:
        return
    for one in old[len(new) :]:
        yield told(change="gone", fields=tuple(_present(one, names, is_new=False)))
    for one in new[len(old) :]:
        yield told(change="appeared", fields=tuple(_present(one, names, is_new=True)))


def _differing(old: Record, new: Record, names: tuple[str, ...]) -> list[FieldChange]:
    return [
        FieldChange(name=name, old=_plain(getattr(old, name)), new=_plain(getattr(new, name)))
        for name in names
        if getattr(old, name) != getattr(new, name) and _is_known(old, name) and _is_known(new, name)
    ]


def _is_known(record: Record, name: str) -> bool:
    """Whether the field says something: a value, or that there is none."""
    return record.missing.get(name, "absent") == "absent"


def _present(one: Record, names: tuple[str, ...], *, is_new: bool) -> Iterator[FieldChange]:
    for name in names:
        value = _plain(getattr(one, name))
        if value not in (None, (), False):
            yield FieldChange(name=name, old=None if is_new else value, new=value if is_new else None)


def _by_key(records: Iterable[Record], fact: Fact) -> dict[tuple[object, ...], list[Record]]:
    found: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in records:
        if fact.left_out(record) is None:
            found[tuple(getattr(record, name) for name in fact.key)].append(record)
    return {key: [_merged(same)] for key, same in found.items()} if fact.merges else dict(found)


def _merged(same: list[Record]) -> Record:
    """One record with the first value known of each field, by whatever source; missing is only what no source has."""
    if len(same) == 1:
        return same[0]
    first, *others = same
    values = {name: getattr(first, name) for name in first.__struct_fields__}
    for other in others:
        for name in first.__struct_fields__:
            values[name] = getattr(other, name) if values[name] is None else values[name]
    reasons = {name: reason for one in same for name, reason in one.missing.items() if values.get(name) is None}
    return type(first)(**(values | {"missing": reasons}))


def _plain(value: object) -> Plain:
    return cast(Plain, value) if value is None or isinstance(value, str | int | float | bool | tuple) else str(value)


def _sortable(key: tuple[object, ...]) -> tuple[tuple[bool, str], ...]:
    return tuple((isinstance(part, str), f"{part:>12}" if isinstance(part, int) else str(part)) for part in key)
