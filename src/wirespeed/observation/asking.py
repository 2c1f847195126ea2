"""Ways of asking that collectors share: one value a file, texts for the readers, and reasons for what is missing."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Reason, Source
from wirespeed.model.text import Text
from wirespeed.readers import tools
from wirespeed.readers.netlink import rtnetlink, wire

T = TypeVar("T")
LINKS = "/sys/class/net"


def text_of(machine: Machine, path: str) -> str:
    """A file as text."""
    return machine.read(path).decode(errors="replace")


def value_of(machine: Machine, path: str) -> str | None:
    """The first line of a one-value file, or None when it cannot be read."""
    try:
        return text_of(machine, path).partition("\n")[0].strip("\0 \t\r")
    except MachineProblem:
        return None


def listing_or_nothing(machine: Machine, path: str) -> tuple[str, ...]:
    """Names in a directory; none where it is absent."""
    try:
        return machine.listing(path)
    except MachineProblem as problem:
        if problem.reason != "absent":
            raise
        return ()


def lines_of(machine: Machine, path: str) -> MemoryLines:
    """A file for a reader."""
    return MemoryLines(text_of(machine, path), path)


def read_by(reader_id: str, machine: Machine, path: str) -> Iterator[Record | Problem]:
    """A file read by a reader of the tools shelf, with the machine's name as host."""
    reader = shelf.take(tools, reader_id, Reader)
    for item in reader.read(lines_of(machine, path)):
        yield on_host(item, machine.host) if isinstance(item, Record) else item


def on_host(record: Record, host: str | None) -> Record:
    """The record with its host, where the text did not name one."""
    if host is None or record.source.host is not None:
        return record
    named = msgspec.structs.replace(record.source, host=host)
    return msgspec.structs.replace(record, source=named)


def answer_of(machine: Machine, question: str, subject: str, kind: type[T]) -> T:
    """A decoded answer; a damaged one counts as unsupported."""
    try:
        return msgspec.json.decode(machine.ask(question, subject), type=kind)
    except msgspec.DecodeError as error:
        raise MachineProblem(
            "unsupported", Text(en=f"the answer to {question} is damaged", zh=f"{question} 的应答已损坏")
        ) from error


def problem(machine: Machine, tool: str, path: str, trouble: MachineProblem) -> Problem:
    """The record of a fact that could not be had."""
    return Problem(source=Source(tool=tool, path=path, host=machine.host), why=trouble.why, reason=trouble.reason)


def dumped(
    machine: Machine, family: int, request: bytes, source: Source, read: Callable[[bytes], Iterator[Record]]
) -> Iterator[Record | Problem]:
    """The records of one netlink dump; a reply that was cut gives what is in it and a problem."""
    try:
        reply = machine.netlink(family, request)
    except MachineProblem as trouble:
        yield problem(machine, source.tool, source.path, trouble)
        return
    yield from read(reply)
    if wire.is_cut(reply):
        yield Problem(source=source, why=Text(en="the kernel's reply is cut; there is more", zh="内核应答被截断，还有更多内容"))


def link_names(machine: Machine) -> dict[int, str]:
    """Interface names by index."""
    return {link.index: link.name for link in rtnetlink.links(machine.netlink(rtnetlink.NETLINK_ROUTE, rtnetlink.LINKS_REQUEST))}


def cpus_of(text: str) -> tuple[int, ...] | None:
    """A CPU list such as `0-3,8`, or None when it is none."""
    found: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdigit() or (last and not last.strip().isdigit()):
            return None if text.strip() else ()
        end = int(last) if last else int(first)
        if end - int(first) > 65_536:
            return None
        found.extend(range(int(first), end + 1))
    return tuple(found)


def cpus_of_mask(text: str) -> tuple[int, ...] | None:
    """A CPU mask in hexadecimal words such as `00000000,0000000f`."""
    try:
        mask = int(text.strip().replace(",", "") or "0", 16)
    except ValueError:
        return None
    return tuple(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


class Gathered:
    """Values for the fields of one record, each with its quote, or with the reason why it is missing."""

    def __init__(self, machine: Machine, tool: str, path: str) -> None:
        self._machine = machine
        self.source = Source(tool=tool, path=path, host=machine.host)
        self.values: dict[str, Any] = {}
        self.missing: dict[str, Reason] = {}
        self.quotes: list[Quote] = []

    def take(self, field: str, path: str, convert: Callable[[str], Any]) -> None:
        """Read the first line of a file into a field; what does not convert is absent."""
        try:
            line = text_of(self._machine, path).partition("\n")[0]
        except MachineProblem as trouble:
            self.lacks(field, trouble.reason)
            return
        try:
            value = convert(line.strip("\0 \t\r"))
        except ValueError:
            value = None
        self.put(field, value)
        if value is not None:
            self.quotes.append(Quote(source=path, line_index=0, text=line))

    def put(self, field: str, value: Any, reason: Reason = "absent") -> None:
        """A value that came another way."""
        if value is None:
            self.lacks(field, reason)
        else:
            self.values[field] = value
            self.missing.pop(field, None)

    def lacks(self, field: str, reason: Reason) -> None:
        """Why a field has no value, unless it has one already."""
        if field not in self.values:
            self.missing[field] = reason

    def into(self, kind: Callable[..., T], **fields: Any) -> T:
        """The record."""
        return kind(source=self.source, quotes=tuple(self.quotes), missing=dict(self.missing), **fields, **self.values)
