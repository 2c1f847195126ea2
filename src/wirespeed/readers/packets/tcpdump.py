"""Lines of tcpdump, with names or numbers, with and without `-v`, `-e`, `-S`, `-t...` and a prefix of whoever collected them, as packets."""

import re
from dataclasses import dataclass
from functools import lru_cache

from wirespeed.readers.packets.clock import STAMP, Clock, are_deltas
from wirespeed.readers.packets.packet import ArpAnswer, DnsMessage, Packet, Report, Segment, Topic

LINES = (
    r"\bIP6? [^\n]{0,200}?\S > \S{1,255}: (?:Flags \[|ICMP|UDP, |\d{1,5}[+*%$|-]* )",
    r"\S\.[\w-]+ > \S+\.[\w-]+: Flags \[[A-Za-z.]{1,9}\], ",
    r"\.(?:53|domain): [^\n]{0,60}\b(?:A|AAAA)\? ",
    r"\bARP, (?:Ethernet \(len 6\), IPv4 \(len 4\), )?(?:Request who-has|Reply) ",
    r"\bethertype ARP \(0x0806\), ",
    r": ICMP6?,? [^\n]{0,80}(?:unreachable|too big|exceeded)",
)
"""Lines of tcpdump: what recognition looks for."""
_MOST_BEFORE_STAMP = 100
MOST_QUOTED_CHARACTERS = 500
"""A packet's line is quoted so far; nothing that is read stands behind."""
_TAIL = re.compile(
    r"(?P<source>\S{1,255}) > (?P<target>\S{1,255}): Flags \[(?P<flags>[A-Za-z.]{1,9})\](?:, cksum 0x[0-9a-f]{1,4} \([^)]{0,40}\))?"
    r"(?:, seq (?P<sequence>\d{1,10})(?::(?P<end>\d{1,10}))?)?(?:, ack (?P<ack>\d{1,10}))?(?:, win (?P<window>\d{1,10}))?"
    r"(?:, urg \d+)?(?:, options \[(?P<options>[^\]]{0,400})\]{0,2})?(?:, length (?P<length>\d{1,7}))?(?P<rest>.*)"
)
_TTL = re.compile(r"\b(?:ttl|hlim) (\d{1,3})\b(?:, id (\d{1,5})\b)?")
_ENDS = re.compile(r"(?P<source>\S{1,255}) > (?P<target>\S{1,255}): (?P<rest>.*)")
_NUMBER = re.compile(
    r"(?:\[[^\]]{1,40}\] )?(?P<number>\d{1,5})(?P<signs>[+*%$|-]*)(?P<code> [A-Z]\w{3,9})?(?P<more>[+*%$|-]*)(?=[ :])"
)
_QUESTION = re.compile(r"\b(?P<type>[A-Z][A-Z0-9]{0,9}|Type\d{1,5})\? (?P<name>[\w.*-]{1,255})")
_COUNTS = re.compile(r"(?<![\d/])\d{1,3}/\d{1,3}/\d{1,3}(?![\d/])")
_BARE_CODE = re.compile(r"^\W{0,3}(NXDomain|ServFail|Refused|FormErr|NotImp)\b")
# A host answers TCP to a closed port with a reset: an ICMP message in its place is a filter's.
_REPORTS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    ("too-big", re.compile(r"(?:(?P<target>\S+) unreachable - need to frag \(mtu|packet too big, mtu) (?P<mtu>\d{2,5})")),
    (
        "prohibited",
        re.compile(r"(?:host|net|) ?(?P<target>\S+) unreachable - admin|unreachable prohibited (?P<target6>[0-9a-f:.]+)"),
    ),
    ("prohibited", re.compile(r"(?P<target>\S+) tcp port \S+ unreachable|unreachable port, (?P<target6>[0-9a-f:.]+) tcp ")),
    ("port-unreachable", re.compile(r"(?P<target>\S+) udp port \S+ unreachable|unreachable port,? (?P<target6>[0-9a-f:.]+)")),
    ("host-unreachable", re.compile(r"host (?P<target>\S+) unreachable|unreachable address (?P<target6>[0-9a-f:.]+)")),
    ("net-unreachable", re.compile(r"net (?P<target>\S+) unreachable|unreachable route (?P<target6>[0-9a-f:.]+)")),
    ("expired", re.compile(r"time exceeded in-transit")),
    ("redirect", re.compile(r"redirect (?P<target>\S+) to (?:host|net)")),
)
_ARP = re.compile(r"\b(?:ARP, )?[Rr]eply (?P<address>\d{1,3}(?:\.\d{1,3}){3}) is-at (?P<mac>[0-9a-f]{1,2}(?::[0-9a-f]{1,2}){5})")
PORTS = {
    "ftp": 21, "ssh": 22, "smtp": 25, "domain": 53, "http": 80, "kerberos": 88, "sunrpc": 111, "ntp": 123, "bgp": 179, "ldap": 389,
    "https": 443, "ldaps": 636, "iscsi-target": 3260, "mysql": 3306, "ms-sql-s": 1433, "ms-wbt-server": 3389, "postgresql": 5432,
    "amqp": 5672, "redis": 6379, "http-alt": 8080, "webcache": 8080, "nfs": 2049, "commplex-main": 5000, "commplex-link": 5001,
    "irdmi": 8000, "vcom-tunnel": 8001, "teradataordbms": 8002, "zabbix-agent": 10050, "pcsync-https": 8443, "elipse-rec": 29500,
    "cslistener": 9000, "websm": 9090, "ipp": 631, "rtsp": 554,
}  # fmt: skip
"""Services that tcpdump names (/etc/services), as far as they occur here."""


