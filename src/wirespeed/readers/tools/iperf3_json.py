"""iperf3 with `-J`: the sums at the end, each side of each direction, and the error that stopped a run."""

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import marked_documents
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_COUNT = 1e15
"""A larger count is damage."""

Role: TypeAlias = Literal["sum-sender", "sum-receiver", "mean"]

_DOCUMENT = regex(r"\{\s*\"(?:start|title|end|sum_sent|error)\"\s*:")
_MARK = regex(r"\"(?:sum_sent|sum_received|bits_per_second|test_start|connecting_to)\"|\"version\":\s*\"iperf ")
_SUMS: tuple[tuple[str, Role, bool], ...] = (
    ("sum_sent", "sum-sender", False),
    ("sum_received", "sum-receiver", False),
    ("sum_sent_bidir_reverse", "sum-sender", True),
    ("sum_received_bidir_reverse", "sum-receiver", True),
)
_OLD_UDP_SUM: tuple[tuple[str, Role, bool], ...] = (("sum", "mean", False),)
"""Before 3.7 a UDP run ends with one sum only."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for found in marked_documents(lines, _DOCUMENT, "iperf3"):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _document(lines, *found)


def _document(lines: Lines, document: dict[str, Any], rows: list[Quote]) -> Iterator[Record | Problem]:
    error = document.get("error")
    if isinstance(error, str):
        said = re.sub(r"[{}]", "", error)[:200]
        yield _problem(lines, rows[0].line_index, Text(en=f"iperf3 failed: {said}", zh=f"iperf3 失败：{said}"))
    end = _table(document, "end") or document
    start = _table(_table(document, "start"), "test_start")
    cpu = _table(end, "cpu_utilization_percent")
    sums = _SUMS if "sum_sent" in end else _OLD_UDP_SUM
    for key, role, is_opposite in sums:
        total = _table(end, key)
        rate = _number(total, "bits_per_second")
        if rate is None:
            continue
        yield ThroughputRun(
            source=source(lines, "iperf3"),
            quotes=_quotes(rows, key),
            tool="iperf3",
            rate_bits_per_s=rate,
            role=role,
            protocol=str(start["protocol"]).lower() if "protocol" in start else None,
            stream_count=_whole(start, "num_streams"),
            duration_s=_number(total, "seconds"),
            transferred_bytes=_number(total, "bytes"),
            retransmits_packets=_whole(total, "retransmits"),
            lost_ratio=_percent(total, "lost_percent"),
            jitter_s=_milliseconds(total, "jitter_ms"),
            congestion_window_bytes=_window(end) if role == "sum-sender" and not is_opposite else None,
            size_bytes=_whole(start, "blksize"),
            is_reverse=bool(start.get("reverse")) != is_opposite,
            cpu_local_ratio=_percent(cpu, "host_total"),
            cpu_remote_ratio=_percent(cpu, "remote_total"),
        )


def _window(end: dict[str, Any]) -> float | None:
    """The largest congestion window of the stream, where there was one stream."""
    streams = end.get("streams")
    if not isinstance(streams, list) or len(streams) != 1 or not isinstance(streams[0], dict):
        return None
    return _number(_table(streams[0], "sender"), "max_snd_cwnd")


def _quotes(rows: list[Quote], key: str) -> tuple[Quote, ...]:
    """The line that names the sum and the line with its rate; one line when the document is not broken into lines."""
    opening = f'"{key}"'
    named = next((position for position, row in enumerate(rows) if opening in row.text), None)
    if named is None:
        return (rows[0],)
    rate = next((row for row in rows[named:] if '"bits_per_second"' in row.text), rows[named])
    return (rows[named],) if rate is rows[named] else (rows[named], rate)


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _number(table: dict[str, Any], key: str) -> float | None:
    value = table.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(table: dict[str, Any], key: str) -> int | None:
    value = _number(table, key)
    return int(value) if value is not None and abs(value) < MOST_COUNT else None


def _percent(table: dict[str, Any], key: str) -> float | None:
    value = _number(table, key)
    return None if value is None else value / 100.0


def _milliseconds(table: dict[str, Any], key: str) -> float | None:
    value = _number(table, key)
    return None if value is None else value / 1e3


def _problem(lines: Lines, index: int | None, why: Text) -> Problem:
    return Problem(source=source(lines, "iperf3"), why=why, line_index=index)


READER = Reader(
    title=Text(en="iperf3 as JSON", zh="iperf3 的 JSON 输出"),
    gives=(ThroughputRun,),
    recognises=marked(_MARK, confirmed=lambda sample: _DOCUMENT.search(sample) is not None and _MARK.search(sample) is not None),
    read=_read,
    obtained_by=("iperf3 -c PEER -J",),
)
