"""Priority flow control as `mlnx_qos -i IFACE`, `dcb pfc show` and `dcb app show` print it, with the priority of each DSCP where listed."""

from collections.abc import Iterator

from wirespeed.model.facts.link import PriorityFlowControl
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_COMMAND = regex(
    r"\bmlnx_qos\b.{0,80}?(?:-i|--interface)[ =](?P<link>[\w.@-]{1,32})" r"|\bdcb (?:pfc|app) show(?: dev)? (?P<dev>[\w.@-]{1,32})"
)
_TRUST = regex(r"Priority trust state: *(?P<trust>\w{1,16})")
_PRIORITIES = regex(r"^\s*priority\s+(?P<numbers>[0-7](?:\s+[0-7]){0,7})\s*$")
_ENABLED = regex(r"^\s*enabled\s+(?P<flags>[01](?:\s+[01]){0,7})\s*$")
_DCB = regex(r"(?:^|\s)(?:(?P<dev>[\w.@-]{1,32}): )?prio-pfc (?P<pairs>[0-7]:(?:on|off)(?: [0-7]:(?:on|off)){0,7})")
_MAPPING = regex(r"^\s*prio:(?P<priority>[0-7]) dscp:(?P<codes>\d{1,2}(?:,\d{1,2}){0,63}),?\s*$")
_APP = regex(r"(?:^|\s)(?:(?P<dev>[\w.@-]{1,32}): )?dscp-prio (?P<pairs>\w{1,4}:[0-7](?: \w{1,4}:[0-7]){0,63})")
_DSCP_NAMES = {
    **{f"CS{number}": 8 * number for number in range(8)},
    **{f"AF{level}{drop}": 8 * level + 2 * drop for level in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "VA": 44,
    "LE": 1,
}
"""Names that iproute2 prints for DSCPs (RFC 2474, 2597, 3246, 5865, 8622)."""
_RECOGNISED = regex(
    r"Priority trust state: *\w|\bdscp-prio \w{1,4}:[0-7]|\bPFC configuration:|\bprio-pfc [0-7]:o"
    r"|(?m:^\s*priority\s+0(?:\s+[1-7]){7}\s*$)"
)
_MISMATCH = Text(en="the PFC flags do not fit the priorities above them", zh="PFC 标志与上方的优先级不对应")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    link, trust = "", None
    quotes: list[Quote] = []
    numbers: list[str] = []
    mapping: dict[int, int] = {}
    for index, line in lines:
        said = quote(lines, index, line)
        if command := _COMMAND.search(line):
            yield from _trust_only(lines, link, trust, quotes)
            link, trust, quotes, numbers, mapping = command["link"] or command["dev"], None, [said], [], {}
        elif found := _TRUST.search(line):
            yield from _trust_only(lines, link, trust, quotes)
            trust, quotes = found["trust"].lower(), [*quotes[-1:], said]
        elif found := _MAPPING.match(line):
            mapping |= {int(code): int(found["priority"]) for code in found["codes"].split(",")}
        elif found := _PRIORITIES.match(line):
            numbers, quotes = found["numbers"].split(), [*quotes[-2:], said]
        elif found := _ENABLED.match(line):
            flags = found["flags"].split()
            if len(flags) != len(numbers):
                yield Problem(source=source(lines, "mlnx_qos"), why=_MISMATCH, line_index=index)
                continue
            enabled = tuple(int(number) for number, flag in zip(numbers, flags, strict=True) if flag == "1")
            yield _flow_control(lines, "mlnx_qos", link, enabled, trust, (*quotes, said), mapping)
            trust, quotes, numbers, mapping = None, [], [], {}
        elif found := _DCB.search(line):
            enabled = tuple(int(pair[0]) for pair in found["pairs"].split() if pair.endswith(":on"))
            yield _flow_control(lines, "dcb", found["dev"] or link, enabled, None, (*quotes[-1:], said))
            quotes = []
        elif found := _APP.search(line):
            named = (pair.partition(":") for pair in found["pairs"].split())
            codes = {_code(name): int(priority) for name, _, priority in named}
            mapped = {code: priority for code, priority in codes.items() if code is not None}
            yield _flow_control(lines, "dcb", found["dev"] or link, None, None, (*quotes[-1:], said), mapped)
    yield from _trust_only(lines, link, trust, quotes)


def _trust_only(lines: Lines, link: str, trust: str | None, quotes: list[Quote]) -> Iterator[PriorityFlowControl]:
    """An excerpt may give the trust state and no PFC table."""
    if trust:
        yield _flow_control(lines, "mlnx_qos", link, None, trust, tuple(quotes))


def _code(name: str) -> int | None:
    return int(name) if name.isdecimal() else _DSCP_NAMES.get(name)


def _flow_control(
    lines: Lines,
    tool: str,
    link: str,
    enabled: tuple[int, ...] | None,
    trust: str | None,
    quotes: tuple[Quote, ...],
    mapping: dict[int, int] | None = None,
) -> PriorityFlowControl:
    return PriorityFlowControl(
        source=source(lines, tool),
        quotes=quotes,
        missing={} if link else {"link": "absent"},
        link=link,
        enabled_priorities=enabled,
        trust=trust,
        dscp_priorities=dict(sorted(mapping.items())) if mapping else None,
    )


READER = Reader(
    title=Text(en="priority flow control", zh="优先级流控"),
    gives=(PriorityFlowControl,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("mlnx_qos -i IFACE", "dcb pfc show dev IFACE", "dcb app show dev IFACE"),
)
