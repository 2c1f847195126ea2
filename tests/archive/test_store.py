"""A run is written once and whole, and opened as far as possible."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from wirespeed.archive import casefile, store
from wirespeed.archive.store import Run
from wirespeed.model import record_lines as records
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Counter
from wirespeed.model.run import Manifest, RecordingNote, Reply
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text, same

SOURCE = Source(tool="test", path="/proc/x", host="node-a")
RECORDS = (
    Sysctl(source=SOURCE, quotes=(Quote(source="/proc/x", line_index=0, text="1"),), name="net.core.somaxconn", setting="4096"),
    Counter(source=SOURCE, scope="eth0", name="rx_bytes", value_count=2**63, missing={"canonical": "absent"}),
    Problem(source=SOURCE, why=Text(en="no", zh="无"), reason="denied"),
)
REPLIES = (
    Reply(kind="file", request="/proc/net/snmp", content=b"Tcp: 1\n"),
    Reply(kind="file", request="/proc/net", content=b"a file where a directory is"),
    Reply(kind="file", request="/sys/odd name/..%2f/\xe9", content=b"\0\xff"),
    Reply(kind="file", request="/" + "long" * 100, content=b"x"),
    Reply(kind="netlink", request="0 ff", content=bytes(range(256))),
    Reply(kind="link", request="/sys/a", content=b"../b"),
    Reply(kind="file", request="/root/secret", reason="denied", why=same("no")),
    Reply(kind="environment", request="", content=b"{}"),
)
RUN = Run(manifest=Manifest(wirespeed_version="0", host="node-a", started_at_s=1.5), replies=REPLIES, records=RECORDS)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    store.write_run(RUN, tmp_path / "run")
    again = store.open_run(tmp_path / "run")
    assert again.replies == REPLIES
    assert again.records == RECORDS
    assert not again.problems
    assert (again.manifest.host, again.manifest.started_at_s, again.manifest.schema) == ("node-a", 1.5, "wirespeed/run/1")
    assert (tmp_path / "run/raw/files/proc/net/snmp").read_bytes() == b"Tcp: 1\n"
    assert store.list_runs(tmp_path) == (tmp_path / "run",)


def test_a_case_file_comes_back_as_it_was(tmp_path: Path) -> None:
    casefile.write_case(RUN, tmp_path / "case.json")
    again = casefile.open_case(tmp_path / "case.json")
    assert (again.replies, again.records, again.problems) == (REPLIES, RECORDS, ())
    with pytest.raises(FileExistsError):
        casefile.write_case(RUN, tmp_path / "case.json")


def test_a_run_is_written_once(tmp_path: Path) -> None:
    store.write_run(RUN, tmp_path / "run")
    with pytest.raises(FileExistsError):
        store.write_run(RUN, tmp_path / "run")
    (tmp_path / "empty").mkdir()
    store.write_run(RUN, tmp_path / "empty")


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    hostile = (
        Reply(kind="file", request="/../../../tmp/outside", content=b"x"),
        Reply(kind="file", request="/./a/..", content=b"y"),
    )
    store.write_run(Run(manifest=Manifest(), replies=hostile), tmp_path / "deep/run")
    assert {path.name for path in tmp_path.iterdir()} == {"deep"}
    assert store.open_run(tmp_path / "deep/run").replies == hostile


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "files/../../../secret", "link", "files", ""])
def test_nothing_is_read_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("outside")
    store.write_run(Run(manifest=Manifest(), replies=(Reply(kind="file", request="/a", content=b"x"),)), tmp_path / "run")
    (tmp_path / "run/raw/link").symlink_to(tmp_path / "secret")
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(manifest.read_text().replace('"files/a"', f'"{name}"'))
    again = store.open_run(tmp_path / "run")
    assert again.replies[0].content is None
    assert again.replies[0].reason == "absent"
    assert len(again.problems) == 1


def test_a_newer_run_opens_as_far_as_it_is_understood(tmp_path: Path) -> None:
    store.write_run(RUN, tmp_path / "run")
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(
        manifest.read_text().replace("wirespeed/run/1", "wirespeed/run/7").replace('"clock"', '"phase": 3, "clock"')
    )
    with (tmp_path / "run/records.jsonl").open("ab") as file:
        file.write(b'{"kind": "QuantumLink", "qubits_count": 3}\nnot json\n')
    again = store.open_run(tmp_path / "run")
    assert again.replies == REPLIES
    assert again.records[:3] == RECORDS
    assert "wirespeed/run/7" in again.problems[0].why.en
    assert [item.line_index for item in again.records[3:] if isinstance(item, Problem)] == [3, 4]


def test_a_damaged_run_opens_as_far_as_possible(tmp_path: Path) -> None:
    store.write_run(RUN, tmp_path / "run")
    (tmp_path / "run/raw/files/proc/net/snmp").unlink()
    again = store.open_run(tmp_path / "run")
    assert (again.replies[0].content, len(again.problems)) == (None, 1)
    (tmp_path / "run/manifest.json").write_text("{")
    again = store.open_run(tmp_path / "run")
    assert any(reply.request.startswith("/sys/odd name") for reply in again.replies), "names alone still say what the files are"
    assert store.open_run(tmp_path / "nothing").problems


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": "wirespeed/case/1"}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_case_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "case.json").write_bytes(content)
    assert len(casefile.open_case(tmp_path / "case.json").problems) == 1


def test_every_record_type_of_the_model_is_known() -> None:
    names = [kind.__name__ for kind in records.record_types()]
    assert {"Link", "CollectiveRun", "Statement", "KernelEvent"} <= set(names)
    assert len(names) == len(set(names)), "a kind is told by its name"


def test_a_killed_process_leaves_no_half_run(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        from pathlib import Path
        from wirespeed.archive import store
        from wirespeed.model.run import Manifest, RecordingNote, Reply
        replies = tuple(Reply(kind="file", request=f"/proc/{{number}}", content=b"x" * 1000) for number in range(3000))
        print("writing", flush=True)
        store.write_run(store.Run(manifest=Manifest(), replies=replies), Path({str(tmp_path)!r}) / "run")
    """)
    for delay_s in (0.0, 0.02, 0.1, 0.2):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay_s)
            os.kill(process.pid, signal.SIGKILL)
        runs = store.list_runs(tmp_path)
        assert all(len(store.open_run(run).replies) == 3000 for run in runs)
        assert (tmp_path / "run").exists() == bool(runs)
        if runs:
            break


