"""A sign of life on the terminal for anything that takes longer than two seconds; nothing where there is no terminal."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_S = 2.0
"""Shorter work needs no sign."""


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """Show that `what` goes on, on standard error, once it has taken `PATIENCE_S`."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[Any] = []
    timer = threading.Timer(PATIENCE_S, _show, (what, shown))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        for status in shown:
            status.stop()


def _show(what: str, shown: list[Any]) -> None:
    from rich.console import Console

    status = Console(stderr=True).status(f"{what}: still at work, Ctrl-C stops it")
    shown.append(status)
    status.start()
