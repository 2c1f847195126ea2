"""Connect to many ports of one host at once: which answer, which refuse, which are silent."""

import errno
import selectors
import socket
import time
from collections.abc import Iterable
from typing import Literal, TypeAlias

from wirespeed.model.measurement import PortProbe
from wirespeed.model.source import Source

PATIENCE_S = 2.3
"""A lost SYN is sent again after one second (RFC 6298, section 2.1), so silence for two says more than bad luck."""
RENDEZVOUS_PORTS = (22, 443, 3000, 5000, 6379, 8000, 8080, 8265, 10001, 11434, 12355, 23456, 29400, 29500, 50051)
"""Where launchers, Ray, Gloo and inference servers meet by default."""
SPREAD_PORTS = tuple(range(1_500, 65_500, 2_500))
"""A filter covers ranges: samples of all that is not privileged find those that are wider than the step."""
MOST_PORTS_COUNT = 64

Outcome: TypeAlias = Literal["connected", "refused", "timed-out", "no-route", "unreachable", "reset", "aborted", "prohibited"]
_OUTCOMES: dict[int, Outcome] = {
    0: "connected",
    errno.ECONNREFUSED: "refused",
    errno.ETIMEDOUT: "timed-out",
    errno.EHOSTUNREACH: "no-route",
    errno.ENETUNREACH: "unreachable",
    errno.ECONNRESET: "reset",
    errno.ECONNABORTED: "aborted",
    errno.EACCES: "prohibited",
    errno.EPERM: "prohibited",
}


def probe(address: str, ports: Iterable[int], host: str | None, patience_s: float = PATIENCE_S) -> list[PortProbe]:
    """One attempt for each port (at most `MOST_PORTS_COUNT`), all at the same time; ends after `patience_s` at the latest."""
    source = Source(tool="connect", path=f"from {host} to {address}", host=host)
    found: list[PortProbe] = []

    def tell(port: int, outcome: Outcome, since_s: float) -> None:
        took_s = time.perf_counter() - since_s
        found.append(PortProbe(source=source, target=address, port=port, outcome=outcome, time_s=took_s))

    with selectors.DefaultSelector() as waiting:
        start_s = time.perf_counter()
        for port in list(dict.fromkeys(ports))[:MOST_PORTS_COUNT]:
            handle, code = _begun(address, port)
            if code == errno.EINPROGRESS:
                waiting.register(handle, selectors.EVENT_WRITE, (port, handle))
            else:
                tell(port, _OUTCOMES.get(code, "unreachable"), start_s)
                handle.close()
        while waiting.get_map() and (left_s := start_s + patience_s - time.perf_counter()) > 0:
            for key, _ in waiting.select(left_s):
                port, handle = key.data
                tell(port, _OUTCOMES.get(handle.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "unreachable"), start_s)
                waiting.unregister(handle)
                handle.close()
        for key in list(waiting.get_map().values()):
            port, handle = key.data
            tell(port, "timed-out", start_s)
            handle.close()
    return found


def _begun(address: str, port: int) -> tuple[socket.socket, int]:
    handle = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    handle.setblocking(False)
    try:
        return handle, handle.connect_ex((address, port))
    except OSError as error:
        return handle, error.errno or errno.EINVAL
