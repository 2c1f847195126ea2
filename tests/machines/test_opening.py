"""Whatever a user names is opened, or refused with a reason; archives cannot harm. Contents are synthetic."""

import bz2
import gzip
import io
import lzma
import os
import re
import resource
import sys
import tarfile
import time
import tracemalloc
import zipfile
from pathlib import Path

import msgspec
import pytest
import zstandard

from wirespeed.archive import casefile, store
from wirespeed.archive.store import Run
from wirespeed.machines import archives, opening
from wirespeed.machines.machine import Output
from wirespeed.machines.opening import open_inputs
from wirespeed.model.lines import MOST_LINE_CHARACTERS, Lines
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.source import Problem

TEXT = "Settings for eth0:\n\tSpeed: 100000Mb/s\n"


def opened(*paths: object) -> tuple[dict[str, list[str]], list[Problem]]:
    texts: dict[str, list[str]] = {}
    problems: list[Problem] = []
    for item in open_inputs(tuple(str(path) for path in paths)):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            texts[item.path] = [line for _, line in item]
    return texts, problems


def tar_of(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, lzma.compress, bz2.compress, zstandard.ZstdCompressor().compress],
    ids=["plain", "gz", "xz", "bz2", "zst"],
)
def test_a_text_in_any_wrapping(tmp_path: Path, pack: object) -> None:
    (tmp_path / "one").write_bytes(pack(TEXT.encode()))
    (tmp_path / "two").write_bytes(pack(tar_of(a=TEXT.encode(), b=b"x\n")))
    texts, problems = opened(tmp_path / "one", tmp_path / "two")
    assert not problems
    lines = TEXT.rstrip("\n").split("\n")
    assert texts[str(tmp_path / "one")][:2] == lines
    assert texts[f"{tmp_path / 'two'}!a"][:2] == lines
    assert texts[f"{tmp_path / 'two'}!b"][0] == "x"


def test_nesting_stops_after_one_level(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of(log=TEXT.encode()))
    (tmp_path / "once.tar").write_bytes(tar_of(inner=inner, packed=gzip.compress(TEXT.encode())))
    (tmp_path / "twice.tar").write_bytes(tar_of(middle=tar_of(inner=inner)))
    texts, problems = opened(tmp_path / "once.tar", tmp_path / "twice.tar")
    assert set(texts) == {f"{tmp_path / 'once.tar'}!inner!log", f"{tmp_path / 'once.tar'}!packed"}
    assert [one.source.path for one in problems] == [f"{tmp_path / 'twice.tar'}!middle!inner"]
    assert "too deep" in problems[0].why.en


