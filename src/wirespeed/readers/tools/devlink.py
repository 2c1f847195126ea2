"""`devlink health show` (what reporters of a device say) and `devlink port show` (virtual functions with their state and address)."""

from collections.abc import Iterator

from wirespeed.model.facts.fabric import DeviceHealth
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "devlink"

_DEVICE = regex(r"^\s*(?P<device>(?:pci|auxiliary)/[\w:.]{4,40}(?:/\d{1,9})?):(?P<rest>.*)$")
_REPORTER = regex(r"(?:^|\s)reporter (?P<reporter>\w{1,40})\b")
_STATE = regex(r"(?:^|\s)state (?P<state>healthy|error) error (?P<errors>\d{1,12}) recover (?P<recoveries>\d{1,12})\b")
_FUNCTION = regex(r"\bflavour pci(?P<kind>vf|sf)\b")
_HOW = regex(r"\bhw_addr (?P<address>[0-9a-f:]{17})(?:.*?\bstate (?P<state>active|inactive)\b)?")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    device = ""
    reporter: tuple[str, Quote] | None = None
    function: Quote | None = None
    for index, line in lines:
        said = quote(lines, index, line)
        head = _DEVICE.match(line)
        if head:
            device, reporter = head["device"], None
            function = said if _FUNCTION.search(head["rest"]) else None
        if named := _REPORTER.search(line):
            reporter = (named["reporter"], said)
        state = _STATE.search(line)
        if state and reporter:
            yield DeviceHealth(
                source=source(lines, TOOL),
                quotes=tuple(dict.fromkeys((reporter[1], said))),
                device=device or "?",
                reporter=reporter[0],
                state=state["state"],
                errors_count=int(state["errors"]),
                recoveries_count=int(state["recoveries"]),
            )
        how = _HOW.search(line) if function else None
        if how and function:
            quotes = tuple(dict.fromkeys((function, said)))
            yield Setting(source=source(lines, TOOL), quotes=quotes, name="vf_address", setting=how["address"])
            if how["state"]:
                yield Setting(source=source(lines, TOOL), quotes=quotes, name="vf_state", setting=how["state"])


READER = Reader(
    title=Text(en="devlink health and ports", zh="devlink 健康与端口"),
    gives=(DeviceHealth, Setting),
    recognises=marked(_STATE, _FUNCTION),
    read=_read,
    obtained_by=("devlink health show", "devlink port show"),
)
