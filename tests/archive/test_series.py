"""Frames and Parquet: what was flushed is read again, whatever tore the rest."""

import errno
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

from wirespeed.archive import series as kept
from wirespeed.archive.series import FRAMES_NAME, PARQUET_NAME, FrameWriter, close_series, read_blocks, read_series
from wirespeed.model.samples import Block, Key

LAYOUT = (
    Key("links", "eth0", "rx_bytes", "bytes"),
    Key("links", "eth0", "rx_errors", "packets"),
    Key("links", "网0", "backlog", "1", "gauge"),
)


def block(start_s: float, rows: list[list[float]], layout: tuple[Key, ...] = LAYOUT) -> Block:
    values = np.array(rows)
    columns = np.flatnonzero((values != values[0]).any(axis=0))
    return Block("links", layout, start_s + 0.1 * np.arange(len(rows)), values[0], columns, values[:, columns])


FIRST, SECOND = block(0.0, [[10, 5, 0], [20, 5, 0]]), block(0.2, [[30, 5, 2], [2**40 + 1, 5, 1]])


def written(place: Path, *blocks: Block) -> Path:
    writer = FrameWriter(place)
    for one in blocks:
        writer.write([one])
    writer.close()
    return place / "series" / FRAMES_NAME


def by_name(place: Path) -> dict[str, tuple[list[float], list[float]]]:
    found, problems = read_series(place, "node-a")
    assert not problems
    return {one.key.name: (one.t_s.round(6).tolist(), one.value.tolist()) for one in found}


def test_frames_give_back_every_sample(tmp_path: Path) -> None:
    written(tmp_path, FIRST, SECOND)
    found = by_name(tmp_path)
    assert found["rx_bytes"] == ([0.0, 0.1, 0.2, 0.3], [10, 20, 30, 2**40 + 1])
    assert found["backlog"] == ([0.0, 0.1, 0.2, 0.3], [0, 0, 2, 1])


def test_what_never_moved_has_both_ends_alone(tmp_path: Path) -> None:
    written(tmp_path, FIRST, SECOND)
    assert by_name(tmp_path)["rx_errors"] == ([0.0, 0.3], [5, 5])


def test_parquet_says_the_same_as_the_frames(tmp_path: Path) -> None:
    written(tmp_path, FIRST, SECOND)
    frames = by_name(tmp_path)
    close_series(tmp_path, "node-a")
    assert by_name(tmp_path) == frames
    assert not (tmp_path / "series" / FRAMES_NAME).exists()
    found, _ = read_series(tmp_path)
    assert {one.host for one in found} == {"node-a"}
    assert {one.key for one in found} == set(LAYOUT)


def test_other_tools_find_a_row_a_sample(tmp_path: Path) -> None:
    written(tmp_path, FIRST, SECOND)
    close_series(tmp_path, None)
    table = parquet.read_table(tmp_path / "series" / PARQUET_NAME)
    assert table.column_names == ["host", "family", "scope", "name", "unit", "kind", "t_s", "value"]
    rows = [row for row in table.to_pylist() if row["name"] == "rx_bytes"]
    assert [(row["unit"], row["kind"], row["host"], row["value"]) for row in rows][:2] == [
        ("bytes", "counter", None, 10.0),
        ("bytes", "counter", None, 20.0),
    ]


def test_many_groups_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "ROWS_IN_A_GROUP", 3)
    written(tmp_path, FIRST, SECOND)
    frames = by_name(tmp_path)
    close_series(tmp_path, None)
    assert parquet.ParquetFile(tmp_path / "series" / PARQUET_NAME).num_row_groups > 1
    assert by_name(tmp_path) == frames


def test_a_series_that_comes_later_or_goes_has_a_gap(tmp_path: Path) -> None:
    later = (*LAYOUT, Key("links", "veth1", "rx_bytes", "bytes"))
    path = written(tmp_path, FIRST, block(0.2, [[30, 5, 2, 7], [40, 5, 2, 9]], later), block(0.4, [[50, 5, 0]]))
    assert path.stat().st_size
    found, _ = read_series(tmp_path)
    (veth,) = [one for one in found if one.key.scope == "veth1"]
    assert (veth.t_s.round(6).tolist(), veth.value.tolist()) == ([0.2, 0.3], [7, 9])


def test_a_last_frame_torn_anywhere_costs_that_frame_alone(tmp_path: Path) -> None:
    path = written(tmp_path, FIRST)
    whole = path.stat().st_size
    path.unlink()
    path = written(tmp_path, FIRST, SECOND)
    content = path.read_bytes()
    for end in range(whole, len(content)):
        path.write_bytes(content[:end])
        problems: list[object] = []
        blocks = read_blocks(tmp_path, problems)  # type: ignore[arg-type]
        assert [len(one.t_s) for one in blocks["links"]] == [2], end
        assert len(problems) == (end > whole), end


def test_every_flipped_byte_of_the_last_frame_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, FIRST)
    whole = path.stat().st_size
    path.unlink()
    content = written(tmp_path, FIRST, SECOND).read_bytes()
    for at in range(whole, len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        _, problems = read_series(tmp_path)
        assert problems, at


@pytest.mark.parametrize("content", [b"", b"wire", b"something else entirely" * 9])
def test_what_are_no_frames_is_no_exception(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / FRAMES_NAME).write_bytes(content)
    assert read_series(tmp_path)[0] == ()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(64) + b"PAR1"])
def test_damaged_parquet_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / PARQUET_NAME).write_bytes(content)
    found, problems = read_series(tmp_path)
    assert not found
    assert problems


@pytest.mark.parametrize("room", [0, 1, 7, 8, 9, 40])
def test_a_full_disk_leaves_whole_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """A file system that is nearly full takes part of a write, then refuses."""
    writer = FrameWriter(tmp_path)
    writer.write([FIRST])
    left = [room]
    real = os.write

    def short(descriptor: int, data: memoryview) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = data[: left[0]]
        left[0] -= len(taken)
        return real(descriptor, taken)

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError, match="No space"):
        writer.write([SECOND])
    monkeypatch.undo()
    writer.close()
    found, problems = read_series(tmp_path)
    assert not problems
    assert {len(one.t_s) for one in found} == {2}
