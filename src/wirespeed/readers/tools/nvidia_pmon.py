"""`nvidia-smi pmon`: the processes on each GPU; columns follow the driver and `-s`, a dash stands for what could not be told."""

from collections.abc import Iterator

from wirespeed.model.facts.gpu import GpuProcess
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "nvidia-smi pmon"
_HEADING = regex(r"^# ?(?:Date[, ]+)?(?:Time[, ]+)?gpu[, ]+pid[, ]+type[, ]+\w+")
_BEGINS = regex(r"^\s+(?:\d{4}[\d/]{2,6}[, ]+)?(?:\d\d:\d\d:\d\d[, ]+)?\d{1,3}[, ]+\d{1,10}[, ]+")
_CUT = Text(en="a row of pmon has fewer cells than its heading", zh="pmon 的一行列数少于表头")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    names: list[str] = []
    above: Quote | None = None
    for index, line in lines:
        if _HEADING.match(line):
            names, above = line[1:].replace(",", " ").split(), quote(lines, index, line)
        elif above is not None and _BEGINS.match(line):
            cells = line.replace(",", " ").split(maxsplit=len(names) - 1)
            if len(cells) < len(names):
                yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=index)
                continue
            found = _process(lines, dict(zip(names, cells, strict=True)), (above, quote(lines, index, line)))
            if found is not None:
                yield found


def _process(lines: Lines, cells: dict[str, str], quotes: tuple[Quote, ...]) -> GpuProcess | None:
    gpu, process_number = figures.whole(cells.get("gpu", "")), figures.whole(cells.get("pid", ""))
    if gpu is None or process_number is None:
        return None
    return GpuProcess(
        source=source(lines, _TOOL),
        quotes=quotes,
        gpu_index=gpu,
        process_number=process_number,
        command=figures.text(cells.get("command", "-").strip()),
        is_compute="C" in cells.get("type", "C"),
        utilisation_ratio=figures.ratio(cells.get("sm", "-")),
        memory_used_bytes=figures.byte_count(cells.get("fb", "-")),
    )


READER = Reader(
    title=Text(en="nvidia-smi pmon", zh="nvidia-smi pmon"),
    gives=(GpuProcess,),
    recognises=marked(_HEADING),
    read=_read,
    obtained_by=("nvidia-smi pmon -s um -c 5",),
)
