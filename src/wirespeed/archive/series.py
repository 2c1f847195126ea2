"""Series of a run: frames appended while it is recorded, a Parquet file once it is closed, and both read the same way.

`series/frames.bin` opens with a magic word; each frame is its length, a CRC-32 and a compressed block. A frame that was being written
when the process died is recognised by either and dropped, with what follows it. `series/series.parquet` has a row a sample.
"""

from __future__ import annotations

import errno
import importlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wirespeed.model.run import SERIES_NAME
from wirespeed.model.samples import Block, Key, Layout, Series, series_of
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

if TYPE_CHECKING:
    pass

FRAMES_NAME = "frames.bin"
PARQUET_NAME = "series.parquet"
MAGIC = b"wirespeed series 1\n"
MOST_FRAME_BYTES = 256 * 1024 * 1024
COMPRESSION_LEVEL = 1
ROWS_IN_A_GROUP = 1_000_000
_HEAD = struct.Struct("<II")


class _Frame(msgspec.Struct, frozen=True, array_like=True, omit_defaults=False):
    """One block; `keys` stand in the first frame that uses this layout, later ones name it by number. Arrays are little-endian doubles."""

    family: str
    layout_number: int
    keys: list[tuple[str, str, str, str]] | None
    t_s: bytes
    first: bytes
    columns: bytes
    values: bytes


class FrameWriter:
    """Appends frames to a run being recorded. `write` is a sink for `observation.recording.record`."""

    def __init__(self, place: Path) -> None:
        """Raises OSError where the folder cannot be made or has frames already."""
        import zstandard

        folder = place / SERIES_NAME
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(folder / FRAMES_NAME, flags, 0o644)
        self._compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL)
        self._layouts: dict[int, tuple[int, Layout]] = {}
        self._size_bytes = 0
        self._append(MAGIC)

    def write(self, blocks: Sequence[Block]) -> None:
        """Append blocks, whole or (on a full disk) not at all. Raises OSError."""
        self._append(b"".join(framed(self._compressor.compress(self._encoded(block))) for block in blocks))

    def _encoded(self, block: Block) -> bytes:
        import numpy as np

        keys: list[tuple[str, str, str, str]] | None = None
        known = self._layouts.get(id(block.layout))
        if known is None:
            known = self._layouts[id(block.layout)] = (len(self._layouts), block.layout)  # the layout is held: its id stays its own
            keys = [(key.scope, key.name, key.unit, key.kind) for key in block.layout]
        frame = _Frame(
            block.family,
            known[0],
            keys,
            block.t_s.astype("<f8").tobytes(),
            block.first.astype("<f8").tobytes(),
            block.columns.astype("<u4").tobytes(),
            np.ascontiguousarray(block.values.T).astype("<f8").tobytes(),
        )
        return msgspec.msgpack.encode(frame)

    def _append(self, content: bytes) -> None:
        rest = memoryview(content)
        try:
            while rest:
                written = os.write(self._file, rest)
                if written == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                rest = rest[written:]
        except OSError:
            os.ftruncate(self._file, self._size_bytes)
            raise
        self._size_bytes += len(content)

    def close(self) -> None:
        """Have the disk keep it. Raises OSError."""
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)


def framed(payload: bytes) -> bytes:
    """A payload with its length and checksum in front."""
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


def whole_frames(content: bytes) -> Iterator[tuple[int, bytes]]:
    """End and payload of each frame up to the first that is torn or damaged."""
    at = len(MAGIC)
    if not content.startswith(MAGIC):
        return
    while at + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, at)
        payload = content[at + _HEAD.size : at + _HEAD.size + length]
        if length > MOST_FRAME_BYTES or len(payload) < length or zlib.crc32(payload) != checksum:
            return
        at += _HEAD.size + length
        yield at, payload


def read_blocks(place: Path, problems: list[Problem]) -> dict[str, list[Block]]:
    """Blocks by family from the frames of a run; what was torn is a problem. Raises OSError where there are no frames."""
    import zstandard

    path = place / SERIES_NAME / FRAMES_NAME
    content = path.read_bytes()
    decompressor = zstandard.ZstdDecompressor()
    layouts: dict[int, Layout] = {}
    found: dict[str, list[Block]] = {}
    end = len(MAGIC)
    for end_of_frame, payload in whole_frames(content):
        try:
            block = _decoded(decompressor.decompress(payload, max_output_size=MOST_FRAME_BYTES), layouts)
        except (zstandard.ZstdError, msgspec.DecodeError, ValueError, KeyError):
            break
        found.setdefault(block.family, []).append(block)
        end = end_of_frame
    if end < len(content):
        lost = len(content) - end
        problems.append(_problem(path, f"the last {lost} bytes are torn and were left out", f"末尾 {lost} 字节不完整，已略去"))
    return found


def _decoded(payload: bytes, layouts: dict[int, Layout]) -> Block:
    import numpy as np

    frame = msgspec.msgpack.decode(payload, type=_Frame)
    if frame.keys is not None:
        layouts[frame.layout_number] = tuple(
            Key(frame.family, scope, name, unit, "gauge" if kind == "gauge" else "counter")
            for scope, name, unit, kind in frame.keys
        )
    t_s, first = np.frombuffer(frame.t_s, "<f8"), np.frombuffer(frame.first, "<f8")
    columns = np.frombuffer(frame.columns, "<u4").astype(np.intp)
    values = np.frombuffer(frame.values, "<f8").reshape(len(columns), len(t_s)).T
    return Block(frame.family, layouts[frame.layout_number], t_s, first, columns, values)


