"""Single observations of the rules in what monitors tell of GPUs: each case holds one of them alone; all figures are synthetic."""

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

GDR_OFF = "node-a:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 8 > 5)\n"
LINK_STATUS = "|  NvLink Link Status  |\nGPUs:\n    gpuId 0:\n        {first}\n    gpuId 1:\n        {second}\n"
HEALTH = (
    "| Health Monitor Report                                     |\n| Overall Health            | Warning                       |\n"
    "| GPU                       |                               |\n| -> 2                      | Warning                       |\n"
    "|    -> Errors              |                               |\n|       -> {system:<17}| Warning                       |\n"
    "|                           | {why:<30}|\n"
)


def _metrics(name: str, *values: float, family: str = "DEV") -> str:
    """One metric of dcgm-exporter, a value for each GPU."""
    return "".join(f'DCGM_FI_{family}_{name}{{gpu="{gpu}",Hostname="node-a"}} {value}\n' for gpu, value in enumerate(values))


def _xml(*counters_us: int) -> str:
    """`nvidia-smi -q -x` of GPUs that heat held back for so long."""
    gpu = (
        '<gpu id="00000000:{bus:02X}:00.0">\n<clocks_event_reasons_counters>\n'
        "<clocks_event_reasons_counters_sw_therm_slowdown>{time} us</clocks_event_reasons_counters_sw_therm_slowdown>\n"
        "</clocks_event_reasons_counters>\n</gpu>\n"
    )
    return (
        "<nvidia_smi_log>\n"
        + "".join(gpu.format(bus=16 + at, time=time) for at, time in enumerate(counters_us))
        + "</nvidia_smi_log>\n"
    )


def _dmon(*rows: tuple[int, int, int]) -> str:
    """`nvidia-smi dmon -s uv` rows: GPU, share held back by power in percent, whether by heat."""
    heading = "# gpu    sm   mem pviol tviol\n# Idx     %     %     %  bool\n"
    return heading + "".join(f"    {gpu}    97    40    {power}     {heat}\n" for gpu, power, heat in rows)


def _pmon(*processes: tuple[int, int]) -> str:
    heading = "# gpu        pid  type    sm   mem   command\n# Idx          #   C/G     %     %   name\n"
    return heading + "".join(f"    {gpu}      {process}     C    90    40   python3\n" for gpu, process in processes)


def _bar1(mebibytes: int) -> str:
    return f"GPU 00000000:18:00.0\n    BAR1 Memory Usage\n        Total                             : {mebibytes} MiB\n"


SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "one GPU held back by heat": ("straggler_gpu_throttle", (_xml(0, 1_000_000, 644_864_106, 0),)),
    "dmon: power holds the clocks down": ("straggler_gpu_throttle", (_dmon((0, 0, 0), (1, 84, 0)),)),
    "dmon: heat holds the clocks down": ("straggler_gpu_throttle", (_dmon((0, 0, 0), (1, 0, 1)),)),
    "exporter: reasons": ("straggler_gpu_throttle", (_metrics("CLOCK_THROTTLE_REASONS", 0, 72),)),
    "exporter: one GPU draws little": ("straggler_gpu_throttle", (_metrics("POWER_USAGE", 650, 655, 320, 648),)),
    "exporter: the same over two scrapes": ("straggler_gpu_throttle", (2 * _metrics("POWER_USAGE", 650, 655, 320, 648),)),
    "health: heat": ("straggler_gpu_throttle", (HEALTH.format(system="Thermal system", why="clocks event due to thermal"),)),
    "one link repeats": ("pcie_link_degraded", (_metrics("PCIE_REPLAY_COUNTER", 0, 1373, 2, 0),)),
    "exporter: a narrow link": (
        "pcie_link_degraded",
        (_metrics("PCIE_LINK_WIDTH", 16, 8) + _metrics("PCIE_MAX_LINK_WIDTH", 16, 16),),
    ),
    "health: replays": ("pcie_link_degraded", (HEALTH.format(system="PCIe system", why="more than 8 PCIe replays"),)),
    "exporter: an Xid of hardware": ("gpu_xid", (_metrics("XID_ERRORS", 0, 79),)),
    "exporter: rows not replaced": ("gpu_xid", (_metrics("ROW_REMAP_FAILURE", 0, 1),)),
    "exporter: rows wait": ("gpu_xid", (_metrics("ROW_REMAP_PENDING", 0, 1),)),
    "the driver asks for a reset": ("gpu_xid", ("GPU 00000000:18:00.0\n    GPU Recovery Action                   : Reset\n",)),
    "health: memory": ("gpu_xid", (HEALTH.format(system="Memory system", why="Row remap failure on GPU 2."),)),
    "link status: one down": ("nvlink_missing", (LINK_STATUS.format(first="U U U U", second="U D U U"),)),
    "exporter: NVLink errors": ("nvlink_missing", (_metrics("NVLINK_REPLAY_ERROR_COUNT_TOTAL", 0, 12),)),
    "exporter: an Xid of NVLink": ("nvlink_missing", (_metrics("XID_ERRORS", 0, 74),)),
    "health: NVLink": ("nvlink_missing", (HEALTH.format(system="NVLINK system", why="NVLink link 3 is down"),)),
    "few multiprocessors run": (
        "no_fault_metric_misread",
        (_metrics("GPU_UTIL", 100, 100) + _metrics("SM_ACTIVE", 0.12, 0.11, family="PROF"),),
    ),
    "two processes on one GPU": ("straggler_other", (_pmon((0, 11), (1, 12), (1, 99), (2, 13), (3, 14)),)),
}

