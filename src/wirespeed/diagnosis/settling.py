"""What would settle a cause: the outputs its rule can be decided by, and the commands that give them."""

from collections import Counter as Counts
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.diagnosis.effort import takes_s
from wirespeed.diagnosis.judge import record_type
from wirespeed.model.counters import CANONICAL_NAMES
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.host import EnvVar, PciDevice, SoftwareVersion, Sysctl
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Need, Reader, Rule
from wirespeed.model.measurement import (
    BenchmarkRank,
    CollectiveRun,
    CollectiveSummary,
    NameLookup,
    NameServerRun,
    PathHop,
    PingRun,
    ThroughputRun,
)
from wirespeed.model.record import Record
from wirespeed.model.series import Burst, FlowSummary, Moved, SeriesSummary
from wirespeed.model.settings import Command, Quantity, Setting, Statement
from wirespeed.model.source import Source
from wirespeed.model.text import Text

MOST_WAYS = 2
"""Commands named for one kind of output; more say the same."""

_DRIVER = "ethtool -S IFACE"
_COUNTED_BY: tuple[tuple[tuple[str, ...], str], ...] = (
    (("tcp_", "listen_"), "nstat -az"),
    (("conntrack_insert", "conntrack_early"), "conntrack -S"),
    (("rdma_", "cnp_", "ecn_"), "rdma statistic"),
    (("xmit_", "link_down", "link_recovery", "link_integrity", "buffer_overrun", "vl15_"), "perfquery -x"),
    (("carrier_changes",), "ip -s -d link"),
    (("",), _DRIVER),
)
"""Which tool counts what, by the start of the canonical name; what no other counts is the driver's."""


def _counter(canonical: str) -> Counter:
    return Counter(source=_PROBE, scope="", name=canonical, value_count=1, canonical=canonical)


def _run(tool: str, **told: Any) -> ThroughputRun:
    return ThroughputRun(source=_PROBE, tool=tool, rate_bits_per_s=1e9, **told)


def _counted_by(canonical: str) -> str:
    return next(command for starts, command in _COUNTED_BY if canonical.startswith(starts))


_PROBE = Source(tool="probe", path="")
_PROBES: Mapping[type[Record], tuple[tuple[Record, str], ...]] = {
    Counter: tuple((_counter(name), _counted_by(name)) for name in CANONICAL_NAMES),
    ThroughputRun: (
        (_run("iperf3", cpu_local_ratio=0.5, cpu_remote_ratio=0.5, retransmits_packets=1), "iperf3 -c PEER -t 10"),
        (_run("dd"), "dd if=FILE of=/dev/null bs=4M"),
    ),
}
"""Kinds that many tools give, each telling something else: a need is asked with records of them which it accepts."""

_TOLD_BY: Mapping[type[Record], tuple[str, ...]] = {
    Link: ("ip -s -d link", "ethtool IFACE"),
    RdmaPort: ("ibstat", "ibv_devinfo"),
    Gpu: ("nvidia-smi -q",),
    EnvVar: ("env | grep -E '^(NCCL|GLOO|UCX|FI|OMPI|TORCH|CUDA)_'",),
    SoftwareVersion: ("python -m torch.utils.collect_env",),
    Sysctl: ("sysctl -a",),
    PciDevice: ("lspci -vvv",),
    PathHop: ("mtr -r -n -c 100 PEER",),
    PingRun: ("ping -c 10 PEER",),
    NameLookup: ("dig NAME",),
    CollectiveRun: ("all_reduce_perf -b 8M -e 8G -f 2 -g 1",),
    BenchmarkRank: ("all_reduce_perf -b 8M -e 8G -f 2 -g 1",),
    CollectiveSummary: ("all_reduce_perf -b 8M -e 8G -f 2 -g 1",),
    NameServerRun: ("wirespeed diagnose --peer PEER",),
    FlowSummary: ("wirespeed record --for 10s",),
    SeriesSummary: ("wirespeed record --for 10s",),
    Moved: ("wirespeed record --for 10s",),
    Burst: ("wirespeed record --for 10s",),
    ThroughputRun: ("iperf3 -c PEER -t 10",),
    Counter: (_DRIVER,),
    FrameworkEvent: (),
    Setting: (),
    Command: (),
}
"""What tells most of a kind of record that many tools tell of. Without a command: it stands in the user's own files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to have an output: what it is, and the command, unless it is a file of the user's."""

    title: Text
    command: str | None
    takes_s: float | None


