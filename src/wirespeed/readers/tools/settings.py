"""One setting a line, as configurations and notes write it: `key: value`, `key = value`, `key value unit`.

A line is a setting only when its name is short and its value looks like a value (a number with a unit, a switch, one word or one
quoted string): a sentence with a colon is not. An identifier that only a configuration file has (`proxy_read_timeout`,
`serializeImagePulls`) is also taken from the middle of a line, when a value with a unit or a switch stands right behind it.

Counters of devices, environment variables, log lines, calls in source code and commented-out lines are passed over.
"""

import re
from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_NAME_WORDS = 6
MOST_LINE_CHARACTERS = 400
"""A setting with its remark is shorter; longer lines are logs, minified JSON or paragraphs."""

_SWITCH = r"(?:true|false|on|off|yes|no|enabled?|disabled?|none|null|auto|unlimited|never|always|default|infinity)"
_NUMBER_AND_UNIT = r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?\s?(?:[A-Za-zµμ%°][\w/%]*)?"
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|us|µs|[smhd])){2,4}"
_REMARK = r"(?:\s*[;,])?(?:\s+\([^()]{0,80}\))?(?:\s+(?:#|//|;|--)\s?.*)?"
_MARK = r"^\s*(?:[-*+•]\s+)?"
_WORDS = r"[A-Za-z_][\w.\-/]*(?:\(s\))?(?: [\w.\-/()]{1,40}){0,5}"
_QUOTED_NAME = r"[\"'`](?P<quoted>[A-Za-z_][\w.\-/ ]{0,80})[\"'`]"
_CODE_NAME = r"[A-Za-z][A-Za-z0-9]*(?:[_.][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"

_TIME = r"\d+(?:,\d{3})*(?:\.\d+)?\s?(?:ms|us|µs|s|sec|seconds?|min|minutes?|h|hours?)"
_SIZE = r"\d+(?:,\d{3})*(?:\.\d+)?\s?(?:[kKMG]i?B?|bytes)"

_PAIR = regex(rf"{_MARK}(?:{_QUOTED_NAME}|(?P<words>{_WORDS}))(?:\s*(?:=|:=)\s*|\s*:\s+|:(?=\d))(?P<value>\S.*)$")
_SPACED = regex(
    rf"(?i){_MARK}(?P<words>{_WORDS})(?:\t|\s{{2,}})\s*(?P<value>{_DURATION}|{_NUMBER_AND_UNIT}|{_SWITCH}){_REMARK}\s*$"
)
_BARE = regex(
    rf"{_MARK}(?P<words>{_CODE_NAME}|[a-z]+(?:-[a-z]+)+)\s+(?P<value>{_DURATION}|{_NUMBER_AND_UNIT}|(?i:{_SWITCH})){_REMARK}\s*$"
)
_INLINE = regex(
    rf"(?<![\w.\-/$\"])(?P<words>{_CODE_NAME})[`'\"]?(?:"
    rf"(?:\s*[:=]\s*|\s(?:is|was|to|set to|is set to|left at|at)\s)[`'\"]?(?P<assigned>{_DURATION}|{_TIME}|{_SIZE}|{_SWITCH})"
    r"|\s(?:is|was|set to|is set to)\s(?P<number>\d+(?:\.\d+)?)"
    rf"|\s(?P<bare>{_DURATION}|{_TIME}|true|false|off|enabled|disabled))(?![\w.(/-])"
)
_VALUE = regex(rf"(?i)^(?P<value>\"[^\"]*\"|'[^']*'|{_DURATION}|\d+(?:\s+\d+){{1,3}}|{_NUMBER_AND_UNIT}|[^\s;,]+){_REMARK}\s*$")
_NUMBER = regex(r"^(?P<number>[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s?(?P<unit>[A-Za-zµμ%°][\w/%]*)?$")
_PART = regex(r"(\d+(?:\.\d+)?)(ms|us|µs|[smhd])")
_IS_DURATION = regex(rf"^{_DURATION}$")
_RECOGNISED = regex(r"[:=]|\w_\w|\t|  ")

_NOT_A_SETTING = regex(
    r"NCCL (?:INFO|WARN|TRACE)|^\s*(?:#|//|<|\$|File |Traceback|at )|^\s*[\[(]|^\s*\w+:\d+:\d+|\b\d\d:\d\d:\d\d\b|[{\[(]\s*$|->"
)
_NOT_A_NAME = regex(
    r"(?i)^(?:rx|tx)[_\d]|^export |(?:error|exception|warning)$|^(?:info|warn|debug|trace|fatal|critical|note|todo|https?|q|a"
    r"|re|from|date)$"
    r"|(?:packets|octets|_phy)$|\b(?:the|and|but|because|when|then|which|that|with|i|we)\b"
)
_VARIABLE = regex(r"^[A-Z][A-Z0-9_]*$")
_CALL = regex(r"\w\(|\w\s*=\s*\S|[{}]|=>|->")

