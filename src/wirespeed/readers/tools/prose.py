"""What people write: named symptoms and numbers with units. The weakest evidence, and often the only one.

Symptoms come from the shelf `readers/symptoms`. A line that an editor wrapped is matched together with the end of the line before,
and both are quoted where a match reaches over both. One line says a thing once: further matches of a topic on it count only when
they differ in negation or in value. Lines that only a machine writes (logs, counters, columns of numbers, syntax) say nothing here.

Speed: of the hundreds of wordings only those are tried whose required letters (`required_letters`) are in the text, and they are
matched in lower case on lower-case text, which is several times faster than matching without regard to case.
"""

import re
from collections.abc import Iterator
from itertools import islice

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes, time_in_s
from wirespeed.readers.parsing.letters import spread_out
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.wordings import candidates

QUESTION_PATH = "question"
"""Name of the input that holds what the user asked."""
TAIL_CHARACTERS = 80
"""How much of a wrapped line is looked at again together with the next."""
FEWEST_WRAPPED_CHARACTERS = 55
"""A shorter line was not broken by an editor that wraps: what follows is a new thought."""
MOST_MATCHES_A_WORDING = 8
MOST_PROSE_CHARACTERS = 300_000
"""People write pages, not megabytes: what a machine wrote without our knowing its format is not searched for symptoms without end."""

_LOG_LINE = regex(
    r"NCCL (?:INFO|WARN|ERROR|TRACE)|\bAvg prompt throughput: \d|^\s*\[\s*\d+\.\d+\]|^\s*File \"|^\w{3}\s+\d+ \d\d:\d\d:\d\d \S+ \S+:"
    r"|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|^[IWEF]\d{4} \d\d:\d\d:\d\d|^(?:INFO|DEBUG|WARNING|ERROR)\s+\d\d-\d\d \d\d:\d\d"
    r"|^\d{1,3}(?:\.\d{1,3}){3} \S+ \S+ \[|^\s*#(?:SBATCH|PBS|!)|^\s*(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s+= "
)
_DATA_LINE = regex(
    r"^\s*+[\w.\-/\[\]]++(?:(?<=[\w.\-/\[\]]\d)|\s*+[:=]?\s*+\d++)$|^\s*(?:export\s+)?[A-Za-z_]\w*=\S*$"
    r"|^\s*[}\])]+[;,]?\s*$|^\s*\"[^\"]{1,60}\"\s*:|^\s*</?\w[^>]*+>\s*$"
    r"|^\s*(?=[a-z]\w*_\w)\w++\s++\S+;\s*$|\{\s*$"
)
"""Every alternative is linear: lines of a million blanks, digits or underscores are among what people bring."""
_NUMBERS = regex(r"(?<!\S)[-+]?[\d.,:%xXa-fA-F]*\d[\d.,:%xXa-fA-F]*(?!\S)")
_WRAPPED_ON = regex(r"^\s{0,4}[a-z(\d\"'`]")
_SENTENCE_END = regex(r"[.!?:;]\s*$")
_BULLET = regex(r"^\s*(?:[-*+•>|#]|\d+[.)])\s")

_CLAUSE_END = regex(
    r"[.;:!?]\s|,\s+(?:but|and|while|yet|so)\s|\s(?:but|though|although|however|whereas|except|while)\s|[，。；：！？]"
)
_NEGATION = regex(
    r"(?i)\b(?:no|not|never|without|neither|nor|none|zero|cannot|nothing|rules? out|ruled out|excluded?|free of|lacks?)\b|n't\b"
)
_NO_REAL_NEGATION = regex(
    r"(?i)\b(?:not|n't) (?:only|just|merely|sure|certain|clear|know|understand|explain|see why|because|least)\b|n't (?:only"
    r"|just|know|understand|explain)\b"
    r"|\bno (?:idea|matter|wonder|doubt|clue|longer only)\b|\bnothing (?:but|else)\b|\bnot? (?:a )?(?:problem"
    r"|issue)s? (?:until|before)\b"
    r"|\bwhether or not\b|\bcannot (?:explain|understand|tell why)\b"
)
_DENIED_AFTER = regex(
    r"(?i)^[^.;:!?,]{0,12}?\b(?:(?:is|are|was|were|does|do|did|has|have|had|can|could)\s?(?:not|never|n't)|isn't|aren't"
    r"|wasn't|weren't"
    r"|(?:is|are|was|were|has been|have been) (?:ruled out|excluded|absent|zero|none|nil|0|fine|normal|off the table)"
    r"|never (?:happens?|occurs?|seen)"
    r"|not (?:seen|present|there|found|observed|visible|involved)|ruled out)\b|^\s?[:=]\s?(?:no|none|0|zero|nil|off"
    r"|never)\b(?!\.\d)"
)
_STILL_SO = regex(
    r"(?i)\b(?:not|n't|never) (?:only|just|yet )?(?:fixed|gone|solved|resolved|improv\w+|help\w*|stop\w*|go away|going away"
    r"|disappear\w*|recover\w*"
    r"|change\w*|enough|finish\w*|end\w*|clear\w*|work\w*|respond\w*|complet\w*|return\w*|answer\w*|arrive\w*|know\w*"
    r"|expected|understood|explain\w*)"
)
_NEGATION_REACH_CHARACTERS = 40
_DENIAL_REACH_CHARACTERS = 48
_CHINESE_NEGATION = regex(r"(?:没有|没|并未|未|无|不是|并非|不)[^，。；：！？\s]{0,6}$")

