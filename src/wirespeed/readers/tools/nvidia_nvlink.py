"""`nvidia-smi nvlink`: state and speed of every link (`-s`) and its error counters (`-e`)."""

import re
from collections.abc import Iterator

import msgspec

from wirespeed.model.facts.gpu import NvLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.gpu_figures import ALL_LINKS
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_GPU = regex(r"(?:^|\s)GPU (?P<gpu>\d{1,3}): ")
_SPEED = regex(r"Link (?P<link>\d{1,3}): (?:(?P<speed>\d{1,6}(?:\.\d{1,6})?) GB/s|<inactive>)", re.IGNORECASE)
_ERRORS = regex(
    r"Link (?P<link>\d{1,3}): (?P<what>Replay|Recovery|CRC|(?:CRC )?FLIT|(?:CRC )?DATA) (?:Error )?(?:Errors?"
    r"|Count)?:? *(?P<count>\d{1,20})",
    re.IGNORECASE,
)
_ALL_INACTIVE = regex(r"all links are inActive", re.IGNORECASE)
_FIELDS = {"replay": "replay_count", "recovery": "recovery_count", "crc": "crc_errors_count"}
_NO_GPU = Text(en="an NVLink line before any GPU line", zh="NVLink 行之前没有 GPU 行")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    gpu: int | None = None
    gpu_quote: Quote | None = None
    pending: NvLink | None = None
    for index, line in lines:
        header = _GPU.search(line)
        if header:
            gpu, gpu_quote = int(header["gpu"]), quote(lines, index, line)
        speed = _SPEED.search(line)
        errors = None if speed else _ERRORS.search(line)
        if not speed and not errors and not (_ALL_INACTIVE.search(line) and gpu is not None):
            continue
        if gpu is None or gpu_quote is None:
            yield Problem(source=source(lines, "nvidia-smi nvlink"), why=_NO_GPU, line_index=index)
            continue
        said = quote(lines, index, line)
        if errors:
            link = int(errors["link"])
            if pending is None or (pending.gpu_index, pending.link_index) != (gpu, link):
                if pending:
                    yield pending
                pending = _link(lines, gpu, link, (gpu_quote,))
            pending = _with_count(pending, errors["what"], int(errors["count"]), said)
            continue
        if pending:
            yield pending
            pending = None
        link = int(speed["link"]) if speed else ALL_LINKS
        rate = float(speed["speed"]) * 1e9 if speed and speed["speed"] else None
        yield _link(lines, gpu, link, (gpu_quote, said), rate, is_active=rate is not None)
    if pending:
        yield pending


def _link(
    lines: Lines, gpu: int, link: int, quotes: tuple[Quote, ...], rate: float | None = None, is_active: bool = True
) -> NvLink:
    return NvLink(
        source=source(lines, "nvidia-smi nvlink"),
        quotes=quotes,
        missing={"link_index": "absent"} if link == ALL_LINKS else {},
        gpu_index=gpu,
        link_index=link,
        is_active=is_active,
        bandwidth_bytes_per_s=rate,
    )


def _with_count(link: NvLink, what: str, count: int, said: Quote) -> NvLink:
    """Error counters exist only on links that are up; FLIT and DATA CRC errors are added."""
    name = _FIELDS.get(what.lower(), "crc_errors_count")
    before = getattr(link, name) or 0
    changed: dict[str, int] = {name: before + count}
    return msgspec.structs.replace(link, quotes=(*link.quotes, said), **changed)


READER = Reader(
    title=Text(en="nvidia-smi nvlink", zh="nvidia-smi nvlink"),
    gives=(NvLink,),
    recognises=marked(_SPEED, _ERRORS, _ALL_INACTIVE),
    read=_read,
    obtained_by=("nvidia-smi nvlink -s", "nvidia-smi nvlink -e"),
)
