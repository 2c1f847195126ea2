"""The verbs on runs: list, show, compare, export; whole, damaged and hostile runs."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from wirespeed.archive import casefile, store
from wirespeed.archive.series import read_series, write_parquet
from wirespeed.archive.store import Run
from wirespeed.model import shelf
from wirespeed.model.document import Difference
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Link
from wirespeed.model.kinds import Renderer
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.samples import Key, Series
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import same
from wirespeed.report import renderers
from wirespeed.verbs.runs import compare, export, list_, show

SOURCE = Source(tool="test", path="/x", host="node-a")
SECRET = "hunter2-correct-horse"
Maker = Callable[..., str]


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    """Make a run with facts, series and a measurement; gives its name."""

    def make(
        name: str, *, mtu: int = 9000, retransmits: float = 0.0, host: str = "node-a", seed: int = 1, **manifest: object
    ) -> str:
        rng = np.random.default_rng(seed)
        place = tmp_path / name
        records = (
            Link(source=SOURCE, name="eth0", mtu_bytes=mtu),
            Sysctl(source=SOURCE, name="net.core.somaxconn", setting="4096"),
            FlowRun(source=SOURCE, sender="a", receiver="b", address="x", port=1, source_port=2, test="1", duration_s=1.0,
                    received_bytes=10, goodput_bytes_per_s=1e9 + seed),
            Problem(source=SOURCE, why=same("no GPU"), reason="absent"),
        )  # fmt: skip
        replies = (Reply(kind="file", request="/etc/x", content=f"password={SECRET}\n".encode()),)
        given = {"host": host, "started_at_s": 1.7e9 + seed, "made_by": "baseline", **manifest}
        store.write_run(Run(manifest=Manifest(**given), replies=replies, records=records), place)  # type: ignore[arg-type]
        (place / "series").mkdir()
        write_parquet(_series(rng, retransmits), place / "series" / "series.parquet")
        return name

    return make


def _series(rng: np.random.Generator, retransmits: float) -> list[Series]:
    t_s = np.arange(301) * 0.1
    rates = {("protocols", "Tcp", "RetransSegs", "packets"): retransmits, ("links", "eth0", "rx_bytes", "bytes"): 1e6}
    return [
        Series(host="node-a", key=Key(*key), t_s=t_s, value=np.concatenate(([0.0], np.cumsum(rng.poisson(rate * 0.1, 300)))))
        for key, rate in rates.items()
    ]


def everything_drawn(verb: object, answer: object, options: object) -> dict[str, str]:
    document = verb.present(answer, options)  # type: ignore[attr-defined]
    return {
        f"{name}-{language}": renderer.render(document, language, 110)  # type: ignore[arg-type]
        for name, renderer in shelf.every(renderers, Renderer).items()
        for language in ("en", "zh")
    }


def test_a_list_is_newest_first_and_bounded(tmp_path: Path, made: Maker) -> None:
    empty = list_.run(list_.Options(runs=str(tmp_path / "none")))
    assert (empty.total_count, empty.runs) == (0, ())
    names = [made(f"2026010{day}T000000Z-node-a-00000{day}") for day in (1, 2, 3)]
    (tmp_path / "notes.txt").write_text("no run")
    (tmp_path / ".x.1.part").mkdir()
    answer = list_.run(list_.Options(runs=str(tmp_path), most_count=2))
    assert [one.name for one in answer.runs] == names[:0:-1]
    assert answer.total_count == 3
    first = answer.runs[0]
    assert (first.host, first.made_by, first.holds) == ("node-a", "baseline", ("facts", "series", "records"))
    assert (first.size_bytes or 0) > 1000
    assert all(names[2] in drawn for drawn in everything_drawn(list_, answer, list_.Options()).values())
    with pytest.raises(BadRequest):
        list_.run(list_.Options(runs=str(tmp_path), most_count=-1))


def test_a_damaged_run_is_listed_as_such(tmp_path: Path, made: Maker) -> None:
    name = made("a")
    (tmp_path / name / "manifest.json").write_bytes(b"\0{")
    (item,) = list_.run(list_.Options(runs=str(tmp_path))).runs
    assert not item.is_readable
    assert "unreadable" in everything_drawn(list_, list_.run(list_.Options(runs=str(tmp_path))), list_.Options())["text-en"]


def test_the_place_comes_from_the_environment(tmp_path: Path, made: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    made("a")
    monkeypatch.setenv("WIRESPEED_RUNS", str(tmp_path))
    assert list_.run(list_.Options()).total_count == 1
    assert show.run(show.Options()).run.name == "a"


def test_show_says_what_is_in_it(tmp_path: Path, made: Maker) -> None:
    options = show.Options(inputs=(made("a"),), runs=str(tmp_path))
    answer = show.run(options)
    assert answer.records_counts == {"Link": 1, "Sysctl": 1, "FlowRun": 1}
    assert [type(one).__name__ for one in answer.measurements] == ["FlowRun"]
    assert [one.why.en for one in answer.problems] == ["no GPU"]
    for drawn in everything_drawn(show, answer, options).values():
        assert "node-a" in drawn and "goodput_bytes_per_s" in drawn and "no GPU" in drawn
    assert msgspec.json.decode(msgspec.json.encode(answer))["schema"] == "wirespeed/runs-show/1"


def test_a_name_that_means_nothing_or_too_much(tmp_path: Path, made: Maker) -> None:
    made("x1"), made("x2")
    for wrong in ("y", "x", "last~5"):
        with pytest.raises(BadRequest):
            show.run(show.Options(inputs=(wrong,), runs=str(tmp_path)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(CouldNot):
        show.run(show.Options(inputs=(str(tmp_path / "empty"),), runs=str(tmp_path)))
    for wrong_count in ((), ("x1",), ("x1", "x2", "x1")):
        with pytest.raises(BadRequest):
            compare.run(compare.Options(inputs=wrong_count, runs=str(tmp_path)))


def compared(tmp_path: Path, *names: str, **given: object) -> tuple[compare.Answer, compare.Options]:
    options = compare.Options(inputs=names, runs=str(tmp_path), **given)  # type: ignore[arg-type]
    return compare.run(options), options


def test_a_run_against_itself_is_nothing(tmp_path: Path, made: Maker) -> None:
    answer, options = compared(tmp_path, made("a"), "a", fail_on="any")
    assert (answer.schema, answer.facts, answer.figures, answer.notes, answer.problems) == (
        "wirespeed/runs-compare/1",
        (),
        (),
        (),
        (),
    )
    assert compare.exit_code(answer, options) == 0
    assert "Nothing changed and nothing moved" in everything_drawn(compare, answer, options)["text-en"]


def test_a_run_and_its_like_are_nothing(tmp_path: Path, made: Maker) -> None:
    answer, _ = compared(tmp_path, made("a", seed=1), made("b", seed=2))
    assert (answer.facts, answer.moved_count) == ((), 0)


def test_what_was_planted_is_found_and_first(tmp_path: Path, made: Maker) -> None:
    answer, options = compared(tmp_path, made("a", seed=1), made("b", seed=2, mtu=1500, retransmits=50.0), fail_on="moved")
    assert [(one.fact, one.identity) for one in answer.facts] == [("Link", "eth0")]
    assert answer.figures[0].figure == "protocols/Tcp/RetransSegs"
    assert compare.exit_code(answer, options) == 1
    assert compare.exit_code(answer, compare.Options(fail_on="changed")) == 1
    assert compare.exit_code(answer, compare.Options()) == 0
    document = compare.present(answer, options)
    (picture,) = [block for block in document.blocks if isinstance(block, Difference)]
    assert picture.spans[0].low_ratio > picture.least_ratio, "the whole interval lies beyond what does not matter"
    for name, drawn in everything_drawn(compare, answer, options).items():
        assert "RetransSegs" in drawn and "1500" in drawn, name


def test_different_hosts_replaced_names_and_order_are_told(tmp_path: Path, made: Maker) -> None:
    made("a"), made("b", host="node-b", seed=2), made("c", redacted=("secrets", "identities"), seed=3)
    assert "different hosts" in compared(tmp_path, "a", "b")[0].notes[0].en
    assert "replaced" in compared(tmp_path, "a", "c")[0].notes[0].en
    assert any("earlier" in note.en for note in compared(tmp_path, "b", "a")[0].notes)


def test_facts_alone_and_cases_compare_too(tmp_path: Path, made: Maker) -> None:
    made("a")
    casefile.write_case(store.open_run(tmp_path / "a"), tmp_path / "case.json")
    answer, _ = compared(tmp_path, "a", str(tmp_path / "case.json"))
    assert answer.facts == ()
    assert any("no samples" in note.en for note in answer.notes)


@pytest.mark.parametrize(
    "damage",
    [
        lambda run: (run / "records.jsonl").unlink(),
        lambda run: (run / "records.jsonl").write_bytes(b"{\xff\n[]\n"),
        lambda run: (run / "series" / "series.parquet").write_bytes(b"PAR1 no"),
        lambda run: (run / "manifest.json").write_bytes(b"{}x"),
        lambda run: (run / "manifest.json").write_text(
            (run / "manifest.json").read_text().replace("wirespeed/run/1", "wirespeed/run/8")
        ),
        lambda run: (run / "raw" / "files" / "etc" / "x").unlink(),
    ],
)
def test_a_damaged_run_is_compared_as_far_as_it_goes(tmp_path: Path, made: Maker, damage: Callable[[Path], None]) -> None:
    made("a"), made("b", seed=2)
    damage(tmp_path / "b")
    answer, options = compared(tmp_path, "a", "b")
    assert answer.problems
    assert answer.facts == (), "what was lost with the file is not gone from the machine"
    assert everything_drawn(compare, answer, options)
    assert not any(one.verdict == "moved" for one in answer.figures)


def test_exports(tmp_path: Path, made: Maker) -> None:
    name = made("a")

    def exported(target: str, **given: object) -> export.Answer:
        return export.run(export.Options(inputs=(name,), to=str(tmp_path / target), runs=str(tmp_path), **given))  # type: ignore[arg-type]

    exported("out/s.csv")
    with (tmp_path / "out/s.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    (place,) = [one for one in read_series(tmp_path / name)[0] if one.key.name == "rx_bytes"]
    assert [float(row["value"]) for row in rows if row["name"] == "rx_bytes"] == place.value.tolist()
    assert exported("out/s.parquet").written[0].size_bytes > 0
    exported("out/r.jsonl")
    assert [json.loads(line)["kind"] for line in (tmp_path / "out/r.jsonl").read_text().splitlines()][:2] == ["Link", "Sysctl"]
    exported("out/case.json", redact=True)
    case = casefile.open_case(tmp_path / "out/case.json")
    assert case.manifest.redacted == ("secrets", "identities")
    assert SECRET not in (tmp_path / "out/case.json").read_text()
    answer = exported("all")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["case.json", "records.jsonl", "series.parquet"]
    assert everything_drawn(export, answer, export.Options(inputs=("a",), to="x"))
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("target", ["taken.json", "taken", "dangling"])
def test_an_export_replaces_nothing(tmp_path: Path, made: Maker, target: str) -> None:
    made("a")
    (tmp_path / "taken.json").write_text("mine")
    (tmp_path / "taken").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(CouldNot):
        export.run(export.Options(inputs=("a",), to=str(tmp_path / target), runs=str(tmp_path)))
    assert (tmp_path / "taken.json").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_series_with_names_are_not_sent_as_redacted(tmp_path: Path, made: Maker) -> None:
    made("a")
    with pytest.raises(BadRequest):
        export.run(export.Options(inputs=("a",), to=str(tmp_path / "s.csv"), runs=str(tmp_path), redact=True))
    export.run(export.Options(inputs=("a",), to=str(tmp_path / "sent"), runs=str(tmp_path), redact=True))
    assert [path.name for path in (tmp_path / "sent").iterdir()] == ["case.json"]


def test_a_place_below_a_file_is_a_clear_error(tmp_path: Path, made: Maker) -> None:
    made("a")
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNot):
        export.run(export.Options(inputs=("a",), to=str(tmp_path / "file/below.csv"), runs=str(tmp_path)))
    with pytest.raises(BadRequest):
        show.run(show.Options(inputs=("a",), runs=str(tmp_path / "file")))
