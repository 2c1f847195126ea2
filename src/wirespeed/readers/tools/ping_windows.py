"""ping of Windows in any language: the replies of one target as one run, with the losses its summary gives."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PingRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 4

_REPLY = regex(
    r"(?<![\w.:])(?P<target>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?:%\d{1,4})?[^=:]{0,16}: ?(?:[^\W\d_]{2,12}=(?P<size>\d{1,5}) )?"
    r"[^\W\d_]{1,12}(?:=|<|= ?<)(?P<ms>\d{1,6}) ?ms(?: TTL=(?P<ttl>\d{1,3}))?\s*$"
)
"""`Reply from ADDRESS: bytes=32 time=171ms TTL=51`; the words differ by language, the form does not."""
_SUMMARY = regex(r"= (?P<sent>\d{1,9}), ?[^=,]{1,40} = (?P<received>\d{1,9}), ?[^=,]{1,40} = (?P<lost>\d{1,9})\b")
_RECOGNISED = regex(r"(?m)\b\w{2,12}=\d{1,5} \w{1,12}[=<]\d{1,6} ?ms TTL=\d{1,3}\s*$")


@dataclass(slots=True)
class _Run:
    """Replies of one target, one after the other."""

    target: str = ""
    size: int | None = None
    ttl: int | None = None
    times_s: list[float] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        reply = _REPLY.search(line)
        if reply is not None:
            if reply["target"] != run.target:
                yield from _finished(lines, run, None)
                run = _Run(target=reply["target"])
            run.size = int(reply["size"]) if reply["size"] else run.size
            run.ttl = int(reply["ttl"]) if reply["ttl"] else run.ttl
            run.times_s.append(int(reply["ms"]) / 1e3)
            run.quotes.append(quote(lines, index, line))
        elif run.times_s and (summary := _SUMMARY.search(line)):
            run.quotes.append(quote(lines, index, line))
            yield from _finished(lines, run, summary)
            run = _Run()
    yield from _finished(lines, run, None)


def _finished(lines: Lines, run: _Run, summary: re.Match[str] | None) -> Iterator[PingRun]:
    if not run.times_s:
        return
    sent = int(summary["sent"]) if summary else None
    received = int(summary["received"]) if summary else None
    yield PingRun(
        source=source(lines, "ping"),
        quotes=(*run.quotes[:MOST_QUOTES], *(run.quotes[-1:] if len(run.quotes) > MOST_QUOTES else ())),
        target=run.target,
        payload_bytes=run.size,
        sent_count=sent,
        received_count=received,
        loss_ratio=(sent - received) / sent if sent and received is not None and received <= sent else None,
        rtt_min_s=min(run.times_s),
        rtt_mean_s=sum(run.times_s) / len(run.times_s),
        rtt_max_s=max(run.times_s),
        ttl_hops=run.ttl,
    )


READER = Reader(
    title=Text(en="ping of Windows", zh="Windows 的 ping"),
    gives=(PingRun,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ping -n 10 HOST",),
)