@dataclass(slots=True)
class _About:
    """What `-v` tells of the IP header, on the line itself or on the one before."""

    at_ns: int
    label: str
    ttl: int | None
    identity: int | None


class Tcpdump:
    """Reads lines as they come; tells in the end when the first and the last packet came, and how many there were."""

    def __init__(self, head: str = "") -> None:
        stamps = [found for line in head.split("\n")[:400] if " > " in line or "(tos " in line if (found := _stamp(line))]
        self._clock = Clock(are_deltas(stamps))
        self._about: _About | None = None
        self._is_inside = False
        self.packets_count = 0
        self.cut_count = 0
        """Lines of segments that break off."""
        self.first_cut_index: int | None = None
        self.first_ns: int | None = None
        """None where no line had a time."""
        self.last_ns = 0

    def packet(self, index: int, line: str) -> Packet | None:
        """The packet on this line; None for lines of anything else, and for packets that nothing is read of."""
        is_packet, is_arp = " > " in line, "ARP" in line or " is-at " in line
        if not is_packet and not is_arp and "(tos " not in line:
            if self._clock.is_delta and (stamp := _stamp(line)):
                self.last_ns = self._clock.at_ns(stamp)
            return None
        if self._is_quoted(line):
            return None
        line = line[:MOST_QUOTED_CHARACTERS]
        about = self._about_of(line)
        if not is_packet and not is_arp:
            self._about = about
            return None
        self._about = None
        packet = _of_line(index, line, about)
        if packet is None and ": Flags [" in line and STAMP.match(line):
            self.cut_count += 1
            self.first_cut_index = index if self.first_cut_index is None else self.first_cut_index
        self.packets_count += packet is not None or "IP" in line or is_arp
        return packet

    def _is_quoted(self, line: str) -> bool:
        """Whether a line is the packet that an ICMP message complains of: `-v` prints its header behind a tab, the rest below."""
        if line.startswith(("\tIP", "\t(tos ")):
            self._is_inside = True
            return True
        was_inside, self._is_inside = self._is_inside, False
        return was_inside and _stamp(line) is None

    def _about_of(self, line: str) -> _About:
        """Time and IP header of a line; without a time of its own it continues the line before (`-v`)."""
        stamp = _stamp(line)
        if stamp is None:
            before = self._about
            if before is not None:
                return before
            return _About(self.last_ns, "", *_header(line))
        at_ns = self._clock.at_ns(stamp)
        if self.first_ns is None:
            self.first_ns = at_ns
        self.last_ns = max(at_ns, self.last_ns)
        place = line.find("IP", stamp.end())
        label = line[stamp.end() : place if place >= 0 else stamp.end()].strip()[:80]
        return _About(at_ns, label, *_header(line))


