"""How long a command takes, roughly: what decides something in a second is asked for before what needs the job to run again."""

import re

HAND_S = 300.0
"""What a person needs to find the machine, run a command there and hand over its output: for most this is the larger part."""
RERUN_S = 300.0
"""A job started anew for its log: start-up and the first steps."""
_AT_ONCE_S = 1.0
_RERUN = re.compile(r"^(?:NCCL|UCX|TORCH|FI|OMPI)_\w+=|<your command>|\bon every rank\b")
_STATED = re.compile(
    r"^(?:iperf3\b.* -t ?|(?:oha|hey)\b.* -z ?|wrk\b.* -d ?|wirespeed record\b.* --for ?|(?:mpstat|sar|iostat)\b.* 1 )(?P<seconds>\d+)"
)
"""Tools that run for as long as their arguments say."""
_ONE_A_SECOND = re.compile(r"^(?:ping|mtr)\b.*\s-c\s?(?P<count>\d+)")
"""Tools that send so many probes, one a second."""
_USUAL_S = {
    "iperf3": 10.0, "ib_write_bw": 10.0, "ib_read_bw": 10.0, "ib_send_bw": 10.0, "wget": 30.0, "aria2c": 30.0, "ab": 30.0,
    "all_reduce_perf": 60.0, "p2pBandwidthLatencyTest": 30.0, "tcpdump": 30.0, "traceroute": 10.0, "tracepath": 10.0, "ibdiagnet": 60.0,
    "python": 5.0, "wirespeed": 30.0, "perfquery": 2.0, "ibqueryerrors": 5.0, "kubectl": 2.0,
}  # fmt: skip
"""What tools take by themselves; any other prints what the kernel or a file holds, which takes no time worth counting."""


def takes_s(command: str) -> float:
    """Seconds a command runs: as its arguments say, as such tools usually take, or a second.

    >>> takes_s("ethtool -S IFACE"), takes_s("iperf3 -c PEER -t 10"), takes_s("NCCL_DEBUG=INFO <your command>")
    (1.0, 10.0, 300.0)
    """
    if _RERUN.search(command):
        return RERUN_S
    if (stated := _STATED.search(command)) is not None:
        return float(stated["seconds"])
    if (counted := _ONE_A_SECOND.search(command)) is not None:
        return float(counted["count"])
    return _USUAL_S.get(command.split(" ", 1)[0], _AT_ONCE_S)


def cost_s(command: str, hand_s: float = HAND_S) -> float:
    """What it costs a person to have the answer: the command's time and their own."""
    return hand_s + takes_s(command)
