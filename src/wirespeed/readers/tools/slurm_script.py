"""What a job asked the scheduler for: `#SBATCH` lines, and the options of `srun`, `sbatch` and `salloc`.

Each option is a `Setting` under its long name without dashes (`cpus-per-task`, `ntasks-per-node`); an option without a value is
`true`. Explicit CPU lists and masks (`--cpu-bind=map_cpu:...`, `mask_cpu:...`) are also `CpuMask`.
"""

import re
import shlex
from collections.abc import Iterator

from wirespeed.model.facts.host import CpuMask
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DIRECTIVE = regex(r"^\s*#SBATCH\s+(?P<options>\S.*)$")
_LAUNCH = regex(r"(?:^|[\s;&|`$(])(?P<program>srun|sbatch|salloc)\s+(?P<options>-\S.*)$")
_LAUNCH_HINT = regex(r"\b(?:srun|sbatch|salloc)\s+-")
_NUMBER = regex(r"^(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGT]B?)?$")
_TIME = regex(r"^(?:(?P<days>\d+)-)?(?P<first>\d+)(?::(?P<second>\d+))?(?::(?P<third>\d+))?$")
_UNITS_WITH_DAYS: tuple[str, ...] = ("h", "min", "s")
_UNITS_WITHOUT_DAYS: dict[int, tuple[str, ...]] = {1: ("min",), 2: ("min", "s"), 3: ("h", "min", "s")}
_CPU_BIND = regex(r"(?:^|,)(?P<how>map_cpu|mask_cpu):(?P<list>[0-9a-fA-Fx,]+)")

_LONG_NAMES = {
    "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "p": "partition", "w": "nodelist", "x": "exclude", "t": "time", "G": "gpus",
    "J": "job-name", "A": "account", "q": "qos", "C": "constraint", "m": "distribution", "D": "chdir", "o": "output", "e": "error",
    "B": "extra-node-info", "d": "dependency", "L": "licenses", "a": "array", "i": "input", "r": "relative",
}  # fmt: skip
_SWITCHES = frozenset(
    {"exclusive", "overcommit", "oversubscribe", "overlap", "exact", "label", "wait-all-nodes", "requeue", "no-requeue",
     "contiguous", "unbuffered", "verbose", "quiet", "pty", "kill-on-bad-exit", "hold", "wait", "s", "l", "u", "v", "O", "Q",
     "K", "H", "no-kill"}
)  # fmt: skip
"""Options without a value as the next word (sbatch(1), srun(1)); `--exclusive=user` still gives its value."""
_NOT_OURS = frozenset({"output", "error", "job-name", "account", "mail-type", "mail-user", "comment", "input", "chdir"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        found = _DIRECTIVE.match(line) or _LAUNCH.search(line)
        if found:
            for name, value in _options(found["options"]):
                yield from _records(lines, index, line, name, value)


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Options in front of the program to start; words behind it are the program's."""
    try:
        words = iter(shlex.split(text, comments=True))
    except ValueError:
        words = iter(text.split())
    for word in words:
        if not word.startswith("-") or word in ("-", "--"):
            return
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, equals, value = word[1:2], word[2:3], word[2:].lstrip("=")
        if not equals and name not in _SWITCHES:
            value = next(words, "")
        yield _LONG_NAMES.get(name, name), value or "true"


def _records(lines: Lines, index: int, line: str, name: str, value: str) -> Iterator[Record]:
    if not name or name in _NOT_OURS:
        return
    quotes = (quote(lines, index, line),)
    found = _NUMBER.match(value)
    yield Setting(
        source=source(lines, "slurm"),
        quotes=quotes,
        name=name,
        setting=value,
        value=float(found["number"]) if found else None,
        unit=found["unit"] if found else None,
        duration_s=_time_s(value) if name == "time" else None,
    )
    if name == "cpu-bind":
        for bound in _CPU_BIND.finditer(value):
            for text in filter(None, bound["list"].split(",")):
                cpus = _mask(text) if bound["how"] == "mask_cpu" else _cpu(text)
                yield CpuMask(source=source(lines, "slurm"), quotes=quotes, subject=f"task ({bound['how']})", cpus=cpus)


def _cpu(text: str) -> tuple[int, ...]:
    return (int(text),) if text.isdecimal() else ()


def _mask(text: str) -> tuple[int, ...]:
    """CPUs whose bits are set in a hexadecimal mask."""
    digits = text.lower().removeprefix("0x")
    if not re.fullmatch(r"[0-9a-f]{1,256}", digits):
        return ()
    bits = int(digits, 16)
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def _time_s(text: str) -> float | None:
    """Slurm's time limits: `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M`, `D-H:M:S` (sbatch(1), --time)."""
    found = _TIME.match(text)
    if not found:
        return None
    parts = [int(part) for part in (found["first"], found["second"], found["third"]) if part is not None]
    units = _UNITS_WITH_DAYS if found["days"] is not None else _UNITS_WITHOUT_DAYS[len(parts)]
    seconds = [time_in_s(part, unit) or 0.0 for part, unit in zip(parts, units, strict=False)]
    return sum(seconds) + 86400.0 * int(found["days"] or 0)


READER = Reader(
    title=Text(en="Slurm job script", zh="Slurm 作业脚本"),
    gives=(Setting, CpuMask),
    recognises=marked(_LAUNCH_HINT, "#SBATCH"),
    read=_read,
    obtained_by=("scontrol write batch_script JOBID -",),
    voice="loose",
)