def test_a_hostile_tar_is_refused_member_by_member(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("../../outside", "/etc/absolute", "good"):
            info = tarfile.TarInfo(name)
            info.size = len(TEXT)
            archive.addfile(info, io.BytesIO(TEXT.encode()))
        for name, kind in (
            ("link", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("null", tarfile.CHRTYPE),
            ("pipe", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    (tmp_path / "bad.tar").write_bytes(buffer.getvalue())
    texts, problems = opened(tmp_path / "bad.tar")
    assert set(texts) == {f"{tmp_path / 'bad.tar'}!good"}
    assert [one.why.en.split()[0] for one in problems] == ["2", "2", "2"]
    assert list(tmp_path.iterdir()) == [tmp_path / "bad.tar"]


def test_a_hostile_zip_is_refused_member_by_member(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../outside", TEXT)
        archive.writestr("good", TEXT)
        link = zipfile.ZipInfo("link")
        link.external_attr = 0xA1ED << 16
        archive.writestr(link, "/etc/passwd")
    texts, problems = opened(tmp_path / "bad.zip")
    assert set(texts) == {f"{tmp_path / 'bad.zip'}!good"}
    assert len(problems) == 2


def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path) -> None:
    """300 MiB of one letter pack into about 300 KiB."""
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=9) as file:
        for _ in range(300):
            file.write(b"a" * 1024 * 1024)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("big", "w") as member:
        for _ in range(300):
            member.write(b"a" * 1024 * 1024)
    texts, problems = opened(tmp_path / "bomb.gz", tmp_path / "bomb.zip")
    assert not texts
    assert all("times its size" in one.why.en for one in problems)
    assert len(problems) == 2


def test_a_header_that_claims_to_be_huge_is_damage(tmp_path: Path) -> None:
    """A pax header of 1 GiB, which the tar library would read into memory; the file is sparse."""
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1024**3
    with (tmp_path / "pax.tar").open("wb") as file:
        file.write(info.tobuf(tarfile.USTAR_FORMAT))
        file.truncate(1024**3 + 4096)
    tracemalloc.start()
    texts, problems = opened(tmp_path / "pax.tar")
    assert tracemalloc.get_traced_memory()[1] < 100 * 1024**2
    tracemalloc.stop()
    assert not texts
    assert "damaged" in problems[0].why.en


def test_bounds_on_members_and_total_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "many.tar").write_bytes(tar_of(a=b"1\n", b=b"2\n", c=b"3\n"))
    monkeypatch.setattr(opening, "Budget", lambda: archives.Budget(left_members=2))
    texts, problems = opened(tmp_path / "many.tar")
    assert len(texts) == 2
    assert "left out" in problems[0].why.en
    monkeypatch.setattr(opening, "Budget", lambda: archives.Budget(left_bytes=3))
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for name in "abc":
            archive.writestr(name, "1\n")
    texts, problems = opened(tmp_path / "many.zip")
    assert len(texts) == 1
    assert "in all" in problems[0].why.en


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 4096])
def test_a_gzip_stream_of_several_members_in_chunks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(archives, "CHUNK_BYTES", chunk_bytes)
    first, second = b"".join(b"line %d\n" % at for at in range(500)), b"x" * 8192
    (tmp_path / "two.gz").write_bytes(gzip.compress(first) + gzip.compress(b"") + gzip.compress(second) + bytes(1000))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(first)[:-1])
    (tmp_path / "tail.gz").write_bytes(gzip.compress(first) + b"no gzip at all")
    texts, problems = opened(tmp_path)
    for name, content in (("two.gz", first + second), ("cut.gz", first), ("tail.gz", first)):
        assert "\n".join(texts[str(tmp_path / name)]).rstrip("\n") == content.decode().rstrip("\n"), name
    assert sorted(Path(one.source.path).name for one in problems) == ["cut.gz", "tail.gz"]
    assert all("damaged after" in one.why.en for one in problems)


def test_a_damaged_archive_gives_what_came_before(tmp_path: Path) -> None:
    chance = os.urandom(200_000).hex().encode()
    packed = gzip.compress(b"first line\n" + chance)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "junk.gz").write_bytes(b"\x1f\x8b\x08" + bytes(40))
    texts, problems = opened(tmp_path / "cut.gz", tmp_path / "junk.gz")
    assert texts[str(tmp_path / "cut.gz")][0] == "first line"
    assert "damaged after" in problems[0].why.en
    assert "cannot be unpacked" in problems[1].why.en


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("héllo\r\nwörld\r\n".encode(), ["héllo", "wörld"]),
        ("﻿héllo\nwörld".encode(), ["héllo", "wörld"]),
        ("héllo\r\nwörld\n".encode("utf-16"), ["héllo", "wörld"]),
        ("hello\nworld\n".encode("utf-16-le"), ["hello", "world"]),
        ("hello\nworld\n".encode("utf-16-be"), ["hello", "world"]),
        ("héllo\nwörld\n".encode("latin-1"), ["héllo", "wörld"]),
        (b"\x1b[1;31mError\x1b[0m: rx \x1b]0;title\x07lost\n", ["Error: rx lost"]),
        (b"rx lost \0packets on eth0\n", ["rx lost packets on eth0"]),
        (b"10%\r20%\r\n", ["10%\r20%"]),
        ("温度过高\n".encode(), ["温度过高"]),
        (b"", []),
        (b"no end", ["no end"]),
        (b"\n\nthird", ["", "", "third"]),
    ],
)
def test_lines_are_what_a_user_sees(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    (tmp_path / "log").write_bytes(content)
    texts, problems = opened(tmp_path / "log")
    assert not problems
    assert texts[str(tmp_path / "log")] == expected


def test_lines_can_be_read_twice_and_agree_with_the_whole(tmp_path: Path) -> None:
    written = [f"line {number} " + "x" * (number % 700) for number in range(9000)]
    (tmp_path / "log").write_text("\n".join(written), encoding="utf-8")
    (tmp_path / "log.gz").write_bytes(gzip.compress("\n".join(written).encode()))
    for name in ("log", "log.gz"):
        (lines,) = open_inputs((str(tmp_path / name),))
        assert not isinstance(lines, Problem)
        assert [line for _, line in lines] == [line for _, line in lines] == written
        assert lines.whole() == "\n".join(written)
        assert [index for index, _ in lines] == list(range(9000))
        assert all(a == b for (_, a), (_, b) in zip(lines, lines, strict=True)), "two readings at once"
        assert lines.head == "\n".join(written)[:65536]


def test_one_endless_line_is_cut(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"y" * 5_000_000 + b"\nnext\n")
    texts, _ = opened(tmp_path / "log")
    first, second = texts[str(tmp_path / "log")]
    assert (len(first), second) == (MOST_LINE_CHARACTERS, "next")


def test_binary_files_are_counted_and_named_only_when_asked_for(tmp_path: Path) -> None:
    for name in ("image", "other"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "log").write_text(TEXT)
    texts, problems = opened(tmp_path)
    assert texts == {str(tmp_path / "log"): TEXT.rstrip("\n").split("\n")}
    assert [one.why.en for one in problems] == ["2 binary files of kinds that are not read"]
    _, problems = opened(tmp_path / "image")
    assert "binary" in problems[0].why.en


def test_a_directory_is_read_in_order_and_links_stay_inside(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in ("b/two", "a", "c", ".git/config"):
        (folder / name).write_text(name)
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "in").symlink_to("a")
    os.mkfifo(folder / "pipe")
    texts, problems = opened(folder)
    assert list(texts) == [str(folder / name) for name in ("a", "c", "in", "b/two")]
    assert [one.source.path for one in problems] == [str(folder / "out")]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _, problems = opened(tmp_path / "nothing", tmp_path / "pipe", "/dev/zero")
    assert [one.reason for one in problems] == ["absent", None, None]
    assert len(problems) == 3


def test_standard_input_is_spooled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT.encode()))))
    texts, problems = opened("-")
    assert texts == {"-": TEXT.rstrip("\n").split("\n")}
    assert not problems


