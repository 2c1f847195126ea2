"""/proc/net/bonding/BOND, and the bond line of `ip -d link`: mode, hash policy and members of a bond."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.link import Bond
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import HEADER, value_after
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_START = regex(r"^\s*Ethernet Channel Bonding Driver:")
_ROW = regex(r"^\s*(?P<key>Bonding Mode|Transmit Hash Policy|Slave Interface|MII Status):\s*(?P<value>\S.*)$")
_NAMED = regex(r"/proc/net/bonding/(?P<name>[\w.-]+)")
_DETAIL = regex(r"^\s+bond mode \S+ .*")
_RECOGNISED = regex(r"Ethernet Channel Bonding Driver|\bBonding Mode:|\bSlave Interface:|\bTransmit Hash Policy:|\bbond mode \S+ ")
_MODES = (
    ("802.3ad", "802.3ad"), ("active-backup", "active-backup"), ("load balancing (round-robin)", "balance-rr"),
    ("load balancing (xor)", "balance-xor"), ("transmit load balancing", "balance-tlb"), ("adaptive load balancing", "balance-alb"),
    ("fault-tolerance (broadcast)", "broadcast"),
)  # fmt: skip
"""The kernel's words for a mode, and the name the mode is set by (drivers/net/bonding/bond_main.c)."""
_MOST_MEMBERS = 256


@dataclass(slots=True)
class _Open:
    """The bond whose lines are being read."""

    name: str
    host: str | None
    mode: str | None = None
    policy: str | None = None
    members: list[str] = field(default_factory=list)
    down: list[str] = field(default_factory=list)
    rows: list[Seen] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    bond: _Open | None = None
    name = "?"
    for seen in excerpt(lines, _is_own):
        named = _NAMED.search(seen.text)
        if named or seen.is_prompt or _START.match(seen.text):
            if bond:
                yield _bond(lines, bond)
            bond = None
            name = named["name"] if named else "?" if seen.is_prompt else name
            continue
        header = HEADER.match(seen.text)
        if header:
            name = header["name"]
        elif _DETAIL.match(seen.text):
            yield _from_detail(lines, seen, name)
        row = _ROW.match(seen.text)
        if row:
            if bond and (row["key"] == "Bonding Mode" and bond.mode is not None):
                yield _bond(lines, bond)
                bond = None
            bond = bond or _Open(name, seen.host)
            _take(bond, seen, row["key"], row["value"].strip())
    if bond:
        yield _bond(lines, bond)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_START, _ROW, HEADER, _DETAIL))


def _take(bond: _Open, seen: Seen, key: str, value: str) -> None:
    if len(bond.members) >= _MOST_MEMBERS:
        return
    if key == "Bonding Mode":
        bond.mode = next((short for words, short in _MODES if words in value), value)
    elif key == "Transmit Hash Policy":
        bond.policy = value.split(" ")[0]
    elif key == "Slave Interface":
        bond.members.append(value)
    elif bond.members and value.split(" ")[0] != "up":
        bond.down.append(bond.members[-1])
    elif not bond.members:
        return
    bond.rows.append(seen)


def _bond(lines: Lines, bond: _Open) -> Bond:
    return Bond(
        source=source(lines, "/proc/net/bonding", bond.host),
        quotes=tuple(seen.quoted(lines) for seen in bond.rows),
        name=bond.name,
        mode=bond.mode,
        hash_policy=bond.policy,
        members=tuple(bond.members),
        members_down=tuple(bond.down),
    )


def _from_detail(lines: Lines, seen: Seen, name: str) -> Bond:
    words = seen.text.split()
    return Bond(
        source=source(lines, "ip -d link", seen.host),
        quotes=(seen.quoted(lines),),
        name=name,
        mode=value_after(words, "mode"),
        hash_policy=value_after(words, "xmit_hash_policy"),
    )


READER = Reader(
    title=Text(en="bonds", zh="链路聚合（bond）"),
    gives=(Bond,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /proc/net/bonding/BOND",),
)
