"""Slurm's picture of the fabric: topology.conf (tree and block), topology.yaml, and `scontrol show topology`.

Only the places that nodes hang on are read: leaf switches and blocks. A switch above others repeats the nodes below it.
"""

from collections.abc import Iterator

from wirespeed.model.facts.cluster import NodeGroup
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.host_lists import expanded
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "slurm"
LEAF, BLOCK = "leaf-switch", "block"

_LINE = regex(r"(?im)^[ \t]*(?P<kind>SwitchName|BlockName)=(?P<name>\S{1,255})(?P<rest>[ \t]+\S[^\n]*)$")
_NODES = regex(r"(?i)\bNodes=(?P<nodes>\S+)")
_ABOVE = regex(r"(?i)\bSwitches=(?!\(null\))\S")
_YAML_NAME = regex(r"(?m)^[ \t]*(?:-[ \t]+)?(?P<kind>switch|block):[ \t]+[\"']?(?P<name>[\w.-]{1,255})[\"']?[ \t]*$")
_YAML_NODES = regex(r"(?m)^[ \t]*nodes:[ \t]+[\"']?(?P<nodes>[\w.,\[\]-]{1,65536})[\"']?[ \t]*$")
_BAD_LIST = Text(en="the list of nodes is damaged or too long", zh="节点列表已损坏或过长")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    named: tuple[str, str, Quote] | None = None
    for index, line in lines:
        text = line.split("#", 1)[0]
        found = _LINE.match(text)
        if found:
            nodes = _NODES.search(found["rest"])
            if nodes and not _ABOVE.search(found["rest"]):
                level = BLOCK if found["kind"].lower() == "blockname" else LEAF
                yield _group(lines, (quote(lines, index, line),), level, found["name"], nodes["nodes"])
            continue
        begun, listed = _YAML_NAME.match(text), _YAML_NODES.match(text)
        if begun:
            named = (BLOCK if begun["kind"] == "block" else LEAF, begun["name"], quote(lines, index, line))
        elif listed and named:
            yield _group(lines, (named[2], quote(lines, index, line)), named[0], named[1], listed["nodes"])
            named = None
        elif text.strip() and not text.strip().startswith("children:"):
            named = None


def _group(lines: Lines, quotes: tuple[Quote, ...], level: str, name: str, text: str) -> NodeGroup | Problem:
    nodes = expanded(text)
    if not nodes:
        return Problem(source=source(lines, TOOL), why=_BAD_LIST, line_index=quotes[-1].line_index)
    return NodeGroup(source=source(lines, TOOL), quotes=quotes, level=level, name=name, nodes=nodes)


def _is_yaml(sample: str) -> bool:
    return _YAML_NAME.search(sample) is not None and _YAML_NODES.search(sample) is not None


READER = Reader(
    title=Text(en="Slurm topology", zh="Slurm 拓扑"),
    gives=(NodeGroup,),
    recognises=marked(_LINE, _YAML_NODES, confirmed=lambda sample: _LINE.search(sample) is not None or _is_yaml(sample)),
    read=_read,
    obtained_by=("scontrol show topology",),
)
