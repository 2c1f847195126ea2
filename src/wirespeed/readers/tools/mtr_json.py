"""mtr with `--json`: one document a run, one hop an entry of `hubs`."""

from collections.abc import Iterator
from typing import Any

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import PathHop
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import whole
from wirespeed.readers.parsing.json_excerpt import marked_documents
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DOCUMENT = regex(r"\{\s*\"report\"\s*:\s*\{\s*\"mtr\"\s*:")
_HOST = regex(r"\"host\"\s*:")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for found in marked_documents(lines, _DOCUMENT, "mtr"):
        if isinstance(found, Problem):
            yield found
            continue
        document, rows = found
        report = document.get("report")
        hubs = report.get("hubs") if isinstance(report, dict) else None
        if isinstance(hubs, list):
            yield from _hops(lines, hubs, [row for row in rows if _HOST.search(row.text)])


def _hops(lines: Lines, hubs: list[Any], rows: list[Quote]) -> Iterator[Record | Problem]:
    """The hops; `rows` are the lines that name a host, in order, or the one line that holds them all."""
    for position, hub in enumerate(hubs):
        row = rows[min(position, len(rows) - 1)] if rows else None
        hop_index = _number(hub, "count")
        if row is None or hop_index is None:
            yield _problem(
                lines, row.line_index if row else None, Text(en="a hop has no number or host", zh="某一跳缺少序号或主机")
            )
            continue
        host, loss, sent = hub.get("host"), _number(hub, "Loss%"), _number(hub, "Snt")
        yield PathHop(
            source=source(lines, "mtr"),
            quotes=(row,),
            hop_index=int(hop_index),
            address=host if isinstance(host, str) and host != "???" else None,
            sent_count=whole(sent),
            loss_ratio=None if loss is None else loss / 100.0,
            rtt_mean_s=_milliseconds(hub, "Avg"),
            rtt_min_s=_milliseconds(hub, "Best"),
            rtt_max_s=_milliseconds(hub, "Wrst"),
            rtt_deviation_s=_milliseconds(hub, "StDev"),
            is_last=position == len(hubs) - 1,
        )


def _number(hub: Any, name: str) -> float | None:
    """A number of a hub; older versions write the hop's number as a string."""
    value = hub.get(name) if isinstance(hub, dict) else None
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < 1e12 else None


def _milliseconds(hub: Any, name: str) -> float | None:
    """A time, unless nothing answered there."""
    value = _number(hub, name)
    return None if value is None or hub.get("host") == "???" else round(value / 1e3, 9)


def _problem(lines: Lines, index: int | None, why: Text) -> Problem:
    return Problem(source=source(lines, "mtr"), why=why, line_index=index)


READER = Reader(
    title=Text(en="mtr as JSON", zh="mtr 的 JSON 输出"),
    gives=(PathHop,),
    recognises=marked(_DOCUMENT),
    read=_read,
    obtained_by=("mtr --json -n -c 100 PEER",),
)
