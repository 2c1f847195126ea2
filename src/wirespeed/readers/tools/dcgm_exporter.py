"""Metrics of dcgm-exporter (Prometheus text): what DCGM's fields say of each GPU and its NVLinks, scrape by scrape.

Figures are in the units of dcgm-exporter's own lists (etc/*.csv); `DCGM_EXP_GPU_HEALTH_STATUS` is 0, 10 or 20 (pass, warn, fail).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from wirespeed.model.facts.gpu import Gpu, GpuCheck, NvLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import dcgm_fields as dcgm
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "dcgm-exporter"
_SAMPLE = regex(
    r"^\s*DCGM_(?P<family>FI_DEV|FI_PROF|EXP)_(?P<name>[A-Z0-9_]{1,80})\{(?P<labels>[^}]{0,4000})\}\s+(?P<value>[-+\w.]{1,40})(?:\s+\d{1,20})?\s*$"
)
_BEGINS = regex(r"^\s*DCGM_(?:FI_DEV|FI_PROF|EXP)_[A-Z0-9_]{1,80}\{")
_LABEL = regex(r'(\w+)="([^"]*)"')
_MOST_GPUS = 100_000
_OUTCOMES: dict[float, Literal["pass", "warn", "fail"]] = {0.0: "pass", 10.0: "warn", 20.0: "fail"}
_CUT = Text(en="this metric of dcgm-exporter is cut or damaged", zh="该 dcgm-exporter 指标不完整或已损坏")


@dataclass(slots=True)
class _Gpu:
    """What one scrape says of one GPU so far."""

    labels: dict[str, str]
    quotes: list[Quote] = field(default_factory=list)
    values: list[tuple[dcgm.Field, float]] = field(default_factory=list)
    link_quotes: list[Quote] = field(default_factory=list)
    link_counts: dict[str, int] = field(default_factory=dict)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    gpus: dict[tuple[str, str], _Gpu] = {}
    seen: set[tuple[str, str]] = set()
    for index, line in lines:
        found = _SAMPLE.match(line)
        if found is None:
            if _BEGINS.match(line):
                yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=index)
            continue
        labels = dict(_LABEL.findall(found["labels"]))
        value = dcgm.value(found["value"])
        if not labels.get("gpu", "").isdecimal():
            continue
        if (found["name"], found["labels"]) in seen or len(gpus) >= _MOST_GPUS:  # the same series again: the next scrape
            yield from _finished(lines, gpus)
            gpus, seen = {}, set()
        seen.add((found["name"], found["labels"]))
        gpu = gpus.setdefault((_host(labels), labels["gpu"]), _Gpu(labels))
        if value is None:
            continue
        said = quote(lines, index, line)
        if found["family"] == "EXP":
            yield from _own_metric(lines, found["name"], labels, value, said, gpu)
        else:
            _take(gpu, found["name"], value, said)
    yield from _finished(lines, gpus)


def _host(labels: dict[str, str]) -> str:
    return labels.get("Hostname") or labels.get("hostname") or ""


def _take(gpu: _Gpu, name: str, value: float, said: Quote) -> None:
    known, counted = dcgm.BY_METRIC.get(name), dcgm.NVLINK_BY_METRIC.get(name)
    if known is not None:
        gpu.values.append((known, value))
        gpu.quotes.append(said)
    elif counted is not None:
        gpu.link_counts[counted] = gpu.link_counts.get(counted, 0) + int(value)
        gpu.link_quotes.append(said)


def _own_metric(lines: Lines, name: str, labels: dict[str, str], value: float, said: Quote, gpu: _Gpu) -> Iterator[GpuCheck]:
    """What the exporter makes itself: Xids of the last minutes, and DCGM's health watches."""
    if name == "XID_ERRORS_COUNT" and value > 0 and labels.get("xid", "").isdecimal():
        gpu.values.insert(0, (dcgm.BY_METRIC["XID_ERRORS"], float(labels["xid"][:9])))
        gpu.quotes.append(said)
    if name == "GPU_HEALTH_STATUS" and value in _OUTCOMES:
        yield GpuCheck(
            source=source(lines, _TOOL, _host(labels) or None),
            quotes=(said,),
            check=labels.get("health_watch", "all").lower(),
            outcome=_OUTCOMES[value],
            gpu_index=int(labels["gpu"][:9]),
            detail=labels.get("health_error_code") or None,
        )


def _finished(lines: Lines, gpus: dict[tuple[str, str], _Gpu]) -> Iterator[Record]:
    for (host, number), gpu in gpus.items():
        told_by, index = source(lines, _TOOL, host or None), int(number[:9])
        if gpu.values:
            yield dcgm.gpu_of(
                told_by,
                tuple(gpu.quotes),
                index,
                gpu.values,
                title=gpu.labels.get("modelName"),
                driver=gpu.labels.get("DCGM_FI_DRIVER_VERSION"),
                pci_address=figures.address(gpu.labels.get("pci_bus_id", "")),
            )
        if gpu.link_counts:
            yield NvLink(
                source=told_by,
                quotes=tuple(gpu.link_quotes),
                missing={"link_index": "absent"},
                gpu_index=index,
                link_index=figures.ALL_LINKS,
                is_active=None,
                **gpu.link_counts,
            )


READER = Reader(
    title=Text(en="dcgm-exporter metrics", zh="dcgm-exporter 指标"),
    gives=(Gpu, NvLink, GpuCheck),
    recognises=marked(regex(_BEGINS.pattern, re.MULTILINE)),
    read=_read,
    obtained_by=("curl -s http://NODE:9400/metrics",),
)
