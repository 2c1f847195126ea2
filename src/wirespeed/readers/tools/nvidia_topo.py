"""`nvidia-smi topo`: the matrix of path classes (`-m`) with its NIC legend, and the peer-access matrix (`-p2p`)."""

from collections.abc import Iterator

from wirespeed.model.facts.gpu import DevicePath, Gpu, PeerAccess
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DEVICE = regex(r"^(?:GPU|NIC)\d+$|^(?:mlx\d|bnxt|irdma|efa|ib|roce|rocep|hns|cxgb|qed|rdmap|hfi)\w*$")
_PATH = regex(r"^(?:NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|PIX\*|C2C)$")
_PEER = {"OK": True, "CNS": False, "GNS": False, "TNS": False, "NS": False, "DR": False, "U": None}
_LEGEND = regex(r"^\s*(?P<nic>NIC\d+)\s*:\s*(?P<device>[\w.-]+)\s*$")
_ROW_START = regex(r"(?m)(?:^|\s)GPU\d+\s+(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|OK|CNS|GNS|TNS|NS|DR)(?=\s)")
_HEADING = regex(r"(?m)(?:^|\s)GPU0\s+GPU1(?=\s)")
_MOST_DEVICES = 256
_NO_HEADING = Text(en="a row of the topology matrix without its heading", zh="拓扑矩阵的一行缺少表头")
_CELLS_MISSING = Text(en="a row of the topology matrix has fewer cells than its heading", zh="拓扑矩阵的一行少于表头的列数")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    legend = _legend(lines)
    columns: list[str] = []
    has_numa = False
    for index, line in lines:
        words = line.split()
        heading = _heading(words)
        if heading:
            columns, has_numa = heading, "NUMA Affinity" in line
            continue
        start = next((at for at, word in enumerate(words[:3]) if _DEVICE.match(word)), None)
        if start is None or not _is_cell("".join(words[start + 1 : start + 2])):
            continue
        row, cells = words[start], words[start + 1 : start + 1 + len(columns)]
        if not columns:
            yield Problem(source=source(lines, "nvidia-smi topo"), why=_NO_HEADING, line_index=index)
            continue
        if len(cells) < len(columns) or not all(_is_cell(cell) for cell in cells):
            yield Problem(source=source(lines, "nvidia-smi topo"), why=_CELLS_MISSING, line_index=index)
        yield from _row(lines, index, line, row, dict(zip(columns, cells, strict=False)), legend)
        numa = words[start + 2 + len(columns) :][:1]
        if has_numa and row.startswith("GPU") and numa and numa[0].isdecimal():
            yield Gpu(
                source=source(lines, "nvidia-smi topo"),
                quotes=(quote(lines, index, line),),
                index=int(row[3:]),
                numa_node_index=int(numa[0]),
            )


def _legend(lines: Lines) -> dict[str, str]:
    """NIC numbers by device name; they stand below the matrix, so they are looked up first."""
    found: dict[str, str] = {}
    for _, line in lines:
        match = _LEGEND.match(line) if "NIC" in line else None
        if match and len(found) < _MOST_DEVICES:
            found[match["nic"]] = match["device"]
    return found


def _heading(words: list[str]) -> list[str]:
    """Device columns of a heading line; a row is told from it by its first cell."""
    if len(words) > 1 and _is_cell(words[1]):
        return []
    start = next((at for at, word in enumerate(words[:6]) if _DEVICE.match(word)), None)
    if start is None or (len(words) > start + 1 and _is_cell(words[start + 1])):
        return []
    columns = []
    for word in words[start : start + _MOST_DEVICES]:
        if not _DEVICE.match(word):
            break
        columns.append(word)
    is_heading = len(columns) > 1 or words[start + 1 : start + 3] == ["CPU", "Affinity"]
    return columns if is_heading else []


def _is_cell(word: str) -> bool:
    return word == "X" or word in _PEER or _PATH.match(word) is not None


def _row(
    lines: Lines, index: int, line: str, row: str, cells: dict[str, str], legend: dict[str, str]
) -> Iterator[DevicePath | PeerAccess]:
    said = (quote(lines, index, line),)
    origin = source(lines, "nvidia-smi topo")
    for column, cell in cells.items():
        if _PATH.match(cell):
            yield DevicePath(source=origin, quotes=said, near=legend.get(row, row), far=legend.get(column, column), path_class=cell)
        elif cell in _PEER and row.startswith("GPU") and column.startswith("GPU"):
            yield PeerAccess(
                source=origin, quotes=said, near_index=int(row[3:]), far_index=int(column[3:]), is_supported=_PEER[cell]
            )


READER = Reader(
    title=Text(en="nvidia-smi topo matrix", zh="nvidia-smi topo 矩阵"),
    gives=(DevicePath, PeerAccess, Gpu),
    recognises=marked(_HEADING, _ROW_START),
    read=_read,
    obtained_by=("nvidia-smi topo -m", "nvidia-smi topo -p2p r"),
)
