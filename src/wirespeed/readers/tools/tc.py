"""`tc -s qdisc`, text and `-j`: queueing disciplines, their shaping and what they dropped."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.path import Qdisc
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, time_in_s
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_QDISC = regex(r"^\s*qdisc (?P<kind>[\w-]+) (?P<handle>[0-9a-f]*:) (?:dev (?P<link>\S+) )?(?P<rest>.*)$")
_SENT = regex(
    r"^\s+Sent (?P<bytes>\d+) bytes (?P<packets>\d+) pkts? \(dropped (?P<dropped>\d+), overlimits "
    r"(?P<overlimits>\d+) requeues (?P<requeues>\d+)\)"
)
_BACKLOG = regex(r"^\s+(?:rate \S+ \S+ )?backlog (?P<bytes>[\d.]+)(?P<scale>[KMG]?)b (?P<packets>\d+)p")
_RATE = regex(r"\b(?:rate|bandwidth) (?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGT]?bit)\b", re.IGNORECASE)
_DELAY = regex(r"\bdelay (?P<number>\d+(?:\.\d+)?)(?P<unit>ns|us|ms|s)\b")
_LOSS = regex(r"\bloss (?:random )?(?P<percent>\d+(?:\.\d+)?)%")
_PARENT = regex(r"\b(?:parent (?P<parent>\S+)|(?P<root>root|ingress))\b")
_RECOGNISED = regex(r"(?m)^[ \t]*(?:[\w.-]+: *)?qdisc [\w-]+ [0-9a-f]*: |\"kind\": ?\"[\w-]+\", ?\"handle\"")
_SCALES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at_hand: tuple[Seen, re.Match[str]] | None = None
    more: list[Seen] = []
    for seen in excerpt(lines, _is_own):
        opened = None if seen.is_prompt else _QDISC.match(seen.text)
        if at_hand and (opened or seen.is_prompt):
            yield _qdisc(lines, *at_hand, more)
            at_hand, more = None, []
        if opened:
            at_hand = (seen, opened)
        elif at_hand and len(more) < 2 and (_SENT.match(seen.text) or _BACKLOG.match(seen.text)):
            more.append(seen)
    if at_hand:
        yield _qdisc(lines, *at_hand, more)
    yield from _from_json(lines)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_QDISC, _SENT, _BACKLOG))


def _qdisc(lines: Lines, seen: Seen, opened: re.Match[str], more: list[Seen]) -> Qdisc:
    sent = next((found for one in more if (found := _SENT.match(one.text))), None)
    backlog = next((found for one in more if (found := _BACKLOG.match(one.text))), None)
    parent = _PARENT.search(opened["rest"])
    rate = _RATE.search(opened["rest"])
    delay = _DELAY.search(opened["rest"])
    loss = _LOSS.search(opened["rest"])
    return Qdisc(
        source=source(lines, "tc -s qdisc", seen.host),
        quotes=(seen.quoted(lines), *(one.quoted(lines) for one in more)),
        link=opened["link"] or "?",
        discipline=opened["kind"],
        handle=opened["handle"],
        parent=(parent["parent"] or parent["root"]) if parent else None,
        rate_bits_per_s=rate_in_bits_per_s(float(rate["number"]), f"{rate['unit']}/s") if rate else None,
        delay_s=time_in_s(float(delay["number"]), delay["unit"]) if delay else None,
        loss_ratio=float(loss["percent"]) / 100.0 if loss else None,
        sent_bytes=int(sent["bytes"]) if sent else None,
        sent_packets=int(sent["packets"]) if sent else None,
        dropped_packets=int(sent["dropped"]) if sent else None,
        overlimits_count=int(sent["overlimits"]) if sent else None,
        requeues_count=int(sent["requeues"]) if sent else None,
        backlog_bytes=round(float(backlog["bytes"]) * _SCALES[backlog["scale"]]) if backlog else None,
        backlog_packets=int(backlog["packets"]) if backlog else None,
    )


def _from_json(lines: Lines) -> Iterator[Qdisc]:
    if '"kind"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            kind, link = word(one.get("kind")), word(one.get("dev"))
            if kind is None or link is None:
                continue
            options = one.get("options")
            held = options if isinstance(options, dict) else {}
            rate = held.get("rate")
            yield Qdisc(
                source=source(lines, "tc -s -j qdisc"),
                quotes=(document.quoted(lines, f'"{link}"'),),
                link=link,
                discipline=kind,
                handle=word(one.get("handle")),
                parent=word(one.get("parent")) or ("root" if one.get("root") is True else None),
                rate_bits_per_s=float(rate) * 8.0 if isinstance(rate, int | float) else None,
                delay_s=_json_delay(held.get("delay")),
                loss_ratio=_json_loss(held.get("loss-random")),
                sent_bytes=number(one.get("bytes")),
                sent_packets=number(one.get("packets")),
                dropped_packets=number(one.get("drops")),
                overlimits_count=number(one.get("overlimits")),
                requeues_count=number(one.get("requeues")),
                backlog_bytes=number(one.get("backlog")),
                backlog_packets=number(one.get("qlen")),
            )


def _json_delay(delay: object) -> float | None:
    held = delay.get("delay") if isinstance(delay, dict) else None
    return float(held) if isinstance(held, int | float) else None


def _json_loss(loss: object) -> float | None:
    held = loss.get("loss") if isinstance(loss, dict) else None
    return float(held) if isinstance(held, int | float) else None


READER = Reader(
    title=Text(en="queueing disciplines (tc)", zh="排队规则（tc）"),
    gives=(Qdisc,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("tc -s qdisc show dev IFACE",),
)
