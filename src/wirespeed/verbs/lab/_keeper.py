"""The program that keeps a lab: started by `lab up` with the number of the channel's descriptor."""

import socket
import sys
from typing import NoReturn

import msgspec

from wirespeed.emulation import keeper
from wirespeed.model import shelf
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.verbs import _agent, _calls
from wirespeed.verbs._call import Call


def main() -> NoReturn:
    """Receive the mandate and become the lab's guard.

    What an agent needs is loaded once here: every connection to a node is a fork of this process, and a tenth of a second of
    imports each would be a burden on a host that a fault has made slow.
    """
    channel = socket.socket(fileno=int(sys.argv[1]))
    mandate = msgspec.json.decode(channel.recv(keeper.MOST_MESSAGE_BYTES), type=keeper.Mandate)
    shelf.every(_calls, Call)
    shelf.every(facts, Collector)
    keeper.guard(channel, mandate, _agent.serve)


if __name__ == "__main__":
    main()
