"""List the faults a lab can be given, the rule each must trigger, and whether this machine can make it."""

from typing import Annotated

import msgspec

from wirespeed.emulation import breaking, features, lab
from wirespeed.model.document import Document, Grid, Headline, Prose
from wirespeed.model.errors import CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-faults/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which lab."""

    name: NameOption = USUAL_NAME
    available: Annotated[bool, Option(help=Text(en="only those that can be made here", zh="只列出此处可用的"))] = False


class ShownFault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of the shelf."""

    fault: str
    title: Text
    cause: str
    rule: str
    where: str
    needs: tuple[str, ...]
    available: bool
    lacking: tuple[str, ...]
    """Needs that are not met here."""
    is_counted: bool
    """False for a look-alike without a rule of its own."""
    moves: tuple[str, ...]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab faults`. Sizes of a lab count as needs only where that lab is up."""

    schema: str = SCHEMA
    faults: tuple[ShownFault, ...]


def run(options: Options) -> Answer:
    """List them."""
    try:
        drawing = lab.open_lab(options.name).state.drawing
    except CouldNot:
        drawing = None
    found = features.present()
    shown = []
    for name, fault in breaking.known().items():
        lacking = features.lacking(fault, found, drawing)
        if options.available and lacking:
            continue
        shown.append(
            ShownFault(
                fault=name,
                title=fault.title,
                cause=fault.cause,
                rule=fault.rule,
                where=fault.where,
                needs=fault.needs,
                available=not lacking,
                lacking=lacking,
                is_counted=fault.is_counted,
                moves=fault.moves,
            )
        )
    return Answer(faults=tuple(shown))


def present(answer: Answer, options: Options) -> Document:
    """The faults as a table, and what is missing for some."""
    rows = tuple(
        (same(one.fault), same(one.cause), same(one.where), Text(en="yes", zh="可用") if one.available else same("-"))
        for one in answer.faults
    )
    missing = {need: features.TITLES[need] for one in answer.faults for need in one.lacking if need in features.TITLES}
    return Document(
        title=same("wirespeed lab faults"),
        blocks=(
            Headline(text=Text(en=f"{len(answer.faults)} faults", zh=f"共 {len(answer.faults)} 种故障")),
            Grid(
                columns=(
                    Text(en="fault", zh="故障"),
                    Text(en="cause", zh="原因"),
                    Text(en="on", zh="位置"),
                    Text(en="here", zh="此处"),
                ),
                rows=rows,
            ),
            *(Prose(text=Text(en=f"Missing here: {title.en}", zh=f"此处缺少：{title.zh}")) for title in missing.values()),
        ),
    )
