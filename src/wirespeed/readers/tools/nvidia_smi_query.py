"""`nvidia-smi -q`: indented sections of `label : value`, whole, cut by `-d`, or quoted in part."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.excerpt import excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_GPU = regex(r"^GPU (?P<address>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
_RECOGNISED = regex(
    r"(?m)=NVSMI LOG=|^GPU [0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:|Clocks (?:Throttle|Event) Reasons *$|^ *(?:HW"
    r"|SW) [\w ]{1,30}: (?:Not )?Active"
    r"|^ *(?:GPU Link Info|PCIe Generation|GPU Power Readings|Fabric) *$|^ *GPU Current Temp +:|^ *(?:Current"
    r"|Enforced|Max) Power Limit +:"
)
_REASON_SECTIONS = frozenset({"Clocks Throttle Reasons", "Clocks Event Reasons"})
_REASON_LABEL = regex(r"^(?:HW|SW) (?:Slowdown|Power Cap|Thermal Slowdown|Power Brake Slowdown)$")
_COUNTERS = "Clocks Event Reasons Counters"
_POWER_SECTIONS = frozenset({"Power Readings", "GPU Power Readings", ""})
_MOST_SECTIONS = 16
_MOST_LABELS = 256


@dataclass(slots=True)
class _Block:
    """What was read of one GPU so far."""

    host: str | None = None
    address: str | None = None
    order: int | None = None
    fields: dict[str, object] = field(default_factory=dict)
    reasons: list[str] | None = None
    minor: int | None = None
    quotes: list[Quote] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    block = _Block()
    sections: list[tuple[int, str]] = []
    common: dict[str, str] = {}
    count = 0
    for seen in excerpt(lines, _GPU.match):
        index, line = seen.index, seen.line
        if seen.is_prompt:
            yield from _finished(lines, block, common)
            block, sections, count = _Block(host=seen.host), [], 0
            continue
        header = _GPU.match(line.strip())
        if header:
            yield from _finished(lines, block, common)
            address = header["address"].lower().removeprefix("0000")
            block = _Block(host=seen.host, address=address, order=count, quotes=[quote(lines, index, line)])
            sections, count = [], count + 1
            continue
        if not line.strip():
            continue
        label, colon, setting = (part.strip() for part in line.partition(":"))
        indent = len(line) - len(line.lstrip())
        while sections and sections[-1][0] >= indent:
            sections.pop()
        if not colon:
            sections = [*sections, (indent, label)][-_MOST_SECTIONS:]
        elif label in ("Driver Version", "CUDA Version", "Attached GPUs"):
            common[label] = setting
        else:
            key = (sections[-1][1] if sections else "", label)
            if key in block.seen and block.address is None:  # `nvidia-smi -q | grep ...`: the same label again is the next GPU
                block.order, count = count, count + 1
                yield from _finished(lines, block, common)
                block = _Block(host=seen.host, order=count)
            if key not in block.seen and len(block.seen) < _MOST_LABELS and _take(block, sections, label, setting):
                block.seen.add(key)
                block.quotes.append(quote(lines, index, line))
    yield from _finished(lines, block, common, is_last=True)


def _take(block: _Block, sections: list[tuple[int, str]], label: str, setting: str) -> bool:
    """Put one line into the block; False where it does not matter."""
    section = sections[-1][1] if sections else ""
    if section in _REASON_SECTIONS or _REASON_LABEL.match(label):
        return _take_reason(block, label, setting)
    if section == "Volatile" and label != "SRAM Threshold Exceeded":
        return _take_ecc(block, label, setting)
    if section == "Double Bit" and label == "Total" and any(name == "Volatile" for _, name in sections):
        return _take_ecc(block, "DRAM Uncorrectable", setting)
    if section == _COUNTERS and label in ("SW Thermal Slowdown", "HW Thermal Slowdown"):
        return _take_heat(block, setting)
    if label == "Minor Number" and setting.isdecimal():
        block.minor = int(setting)
        return True
    known = _FIELDS.get((section, label))
    if known is None and section in _POWER_SECTIONS:
        known = _POWER_FIELDS.get(label)
    value = known[1](setting) if known else None
    if known is None or value is None or known[0] in block.fields:
        return False
    block.fields[known[0]] = value
    return True


def _take_reason(block: _Block, label: str, setting: str) -> bool:
    if setting not in ("Active", "Not Active"):
        return False
    block.reasons = block.reasons or []
    if setting == "Active":
        name = label.lower().replace(" ", "_")
        block.reasons.append("gpu_idle" if name == "idle" else name)
    return True


def _take_ecc(block: _Block, label: str, setting: str) -> bool:
    if "Uncorrectable" not in label or not setting.isdecimal():
        return False
    before = block.fields.get("ecc_uncorrected_count", 0)
    block.fields["ecc_uncorrected_count"] = (before if isinstance(before, int) else 0) + int(setting)
    return True


def _take_heat(block: _Block, setting: str) -> bool:
    """Keep the longer of the driver's and the board's slowdown for heat: the two may overlap."""
    slowed_s = figures.seconds(setting)
    if slowed_s is None:
        return False
    before = block.fields.get("thermal_slowed_s", 0.0)
    block.fields["thermal_slowed_s"] = max(before if isinstance(before, float) else 0.0, slowed_s)
    return True


def _finished(lines: Lines, block: _Block, common: dict[str, str], is_last: bool = False) -> Iterator[Gpu]:
    if not block.fields and block.reasons is None and block.address is None:
        return
    number = _index_of(block, common, is_last)
    yield Gpu(
        source=source(lines, "nvidia-smi", block.host),
        quotes=tuple(block.quotes),
        missing={"index": "absent"} if number is None else {},
        index=figures.NO_INDEX if number is None else number,
        pci_address=block.address,
        driver=common.get("Driver Version"),
        cuda=common.get("CUDA Version"),
        throttle_reasons=None if block.reasons is None else tuple(block.reasons),
        **block.fields,  # type: ignore[arg-type]
    )


def _index_of(block: _Block, common: dict[str, str], is_last: bool) -> int | None:
    """GPUs are listed in index order; with `-i` one of several is listed, and then the minor number is nearest to the index."""
    if block.order is None:
        return block.minor
    attached = common.get("Attached GPUs", "")
    is_only = is_last and block.order == 0
    if is_only and attached.isdecimal() and int(attached) > 1 and block.minor is not None:
        return block.minor
    return block.order


_Field = tuple[str, Callable[[str], object]]
_FIELDS: dict[tuple[str, str], _Field] = {
    ("", "Product Name"): ("title", figures.text),
    ("PCIe Generation", "Max"): ("pcie_generation_max_number", figures.whole),
    ("PCIe Generation", "Current"): ("pcie_generation_number", figures.whole),
    ("Link Width", "Max"): ("pcie_width_max_lanes", figures.lanes),
    ("Link Width", "Current"): ("pcie_width_lanes", figures.lanes),
    ("FB Memory Usage", "Total"): ("memory_total_bytes", figures.byte_count),
    ("FB Memory Usage", "Used"): ("memory_used_bytes", figures.byte_count),
    ("Utilization", "Gpu"): ("utilisation_ratio", figures.ratio),
    ("Utilization", "GPU"): ("utilisation_ratio", figures.ratio),
    ("Temperature", "GPU Current Temp"): ("temperature_celsius", figures.number),
    ("", "GPU Current Temp"): ("temperature_celsius", figures.number),
    ("Clocks", "SM"): ("sm_clock_hz", figures.hertz),
    ("Max Clocks", "SM"): ("sm_clock_max_hz", figures.hertz),
    ("PCI", "Replays Since Reset"): ("pcie_replays_count", figures.whole),
    ("BAR1 Memory Usage", "Total"): ("bar1_total_bytes", figures.byte_count),
    ("Remapped Rows", "Uncorrectable Error"): ("remapped_rows_uncorrected_count", figures.whole),
    ("Remapped Rows", "Pending"): ("is_remap_pending", figures.yes_or_no),
    ("Remapped Rows", "Remapping Failure Occurred"): ("is_remap_failed", figures.yes_or_no),
    ("", "GPU Recovery Action"): ("recovery_action", figures.action),
    (_COUNTERS, "SW Power Capping"): ("power_capped_s", figures.seconds),
    (_COUNTERS, "HW Power Braking"): ("power_braked_s", figures.seconds),
    ("Fabric", "State"): ("fabric_state", figures.text),
    ("Fabric", "Status"): ("fabric_status", figures.text),
}
_POWER_FIELDS: dict[str, _Field] = {
    "Power Draw": ("power_w", figures.number),
    "Average Power Draw": ("power_w", figures.number),
    "Power Limit": ("power_limit_w", figures.number),
    "Current Power Limit": ("power_limit_w", figures.number),
    "Max Power Limit": ("power_limit_max_w", figures.number),
}

READER = Reader(
    title=Text(en="nvidia-smi -q report", zh="nvidia-smi -q 报告"),
    gives=(Gpu,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("nvidia-smi -q", "nvidia-smi -q -d PERFORMANCE,POWER,CLOCK,TEMPERATURE"),
)
