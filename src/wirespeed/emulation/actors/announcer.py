"""A host that claims an address by gratuitous ARP, again and again."""

import socket
import struct
import time
from pathlib import Path
from typing import Any

_BROADCAST = b"\xff" * 6
_ARP, _ETHERNET, _IPV4, _REPLY = 0x0806, 1, 0x0800, 2


def act(arguments: dict[str, Any]) -> None:
    """Broadcast from `device` every `every_s` that `address` is here; `count` times, or for ever."""
    device, remaining = arguments["device"], arguments.get("count")
    own = bytes.fromhex(Path(f"/sys/class/net/{device}/address").read_text(encoding="ascii").strip().replace(":", ""))
    address = socket.inet_aton(arguments["address"])
    claim = struct.pack("!HHBBH", _ETHERNET, _IPV4, 6, 4, _REPLY) + own + address + _BROADCAST + address
    frame = _BROADCAST + own + struct.pack("!H", _ARP) + claim
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as handle:
        handle.bind((device, 0))
        while remaining is None or remaining > 0:
            handle.send(frame)
            remaining = None if remaining is None else remaining - 1
            time.sleep(arguments["every_s"])
