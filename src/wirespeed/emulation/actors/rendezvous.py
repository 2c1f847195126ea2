"""Workers of a job that meet: one announces where it is reached, the others ask it and connect there."""

import logging
import socket
import threading
import time
from typing import Any

from wirespeed.emulation.actors import _log

_TIMEOUT_S, _AGAIN_S = 3.0, 1.0
_MOST_LINES = 2000


def act(arguments: dict[str, Any]) -> None:
    """With `announces`, tell askers the address of that name and wait to be met; with `asks`, ask there and connect to what is told."""
    log = _log.opened("rendezvous")
    if "announces" in arguments:
        _announce(arguments["announces"], arguments["port"], log)
    for _ in range(_MOST_LINES):
        _meet(arguments["asks"], arguments["port"], arguments["node"], log)
        time.sleep(_AGAIN_S)
    threading.Event().wait()


def _announce(name: str, port: int, log: logging.Logger) -> None:
    told = socket.gethostbyname(name)
    log.info("rank 0 on %s announces %s:%d", name, told, port + 1)
    store, worker = socket.create_server(("", port)), socket.create_server((told, port + 1))
    threading.Thread(target=_accept_all, args=(worker, b""), daemon=True).start()
    _accept_all(store, told.encode())


def _accept_all(listener: socket.socket, greeting: bytes) -> None:
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(greeting)


def _meet(store: str, port: int, node: str, log: logging.Logger) -> None:
    told = "?"
    try:
        with socket.create_connection((store, port), timeout=_TIMEOUT_S) as handle:
            told = handle.recv(64).decode()
        with socket.create_connection((told, port + 1), timeout=_TIMEOUT_S):
            log.info("connected to %s at %s:%d", node, told, port + 1)
    except OSError as error:
        log.error("connect to %s at %s:%d failed: %s: %s", node, told, port + 1, type(error).__name__, error)
