"""Break a small cluster in secret, find out what, fix and verify it; then three published failures, this machine, and one report."""

import tomllib
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import msgspec

from wirespeed.model.document import AnyBlock, Document, FindingBlock, Grid, Headline, Prose, Steps
from wirespeed.model.errors import CouldNot
from wirespeed.model.kinds import Option, Renderer
from wirespeed.model.progress import Progress, unheard
from wirespeed.model.shelf import take
from wirespeed.model.text import Text, same
from wirespeed.report import renderers
from wirespeed.verbs import diagnose
from wirespeed.verbs._loop import Loop, shown, turn

SCHEMA = "wirespeed/demo/1"
CASES = ("training", "fabric", "serving")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the report goes."""

    report: Annotated[str, Option(help=Text(en="the HTML report to write", zh="要写出的 HTML 报告"), metavar="FILE")] = (
        "wirespeed-demo.html"
    )
    cases_only: Annotated[bool, Option(help=Text(en="without the cluster", zh="不搭建集群"))] = False


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One case: its title, where its facts come from, the question and the diagnosis."""

    name: str
    title: Text
    source: str
    question: str
    answer: diagnose.Answer


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `demo`."""

    schema: str = SCHEMA
    cases: tuple[Shown, ...]
    machine: diagnose.Answer
    loop: Loop | None
    """The whole loop on a lab; None where no lab can be made, and `no_loop` says why."""
    no_loop: Text | None = None
    report: str


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Run the loop on a lab where one can be made, diagnose the bundled cases and this machine, and write the report.

    Raises CouldNot when the report cannot be written.
    """
    loop, why = _loop(options, progress)
    answer = Answer(
        loop=loop,
        no_loop=why,
        cases=tuple(_case(name) for name in CASES),
        machine=diagnose.run(diagnose.Options(budget="5s"), progress),
        report=str(Path(options.report).absolute()),
    )
    page = take(renderers, "html", Renderer).render(present(answer, options), "en", 100)
    try:
        Path(options.report).write_text(page, encoding="utf-8")
    except OSError as error:
        raise CouldNot(
            Text(
                en=f"the report {options.report} cannot be written: {error.strerror}",
                zh=f"无法写出报告 {options.report}：{error.strerror}",
            )
        ) from error
    return answer


def _loop(options: Options, progress: Progress) -> tuple[Loop | None, Text | None]:
    if options.cases_only:
        return None, None
    try:
        return turn(progress), None
    except CouldNot as error:
        return None, error.why


def _case(name: str) -> Shown:
    bundled = files("wirespeed") / "bundled"
    about = tomllib.loads((bundled / f"{name}.toml").read_text(encoding="utf-8"))
    question = (bundled / name / "question.txt").read_text(encoding="utf-8").strip()
    with as_file(bundled / name) as directory:
        answer = _with_short_paths(diagnose.run(diagnose.Options(inputs=(str(directory),))), directory)
    title = Text(en=about["title_en"], zh=about["title_zh"])
    return Shown(name=name, title=title, source=about["source"], question=question, answer=answer)


def _with_short_paths(answer: diagnose.Answer, directory: Path) -> diagnose.Answer:
    """The same answer with inputs named by their file name: where the package is installed is nobody's business."""
    shortened = msgspec.json.encode(answer).replace(f"{directory}/".encode(), b"")
    return msgspec.json.decode(shortened, type=diagnose.Answer)


def present(answer: Answer, options: Options) -> Document:
    """Each case with its best finding, then this machine."""
    blocks: list[AnyBlock] = [
        Headline(
            text=Text(
                en="wirespeed: a broken cluster, three published failures, this machine",
                zh="wirespeed：一个故障集群、三个公开故障与本机",
            )
        ),
        *_lab_part(answer),
        Prose(
            text=Text(
                en="Each case holds what a user had in hand. wirespeed sees the files and the question, nothing else.",
                zh="每个案例只含用户手头的材料；wirespeed 只看到这些文件和问题。",
            )
        ),
    ]
    for case in answer.cases:
        blocks.append(Headline(text=case.title, level=2))
        blocks.append(
            Prose(text=Text(en=f"“{case.question}” (facts from {case.source})", zh=f"“{case.question}”（事实来自 {case.source}）"))
        )
        blocks.extend(_shortened(case.answer))
    blocks.append(Headline(text=Text(en="This machine", zh="本机"), level=2))
    blocks.extend(_shortened(answer.machine))
    blocks.append(Prose(text=Text(en=f"Report: {answer.report}", zh=f"报告：{answer.report}")))
    return Document(title=same("wirespeed demo"), blocks=tuple(blocks))


def _lab_part(answer: Answer) -> list[AnyBlock]:
    if answer.loop is not None:
        return shown(answer.loop, _shortened)
    if answer.no_loop is not None:
        return [
            Prose(text=Text(en=f"No cluster can be made here: {answer.no_loop.en}", zh=f"此处无法搭建集群：{answer.no_loop.zh}"))
        ]
    return []


def _shortened(answer: diagnose.Answer) -> list[AnyBlock]:
    """A diagnosis with its best finding only, without what was read and what is missing."""
    blocks = diagnose.present(msgspec.structs.replace(answer, steps=()), diagnose.Options()).blocks
    return [
        Headline(text=block.text, level=3, tone=block.tone) if isinstance(block, Headline) else block
        for block in blocks
        if not isinstance(block, Grid | Steps) and (not isinstance(block, FindingBlock) or block.rank_number == 1)
    ]
