"""`dcgmi nvlink --link-status`: a letter per NVLink of each GPU (dcgmi/Nvlink.cpp). Disabled and unsupported links are not told."""

from collections.abc import Iterator

from wirespeed.model.facts.gpu import NvLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "dcgmi nvlink"
_TITLE = regex(r"^\|  NvLink Link Status  \|")
_GPU = regex(r"^\s+gpuId (?P<gpu>\d{1,3}):")
_STATES = regex(r"^\s+(?P<states>[UDX_](?: [UDX_]){0,63})\s*$")
_RECOGNISED = regex(r"(?m)^\|  NvLink Link Status  \||^\s+gpuId \d{1,3}:\s*$")
_CUT = Text(en="states of NVLinks without their GPU", zh="有 NVLink 状态，但缺少所属 GPU")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    gpu: int | None = None
    gpu_quote: Quote | None = None
    is_of_switch = False
    for index, line in lines:
        header, states = _GPU.match(line), _STATES.match(line)
        if _TITLE.match(line) or line.startswith("GPUs:"):
            is_of_switch = False
        elif line.startswith("NvSwitches:"):
            gpu, is_of_switch = None, True
        elif header:
            gpu, gpu_quote = int(header["gpu"]), quote(lines, index, line)
        elif states and gpu is not None and gpu_quote is not None:
            yield from _links(lines, gpu, states["states"].split(), (gpu_quote, quote(lines, index, line)))
            gpu = None
        elif states and not is_of_switch:
            yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=index)


def _links(lines: Lines, gpu: int, states: list[str], quotes: tuple[Quote, ...]) -> Iterator[NvLink]:
    for link, state in enumerate(states):
        if state in ("U", "D"):
            yield NvLink(source=source(lines, _TOOL), quotes=quotes, gpu_index=gpu, link_index=link, is_active=state == "U")


READER = Reader(
    title=Text(en="dcgmi nvlink link status", zh="dcgmi nvlink 链路状态"),
    gives=(NvLink,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("dcgmi nvlink --link-status",),
)
