"""What the verbs of the lab have in common: the name option and how a lab is shown."""

from typing import Annotated, TypeAlias

import msgspec

from wirespeed.emulation import lab
from wirespeed.emulation.state import DEFAULT_NAME
from wirespeed.model.document import Grid
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same

NameOption: TypeAlias = Annotated[str, Option(help=Text(en="which lab", zh="哪个实验室"), metavar="NAME")]
USUAL_NAME = DEFAULT_NAME


class ShownNode(msgspec.Struct, frozen=True, kw_only=True):
    """One host or router of a lab."""

    name: str
    role: str
    addresses: tuple[str, ...]
    pid: int


def shown_nodes(opened: lab.Lab) -> tuple[ShownNode, ...]:
    """The nodes of a lab for an answer."""
    return tuple(ShownNode(name=one.name, role=one.role, addresses=one.addresses, pid=one.pid) for one in opened.nodes)


def node_grid(nodes: tuple[ShownNode, ...]) -> Grid:
    """The nodes as a table."""
    roles = {"host": Text(en="host", zh="主机"), "leaf": Text(en="leaf", zh="叶交换机"), "spine": Text(en="spine", zh="脊交换机")}
    return Grid(
        columns=(Text(en="node", zh="节点"), Text(en="role", zh="角色"), Text(en="addresses", zh="地址")),
        rows=tuple((same(node.name), roles[node.role], same(" ".join(node.addresses))) for node in nodes),
    )