_UNIT = (
    r"[kKMGTP]i?(?:[Bb](?:its?|ytes?)?)(?:\s?/\s?s(?:ec(?:ond)?)?\b|ps\b| per s(?:econd)?\b)?|(?:bytes?|bits?|[Bb])/s(?:ec)?"
    r"|bps|bytes?"
    r"|tok(?:en)?s?(?:/s(?:ec)?| per second)|ns|us|µs|μs|msec|ms|milliseconds?|microseconds?|seconds?|secs?|minutes?|mins?"
    r"|hours?|s|h"
    r"|%|per ?cent|W|watts?|°\s?C|C|[kMG]Hz|times|x(?=\s(?:slower|faster|higher|lower|more|less|longer|shorter|worse|better"
    r"|as|the)\b)"
)
_DIGITS = r"\d{1,15}(?:,\d{3})*(?:\.\d{1,12})?"
_QUANTITY = regex(
    rf"(?<![\w.,:/])(?<![eE][-+])(?:(?P<low>{_DIGITS})\s?(?:-|–|to|\.\.)\s?)?(?P<number>{_DIGITS})(?:\s(?:of"
    rf"|out of)\s(?P<whole>{_DIGITS}))?"
    rf"(?:\s?|-)(?P<unit>{_UNIT})(?![\w/])"
)
_DIGIT = regex(r"\d")
_LONG_UNITS = {
    "milliseconds": "ms", "millisecond": "ms", "msec": "ms", "microseconds": "us", "microsecond": "us", "seconds": "s",
    "second": "s",
    "secs": "s", "sec": "s", "minutes": "min", "minute": "min", "mins": "min", "hours": "h", "hour": "h",
}  # fmt: skip
_CLOCKS_HZ = {"kHz": 1e3, "MHz": 1e6, "GHz": 1e9}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    before: tuple[int, str] | None = None
    left = MOST_PROSE_CHARACTERS
    for index, line in lines:
        if not line.strip() or (lines.path != QUESTION_PATH and _LOG_LINE.search(line)):
            before = None
            continue
        left -= len(line)
        if left < 0:
            yield Problem(source=source(lines, "prose"), why=_CUT, line_index=index)
            return
        if _is_data(line):
            before = None
        else:
            wrapped = before if before is not None and _goes_on(before[1], line) else None
            yield from _statements(lines, wrapped, index, line)
            before = (index, line)
        yield from _quantities(lines, index, line)


# --- which lines are prose ---------------------------------------------------------------------------------------------------


def _is_data(line: str) -> bool:
    """A counter, an assignment, syntax of a configuration file or a row of numbers."""
    return _DATA_LINE.search(line) is not None or _is_columns(line)


def _is_columns(line: str) -> bool:
    """Mostly numbers, apart by blanks."""
    numbers = len(_NUMBERS.findall(line)) if sum(map(str.isdigit, line[:200])) > 3 else 0
    return numbers >= 4 and 2 * numbers >= len(line.split())


def _goes_on(before: str, line: str) -> bool:
    """Whether this line continues a sentence that an editor wrapped."""
    return (
        len(before) >= FEWEST_WRAPPED_CHARACTERS
        and not _SENTENCE_END.search(before)
        and not _BULLET.match(line)
        and _WRAPPED_ON.match(line) is not None
    )


# --- symptoms ----------------------------------------------------------------------------------------------------------------


