"""The command as people and scripts meet it: exit codes, formats, languages, bad use."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RINGS = (
    "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\nTX:\t\t256\n"
)
DROPS = "NIC statistics for eth2:\n     rx_packets: 918273645\n     rx_out_of_buffer: 48211\n"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    (tmp_path / "rings.txt").write_text(RINGS)
    (tmp_path / "drops.txt").write_text(DROPS)
    (tmp_path / "question.txt").write_text("Why are packets lost in bursts?\n")
    return tmp_path


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "", **environment}
    command = [sys.executable, "-m", "wirespeed", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=variables, check=False, timeout=60)


def test_json_is_the_contract(case: Path) -> None:
    done = _run("diagnose", str(case), "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert list(answer)[:6] == ["schema", "findings", "network_is_the_limit", "unknown", "problems", "inputs"]
    first = answer["findings"][0]
    assert first["cause"] == "nic-ring-too-small"
    wanted = {
        "cause",
        "rule",
        "explains",
        "confidence_ratio",
        "severity",
        "title",
        "summary",
        "evidence",
        "told_apart_from",
        "gain",
    }
    assert wanted | {"changes", "checks"} <= set(first)
    for evidence in first["evidence"]:
        assert set(evidence) >= {"says", "bears", "values", "quotes"}
        for quote in evidence["quotes"]:
            lines = Path(quote["source"]).read_text().split("\n")
            assert lines[quote["line_index"]] == quote["text"]
    assert {one["path"]: one["recognised_as"] for one in answer["inputs"]} == {
        str(case / "drops.txt"): "ethtool_statistics",
        str(case / "rings.txt"): "ethtool_rings",
    }


@pytest.mark.parametrize(("severity", "code"), [("high", 0), ("medium", 1), ("info", 1)])
def test_fail_on(case: Path, severity: str, code: int) -> None:
    assert _run("diagnose", str(case), "--fail-on", severity).returncode == code


@pytest.mark.parametrize("output_format", ["text", "html", "markdown"])
@pytest.mark.parametrize(("lang", "word"), [("en", "receive ring"), ("zh", "接收环")])
def test_every_format_in_both_languages(case: Path, output_format: str, lang: str, word: str) -> None:
    done = _run("diagnose", str(case), "--format", output_format, "--lang", lang)
    assert done.returncode == 0, done.stderr
    assert word in done.stdout
    assert "rx_out_of_buffer: 48211" in " ".join(done.stdout.split())


def test_the_language_follows_the_locale(case: Path) -> None:
    assert "接收环" in _run("diagnose", str(case), LANG="zh_CN.UTF-8", LC_ALL="").stdout


def test_an_ascii_locale_is_no_obstacle(case: Path) -> None:
    done = _run("diagnose", str(case), "--lang", "zh", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments", [("nothing",), ("diagnose", "--fail-on", "worst"), ("diagnose", "--format", "pdf"), ("diagnose", "--no-such")]
)
def test_wrong_use_is_two(arguments: tuple[str, ...]) -> None:
    done = _run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_nothing_readable_is_three(tmp_path: Path) -> None:
    done = _run("diagnose", str(tmp_path / "absent.log"))
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "absent.log" in "".join(done.stdout.split())


def test_a_case_file_gives_the_same_answer(case: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    first = json.loads(_run("diagnose", str(case), "--format", "json", "--save", str(kept)).stdout)
    again = json.loads(_run("diagnose", str(kept), "--format", "json").stdout)
    assert [(one["cause"], one["confidence_ratio"]) for one in again["findings"]] == [
        (one["cause"], one["confidence_ratio"]) for one in first["findings"]
    ]


def test_a_case_file_is_not_overwritten(case: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("mine")
    assert _run("diagnose", str(case), "--save", str(kept)).returncode == 3
    assert kept.read_text() == "mine"


def test_standard_input(case: Path) -> None:
    command = [sys.executable, "-m", "wirespeed", "diagnose", "-", "--format", "json"]
    done = subprocess.run(command, input=RINGS + DROPS, capture_output=True, text=True, check=False, timeout=60)
    assert json.loads(done.stdout)["findings"][0]["cause"] == "nic-ring-too-small"


def test_the_page_asks_for_nothing(case: Path) -> None:
    page = _run("diagnose", str(case), "--format", "html").stdout
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "src=" not in page


def test_html_escapes_what_it_quotes(tmp_path: Path) -> None:
    (tmp_path / "drops.txt").write_text(DROPS + "     rx_missed_errors: 5 <script>alert(1)</script>\n")
    page = _run("diagnose", str(tmp_path), "--format", "html").stdout
    assert "<script>alert" not in page


def test_the_answer_never_replaces_an_input(case: Path) -> None:
    given = case / "drops.txt"
    done = _run("diagnose", str(given), "--output", str(given))
    assert done.returncode == 2
    assert given.read_text() == DROPS


def test_an_answer_that_cannot_be_written_leaves_the_old_one(case: Path, tmp_path: Path) -> None:
    done = _run("diagnose", str(case), "--output", str(tmp_path / "absent" / "report.txt"))
    assert done.returncode == 3
    assert not list(tmp_path.rglob("*.part"))


def test_a_report_is_no_evidence(case: Path) -> None:
    before = json.loads(_run("diagnose", str(case), "--format", "json").stdout)
    for output_format in ("text", "json", "html", "markdown"):
        _run("diagnose", str(case), "--format", output_format, "--output", str(case / f"report.{output_format}"))
    after = json.loads(_run("diagnose", str(case), "--format", "json").stdout)
    assert after["findings"] == before["findings"]
    assert len(after["problems"]) == 4


def test_the_same_text_twice_makes_nothing_surer(case: Path) -> None:
    before = json.loads(_run("diagnose", str(case), "--format", "json").stdout)
    (case / "copy.txt").write_text(DROPS)
    after = json.loads(_run("diagnose", str(case), str(case), "--format", "json").stdout)
    assert [one["confidence_ratio"] for one in after["findings"]] == [one["confidence_ratio"] for one in before["findings"]]


def test_odd_names_and_closed_streams(case: Path) -> None:
    odd = os.fsencode(case) + b"/od\xff\x1b[31m{x}.log"
    Path(os.fsdecode(odd)).write_text(DROPS)
    for output_format in ("text", "json", "html", "markdown"):
        done = subprocess.run(
            [sys.executable, "-m", "wirespeed", "diagnose", str(case), "--format", output_format],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert b"\x1b" not in done.stdout
    closed = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m wirespeed diagnose {case} >&-"], capture_output=True, check=False, timeout=60
    )
    assert closed.returncode == 3
    assert b"Traceback" not in closed.stderr


def test_secrets_are_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "env.txt").write_text("NCCL_IB_DISABLE=1 HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123\n")
    done = _run("diagnose", str(tmp_path), "--question", "Why does NCCL use sockets instead of InfiniBand?")
    assert "hf_abcdefgh" not in done.stdout
