"""Show which labs are up, their nodes, and which faults are in force."""

import time
from typing import Annotated

import msgspec

from wirespeed.emulation import lab
from wirespeed.model.document import AnyBlock, Document, FactList, Headline
from wirespeed.model.errors import CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs.lab._shared import ShownNode, node_grid, shown_nodes

SCHEMA = "wirespeed/lab-status/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which labs."""

    name: Annotated[str | None, Option(help=Text(en="only this lab", zh="只看该实验室"), metavar="NAME")] = None
    tell: Annotated[
        bool,
        Option(help=Text(en="also say what was drawn for each fault", zh="同时显示每个故障抽取的参数")),
    ] = False


class ShownFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault in force. Details stand there only where they were asked for: a learner is not told the answer."""

    fault: str
    where: str
    details: dict[str, str] = {}


class ShownLab(msgspec.Struct, frozen=True, kw_only=True):
    """One lab."""

    name: str
    directory: str
    nodes: tuple[ShownNode, ...]
    remaining_s: float
    faults: tuple[ShownFault, ...]
    traffic: str | None
    is_in_user_namespace: bool


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab status`."""

    schema: str = SCHEMA
    labs: tuple[ShownLab, ...]


def run(options: Options) -> Answer:
    """Look at the labs that live; one that ends meanwhile is left out."""
    shown = []
    for name in lab.names() if options.name is None else (options.name,):
        try:
            opened = lab.open_lab(name)
        except CouldNot:
            continue
        state = opened.state
        shown.append(
            ShownLab(
                name=name,
                directory=str(opened.directory),
                nodes=shown_nodes(opened),
                remaining_s=max(0.0, state.ends_at_s - time.time()),
                faults=tuple(
                    ShownFault(fault=one.fault, where=one.where, details=one.details if options.tell else {})
                    if one.is_told or options.tell
                    else ShownFault(fault="?", where="?", details={})
                    for one in state.faults
                ),
                traffic=state.traffic.fault if state.traffic else None,
                is_in_user_namespace=state.is_in_user_namespace,
            )
        )
    return Answer(labs=tuple(shown))


def present(answer: Answer, options: Options) -> Document:
    """Each lab with its nodes and faults."""
    blocks: list[AnyBlock] = []
    for one in answer.labs:
        faults = "; ".join(
            " ".join((each.fault, each.where, *(f"{key}={value}" for key, value in each.details.items()))) for each in one.faults
        )
        blocks += [
            Headline(text=Text(en=f"Lab {one.name}", zh=f"实验室 {one.name}")),
            node_grid(one.nodes),
            FactList(
                rows=(
                    (Text(en="faults in force", zh="生效的故障"), same(faults) if faults else Text(en="none", zh="无")),
                    (Text(en="traffic", zh="流量"), same(one.traffic or "idle")),
                    (Text(en="ends by itself in", zh="距自行结束"), same(printed("_s", one.remaining_s))),
                )
            ),
        ]
    return Document(
        title=same("wirespeed lab status"),
        blocks=tuple(blocks) or (Headline(text=Text(en="No lab is up", zh="没有正在运行的实验室")),),
    )
