"""The command's way in: signals first, so that Ctrl-C means the same while modules are still being imported."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143


def main() -> None:
    """Run the command; a termination request unwinds like any other end, so that nothing is left behind."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
    from wirespeed.faces.cli.main import main as command

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _terminated)
    command()


def _terminated(number: int, frame: FrameType | None) -> None:
    sys.exit(TERMINATED)


if __name__ == "__main__":
    main()
