"""Everything a diagnosis was given: machines, texts and the question, read into records, and kept for a case file."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

import wirespeed
from wirespeed.archive import casefile
from wirespeed.archive.redact import redacted
from wirespeed.archive.store import Run
from wirespeed.machines.archives import Advance
from wirespeed.machines.local import Local
from wirespeed.machines.opening import UNREADABLE, Found, open_inputs, unreadable
from wirespeed.machines.recording import Recording
from wirespeed.machines.streams import StreamBytes, StreamLines, shown
from wirespeed.model import record_lines, shelf
from wirespeed.model.case import Case
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.facts.host import CpuMask, EnvVar, ProcessLimit
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import QUESTION_PATH, Lines, MemoryLines
from wirespeed.model.measurement import NameLookup
from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.secrets import spread_secrets
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.readers.digest import Digest, digest_of
from wirespeed.readers.packets.lines import PacketLines, is_capture
from wirespeed.readers.parsing.own_records import is_interview, is_ours, is_ours_alone
from wirespeed.readers.recognise import announced, read_all
from wirespeed.report.numbers import in_unit
from wirespeed.verbs._copies import Copies
from wirespeed.verbs._look import guarded, machine_in, observe, without_identities
from wirespeed.verbs._measure import Log

QUESTION_NAME = "question.txt"
"""An input of this name is what the user asks, not what happened."""
THIS_MACHINE = "this machine"
MOST_KEPT_END_CHARACTERS = 8 * 1024 * 1024
"""Of a text that is too large to be saved whole, this much of its head and of its tail."""
MOST_HEAD_CHARACTERS = 16 * 1024 * 1024
"""Heads kept of texts that a program gathered."""
MOST_AT_HAND_BYTES = 1024 * 1024
"""A text up to this size is decoded once for all readers; a longer one is digested."""
_VOICES = ("machine", "loose", "prose")
"""An input is named after the reader whose lines are surest to be its own."""
_OWN_MARKS = (
    '"schema": "wirespeed/diagnose/',
    '"schema":"wirespeed/diagnose/',
    '<meta name="generator" content="wirespeed"',
    "wirespeed diagnosis\n",
    "wirespeed 诊断\n",
)
"""What our own answers begin with: a report read as evidence would prove itself."""


_OF_A_PROCESS: frozenset[type[Record]] = frozenset({EnvVar, ProcessLimit, CpuMask, Setting, NameLookup})
"""Facts that a job or a name has, and a look at the machine does not find."""


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was read: the reader that got most of it, the others, and how many records it gave."""

    path: str
    recognised_as: str
    also: tuple[str, ...] = ()
    records: int


def _ours(head: str) -> Callable[[str], bool] | None:
    """The recogniser of what wirespeed itself wrote, so that no other reader takes our words for a machine's or a person's."""
    if is_ours_alone(head):
        return is_ours
    return is_interview if is_interview(head) else None


