"""A name server that knows a few names and takes its time."""

import collections
import select
import socket
import time
from typing import Any

PORT = 53
MOST_WAITING = 4096
_TYPE_A, _HEADER_BYTES = 1, 12
_NO_SUCH_NAME = 3


def act(arguments: dict[str, Any]) -> None:
    """Answer from `names` after `delay_s`; other names do not exist, which takes as long to say."""
    names, delay_s = arguments["names"], arguments["delay_s"]
    waiting: collections.deque[tuple[float, bytes, Any]] = collections.deque(maxlen=MOST_WAITING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        handle.bind(("", PORT))
        while True:
            wait_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            if select.select([handle], [], [], wait_s)[0]:
                query, asker = handle.recvfrom(4096)
                if len(query) > _HEADER_BYTES:
                    waiting.append((time.monotonic() + delay_s, answer(query, names), asker))
            while waiting and waiting[0][0] <= time.monotonic():
                _, reply, asker = waiting.popleft()
                handle.sendto(reply, asker)


def answer(query: bytes, names: dict[str, str]) -> bytes:
    """The reply to one question (RFC 1035): an address for a known name, nothing for its other types, no such name else."""
    labels, at = [], _HEADER_BYTES
    while at < len(query) and query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    question = query[_HEADER_BYTES : at + 5]
    kind = int.from_bytes(query[at + 1 : at + 3], "big")
    address = names.get(".".join(labels).lower())
    found = [address] if address is not None and kind == _TYPE_A else []
    code = 0 if address is not None else _NO_SUCH_NAME
    flags = (0x8580 | code).to_bytes(2, "big")  # a reply, with authority, recursion asked for and offered
    counts = b"\x00\x01" + len(found).to_bytes(2, "big") + bytes(4)
    records = b"".join(b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04" + socket.inet_aton(one) for one in found)
    return query[:2] + flags + counts + question + records
