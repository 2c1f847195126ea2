"""Inputs made to harm, or merely odd: each costs one problem, and everything beside it is read. Contents are synthetic."""

import gzip
import os
import resource
import struct
import subprocess
import sys
import tarfile
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from wirespeed.archive import casefile, store
from wirespeed.archive.store import Run
from wirespeed.machines import opening, streams
from wirespeed.machines.archives import Budget
from wirespeed.machines.opening import is_case, is_run, open_inputs
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.source import Problem

TEXT = "Settings for eth0:\n\tSpeed: 100000Mb/s\n"
FIRST = "Settings for eth0:"


def opened(*paths: object) -> tuple[dict[str, list[str]], list[Problem]]:
    texts: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for item in open_inputs(tuple(str(path) for path in paths)):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            texts[item.path] = [line for _, line in item]
    return texts, problems


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.txt").write_text(TEXT)
    return tmp_path / "good.txt"


def reason_of_only_problem(good: Path, *paths: object) -> str:
    """The one problem, when the good text after it was read all the same."""
    texts, problems = opened(*paths, good)
    assert texts[str(good)][0] == FIRST
    (problem,) = problems
    assert problem.why.zh
    return problem.why.en


def test_pipes_devices_and_sockets_are_refused_without_waiting(tmp_path: Path, good: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "manifest.json")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path / "folder"):
        assert reason_of_only_problem(good, path) == "is not a plain file"
    assert not is_case(tmp_path / "pipe")
    assert not is_run(tmp_path / "folder")
    assert casefile.open_case(tmp_path / "pipe").problems[0].why.en == "is not a plain file"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_pipe_of_the_shell_is_read_like_standard_input(pack: type[bytes]) -> None:
    reads, writes = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(writes, pack(TEXT.encode())), os.close(writes)))
    writer.start()
    name = f"/dev/fd/{reads}"
    texts, problems = opened(name)
    writer.join()
    os.close(reads)
    assert not problems
    assert texts[name][0] == FIRST


def test_standard_input_by_its_device_name() -> None:
    code = "from wirespeed.machines.opening import open_inputs; print([len(list(one)) for one in open_inputs(('/dev/stdin',))])"
    done = subprocess.run([sys.executable, "-c", code], input=TEXT, capture_output=True, text=True, check=True)
    assert done.stdout == "[2]\n"


def test_a_loop_of_links_in_a_directory(tmp_path: Path, good: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "log").write_text(TEXT)
    texts, problems = opened(folder, folder / "loop", good)
    assert set(texts) == {str(folder / "log"), str(good)}
    assert [one.source.path for one in problems] == [str(folder / "loop")] * 2


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800", "/".join(["y"] * 3000)], ids=["long", "nul", "surrogate", "path"])
def test_names_that_no_file_can_have(good: Path, name: str) -> None:
    assert reason_of_only_problem(good, name)
    assert all(problem.source.path.encode() for problem in opened(name)[1])


