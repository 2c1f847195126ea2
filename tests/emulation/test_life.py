"""A lab comes up, can be used, and leaves nothing behind, however it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.emulation import control, founding
from wirespeed.emulation import lab as labs
from wirespeed.emulation.state import read_state, root_directory
from wirespeed.emulation.topology import Spec
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.verbs.lab.up import KEEPER_MODULE

ROOT = Path(__file__).parents[2]
SMALL = Spec(leaves_count=1, spines_count=1, hosts_count=2)
UP_COMMAND = (sys.executable, "-m", "wirespeed", "lab", "up", "--leaves", "1", "--spines", "1", "--hosts", "2", "--name", "other")


def _run(lab: labs.Lab, node: str, *command: str) -> subprocess.CompletedProcess[str]:
    argv = (*lab.enter_argv(lab.node(node)), *command)
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)


def _our_processes() -> set[str]:
    """Processes started from here, wherever they are now: they carry the directory that these tests keep their labs in."""
    mark, found = str(root_directory().parent).encode(), set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (place / "environ").read_bytes():
                found.add(place.name)
    return found


def _named_namespaces() -> list[str]:
    """Namespaces that something other than a process keeps."""
    return [line for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines() if " - nsfs " in line]


def _wait(condition: object, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def residue(lab: labs.Lab) -> Iterator[None]:
    """Whatever the test does with a second lab, nothing of it may be left: processes (and so namespaces), devices, directory."""
    processes, spaces = _our_processes(), _named_namespaces()
    here = subprocess.run(["ip", "-d", "link"], capture_output=True, check=False).stdout
    yield
    assert _wait(lambda: _our_processes() <= processes and _named_namespaces() == spaces, 10.0)
    assert _wait(lambda: not (root_directory() / "lab-other").exists() or read_state(root_directory() / "lab-other") is None)
    assert subprocess.run(["ip", "-d", "link"], capture_output=True, check=False).stdout == here


def test_hosts_know_themselves_and_each_other(lab: labs.Lab) -> None:
    assert _run(lab, "h2", "hostname").stdout == "h2\n"
    assert _run(lab, "h2", "getent", "hosts", "h4").stdout.split() == ["10.2.0.2", "h4"]
    assert sorted(_run(lab, "h2", "ls", "/sys/class/net").stdout.split()) == ["docker0", "eth0", "lo"]


def test_the_way_across_has_three_routers(lab: labs.Lab) -> None:
    near, far = _run(lab, "h1", "ping", "-c1", "-W2", "h2"), _run(lab, "h1", "ping", "-c1", "-W2", "h3")
    assert "ttl=64" in near.stdout
    assert "ttl=61" in far.stdout


def test_both_uplinks_are_used(lab: labs.Lab) -> None:
    """The router's hash takes the ports into account, and says beforehand which way a flow goes."""
    asked = ("ip", "route", "get", "10.2.0.1", "from", "10.1.0.1", "iif", "br0", "ipproto", "tcp", "dport", "5001", "sport")
    ways = {_run(lab, "leaf1", *asked, str(port)).stdout.split(" dev ")[1].split()[0] for port in range(40000, 40016)}
    assert ways == {"spine1", "spine2"}


def test_a_link_has_its_rate(lab: labs.Lab) -> None:
    """191.3 of 200 Mbit/s is payload (lab-signatures: baseline); on a busy machine less arrives, never more."""
    code = (
        "import socket,sys,time,threading\n"
        "s=socket.create_connection(('h3',5011));b=bytes(65536);e=time.monotonic()+0.7\n"
        "while time.monotonic()<e: s.send(b)\n"
    )
    sink = (
        "import socket,time\n"
        "l=socket.create_server(('',5011));print('ready',flush=True);c,_=l.accept();n=0;b=bytearray(1<<18)\n"
        "t=None\n"
        "while True:\n"
        "  k=c.recv_into(b)\n"
        "  if not k: break\n"
        "  t=t or time.monotonic(); n+=k\n"
        "print(n*8/(time.monotonic()-t))\n"
    )
    receiver = subprocess.Popen((*lab.enter_argv(lab.node("h3")), sys.executable, "-c", sink), stdout=subprocess.PIPE, text=True)
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "ready\n"
    assert _run(lab, "h1", sys.executable, "-c", code).returncode == 0
    rate = float(receiver.stdout.read())
    receiver.wait(5)
    assert 60e6 < rate < 206e6


def test_killing_what_entered_kills_the_command(lab: labs.Lab) -> None:
    program = subprocess.Popen((*lab.enter_argv(lab.node("h1")), "sleep", "3217"))
    assert _wait(lambda: "sleep 3217" in _run(lab, "h1", "ps", "ax", "-o", "args").stdout)
    program.kill()
    program.wait()
    assert _wait(lambda: "sleep 3217" not in _run(lab, "h1", "ps", "ax", "-o", "args").stdout)


def test_an_agent_is_reached_at_its_socket_which_is_private(lab: labs.Lab) -> None:
    assert Path(lab.node("h1").socket_path).stat().st_mode & 0o077 == 0
    with lab.connect(lab.node("h1")) as connection:
        assert connection.fileno() > 0


