"""With which type of service RoCE is sent: `cma_roce_tos`, and the `traffic_class` and `default_roce_tos` files of the kernel."""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

NAME = "roce_tos"
LARGEST = 255

_GLOBAL = regex(r"^\s*Global tclass=(?P<tos>\d{1,3})\s*$")
_VALUE = regex(r"^\s*(?P<tos>\d{1,3})\s*$")
_FILES = regex(r"/(?:tc/\d+/traffic_class|default_roce_tos)\b")
_SET = regex(r"\becho (?P<tos>\d{1,3}) ?(?:\||>)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    asked = False
    for seen in excerpt(lines, _GLOBAL.match, ("cma_roce_tos",)):
        found: re.Match[str] | None
        if seen.is_prompt:
            words = arguments_of(seen.command, "cma_roce_tos")
            named = any(_FILES.search(word) for word in seen.command)
            asked = words is not None or named
            found = _SET.search(seen.text) if named else re.search(r" -t (?P<tos>\d{1,3})\b", seen.text) if words else None
        else:
            found = _GLOBAL.match(seen.text) or (_VALUE.match(seen.text) if asked else None)
            asked = asked and not seen.text.strip()
        if found and int(found["tos"]) <= LARGEST:
            yield Setting(
                source=source(lines, "cma_roce_tos", seen.host),
                quotes=(seen.quoted(lines),),
                name=NAME,
                setting=found["tos"],
                value=float(found["tos"]),
            )


READER = Reader(
    title=Text(en="type of service of RoCE", zh="RoCE 的服务类型（ToS）"),
    gives=(Setting,),
    recognises=marked(r"\bcma_roce_tos\b", r"(?m)^[ \t]*Global tclass=\d", _FILES),
    read=_read,
    obtained_by=("cma_roce_tos -d DEVICE", "cat /sys/class/infiniband/DEVICE/tc/1/traffic_class"),
    voice="loose",
)
