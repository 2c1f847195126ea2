"""Captured machines answer as the live one did; a plain tree never leads out of itself."""

from pathlib import Path

import pytest

from wirespeed.machines.captured import Captured, Tree
from wirespeed.machines.local import Local
from wirespeed.machines.machine import Machine, MachineProblem, Output
from wirespeed.machines.recording import Recording
from wirespeed.model.run import Reply
from wirespeed.readers.netlink.ethtool_ioctl import SET_FEATURES, string_count_request


def reason_of(ask: object, *arguments: object) -> str:
    with pytest.raises(MachineProblem) as caught:
        ask(*arguments)  # type: ignore[operator]
    assert caught.value.why.en
    assert caught.value.why.zh
    return caught.value.reason


def test_a_recording_is_replayed_request_by_request() -> None:
    live = Recording(Local())
    asked = (
        lambda machine: machine.read("/proc/net/softnet_stat"),
        lambda machine: machine.listing("/sys/class/net"),
        lambda machine: machine.link("/proc/self/exe"),
        lambda machine: machine.run(("uname", "-r"), 5.0),
        lambda machine: machine.ioctl("lo", string_count_request(SET_FEATURES)),
        lambda machine: machine.netlink(0, b"\x20\0\0\0\x12\0\1\3\1" + bytes(23)),
        lambda machine: machine.ask("filesystem", "/"),
        lambda machine: machine.environment(),
    )
    answers = [ask(live) for ask in asked]
    replayed = Captured(live.replies, host=live.host)
    assert [ask(replayed) for ask in asked] == answers
    assert replayed.host == Local().host


def test_reasons_are_recorded_too() -> None:
    live = Recording(Local())
    assert reason_of(live.read, "/proc/nothing") == "absent"
    assert reason_of(live.ioctl, "nolink0", bytes([3]) + bytes(195)) == "absent"
    assert reason_of(live.run, ("sleep", "5"), 0.05) == "timed-out"
    replayed = Captured(live.replies)
    assert reason_of(replayed.read, "/proc/nothing") == "absent"
    assert reason_of(replayed.run, ("sleep", "5"), 0.05) == "timed-out"
    assert reason_of(replayed.read, "/never/asked") == "absent"
    assert reason_of(replayed.now) == "absent"


def test_a_directory_is_known_from_the_files_below() -> None:
    machine = Captured([Reply(kind="file", request="/sys/class/net/eth0/mtu", content=b"1500\n")])
    assert machine.listing("/sys/class/net") == ("eth0",)
    assert reason_of(machine.listing, "/sys/class/infiniband") == "absent"


def test_a_damaged_command_reply_is_a_problem() -> None:
    machine = Captured([Reply(kind="command", request="uname", content=b"{"), Reply(kind="environment", request="", content=b"[")])
    assert reason_of(machine.run, ("uname",), 1.0) == "unsupported"
    assert reason_of(machine.environment) == "unsupported"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "root/proc").mkdir(parents=True)
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "root/proc/version").write_text("Linux")
    (tmp_path / "root/absolute").symlink_to("/proc/version")
    (tmp_path / "root/climbing").symlink_to("../../secret")
    (tmp_path / "root/loop").symlink_to("loop")
    return Tree(tmp_path / "root", host="node-a")


def test_a_tree_is_read_as_the_machine_saw_it(tree: Tree) -> None:
    assert tree.read("/proc/version") == b"Linux"
    assert tree.read("/absolute") == b"Linux", "an absolute link means the copied machine's root"
    assert tree.link("/absolute") == "/proc/version"
    assert "proc" in tree.listing("/")


@pytest.mark.parametrize("path", ["/../secret", "/climbing", "/loop", "/proc", "/nothing"])
def test_a_tree_never_leads_out(tree: Tree, path: str) -> None:
    assert reason_of(tree.read, path) == "absent"


def test_a_tree_answers_nothing_else(tree: Tree) -> None:
    for ask, arguments in (
        (tree.run, (("ls",), 1.0)),
        (tree.ioctl, ("lo", b"")),
        (tree.netlink, (0, b"")),
        (tree.ask, ("gpus",)),
        (tree.now, ()),
    ):
        assert reason_of(ask, *arguments) == "absent"


def test_they_are_all_machines(tree: Tree) -> None:
    machines: tuple[Machine, ...] = (tree, Local(), Captured([]), Recording(Local()))
    assert len(machines) == 4
    assert Local().run(("true",), 5.0) == Output(exit_code=0, stdout=b"")
