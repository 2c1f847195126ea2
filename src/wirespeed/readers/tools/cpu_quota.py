"""cgroup `cpu.stat`, `cpu.max`, `cpu.cfs_*` and tables of CFS periods: CPU limits and how often they held a container back."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import CpuQuota
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_STAT = regex(r"^\s*(?:\S*cpu\.stat:)?(?P<name>nr_periods|nr_throttled)[ :=]+(?P<count>\d+)\s*$")
_MAX = regex(r"^\s*(?:\S*cpu\.max:\s*)?(?P<quota>max|\d+) (?P<period>\d{4,7})\s*$")
_OLD = regex(r"^\s*(?:\S*/)?cpu\.cfs_(?P<what>quota|period)_us[ :=]+(?P<number>-?\d+)\s*$")
_TABLE = regex(r"periods\b.*throttled|throttled\b.*periods", re.IGNORECASE)
_CELL = regex(r"\s{2,}|\t+|\s*\|\s*")
_METRIC = regex(
    r"^\s*container_cpu_cfs_(?P<what>throttled_periods|periods)_total\{(?P<labels>[^}]*)\} (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
)
_POD = regex(r'(?:pod|container|name)="([^"]+)"')
_RECOGNISED = regex(
    r"(?i)\bnr_(?:periods|throttled)[ :=]+\d|cpu\.max\b|cpu\.cfs_\w+_us|\bperiods\b.*throttled"
    r"|throttled\b.*periods|container_cpu_cfs_"
)
_MOST_SUBJECTS = 4096
UNNAMED = "?"
"""Subject where the input names no container."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    pairs: dict[tuple[str, str], tuple[int, Quote]] = {}
    columns: list[str] = []
    heading: Quote | None = None
    for seen in excerpt(lines, _is_own):
        cells = [cell for cell in _CELL.split(seen.text.strip()) if cell]
        stat = _STAT.match(seen.text)
        if seen.is_prompt or not cells:
            columns, heading = [], None
        elif stat or _OLD.match(seen.text) or _METRIC.match(seen.text):
            yield from _paired(lines, seen, pairs)
        elif _TABLE.search(seen.text) and len(cells) >= 3:
            columns, heading = [cell.lower() for cell in cells], seen.quoted(lines)
        elif heading and len(cells) == len(columns):
            yield from _table_row(lines, seen, columns, cells, heading)
        else:
            yield from _maximum(lines, seen)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_STAT, _OLD, _MAX, _METRIC))


def _paired(lines: Lines, seen: Seen, pairs: dict[tuple[str, str], tuple[int, Quote]]) -> Iterator[CpuQuota]:
    """Two lines make one record: periods and throttled periods, or quota and period."""
    stat, old, metric = _STAT.match(seen.text), _OLD.match(seen.text), _METRIC.match(seen.text)
    if stat:
        subject, name, number = _directory(seen), stat["name"].removeprefix("nr_"), int(stat["count"])
    elif old:
        subject, name, number = _directory(seen), old["what"], int(old["number"])
    elif metric:
        pod = _POD.search(metric["labels"])
        subject, number = (pod[1] if pod else UNNAMED), int(min(float(metric["number"]), 1e18))
        name = "throttled" if metric["what"].startswith("throttled") else "periods"
    else:
        return
    if len(pairs) < _MOST_SUBJECTS:
        pairs[subject, name] = (number, seen.quoted(lines))
    first, second = ("periods", "throttled") if name in ("periods", "throttled") else ("quota", "period")
    if (subject, first) not in pairs or (subject, second) not in pairs:
        return
    (one, one_quote), (other, other_quote) = pairs.pop((subject, first)), pairs.pop((subject, second))
    is_throttling = first == "periods"
    if not is_throttling and (one <= 0 or other <= 0):
        return
    yield CpuQuota(
        source=source(lines, "cgroup", seen.host),
        quotes=(one_quote, other_quote),
        subject=subject,
        quota_cpus_ratio=None if is_throttling else one / other,
        periods_count=one if is_throttling else None,
        throttled_count=other if is_throttling else None,
        throttled_ratio=other / one if is_throttling and one > 0 else None,
    )


def _directory(seen: Seen) -> str:
    """The cgroup directory that the command names, as far as it tells anything."""
    path = next((word for word in seen.command if "cgroup" in word), "")
    name = path.rpartition("/")[0].removeprefix("/sys/fs/cgroup").strip("/")
    return name or UNNAMED


def _table_row(lines: Lines, seen: Seen, columns: list[str], cells: list[str], heading: Quote) -> Iterator[CpuQuota]:
    values = dict(zip(columns, cells, strict=True))
    throttled = next((value for name, value in values.items() if "throttled" in name and not value.endswith("%")), "")
    periods = next((value for name, value in values.items() if "periods" in name and "throttled" not in name), "")
    share = next((value for value in cells if value.endswith("%")), "").rstrip("%")
    if not _is_number(periods) and not _is_number(throttled):
        return
    periods_count = int(periods.replace(",", "")) if _is_number(periods) else None
    throttled_count = int(throttled.replace(",", "")) if _is_number(throttled) else None
    ratio = throttled_count / periods_count if periods_count and throttled_count is not None else None
    yield CpuQuota(
        source=source(lines, "CFS table", seen.host),
        quotes=(heading, seen.quoted(lines)),
        subject=cells[0],
        periods_count=periods_count,
        throttled_count=throttled_count,
        throttled_ratio=ratio if ratio is not None else _percent(share),
    )


def _is_number(text: str) -> bool:
    return text.replace(",", "").isdecimal()


def _percent(text: str) -> float | None:
    try:
        return float(text) / 100.0
    except ValueError:
        return None


def _maximum(lines: Lines, seen: Seen) -> Iterator[CpuQuota]:
    found = _MAX.match(seen.text)
    is_named = "cpu.max" in seen.text or any(word.endswith("cpu.max") for word in seen.command)
    if not found or not is_named or found["quota"] == "max" or int(found["period"]) == 0:
        return
    yield CpuQuota(
        source=source(lines, "cpu.max", seen.host),
        quotes=(seen.quoted(lines),),
        subject=_directory(seen),
        quota_cpus_ratio=int(found["quota"]) / int(found["period"]),
    )


READER = Reader(
    title=Text(en="CPU limits of containers (CFS)", zh="容器 CPU 配额（CFS）"),
    gives=(CpuQuota,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /sys/fs/cgroup/cpu.stat", "cat /sys/fs/cgroup/cpu.max"),
)
