"""Live diagnosis: agents that answer and end, and a lab whose fault is found, saved and found again from the case."""

import os
import socket
import time
from pathlib import Path

import pytest

import wirespeed
from wirespeed.diagnosis.separate import Choice
from wirespeed.emulation.lab import Lab
from wirespeed.model.errors import BadRequest
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.verbs import _agent
from wirespeed.verbs._hosts import Host, asked, kept, no_agent
from wirespeed.verbs._live import reason_of
from wirespeed.verbs._measure import Log
from wirespeed.verbs._this_host import this_host


def _host() -> Host:
    return this_host().hosts[0]


def test_calls_are_answered_at_the_same_time_and_a_bad_one_says_why() -> None:
    calls = [(_host(), "observe", {"only": ["identity"]}), (_host(), "nonsense", {}), (_host(), "observe", {"only": 3})]
    found = asked(calls, within_s=20.0)
    assert any(isinstance(item, Record) for item in found[0])
    assert not any(isinstance(item, Problem) for item in found[0])
    assert [type(item) for item in found[1]] == [Problem]
    assert "nonsense" in found[1][0].why.en  # type: ignore[union-attr]
    assert [type(item) for item in found[2]] == [Problem]


def test_a_peer_without_an_agent_is_a_problem() -> None:
    peer = Host(name="far", role="peer", addresses=("192.0.2.1",), connect=no_agent)
    (item,) = asked([(peer, "observe", {})], within_s=1.0)[0]
    assert isinstance(item, Problem)


def test_an_answer_that_takes_too_long_is_cut_and_told() -> None:
    start_s = time.monotonic()
    items = asked([(_host(), "watch", {"for_s": 30.0})], within_s=1.0)[0]
    assert time.monotonic() - start_s < 5.0
    assert isinstance(items[-1], Problem)


def test_leaving_ends_what_still_runs() -> None:
    """The child of an agent whose asker leaves is gone, though its call would go on for a minute."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _agent.serve(theirs)
        os._exit(0)
    theirs.close()
    ours.sendall(b'{"call":"watch","options":{"for_s":60.0}}\n')
    ours.close()
    deadline_s = time.monotonic() + 10.0
    while time.monotonic() < deadline_s and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.02)
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_a_call_that_is_kept_ends_on_leaving(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answering = {"address": "127.0.0.1", "port": port, "token": "t" * 16, "for_s": 60.0}
    with kept(_host(), "respond", answering):
        assert _opens(port, is_open=True)
    assert _opens(port, is_open=False)


def _opens(port: int, is_open: bool) -> bool:
    """Whether the port comes to be open, or closed, within ten seconds."""
    deadline_s = time.monotonic() + 10.0
    while time.monotonic() < deadline_s:
        with socket.socket() as handle:
            if (handle.connect_ex(("127.0.0.1", port)) == 0) is is_open:
                return True
        time.sleep(0.02)
    return False


def test_the_reason_for_a_measurement_names_what_it_tells_apart() -> None:
    choice = Choice(
        name="ports",
        gain_nats=0.5,
        cost_s=0.6,
        leader="pmtu-blackhole",
        rivals=("pmtu-blackhole", "firewall-blocks-ports"),
        others=(),
    )
    assert reason_of(choice).en == "may tell pmtu-blackhole from firewall-blocks-ports"


def test_peers_need_a_token() -> None:
    with pytest.raises(BadRequest):
        wirespeed.diagnose(peers=("127.0.0.1:5399",), budget="5s")


def test_a_fault_of_the_lab_is_found_and_found_again_from_its_case(lab: Lab, tmp_path: Path) -> None:
    name = lab.state.name
    wirespeed.lab.break_(fault="listen_queue_overflow", seed_number=3, name=name)
    case = tmp_path / "case.json"
    try:
        live = wirespeed.diagnose(lab=True, name=name, budget="14s", save=str(case))
    finally:
        wirespeed.lab.heal(name=name)
    assert live.findings[0].cause == "accept-queue-overflow"
    assert [step.measure for step in live.steps[:2]] == ["facts", "watch"]
    assert all(step.why.en and step.why.zh for step in live.steps)
    again = wirespeed.diagnose(str(case))
    assert again.findings[0].cause == "accept-queue-overflow"
    texts = {quote.text for evidence in live.findings[0].evidence for quote in evidence.quotes}
    assert texts
    assert all(text in case.read_text(encoding="utf-8").replace('\\"', '"') for text in texts)


@pytest.mark.exhaustive
def test_the_whole_loop_ends_where_it_began(lab: Lab) -> None:
    """A lab that is broken, diagnosed and healed shows nothing afterwards: not the counts nor the logs of what was mended."""
    from wirespeed.model.progress import unheard
    from wirespeed.verbs._loop import turn

    loop = turn(unheard)
    assert loop.cause in {finding.cause for finding in loop.answer.findings[:3]}
    assert loop.findings_after == ()
    assert loop.fixed.slowest_pair_bits_per_s is not None
    assert loop.fixed.loss_worst_ratio == 0.0


def test_only_what_was_written_meanwhile_is_read(tmp_path: Path) -> None:
    log = tmp_path / "client.log"
    log.write_text("old trouble\n")
    begun = Log(path=str(log), start_bytes=log.stat().st_size)
    with log.open("a") as file:
        file.write("new trouble\n")
    assert begun.fresh().whole() == "new trouble\n"
