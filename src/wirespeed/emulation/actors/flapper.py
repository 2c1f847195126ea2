"""A device that goes down and comes up again by itself."""

import fcntl
import random
import socket
import struct
import time
from typing import Any

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_REQUEST = struct.Struct("16sH14x")


def act(arguments: dict[str, Any]) -> None:
    """Take `device` down for `down_s` every `every_s`, give or take a quarter, for ever."""
    chance = random.Random(arguments["seed"])  # noqa: S311 - it spreads the outages
    while True:
        time.sleep(arguments["every_s"] * chance.uniform(0.75, 1.25))
        _set(arguments["device"], is_up=False)
        time.sleep(arguments["down_s"] * chance.uniform(0.75, 1.25))
        _set(arguments["device"], is_up=True)


def _set(device: str, *, is_up: bool) -> None:
    name = device.encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        _, flags = _REQUEST.unpack(fcntl.ioctl(handle.fileno(), _GET_FLAGS, _REQUEST.pack(name, 0)))
        fcntl.ioctl(handle.fileno(), _SET_FLAGS, _REQUEST.pack(name, flags | _UP if is_up else flags & ~_UP))
