"""The topology that NCCL prints at start (`NCCL_DEBUG_SUBSYS=GRAPH`): devices, link bandwidths, and the graphs found in it.

The first line becomes a node `System` with the greatest bandwidth of any link. Graphs are `NcclTuning` with their pattern as
algorithm.
"""

import re
from collections.abc import Iterator

from wirespeed.model.events.nccl import NcclTopoNode, NcclTuning
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.nccl_lines import At, at, take_apart
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl-topology"
_BYTES_PER_GB = 1e9
_MOST_PROCESSES = 4096
"""Processes whose indentation is followed at once; the ranks of a job print at the same time and their lines mix."""

_SYSTEM = regex(r"=== System : max(?:Bw|Width) (?P<most>[\d.]+) total(?:Bw|Width) [\d.]+ ===")
_KIND = r"(?:GPU|PCI|NVS|CPU|NIC|NET|GIN|DEV)"
_ROOT = regex(r"^\s*(?P<node>CPU/[0-9a-fA-F-]+) \(\d+/")
_BRANCH = regex(rf"^(?P<indent>\s*)\+ (?P<link>[A-Z0-9]+)\[(?P<bandwidth>[\d.]+)\] - (?P<node>{_KIND}/[0-9a-fA-F-]+)")
_BROKEN = regex(r"^\s*\+ (?:NVL|PCI|NET|SYS|LOC|C2C)\[")
_PATTERN = regex(
    r"Pattern (?P<pattern>\d+), crossNic \d+, nChannels (?P<count>\d+), (?:bw|speed) "
    r"(?:(?P<within>\d[\d.]{0,14})/(?P<between>\d[\d.]{0,14}), type (?P<path_within>[A-Z0-9]{2,4})/(?P<path_between>[A-Z0-9]{2,4}))?"
)
_PATTERNS = {1: "BALANCED_TREE", 2: "SPLIT_TREE", 3: "TREE", 4: "RING", 5: "NVLS", 6: "COLLNET_DIRECT"}
"""NCCL src/include/graph.h."""
_RECOGNISED = regex(
    r"=== System : max(?:Bw|Width) |\+ (?:NVL|PCI|NET|SYS|LOC|C2C)\[[\d.]+\] - [A-Z]{3}/|Pattern \d+, crossNic \d+, nChannels"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    indents: dict[str | None, list[int]] = {}
    for index, line in lines:
        said = take_apart(line)
        where = at(lines, _TOOL, said, (index, line))
        system, root, branch = _SYSTEM.search(line), _ROOT.match(said.message), _BRANCH.match(said.message)
        graph = _PATTERN.search(said.message)
        if system is not None or root is not None:
            indents[said.process] = []
            if len(indents) > _MOST_PROCESSES:
                indents.pop(next(iter(indents)))
        if system is not None:
            yield _node(where, "System", None, system["most"], 0)
        elif root is not None:
            yield _node(where, root["node"], None, None, 0)
        elif branch is not None:
            depth = _depth(indents.setdefault(said.process, []), len(branch["indent"]))
            yield _node(where, branch["node"], branch["link"], branch["bandwidth"], depth)
        elif graph is not None:
            yield _graph(where, graph)
        elif _BROKEN.match(said.message):
            yield _cut(where, index)


def _depth(open_indents: list[int], indent: int) -> int:
    """Level of a branch: one more than the branches that stand further left above it."""
    while open_indents and open_indents[-1] >= indent:
        open_indents.pop()
    open_indents.append(indent)
    return len(open_indents)


def _node(where: At, name: str, link: str | None, printed: str | None, depth: int) -> NcclTopoNode:
    return NcclTopoNode(
        source=where.source,
        quotes=where.quotes,
        node=name,
        link=link,
        bandwidth_bytes_per_s=_bandwidth(printed),
        depth_index=depth,
    )


def _bandwidth(printed: str | None) -> float | None:
    try:
        return None if printed is None else float(printed) * _BYTES_PER_GB
    except ValueError:
        return None


def _graph(where: At, found: re.Match[str]) -> NcclTuning:
    return NcclTuning(
        source=where.source,
        quotes=where.quotes,
        algorithm=_PATTERNS.get(int(found["pattern"])),
        channels_count=int(found["count"]),
        path_within=found["path_within"],
        path_between=found["path_between"],
        bandwidth_within_bytes_per_s=_bandwidth(found["within"]),
        bandwidth_between_bytes_per_s=_bandwidth(found["between"]),
    )


def _cut(where: At, index: int) -> Problem:
    return Problem(
        source=where.source,
        why=Text(en="a line of the topology is cut or damaged", zh="拓扑行不完整或已损坏"),
        line_index=index,
    )


READER = Reader(
    title=Text(en="NCCL topology", zh="NCCL 拓扑"),
    gives=(NcclTopoNode, NcclTuning),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH <your command>",),
)
