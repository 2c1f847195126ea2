"""Where an actor writes: a log as ordinary programs have it, on standard output."""

import logging

MOST_LOG_BYTES = 4 * 1024 * 1024


def opened(name: str) -> logging.Logger:
    """A logger that writes to descriptor 1, line by line."""
    handler = logging.StreamHandler(open(1, "w", encoding="utf-8", buffering=1, closefd=False))  # noqa: SIM115 - a descriptor, for life
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    log = logging.getLogger(name)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    return log
