"""Kernel modules of GPUs and RDMA: `lsmod`, /proc/modules, modprobe's errors and the peer-memory file in /sys."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import KernelModule
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

PEER_MEMORY = ("nvidia_peermem", "nv_peer_mem")
"""The two names under which peer memory for GPUs has been shipped; one of them is enough."""

_KNOWN = (
    r"nvidia_peermem|nv_peer_mem|nvidia_fs|nvidia_uvm|nvidia_drm|nvidia_modeset|nvidia|nvswitch|gdrdrv|ib_core"
    r"|ib_uverbs|ib_ipoib|ib_umad"
    r"|rdma_cm|rdma_ucm|mlx[45]_(?:core|ib)|efa|ena|bnxt_(?:en|re)|irdma|ice|i40e|gve|amdgpu|nf_conntrack|mlx_compat|knem|xpmem"
)
_ROW = regex(rf"^\s*(?P<name>{_KNOWN})\s+\d{{3,10}}\s+-?\d{{1,6}}(?:\s|$)")
_ANY_ROW = regex(r"^\s*\w{2,64}\s+\d{3,10}\s+-?\d{1,6}(?:\s+\S.*)?$")
_HEADING = regex(r"^\s*Module\s+Size\s+Used by\s*$")
_FAILED = regex(
    r"modprobe: (?:FATAL: Module (?P<missing>[\w-]{2,64}) not found|ERROR: could not insert '(?P<refused>[\w-]{2,64})')"
    r"|insmod: ERROR: could not insert module \S*?(?P<file>[\w-]{2,64})\.ko"
)
_SERVICE = regex(r"\b(?P<name>nv_peer_mem|nvidia[-_]peermem) module is (?P<not>not )?loaded")
_GREP = regex(
    r"\blsmod\s*\|\s*(?:e|f)?grep (?:-\w+ )*[\"']?(?P<what>nvidia_peermem|nv_peer_mem|peermem|peer_mem|nv_peer"
    r"|peer|gdrdrv|efa)\b"
)
_PEER_FILE = regex(r"/sys/kernel/mm/memory_peers/(?:nv_mem|nvidia-peermem)/version(?P<rest>.*)$")
_PEER_DIRECTORY = regex(r"/sys/kernel/mm/memory_peers/?['\"’]?(?P<rest>\s*$|: No such file)")
"""The directory itself: listed, or looked for in vain."""
_PEER_ENTRY = regex(r"^\s*(?:nv_mem|nvidia-peermem)/?\s*$")
_RECOGNISED = regex(
    rf"(?m)^\s*(?:{_KNOWN})\s+\d{{3,10}}\s+-?\d{{1,6}}(?:\s|$)|^\s*Module\s+Size\s+Used by|modprobe: (?:FATAL|ERROR)|insmod: ERROR"
    r"|peer_?mem module is (?:not )?loaded|\blsmod\s*\||/sys/kernel/mm/memory_peers\b"
)
_FULL_LISTING_ROWS = 20
"""A heading with this many rows below it is the whole list, not its head."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    heading: Quote | None = None
    asked: tuple[str, Quote] | None = None
    rows, has_nvidia, has_peer = 0, False, False
    is_listing = False
    for seen in excerpt(lines, _ROW.match):
        index, line = seen.index, seen.line
        said = quote(lines, index, line)
        is_listing = _PEER_DIRECTORY.search(line) is not None or (is_listing and not seen.is_prompt)
        if is_listing and _PEER_ENTRY.match(line):
            yield _module(lines, said, "nvidia_peermem", is_loaded=True, host=seen.host)
        row = _ROW.match(line)
        is_row = row is not None or _ANY_ROW.match(line) is not None
        if asked and not is_row:
            yield from _not_found(lines, *asked)
        asked = None
        if row:
            has_peer, has_nvidia = has_peer or row["name"] in PEER_MEMORY, has_nvidia or row["name"] == "nvidia"
            yield _module(lines, said, row["name"], is_loaded=True)
        elif _HEADING.match(line):
            heading, rows, has_nvidia, has_peer = said, 0, False, False
        elif grep := _GREP.search(line):
            asked = grep["what"], said
        else:
            yield from _told(lines, line, said, seen.host)
        rows += is_row
    if asked:
        yield from _not_found(lines, *asked)
    if heading and not has_peer and (has_nvidia or rows >= _FULL_LISTING_ROWS):
        for name in PEER_MEMORY:
            yield _module(lines, heading, name, is_loaded=False)


def _told(lines: Lines, line: str, said: Quote, host: str | None) -> Iterator[KernelModule]:
    """Messages of modprobe and of the peer-memory service, and its file in /sys."""
    if failed := _FAILED.search(line):
        name = failed["missing"] or failed["refused"] or failed["file"]
        yield _module(lines, said, name.replace("-", "_"), is_loaded=False)
    elif service := _SERVICE.search(line):
        yield _module(lines, said, service["name"].replace("-", "_"), is_loaded=service["not"] is None)
    elif peer := _PEER_FILE.search(line):
        if "No such file" in peer["rest"]:
            for name in PEER_MEMORY:
                yield _module(lines, said, name, is_loaded=False)
        elif re.match(r":\s*\d", peer["rest"]):
            yield _module(lines, said, "nvidia_peermem", is_loaded=True)
    elif (directory := _PEER_DIRECTORY.search(line)) and "No such file" in directory["rest"]:
        for name in PEER_MEMORY:
            yield _module(lines, said, name, is_loaded=False, host=host)


def _not_found(lines: Lines, what: str, said: Quote) -> Iterator[KernelModule]:
    """`lsmod | grep` printed nothing."""
    names = PEER_MEMORY if "peer" in what else (what,)
    for name in names:
        yield _module(lines, said, name, is_loaded=False)


def _module(lines: Lines, said: Quote, name: str, *, is_loaded: bool, host: str | None = None) -> KernelModule:
    return KernelModule(source=source(lines, "lsmod", host), quotes=(said,), name=name, is_loaded=is_loaded)


READER = Reader(
    title=Text(en="kernel modules", zh="内核模块"),
    gives=(KernelModule,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("lsmod",),
    voice="loose",
)