def _stamp(line: str) -> re.Match[str] | None:
    return STAMP.search(line, 0, _MOST_BEFORE_STAMP)


def _header(line: str) -> tuple[int | None, int | None]:
    """TTL and identification, where `-v` prints them: of the innermost packet, where one is inside another."""
    place = max(line.rfind(" ttl "), line.rfind("hlim "))
    found = _TTL.search(line, place) if place >= 0 else None
    return (int(found[1]), int(found[2]) if found[2] else None) if found else (None, None)


def _of_line(index: int, line: str, about: _About) -> Packet | None:
    if " is-at " in line:
        found = _ARP.search(line)
        return ArpAnswer(index, line, about.at_ns, found["address"], found["mac"]) if found else None
    place = line.find(": Flags [")
    if place >= 0:
        return _segment(index, line, about, place)
    ends = _ENDS.match(line, line.rfind(" ", 0, line.rfind(" > ")) + 1)
    if ends is None:
        return None
    if ends["rest"].startswith("ICMP"):
        return _report(index, line, about, ends)
    return _dns(index, line, about, ends)


@lru_cache(maxsize=65_536)
def endpoint(text: str) -> tuple[str, int | None]:
    """`10.0.0.1.443`, `2001:db8::1.443` or `host.example.https` as address and port; None for a port's unknown name."""
    address, _, port = text.rpartition(".")
    if not address:
        return text, None
    return address, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else PORTS.get(port)


def _segment(index: int, line: str, about: _About, place: int) -> Segment | None:
    start = line.rfind(" > ", 0, place)
    found = _TAIL.match(line, line.rfind(" ", 0, start) + 1)
    if found is None or found["length"] is None or "." not in found["source"] or "." not in found["target"]:
        return None
    source, source_port = endpoint(found["source"])
    target, target_port = endpoint(found["target"])
    sequence = found["sequence"]
    return Segment(
        index=index,
        line=line,
        at_ns=about.at_ns,
        label=about.label,
        source=source,
        source_port=source_port,
        target=target,
        target_port=target_port,
        flags=found["flags"],
        sequence=int(sequence) if sequence else None,
        length=int(found["length"]),
        ack=int(found["ack"]) if found["ack"] else None,
        window=int(found["window"]) if found["window"] else None,
        options=found["options"] or "",
        ttl=about.ttl,
        identity=about.identity,
        says=found["rest"].lstrip(": ")[:200],
    )


def _dns(index: int, line: str, about: _About, found: re.Match[str]) -> DnsMessage | None:
    source, source_port = endpoint(found["source"])
    target, target_port = endpoint(found["target"])
    if 53 not in (source_port, target_port):
        return None
    rest = found["rest"]
    numbered = _NUMBER.match(rest)
    question = _QUESTION.search(rest)
    number = int(numbered["number"]) if numbered else None
    kind, name = (question["type"], question["name"].rstrip(".").lower()) if question else (None, None)
    if target_port == 53 and source_port != 53:
        return DnsMessage(index, line, about.at_ns, source, source_port, target, number, kind, name, None) if question else None
    code = numbered["code"] if numbered else None
    bare = _BARE_CODE.match(rest)
    answer = code.strip() if code else bare[1] if bare else "NoError"
    if not numbered and not bare and not _COUNTS.search(rest) and not rest.startswith(("A ", "AAAA ", "CNAME ")):
        return None
    return DnsMessage(index, line, about.at_ns, target, target_port, source, number, kind, name, answer)


def _report(index: int, line: str, about: _About, found: re.Match[str]) -> Report | None:
    for topic, wording in _REPORTS:
        told = wording.search(found["rest"])
        if told:
            parts = told.groupdict()
            mtu = parts.get("mtu")
            target = parts.get("target") or parts.get("target6")
            return Report(index, line, about.at_ns, topic, found["source"], target, int(mtu) if mtu else None)
    return None
