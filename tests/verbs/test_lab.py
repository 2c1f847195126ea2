"""The verbs of the lab, as a user types them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wirespeed.emulation import lab as labs
from wirespeed.emulation.state import DEFAULT_NAME
from wirespeed.model.errors import BadRequest
from wirespeed.verbs.lab import break_, down, faults, heal, status, traffic, up


def _wirespeed(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    argv = (sys.executable, "-m", "wirespeed", "lab", *words)
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def _answer(*words: str) -> Any:
    done = _wirespeed(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_program_has_its_input_output_and_exit_code(lab: labs.Lab, tmp_path: Path) -> None:
    done = _wirespeed("run", "h2", "--", "sh", "-c", "cat; hostname; echo woe >&2; exit 7", stdin="hello\n")
    assert (done.stdout, done.stderr, done.returncode) == ("hello\nh2\n", "woe\n", 7)
    assert _wirespeed("run", "h2", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    argv = (sys.executable, "-m", "wirespeed", "lab", "run", "leaf1", "pwd")
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False).stdout == f"{tmp_path}\n"


def test_an_interrupt_is_the_programs_own(lab: labs.Lab) -> None:
    argv = (sys.executable, "-m", "wirespeed", "lab", "run", "h1", "--", "ping", "-i", "0.05", "h2")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        assert program.stdout is not None
        program.stdout.readline()
        assert "icmp_seq=1" in program.stdout.readline()
        os.killpg(program.pid, signal.SIGINT)  # as the terminal does
        assert " packets transmitted" in program.stdout.read()
    assert program.returncode == 0


def test_killing_it_ends_the_program(lab: labs.Lab) -> None:
    argv = (sys.executable, "-m", "wirespeed", "lab", "run", "h1", "--", "sh", "-c", "echo here; exec sleep 3218")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "here\n"
        program.kill()
        program.stdout.read()  # ends when nobody holds the pipe any more


def test_running_what_or_where_there_is_nothing(lab: labs.Lab) -> None:
    unknown = _wirespeed("run", "h9", "--", "true")
    assert unknown.returncode == 2 and "h1, h2, h3, h4, leaf1, leaf2, spine1, spine2" in unknown.stderr
    assert _wirespeed("run", "h1").returncode == 2
    assert _wirespeed("run", "h1", "--", "no-such-program").returncode == 127
    assert _wirespeed("run", "--name", "none", "h1", "--", "true").returncode == 3


def test_break_status_heal(lab: labs.Lab) -> None:
    broken = _answer("break", "mtu_mismatch", "--on", "h1", "--seed", "3")
    assert (broken["fault"], broken["where"], broken["seed_number"]) == ("mtu_mismatch", "h1", 3)
    (shown,) = status.run(status.Options()).labs
    assert [(one.fault, one.details) for one in shown.faults] == [("mtu_mismatch", {})]
    (shown,) = status.run(status.Options(tell=True)).labs
    assert shown.faults[0].details == broken["details"]
    again = _wirespeed("break", "rate_cap")
    assert again.returncode == 3 and "wirespeed lab heal" in again.stderr
    assert _answer("heal")["healed"] == ["mtu_mismatch"]
    assert _answer("heal")["healed"] == []


def test_a_puzzle_does_not_tell(lab: labs.Lab) -> None:
    told = _wirespeed("break", "mtu_mismatch", "--quiet", "--lang", "en")
    assert told.returncode == 0
    assert "mtu" not in told.stdout.lower() and "h1" not in told.stdout
    heal.run(heal.Options())


def test_the_list_of_faults_has_its_contract(lab: labs.Lab) -> None:
    listed = _answer("faults")["faults"]
    assert len(listed) >= 26
    assert all({"fault", "cause", "rule", "needs", "available", "lacking"} <= set(one) for one in listed)
    assert all(one["available"] == (not one["lacking"]) for one in listed)
    assert {one.fault for one in faults.run(faults.Options(available=True)).faults} == {
        one["fault"] for one in listed if one["available"]
    }


def test_traffic_shows_in_the_status(lab: labs.Lab) -> None:
    traffic.run(traffic.Options(kind="serving"))
    assert status.run(status.Options()).labs[0].traffic == "serving"
    traffic.run(traffic.Options(kind="idle"))
    assert status.run(status.Options()).labs[0].traffic is None


def test_long_links_are_long(lab: labs.Lab) -> None:
    """One host's link each way: four crossings for a round trip between two hosts."""
    made = up.run(up.Options(leaves_count=1, spines_count=1, hosts_count=2, name="far", delay="4ms", loss="1%"))
    try:
        assert [node.name for node in made.nodes] == ["h1", "h2", "leaf1", "spine1"]
        said = _wirespeed("run", "--name", "far", "h1", "--", "ping", "-q", "-c", "12", "-i", "0.02", "h2").stdout
        fastest_ms = float(said.split("= ")[1].split("/")[0])
        assert 15.5 < fastest_ms < 22
    finally:
        assert down.run(down.Options(name="far")).ended == ("far",)


@pytest.mark.parametrize(
    "options",
    [
        up.Options(leaves_count=0),
        up.Options(spines_count=9),
        up.Options(hosts_count=1),
        up.Options(leaves_count=3, hosts_count=2),
        up.Options(host_rate="fast"),
        up.Options(host_rate="200"),
        up.Options(host_rate="1b/s"),
        up.Options(delay="2s"),
        up.Options(loss="100%"),
        up.Options(loss="1"),
        up.Options(for_="0s"),
        up.Options(name="../x"),
    ],
)
def test_what_makes_no_sense_is_refused(runtime_directory: Path, options: up.Options) -> None:
    with pytest.raises(BadRequest):
        up.run(options)


def test_every_answer_can_be_shown(lab: labs.Lab) -> None:
    shown = [
        (up, up.Options(), up.Answer(
            name=DEFAULT_NAME, directory="/run/x", nodes=status.run(status.Options()).labs[0].nodes,
            host_rate_bits_per_s=2e8, uplink_rate_bits_per_s=4e8, is_in_user_namespace=False, duration_s=1.0,
        )),
        (status, status.Options(), status.run(status.Options())),
        (faults, faults.Options(), faults.run(faults.Options())),
        (break_, break_.Options(fault="distance"), break_.Answer(fault="distance", where="h1", seed_number=1, details={"delay": "5 ms"})),
        (heal, heal.Options(), heal.Answer(healed=("distance",))),
        (traffic, traffic.Options(kind="idle"), traffic.Answer(kind="idle")),
        (down, down.Options(), down.Answer(ended=())),
    ]  # fmt: skip
    for verb, options, answer in shown:
        document = verb.present(answer, options)
        assert document.blocks and all(block for block in document.blocks)
