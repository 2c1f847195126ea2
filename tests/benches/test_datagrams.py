"""A train over a relay that drops, doubles and swaps by a script: what is counted is what was done."""

import os
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from benches.peers import TOKEN, responder
from wirespeed.benches.links.protocol import TAG_BYTES
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.benches.links.tests import datagrams
from wirespeed.model.link_runs import DatagramTrain
from wirespeed.theory.datagram_train import judged


@contextmanager
def unkind_relay(port: int) -> Iterator[int]:
    """Forwards UDP between a client and `port`. Of each hundred numbers 10 to 12 and 20 are lost, 50 comes twice, 70 after 71."""
    near, far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    near.bind(("127.0.0.1", 0))
    far.connect(("127.0.0.1", port))
    for one in (near, far):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    pid = os.fork()
    if pid == 0:
        client, held = None, b""
        while True:
            for one in select.select([near, far], [], [])[0]:
                data, peer = one.recvfrom(65536)
                client = peer if one is near else client
                place = int.from_bytes(data[TAG_BYTES : TAG_BYTES + 4], "big") % 100 if len(data) > TAG_BYTES else 0
                if place in (10, 11, 12, 20):
                    continue
                if place == 70:
                    held = data
                    continue
                for copy in [data] * (2 if place == 50 else 1) + ([held] if place == 71 else []):
                    far.send(copy) if one is near else near.sendto(copy, client or ("127.0.0.1", 9))
    try:
        yield near.getsockname()[1]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        near.close()
        far.close()


def test_counts_are_those_of_the_script_in_both_directions() -> None:
    spec = LinkSpec(address="127.0.0.1", port=0, token=TOKEN, duration_s=0.5, datagrams_per_s=2000)
    with (
        responder() as (port, _),
        Session.opened(msgspec.structs.replace(spec, port=port)) as session,
        unkind_relay(session.welcome.udp_port) as relay_port,
    ):
        session.welcome = msgspec.structs.replace(session.welcome, udp_port=relay_port)
        trains = datagrams.TEST.client(spec, session)
    assert len(trains) == 2
    for train in trains:
        assert isinstance(train, DatagramTrain)
        assert (train.sent_count, train.lost_count, train.received_count) == (1000, 40, 960)
        assert (train.loss_runs_count, train.longest_loss_run_count) == (20, 3)
        assert (train.duplicates_count, train.reordered_count) == (10, 10)
        assert train.loss_ratio == pytest.approx(0.04)
        assert train.dropped_by_receiver_count == 0
        assert train.rate_per_s == pytest.approx(2000, rel=0.3)


def test_overflow_of_the_receivers_socket_is_the_receivers() -> None:
    """Nobody reads for a while: what the socket has no room for is its own drop, not the path's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        before = datagrams._drops(receiver)
        for _ in range(100):
            sender.sendto(bytes(1000), receiver.getsockname())
        after = datagrams._drops(receiver)
    assert before == 0
    assert after is not None and after > 50


@pytest.mark.parametrize(
    ("arrivals", "sent", "wanted"),
    # received, lost, duplicates, reordered, runs, longest; the third is the example of RFC 4737, 3.3 (4 arrives late: one reordered)
    [
        ([], 0, (0, 0, 0, 0, 0, 0)),
        ([], 3, (0, 3, 0, 0, 1, 3)),
        ([1, 2, 3, 7, 8, 9, 4, 5, 6], 10, (9, 1, 0, 3, 1, 1)),
        ([0, 0, 0, 1], 2, (2, 0, 2, 0, 0, 0)),
        ([0, 5, 9, 99], 10, (3, 7, 0, 0, 2, 4)),
    ],
)
def test_judging_of_a_train(arrivals: list[int], sent: int, wanted: tuple[int, ...]) -> None:
    assert tuple(judged(arrivals, sent)) == wanted