def _statements(lines: Lines, before: tuple[int, str] | None, index: int, line: str) -> Iterator[Statement]:
    """Statements of one line; of the wrapped line before it, the end is looked at again for what goes on here."""
    tail = "" if before is None else before[1][-TAIL_CHARACTERS:].partition(" ")[2].rstrip() + " "
    text = tail + line
    low = lowered(text)
    said: set[tuple[str, bool, str | None]] = set()
    for wording in candidates(spread_out(low)):
        if (wording.name, False, None) in said:
            continue
        for found in islice(wording.pattern.finditer(low), MOST_MATCHES_A_WORDING):
            is_negated = wording.topic.negatable and is_negated_at(text, found.start(), found.end())
            value = _group(text, found, "value")
            if (wording.name, is_negated, value) in said or found.end() <= len(tail):
                continue
            said.add((wording.name, is_negated, value))
            here = quote(lines, index, line)
            yield Statement(
                source=source(lines, "prose"),
                quotes=(quote(lines, *before), here) if before is not None and found.start() < len(tail) else (here,),
                topic=wording.name,
                value=_float(value),
                unit=_group(text, found, "unit"),
                is_negated=is_negated,
                is_question=lines.path == QUESTION_PATH,
            )


def lowered(text: str) -> str:
    """Lower case, with as many characters: the few that would become two stay."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


def _group(text: str, found: re.Match[str], name: str) -> str | None:
    """What a named group matched, as written."""
    if name not in found.re.groupindex or found[name] is None:
        return None
    return text[found.start(name) : found.end(name)]


def is_negated_at(text: str, start: int, end: int) -> bool:
    """Whether what stands from `start` to `end` is denied, by a word in front of it or behind it in the same clause.

    `no loss` and `loss was ruled out` deny; `not only loss`, `no idea why there is loss` and `loss did not stop` do not.
    """
    before = _CLAUSE_END.split(text[max(0, start - _NEGATION_REACH_CHARACTERS) : start])[-1]
    if _CHINESE_NEGATION.search(before):
        return True
    if _NEGATION.search(_NO_REAL_NEGATION.sub(" ", before)):
        return True
    after = text[end : end + _DENIAL_REACH_CHARACTERS]
    return bool(_DENIED_AFTER.match(after)) and not _STILL_SO.search(_CLAUSE_END.split(after)[0])


def _float(text: str | None) -> float | None:
    try:
        return None if text is None else float(text.replace(",", ""))
    except ValueError:
        return None


# --- numbers with units ------------------------------------------------------------------------------------------------------


def _quantities(lines: Lines, index: int, line: str) -> Iterator[Quantity]:
    if not _DIGIT.search(line):
        return
    for found in _QUANTITY.finditer(line):
        for group in ("low", "number", "whole"):
            measured = None if found[group] is None else _in_si(float(found[group].replace(",", "")), found["unit"])
            if measured is None:
                continue
            dimension, value = measured
            yield Quantity(
                source=source(lines, "prose"),
                quotes=(quote(lines, index, line),),
                dimension=dimension,
                value=value,
                printed=found[0],
                subject=line[: found.start()].strip().lower()[-80:],
            )


def _in_si(number: float, written: str) -> tuple[str, float] | None:
    unit = _LONG_UNITS.get(written, written)
    if unit in ("%", "percent", "per cent"):
        return "share", number / 100.0
    if unit in ("times", "x"):
        return "factor", number
    if unit.startswith("tok"):
        return "tokens_per_s", number
    if unit in ("W", "watt", "watts"):
        return "power", number
    if unit.endswith("C"):
        return "temperature", number
    if unit in _CLOCKS_HZ:
        return "clock", number * _CLOCKS_HZ[unit]
    for dimension, convert in (("rate", rate_in_bits_per_s), ("size", size_in_bytes), ("time", time_in_s)):
        value = convert(number, re.sub(r"\s?/\s?", "/", unit))
        if value is not None:
            return dimension, value
    return None


_CUT = Text(
    en=f"what people say was looked for in the first {MOST_PROSE_CHARACTERS} characters only",
    zh=f"仅在前 {MOST_PROSE_CHARACTERS} 个字符中查找用户描述",
)

READER = Reader(
    title=Text(en="what people write", zh="用户描述"),
    gives=(Statement, Quantity),
    recognises=lambda sample: bool(sample.strip()),
    read=_read,
    voice="prose",
)
