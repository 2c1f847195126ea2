"""NUMA nodes as `numactl -H` and `lscpu` print them."""

from collections.abc import Iterator

import msgspec

from wirespeed.model.facts.host import NumaNode
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_CPUS = regex(r"(?:\bnode (?P<node>\d{1,4}) cpus:|\bNUMA node(?P<lscpu>\d{1,4}) CPU\(s\):)\s*(?P<cpus>[\d,\s-]*)$")
_SIZE = regex(r"\bnode (?P<node>\d{1,4}) size: (?P<mebibytes>\d{1,10}) MB")
_DISTANCES = regex(r"^\s*(?P<node>\d{1,4}):\s+(?P<distances>\d{1,3}(?:\s+\d{1,3})*)\s*$")
_DISTANCES_START = regex(r"\bnode distances:")
_RECOGNISED = regex(r"\bnode \d+ cpus:|\bNUMA node\d+ CPU\(s\):|\bnode \d+ size: \d+ MB")
_MOST_NODES = 1024
_MOST_CPUS = 8192
_BAD_LIST = Text(en="a CPU list could not be read", zh="CPU 列表无法读取")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    nodes: dict[int, NumaNode] = {}
    is_in_distances = False
    for index, line in lines:
        fields: dict[str, object] = {}
        number = -1
        if found := _CPUS.search(line):
            number = int(found["node"] or found["lscpu"])
            cpus = _cpu_list(found["cpus"])
            if cpus is None:
                yield Problem(source=source(lines, "numactl"), why=_BAD_LIST, line_index=index)
                continue
            fields = {"cpus": cpus}
        elif found := _SIZE.search(line):
            number, fields = int(found["node"]), {"memory_bytes": int(size_in_bytes(int(found["mebibytes"]), "MiB") or 0)}
        elif is_in_distances and (found := _DISTANCES.match(line)):
            number, fields = int(found["node"]), {"distances": tuple(int(word) for word in found["distances"].split())}
        is_in_distances = is_in_distances or _DISTANCES_START.search(line) is not None
        if not fields or (number not in nodes and len(nodes) >= _MOST_NODES):
            continue
        node = nodes.get(number) or NumaNode(source=source(lines, "numactl"), index=number)
        nodes[number] = msgspec.structs.replace(node, quotes=(*node.quotes, quote(lines, index, line))[-8:], **fields)
    yield from nodes.values()


def _cpu_list(text: str) -> tuple[int, ...] | None:
    """`0-3,8` or `0 1 2 3 8`; None where it is no list or absurdly long."""
    cpus: list[int] = []
    for word in text.replace(",", " ").split():
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(word) > 11:
            return None
        end = int(last) if dash else int(first)
        if end - int(first) > _MOST_CPUS or len(cpus) > _MOST_CPUS:
            return None
        cpus.extend(range(int(first), end + 1))
    return tuple(cpus)


READER = Reader(
    title=Text(en="NUMA nodes", zh="NUMA 节点"),
    gives=(NumaNode,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("numactl -H", "lscpu"),
)
