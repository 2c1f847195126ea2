"""Find the cause together: a few questions and commands, each chosen for what its answer would tell, then the diagnosis."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Document, Grid, Headline
from wirespeed.model.kinds import Activity, Option, Reader
from wirespeed.model.talk import Nobody, Talk
from wirespeed.model.text import Text, same
from wirespeed.readers import tools
from wirespeed.report.plain import visible
from wirespeed.verbs import diagnose
from wirespeed.verbs._diagnosis import concluded
from wirespeed.verbs._diagnosis_page import page_of
from wirespeed.verbs._gathered import Gathered, check_target
from wirespeed.verbs._interview import Interview, Turn

SCHEMA = "wirespeed/ask/1"
MOST_SHOWN_CHARACTERS = 120


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known already, and where to keep the case."""

    inputs: Annotated[
        tuple[str, ...],
        Option(
            help=Text(en="files or directories you have already", zh="已有的文件或目录"),
            is_argument=True,
            metavar="INPUT",
        ),
    ] = ()
    kind: Annotated[
        Activity | None,
        Option(
            help=Text(en="what it is about, if you want to skip that question", zh="所涉及的内容（跳过第一个问题）"),
            choices=("training", "serving", "download", "benchmark"),
        ),
    ] = None
    save: Annotated[
        str | None,
        Option(
            help=Text(
                en="write your answers and everything that was read as one case file, secrets redacted",
                zh="把回答与读到的一切写成一个案例文件，密钥已隐去",
            ),
            metavar="FILE",
        ),
    ] = None
    redact: Annotated[
        bool, Option(help=Text(en="replace names and addresses in the saved case", zh="替换所保存案例中的名称与地址"))
    ] = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ask`: the conversation, and the same diagnosis that `diagnose` would give of what came out."""

    schema: str = SCHEMA
    kind: Activity | None
    turns: tuple[Turn, ...]
    diagnosis: diagnose.Answer


def run(options: Options, talk: Talk | None = None) -> Answer:
    """Ask, and conclude when there are no more answers. Raises CouldNot where the case cannot be kept."""
    if options.save is not None:
        check_target(Path(options.save))
    gathered = Gathered(shelf.every(tools, Reader))
    if options.inputs:
        gathered.gather(options.inputs)
    interview = Interview(gathered, talk or Nobody(), options.kind)
    interview.hold()
    gathered.ask()
    if options.save is not None:
        gathered.save(Path(options.save), identities=options.redact)
    case = Case(gathered.records, gathered.question, gathered.texts)
    side: Literal["training", "serving"] | None = (
        interview.memory.kind if interview.memory.kind in ("training", "serving") else None
    )
    return Answer(
        kind=interview.memory.kind,
        turns=tuple(interview.turns),
        diagnosis=concluded(case, gathered, side, options.save),
    )


def exit_code(answer: Answer, options: Options) -> int:
    """3 when an input that was named could not be read, else 0."""
    return 3 if answer.diagnosis.unread else 0


def present(answer: Answer, options: Options) -> Document:
    """The page of the diagnosis, then the way to it."""
    blocks: list[AnyBlock] = list(page_of(answer.diagnosis).blocks)
    if answer.turns:
        rows = tuple((one.asked, same(visible(one.answered[:MOST_SHOWN_CHARACTERS]))) for one in answer.turns)
        columns = (Text(en="asked", zh="问题"), Text(en="answered", zh="回答"))
        blocks += [Headline(text=Text(en="How it was found", zh="诊断过程"), level=2), Grid(columns=columns, rows=rows)]
    return Document(title=Text(en="wirespeed ask", zh="wirespeed 问诊"), blocks=tuple(blocks))
