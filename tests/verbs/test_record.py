"""`wirespeed record`: what it answers, what it keeps, and what is left when it is killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from wirespeed.archive.series import FRAMES_NAME, PARQUET_NAME, read_series
from wirespeed.archive.store import list_runs, open_run
from wirespeed.model.document import Document
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.progress import Update
from wirespeed.model.series import RecordingCost, SeriesSummary
from wirespeed.verbs import record

FAST = ("links", "protocols", "softnet")


def test_an_answer_without_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = record.Options(for_="300ms", every="50ms", only=FAST)
    answer = record.run(options)
    assert (answer.ended, answer.saved) == ("finished", None)
    assert set(answer.periods_s) == set(FAST)
    assert any(isinstance(one, RecordingCost) for one in answer.records)
    assert b"NaN" not in msgspec.json.encode(answer)
    document = record.present(answer, options)
    assert isinstance(document, Document)
    assert not list(tmp_path.iterdir())


def test_a_kept_recording_is_a_run(tmp_path: Path) -> None:
    place = tmp_path / "run"
    answer = record.run(record.Options(for_="300ms", every="50ms", only=FAST, save=str(place)))
    kept = open_run(place)
    assert not kept.problems
    assert kept.manifest.recording is not None
    assert kept.manifest.recording.ended == "finished"
    assert kept.manifest.recording.duration_s == pytest.approx(0.3, abs=0.2)
    assert [one for one in kept.records if not isinstance(one, record.Problem)] == list(answer.records)
    series, problems = read_series(place)
    assert not problems
    assert {one.key.family for one in series} == set(FAST)
    assert (place / "series" / PARQUET_NAME).exists()
    assert not (place / "series" / FRAMES_NAME).exists()
    with pytest.raises(CouldNot):
        record.run(record.Options(for_="300ms", save=str(place)))


def test_the_live_picture(tmp_path: Path) -> None:
    told: list[Update] = []
    record.run(record.Options(for_="1100ms", every="50ms", only=(*FAST, "cpu")), told.append)
    assert told
    assert told[-1].view is not None
    assert 0.4 < (told[-1].done_ratio or 0) <= 1.0


@pytest.mark.parametrize("wrong", [{"for_": "soon"}, {"every": "10 parsecs"}, {"every": "0s"}, {"for_": "-3s"}, {"for_": "8d"}])
def test_wrong_times_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(BadRequest):
        record.run(record.Options(**wrong))


def _started(place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wirespeed", "record", "--for", "60s", "--every", "20ms", "--save", str(place), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    frames = place / "series" / FRAMES_NAME
    deadline_s = time.monotonic() + 20
    while not (frames.exists() and frames.stat().st_size > 2000):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s, "nothing was flushed"
        time.sleep(0.05)
    return process


def test_killed_with_9_what_was_flushed_is_a_run(tmp_path: Path) -> None:
    place = tmp_path / "run"
    process = _started(place)
    time.sleep(0.8)
    process.kill()
    process.communicate()
    kept = open_run(place)
    assert ["never ended" in problem.why.en for problem in kept.problems] == [True]
    assert list_runs(tmp_path) == (place,)
    series, _ = read_series(place)
    links = [one for one in series if one.key.family == "links"]
    assert links
    assert max(float(one.t_s[-1]) for one in links) > 0.4


def test_ctrl_c_ends_it_with_a_summary(tmp_path: Path) -> None:
    place = tmp_path / "run"
    process = _started(place, "--format", "json")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    answer = msgspec.json.decode(out)
    assert (answer["ended"], answer["schema"]) == ("interrupted", "wirespeed/record/1")
    kept = open_run(place)
    assert not kept.problems
    assert kept.manifest.recording is not None
    assert kept.manifest.recording.ended == "stopped"
    assert any(isinstance(one, SeriesSummary) for one in kept.records)