@pytest.mark.parametrize("name", ["run", "case.json"])
def test_drafts_of_dead_processes_go_and_others_stay(tmp_path: Path, name: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    abandoned = tmp_path / f".{name}.{dead.pid}.part"
    living = tmp_path / f".{name}.{os.getppid()}.part"
    others = [tmp_path / f".other.{dead.pid}.part", tmp_path / f".{name}.x.part", tmp_path / f"{name}.{dead.pid}.part"]
    for folder in (abandoned, living, *others):
        (folder / "raw").mkdir(parents=True)
    (casefile.write_case if name.endswith(".json") else store.write_run)(RUN, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name, living.name, *(path.name for path in others)}


def test_a_terminated_process_leaves_no_draft(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import signal, sys, time
        from pathlib import Path
        from wirespeed.archive.drafts import draft_of
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as the command does
        with draft_of(Path({str(tmp_path)!r}) / "run") as draft:
            draft.mkdir()
            print("writing", flush=True)
            time.sleep(30)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert list(tmp_path.iterdir())
        process.terminate()
    assert process.returncode == 143
    assert not list(tmp_path.iterdir())


def test_a_target_is_checked_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for check in (casefile.check_target, store.check_target):
        check(tmp_path / "new/deeper/place")
        assert not (tmp_path / "new").exists(), "checking creates nothing"
        for taken in (file, tmp_path / "dangling", tmp_path):
            with pytest.raises(FileExistsError):
                check(taken)
        with pytest.raises(NotADirectoryError):
            check(file / "below")
    (tmp_path / "empty").mkdir()
    store.check_target(tmp_path / "empty")
    with pytest.raises(FileExistsError):
        casefile.check_target(tmp_path / "empty")


def test_a_run_that_was_begun_opens_at_any_moment(tmp_path: Path) -> None:
    place = tmp_path / "run"
    manifest = Manifest(host="node-a", recording=RecordingNote(every_s=0.1))
    store.begin_run(manifest, place)
    opened = store.open_run(place)
    assert opened.manifest.host == "node-a"
    assert ["never ended" in problem.why.en for problem in opened.problems] == [True]
    with pytest.raises(FileExistsError):
        store.begin_run(manifest, place)
    ended = Manifest(host="node-a", recording=RecordingNote(every_s=0.1, ended="finished", duration_s=3.0))
    store.end_run(Run(manifest=ended, replies=REPLIES, records=RECORDS), place)
    opened = store.open_run(place)
    assert not opened.problems
    assert opened.records == RECORDS
    assert opened.replies == REPLIES
    assert opened.manifest.recording == ended.recording
