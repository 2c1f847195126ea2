"""Rates that transfer programs print: wget, curl, aria2, rsync, scp, dd, pip, Hugging Face, aws, gsutil, rclone, azcopy, fio."""

import re
from collections.abc import Callable, Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.printed_numbers import clock_s, number_of
from wirespeed.readers.parsing.regex import regex

_NUMBER = r"\d{1,15}(?:[.,]\d{1,15})*"
_WGET = regex(
    rf"\((?P<rate>{_NUMBER}) (?P<unit>[KMGT]?B/s|[KMGT]?b/s)\) - .{{1,400}}(?:saved|written to stdout) \[(?P<bytes>\d{{1,15}})"
)
_CURL = regex(
    r"^\s*(?P<percent>\d{1,3})\s+(?P<total>\d[\d.]*[kMGTP]?)\s+\d{1,3}\s+(?P<got>\d[\d.]*[kMGTP]?)\s+\d{1,3}\s+\d[\d.]*[kMGTP]?"
    r"\s+(?P<rate>\d[\d.]*[kMGTP]?)\s+\d[\d.]*[kMGTP]?\s+[-\d]+:[-\d:]+\s+(?P<spent>[-\d]+:[-\d:]+)\s+[-\d]+:[-\d:]+\s+\d"
)
_ARIA_RESULT = regex(rf"^\s*[0-9a-f]{{6}}\|(?:OK|INPR|ERR)\s*\|\s*(?P<rate>{_NUMBER})(?P<unit>[KMGT]?i?B/s)\|")
_ARIA_LIVE = regex(rf"\[#[0-9a-f]{{6}} \S+ CN:(?P<connections>\d{{1,15}}) DL:(?P<rate>{_NUMBER})(?P<unit>[KMGT]?i?B)\b")
_RSYNC_LIVE = regex(
    rf"^\s*(?P<bytes>\d[\d,.]*[KMGT]?)\s+(?P<percent>\d{{1,3}})%\s+(?P<rate>{_NUMBER})(?P<unit>[kKMGT]?B/s)\s+\d{{1,15}}:\d\d:\d\d"
)
_RSYNC_TOTAL = regex(rf"sent (?P<sent>{_NUMBER}) bytes\s+received (?P<received>{_NUMBER}) bytes\s+(?P<rate>{_NUMBER}) bytes/sec")
_SCP = regex(
    rf"\s(?P<percent>\d{{1,3}})%\s+(?P<size>\d[\d.]*)(?P<size_unit>[KMGT]?B)\s+(?P<rate>{_NUMBER})(?P<unit>[KMGT]?B/s)\s+(?:\d\d:)?\d\d:\d\d"
)
_DD = regex(rf"\b(?P<bytes>\d{{1,15}}) bytes (?:\([^)]*\) )?(?:copied,|transferred in) (?P<seconds>{_NUMBER}(?:e-?\d{{1,15}})?) s")
_PIP = regex(rf"━\s+(?P<got>\d[\d.]*)/(?P<total>\d[\d.]*) (?P<size_unit>[kMG]?B) (?P<rate>{_NUMBER}) (?P<unit>[kMG]?B/s)")
_TQDM = regex(
    rf"(?P<percent>\d{{1,3}})%\|[^|]{{0,200}}\|\s*(?P<got>\d[\d.]*[kMGT]?)/(?P<total>\d[\d.]*[kMGT]?)B?\s*\[(?P<spent>[\d:]+)<[^,]{{1,20}},\s*"
    rf"(?P<rate>{_NUMBER})(?P<unit>[kMGT]?i?B/s)"
)
_AWS = regex(
    rf"Completed (?P<got>\d[\d.]*) (?P<size_unit>[KMGT]?i?B)/~?\d[\d.]* [KMGT]?i?B \((?P<rate>{_NUMBER}) (?P<unit>[KMGT]?i?B/s)\)"
)
_GSUTIL = regex(rf"\[\d{{1,15}}(?:/\d{{1,15}})? files\]\[[^\]]*\].*?\s(?P<rate>{_NUMBER}) (?P<unit>[KMGT]?i?B/s)")
_RCLONE = regex(rf"Transferred:\s+\d[^,]*, \d{{1,15}}%, (?P<rate>{_NUMBER}) (?P<unit>[KMGT]?i?B(?:ytes)?/s)")
_AZCOPY = regex(rf"Throughput \((?P<unit>[KMG]b/s)\): (?P<rate>{_NUMBER})")
_FIO = regex(rf"^\s*(?:READ|WRITE): bw=(?P<rate>{_NUMBER})(?P<unit>[KMG]?i?B/s)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        shown = line.rstrip("\r").rpartition("\r")[2]
        for shape, made in _SHAPES:
            found = shape.search(shown)
            if found:
                run = made(lines, quote(lines, index, line), found)
                if run is not None:
                    yield run
                break


def _wget(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    """wget counts in 1,024s and still writes MB/s; its bits are decimal."""
    unit = found["unit"] if "b" in found["unit"] else _binary(found["unit"])
    return _run(lines, row, "wget", found["rate"], unit, transferred_bytes=float(found["bytes"]), stream_count=1)


def _curl(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    """curl's meter: bytes with binary prefixes, no unit."""
    if found["total"] == "0":
        return None
    number, prefix = _split(found["rate"])
    got, got_prefix = _split(found["got"])
    return _run(
        lines, row, "curl", number, _binary(f"{prefix}B/s"), is_done=found["percent"] == "100", duration_s=clock_s(found["spent"]),
        transferred_bytes=size_in_bytes(_float(got), _binary(f"{got_prefix}B")), stream_count=1,
    )  # fmt: skip


def _aria_result(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    return _run(lines, row, "aria2", found["rate"], found["unit"])


def _aria_live(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    return _run(lines, row, "aria2", found["rate"], found["unit"] + "/s", is_done=False, stream_count=int(found["connections"]))


def _rsync_live(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    """rsync counts in 1,024s and writes MB/s."""
    if found["percent"] == "0":
        return None
    size = found["bytes"].replace(",", "")
    return _run(
        lines, row, "rsync", found["rate"], _binary(found["unit"]), is_done=found["percent"] == "100",
        transferred_bytes=float(size) if size.isdecimal() else None, stream_count=1,
    )  # fmt: skip


def _rsync_total(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    moved = _float(found["sent"]) + _float(found["received"])
    return _run(lines, row, "rsync", found["rate"], "B/s", transferred_bytes=moved, stream_count=1)


def _scp(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    """scp counts in 1,024s and writes MB/s."""
    size = size_in_bytes(_float(found["size"]), _binary(found["size_unit"]))
    is_done = found["percent"] == "100"
    return _run(lines, row, "scp", found["rate"], _binary(found["unit"]), is_done=is_done, transferred_bytes=size, stream_count=1)


def _dd(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    """The rate is computed: GNU prints it in decimal units, busybox in binary ones."""
    seconds = _float(found["seconds"])
    if seconds <= 0:
        return None
    moved = float(found["bytes"])
    return _run(lines, row, "dd", repr(moved / seconds), "B/s", transferred_bytes=moved, duration_s=seconds)


def _pip(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    size = size_in_bytes(_float(found["got"]), found["size_unit"])
    return _run(
        lines,
        row,
        "pip",
        found["rate"],
        found["unit"],
        is_done=found["got"] == found["total"],
        transferred_bytes=size,
        stream_count=1,
    )


def _tqdm(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    got, prefix = _split(found["got"])
    return _run(
        lines, row, "tqdm", found["rate"], found["unit"], is_done=found["percent"] == "100", duration_s=clock_s(found["spent"]),
        transferred_bytes=size_in_bytes(_float(got), f"{prefix}B"),
    )  # fmt: skip


def _aws(lines: Lines, row: Quote, found: re.Match[str]) -> ThroughputRun | None:
    size = size_in_bytes(_float(found["got"]), found["size_unit"])
    return _run(lines, row, "aws", found["rate"], found["unit"], is_done=False, transferred_bytes=size)


def _named(tool: str) -> Callable[[Lines, Quote, re.Match[str]], ThroughputRun | None]:
    """A format that gives a rate with a true unit and nothing else of use."""
    return lambda lines, row, found: _run(lines, row, tool, found["rate"], found["unit"].replace("Bytes", "B"))


def _run(
    lines: Lines,
    row: Quote,
    tool: str,
    rate: str,
    unit: str,
    *,
    is_done: bool = True,
    stream_count: int | None = None,
    duration_s: float | None = None,
    transferred_bytes: float | None = None,
) -> ThroughputRun | None:
    """A mean when the transfer is done, else the rate at that moment; None for a unit that is no rate."""
    rate_bits_per_s = rate_in_bits_per_s(_float(rate), unit)
    if rate_bits_per_s is None:
        return None
    return ThroughputRun(
        source=source(lines, tool),
        quotes=(row,),
        tool=tool,
        rate_bits_per_s=rate_bits_per_s,
        role="mean" if is_done else "interval",
        stream_count=stream_count,
        duration_s=duration_s,
        transferred_bytes=transferred_bytes,
    )


def _binary(unit: str) -> str:
    """`MB/s` of a program that counts in 1,024s, as the true unit."""
    return f"{unit[0]}i{unit[1:]}" if unit[0] in "kKMGTP" else unit


def _split(printed: str) -> tuple[str, str]:
    """Number and prefix of `115M`."""
    return (printed[:-1], printed[-1]) if printed[-1].isalpha() else (printed, "")


def _float(number: str) -> float:
    return number_of(number) or 0.0


_SHAPES: tuple[tuple[re.Pattern[str], Callable[[Lines, Quote, re.Match[str]], ThroughputRun | None]], ...] = (
    (_WGET, _wget), (_ARIA_RESULT, _aria_result), (_ARIA_LIVE, _aria_live), (_RSYNC_TOTAL, _rsync_total), (_RSYNC_LIVE, _rsync_live),
    (_TQDM, _tqdm), (_SCP, _scp), (_DD, _dd), (_PIP, _pip), (_AWS, _aws), (_CURL, _curl), (_GSUTIL, _named("gsutil")),
    (_RCLONE, _named("rclone")), (_AZCOPY, _named("azcopy")), (_FIO, _named("fio")),
)  # fmt: skip

READER = Reader(
    title=Text(en="rates of downloads and copies", zh="下载与拷贝速率"),
    gives=(ThroughputRun,),
    recognises=marked(
        *(shape for shape, _ in _SHAPES),
        confirmed=lambda sample: any(
            shape.search(line)
            for line in sample.replace("\r", "\n").split("\n")
            if any(sign in line for sign in "/:")
            for shape, _ in _SHAPES
        ),
    ),
    read=_read,
    obtained_by=("wget -O /dev/null URL", "aria2c -x8 URL", "dd if=FILE of=/dev/null bs=4M"),
    voice="loose",
)
