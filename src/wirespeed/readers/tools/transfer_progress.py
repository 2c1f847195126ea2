"""How transfers go on: progress lines of pv, wget (dots and bar), rsync, dd, curl, scp and byte-counting bars of tqdm, one below the
other or written over one another, and the totals of `rsync --stats`.

Of a long transfer moments at equal distances are kept. dd prints totals: rates are those between two lines. wget, rsync and scp
count in 1,024s and write MB/s (wget src/progress.c, rsync progress.c, OpenSSH progressmeter.c).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import CopySummary, TransferProgress
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.printed_numbers import clock_s, number_of, whole_of
from wirespeed.readers.parsing.regex import regex

MOST_MOMENTS = 256
"""Kept of one transfer."""
_N = r"\d{1,20}(?:[.,]\d{1,6}){0,6}"
_PV = regex(
    rf"(?P<size>{_N}) ?(?P<size_unit>[kKMGT]?i?B) +(?P<spent>\d{{1,3}}:\d\d(?::\d\d)?) +\[ *(?P<rate>{_N}) ?(?P<unit>[kKMGT]?i?B/s)\]"
    r"(?:[^%\n]{0,400}? (?P<percent>\d{1,3})%)?"
)
_WGET_DOTS = regex(
    rf"^ *(?P<kibibytes>\d{{1,12}})K (?:[.,]{{1,20}} ?){{1,10}} *(?P<percent>\d{{1,3}})% +(?P<rate>{_N})(?P<prefix>[KMGT]?)(?:[ =]\S+)?$"
)
_WGET_BAR = regex(
    rf"(?P<percent>\d{{1,3}})% ?\[[ =+>]{{3,300}}\] +(?P<size>{_N})(?P<size_unit>[KMGT]?) +(?P<rate>{_N})(?P<unit>[KMGT]?B/s)(?:\s|$)"
)
_RSYNC = regex(
    rf"^ *(?P<size>{_N})(?P<size_unit>[KMGT]?) +(?P<percent>\d{{1,3}})% +(?P<rate>{_N})(?P<unit>[kKMGT]?B/s) +\d{{1,6}}:\d\d:\d\d"
)
_SCP = regex(
    rf"\s(?P<percent>\d{{1,3}})% +(?P<size>{_N})(?P<size_unit>[KMGT]?B) +(?P<rate>{_N})(?P<unit>[KMGT]?B/s) +(?:\d\d:)?\d\d:\d\d"
)
_DD = regex(rf"\b(?P<size>\d{{1,18}}) bytes (?:\([^)]{{1,60}}\) )?copied, (?P<spent>{_N}(?:e[-+]\d{{1,3}})?) s\b")
_CURL = regex(
    rf"^ *(?P<percent>\d{{1,3}}) +\d[\d.]*[kMGTP]? +\d{{1,3}} +(?P<size>{_N})(?P<size_unit>[kMGT]?) +\d{{1,3}} +\d[\d.]*[kMGTP]? +\d[\d.]*[kMGTP]?"
    rf" +\d[\d.]*[kMGTP]? +[-\d]+:[-\d:]+ +(?P<spent>\d{{1,3}}:\d\d:\d\d) +[-\d]+:[-\d:]+ +(?P<rate>{_N})(?P<prefix>[kMGT]?) *$"
)
_TQDM = regex(
    rf"(?P<percent>\d{{1,3}})%\|[^|]{{0,200}}\| *(?P<size>{_N})(?P<size_unit>[kMGT]?)/\d[\d.]*[kMGT]?B? *\[(?P<spent>\d{{1,3}}:\d\d(?::\d\d)?)<"
    rf"[^,]{{1,20}}, *(?P<rate>{_N})(?P<unit>[kMGT]?i?B/s)"
)
_SHAPES = (
    ("pv", _PV, "iB"), ("wget", _WGET_DOTS, "iB"), ("wget", _WGET_BAR, "iB"), ("rsync", _RSYNC, "iB"), ("tqdm", _TQDM, "B"),
    ("scp", _SCP, "iB"), ("dd", _DD, "B"), ("curl", _CURL, "iB"),
)  # fmt: skip
"""Tool, form, and what a prefix alone counts in."""
_HINT = regex(r"B/s|%|copied,|\d:\d\d")
_STATS = regex(
    rf"^(?P<name>Number of (?:regular )?files transferred|Total transferred file size|Total bytes sent): (?P<number>{_N})(?P<prefix>[KMGT]?)\b"
)
_SENT = regex(
    rf"^sent (?P<sent>{_N})(?P<sent_prefix>[KMGT]?) bytes +received \S+ bytes +(?P<rate>{_N})(?P<prefix>[KMGT]?) bytes/sec"
)
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_MOST_PARTS = 2_000
_CUT = Text(en="rsync's totals are cut: files are counted, their size is not told", zh="rsync 统计不完整：有文件数，缺大小")


@dataclass(slots=True)
class _Moment:
    """One progress line as printed."""

    tool: str
    rate_bits_per_s: float | None
    size_bytes: float | None
    elapsed_s: float | None
    done_ratio: float | None
    said: Quote


@dataclass(slots=True)
class _Transfer:
    """The moments of one transfer, thinned out as they grow many."""

    number: int = 0
    moments: list[_Moment] = field(default_factory=list)
    last: _Moment | None = None
    stride: int = 1
    seen: int = 0

    def follows(self, one: _Moment) -> bool:
        """Whether the moment goes on with this transfer: the same tool, and no bytes fewer."""
        return self.last is not None and self.last.tool == one.tool and (one.size_bytes or 0.0) >= (self.last.size_bytes or 0.0)

    def add(self, one: _Moment) -> None:
        """Take one more."""
        if self.last is not None and one.rate_bits_per_s is None:
            _between(self.last, one)
        self.last = one
        if one.rate_bits_per_s is not None:
            if self.seen % self.stride == 0:
                self.moments.append(one)
            self.seen += 1
        if len(self.moments) >= MOST_MOMENTS:
            self.moments, self.stride = self.moments[::2], self.stride * 2


@dataclass(slots=True)
class _Totals:
    """What `rsync --stats` has told so far."""

    numbers: dict[str, float] = field(default_factory=dict)
    quotes: list[Quote] = field(default_factory=list)
    first_line_index: int = 0


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at, totals = _Transfer(), _Totals()
    for index, line in lines:
        for part in line.split("\r")[-_MOST_PARTS:]:
            one = _moment(lines, index, part) if _HINT.search(part) else None
            if one is None:
                continue
            if not at.follows(one):
                yield from _told(lines, at)
                at = _Transfer(number=at.number + 1)
            at.add(one)
        yield from _stats_line(lines, index, line, totals)
    yield from _told(lines, at)
    yield from _summary(lines, totals)


def _moment(lines: Lines, index: int, part: str) -> _Moment | None:
    for tool, shape, base in _SHAPES:
        found = shape.search(part)
        if found:
            parts = found.groupdict()
            rate, percent = parts.get("rate"), parts.get("percent")
            return _Moment(
                tool=tool,
                rate_bits_per_s=_rate(rate, _rate_unit(parts, base)) if rate else None,
                size_bytes=_size(parts, "B" if tool == "rsync" else base),
                elapsed_s=_elapsed_s(parts["spent"] or "") if parts.get("spent") else None,
                done_ratio=min(int(percent), 100) / 100 if percent else None,
                said=quote(lines, index, part),
            )
    return None


def _rate_unit(parts: dict[str, str | None], base: str) -> str:
    """The unit as printed where it is a true one; a prefix alone, or before B/s, counts as the tool counts."""
    unit = parts.get("unit") or f"{parts.get('prefix') or ''}B/s"
    if "i" in unit or base == "B" or unit == "B/s":
        return unit
    return f"{unit[0]}iB/s"


def _rate(printed: str, unit: str) -> float | None:
    number = number_of(printed)
    return None if number is None else rate_in_bits_per_s(number, unit)


def _size(parts: dict[str, str | None], base: str) -> float | None:
    if parts.get("kibibytes"):
        return float(parts["kibibytes"] or 0) * 1024
    printed, unit = parts.get("size"), (parts.get("size_unit") or "").removesuffix("B")
    prefix = unit.removesuffix("i")
    number = None if printed is None else number_of(printed) if prefix else whole_of(printed)
    if number is None:
        return None
    return size_in_bytes(number, f"{prefix}{'iB' if base == 'iB' or unit.endswith('i') else 'B'}" if prefix else "B")


def _between(before: _Moment, one: _Moment) -> None:
    """The rate from one total to the next."""
    took_s = (one.elapsed_s or 0.0) - (before.elapsed_s or 0.0)
    if took_s > 0 and one.size_bytes is not None and before.size_bytes is not None:
        one.rate_bits_per_s = 8 * (one.size_bytes - before.size_bytes) / took_s


def _told(lines: Lines, transfer: _Transfer) -> Iterator[TransferProgress]:
    """A single moment tells nothing of how a transfer goes on."""
    last = transfer.last
    if last is not None and transfer.moments and last is not transfer.moments[-1] and last.rate_bits_per_s is not None:
        transfer.moments.append(last)
    for one in transfer.moments if len(transfer.moments) > 1 else ():
        yield TransferProgress(
            source=source(lines, one.tool),
            quotes=(one.said,),
            tool=one.tool,
            transfer_index=transfer.number,
            rate_bits_per_s=one.rate_bits_per_s or 0.0,
            elapsed_s=one.elapsed_s,
            transferred_bytes=one.size_bytes,
            done_ratio=one.done_ratio,
        )


def _stats_line(lines: Lines, index: int, line: str, totals: _Totals) -> Iterator[Record | Problem]:
    found, sent = _STATS.match(line), _SENT.match(line)
    if found:
        name = found["name"].replace("regular ", "")
        if name in totals.numbers:
            yield from _summary(lines, totals)
        totals.first_line_index = totals.first_line_index if totals.quotes else index
        number = _prefixed(found["number"], found["prefix"])
        if number is not None:
            totals.numbers[name] = number
        totals.quotes.append(quote(lines, index, line))
    elif sent and totals.numbers:
        rate = number_of(sent["rate"])
        if rate is not None:
            totals.numbers["rate"] = rate * _PREFIXES[sent["prefix"]]
        totals.quotes.append(quote(lines, index, line))
        yield from _summary(lines, totals)


def _summary(lines: Lines, totals: _Totals) -> Iterator[Record | Problem]:
    numbers, quotes = dict(totals.numbers), tuple(totals.quotes)
    totals.numbers.clear()
    totals.quotes.clear()
    files, size = numbers.get("Number of files transferred"), numbers.get("Total transferred file size")
    if files is None:
        return
    if size is None:
        yield Problem(source=source(lines, "rsync"), why=_CUT, line_index=totals.first_line_index)
        return
    rate = numbers.get("rate")
    yield CopySummary(
        source=source(lines, "rsync"),
        quotes=quotes,
        tool="rsync",
        files_count=int(files),
        transferred_bytes=size,
        sent_bytes=numbers.get("Total bytes sent"),
        rate_bits_per_s=None if rate is None else 8 * rate,
    )


def _prefixed(number: str, prefix: str) -> float | None:
    """A number of `rsync --stats`; with one `-h` it counts in 1,000s (rsync lib/compat.c, do_big_num)."""
    if not prefix and (whole := whole_of(number)) is not None:
        return float(whole)
    found = number_of(number)
    return None if found is None else found * _PREFIXES[prefix]


def _elapsed_s(printed: str) -> float | None:
    """`0:01:09`, `01:57`, or the seconds of dd, which never groups thousands."""
    return clock_s(printed) if ":" in printed else number_of(printed.replace(",", "."))


READER = Reader(
    title=Text(en="progress of downloads and copies", zh="下载与拷贝的进度"),
    gives=(TransferProgress, CopySummary),
    recognises=marked(
        *(shape for _, shape, _ in _SHAPES),
        regex(_STATS.pattern, re.MULTILINE),
        confirmed=lambda sample: any(
            _STATS.match(line) or (_HINT.search(line) and any(shape.search(line) for _, shape, _ in _SHAPES))
            for line in sample.replace("\r", "\n").split("\n")
        ),
    ),
    read=_read,
    obtained_by=(
        "wget --progress=dot:giga -O /dev/null URL",
        "rsync -a --info=progress2 --stats SOURCE TARGET",
        "dd if=FILE of=/dev/null bs=4M status=progress",
    ),
)
