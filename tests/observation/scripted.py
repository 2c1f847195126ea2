"""A captured machine whose files are functions of time, and a clock that only sleeping moves: rates come out exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from wirespeed.machines.captured import Tree
from wirespeed.observation import recording, sampler


@dataclass
class Clock:
    now_s: float = 1000.0
    wall_s: float = 1_700_000_000.0
    late_s: Callable[[float], float] = lambda now_s: 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, pause_s: float) -> None:
        self.now_s += pause_s + self.late_s(self.now_s)
        self.wall_s += pause_s


class Scripted(Tree):
    """Files by path, each a function from seconds since the start to text; None means gone."""

    def __init__(self, root: Path, clock: Clock, files: dict[str, Callable[[float], str | None]]) -> None:
        for top in ("proc", "sys"):
            (root / top).mkdir(exist_ok=True)
        super().__init__(root, host="scripted")
        self._clock, self._files, self._start_s = clock, files, clock.now_s

    def read(self, path: str) -> bytes:
        text = self._files[path](self._clock.now_s - self._start_s) if path in self._files else None
        return super().read(path) if text is None else text.encode()


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    times = SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep, time=lambda: clock.wall_s, thread_time=lambda: 0.0)
    monkeypatch.setattr(recording, "time", times)
    monkeypatch.setattr(sampler, "perf_counter", lambda: 0.0)
    return clock


HEAD = "Inter-|   Receive                                                |  Transmit\n face |bytes ...|bytes ...\n"


def net_dev(**links: tuple[float, float]) -> str:
    """/proc/net/dev with received and sent bytes by link; a packet is 1,000 bytes."""
    rows = [
        f"{name:>6}: {round(rx)} {round(rx) // 1000} 0 0 0 0 0 0 {round(tx)} {round(tx) // 1000} 0 0 0 0 0 0"
        for name, (rx, tx) in links.items()
    ]
    return HEAD + "\n".join(rows) + "\n"
