"""A baseline is one run with facts and series; stopped or killed it keeps what there is; redacted it names nobody."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from benches.peers import TOKEN, responder
from wirespeed.archive import store
from wirespeed.archive.series import read_series
from wirespeed.machines.local import Local
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.facts.host import HostIdentity
from wirespeed.model.facts.path import Address
from wirespeed.model.kinds import Renderer
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.progress import Update
from wirespeed.model.series import Moved, Periodic, SeriesSummary
from wirespeed.model.source import Source
from wirespeed.report import renderers
from wirespeed.verbs import baseline
from wirespeed.verbs.baseline import NAMING_FAMILIES, Options
from wirespeed.verbs.runs import compare, list_

SOURCE = Source(tool="test", path="x")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[baseline.Answer, Path, list[Update]]:
    folder = tmp_path_factory.mktemp("runs")
    heard: list[Update] = []
    return baseline.run(Options(for_="1s", every="50ms", runs=str(folder)), heard.append), folder, heard


def test_a_baseline_is_one_run(kept: tuple[baseline.Answer, Path, list[Update]]) -> None:
    answer, folder, heard = kept
    (item,) = list_.run(list_.Options(runs=str(folder))).runs
    assert (item.name, item.made_by, item.ended, item.holds) == (
        answer.name,
        "baseline",
        "finished",
        ("facts", "series", "records"),
    )
    assert re.fullmatch(r"\d{8}T\d{6}Z-.+-[0-9a-f]{6}", answer.name)
    run = store.open_run(Path(answer.place))
    assert not run.problems
    kinds = {type(record) for record in run.records}
    assert {HostIdentity, SeriesSummary} <= kinds
    assert len(read_series(Path(answer.place))[0]) == answer.series_count > 50
    assert 0.9 < answer.duration_s < 20, "a busy machine is late, never early"
    assert [update.says.en for update in heard][:1] == ["looking at what is set up"]
    assert any(update.done_ratio for update in heard)
    assert msgspec.json.decode(msgspec.json.encode(answer))["schema"] == "wirespeed/baseline/1"


def test_it_is_presented_everywhere(kept: tuple[baseline.Answer, Path, list[Update]]) -> None:
    answer = msgspec.structs.replace(
        kept[0],
        together=(
            Moved(source=SOURCE, symptom="s", series="moved-one", coefficient_ratio=-0.8, lag_s=0.1, samples_count=9, chance_ratio=0.01),
            Periodic(source=SOURCE, series="even-one", period_s=5.0, coefficient_ratio=0.9, repeats_count=6, chance_ratio=0.0),
        ),
    )  # fmt: skip
    for name, renderer in shelf.every(renderers, Renderer).items():
        for language in ("en", "zh"):
            drawn = renderer.render(baseline.present(answer, Options()), language, 100)  # type: ignore[arg-type]
            assert all(word in drawn for word in (answer.name, "moved-one", "even-one")), name
    early = msgspec.structs.replace(answer, ended="interrupted")
    assert "stopped early" in renderers_text(early)


def renderers_text(answer: baseline.Answer) -> str:
    return shelf.take(renderers, "text", Renderer).render(baseline.present(answer, Options()), "en", 100)


def test_compared_with_itself_and_with_the_next(kept: tuple[baseline.Answer, Path, list[Update]]) -> None:
    answer, folder, _ = kept
    itself = compare.run(compare.Options(inputs=("last", answer.name), runs=str(folder)))
    assert (itself.facts, itself.figures, itself.problems) == ((), (), ())


def test_redacted_it_names_nobody(tmp_path: Path) -> None:
    answer = baseline.run(Options(for_="300ms", runs=str(tmp_path), redact=True))
    host = Local().host or ""
    place = Path(answer.place)
    assert store.open_run(place).manifest.redacted == ("secrets", "identities")
    everything = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    if len(host) > 2:
        assert host not in answer.name.split("-", 1)[1]
        assert not re.search(rb"(?<![\w-])" + re.escape(host.encode()) + rb"(?![\w-])", everything)
    series = read_series(place)[0]
    assert series and not {one.key.family for one in series} & NAMING_FAMILIES
    assert {one.host for one in series} == {answer.host}
    addresses = [one.address for one in store.open_run(place).records if isinstance(one, Address)]
    assert len(addresses) == len(set(addresses)), "one substitute for one address throughout"


@pytest.mark.parametrize("given", [{"for_": "0s"}, {"for_": "soon"}, {"every": "0"}, {"every": "2h"}, {"for_": "9000h"}])  # fmt: skip
def test_impossible_options(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(BadRequest):
        baseline.run(Options(runs=str(tmp_path / "new"), **given))
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNot):
        baseline.run(Options(for_="1s", runs=str(tmp_path / "file")))


def _started(folder: Path) -> subprocess.Popen[bytes]:
    """The command, once its recording has begun to be kept."""
    argv = [sys.executable, "-m", "wirespeed", "baseline", "--for", "60s", "--runs", str(folder)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline_s = time.monotonic() + 20
    while time.monotonic() < deadline_s and process.poll() is None:
        frames = list(folder.glob("*/series/frames.bin"))
        if frames and frames[0].stat().st_size > 10_000:
            return process
        time.sleep(0.02)
    process.kill()
    raise AssertionError(process.communicate())


def test_ctrl_c_keeps_what_there_is(tmp_path: Path) -> None:
    process = _started(tmp_path)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert b"stopped early" in out
    (item,) = list_.run(list_.Options(runs=str(tmp_path))).runs
    assert item.ended in ("stopped", "interrupted")
    run = store.open_run(tmp_path / item.name)
    assert not run.problems
    assert any(isinstance(record, SeriesSummary) for record in run.records)


def test_killed_it_has_the_facts_and_what_was_flushed(tmp_path: Path) -> None:
    process = _started(tmp_path)
    process.kill()
    process.communicate()
    (item,) = list_.run(list_.Options(runs=str(tmp_path))).runs
    assert (item.ended, item.holds) == (None, ("facts", "series", "records"))
    run = store.open_run(tmp_path / item.name)
    assert any(isinstance(record, HostIdentity) for record in run.records)
    assert len(read_series(tmp_path / item.name)[0]) > 50
    answer = compare.run(compare.Options(inputs=("last", "last"), runs=str(tmp_path)))
    assert answer.facts == () and answer.figures == ()


def test_paths_to_peers_are_measured_often_enough_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "MEASURED_FOR", "0.1s")
    with responder() as (port, _):
        given = Options(for_="300ms", runs=str(tmp_path), peers=(f"127.0.0.1:{port}",), token=TOKEN)
        answer = baseline.run(given)
    records = store.open_run(Path(answer.place)).records
    rounds = {one.test.rpartition(", ")[2] for one in records if isinstance(one, FlowRun) and one.purpose == "single"}
    assert len(rounds) == 4
    assert answer.records_counts["LatencyRun"] >= 4
    assert "measurements" in renderers_text(answer)


def test_a_peer_that_is_not_there_is_told_before_the_recording(tmp_path: Path) -> None:
    given = Options(for_="60s", runs=str(tmp_path), peers=("127.0.0.1:9",))
    with pytest.raises(BadRequest):
        baseline.run(given)
    with pytest.raises(CouldNot):
        baseline.run(msgspec.structs.replace(given, token="not the right one"))
    with pytest.raises(BadRequest):
        baseline.run(msgspec.structs.replace(given, repeats_count=0))
    assert not list(tmp_path.iterdir())
