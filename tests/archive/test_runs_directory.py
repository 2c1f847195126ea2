"""Where runs are kept, what they are called, and which run a name means."""

from pathlib import Path

import pytest

from wirespeed.archive import store
from wirespeed.archive.runs_directory import Ambiguous, find_run, head_of, run_name, runs_directory, size_of
from wirespeed.archive.store import Run
from wirespeed.model.run import Manifest, Reply

NAMES = ("20260101T000000Z-a-000001", "20260102T000000Z-a-000002", "20260102T000000Z-b-000003")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(NAMES):
        manifest = Manifest(host=name.split("-")[1], started_at_s=float(number), made_by="baseline")
        store.write_run(Run(manifest=manifest, replies=(Reply(kind="file", request="/a", content=b"x" * 1000),)), tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"WIRESPEED_RUNS": "/data/runs", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/data/runs"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/wirespeed/runs"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/wirespeed/runs"),
        ({"WIRESPEED_RUNS": "", "HOME": "/h"}, "/h/.local/share/wirespeed/runs"),
    ],
)
def test_the_usual_place(environment: dict[str, str], place: str) -> None:
    assert runs_directory(environment) == Path(place)


def test_names_sort_by_time_and_are_safe() -> None:
    early, late = run_name(1e9, "node-a", b""), run_name(1e9 + 1, "node-a", b"")
    assert early.startswith("20010909T014640Z-node-a-") and early < late
    assert run_name(1e9, "../../etc", b"").count("/") == 0
    assert run_name(1e9, None, b"").split("-")[1] == "host"
    assert run_name(1e9, "网", b"") and run_name(1e9, "a" * 500, b"").__len__() < 120
    assert run_name(1e9, "a", b"1") != run_name(1e9, "a", b"2"), "two runs of one second"


def test_what_a_name_means(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [folder / name for name in NAMES]
    assert find_run("last", folder) == runs[2]
    assert find_run("last~1", folder) == runs[1]
    assert find_run("20260101", folder) == runs[0]
    assert find_run(NAMES[1], folder) == runs[1]
    assert find_run(str(runs[0]), folder / "elsewhere") == runs[0]
    with pytest.raises(Ambiguous) as trouble:
        find_run("20260102", folder)
    assert trouble.value.args == NAMES[1:]
    for wrong in ("last~3", "2027", "", "last~", "nothing/here", "last~99999999999"):
        with pytest.raises(LookupError):
            find_run(wrong, folder)
    monkeypatch.chdir(folder)
    (folder / "case.json").write_text("{}")
    assert find_run("case.json", folder / "elsewhere") == Path("case.json")
    with pytest.raises(LookupError):
        find_run("last", folder / "elsewhere")


def test_a_head_is_read_without_what_was_asked(folder: Path) -> None:
    head = head_of(folder / NAMES[0])
    assert head is not None
    assert (head.host, head.made_by, head.started_at_s, head.schema) == ("a", "baseline", 0.0, "wirespeed/run/1")
    manifest = folder / NAMES[0] / "manifest.json"
    manifest.write_text(
        manifest.read_text().replace("wirespeed/run/1", "wirespeed/run/9").replace('"clock"', '"phase": [], "clock"')
    )
    assert head_of(folder / NAMES[0]) is not None, "a newer one is read as far as it is understood"
    manifest.write_text("{")
    assert head_of(folder / NAMES[0]) is None
    assert head_of(folder) is None


def test_sizes(folder: Path) -> None:
    assert (size_of(folder / NAMES[0]) or 0) > 1000
    assert size_of(folder / "nothing") is None
    (folder / NAMES[0] / "loop").symlink_to(folder / NAMES[0])
    assert size_of(folder / NAMES[0]) is not None
