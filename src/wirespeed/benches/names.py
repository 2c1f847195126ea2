"""Ask the name servers of a host directly: how long they take, and whether they answer every time."""

import socket
import struct
import time
from collections.abc import Iterator
from statistics import median

from wirespeed.model.measurement import NameServerRun
from wirespeed.model.source import Source

PORT = 53
TRIES_COUNT = 5
TIMEOUT_S = 2.0
"""The resolver itself waits 5 s (resolv.conf(5)); what does not answer in two is told as unanswered."""
ENOUGH_S = 1.5
"""After so long in all no further question is asked: what was seen says enough."""
_HEADER = struct.Struct("!HHHHHH")
_RECURSION_DESIRED = 0x0100
_TYPE_A, _CLASS_IN = 1, 1
_CODE_MASK = 0x000F
LONGEST_DATAGRAM_BYTES = 4096


def ask(server: str, name: str, host: str | None, tries_count: int = TRIES_COUNT) -> NameServerRun:
    """Ask one server for the address of one name, `tries_count` times (RFC 1035 over UDP), each bounded by `TIMEOUT_S`."""
    source = Source(tool="name-server", path=f"{server} {name}", host=host)
    times_s: list[float] = []
    known: bool | None = None
    sent_count = 0
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((server, PORT))
            begun_s = time.perf_counter()
            for number in range(tries_count):
                if time.perf_counter() - begun_s > ENOUGH_S:
                    break
                sent_count += 1
                start_s = time.perf_counter()
                asking.send(question(name, number + 1))
                reply = _reply(asking, number + 1, start_s + TIMEOUT_S)
                if reply is not None:
                    times_s.append(time.perf_counter() - start_s)
                    known = is_answer(reply)
    except (OSError, UnicodeError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        return NameServerRun(
            source=source, server=server, name=name, sent_count=sent_count, answered_count=len(times_s), error=said
        )
    return NameServerRun(
        source=source,
        server=server,
        name=name,
        sent_count=sent_count,
        answered_count=len(times_s),
        time_p50_s=median(times_s) if times_s else None,
        time_max_s=max(times_s, default=None),
        is_known=known,
    )


def question(name: str, number: int) -> bytes:
    """A query for the A record of `name`. Raises UnicodeError for what is no name."""
    labels = name.strip(".").encode("idna").split(b".")
    encoded = b"".join(bytes([len(label)]) + label for label in labels if label) + b"\0"
    return _HEADER.pack(number, _RECURSION_DESIRED, 1, 0, 0, 0) + encoded + struct.pack("!HH", _TYPE_A, _CLASS_IN)


def is_answer(reply: bytes) -> bool:
    """Whether a reply carries answers and no error code."""
    flags, answers_count = struct.unpack_from("!2xH2xH", reply)
    return bool(flags & _CODE_MASK == 0 and answers_count > 0)


def _reply(asking: socket.socket, number: int, deadline_s: float) -> bytes | None:
    """The reply to question `number`; late ones to earlier questions are passed over."""
    for reply in _datagrams(asking, deadline_s):
        if len(reply) >= _HEADER.size and _HEADER.unpack_from(reply)[0] == number:
            return reply
    return None


def _datagrams(asking: socket.socket, deadline_s: float) -> Iterator[bytes]:
    while (left_s := deadline_s - time.perf_counter()) > 0:
        asking.settimeout(left_s)
        try:
            yield asking.recv(LONGEST_DATAGRAM_BYTES)
        except TimeoutError:
            return
