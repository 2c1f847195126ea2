"""Signs of life on the terminal for anything that takes longer than two seconds; nothing where there is no terminal."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.text import Language, Text

PATIENCE_S = 2.0
"""Shorter work needs no sign, unless it has something to show."""
REFRESHES_PER_S = 8.0


@contextmanager
def at_work(what: str, language: Language) -> Iterator[Progress]:
    """Show on standard error that `what` goes on once it has taken `PATIENCE_S`, and what it tells of itself."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield unheard
        return
    screen = _Screen(what, language)
    try:
        yield screen.show
    finally:
        screen.close()


class _Screen:
    """A live region of the terminal, drawn from the moment there is something to say."""

    def __init__(self, what: str, language: Language) -> None:
        self._language = language
        self._live: Any = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._drawn_at_s = 0.0
        self._started_at_s = time.monotonic()
        self._last = Update(says=Text(en=f"{what}: still at work, Ctrl-C stops it", zh=f"{what}：仍在运行，按 Ctrl-C 停止"))
        self._timer = threading.Timer(PATIENCE_S, self._draw)
        self._timer.daemon = True
        self._timer.start()

    def show(self, update: Update) -> None:
        self._last = update
        now_s = time.monotonic()
        is_due = now_s - self._drawn_at_s >= 1 / REFRESHES_PER_S
        if is_due and (update.view is not None or now_s - self._started_at_s >= PATIENCE_S):
            self._draw()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_closed = True
            if self._live is not None:
                self._live.stop()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with self._lock:
            if self._is_closed:
                return
            self._drawn_at_s = time.monotonic()
            if self._live is None:
                self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
                self._live.start()
            self._live.update(self._picture(), refresh=True)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.spinner import Spinner
        from rich.text import Text as Line

        update = self._last
        parts = [update.says[self._language]]
        if update.done_ratio is not None:
            parts.append(f"{update.done_ratio:.0%}")
        if update.remaining_s is not None:
            left = f"{update.remaining_s:.0f} s"
            parts.append(f"{left} left" if self._language == "en" else f"剩余 {left}")
        line = Spinner("dots", Line(" · ".join(parts)))
        if update.view is None:
            return line
        from wirespeed.report.renderers.text import rendered

        return Group(rendered(update.view, self._language), line)
