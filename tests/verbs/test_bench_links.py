"""`bench links` and `peer` as people use them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benches.peers import TOKEN, children_of, responder
from wirespeed.benches.links.spec import Limits
from wirespeed.model.document import Grid, Headline
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.link_runs import FlowRun
from wirespeed.report.renderers.text import RENDERER
from wirespeed.verbs import peer
from wirespeed.verbs._quantities import place, rate
from wirespeed.verbs.bench import links

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_peer_is_measured_and_shown_in_both_languages() -> None:
    with responder() as (port, _):
        options = links.Options(
            peers=(f"127.0.0.1:{port}",), token=TOKEN, for_="200ms", only=("connect,throughput", "hops"), flows_count=2
        )
        answer = links.run(options)
    assert {type(one).__name__ for one in answer.records} == {"PortProbe", "FlowRun", "HeaderRun", "PathHop"}
    assert links.exit_code(answer, options) == 0
    document = links.present(answer, options)
    assert "goodput" in RENDERER.render(document, "en", 120)
    assert "有效吞吐" in RENDERER.render(document, "zh", 120)


def test_a_mesh_of_peers_is_a_matrix_with_every_pair() -> None:
    limits = Limits(may_reach_others=True)
    with responder(limits=limits) as (a, _), responder(limits=limits) as (b, _), responder(limits=limits) as (c, _):
        peers = tuple(f"127.0.0.1:{port}" for port in (a, b, c))
        options = links.Options(peers=peers, token=TOKEN, for_="200ms", mesh=True)
        told: list[float | None] = []
        answer = links.run(options, lambda update: told.append(update.remaining_s))
    flows = [one for one in answer.records if isinstance(one, FlowRun)]
    assert {(one.sender, one.receiver) for one in flows} == {(one, other) for one in peers for other in peers if one != other}
    assert all(one.error is None and one.purpose == "mesh" for one in flows)
    assert told[-1] == 0.0 and len(told) == 7
    grids = [block for block in links.present(answer, options).blocks if isinstance(block, Grid)]
    assert all(len(grid.rows) == 3 and len(grid.columns) == 4 for grid in grids[-2:])
    assert "—" not in {cell.en for grid in grids[-2:] for row in grid.rows for cell in row}


def test_a_peer_reaches_no_others_unless_it_was_started_to() -> None:
    with responder() as (a, _), responder() as (b, _):
        answer = links.run(links.Options(peers=(f"127.0.0.1:{a}", f"127.0.0.1:{b}"), token=TOKEN, for_="200ms", mesh=True))
    assert not answer.records
    assert all("not-allowed" in one.why.en for one in answer.problems)
    assert isinstance(links.present(answer, links.Options()).blocks[0], Headline)


def test_a_wrong_token_is_said_in_one_sentence() -> None:
    with responder() as (port, _), pytest.raises(CouldNot, match="another token"):
        links.run(links.Options(peers=(f"127.0.0.1:{port}",), token="some other token"))


@pytest.mark.parametrize(
    "options",
    [
        links.Options(),
        links.Options(peers=("127.0.0.1",)),
        links.Options(peers=("127.0.0.1",), token=TOKEN, for_="0s"),
        links.Options(peers=("127.0.0.1",), token=TOKEN, for_="2 parsecs"),
        links.Options(peers=("127.0.0.1",), token=TOKEN, flows_count=0),
        links.Options(peers=("127.0.0.1",), token=TOKEN, only=("no-such-test",)),
        links.Options(peers=("a b c:1:2",), token=TOKEN),
        links.Options(peers=("127.0.0.1:99999",), token=TOKEN),
        links.Options(peers=("127.0.0.1",), token=TOKEN, mesh=True),
    ],
)
def test_what_makes_no_sense_is_refused(options: links.Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(peer.TOKEN_VARIABLE, raising=False)
    with pytest.raises(BadRequest):
        links.run(options)


def test_places_and_amounts() -> None:
    assert place("node-a", 7) == ("node-a", 7)
    assert place("10.0.0.1:99", 7) == ("10.0.0.1", 99)
    assert place("[fd00::1]:99", 7) == ("fd00::1", 99)
    assert place("fd00::1", 7) == ("fd00::1", 7)
    assert rate("10Gb/s", "--most-rate") == 10e9


def test_ctrl_c_ends_a_peer_with_its_answer_and_without_a_trace() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from wirespeed.__main__ import main; main()",
         "peer", "--listen", "127.0.0.1:0", "--for", "30s", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | {peer.TOKEN_VARIABLE: TOKEN},
    )  # fmt: skip
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not _listens(process.pid):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert json.loads(out)["schema"] == "wirespeed/peer/1"
    assert TOKEN.encode() not in out + err


def _listens(pid: int) -> bool:
    """Whether the process holds a socket: the first it opens is the listening one."""
    try:
        return any(str(one.readlink()).startswith("socket:") for one in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_a_peer_without_token_or_terminal_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(peer.TOKEN_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(BadRequest):
        peer.run(peer.Options(listen="127.0.0.1:0"))
    with pytest.raises(BadRequest):
        peer.run(peer.Options(listen="127.0.0.1:0", token="short"))


def test_an_address_that_is_not_ours_is_said() -> None:
    with pytest.raises(CouldNot):
        peer.run(peer.Options(listen="192.0.2.1:0", token=TOKEN))


def test_ctrl_c_at_the_client_leaves_no_process() -> None:
    with responder() as (port, responder_pid):
        process = subprocess.Popen(
            [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from wirespeed.__main__ import main; main()",
             "bench", "links", f"127.0.0.1:{port}", "--only", "throughput", "--for", "20s"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT | {peer.TOKEN_VARIABLE: TOKEN},
        )  # fmt: skip
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and not children_of(process.pid):
            time.sleep(0.05)
        near = children_of(process.pid)
        assert near
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        assert process.returncode == 130
        deadline = time.monotonic() + 10
        while children_of(responder_pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not children_of(responder_pid)
        assert not any(Path(f"/proc/{pid}").exists() for pid in near)


def test_an_iperf3_server_is_a_peer_too() -> None:
    import shutil

    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    server = subprocess.Popen(["iperf3", "-s", "-p", "5299", "-B", "127.0.0.1"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        options = links.Options(iperf3="127.0.0.1:5299", for_="1s", flows_count=1)
        answer = links.run(options)
    finally:
        server.kill()
        server.wait()
    assert {type(one).__name__ for one in answer.records} == {"ThroughputRun"}
    assert "path MTU" in answer.notes[0].en
    assert "iperf3" in RENDERER.render(links.present(answer, options), "en", 120)