def test_a_name_that_is_no_utf8_is_read_and_can_be_printed(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/r\xe9sum\xe9.log")
    Path(path).write_text(TEXT)
    texts, problems = opened(path)
    assert not problems
    assert list(texts) == [f"{tmp_path}/r?sum?.log"]


def test_a_denied_folder(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run as root, whom nothing is denied; `is_dir` then fails as it does for others."""
    is_dir = Path.is_dir

    def denied(self: Path) -> bool:
        if self.name == "secret":
            raise PermissionError(13, "Permission denied")
        return is_dir(self)

    monkeypatch.setattr(Path, "is_dir", denied)
    assert "permission denied" in reason_of_only_problem(good, "/nowhere/secret")


@pytest.mark.parametrize("error", [RuntimeError("a"), RecursionError("b"), MemoryError(), IndexError("c"), OverflowError("d")])
def test_the_door_is_guarded(good: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    open_file = opening._open_file

    def failing(path: Path, name: str, budget: Budget, is_named: bool) -> Iterator[object]:
        if name == "bad":
            raise error
        return open_file(path, name, budget, is_named)

    monkeypatch.setattr(opening, "_open_file", failing)
    assert "cannot be read" in reason_of_only_problem(good, "bad")


def _tar_header(name: str, kind: bytes, content: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    return info.tobuf(tarfile.GNU_FORMAT) + content.ljust(-(-len(content) // 512) * 512, b"\0")


_MEMBER = _tar_header("log", tarfile.REGTYPE, TEXT.encode())


@pytest.mark.parametrize(
    "harm",
    [
        _tar_header("././@LongLink", tarfile.GNUTYPE_LONGNAME, b"n\0") * 3000,
        _tar_header("pax", tarfile.XHDTYPE, b"13 path=abcd\n") * 3000,
        _tar_header("pax", tarfile.XHDTYPE, b"99999999999999999999 path=a\n"),
    ],
    ids=["chained-longlink", "chained-pax", "pax-length"],
)
def test_a_tar_made_to_harm(tmp_path: Path, good: Path, harm: bytes) -> None:
    """The member before the harm is read, and the next input too."""
    (tmp_path / "bad.tar").write_bytes(_MEMBER + harm + _MEMBER + bytes(1024))
    texts, problems = opened(tmp_path / "bad.tar", good)
    assert set(texts) == {f"{tmp_path / 'bad.tar'}!log", str(good)}
    assert len(problems) <= 1  # some versions of tarfile pass over a damaged pax header by themselves
    assert all("damaged" in problem.why.en for problem in problems)


def test_a_zip_member_without_a_name(tmp_path: Path, good: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x", TEXT)
        archive.writestr("log", TEXT)
    packed = (tmp_path / "a.zip").read_bytes()
    # The name of "x" is taken out of its central entry: its length becomes 0, and its one letter the first of the extra field.
    at = packed.index(b"PK\x01\x02")
    entry = bytearray(packed[at : at + 46])
    struct.pack_into("<H", entry, 28, 0)
    end = packed.index(b"PK\x05\x06")
    directory = bytes(entry) + packed[at + 47 : end]
    tail = bytearray(packed[end:])
    struct.pack_into("<I", tail, 12, len(directory))
    (tmp_path / "a.zip").write_bytes(packed[:at] + directory + bytes(tail))
    texts, problems = opened(tmp_path / "a.zip", good)
    assert set(texts) == {f"{tmp_path / 'a.zip'}!log", str(good)}
    assert problems[0].why.en == "1 members without a name were refused"


def test_a_zip_member_of_an_unknown_method_costs_only_itself(tmp_path: Path) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("a", "b", "c"):
            archive.writestr(name, TEXT)
    packed = bytearray((tmp_path / "a.zip").read_bytes())
    local = packed.index(b"PK\x03\x04", 1)
    central = packed.index(b"PK\x01\x02", packed.index(b"PK\x01\x02") + 1)
    struct.pack_into("<H", packed, local + 8, 97)
    struct.pack_into("<H", packed, central + 10, 97)
    (tmp_path / "a.zip").write_bytes(packed)
    texts, problems = opened(tmp_path / "a.zip")
    assert [path.rpartition("!")[2] for path in texts] == ["a", "c"]
    assert [one.source.path for one in problems] == [f"{tmp_path / 'a.zip'}!b"]


@pytest.mark.parametrize("has_checksum", [True, False])
def test_a_zstd_stream_that_is_cut_is_told(tmp_path: Path, has_checksum: bool) -> None:
    chance = os.urandom(400_000).hex().encode()
    compressor = zstandard.ZstdCompressor(write_checksum=has_checksum, write_content_size=False)
    skippable = struct.pack("<II", 0x184D2A51, 5) + b"12345"
    whole = compressor.compress(b"first line\n") + skippable + compressor.compress(b"." * 300_000 + chance)
    (tmp_path / "whole.zst").write_bytes(whole)
    (tmp_path / "cut.zst").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "almost.zst").write_bytes(whole[:-1])
    (tmp_path / "none.zst").write_bytes(whole[:8])
    _, problems = opened(tmp_path / "whole.zst")
    assert not problems
    for name in ("cut.zst", "almost.zst"):
        texts, problems = opened(tmp_path / name)
        assert texts[str(tmp_path / name)][0] == "first line"
        assert "damaged after" in problems[0].why.en
    assert "cannot be unpacked" in opened(tmp_path / "none.zst")[1][0].why.en


def _run_at(place: Path) -> Path:
    replies = tuple(Reply(kind="input", request=name, content=TEXT.encode()) for name in ("a.log", "b.log"))
    store.write_run(Run(manifest=Manifest(host="node-a"), replies=replies), place)
    return place


def test_a_manifest_entry_with_nul_and_a_raw_file_of_40_gb(tmp_path: Path) -> None:
    run = _run_at(tmp_path / "run")
    files = sorted((run / "raw" / "input").iterdir())
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace(f"input/{files[0].name}", "input/\\u0000"))
    texts, problems = opened(run)
    assert len(texts) == 1
    assert len(problems) == 1
    (run / "manifest.json").write_text(manifest)
    os.truncate(files[0], 40 * 1024**3)
    os.truncate(files[1], 1024)
    texts, problems = opened(run)
    assert not texts
    assert {one.why.en.split(" ")[1] for one in problems} == {"larger", "a"}


@pytest.mark.parametrize("lost", ["missing", "link", "directory", "pipe"])
def test_a_run_without_its_manifest_is_still_one(tmp_path: Path, lost: str) -> None:
    run = _run_at(tmp_path / "run")
    path = run / "manifest.json"
    path.rename(tmp_path / "elsewhere.json")
    if lost == "link":
        path.symlink_to(tmp_path / "elsewhere.json")
    elif lost == "directory":
        path.mkdir()
    elif lost == "pipe":
        os.mkfifo(path)
    assert is_run(run)
    texts, problems = opened(run)
    assert [lines[0] for lines in texts.values()] == [FIRST, FIRST]
    assert "manifest" in problems[0].why.en


def test_a_log_that_merely_tells_of_a_case_is_a_log(tmp_path: Path) -> None:
    said = (
        'saved as "wirespeed/case/1"\n' + TEXT,
        '{"message": "wrote \\"schema\\": \\"wirespeed/case/1\\""}\n',
        'INFO {"schema": "wirespeed/case/1"}\n',
    )
    for number, text in enumerate(said):
        path = tmp_path / f"{number}.log"
        path.write_text(text)
        assert not is_case(path)
        assert list(opened(path)[0]) == [str(path)]
    (tmp_path / "case.json").write_text(' {\n "schema" : "wirespeed/case/1", "manifest": {}}')
    assert is_case(tmp_path / "case.json")


def _zip_of_noise(place: Path, count: int, size_bytes: int) -> Path:
    """Members of some size, each with words of its own."""
    with zipfile.ZipFile(place, "w") as archive:
        for number in range(count):
            archive.writestr(str(number), f"member {number} of many\n".encode().ljust(size_bytes, b"."))
    return place


def test_members_share_a_bound_on_memory_and_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MEMORY_IN_ALL_BYTES", 1_000_000)
    room = streams._Room()
    monkeypatch.setattr(streams, "_ROOM", room)
    folder = Path(streams._folder().name)
    before = set(folder.iterdir())
    kept = list(open_inputs((str(_zip_of_noise(tmp_path / "many.zip", 30, 100_000)),)))
    assert room._taken_bytes == 1_000_000
    assert len(set(folder.iterdir()) - before) == 20
    assert [next(iter(one))[1][:9].strip() for one in kept if not isinstance(one, Problem)] == [
        f"member {number}"[:9].strip() for number in range(30)
    ]
    del kept
    assert room._taken_bytes == 0
    assert set(folder.iterdir()) == before


def test_many_spools_need_few_descriptors(tmp_path: Path) -> None:
    content = b"some words of a line\n" * (5 * 1024 * 1024 // 21)
    for number in range(12):
        (tmp_path / f"{number}.gz").write_bytes(gzip.compress(content, 1))
    in_use = len(list(Path("/proc/self/fd").iterdir()))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 8, limits[1]))
    try:
        kept = list(open_inputs((str(tmp_path),)))
        assert sum(not isinstance(one, Problem) and next(iter(one))[1] == "some words of a line" for one in kept) == 12
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
