"""Single observations of the rules in outputs of benchmarks: each case holds one of them alone; all figures are synthetic or published."""

from pathlib import Path

import pytest

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_rule
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all

READERS = shelf.every(tools, Reader)
RULES = shelf.every(rules, Rule)
SAMPLES = Path(__file__).parents[1] / "data" / "readers" / "tools"

BW = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 1048576    5000             {rate}             {rate}		     0.01\n"
OSU = "# OSU MPI{device} Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n1048576    {rate}\n"
LATENCY = "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8        {time}\n"
VERBS = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n 8       1000          1.60           5.63         1.71              1.75\n"
SOCKPERF = (
    "sockperf {mode} -i 192.0.2.4 -t 10\nsockperf: == version #3.10 ==\nsockperf: ====> avg-latency={time} (std-dev=3.000, mean-ad=1.000)\n"
    "sockperf: # dropped messages = {dropped}; # duplicated messages = 0; # out-of-order messages = 0\nsockperf: ---> percentile 50.000 = {time}\n"
)
SENT = "[ 0] IP = 192.0.2.4       PORT = 11111 # UDP\nsockperf: [Valid Duration] RunTime=10.000 sec; SentMessages=100000; ReceivedMessages=100000\n"

SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "verbs: GPU buffers slower": (
        "pcie_acs_enabled",
        ("cuMemAlloc() of a 67108864 bytes GPU buffer\n" + BW.format(rate="92.3"), BW.format(rate="196.2")),
    ),
    "MPI: GPU buffers slower": (
        "gdr_disabled",
        (OSU.format(device="-CUDA", rate="2100.00"), OSU.format(device="", rate="24000.00")),
    ),
    "MPI as slow as TCP, verbs quick": ("rdma_fallback_tcp", (LATENCY.format(time="14.20"), VERBS)),
    "far by sockperf": ("distance", (SOCKPERF.format(mode="pp --tcp", time="12500.000", dropped=0),)),
    "dropped messages": ("packet_loss", (SENT + SOCKPERF.format(mode="ul", time="41.000", dropped=1200).split("\n", 2)[2],)),
    "late under load": (
        "bufferbloat",
        (SOCKPERF.format(mode="pp", time="120.000", dropped=0), SOCKPERF.format(mode="ul", time="60000.000", dropped=0)),
    ),
}
NOT_SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "verbs: GPU buffers as fast": (
        "pcie_acs_enabled",
        ("cuMemAlloc() of a 67108864 bytes GPU buffer\n" + BW.format(rate="192.3"), BW.format(rate="196.2")),
    ),
    "MPI: only GPU buffers": ("gdr_disabled", (OSU.format(device="-CUDA", rate="2100.00"),)),
    "MPI: GPU buffers as fast": (
        "gdr_disabled",
        (OSU.format(device="-CUDA", rate="23100.00"), OSU.format(device="", rate="24000.00")),
    ),
    "MPI as quick as verbs": ("rdma_fallback_tcp", (LATENCY.format(time="2.10"), VERBS)),
    "MPI slow, no RDMA in sight": ("rdma_fallback_tcp", (LATENCY.format(time="14.20"),)),
    "near by sockperf": ("distance", (SOCKPERF.format(mode="pp --tcp", time="22.500", dropped=0),)),
    "nothing dropped": ("packet_loss", (SENT + SOCKPERF.format(mode="ul", time="41.000", dropped=1).split("\n", 2)[2],)),
    "as quick under load": (
        "bufferbloat",
        (SOCKPERF.format(mode="pp", time="120.000", dropped=0), SOCKPERF.format(mode="ul", time="140.000", dropped=0)),
    ),
    "a refused TCP ping is no loss": (
        "packet_loss",
        ((SAMPLES / "tcp_ping" / "hping" / "input.txt").read_text().split("HPING 192.0.2.10")[0],),
    ),
}


def _supports(rule: str, texts: tuple[str, ...]) -> bool:
    records = [
        item
        for place, text in enumerate(texts)
        for _, item in read_all(MemoryLines(text, f"input {place}"), READERS)
        if isinstance(item, Record)
    ]
    judged = judge_rule(rule, RULES[rule], Case(records))
    return any(one.weight_nats > 0 for one in judged.verdict.evidence)


@pytest.mark.parametrize("name", SEEN)
def test_it_speaks(name: str) -> None:
    assert _supports(*SEEN[name])


@pytest.mark.parametrize("name", NOT_SEEN)
def test_it_does_not_speak(name: str) -> None:
    assert not _supports(*NOT_SEEN[name])
