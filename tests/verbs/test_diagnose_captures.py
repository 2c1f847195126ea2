"""`diagnose` on packet captures: as files, compressed, in archives, and in saved cases that hold no payload."""

import gzip
import shutil
import tarfile
from pathlib import Path

import pytest

from wirespeed.model.flows import TcpFlow
from wirespeed.verbs import diagnose
from wirespeed.verbs.diagnose import Answer, Options

CAPTURES = Path(__file__).parents[1] / "data" / "captures"


def _answer(*paths: Path, save: Path | None = None) -> Answer:
    return diagnose.run(Options(inputs=tuple(map(str, paths)), save=str(save) if save else None))


def test_a_capture_is_diagnosed_and_quotes_its_packets() -> None:
    answer = _answer(CAPTURES / "blackhole_server.pcap")
    assert answer.findings[0].cause == "pmtu-blackhole"
    assert [one.recognised_as for one in answer.inputs] == ["packet_capture"]
    assert not answer.problems and not answer.unread
    quoted = {quote.line_index: quote.text for quote in answer.findings[0].evidence[0].quotes}
    assert all(text.startswith(f"{index + 1:5d}  2026-") for index, text in quoted.items())
    assert 18 in quoted  # packet 19, the first that is sent again


@pytest.mark.parametrize("pack", ["gz", "tar", "directory"])
def test_packed_captures_are_found(tmp_path: Path, pack: str) -> None:
    source = CAPTURES / "keepalive.pcap"
    match pack:
        case "gz":
            path = tmp_path / "capture.pcap.gz"
            path.write_bytes(gzip.compress(source.read_bytes()))
        case "tar":
            path = tmp_path / "report.tar.gz"
            with tarfile.open(path, "w:gz") as archive:
                archive.add(source, "var/tmp/keepalive.pcap")
        case _:
            path = tmp_path / "folder"
            path.mkdir()
            shutil.copy(source, path)
    assert _answer(path).findings[0].cause == "keepalive-timeout-reset"


def test_a_saved_case_holds_lines_and_gives_the_same(tmp_path: Path) -> None:
    saved = tmp_path / "case.json"
    before = _answer(CAPTURES / "nagle.pcap", save=saved)
    text = saved.read_text(encoding="utf-8")
    assert "Flags [P.]" in text and "hhhh" not in text and "base64" not in text
    after = _answer(saved)
    assert after.findings[0].cause == before.findings[0].cause == "nagle-delayed-ack"
    assert after.findings[0].evidence[0].values == before.findings[0].evidence[0].values


def test_damage_is_told_and_the_rest_is_used(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes((CAPTURES / "new_each.pcap").read_bytes()[:-7])
    answer = _answer(path)
    assert answer.findings[0].cause == "connection-reuse-missing"
    assert "ends in the middle of a packet" in answer.problems[0].why.en


def test_an_empty_capture_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.write_bytes((CAPTURES / "healthy.pcap").read_bytes()[:24])
    answer = _answer(path)
    assert not answer.findings and not answer.problems


def test_what_begins_like_a_capture_and_is_none_is_said(tmp_path: Path) -> None:
    path = tmp_path / "not.pcap"
    path.write_bytes(b"\xd4\xc3\xb2\xa1" + b"hello")
    answer = _answer(path)
    assert not answer.findings
    assert "too short for a capture file" in answer.problems[0].why.en


def test_a_long_text_of_tcpdump_is_read_line_by_line(tmp_path: Path) -> None:
    """Long texts that repeat themselves are shortened for other readers; of packets each one counts."""
    lines: list[str] = []
    for index in range(400):
        at = f"10:{index // 60:02d}:{index % 60:02d}"
        ends = ("192.0.2.1.40000 > 192.0.2.9.80", "192.0.2.9.80 > 192.0.2.1.40000")
        for part in range(20):
            first = 1 + 1448 * (20 * index + part)
            lines.append(f"{at}.{part:06d} IP {ends[1]}: Flags [.], seq {first}:{first + 1448}, ack 1, win 502, length 1448")
            lines.append(f"{at}.{part:06d} IP {ends[0]}: Flags [.], ack {first + 1448}, win 502, length 0")
    path = tmp_path / "tcpdump.txt"
    path.write_text("\n".join(lines) + "\n" + "#" * 200_000, encoding="utf-8")
    assert path.stat().st_size > 1024 * 1024
    _, case = diagnose.examine(Options(inputs=(str(path),)))
    (flow,) = case.every(TcpFlow)
    assert flow.server.payload_bytes == 1448 * 8000
    assert flow.server.retransmits_count == flow.missed_bytes == flow.server.never_arrived_bytes == 0
