"""Run any program in one node of the lab, with its input, output and exit code."""

import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

from wirespeed.emulation import groups, lab
from wirespeed.machines import namespace
from wirespeed.model.document import Document
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption

SCHEMA = "wirespeed/lab-run/1"
KILLED_BY_SIGNAL = 128


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where, and what."""

    host: Annotated[str, Option(help=Text(en="a host, leaf or spine", zh="主机、叶或脊交换机"), is_argument=True, metavar="HOST")]
    command: Annotated[
        tuple[str, ...],
        Option(help=Text(en="the program and its arguments", zh="程序及其参数"), is_argument=True, is_command=True, metavar="CMD"),
    ] = ()
    name: NameOption = USUAL_NAME


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab run`, given after the program's own output."""

    schema: str = SCHEMA
    host: str
    command: tuple[str, ...]
    exit_code: int


def run(options: Options) -> Answer:
    """Run the program and wait for it. Raises BadRequest for an unknown node or no command, CouldNot where it cannot be entered."""
    if not options.command:
        raise BadRequest(Text(en="what shall be run? Put it after --", zh="要运行什么？请写在 -- 之后"))
    if options.command[0].startswith("-") and options.command[0] != "--":
        raise BadRequest(
            Text(
                en=f"{options.command[0]} is no program; options of wirespeed stand before HOST, and the program after --",
                zh=f"{options.command[0]} 不是程序；wirespeed 的选项应写在 HOST 之前，程序写在 -- 之后",
            )
        )
    opened = lab.open_lab(options.name)
    node = opened.node(options.host)
    entered, group = opened.enter_argv(node, str(Path.cwd())), opened.cpu_group(node)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's; we wait for what it makes of it
    try:
        program = subprocess.Popen((*entered, *options.command), preexec_fn=partial(_tied, group))  # noqa: S603 - what the user says
        code = program.wait()
    except OSError as error:
        raise CouldNot(
            Text(en=f"{entered[0]} cannot be run: {error.strerror}", zh=f"无法运行 {entered[0]}：{error.strerror}")
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return Answer(host=options.host, command=options.command, exit_code=code if code >= 0 else KILLED_BY_SIGNAL - code)


def _tied(group: str | None) -> None:
    """In the child: ends when we do, and shares the host's part of the processor."""
    namespace.die_with_parent()
    if group is not None:
        groups.join(group, groups.ONESELF)


def present(answer: Answer, options: Options) -> Document:
    """Nothing beside what the program printed."""
    return Document(title=same("wirespeed lab run"), blocks=())


def exit_code(answer: Answer, options: Options) -> int:
    """The program's own."""
    return answer.exit_code
