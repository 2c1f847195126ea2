"""How test programs of verbs fail: `ibv_rc_pingpong` and its kin, and perftest. Their errors are those that NCCL prints in its own words.

The rates that ping-pong programs print are round trips of one message at a time and say nothing of the link; they are passed over.
"""

from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "verbs test"
MOST_MESSAGE_CHARACTERS = 300

_STATUS = regex(r"\bFailed status (?:[a-z][a-z /-]{3,60} \((?P<named>\d{1,3})\) for wr_id|(?P<bare>\d{1,3}): wr_id)")
_QUEUE_PAIR = regex(r"\bFailed to modify (?:a )?QP(?: \d+)? to (?P<state>RTR|RTS|INIT)\b|\bCouldn't modify QP\b")
_MEMORY = regex(r"\b(?:Couldn't (?:register|allocate) MR|Failed to register (?:MR|mkey)|Couldn't allocate MR)\b")
_NO_DEVICE = regex(
    r"(?m)^[ \t]*(?:No IB devices found|IB device \S{1,64} not found|Failed to get IB devices list|Unable to find the Infiniband/RoCE device)[ \t]*$"
)
_ENOMEM = regex(r"Cannot allocate memory|\berrno[ :=]{1,3}12\b")
_ERRNO = regex(r"\[(?P<bracketed>\d{1,3})\]\s*$|\berrno[ :=]{1,3}(?P<named>\d{1,3})\b")
_ENOMEM_CODE = 12


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        record = _of_line(lines, index, line)
        if record is not None:
            yield record


def _of_line(lines: Lines, index: int, line: str) -> Record | None:
    origin, quotes, message = source(lines, TOOL), (quote(lines, index, line),), line.strip()[:MOST_MESSAGE_CHARACTERS]
    if status := _STATUS.search(line):
        code = int(status["named"] or status["bare"])
        return NcclWarning(source=origin, quotes=quotes, topic="completion-error", message=message, status_code=code)
    if _QUEUE_PAIR.search(line):
        errno = _ERRNO.search(line)
        errno_code = int(errno["bracketed"] or errno["named"]) if errno else None
        return NcclWarning(source=origin, quotes=quotes, topic="modify-qp-failed", message=message, status_code=errno_code)
    if _MEMORY.search(line):
        code_of_memory = _ENOMEM_CODE if _ENOMEM.search(line) else None
        return NcclWarning(
            source=origin, quotes=quotes, topic="register-memory-failed", message=message, status_code=code_of_memory
        )
    if _NO_DEVICE.match(line):
        return FrameworkEvent(source=origin, quotes=quotes, topic="verbs-failed", message=message)
    return None


READER = Reader(
    title=Text(en="errors of verbs test programs", zh="verbs 测试程序报错"),
    gives=(FrameworkEvent, NcclWarning),
    recognises=marked(_STATUS, _QUEUE_PAIR, _MEMORY, _NO_DEVICE),
    read=_read,
    obtained_by=("ibv_rc_pingpong -d DEVICE -g GID_INDEX PEER",),
    voice="loose",
)