_TIME_NAMES = regex(r"(?i)time|interval|delay|ttl|age|period|alive|deadline|expir|grace|idle|duration|wait|retry|backoff|lease")
_LONG_TIMES = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "millis": "ms", "milliseconds": "ms", "usec": "us",
    "minute": "min", "minutes": "min", "mins": "min", "hour": "h", "hours": "h", "day": "d", "days": "d",
}  # fmt: skip
_ENDING_UNITS = (
    ("milliseconds", "ms"), ("_ms", "ms"), ("-ms", "ms"), ("millis", "ms"), ("microseconds", "us"), ("_usec", "us"), ("_us", "us"),
    ("seconds", "s"), ("_secs", "s"), ("_sec", "s"), ("_s", "s"), ("minutes", "min"),
)  # fmt: skip
_UNIT_OF_NAME = {
    "keepalivetimeout": "ms", "headerstimeout": "ms", "requesttimeout": "ms",
    "keepalive_timeout": "s", "proxy_read_timeout": "s", "proxy_send_timeout": "s", "proxy_connect_timeout": "s",
    "send_timeout": "s",
    "client_body_timeout": "s", "client_header_timeout": "s", "grpc_read_timeout": "s", "grpc_send_timeout": "s",
    "proxy-read-timeout": "s", "proxy-send-timeout": "s", "proxy-connect-timeout": "s",
    "timeout_keep_alive": "s", "timeout-keep-alive": "s", "keepalive": "s", "graceful_timeout": "s",
    "net.ipv4.tcp_keepalive_time": "s", "net.ipv4.tcp_keepalive_intvl": "s", "net.ipv4.tcp_fin_timeout": "s",
}  # fmt: skip
"""Units that a program fixes for its own setting (Node.js `http`, nginx core and proxy modules, uvicorn, gunicorn, ip-sysctl)."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if len(line) > MOST_LINE_CHARACTERS or _NOT_A_SETTING.search(line):
            continue
        whole = _whole_line(line)
        if whole is not None:
            yield _setting(lines, index, line, *whole)
            continue
        for found in _INLINE.finditer(line):
            if _is_name(found["words"]):
                yield _setting(lines, index, line, found["words"], (found["assigned"] or found["number"] or found["bare"]).strip())


def _whole_line(line: str) -> tuple[str, str] | None:
    """Name and value, when the line as a whole is a setting."""
    found = _PAIR.match(line)
    if found:
        name, value = found["quoted"] or found["words"], _VALUE.match(found["value"])
        if value and _is_name(name) and not _CALL.search(value["value"].strip("\"'")) and _fits(name, value["value"]):
            return name, value["value"].strip("\"'").strip()
        return None
    found = _SPACED.match(line) or _BARE.match(line)
    return (found["words"], found["value"].strip()) if found and _is_name(found["words"]) else None


def _is_name(name: str) -> bool:
    words = name.split()
    return (
        len(words) <= MOST_NAME_WORDS
        and not _NOT_A_NAME.search(name)
        and not (_VARIABLE.match(name) and "_" in name)
        and canonical_name(name) is None
    )


def _fits(name: str, value: str) -> bool:
    """A name of several words is a note's: its value must be a number, a switch or quoted, else the line is prose."""
    return " " not in name or bool(
        _NUMBER.match(value) or _IS_DURATION.match(value) or re.fullmatch(rf"(?i){_SWITCH}|[\"'].*", value)
    )


def _setting(lines: Lines, index: int, line: str, name: str, value: str) -> Setting:
    number, unit = _number_and_unit(value)
    return Setting(
        source=source(lines, "settings"),
        quotes=(quote(lines, index, line),),
        name=name,
        setting=value,
        value=number,
        unit=unit,
        duration_s=_duration_s(name, value, number, unit),
    )


def _number_and_unit(value: str) -> tuple[float | None, str | None]:
    found = None if _IS_DURATION.match(value) else _NUMBER.match(value)
    return (float(found["number"].replace(",", "")), found["unit"]) if found else (None, None)


def _duration_s(name: str, value: str, number: float | None, unit: str | None) -> float | None:
    """The time meant, with the unit from the value or else from the name; `m` is minutes only where the name speaks of time."""
    if _IS_DURATION.match(value):
        parts = [time_in_s(float(count), each) for count, each in _PART.findall(value)]
        return sum(part for part in parts if part is not None)
    if number is None:
        return None
    if unit is None:
        low = name.lower()
        last = low.rsplit(".", 1)[-1]
        ending = next((each for end, each in _ENDING_UNITS if low.endswith(end)), None)
        named = _UNIT_OF_NAME.get(low) or _UNIT_OF_NAME.get(last) or ending
        return None if named is None else time_in_s(number, named)
    if unit == "m" and not _TIME_NAMES.search(name):
        return None
    return time_in_s(number, _LONG_TIMES.get(unit.lower(), unit))


READER = Reader(
    title=Text(en="settings, one a line", zh="逐行的设置"),
    gives=(Setting,),
    recognises=marked(_RECOGNISED),
    read=_read,
    voice="loose",
)
