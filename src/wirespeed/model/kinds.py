"""What a shelf file offers. Kinds hold functions and never leave the process; records cross."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, cast

from wirespeed.model.case import Case
from wirespeed.model.document import Document
from wirespeed.model.finding import Change, Check, LookAlike, Severity, Verdict
from wirespeed.model.labels import Label
from wirespeed.model.lines import Lines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Language, Text

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A tool's output, recognised by content and read into records.

    `recognises` sees the head of the text (at most 64 KiB) and must be cheap. `read` yields records and problems as it goes,
    never raises on any input, and keeps no more than a bounded state. Several readers may read one text.
    """

    title: Text
    gives: tuple[type[Record], ...]
    recognises: Callable[[str], bool]
    read: Callable[[Lines], Iterator[Record | Problem]]
    obtained_by: tuple[str, ...] = ()
    """Commands whose output this is, cheapest first; shown as what would settle an unknown verdict."""
    voice: Literal["machine", "loose", "prose"] = "machine"
    """Whose words the quoted lines are. A machine's lines are no prose; loose lines (a setting, a command, an error text)
    may be sentences as well; the prose reader gets every line that no machine claimed."""
    needs_every_line: bool = False
    """The digest of a long text will not do: lines make sense only one after the other, or a figure decides whether one matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One thing people say: a name and the wordings by which it is known.

    A wording is a regular expression, matched without regard to case. Named groups `value` and `unit` become the statement's.
    A match that stands after a negation (no, not, never, without ...) in the same clause yields a negated statement, unless
    the topic is not `negatable` (wordings that contain their own negation).
    """

    wordings: tuple[str, ...]
    negatable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptoms:
    """A family of topics."""

    title: Text
    topics: dict[str, Topic]


Activity: TypeAlias = Literal["training", "serving", "download", "benchmark"]
"""What a user is doing when something is slow or fails."""
Happening: TypeAlias = Literal["does-not-start", "stops", "slow", "now-and-then", "works"]
"""What happens, as far as anybody sees at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person can be asked, with what they may have seen: each choice is a topic of the symptoms, in their words."""

    asks: Text
    choices: dict[str, Text]
    kinds: tuple[Activity, ...]
    """What the user must be doing for the question to make sense."""
    when: tuple[Happening, ...] = ("does-not-start", "stops", "slow", "now-and-then", "works")
    """What must happen for the question to make sense."""
    is_first: bool = False
    """It parts the network from what is not the network, and is asked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Evidence a rule can be decided by: a record type, narrowed to records for which `where` holds.

    `what` says in words what is wanted, for the list of what is missing. `hosts_count` is for what only a comparison shows.
    """

    record: type[Record]
    where: Callable[[Record], bool] | None = None
    what: Text | None = None
    hosts_count: int = 1
    """So many hosts must have said it."""

    def is_met(self, case: Case) -> bool:
        """Whether the case holds such records."""
        if self.hosts_count > 1:
            return len({one.source.host for one in case.every(self.record, self.where) if one.source.host}) >= self.hosts_count
        return case.has(self.record) if self.where is None else case.first(self.record, self.where) is not None


def wants(record: type[R], where: Callable[[R], bool] | None = None, what: Text | None = None, hosts_count: int = 1) -> Need:
    """A narrowed need, with the record's type known to `where`."""
    return Need(record=record, where=cast(Callable[[Record], bool] | None, where), what=what, hosts_count=hosts_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """The story of a cause, for people."""

    what: Text
    """What it is, mechanically."""
    shows: Text
    """How it shows."""
    sources: tuple[str, ...]
    """Where the thresholds and formulas come from: document, repository and issue, or `measured` with the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One cause: what it needs, how it judges, and what to do about it. The module's name is its id."""

    cause: Label
    title: Text
    """May use the verdict's values."""
    summary: Text
    """May use the verdict's values."""
    needs: tuple[tuple[type[Record] | Need, ...], ...]
    """Alternatives: any complete one suffices, none gives unknown."""
    judge: Callable[[Case], Verdict]
    explain: Explain
    told_apart_from: tuple[LookAlike, ...]
    changes: tuple[Change, ...]
    checks: tuple[Check, ...]
    gain: Text
    severity: Severity
    silence_needs: tuple[tuple[type[Record] | Need, ...], ...] = ()
    """What must be at hand before silence means absence, where `needs` asks for less than that."""
    explains: tuple[Label, ...] = ()
    """Causes that are only victims when this one is present."""
    settled_by: tuple[str, ...] = ()
    """Further commands that would settle it, beyond those of the readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """Turns a document into text of one format. `width` is the terminal's, where that matters."""

    title: Text
    render: Callable[[Document, Language, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How an option of a verb appears to people: stands in `Annotated` beside the field's type."""

    help: Text
    flags: tuple[str, ...] = ()
    """Such as `--from`; by default `--` and the field's name."""
    choices: tuple[str, ...] = ()
    is_argument: bool = False
    is_command: bool = False
    """The rest of the line is a command to run; its flags are not ours."""
    metavar: str | None = None