class Gathered:
    """Records and problems of all inputs as they are read, and the raw bytes they were read from."""

    def __init__(self, readers: Mapping[str, Reader]) -> None:
        self.readers = readers
        self.question = ""
        self.records: list[Record] = []
        self.problems: list[Problem] = []
        self.inputs: list[Input] = []
        self.texts: dict[str, str] = {}
        """Heads of the texts, by name."""
        self.collected: set[str] = set()
        """Names of texts that a program gathered."""
        self.secrets: set[str] = set()
        """Secrets that stand on another line than the name that tells them."""
        self.unread: list[str] = []
        """Inputs the user named of which nothing could be read."""
        self._opened: list[Lines] = []
        self._machines: list[Recording] = []
        self._copies = Copies()
        self._looked_for: set[type[Record]] = set()
        self._summed_up: Counter[str] = Counter()
        self._left_head_characters = MOST_HEAD_CHARACTERS

    def gather(self, paths: tuple[str, ...], progress: Progress = unheard) -> None:
        """Read every input, or this machine when there is none. Raises BadRequest for an empty name."""
        if any(not path for path in paths):
            raise BadRequest(Text(en="an input has an empty name (an unset variable?)", zh="有一个输入的名称为空（变量未设置？）"))
        if not paths:
            self.look(Recording(Local()), THIS_MACHINE)
        for path in paths:
            count = len(self.inputs)
            name = shown(path)
            machine, problems = machine_in(path)
            self.problems.extend(problems)
            if machine is not None:
                self.look(Recording(machine), name)
            for opened in open_inputs((path,), partial(_told, progress)):
                if isinstance(opened, Found):
                    self.look(Recording(opened.machine), opened.path, is_whole=False)
                else:
                    self.take(opened)
            self._tell_in_sum(name)
            if len(self.inputs) == count and not self.question and not self._was_seen(name):
                self.unread.append(name)

    def _tell_in_sum(self, name: str) -> None:
        """What is told once for all texts of an input: that of long ones not every line was shown to every reader, and copies."""
        texts, lines, left_out = (self._summed_up[of] for of in ("texts", "lines", "left out"))
        if texts:
            why = Text(
                en=f"has {texts} long text(s) of {lines} lines in all; where many differ only in figures and identifiers and no reader found"
                f" anything in the first of them, the others were not read ({left_out} lines at most)",
                zh=f"含 {texts} 个长文本，共 {lines} 行；许多行仅数字与标识不同，若各读取器在其中最初几行没有发现任何内容，其余不再读取"
                f"（至多 {left_out} 行）",
            )
            self.problems.append(Problem(source=Source(tool="input", path=name), why=why))
        if copies := self._summed_up["copies"]:
            why = Text(
                en=f"{copies} files say the same as others and were read once", zh=f"{copies} 个文件与其他文件内容相同，只读取一次"
            )
            self.problems.append(Problem(source=Source(tool="input", path=name), why=why))
        self._summed_up.clear()

    def _was_seen(self, path: str) -> bool:
        """Whether an input was left out because its text had been read already."""
        return any(problem.source.tool == "input" and problem.source.path.startswith(path) for problem in self.problems)

    def look(self, machine: Recording, name: str, is_whole: bool = True) -> None:
        """Take in the facts of a machine. Of one of which only some files were copied, what is not found may be there."""
        items = observe(machine)
        found = [item for item in items if isinstance(item, Record)]
        self.records.extend(found if is_whole else (_quoted_in(name, one) for one in found))
        self.problems.extend(item for item in items if isinstance(item, Problem) and item.reason is None)
        self.inputs.append(Input(path=name, recognised_as="machine", records=len(found)))
        self._machines.append(machine)
        if is_whole:
            self.has_looked()

    def has_looked(self) -> None:
        """Note that the collectors have looked at a machine: what they did not find is not there."""
        self._looked_for.update(kind for one in shelf.every(facts, Collector).values() for kind in one.gives)

    def out_of_reach(self, case: Case) -> frozenset[type[Record]]:
        """Kinds of record that were looked for where they would be, in vain; what a process or a name has is its own affair."""
        return frozenset(kind for kind in self._looked_for - _OF_A_PROCESS if not case.has(kind))

    def take_measured(self, name: str, records: Sequence[Record], problems: Sequence[Problem]) -> None:
        """Take in what agents saw and measured, each record quoted by the line that stands for it in a case file."""
        lines: list[str] = []
        for record in records:
            bare = msgspec.structs.replace(record, quotes=())
            line = record_lines.encoded(bare).decode()
            self.records.append(msgspec.structs.replace(record, quotes=(Quote(source=name, line_index=len(lines), text=line),)))
            lines.append(line)
        self.problems.extend(problems)
        self.inputs.append(Input(path=name, recognised_as="hosts", records=len(lines)))
        self._opened.append(MemoryLines("\n".join(lines), name))

    def take(self, opened: Lines | StreamBytes | Problem) -> None:
        """Take in one text: the question, or something to read. One that fails while it is read costs no other."""
        if isinstance(opened, Problem):
            self.problems.append(opened)
            return
        try:
            self._take_text(PacketLines(opened) if isinstance(opened, StreamBytes) else opened)
        except UNREADABLE as error:
            self.problems.append(unreadable(opened.path, error))

    def _take_text(self, opened: Lines) -> None:
        if Path(opened.path.rpartition("!")[2]).name == QUESTION_NAME:
            self.question = self.question or (opened.whole() or "").strip()
        elif (why := self._left_out(opened)) is not None:
            if opened.origin.is_collected:
                self._summed_up["copies"] += 1
                return
            self.problems.append(Problem(source=Source(tool="input", path=opened.path), why=why))
        else:
            self.read(opened)

    def _left_out(self, lines: Lines) -> Text | None:
        """Why a text is not evidence: it is a report of ours, or it was read already under another name."""
        if any(mark in lines.head[:4096] for mark in _OWN_MARKS):
            return Text(en="is a report of wirespeed itself and was not read", zh="是 wirespeed 自身的报告，未读取")
        if not lines.head:
            return None
        first = self._copies.first_of(lines)
        if first is None:
            return None
        return Text(en=f"says the same as {first} and was read once", zh=f"与 {first} 内容相同，只读取一次")

    def read(self, lines: Lines) -> None:
        """Read one text with every reader that knows it."""
        given, lines = lines, _at_hand(lines)
        if isinstance(lines, Digest):
            self._summed_up.update({"texts": 1, "lines": lines.lines_count, "left out": lines.lines_count - lines.kept_count})
        counts: Counter[str] = Counter()
        readers = self.readers
        if isinstance(lines, PacketLines):
            readers = {name: reader for name, reader in readers.items() if reader.recognises is is_capture}
        elif (ours := _ours(lines.head)) is not None:
            readers = {name: reader for name, reader in readers.items() if reader.recognises is ours}
        for name, item in read_all(lines, readers, guarded):
            if isinstance(item, Problem):
                self.problems.append(item)
            else:
                self.records.append(item)
                counts[name] += 1
        if counts or not lines.origin.is_collected:
            self._opened.append(lines if isinstance(lines, Digest) else given)
        self._remember(lines, bool(counts))
        names = sorted(counts, key=lambda name: (_VOICES.index(self.readers[name].voice), -counts[name], name))
        main = names[0] if names else "unknown"
        self.inputs.append(Input(path=lines.path, recognised_as=main, also=tuple(names[1:]), records=counts.total()))

    def _remember(self, lines: Lines, has_records: bool) -> None:
        """Keep what a text says beside its records: its head, and secrets that a quoted line could show.

        Of what a program gathered nothing is anybody's word: its head matters only to records that refer to it.
        """
        if isinstance(lines, PacketLines) or _ours(lines.head) is not None or (lines.origin.is_collected and not has_records):
            return
        self.secrets.update(spread_secrets(lines.head))
        if lines.origin.is_collected:
            self.collected.add(lines.path)
            self._left_head_characters -= len(lines.head)
        if self._left_head_characters > 0 or not lines.origin.is_collected:
            self.texts[lines.path] = lines.head

    def ask(self) -> None:
        """Take in what the user says in the question."""
        self.question = shown(self.question)
        if self.question:
            asked = read_all(MemoryLines(self.question, QUESTION_PATH), self.readers, guarded)
            self.records.extend(item for _, item in asked if isinstance(item, Record))

    def _kept(self, lines: Lines) -> str:
        """The text as it goes into a case file; one that is gone meanwhile costs no other."""
        try:
            if isinstance(lines, Digest):
                return self._kept_digest(lines)
            if lines.origin.command is not None:
                lines = announced(lines)
                return "\n".join(line for _, line in lines)
            return whole if (whole := lines.whole()) is not None else self._kept_ends(lines)
        except UNREADABLE as error:
            self.problems.append(unreadable(lines.path, error))
            return ""

    def _kept_digest(self, lines: Digest) -> str:
        left_out = lines.lines_count - lines.kept_count
        why = Text(
            en=f"is long: of lines that differ only in figures and identifiers few are saved ({left_out} are not)",
            zh=f"过长：仅数字与标识不同的行只保存少数（{left_out} 行未保存）",
        )
        self.problems.append(Problem(source=Source(tool="archive", path=lines.path), why=why))
        return "\n".join(line for _, line in lines)

    def _kept_ends(self, lines: Lines) -> str:
        why = Text(
            en=f"is too large to be saved whole; its first and last {MOST_KEPT_END_CHARACTERS} characters are",
            zh=f"过大，无法完整保存；仅保存首尾各 {MOST_KEPT_END_CHARACTERS} 个字符",
        )
        self.problems.append(Problem(source=Source(tool="archive", path=lines.path), why=why))
        return _ends_of(lines)

    def save(self, place: Path, *, identities: bool = False) -> None:
        """Write all of it as one case file, secrets replaced, and on request identities too. Raises CouldNot where that fails."""
        replies = [reply for machine in self._machines for reply in machine.replies]
        replies += [_given(lines.path, self._kept(lines)) for lines in self._opened]
        if self.question:
            replies.append(_given(QUESTION_NAME, self.question))
        host = next((machine.host for machine in self._machines), None)
        manifest = Manifest(wirespeed_version=wirespeed.__version__, host=host)
        kept = Run(manifest=manifest, replies=tuple(replies), records=(*self.records, *self.problems))
        with _trouble_with(place):
            casefile.write_case(redacted(kept, identities=identities, rewrite=without_identities), place)


