"""What recognition gets to see of a text, in memory or streamed, and what ends a line. Texts are synthetic."""

import codecs
import io
from itertools import pairwise
from pathlib import Path

import pytest

from wirespeed.machines.opening import open_inputs
from wirespeed.machines.streams import StreamLines
from wirespeed.model.lines import HEAD_CHARACTERS, SAMPLE_CHARACTERS, Lines, MemoryLines, sample_windows
from wirespeed.model.source import Problem

BUILD = "[ 12%] Building CXX object src/CMakeFiles/thing.dir/part.cc.o\n"
NCCL = "node-a:12:34 [0] NCCL INFO Channel 00/08 : 0[0] -> 1[1] via P2P/IPC\n"


def both(text: str) -> tuple[Lines, Lines]:
    return MemoryLines(text), StreamLines("-", lambda: io.BytesIO(text.encode()))


@pytest.mark.parametrize("count", [3000, 20_000])
def test_evidence_behind_much_else_is_seen(count: int) -> None:
    """A build, then the job: the head holds nothing of it. The larger text is seen in windows, the last at its end."""
    for lines in both(BUILD * count + NCCL * (count // 20)):
        assert "NCCL INFO" not in lines.head
        assert "NCCL INFO" in lines.sample
        assert len(lines.sample) <= SAMPLE_CHARACTERS


@pytest.mark.parametrize("size", [0, 10, SAMPLE_CHARACTERS - 1, SAMPLE_CHARACTERS, SAMPLE_CHARACTERS + 1, 5_000_000, 2**36])
def test_windows_run_from_start_to_end_and_do_not_overlap(size: int) -> None:
    windows = sample_windows(size)
    assert windows[0][0] == 0
    assert windows[-1][1] == size
    assert sum(end - start for start, end in windows) == min(size, SAMPLE_CHARACTERS)
    assert all(one[1] <= other[0] for one, other in pairwise(windows))


def test_a_sample_holds_whole_lines_only() -> None:
    written = [f"line {number} " + "x" * (number % 700) + " end" for number in range(9000)]
    for lines in both("\n".join(written)):
        assert set(lines.sample.split("\n")) <= set(written)
        assert lines.sample.startswith(written[0])
        assert lines.sample.endswith(written[-1])
        assert lines.head == "\n".join(written)[:HEAD_CHARACTERS]


def test_a_small_text_is_its_own_sample() -> None:
    for lines in both("one\ntwo\nthree"):
        assert lines.sample == lines.head == "one\ntwo\nthree"


def test_one_long_line_is_seen_by_its_head() -> None:
    for lines in both('{"a": "' + "x" * 400_000):
        assert lines.sample.startswith('{"a": "xx')
        assert "\n" not in lines.sample.rstrip("\n")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-16-le", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("latin-1", b""),
    ],
)
def test_windows_in_other_encodings(encoding: str, mark: bytes) -> None:
    text = "Grüße aus dem Bau\n" * 30_000 + NCCL * 2000
    lines = StreamLines("-", lambda: io.BytesIO(mark + text.encode(encoding)))
    assert set(lines.sample.split("\n")) - {""} == {"Grüße aus dem Bau", NCCL.rstrip("\n")}
    assert lines.head.startswith("Grüße aus")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"10%\r20%\r30%\r", ["10%", "20%", "30%"]),
        (b"first\rsecond\rlast", ["first", "second", "last"]),
        (b"5%\r" * 40 + b"done\r\nand\n", ["5%"] * 40 + ["done", "and"]),
        ("é\rü\r".encode("utf-16"), ["é", "ü"]),
        (b"loading 10%\r50%\r100%\nnext\n", ["loading 10%\r50%\r100%", "next"]),
        (b"plain\r\nold\r\n", ["plain", "old"]),
    ],
)
def test_carriage_returns_end_lines_where_nothing_else_does(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    (tmp_path / "log").write_bytes(content)
    (lines,) = open_inputs((str(tmp_path / "log"),))
    assert not isinstance(lines, Problem)
    assert [line for _, line in lines] == expected
    assert (lines.whole() or "").split("\n") == expected


def test_a_carriage_return_and_its_line_feed_in_two_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirespeed.machines.streams.CHUNK_BYTES", 3)
    lines = StreamLines("-", lambda: io.BytesIO(b"ab\r" * 30 + b"cd\r\nef\r"))
    assert [line for _, line in lines] == ["ab"] * 30 + ["cd", "ef"]
