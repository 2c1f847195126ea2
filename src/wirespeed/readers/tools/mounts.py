"""`df`, `mount` and /proc/mounts: file systems, their size and how they are mounted."""

from collections.abc import Iterator

from wirespeed.model.facts.host import Mount
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DF_HEADER = regex(
    r"^\s*Filesystem\s+(?:Type\s+)?(?P<unit>Size|1K-blocks|1M-blocks|1G-blocks|1024-blocks|1B-blocks|Inodes)\s.*Mounted on"
)
_DF_ROW = regex(
    r"^\s*(?P<device>\S*[^\s:])(?:\s+(?P<type>[a-z][\w.]*))?\s+(?P<size>\d+(?:\.\d+)?[KMGTP]?)\s+(?P<used>\d+"
    r"(?:\.\d+)?[KMGTP]?)\s+(?:-?\d+(?:\.\d+)?[KMGTP]?)\s+"
    r"(?:\d+%|-)\s+(?P<path>/\S*)\s*$"
)
_MOUNT_ROW = regex(r"^\s*(?P<device>\S+) on (?P<path>/\S*) type (?P<type>[\w.]+) \((?P<options>[^)]*)\)\s*$")
_PROC_ROW = regex(r"^\s*(?P<device>\S+) (?P<path>/\S*) (?P<type>[a-z][\w.]*) (?P<options>(?:rw|ro)\b\S*) \d \d\s*$")
_RECOGNISED = regex(
    r"(?m)^[ \t]*(?:[\w.-]+: *)?(?:Filesystem\s+(?:Type\s+)?(?:Size|1\w+-blocks|1024-blocks)|\S+ on /\S* type"
    r" \w+ \()|\s\d+%\s+/\S*[ \t]*$|^\S+ /\S* [\w.]+ r[wo],\S* \d \d[ \t]*$"
)
_SCALES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5}
_UNITS = {"1K-blocks": 1024, "1024-blocks": 1024, "1M-blocks": 1024**2, "1G-blocks": 1024**3, "1B-blocks": 1}
_SIZE_OPTION = regex(r"^size=(\d+)([kKmMgG]?)$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    unit: int | None = 1024
    for seen in excerpt(lines, _is_own):
        header = None if seen.is_prompt else _DF_HEADER.match(seen.text)
        if seen.is_prompt:
            unit = 1024
        elif header:
            unit = None if header["unit"] == "Inodes" else _UNITS.get(header["unit"], 1)
        else:
            yield from _row(lines, seen, unit)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_DF_HEADER, _DF_ROW, _MOUNT_ROW, _PROC_ROW))


def _row(lines: Lines, seen: Seen, unit: int | None) -> Iterator[Mount]:
    row = _DF_ROW.match(seen.text)
    mounted = _MOUNT_ROW.match(seen.text) or _PROC_ROW.match(seen.text)
    if mounted:
        options = tuple(mounted["options"].split(","))
        yield Mount(
            source=source(lines, "mount", seen.host),
            quotes=(seen.quoted(lines),),
            path=mounted["path"],
            filesystem=mounted["type"],
            size_bytes=_size_option(options),
            options=options,
        )
    elif row and unit is not None:
        yield Mount(
            source=source(lines, "df", seen.host),
            quotes=(seen.quoted(lines),),
            path=row["path"],
            filesystem=row["type"] or _known_type(row["device"]),
            size_bytes=_bytes(row["size"], unit),
            used_bytes=_bytes(row["used"], unit),
        )


def _known_type(device: str) -> str | None:
    """`df` names the device; for memory file systems that is the type (`shm` is Docker's tmpfs on /dev/shm)."""
    if device in ("tmpfs", "devtmpfs", "overlay"):
        return device
    return "tmpfs" if device == "shm" else None


def _bytes(text: str, unit: int) -> int:
    """`df -h` prints powers of 1,024 with a letter; plain numbers are in the header's unit."""
    suffix = text[-1] if text[-1].isalpha() else ""
    return round(float(text.removesuffix(suffix)) * (_SCALES[suffix] if suffix else unit))


def _size_option(options: tuple[str, ...]) -> int | None:
    found = next((match for option in options if (match := _SIZE_OPTION.match(option))), None)
    return int(found[1]) * _SCALES[found[2].upper()] if found else None


READER = Reader(
    title=Text(en="file systems (df, mount)", zh="文件系统（df、mount）"),
    gives=(Mount,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("df -h /dev/shm",),
)
