"""The responder against strangers, wrong tokens and peers that vanish."""

import contextlib
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from benches.peers import TOKEN, children_of, responder
from wirespeed.benches.links import client, protocol
from wirespeed.benches.links.protocol import PathBroken, Refused
from wirespeed.benches.links.responder import serve
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import Limits, LinkSpec
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.measurement import PortProbe


def spec_of(port: int, **more: object) -> LinkSpec:
    given: dict[str, object] = {"address": "127.0.0.1", "port": port, "token": TOKEN, "timeout_s": 1.0, "duration_s": 0.3}
    return LinkSpec(**(given | more))  # type: ignore[arg-type]


def is_alive(port: int) -> bool:
    with Session.opened(spec_of(port)) as session:
        return abs(session.clock_ahead_s()) < 0.05


def test_a_wrong_token_is_refused_and_never_sent() -> None:
    with responder() as (port, _):
        with pytest.raises(Refused, match="token"):
            Session.opened(spec_of(port, token="wrong"))
        assert is_alive(port)
    hello = protocol.framed(protocol.Hello(version_number=1, nonce=b"n"))
    proof = protocol.framed(protocol.Prove(proof=protocol.proof_of(TOKEN.encode(), "client", b"n", b"m")))
    assert TOKEN.encode() not in hello + proof


def test_another_version_is_refused() -> None:
    with responder() as (port, _), socket.create_connection(("127.0.0.1", port), timeout=2) as handle:
        protocol.send_frame(handle, protocol.Hello(version_number=99, nonce=b"n"), 1.0)
        assert protocol.receive_frame(handle, protocol.No, 1.0).why == "version"


def test_a_responder_without_the_token_is_refused_by_the_client() -> None:
    """Someone who listens on the port and knows no token gets no traffic from us."""
    listening = socket.create_server(("127.0.0.1", 0))
    pid = os.fork()
    if pid == 0:
        handle, _ = listening.accept()
        protocol.receive_frame(handle, protocol.Hello, 2.0)
        protocol.send_frame(handle, protocol.Challenge(version_number=1, nonce=b"x"), 2.0)
        protocol.receive_frame(handle, protocol.Prove, 2.0)
        welcome = protocol.Welcome(proof=b"guess", session="s", most_bytes_per_s=1.0, most_session_s=1.0, udp_port=9, host="liar")
        protocol.send_frame(handle, welcome, 2.0)
        time.sleep(1)
        os._exit(0)
    try:
        with pytest.raises(Refused):
            Session.opened(spec_of(listening.getsockname()[1]))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        listening.close()


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00\x00\x00\x00",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x05hello",
        b"\x00\x00\x00\x02{}",
        b'\x00\x00\x00\x0f{"say":"prove"}',
        os.urandom(5000),
    ],
)
def test_junk_at_the_port_does_no_harm(junk: bytes) -> None:
    with responder(limits=Limits(greeting_s=0.5)) as (port, _):
        with socket.create_connection(("127.0.0.1", port), timeout=3) as stranger:
            stranger.sendall(junk)
            assert is_alive(port)
            try:
                while stranger.recv(4096):
                    pass
            except ConnectionResetError:
                pass
        assert is_alive(port)


def test_strangers_who_say_nothing_are_bounded_and_let_go() -> None:
    with responder(limits=Limits(greeting_s=1.0, most_pending_count=10)) as (port, pid):
        strangers = []
        for _ in range(40):
            with contextlib.suppress(ConnectionResetError):  # those above the bound are closed at once
                strangers.append(socket.create_connection(("127.0.0.1", port), timeout=3))
        time.sleep(0.2)
        assert len(list(Path(f"/proc/{pid}/fd").iterdir())) < 30
        strangers[0].sendall(b"\x00")  # a slow one: a byte does not buy time
        time.sleep(1.3)
        assert is_alive(port)
        for one in strangers:
            one.close()


def test_a_frame_that_comes_in_drops_is_understood() -> None:
    with responder() as (port, _), socket.create_connection(("127.0.0.1", port), timeout=2) as handle:
        for byte in protocol.framed(protocol.Hello(version_number=protocol.VERSION, nonce=b"n")):
            handle.send(bytes([byte]))
        assert protocol.receive_frame(handle, protocol.Challenge, 1.0).nonce


def test_sessions_are_bounded() -> None:
    with (
        responder(limits=Limits(most_sessions_count=1)) as (port, _),
        Session.opened(spec_of(port)),
        pytest.raises(Refused, match="busy"),
    ):
        Session.opened(spec_of(port))


def test_a_session_ends_with_its_client_and_leaves_no_process() -> None:
    with responder() as (port, pid):
        with Session.opened(spec_of(port)) as session:
            session.clock_ahead_s()
            assert children_of(pid)
        deadline = time.monotonic() + 3
        while children_of(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not children_of(pid)


def test_a_data_connection_needs_the_sessions_key() -> None:
    with (
        responder() as (port, _),
        Session.opened(spec_of(port)) as session,
        socket.create_connection(("127.0.0.1", port), timeout=2) as handle,
    ):
        forged = protocol.Join(session=session.welcome.session, index=0, proof=b"guess")
        protocol.send_frame(handle, forged, 1.0)
        assert protocol.receive_frame(handle, protocol.No, 1.0).why == "token"


def test_killing_the_responder_kills_its_flows_and_the_client_still_ends() -> None:
    with responder() as (port, pid):
        killer = os.fork()
        if killer == 0:
            time.sleep(0.9)
            os._exit(0) if children_of(pid) else os._exit(7)
        start = time.monotonic()
        near = os.fork()
        if near == 0:
            time.sleep(1.0)
            os.kill(pid, signal.SIGKILL)
            os._exit(0)
        found = client.run(spec_of(port, tests=("throughput",), duration_s=2.0))
        took = time.monotonic() - start
        assert os.waitpid(killer, 0)[1] == 0, "no flow was running"
        os.waitpid(near, 0)
        flows = [one for one in found if isinstance(one, FlowRun)]
        assert flows and all(flow.error for flow in flows)
        assert took < 12
        assert not children_of(pid)


def test_nobody_there_gives_records_not_errors() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = client.run(spec_of(port))
    probes = [one for one in found if isinstance(one, PortProbe)]
    assert {probe.outcome for probe in probes} == {"refused"}
    flows = [one for one in found if isinstance(one, FlowRun)]
    assert flows and all(flow.error == "refused" and flow.received_bytes == 0 for flow in flows)


def test_a_full_backlog_times_out_within_its_bound() -> None:
    """A listener that never accepts: the handshake's first answer never comes."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent:
        start = time.monotonic()
        found = client.run(spec_of(silent.getsockname()[1], timeout_s=0.3, tests=("throughput", "latency")))
        assert time.monotonic() - start < 3
        assert {one.error for one in found if isinstance(one, FlowRun)} == {"timed-out"}


def test_a_token_is_required() -> None:
    with socket.socket() as handle, pytest.raises(ValueError, match="token"):
        serve(handle, "", 1.0)


def test_a_broken_session_says_how() -> None:
    with responder() as (port, _), Session.opened(spec_of(port)) as session:
        session.begin("no-such-test", protocol.ClockAsk())
        with pytest.raises(PathBroken, match=r"closed|reset"):
            session.answer(protocol.Clock)
