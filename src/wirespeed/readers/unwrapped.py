"""Logs of containers without what the runtime or `kubectl logs` puts in front of each line, so that the readers see what the program said.

Taken off: the log format of the container runtime interface (`2024-05-01T12:00:00.123456789Z stderr F `), the time stamp of `kubectl logs
--timestamps` and `docker logs -t` (nine digits of a second, as Go's RFC3339Nano with fixed width), `[pod/NAME/CONTAINER] ` of `--prefix`,
Docker's JSON lines (`{"log":"...","stream":"stderr","time":"..."}`), and `SERVICE-1  | ` of `docker compose logs` where few names stand in front
of many lines (a table has another name on each). Lines keep their numbers; others stay as they are.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from wirespeed.model.lines import Lines, Origin

Strip: TypeAlias = Callable[[str], str]

_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(?:Z|[+-]\d\d:\d\d)"
_FIXED_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)"
_PREFIX = r"\[pod/[a-z0-9.-]{1,253}/[a-z0-9.-]{1,253}\] "
_FRONT = rf"(?:{_PREFIX})?(?:{_STAMP} (?:stdout|stderr) [FP] |{_FIXED_STAMP} )|{_PREFIX}"
_ANY_FRONT = re.compile(rf"(?m)^(?:{_FRONT})")
_COMPOSE = re.compile(r"(?m)^(?P<name>[A-Za-z0-9][\w.-]{0,127}) {1,64}\| ")
FEWEST_COMPOSE_LINES = 4
LINES_A_NAME = 3
_DOCKER = re.compile(r"(?m)^\{\"log\":\"")


def unwrapped(lines: Lines) -> Lines:
    """The same text without such fronts; the text itself where it has none."""
    sample = lines.sample
    if _DOCKER.search(sample):
        return _Unwrapped(lines, _without_docker)
    if _ANY_FRONT.search(sample):
        return _Unwrapped(lines, _without_front)
    names = [found["name"] for found in _COMPOSE.finditer(sample)]
    if len(names) >= FEWEST_COMPOSE_LINES and len(names) >= LINES_A_NAME * len(set(names)):
        return _Unwrapped(lines, partial(_without_service, frozenset(names)))
    return lines


def _without_service(names: frozenset[str], text: str) -> str:
    return _COMPOSE.sub(lambda found: "" if found["name"] in names else found[0], text)


def _without_front(text: str) -> str:
    return _ANY_FRONT.sub("", text)


def _without_docker(text: str) -> str:
    return "\n".join(_said(line) if line.startswith('{"log":"') else line for line in text.split("\n"))


def _said(line: str) -> str:
    """What one JSON line of Docker holds, on one line as well; the line itself where it is damaged."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line
    said = document.get("log") if isinstance(document, dict) else None
    return " ".join(said.split("\n")).rstrip() if isinstance(said, str) else line


class _Unwrapped:
    """Lines seen through a function that keeps their number."""

    def __init__(self, lines: Lines, strip: Strip) -> None:
        self._lines = lines
        self._strip = strip
        self.path = lines.path
        self.origin: Origin = lines.origin

    @property
    def head(self) -> str:
        """The head without fronts."""
        return self._strip(self._lines.head)

    @property
    def sample(self) -> str:
        """The sample without fronts."""
        return self._strip(self._lines.sample)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((index, self._strip(line)) for index, line in self._lines)

    def whole(self) -> str | None:
        """The whole text without fronts."""
        text = self._lines.whole()
        return None if text is None else self._strip(text)
