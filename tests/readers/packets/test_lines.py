"""A capture file's lines are what tcpdump prints for it, and saying more or less is on purpose."""

import re

import pytest

from readers.packets.captures import DATA, Bytes, content, lines_of, read, read_text
from wirespeed.readers.packets.lines import PacketLines

PRINTED = sorted(path.name.removesuffix(".tcpdump.txt") for path in DATA.glob("*.tcpdump.txt"))


def _theirs(name: str) -> list[str]:
    """One line a packet, without checksums, interface names and what tcpdump says of payloads that we do not open."""
    lines: list[str] = []
    for line in (DATA / f"{name}.tcpdump.txt").read_text(encoding="utf-8").split("\n"):
        if re.match(r" *\d+  \d{4}-", line):
            lines.append(line)
        elif line.strip():
            lines[-1] += f" {line.strip()}"
    return [_bare(line) for line in lines]


def _bare(line: str) -> str:
    line = re.sub(r", cksum 0x[0-9a-f]+ \([^)]*\)| \[(?:udp|bad udp|bad icmp6|icmp6|no cksum)[^]]*\]", "", line)
    line = re.sub(r" (?:lo   |if1|) ?(?:In |Out) (?=IP)", " ", line)
    line = re.sub(r", flags \[I\] \(0x08\)|, Flags \[none\]", "", line)
    line = line.replace("vni 0x2a", "vni 42")
    return re.sub(r"(vni 42|length 64):? (?=IP)", r"\1 ", line)


def test_lines_are_those_of_tcpdump() -> None:
    assert {"blackhole_server", "layers", "tunnels", "any"} <= set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_each_packet_is_printed_as_tcpdump_prints_it(name: str) -> None:
    ours = [_bare(line) for line in lines_of(content(name)) if re.match(r" *\d+  ", line)]
    theirs = _theirs(name)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        said = re.search(r": (?:HTTP|TLS)", mine)
        mine = mine[: said.start()] if said else mine
        if "unreachable" in other or "time exceeded" in other:  # the packet that an ICMP message quotes stands behind
            assert other.startswith(mine)
        elif mine.endswith(")") and re.search(r"\b\d+/\d+/\d+ ", other):  # answers of name servers are counted, not told
            assert other.startswith(re.sub(r" \(\d+\)$", "", mine))
        else:
            assert mine == other


@pytest.mark.parametrize("name", PRINTED)
def test_the_text_of_a_capture_gives_the_records_of_the_capture(name: str) -> None:
    """What a case file keeps of a capture is its text."""
    shown = [(type(one), one.quotes) for one in read(content(name))]
    again = [(type(one), one.quotes) for one in read_text("\n".join(lines_of(content(name))))]
    assert [kind for kind, _ in shown] == [kind for kind, _ in again]
    for (_, before), (_, after) in zip(shown, again, strict=True):
        assert [(one.line_index, one.text) for one in before] == [(one.line_index, one.text) for one in after]


def test_no_payload_is_shown() -> None:
    for name in ("healthy", "tls_ok", "new_each"):
        text = "\n".join(lines_of(content(name)))
        assert "Host:" not in text and "xxx" not in text


@pytest.mark.parametrize("chunk_bytes", [1, 7, 1 << 20])
def test_lines_do_not_depend_on_chunks(chunk_bytes: int) -> None:
    lines = [line for _, line in PacketLines(Bytes(content("dns_slow"), chunk_bytes))]
    assert lines == lines_of(content("dns_slow"))
