"""`sminfo`: the subnet manager that answers, or that none does; also what UFM logs of another one."""

from collections.abc import Iterator
from typing import Literal

from wirespeed.model.facts.fabric import SubnetManager
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_STATES: dict[str, Literal["master", "standby", "discovering", "not-active"]] = {
    "MASTER": "master", "STANDBY": "standby", "DISCOVER": "discovering", "NOTACT": "not-active",
}  # fmt: skip
_ANSWER = regex(
    r"\bsminfo: sm lid (?P<lid>\d{1,6}) (?:lmc \d+ )?(?:sm )?guid (?P<guid>0x[0-9a-f]{1,16}),? (?:activity count \d+ )?(?:prio|priority) (?P<priority>\d{1,3})"
    r" state \d (?:SMINFO_)?(?P<state>MASTER|STANDBY|DISCOVER|NOTACT)"
)
_OTHER = regex(
    r"Other SM is in the fabric: lid:(?P<lid>\d{1,6}), guid:(?P<guid>0x[0-9a-f]{1,16}), priority:(?P<priority>\d{1,3}), state:SMINFO_(?P<state>\w+)"
)
_FAILED = regex(r"\bsminfo: iberror: failed: (?:query|can't resolve destination port|cannot resolve)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if "sminfo: " not in line and "Other SM is" not in line:
            continue
        found = _ANSWER.search(line) or _OTHER.search(line)
        if found:
            yield SubnetManager(
                source=source(lines, "sminfo"),
                quotes=(quote(lines, index, line),),
                is_answering=True,
                state=_STATES.get(found["state"]),
                lid_number=int(found["lid"]),
                guid=found["guid"],
                priority_number=int(found["priority"]),
            )
        elif _FAILED.search(line):
            yield SubnetManager(source=source(lines, "sminfo"), quotes=(quote(lines, index, line),), is_answering=False)


READER = Reader(
    title=Text(en="subnet manager (sminfo)", zh="子网管理器（sminfo）"),
    gives=(SubnetManager,),
    recognises=marked(_ANSWER, _OTHER, _FAILED),
    read=_read,
    obtained_by=("sminfo",),
)
