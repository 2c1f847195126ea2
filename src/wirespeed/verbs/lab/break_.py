"""Put a fault into the lab: where, how bad and whom it concerns is drawn from the seed."""

from typing import Annotated

import msgspec

from wirespeed.emulation import breaking, faults
from wirespeed.model import shelf
from wirespeed.model.document import Document, FactList, Headline, Steps
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-break/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which fault, and what is not left to chance."""

    fault: Annotated[
        str,
        Option(
            help=Text(en="see `wirespeed lab faults`", zh="见 `wirespeed lab faults`"),
            is_argument=True,
            metavar="FAULT",
            choices=shelf.ids(faults),
        ),
    ]
    on: Annotated[
        str | None,
        Option(
            help=Text(
                en="a host, a leaf, a cable leaf1-spine2, or a pair h1-h3", zh="主机、叶交换机、链路 leaf1-spine2 或主机对 h1-h3"
            ),
            metavar="WHERE",
        ),
    ] = None
    seed_number: Annotated[
        int | None,
        Option(help=Text(en="the same seed gives the same fault", zh="相同的种子得到相同的故障"), flags=("--seed",), metavar="N"),
    ] = None
    also: Annotated[bool, Option(help=Text(en="beside the faults in force", zh="与已生效的故障并存"))] = False
    quiet: Annotated[bool, Option(help=Text(en="do not tell what was chosen", zh="不透露所选内容"))] = False
    name: NameOption = USUAL_NAME


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab break`; with `quiet` it tells only that something was broken."""

    schema: str = SCHEMA
    fault: str | None = None
    where: str | None = None
    seed_number: int | None = None
    details: dict[str, str] = {}


def run(options: Options) -> Answer:
    """Break it. Raises BadRequest for an unknown fault or place, CouldNot where a need is not met or another fault is in force."""
    done = breaking.put_in(
        options.name, options.fault, where=options.on, seed=options.seed_number, also=options.also, is_told=not options.quiet
    )
    if options.quiet:
        return Answer()
    return Answer(fault=done.fault, where=done.where, seed_number=done.seed_number, details=done.details)


def present(answer: Answer, options: Options) -> Document:
    """What was broken, and what was drawn."""
    name = "" if options.name == USUAL_NAME else f" --name {options.name}"
    heal = Steps(
        title=Text(en="Undo it", zh="撤销"), steps=((Text(en="heal the lab", zh="恢复实验室"), (f"wirespeed lab heal{name}",)),)
    )
    if answer.fault is None:
        headline = Headline(text=Text(en="Something is broken now", zh="已注入一个故障"))
        return Document(title=same("wirespeed lab break"), blocks=(headline, heal))
    title = breaking.known()[answer.fault].title
    details = tuple((same(key), same(value)) for key, value in answer.details.items())
    return Document(
        title=same("wirespeed lab break"),
        blocks=(
            Headline(text=title, tone="warn"),
            FactList(
                rows=(
                    (Text(en="where", zh="位置"), same(str(answer.where))),
                    *details,
                    (Text(en="seed", zh="种子"), same(str(answer.seed_number))),
                )
            ),
            heal,
        ),
    )
