"""What TCP, UDP and IP count (/proc/net/snmp and netstat), connection tracking included."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.link import Counter
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import problem, read_by
from wirespeed.observation.collector import Collector

_CONNTRACK = "/proc/net/stat/nf_conntrack"


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        try:
            yield from read_by("tcp_counters", machine, path)
        except MachineProblem as trouble:
            yield problem(machine, "tcp_counters", path, trouble)
    try:
        yield from read_by("conntrack_stats", machine, _CONNTRACK)
    except MachineProblem as trouble:
        if trouble.reason != "absent":
            yield problem(machine, "conntrack_stats", _CONNTRACK, trouble)


COLLECTOR = Collector(title=Text(en="TCP and IP counters", zh="TCP 与 IP 计数器"), gives=(Counter,), observe=_observe, cost_s=0.003)
