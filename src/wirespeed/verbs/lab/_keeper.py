"""The program that keeps a lab: started by `lab up` with the number of the channel's descriptor."""

import importlib
import socket
import sys
from typing import NoReturn

import msgspec

from wirespeed.emulation import keeper


def serve(connection: socket.socket) -> None:
    """Answer an agent's connection, in a child of the node; what the agent needs is imported there only."""
    importlib.import_module("wirespeed.verbs._agent").serve(connection)


def main() -> NoReturn:
    """Receive the mandate and become the lab's guard."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    mandate = msgspec.json.decode(channel.recv(keeper.MOST_MESSAGE_BYTES), type=keeper.Mandate)
    keeper.guard(channel, mandate, serve)


if __name__ == "__main__":
    main()