class Settling:
    """What the readers on the shelf can read, by kind of record; made once."""

    def __init__(self, readers: Mapping[str, Reader]) -> None:
        self._readers = readers
        self._titles = {command: reader.title for reader in readers.values() for command in reader.obtained_by}

    def ways_to(self, need: type[Record] | Need) -> tuple[Way, ...]:
        """Ways to meet a need, the most telling and cheapest first; a file of the user's where no command gives it."""
        kind = record_type(need)
        commands = _accepted(need) or _TOLD_BY.get(kind)
        if commands is None:
            commands = self._commands_for(kind)
        if commands:
            return tuple(self._way(command) for command in commands[:MOST_WAYS])
        titles = dict.fromkeys(reader.title for reader in self._readers.values() if kind in reader.gives and not reader.obtained_by)
        return tuple(Way(title=title, command=None, takes_s=None) for title in tuple(titles)[:1])

    def proofs_of(self, rule: Rule) -> tuple[tuple[tuple[Way, ...], ...], ...]:
        """The alternatives a rule can be decided by, each a list of what is needed together, each of these with the ways to it.

        What people say is left out: it lists a cause and proves nothing alone.
        """
        found: list[tuple[tuple[Way, ...], ...]] = [((self._way(command),),) for command in rule.settled_by]
        for needs in rule.needs:
            wanted = tuple(need for need in needs if record_type(need) not in (Statement, Quantity))
            together = tuple(dict.fromkeys(ways for need in wanted if (ways := self.ways_to(need))))
            if together:
                found.append(together)
        return tuple(sorted(dict.fromkeys(found), key=_effort_s))

    def commands_for(self, rule: Rule, missing: Iterable[type[Record] | Need]) -> tuple[str, ...]:
        """Commands that would settle a rule: what it names itself, then what gives the missing."""
        ways = [way for need in missing for way in self.ways_to(need)]
        return tuple(dict.fromkeys((*rule.settled_by, *(way.command for way in ways if way.command is not None))))

    def title_of(self, command: str) -> Text:
        """What the output of a command is."""
        return self._titles.get(command, _OUTPUT)

    def _commands_for(self, kind: type[Record]) -> tuple[str, ...]:
        """The first command of every reader of this kind: of those that tell little else first, then the cheapest."""
        able = [
            (len(reader.gives), takes_s(reader.obtained_by[0]), name, reader.obtained_by[0])
            for name, reader in self._readers.items()
            if kind in reader.gives and reader.obtained_by
        ]
        return tuple(command for *_, command in sorted(able))

    def _way(self, command: str) -> Way:
        return Way(title=self.title_of(command), command=command, takes_s=takes_s(command))


def _accepted(need: type[Record] | Need) -> tuple[str, ...]:
    """The commands whose records a narrowed need accepts, those of which it accepts most first."""
    if not isinstance(need, Need) or need.where is None:
        return ()
    counts = Counts(command for probe, command in _PROBES.get(need.record, ()) if need.where(probe))
    return tuple(command for command, _ in counts.most_common())


def _effort_s(together: tuple[tuple[Way, ...], ...]) -> float:
    """Time of the cheapest way to each output; what is in the user's files costs a look."""
    return sum(min(way.takes_s or 0.0 for way in ways) for ways in together)


_OUTPUT = Text(en="its output", zh="其输出")