def read_series(place: Path, host: str | None = None) -> tuple[tuple[Series, ...], tuple[Problem, ...]]:
    """Every series of a run, closed or not, and what was lost of it; nothing where it has none.

    A series that never moved has its first and its last sample alone.
    """
    problems: list[Problem] = []
    folder = place / SERIES_NAME
    try:
        if (folder / PARQUET_NAME).is_file():
            return tuple(_from_parquet(folder / PARQUET_NAME, problems)), tuple(problems)
        if (folder / FRAMES_NAME).is_file():
            blocks = read_blocks(place, problems)
            return tuple(_thinned(series) for one in blocks.values() for series in series_of(one, host)), tuple(problems)
    except (OSError, ImportError) as error:
        said = getattr(error, "strerror", None) or error
        problems.append(_problem(folder, f"cannot be read: {said}", f"无法读取：{said}"))
    return (), tuple(problems)


def close_series(place: Path, host: str | None) -> None:
    """Turn the frames of a run into Parquet, and remove them once that is on disk.

    Raises OSError, and ImportError where there is no pyarrow; the frames are then still there.
    """
    folder = place / SERIES_NAME
    problems: list[Problem] = []
    blocks = read_blocks(place, problems)
    draft = folder / f".{PARQUET_NAME}.part"
    try:
        write_parquet((series for one in blocks.values() for series in series_of(one, host)), draft)
        descriptor = os.open(draft, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.rename(folder / PARQUET_NAME)
    finally:
        draft.unlink(missing_ok=True)
    (folder / FRAMES_NAME).unlink()


def write_parquet(series: Iterable[Series], path: Path) -> None:
    """A row a sample, series after series; gaps are missing rows, and a series that never moved has two rows. Raises OSError."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    schema = _schema()
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        group: list[Series] = []
        rows = 0
        for one in series:
            thin = _thinned(one)
            group.append(thin)
            rows += len(thin.t_s)
            if rows >= ROWS_IN_A_GROUP:
                writer.write_table(_table(group, schema))
                group, rows = [], 0
        writer.write_table(_table(group, schema))


def _thinned(series: Series) -> Series:
    import numpy as np

    there = ~np.isnan(series.value)
    t_s, value = series.t_s[there], series.value[there]
    if len(value) > 2 and (value == value[0]).all():
        t_s, value = t_s[[0, -1]], value[[0, -1]]
    return Series(host=series.host, key=series.key, t_s=t_s, value=value)


_TEXTS = ("host", "family", "scope", "name", "unit", "kind")


def _schema() -> Any:
    arrow: Any = importlib.import_module("pyarrow")
    texts = [arrow.field(name, arrow.dictionary(arrow.int32(), arrow.string()), nullable=name == "host") for name in _TEXTS]
    return arrow.schema(
        [*texts, arrow.field("t_s", arrow.float64(), nullable=False), arrow.field("value", arrow.float64(), nullable=False)]
    )


def _table(group: Sequence[Series], schema: Any) -> Any:
    import numpy as np

    arrow: Any = importlib.import_module("pyarrow")
    lengths = [len(one.t_s) for one in group]
    columns = []
    for name in _TEXTS:
        words = [one.host if name == "host" else getattr(one.key, name) for one in group]
        known = list(dict.fromkeys(word for word in words if word is not None))
        places = {word: number for number, word in enumerate(known)}
        numbers = np.repeat(np.array([places.get(word, -1) for word in words], dtype=np.int32), lengths)
        indices = arrow.array(numbers, mask=numbers < 0)
        columns.append(arrow.DictionaryArray.from_arrays(indices, arrow.array(known, arrow.string())))
    for name in ("t_s", "value"):
        columns.append(arrow.array(np.concatenate([getattr(one, name) for one in group] or [np.empty(0)])))
    return arrow.Table.from_arrays(columns, schema=schema)


def _from_parquet(path: Path, problems: list[Problem]) -> Iterator[Series]:
    """Rows of one series stand together; a group of rows ends with its series."""
    import numpy as np

    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            for number in range(file.num_row_groups):
                table = file.read_row_group(number)
                texts = [_coded(arrow, table.column(name)) for name in _TEXTS]
                t_s, value = table.column("t_s").to_numpy(), table.column("value").to_numpy()
                changes = np.zeros(max(len(t_s) - 1, 0), dtype=bool)
                for codes, _ in texts:
                    changes |= codes[1:] != codes[:-1]
                starts = [0, *(np.flatnonzero(changes) + 1), len(t_s)] if len(t_s) else []
                for start, end in pairwise(starts):
                    host, *names = (words[codes[start]] for codes, words in texts)
                    yield Series(host=host, key=Key(*names), t_s=t_s[start:end], value=value[start:end])
    except (arrow.ArrowInvalid, KeyError) as error:
        problems.append(_problem(path, f"is damaged: {error}", f"已损坏：{error}"))


def _coded(arrow: Any, column: Any) -> tuple[Any, list[str | None]]:
    """Codes and the words they stand for; the word after the last stands for a missing one."""
    whole = column.combine_chunks()
    whole = whole if isinstance(whole, arrow.DictionaryArray) else whole.dictionary_encode()
    words = [*whole.dictionary.to_pylist(), None]
    return whole.indices.fill_null(len(words) - 1).to_numpy(), words


def _problem(path: Path, en: str, zh: str) -> Problem:
    return Problem(source=Source(tool="archive", path=str(path)), why=Text(en=en, zh=zh))
