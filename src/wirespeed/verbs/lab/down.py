"""End the lab; nothing of it is left."""

from typing import Annotated

import msgspec

from wirespeed.emulation import lab
from wirespeed.model.document import Document, Headline
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-down/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which lab."""

    name: NameOption = USUAL_NAME
    all_: Annotated[bool, Option(help=Text(en="every lab of this user", zh="当前用户的所有实验室"), flags=("--all",))] = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab down`: the labs that were ended now."""

    schema: str = SCHEMA
    ended: tuple[str, ...]


def run(options: Options) -> Answer:
    """End it. A lab that is not there is no error. Raises CouldNot when it does not end."""
    names = lab.names() if options.all_ else (options.name,)
    return Answer(ended=tuple(name for name in names if lab.down(name)))


def present(answer: Answer, options: Options) -> Document:
    """What was ended."""
    ended = ", ".join(answer.ended)
    said = (
        Text(en=f"The lab is down: {ended}", zh=f"实验室已结束：{ended}")
        if ended
        else Text(en="No lab was up", zh="没有正在运行的实验室")
    )
    return Document(title=same("wirespeed lab down"), blocks=(Headline(text=said),))