def test_orders_are_carried_out_inside(lab: labs.Lab) -> None:
    assert lab.order("h3", control.Run(argv=("hostname",))).output == "h3\n"
    before = lab.order("h3", control.Read(path="/proc/sys/net/ipv4/tcp_mtu_probing")).output
    lab.order("h3", control.Write(path="/proc/sys/net/ipv4/tcp_mtu_probing", text="2"))
    assert lab.order("h3", control.Read(path="/proc/sys/net/ipv4/tcp_mtu_probing")).output == "2\n"
    assert lab.order("h1", control.Read(path="/proc/sys/net/ipv4/tcp_mtu_probing")).output == before
    lab.order("h3", control.Write(path="/proc/sys/net/ipv4/tcp_mtu_probing", text=before))
    with pytest.raises(CouldNot, match="No such file"):
        lab.order("h3", control.Read(path="/nowhere"))


def test_a_second_lab_of_the_same_name_is_refused(lab: labs.Lab) -> None:
    with pytest.raises(CouldNot, match="up already"):
        founding.up(SMALL, KEEPER_MODULE)


@pytest.mark.parametrize("name", ["../../x", "", "a/b", "A", "x" * 33, "-x", "a b"])
def test_names_that_are_none(runtime_directory: Path, name: str) -> None:
    with pytest.raises(BadRequest):
        founding.up(SMALL, KEEPER_MODULE, name=name)
    with pytest.raises(BadRequest):
        labs.open_lab(name)


def test_unknown_nodes_are_answered_with_the_known(lab: labs.Lab) -> None:
    with pytest.raises(BadRequest, match="h1, h2, h3, h4, leaf1"):
        lab.node("h9")


def test_down_leaves_nothing_and_may_be_said_twice(lab: labs.Lab, residue: None) -> None:
    founding.up(SMALL, KEEPER_MODULE, name="other")
    assert labs.down("other") is True
    assert labs.down("other") is False
    assert not (root_directory() / "lab-other").exists()


def test_the_guard_killed(lab: labs.Lab, residue: None) -> None:
    made = founding.up(SMALL, KEEPER_MODULE, name="other")
    os.kill(made.state.guard.pid, signal.SIGKILL)
    assert _wait(lambda: not Path(f"/proc/{made.node('h1').pid}/ns/net").exists())
    with pytest.raises(CouldNot, match="no lab called other"):
        labs.open_lab("other")
    founding.up(SMALL, KEEPER_MODULE, name="other")  # what the dead one left is no obstacle
    labs.down("other")


def test_any_process_of_the_lab_killed(lab: labs.Lab, residue: None) -> None:
    made = founding.up(SMALL, KEEPER_MODULE, name="other")
    os.kill(made.node("spine1").pid, signal.SIGKILL)
    assert _wait(lambda: not made.directory.exists())


@pytest.mark.parametrize("after_s", [0.15, 0.3, 0.45])
def test_up_killed_midway(lab: labs.Lab, residue: None, after_s: float) -> None:
    program = subprocess.Popen(UP_COMMAND, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(after_s)
    program.kill()
    program.wait()
    labs.down("other")


def test_up_interrupted(lab: labs.Lab, residue: None) -> None:
    program = subprocess.Popen(UP_COMMAND, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(0.3)
    program.send_signal(signal.SIGINT)
    program.wait(10)
    labs.down("other")


def test_two_at_once(lab: labs.Lab, residue: None) -> None:
    outcomes: list[object] = []

    def make() -> None:
        try:
            outcomes.append(founding.up(SMALL, KEEPER_MODULE, name="other"))
        except CouldNot as error:
            outcomes.append(error)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(one).__name__ for one in outcomes) == ["CouldNot", "Lab"]
    labs.down("other")


def test_a_lab_ends_by_itself(lab: labs.Lab, residue: None) -> None:
    made = founding.up(SMALL, KEEPER_MODULE, name="other", lifetime_s=1.0)
    assert _wait(lambda: not made.directory.exists(), 5.0)


def test_a_place_of_somebody_else_is_not_used(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wirespeed").mkdir(mode=0o755)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(CouldNot, match="not a private directory"):
        founding.up(SMALL, KEEPER_MODULE)


def test_a_place_that_cannot_be_written(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/proc/self")
    with pytest.raises(CouldNot, match="cannot be made"):
        founding.up(SMALL, KEEPER_MODULE)


def test_a_missing_program_is_named(lab: labs.Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CouldNot, match="install the package iproute2"):
        founding.up(SMALL, KEEPER_MODULE, name="other")


def test_without_privileges_a_user_namespace_does(lab: labs.Lab, residue: None) -> None:
    """A root without capabilities is as powerless as anybody (but for mapping user 0, see user_namespaces(7))."""
    drop = ("setpriv", "--inh-caps=-all", "--bounding-set=-all,+setfcap", "--")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    if os.geteuid() != 0 or subprocess.run((*drop, "unshare", "-Urn", "true"), capture_output=True, check=False).returncode:
        pytest.skip("capabilities cannot be dropped here, or the kernel forbids user namespaces")
    made = subprocess.run((*drop, *UP_COMMAND), capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert made.returncode == 0, made.stderr
    command = (
        *drop,
        sys.executable,
        "-m",
        "wirespeed",
        "lab",
        "run",
        "--name",
        "other",
        "h1",
        "--",
        "sh",
        "-c",
        "ping -c1 -W2 h2; exit 5",
    )
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert (done.returncode, "ttl=64" in done.stdout) == (5, True), done.stderr
    assert labs.down("other") is True
