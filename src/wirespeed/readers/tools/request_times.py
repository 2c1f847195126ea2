"""Requests that a server served, each with when it ended and how long it took: Gin (Ollama, LocalAI), nginx and HAProxy with their times."""

import re
from calendar import month_abbr
from collections.abc import Iterator
from datetime import UTC, datetime

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServedRequest
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_REQUESTS = 5_000

_GIN = regex(
    r"\[GIN\] (?P<date>\d{4}/\d\d/\d\d) - (?P<clock>\d\d:\d\d:\d\d) \|\s*(?P<status>[1-5]\d\d)\s*\|\s*(?P<took>[\d.a-zµμ]{2,24})\s*\|[^|]{0,80}\|"
    r"\s*(?P<method>[A-Z]{3,7})\s+\"(?P<path>[^\"?]{1,300})"
)
_NGINX = regex(
    r"\[(?P<day>\d\d)/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4}):(?P<clock>\d\d:\d\d:\d\d) (?P<zone>[+-]\d{4})\] \"(?P<method>[A-Z]{3,7}) (?P<path>[^ ?\"]{1,300})[^\"]{0,2000}\""
    r" (?P<status>[1-5]\d\d) .{0,2000}?\b(?:rt|request_time|req_time)\"?[=:]\s?\"?(?P<seconds>\d{1,9}(?:\.\d{1,6})?)\b"
)
_PART = regex(r"(\d{1,9}(?:\.\d{1,12})?)(h|ms|m|s|µs|μs|us|ns)")
_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ns": 1e-9}
_MONTHS = {name: number for number, name in enumerate(month_abbr)}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    left = MOST_REQUESTS
    for index, line in lines:
        found = _GIN.search(line) if "[GIN]" in line else _NGINX.search(line) if '] "' in line else None
        if found is None:
            continue
        at_s, took_s = _ended_s(found), _took_s(found)
        if at_s is None or took_s is None:
            why = Text(en="this request has no valid time", zh="该请求没有有效时间")
            yield Problem(source=source(lines, "request-times"), why=why, line_index=index)
            continue
        left -= 1
        if left < 0:
            return
        yield ServedRequest(
            source=source(lines, "request-times"),
            quotes=(quote(lines, index, line),),
            path=found["path"],
            method=found["method"],
            status_code=int(found["status"]),
            ended_s=at_s,
            duration_s=took_s,
        )


def _ended_s(found: re.Match[str]) -> float | None:
    """Seconds since 1970; a log without a zone counts as UTC, since only differences are of use."""
    groups = found.groupdict()
    try:
        if "date" in groups:
            return datetime.strptime(f"{found['date']} {found['clock']}", "%Y/%m/%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        month = _MONTHS.get(found["month"], 0)
        text = f"{found['year']}-{month:02d}-{found['day']} {found['clock']} {found['zone']}"
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z").timestamp()
    except (ValueError, OverflowError):
        return None


def _took_s(found: re.Match[str]) -> float | None:
    """`1m31.5s`, `897.654µs` (Go's durations) or plain seconds."""
    if "seconds" in found.groupdict():
        return float(found["seconds"])
    parts = _PART.findall(found["took"])
    if not parts or "".join(number + unit for number, unit in parts) != found["took"]:
        return None
    return sum(float(number) * _S[unit] for number, unit in parts)


READER = Reader(
    title=Text(en="requests served, with their times", zh="已服务的请求及其耗时"),
    gives=(ServedRequest,),
    recognises=marked(r"\[GIN\] \d{4}/\d\d/\d\d - ", r"\] \"[A-Z]{3,7} .{0,2300}\b(?:rt|request_time|req_time)\"?[=:]\s?\"?\d"),
    read=_read,
    obtained_by=("journalctl -u ollama", "tail -n 1000 /var/log/nginx/access.log"),
)
