"""`ethtool --json` of rings (`-g`), channels (`-l`), coalescing (`-c`), pause (`-a`, with `-I` also its counters) and features (`-k`).

The names are those of ethtool's netlink printers; what an object holds tells which command printed it.
"""

from collections.abc import Iterator
from typing import Any

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter, LinkChannels, LinkCoalescing, LinkOffload, LinkPause, LinkRings
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.json_excerpt import Document, documents, number
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_FEATURES = 200
"""Linux has some seventy; each is looked for in the document's lines."""

_MARK = regex(
    r"\"ifname\"\s*:\s*\"[^\"\n]{1,32}\"\s*,\s*\"(?:rx-max|rx-mini-max|tx-max|combined-max|adaptive-rx|rx-usecs|autonegotiate|rx-checksumming|tx-checksumming)\""
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for document in documents(lines):
        for told in document.objects():
            link = told.get("ifname")
            if isinstance(link, str):
                yield from _of_object(lines, document, link, told)


def _of_object(lines: Lines, document: Document, link: str, told: dict[str, Any]) -> Iterator[Record]:
    origin = source(lines, "ethtool --json")

    def quotes(*names: str) -> tuple[Quote, ...]:
        return tuple(dict.fromkeys(document.quoted(lines, f'"{name}"') for name in names if name in told)) or (
            document.quoted(lines, link),
        )

    if "combined-max" in told or "combined" in told:
        yield LinkChannels(
            source=origin,
            quotes=quotes("combined-max", "combined", "rx", "tx"),
            link=link,
            rx_count=number(told.get("rx")),
            rx_max_count=number(told.get("rx-max")),
            tx_count=number(told.get("tx")),
            tx_max_count=number(told.get("tx-max")),
            combined_count=number(told.get("combined")),
            combined_max_count=number(told.get("combined-max")),
        )
    elif number(told.get("rx-max")) is not None and number(told.get("rx")) is not None:
        yield LinkRings(
            source=origin,
            quotes=quotes("rx-max", "rx", "tx-max", "tx"),
            link=link,
            rx_entries=number(told.get("rx")),
            rx_max_entries=number(told.get("rx-max")),
            tx_entries=number(told.get("tx")),
            tx_max_entries=number(told.get("tx-max")),
        )
    elif "adaptive-rx" in told or "rx-usecs" in told:
        yield LinkCoalescing(
            source=origin,
            quotes=quotes("adaptive-rx", "rx-usecs", "rx-frames", "tx-usecs"),
            link=link,
            is_adaptive_rx=_flag(told.get("adaptive-rx")),
            is_adaptive_tx=_flag(told.get("adaptive-tx")),
            rx_delay_s=_delay_s(told.get("rx-usecs")),
            tx_delay_s=_delay_s(told.get("tx-usecs")),
            rx_frames_count=number(told.get("rx-frames")),
            tx_frames_count=number(told.get("tx-frames")),
        )
    elif "autonegotiate" in told and "rx" in told:
        yield LinkPause(
            source=origin,
            quotes=quotes("autonegotiate", "rx", "tx"),
            link=link,
            autonegotiates=_flag(told.get("autonegotiate")),
            rx_is_on=_flag(told.get("rx")),
            tx_is_on=_flag(told.get("tx")),
        )
        yield from _counters(lines, document, origin, link, told.get("statistics"))
    else:
        yield from _features(lines, document, origin, link, told)


def _counters(lines: Lines, document: Document, origin: Source, link: str, told: object) -> Iterator[Counter]:
    for name, value in list(told.items())[:MOST_FEATURES] if isinstance(told, dict) else ():
        count = number(value)
        if isinstance(name, str) and count is not None:
            yield Counter(
                source=origin,
                quotes=(document.quoted(lines, f'"{name}"'),),
                scope=link,
                name=name,
                value_count=count,
                canonical=canonical_name(name),
            )


def _features(lines: Lines, document: Document, origin: Source, link: str, told: dict[str, Any]) -> Iterator[LinkOffload]:
    for name, state in list(told.items())[:MOST_FEATURES]:
        if isinstance(state, dict) and isinstance(state.get("active"), bool):
            yield LinkOffload(
                source=origin,
                quotes=(document.quoted(lines, f'"{name}"'),),
                link=link,
                feature=name,
                is_on=state["active"],
                is_fixed=state.get("fixed") is True,
            )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _delay_s(value: object) -> float | None:
    micros = number(value)
    return None if micros is None else time_in_s(micros, "us")


READER = Reader(
    title=Text(en="ethtool --json", zh="ethtool --json"),
    gives=(Counter, LinkChannels, LinkCoalescing, LinkOffload, LinkPause, LinkRings),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("ethtool --json -g IFACE",),
)