NOT_SEEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "all GPUs held back alike": ("straggler_gpu_throttle", (_xml(640_000_000, 650_000_000, 644_864_106, 655_000_000),)),
    "two GPUs cannot be told apart": ("straggler_gpu_throttle", (_xml(0, 644_864_106),)),
    "dmon: a moment of power": ("straggler_gpu_throttle", (_dmon((0, 0, 0), (1, 4, 0)),)),
    "exporter: idle and application clocks": ("straggler_gpu_throttle", (_metrics("CLOCK_THROTTLE_REASONS", 1, 2),)),
    "exporter: one GPU draws little at times": (
        "straggler_gpu_throttle",
        tuple(_metrics("POWER_USAGE", *powers) for powers in ((650, 655, 120), (650, 655, 648), (650, 655, 651))),
    ),
    "all links repeat alike": ("pcie_link_degraded", (_metrics("PCIE_REPLAY_COUNTER", 1000, 1373, 1100, 990),)),
    "few replays": ("pcie_link_degraded", (_metrics("PCIE_REPLAY_COUNTER", 0, 60, 0, 0),)),
    "health: NVLink in the check of PCIe": (
        "pcie_link_degraded",
        (HEALTH.format(system="PCIe system", why="NvLink link 0 is down"),),
    ),
    "exporter: an Xid for information": ("gpu_xid", (_metrics("XID_ERRORS", 0, 63),)),
    "no action is asked for": ("gpu_xid", ("GPU 00000000:18:00.0\n    GPU Recovery Action                   : None\n",)),
    "health: heat is no fault of memory": ("gpu_xid", (HEALTH.format(system="Thermal system", why="clocks event due to thermal"),)),
    "link status: disabled and unsupported": ("nvlink_missing", (LINK_STATUS.format(first="U U X _", second="U U X _"),)),
    "exporter: no NVLink errors": ("nvlink_missing", (_metrics("NVLINK_REPLAY_ERROR_COUNT_TOTAL", 0, 0),)),
    "all multiprocessors run": (
        "no_fault_metric_misread",
        (_metrics("GPU_UTIL", 100, 100) + _metrics("SM_ACTIVE", 0.82, 0.85, family="PROF"),),
    ),
    "an idle GPU": ("no_fault_metric_misread", (_metrics("GPU_UTIL", 3, 2) + _metrics("SM_ACTIVE", 0.01, 0.0, family="PROF"),)),
    "several processes on every GPU": ("straggler_other", (_pmon((0, 11), (0, 12), (1, 13), (1, 14), (2, 15), (2, 16)),)),
    "the same processes, sampled twice": ("straggler_other", (_pmon((0, 11), (1, 12), (2, 13), (0, 11), (1, 12), (2, 13)),)),
    "a small window alone": ("gdr_disabled", (_bar1(256),)),
}


def _judged_supports(rule: str, texts: tuple[str, ...]) -> bool:
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
    assert _judged_supports(*SEEN[name])


@pytest.mark.parametrize("name", NOT_SEEN)
def test_it_does_not_speak(name: str) -> None:
    assert not _judged_supports(*NOT_SEEN[name])


def test_a_window_explains_why_gpudirect_is_off() -> None:
    """The window is told beside what NCCL says, not instead of it."""
    records = [
        item
        for text in (GDR_OFF, _bar1(256))
        for _, item in read_all(MemoryLines(text, text[:8]), READERS)
        if isinstance(item, Record)
    ]
    said = [one.says.en for one in judge_rule("gdr_disabled", RULES["gdr_disabled"], Case(records)).verdict.evidence]
    assert any("BAR1" in one for one in said)
