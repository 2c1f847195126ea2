"""The kernel's command line (/proc/cmdline, dmesg, GRUB) and what it and the boot log say of the IOMMU."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import HostIdentity, IommuState
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_COMMAND_LINE = regex(r"(?:\bKernel command line: |\bCommand line: )(?P<words>\S.*)$|(?P<image>\bBOOT_IMAGE=\S.*)$")
_GRUB = regex(r"^\s*GRUB_CMDLINE_LINUX(?:_DEFAULT)?=[\"']?(?P<words>[^\"']*)")
_CAT = regex(r"\bcat /proc/cmdline\s*$")
_WORD = regex(r"^[\w.,:/-]+(?:=\S*)?$")
_IOMMU_WORD = regex(r"^(?:(?:intel_|amd_)?iommu(?:\.passthrough|\.strict)?)=\S")
_DOMAIN = regex(r"\biommu: Default domain type: (?P<mode>Translated|Passthrough)", re.IGNORECASE)
_ENABLED = regex(
    r"\bDMAR: IOMMU enabled|\bAMD-Vi: .{0,40}(?:Found IOMMU|Lazy IO/TLB|Interrupt remapping enabled)" r"|\bAdding to iommu group \d"
)
_RECOGNISED = regex(
    r"(?m)\bKernel command line: |\bBOOT_IMAGE=|^\s*GRUB_CMDLINE_LINUX|cat /proc/cmdline|\b(?:intel_"
    r"|amd_)?iommu(?:\.passthrough)?=\w"
    r"|iommu: Default domain type|DMAR: IOMMU enabled|AMD-Vi: |Adding to iommu group"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    is_awaited = False
    has_enabled = False
    for index, line in lines:
        said = quote(lines, index, line)
        running = _COMMAND_LINE.search(line)
        grub = _GRUB.match(line)
        if running or (is_awaited and line.strip()):
            words = (running["words"] or running["image"]) if running else line.strip()
            yield HostIdentity(source=source(lines, "cmdline"), quotes=(said,), boot_command_line=words.strip())
            yield from _iommu_of_words(lines, said, words.split())
        elif grub:
            yield from _iommu_of_words(lines, said, grub["words"].split())
        elif domain := _DOMAIN.search(line):
            mode = "passthrough" if domain["mode"].lower() == "passthrough" else "translated"
            yield _iommu(lines, said, is_on=True, mode=mode)
        elif _ENABLED.search(line) and not has_enabled:  # one such line a device: once is enough
            has_enabled = True
            yield _iommu(lines, said, is_on=True, mode=None)
        elif _is_bare_command_line(line):
            yield from _iommu_of_words(lines, said, line.split())
        is_awaited = _CAT.search(line) is not None


def _is_bare_command_line(line: str) -> bool:
    """Kernel parameters quoted alone: every word has their shape and one is about the IOMMU."""
    words = line.split()
    return all(_WORD.match(word) for word in words) and sum("=" in word for word in words) * 2 >= len(words) and _has_iommu(words)


def _has_iommu(words: list[str]) -> bool:
    return any(_IOMMU_WORD.match(word) for word in words)


def _iommu_of_words(lines: Lines, said: Quote, words: list[str]) -> Iterator[IommuState]:
    """What the parameters set; without one of them the kernel's default holds, which they do not tell."""
    settings = dict(word.partition("=")[::2] for word in words if _IOMMU_WORD.match(word))
    if not settings:
        return
    values = {name: setting.split(",") for name, setting in settings.items()}
    is_off = any("off" in values.get(name, ()) for name in ("intel_iommu", "amd_iommu", "iommu"))
    is_passthrough = "pt" in values.get("iommu", ()) or settings.get("iommu.passthrough") == "1"
    is_asked_on = any("on" in values.get(name, ()) for name in ("intel_iommu", "amd_iommu"))
    if is_off:
        yield _iommu(lines, said, is_on=False, mode=None)
    elif is_passthrough:
        yield _iommu(lines, said, is_on=True if is_asked_on else None, mode="passthrough")
    elif is_asked_on or settings.get("iommu.passthrough") == "0":
        yield _iommu(lines, said, is_on=True if is_asked_on else None, mode="translated")


def _iommu(lines: Lines, said: Quote, *, is_on: bool | None, mode: str | None) -> IommuState:
    return IommuState(source=source(lines, "cmdline"), quotes=(said,), is_on=is_on, mode=mode)


READER = Reader(
    title=Text(en="kernel command line and IOMMU", zh="内核启动参数与 IOMMU"),
    gives=(HostIdentity, IommuState),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /proc/cmdline", "dmesg | grep -iE 'iommu|dmar'"),
)
