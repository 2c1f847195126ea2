"""Configuration as written by people: server directives, key-value settings, commands, tables."""

from wirespeed.model.record import Record


class Directive(Record, frozen=True, kw_only=True):
    """One directive of a server configuration (`nginx`, `haproxy`, `envoy`), with the block it stands in."""

    server: str
    name: str
    arguments: tuple[str, ...] = ()
    block: str = ""


class Setting(Record, frozen=True, kw_only=True):
    """One `key: value` or `key = value` of any configuration, manifest or note.

    `name` as written; `number` and `unit` when the value starts with a number (then also `in_s` for times).
    """

    name: str
    setting: str
    value: float | None = None
    unit: str | None = None
    duration_s: float | None = None


class Command(Record, frozen=True, kw_only=True):
    """A command line that was quoted: program and arguments, so that rules can see the flags used."""

    program: str
    arguments: tuple[str, ...] = ()


class CodeCall(Record, frozen=True, kw_only=True):
    """A call or assignment in quoted source code that bears on the network (`enable_compression`, `setsockopt`)."""

    name: str
    arguments: str = ""


class Table(Record, frozen=True, kw_only=True):
    """A plain table: the heading cells and the rows, as text. `quotes[0]` is the heading, then one quote a row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Statement(Record, frozen=True, kw_only=True):
    """Something a person said in prose: the weakest evidence. It never proves absence.

    `topic` is a name from the symptoms shelf (`readers/symptoms/*`).
    """

    topic: str
    value: float | None = None
    unit: str | None = None
    is_negated: bool = False
    is_question: bool = False
    """Said in the question rather than in an input."""


class Quantity(Record, frozen=True, kw_only=True):
    """A number with a unit in prose or a loose metric line; `value` in SI (bits per second, bytes, seconds, ratio, count).

    `subject` is the text in front of the number on that line, lower case, at most 80 characters.
    """

    dimension: str
    """`rate` (bits per s), `size` (bytes), `time` (s), `share` (ratio), `factor` (how many times), `tokens_per_s`, `power` (W), `temperature`
    (C) or `clock` (Hz)."""
    value: float
    printed: str
    subject: str = ""
