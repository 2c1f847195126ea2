"""How a container was started: `docker run`, `podman run` and `nerdctl run` lines, alone, in scripts or in prose.

A command line says all there is, so what it does not name has the program's default: network `bridge`, not privileged. That is so
only when the command is seen to its end: with an ellipsis in it, such fields stay None. `--gpus` becomes the device `gpus=VALUE`.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.host import ContainerState, CpuQuota
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import scale_of
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_CONTINUED_LINES = 80

_RUN = regex(r"(?<![\w./-])(?P<runtime>docker|podman|nerdctl)\s+(?:container\s+)?(?:run|create)(?=\s|$)(?P<rest>.*)")
_END = regex(r"`|\s(?:&&|\|\||\||>|2>)(?:\s|$)|;(?:\s|$)")
_ELLIPSIS = regex(r"\.\.\.|…")
_SIZE = regex(r"(?i)^(?P<number>\d+(?:\.\d+)?)\s*(?P<scale>[kmgt])?i?b?$")
_IMAGE = regex(r"^[\w.\-]+(?::\d+)?(?:/[\w.\-]+)*(?:[:@][\w.\-:$]+)?$")

_SHORT_WITH_VALUE = frozenset("pevwhulmac")
_SHORT_NAMES = {
    "p": "publish",
    "v": "volume",
    "m": "memory",
    "c": "cpu-shares",
    "e": "env",
    "u": "user",
    "w": "workdir",
    "h": "hostname",
}
_SWITCHES = frozenset(
    {"rm", "detach", "interactive", "tty", "init", "privileged", "read-only", "publish-all", "no-healthcheck", "oom-kill-disable",
     "sig-proxy", "disable-content-trust", "help", "quiet", "replace", "systemd", "tls-verify", "no-hosts"}
)  # fmt: skip
"""Options that take no value as the next word; every other long option does (docker-run(1), podman-run(1))."""


@dataclass(slots=True)
class _Started:
    options: dict[str, list[str]] = field(default_factory=dict)
    image: str | None = None

    def every(self, *names: str) -> list[str]:
        return [value for name in names for value in self.options.get(name, [])]

    def last(self, *names: str) -> str | None:
        found = self.every(*names)
        return found[-1] if found else None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    pending: list[tuple[int, str]] = []
    for index, line in lines:
        if not pending and not _RUN.search(line):
            continue
        pending.append((index, line))
        if line.rstrip().endswith("\\") and len(pending) < MOST_CONTINUED_LINES:
            continue
        yield from _commands(lines, pending)
        pending = []
    yield from _commands(lines, pending)


def _commands(lines: Lines, written: list[tuple[int, str]]) -> Iterator[Record]:
    """Every start that one command line (with its continuations) holds."""
    joined = " ".join(line.rstrip().removesuffix("\\") for _, line in written)
    quotes = tuple(quote(lines, index, line) for index, line in written)
    starts = list(_RUN.finditer(joined)) if joined else []
    for found in starts:
        rest = _END.split(found["rest"], maxsplit=1)[0]
        started = _parsed(_words(rest))
        if started.options or (started.image and not _is_prose(rest)):
            yield from _records(lines, quotes, found["runtime"], started, is_whole=not _ELLIPSIS.search(rest))


def _is_prose(rest: str) -> bool:
    """`docker run line; inside, ...`: without an option the first word must look like an image with a tag or a path."""
    words = rest.split()
    return not words or not re.search(r"[:/]\w", words[0])


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest, comments=True)
    except ValueError:
        return rest.split()


def _parsed(words: list[str]) -> _Started:
    """Options up to the image; what follows the image is the container's own command."""
    started = _Started()
    rest = iter(words)
    for word in rest:
        if _ELLIPSIS.fullmatch(word):
            continue
        if not word.startswith("-") or word == "-":
            bare = word.rstrip(".,;:)\"'")
            started.image = bare if _IMAGE.match(bare) else None
            break
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, value = _short(word[1:])
            equals = "=" if value or name not in _SHORT_NAMES.values() else ""
        if not equals and name not in _SWITCHES:
            value = next(rest, "")
        started.options.setdefault(name, []).append(value)
    return started


def _short(letters: str) -> tuple[str, str]:
    """Bundled short options: the last may take a value, attached or as the next word (`-it`, `-p8080:80`, `-p 8080:80`)."""
    for position, letter in enumerate(letters):
        if letter in _SHORT_WITH_VALUE:
            return _SHORT_NAMES.get(letter, letter), letters[position + 1 :].lstrip("=")
    return letters, ""


def _records(lines: Lines, quotes: tuple[Quote, ...], runtime: str, started: _Started, is_whole: bool) -> Iterator[Record]:
    subject = started.last("name") or started.image or "container"
    volumes = started.every("volume", "mount")
    shm_size = started.last("shm-size")
    network = started.last("network", "net")
    privileged = started.last("privileged")
    yield ContainerState(
        source=source(lines, runtime),
        quotes=quotes,
        subject=subject,
        runtime=runtime,
        network_mode=network or ("bridge" if is_whole else None),
        devices=(
            *(device.split(":")[0] for device in started.every("device")),
            *(f"gpus={value}" for value in started.every("gpus")),
            *(volume.split(":")[0] for volume in volumes if volume.startswith("/dev/infiniband")),
        ),
        capabilities=tuple(started.every("cap-add")),
        published_ports=tuple(started.every("publish")),
        shm_bytes=None if shm_size is None else _bytes(shm_size),
        ipc_mode=started.last("ipc"),
        memlock_is_unlimited=_memlock(started),
        is_privileged=privileged != "false" if privileged is not None else (False if is_whole else None),
        has_memory_shm_volume=True if _mounts_shm(started, volumes) else None,
    )
    cpus = started.last("cpus")
    if cpus and re.fullmatch(r"\d*\.?\d+", cpus):
        yield CpuQuota(source=source(lines, runtime), quotes=quotes, subject=subject, quota_cpus_ratio=float(cpus))


def _memlock(started: _Started) -> bool | None:
    """None when not given: the limit is then the daemon's."""
    limit = next((value for value in started.every("ulimit") if value.startswith("memlock")), None)
    return None if limit is None else limit.partition("=")[2].split(":")[-1] in ("-1", "unlimited")


def _mounts_shm(started: _Started, volumes: list[str]) -> bool:
    return any(value.split(":")[0] == "/dev/shm" for value in started.every("tmpfs")) or any(":/dev/shm" in one for one in volumes)


def _bytes(text: str) -> int | None:
    """Docker's units are binary whether written `g`, `gb` or `gib`."""
    found = _SIZE.match(text)
    if not found:
        return None
    return int(min(float(found["number"]), 1e15) * (scale_of(f"{found['scale']}i") if found["scale"] else 1.0))


READER = Reader(
    title=Text(en="container start command", zh="容器启动命令"),
    gives=(ContainerState, CpuQuota),
    recognises=marked(_RUN),
    read=_read,
    voice="loose",
)
