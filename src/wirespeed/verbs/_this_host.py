"""This machine as a fleet of one: its agent is a child of this process."""

import os
import socket

from wirespeed.machines.local import Local
from wirespeed.verbs import _agent
from wirespeed.verbs._hosts import Host
from wirespeed.verbs._measure import Fleet


def this_host(peers: tuple[Host, ...] = (), token: str = "") -> Fleet:
    """The fleet of this machine alone, and peers whose responders know `token`."""
    host = Host(name=Local().host or "localhost", role="host", addresses=(), connect=_connected)
    return Fleet(hosts=(host,), routers=(), port=0, token=token, peers=peers)


def _connected() -> socket.socket:
    """A connection to a child that answers calls and ends with it."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            ours.close()
            _agent.serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    return ours