def _told(progress: Progress, advance: Advance) -> None:
    """How far the reading of an archive has come, as a sign of life."""
    name = Path(advance.path.partition("!")[0]).name
    read, size = in_unit("bytes", advance.size_bytes), in_unit("bytes", advance.all_bytes)
    says = Text(
        en=f"{name}: {advance.files_count} of {advance.all_files_count} files, {read} of {size}",
        zh=f"{name}：{advance.files_count}/{advance.all_files_count} 个文件，{read}/{size}",
    )
    progress(Update(says=says, done_ratio=advance.size_bytes / max(1, advance.all_bytes)))


def _quoted_in(place: str, record: Record) -> Record:
    """A fact of a copied machine, quoting the copy rather than the machine's own path: there may be copies of several machines."""
    quotes = tuple(msgspec.structs.replace(one, source=f"{place}/{one.source.lstrip('/')}") for one in record.quotes)
    return msgspec.structs.replace(record, quotes=quotes)


def _at_hand(lines: Lines) -> Lines:
    """The text as its readers get it: in memory where it is short, as a digest where it is long and repeats itself."""
    if not isinstance(lines, StreamLines):
        return lines
    if lines.size_bytes > MOST_AT_HAND_BYTES:
        return digest_of(lines) or lines
    whole = lines.whole()
    return lines if whole is None else MemoryLines(whole, lines.path, lines.origin)


