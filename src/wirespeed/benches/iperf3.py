"""An iperf3 server as the peer: run the client that is installed here and read what it prints."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers import tools

GRACE_S = 10.0
CANNOT = Text(
    en="an iperf3 server tells throughput and the sender's retransmits only: no latency under load, no loss runs or reordering, no path MTU, "
    "no hops, no DSCP, no common start with other flows, and what limited a flow at its far end stays unknown",
    zh="iperf3 服务器只能给出吞吐和发送端重传：没有负载下时延、丢包连续性与乱序、路径 MTU、跳数、DSCP，也无法与其他流同时起步，远端受何限制亦不可知",
)


def measured(machine: Machine, host: str, port: int, duration_s: float, flows_count: int) -> Iterator[Record | Problem]:
    """One flow there, one back, and `flows_count` there where that is more. Raises MachineProblem where iperf3 cannot be run."""
    reader = shelf.take(tools, "iperf3_json", Reader)
    for extra in ((), ("-R",), *((("-P", str(flows_count)),) if flows_count > 1 else ())):
        argv = (
            "iperf3",
            "-c",
            host,
            "-p",
            str(port),
            "-t",
            str(max(1, round(duration_s))),
            "-J",
            "--connect-timeout",
            "3000",
            *extra,
        )
        output = machine.run(argv, duration_s + GRACE_S)
        yield from reader.read(MemoryLines(output.stdout.decode(errors="replace"), " ".join(argv)))
