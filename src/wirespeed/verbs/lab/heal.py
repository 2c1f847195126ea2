"""Take faults out of the lab again; what was there before is restored exactly."""

from typing import Annotated

import msgspec

from wirespeed.emulation import breaking
from wirespeed.model.document import Document, Headline
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-heal/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which faults."""

    fault: Annotated[
        str | None,
        Option(
            help=Text(en="only this one; all where none is named", zh="只恢复该故障；不给则恢复全部"),
            is_argument=True,
            metavar="FAULT",
        ),
    ] = None
    name: NameOption = USUAL_NAME


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab heal`."""

    schema: str = SCHEMA
    healed: tuple[str, ...]


def run(options: Options) -> Answer:
    """Heal. A lab without faults is no error. Raises BadRequest when the fault named is not in force."""
    return Answer(healed=tuple(one.fault for one in breaking.take_out(options.name, options.fault)))


def present(answer: Answer, options: Options) -> Document:
    """What was taken out."""
    names = ", ".join(answer.healed)
    said = Text(en=f"Healed: {names}", zh=f"已恢复：{names}") if names else Text(en="Nothing was broken", zh="没有生效的故障")
    return Document(title=same("wirespeed lab heal"), blocks=(Headline(text=said, tone="good"),))
