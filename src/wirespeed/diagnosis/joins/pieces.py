"""Small ways to make one piece of evidence from several sightings, and to find a setting whoever wrote it down."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from wirespeed.model.case import Case
from wirespeed.model.finding import Evidence, Value, contradicts, supports
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Command, Directive, Quantity, Setting, Statement
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s

AnyRecord = TypeVar("AnyRecord", bound=Record)
ALONE = 2.3
"""Weight of words that name a cause and little else: alone they list it (0.23 where only prose speaks), and claim no more."""
MOST_COMPARED = 200
"""Records compared in pairs: people quote few numbers, and a dump of many must not cost their square."""
MOST_RECORDS = 3
"""Records shown for one piece of evidence; further sightings repeat the same thing."""

_DURATION = re.compile(r"^(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|s|sec|seconds?|m|min|minutes?|h|hours?)?$")
_LONG_UNITS = {"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h"}
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.\-/:]+")
_REPEATED = re.compile(r"_+")


def piece(says: Text, weight_nats: float, records: Sequence[AnyRecord], **values: Value) -> tuple[Evidence, ...]:
    """One piece of evidence for the claim when there is any record, none otherwise."""
    return (supports(says, weight_nats, *_telling(records), **values),) if records else ()


def against(says: Text, weight_nats: float, records: Sequence[Record], **values: Value) -> tuple[Evidence, ...]:
    """One piece of evidence against the claim when there is any record, none otherwise."""
    return (contradicts(says, weight_nats, *_telling(records), **values),) if records else ()


def _telling(records: Sequence[Record]) -> list[Record]:
    """The few records to show: what a machine says before what people say."""
    return sorted(records, key=lambda one: isinstance(one, Statement | Quantity))[:MOST_RECORDS]


def lines_of(records: Sequence[Record]) -> frozenset[str]:
    """The distinct lines that records rest on."""
    return frozenset(quote.text for one in records for quote in one.quotes)


@dataclass(frozen=True, slots=True)
class Configured:
    """One setting, wherever it stood: name in snake_case, text, and its duration where it is one."""

    name: str
    setting: str
    duration_s: float | None
    record: Record


@lru_cache(maxsize=65_536)
def snake(name: str) -> str:
    """`server.keepAliveTimeout` and `Keep-Alive timeout` as `server_keep_alive_timeout` and `keep_alive_timeout`."""
    return _REPEATED.sub("_", _WORD_BORDER.sub("_", name.strip()).lower()).strip("_")


def configured(case: Case, pattern: str) -> tuple[Configured, ...]:
    """Settings, server directives, flags and code assignments whose snake_case name `pattern` is found in."""
    wanted = re.compile(pattern)
    return tuple(one for one in _all_configured(case) if wanted.search(one.name))


def is_setting_named(record: Record, pattern: str) -> bool:
    """Whether this Setting, Directive or CodeCall bears a name in which `pattern` is found (for a rule's needs)."""
    return isinstance(record, Setting | Directive | CodeCall) and re.search(pattern, snake(record.name)) is not None


def _all_configured(case: Case) -> Iterator[Configured]:
    for one in case.every(Setting):
        duration_s = one.duration_s if one.duration_s is not None else duration_in_s(one.setting)
        yield Configured(snake(one.name), one.setting, duration_s, one)
    for directive in case.every(Directive):
        text = " ".join(directive.arguments)
        yield Configured(
            snake(directive.name), text, duration_in_s(directive.arguments[0] if directive.arguments else ""), directive
        )
    for command in case.every(Command):
        for name, text in flags_of(command):
            yield Configured(snake(name), text, duration_in_s(text), command)
    for call in case.every(CodeCall):
        yield Configured(snake(call.name), call.arguments, duration_in_s(call.arguments), call)


def flags_of(command: Command) -> Iterator[tuple[str, str]]:
    """Each long flag of a command with its value, `""` where it has none."""
    for place, argument in enumerate(command.arguments):
        if not argument.startswith("--"):
            continue
        name, equals, text = argument[2:].partition("=")
        following = command.arguments[place + 1] if place + 1 < len(command.arguments) else ""
        yield name, text if equals or following.startswith("-") else following


def duration_in_s(text: str) -> float | None:
    """`60s`, `300 ms` or a bare number of seconds as seconds; None where it is no duration."""
    found = _DURATION.match(text.strip().rstrip(";"))
    if found is None:
        return None
    unit = found["unit"] or "s"
    return time_in_s(float(found["number"]), _LONG_UNITS.get(unit, unit))


def said_s(statement: Statement) -> float | None:
    """The time a statement names, in seconds."""
    if statement.value is None:
        return None
    unit = (statement.unit or "s").lower()
    return time_in_s(statement.value, _LONG_UNITS.get(unit, unit))


def quantities(case: Case, dimension: str, subject: str = "") -> tuple[Quantity, ...]:
    """Numbers of one dimension in prose and loose lines whose text in front matches `subject`."""
    wanted = re.compile(subject)
    return case.every(Quantity, lambda one: one.dimension == dimension and wanted.search(one.subject) is not None)