def test_runs_and_case_files_give_what_the_user_gave(tmp_path: Path) -> None:
    replies = (
        Reply(kind="file", request="/proc/net/softnet_stat", content=b"00000004 00000000\n"),
        Reply(kind="file", request="/sys/bus/pci/devices/0000:81:00.0/config", content=bytes(64)),
        Reply(kind="file", request="/sys/class/net/eth0/mtu", content=b"1500\n"),
        Reply(kind="file", request="/proc/modules", reason="absent"),
        Reply(kind="command", request="uname -r", content=msgspec.json.encode(Output(exit_code=0, stdout=b"6.18\n"))),
        Reply(kind="netlink", request="0 00", content=b"\1\2\3\4"),
        Reply(kind="input", request="nccl.log", content=b"NCCL INFO Using network IB\n"),
    )
    kept = Run(manifest=Manifest(host="node-a"), replies=replies)
    store.write_run(kept, tmp_path / "run")
    casefile.write_case(kept, tmp_path / "case.json")
    for name in ("run", "case.json"):
        texts, problems = opened(tmp_path / name)
        assert not problems
        assert {path.partition("!")[2]: lines[0] for path, lines in texts.items()} == {
            "nccl.log": "NCCL INFO Using network IB",
        }


def test_a_run_cannot_name_files_outside(tmp_path: Path) -> None:
    store.write_run(Run(manifest=Manifest(), replies=(Reply(kind="input", request="a", content=b"x"),)), tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    manifest.write_text(re.sub(r"input/\w+", "../../../../etc/passwd", manifest.read_text()))
    texts, problems = opened(tmp_path / "run")
    assert not texts
    assert len(problems) == 1


@pytest.mark.exhaustive
def test_a_gigabyte_is_streamed_in_bounded_memory(tmp_path: Path) -> None:
    line = b"node-a:12:34 [0] NCCL INFO Channel 00/08 : 0[0] -> 1[1] via P2P/IPC and some more words to fill it\n"
    with (tmp_path / "log").open("wb") as file:
        for _ in range(1024):
            file.write(line * (1024 * 1024 // len(line)))
    (lines,) = open_inputs((str(tmp_path / "log"),))
    assert not isinstance(lines, Problem)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    count = sum(1 for _ in lines)
    took_s = time.perf_counter() - start
    assert count >= 1024 * (1024 * 1024 // len(line))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert took_s < 60


def test_ten_megabytes_need_few(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"some words of a log line that is read\n" * (10 * 1024 * 1024 // 38))
    (lines,) = open_inputs((str(tmp_path / "log"),))
    tracemalloc.start()
    assert _count(lines) == 10 * 1024 * 1024 // 38
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024


def _count(lines: Lines | Problem) -> int:
    assert not isinstance(lines, Problem)
    return sum(1 for _ in lines)
