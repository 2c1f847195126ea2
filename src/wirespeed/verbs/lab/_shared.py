"""What the verbs of the lab have in common: the name option and how a lab is shown."""

import re
from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from wirespeed.emulation import lab
from wirespeed.emulation.state import DEFAULT_NAME
from wirespeed.model.document import Grid
from wirespeed.model.errors import BadRequest
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.model.units import rate_in_bits_per_s, time_in_s

NameOption: TypeAlias = Annotated[str, Option(help=Text(en="which lab", zh="哪个实验室"), metavar="NAME")]
USUAL_NAME = DEFAULT_NAME

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[A-Za-zµμ/%]+)")


def rate(said: str, option: str) -> float:
    """Bits per second of `200Mb/s` and the like. Raises BadRequest."""
    return _amount(said, option, rate_in_bits_per_s, "200Mb/s")


def duration(said: str, option: str) -> float:
    """Seconds of `5ms`, `8h` and the like. Raises BadRequest."""
    return _amount(said, option, time_in_s, "5ms")


def share(said: str, option: str) -> float:
    """The ratio of `0.5%`. Raises BadRequest."""
    return _amount(said, option, lambda number, unit: number / 100 if unit == "%" else None, "0.5%")


def _amount(said: str, option: str, convert: Callable[[float, str], float | None], example: str) -> float:
    found = _AMOUNT.fullmatch(said.strip())
    value = convert(float(found["number"]), found["unit"]) if found else None
    if value is None:
        raise BadRequest(
            Text(en=f"{option} is a number with its unit, such as {example}", zh=f"{option} 需为带单位的数值，例如 {example}")
        )
    return value


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
