"""`nvidia-smi -q -x`: GPUs and the processes on them; a document type before the log is passed over, none inside it is possible."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.gpu import Gpu, GpuProcess
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.xml_elements import Element, steps

_TOOL = "nvidia-smi"
_ROOT = regex(r'<nvidia_smi_log>|<gpu id="[0-9A-Fa-f]{8}:')
_REASON = regex(r"^clocks_(?:event|throttle)_reason_(?P<reason>[a-z_]{1,40})$")
_REASON_NAMES = {"display_clocks_setting": "display_clock_setting", "idle": "gpu_idle"}
_POWER_SECTIONS = ("power_readings", "gpu_power_readings")
_COUNTERS = "clocks_event_reasons_counters"
_CUT = Text(
    en="the XML is cut or damaged here; what stood before and after it is used", zh="XML 在此处不完整或已损坏；其前后的内容仍被使用"
)
_MOST_QUOTES = 64


@dataclass(slots=True)
class _Gpu:
    """What was read of one GPU so far."""

    address: str | None
    order: int
    quotes: list[Quote]
    fields: dict[str, object] = field(default_factory=dict)
    reasons: list[str] | None = None
    uncorrected_count: int | None = None
    minor: int | None = None
    processes: list[tuple[Element, dict[str, str]]] = field(default_factory=list)


@dataclass(slots=True)
class _Log:
    """What holds for all GPUs of one log."""

    driver: str | None = None
    cuda: str | None = None
    attached_count: int | None = None
    gpus: list[_Gpu] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    log = _Log()
    for step in steps(lines, _ROOT):
        element = step.element
        if element is None:
            yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=step.line_index)
        elif step.what == "opens":
            if element.name == "gpu":
                address = figures.address(element.attributes.get("id", ""))
                log.gpus.append(_Gpu(address=address, order=len(log.gpus), quotes=[element.quoted(lines)]))
        elif element.name == "nvidia_smi_log":
            yield from _finished(lines, log)
            log = _Log()
        else:
            _closed(lines, log, element)
    yield from _finished(lines, log)


def _closed(lines: Lines, log: _Log, element: Element) -> None:
    """Take what one element says, of the log or of the GPU at hand."""
    around, printed = element.parent.name if element.parent else "", element.text.strip()
    if around == "nvidia_smi_log":
        if element.name == "driver_version":
            log.driver = figures.text(printed)
        elif element.name == "cuda_version":
            log.cuda = figures.text(printed)
        elif element.name == "attached_gpus":
            log.attached_count = figures.whole(printed)
    elif log.gpus and (around == "gpu" or element.ancestor("gpu") is not None):
        gpu = log.gpus[-1]
        if around == "process_info" and element.parent is not None:
            _process(gpu, element.parent, element.name, printed)
        elif _take(gpu, around, element, printed) and len(gpu.quotes) < _MOST_QUOTES:
            gpu.quotes.append(element.quoted(lines))


def _process(gpu: _Gpu, around: Element, name: str, printed: str) -> None:
    if not gpu.processes or gpu.processes[-1][0] is not around:
        gpu.processes.append((around, {}))
    gpu.processes[-1][1][name] = printed


def _take(gpu: _Gpu, around: str, element: Element, printed: str) -> bool:
    """Put one element into the GPU; False where it does not matter."""
    reason = _REASON.match(element.name)
    if reason:
        gpu.reasons = gpu.reasons or []
        if printed == "Active":
            gpu.reasons.append(_REASON_NAMES.get(reason["reason"], reason["reason"]))
        return printed in ("Active", "Not Active")
    if _is_uncorrected(around, element):
        count = figures.whole(printed)
        gpu.uncorrected_count = gpu.uncorrected_count if count is None else (gpu.uncorrected_count or 0) + count
        return count is not None
    if around == "gpu" and element.name == "minor_number":
        gpu.minor = figures.whole(printed)
    if around == _COUNTERS and element.name.endswith("_therm_slowdown"):
        slowed_s, before = figures.seconds(printed), gpu.fields.get("thermal_slowed_s", 0.0)
        if slowed_s is not None and isinstance(before, float):
            gpu.fields["thermal_slowed_s"] = max(before, slowed_s)
        return slowed_s is not None
    known = _POWER_FIELDS.get(element.name) if around in _POWER_SECTIONS else _FIELDS.get((around, element.name))
    value = known[1](printed) if known else None
    if known is None or value is None or known[0] in gpu.fields:
        return False
    gpu.fields[known[0]] = value
    return True


def _is_uncorrected(around: str, element: Element) -> bool:
    """Uncorrectable errors since the last boot; older drivers count double bit errors."""
    if around == "volatile":
        return "uncorrectable" in element.name
    return around == "double_bit" and element.name == "total" and element.ancestor("volatile") is not None


def _finished(lines: Lines, log: _Log) -> Iterator[Record]:
    """GPUs are listed in index order; with `-i` one of several is, and then the minor number is nearest to its index."""
    is_one_of_several = len(log.gpus) == 1 and (log.attached_count or 1) > 1 and log.gpus[0].minor is not None
    for gpu in log.gpus:
        index = (gpu.minor or 0) if is_one_of_several else gpu.order
        yield Gpu(
            source=source(lines, _TOOL),
            quotes=tuple(gpu.quotes),
            index=index,
            pci_address=gpu.address,
            driver=log.driver,
            cuda=log.cuda,
            throttle_reasons=None if gpu.reasons is None else tuple(gpu.reasons),
            ecc_uncorrected_count=gpu.uncorrected_count,
            **gpu.fields,  # type: ignore[arg-type]
        )
        for around, said in gpu.processes:
            process_number = figures.whole(said.get("pid", ""))
            if process_number is not None:
                yield GpuProcess(
                    source=source(lines, _TOOL),
                    quotes=(around.quoted(lines),),
                    gpu_index=index,
                    process_number=process_number,
                    command=figures.text(said.get("process_name", "")),
                    is_compute="C" in said.get("type", "C"),
                    memory_used_bytes=figures.byte_count(said.get("used_memory", "")),
                )


_Field = tuple[str, Callable[[str], object]]
_FIELDS: dict[tuple[str, str], _Field] = {
    ("gpu", "product_name"): ("title", figures.text),
    ("gpu", "gpu_recovery_action"): ("recovery_action", figures.action),
    ("pcie_gen", "max_link_gen"): ("pcie_generation_max_number", figures.whole),
    ("pcie_gen", "current_link_gen"): ("pcie_generation_number", figures.whole),
    ("link_widths", "max_link_width"): ("pcie_width_max_lanes", figures.lanes),
    ("link_widths", "current_link_width"): ("pcie_width_lanes", figures.lanes),
    ("pci", "replay_counter"): ("pcie_replays_count", figures.whole),
    ("fb_memory_usage", "total"): ("memory_total_bytes", figures.byte_count),
    ("fb_memory_usage", "used"): ("memory_used_bytes", figures.byte_count),
    ("bar1_memory_usage", "total"): ("bar1_total_bytes", figures.byte_count),
    ("utilization", "gpu_util"): ("utilisation_ratio", figures.ratio),
    ("temperature", "gpu_temp"): ("temperature_celsius", figures.number),
    ("clocks", "sm_clock"): ("sm_clock_hz", figures.hertz),
    ("max_clocks", "sm_clock"): ("sm_clock_max_hz", figures.hertz),
    (_COUNTERS, "clocks_event_reasons_counters_sw_power_cap"): ("power_capped_s", figures.seconds),
    (_COUNTERS, "clocks_event_reasons_counters_hw_power_brake"): ("power_braked_s", figures.seconds),
    ("remapped_rows", "remapped_row_unc"): ("remapped_rows_uncorrected_count", figures.whole),
    ("remapped_rows", "remapped_row_pending"): ("is_remap_pending", figures.yes_or_no),
    ("remapped_rows", "remapped_row_failure"): ("is_remap_failed", figures.yes_or_no),
    ("fabric", "state"): ("fabric_state", figures.text),
    ("fabric", "status"): ("fabric_status", figures.text),
}
_POWER_FIELDS: dict[str, _Field] = {
    "power_draw": ("power_w", figures.number),
    "average_power_draw": ("power_w", figures.number),
    "power_limit": ("power_limit_w", figures.number),
    "current_power_limit": ("power_limit_w", figures.number),
    "max_power_limit": ("power_limit_max_w", figures.number),
}

READER = Reader(
    title=Text(en="nvidia-smi -q -x", zh="nvidia-smi -q -x"),
    gives=(Gpu, GpuProcess),
    recognises=marked(_ROOT),
    read=_read,
    obtained_by=("nvidia-smi -q -x",),
)