def fresh_lines(log: Log) -> Lines | Problem:
    """What a program wrote while it was looked at; a problem where that cannot be read."""
    try:
        return log.fresh()
    except OSError as error:
        return unreadable(log.path, error)


def check_target(place: Path) -> None:
    """Whether a case file can be written there, to be asked before anything is read. Raises CouldNot."""
    with _trouble_with(place):
        casefile.check_target(place)


@contextmanager
def _trouble_with(place: Path) -> Iterator[None]:
    """What keeps a case file from being written, as a sentence."""
    try:
        yield
    except FileExistsError as error:
        raise CouldNot(Text(en=f"{place} is there already, and is not overwritten", zh=f"{place} 已存在，不会覆盖")) from error
    except OSError as error:
        raise CouldNot(Text(en=f"{place} cannot be written: {error.strerror}", zh=f"{place} 无法写入：{error.strerror}")) from error


def _ends_of(lines: Lines) -> str:
    """Head and tail of a text that is too large to keep whole, with a line between that says so."""
    head: list[str] = []
    tail: deque[str] = deque()
    head_left = tail_left = MOST_KEPT_END_CHARACTERS
    left_out = 0
    for _, line in lines:
        if head_left > len(line) and not tail:
            head_left -= len(line) + 1
            head.append(line)
            continue
        tail.append(line)
        tail_left -= len(line) + 1
        while tail_left < 0:
            tail_left += len(tail.popleft()) + 1
            left_out += 1
    return "\n".join([*head, f"[{left_out} lines were left out here when this was saved]", *tail])


def _given(path: str, text: str) -> Reply:
    """A text the user gave, under its name without the folders: those are nobody's business."""
    return Reply(kind="input", request=Path(path.rpartition("!")[2]).name, content=text.encode())
