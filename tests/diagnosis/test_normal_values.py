"""What is normal is told from a fault: each text is what a user would paste, with the one observation that settles it."""

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

DROPS = "eth1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        RX errors 0  dropped {}  overruns {}  frame 0\n"
QUERY = (
    "$ nvidia-smi --query-gpu=power.draw,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current --format=csv,noheader\n"
)
PERFTEST = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536      5000             9540.00            9536.74             0.152588\n"
TOPOLOGY = "        GPU0    GPU1    CPU Affinity    NUMA Affinity\nGPU0     X      {0}     0-31            0\nGPU1    {0}      X      0-31            0\n"
ENGINE = "INFO 08-10 09:20:{:02d} metrics.py:406] Avg prompt throughput: {} tokens/s, Avg generation throughput: {} tokens/s, Running: {} reqs, Waiting: {} reqs\n"
FM = "nv-fabricmanager[4177]: request to query NVSwitch device information failed: WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"

FOR = {
    "the kernel drops what the device does not": (
        "no_fault_counter_misread",
        "".join(DROPS.format(count, 0) for count in (100, 101, 101, 102))
        + "$ ethtool -S eth1\n     rx_missed_errors: 0\n     rx_crc_errors: 0\n",
        "no protocol takes",
    ),
    "the port agrees with the test": (
        "no_fault_counter_misread",
        PERFTEST + "\nport_xmit_data delta over 10.0 s: 25,000,000,000\n",  # 4 bytes each: 80 Gb/s, as 9536.74 MiB/s are
        "rate of the test",
    ),
    "a GPU that wakes": ("no_fault_metric_misread", QUERY + "15.1 W, 1, 4, 16\n# under load\n190.0 W, 4, 4, 16\n", "when it works"),
    "two cards with a bridge": ("no_fault_harmless_message", FM + "\n" + TOPOLOGY.format("NV4"), "NVLinks are up"),
    "prompts of others": (
        "compute_bound_prefill",
        ENGINE.format(1, "0.0", "30.0", 1, 0) + ENGINE.format(11, "9000.0", "0.5", 3, 0) + ENGINE.format(21, "0.0", "29.0", 1, 0),
        "hardly get a token",
    ),
    "tokens flow at any load": (
        "no_fault_queueing",
        "concurrent requests   latency per token\n 100                  70 ms\n 2000                 71 ms\n",
        "waits its turn",
    ),
    "weights as told": (
        "no_fault_decode_memory_bound",
        "32 GB of weights, memory bandwidth 40 GB/s\n" + ENGINE.format(1, "0.0", "1.2", 1, 0),
        "1.25 tokens/s",
    ),
    "one card is like all": (
        "no_fault_hardware_limit",
        "All 12 machines with H100 PCIe cards show exactly the same inactive nvlinks.\n",
        "machines of this kind",
    ),
}

AGAINST = {
    "a GPU that wakes has no bad link": (
        "pcie_link_degraded",
        "LnkCap: Port #0, Speed 16GT/s, Width x16\nLnkSta: Speed 2.5GT/s (downgraded), Width x16 (ok)\n\n"
        + QUERY
        + "15.1 W, 1, 4, 16\n# under load\n190.0 W, 4, 4, 16\n",
        "sleeps when idle",
    ),
    "no switch to set up": ("fabric_manager", "fabric manager failed to start\n\n" + TOPOLOGY.format("NV4"), "no NVSwitch"),
    "links that all machines lack": (
        "nvlink_missing",
        "GPU 0 has nvlinks inactive. All 12 machines are exactly alike.\n",
        "belongs to the kind",
    ),
    "the model server's own refusal": (
        "origin_rate_limited",
        'HTTP/1.1 429 Too Many Requests\n{"error":"Model is overloaded","error_type":"overloaded"}\n',
        "model server itself",
    ),
}

NOT_FOR = {
    "the device drops too": (
        "no_fault_counter_misread",
        "".join(DROPS.format(count, 4000) for count in (100, 101, 101, 102)) + "$ ethtool -S eth1\n     rx_missed_errors: 4000\n",
        "no protocol takes",
    ),
    "a GPU that stays low under load": (
        "no_fault_metric_misread",
        QUERY + "15.1 W, 1, 4, 16\n# under load\n190.0 W, 1, 4, 16\n",
        "when it works",
    ),
    "somebody waits in the queue": (
        "compute_bound_prefill",
        ENGINE.format(1, "0.0", "30.0", 1, 0) + ENGINE.format(11, "9000.0", "0.5", 3, 8),
        "hardly get a token",
    ),
    "each token is slower": (
        "no_fault_queueing",
        "concurrent requests   latency per token\n 100                  70 ms\n 2000                 180 ms\n",
        "waits its turn",
    ),
    "four GPUs of eight are shown": (
        "fabric_manager",
        "fabric manager failed to start\n\n" + TOPOLOGY.format("PHB"),
        "no NVSwitch",
    ),
}


def _said(rule: str, text: str, sign: int) -> list[str]:
    records = [item for _, item in read_all(MemoryLines(text, "1"), READERS) if isinstance(item, Record)]
    verdict = judge_rule(rule, RULES[rule], Case(records)).verdict
    return [
        one.says.filled({name: str(value) for name, value in one.values.items()}).en
        for one in verdict.evidence
        if sign * one.weight_nats > 0
    ]


@pytest.mark.parametrize("name", FOR)
def test_speaks_for_what_is_normal(name: str) -> None:
    rule, text, says = FOR[name]
    assert any(says in one for one in _said(rule, text, 1)), _said(rule, text, 1)


@pytest.mark.parametrize("name", AGAINST)
def test_speaks_against_the_fault(name: str) -> None:
    rule, text, says = AGAINST[name]
    assert any(says in one for one in _said(rule, text, -1)), _said(rule, text, -1)


@pytest.mark.parametrize("name", NOT_FOR)
def test_stays_silent(name: str) -> None:
    rule, text, says = NOT_FOR[name]
    assert not any(says in one for one in _said(rule, text, 1) + _said(rule, text, -1))
