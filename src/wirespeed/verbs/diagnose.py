"""Name what limits a job or a service, from logs, measurements, configuration, prose, or this machine."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from wirespeed.emulation.state import DEFAULT_NAME
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import Document
from wirespeed.model.finding import Severity
from wirespeed.model.kinds import Option, Reader
from wirespeed.model.measurement import PortProbe
from wirespeed.model.progress import Progress, unheard
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.readers import tools
from wirespeed.verbs._diagnosis import LEADING_RATIO, concluded, judged_all
from wirespeed.verbs._diagnosis import Answer as Answer
from wirespeed.verbs._diagnosis_page import page_of
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._gathered import Gathered, check_target, fresh_lines
from wirespeed.verbs._live import Step, look
from wirespeed.verbs._measure import Fleet
from wirespeed.verbs._peers import asked_peers
from wirespeed.verbs._this_host import this_host
from wirespeed.verbs.peer import TOKEN_VARIABLE

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
NO_TIME = ("0", "0s")
LONGEST_S = 3600.0
PATIENCE_S = 30.0
"""Responders outlive the budget by so much at most: the last measurement may end late."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to diagnose and for whom."""

    inputs: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="files, directories, archives, saved cases or - for standard input; nothing means this machine",
                zh="文件、目录、归档、保存的案例，或 - 表示标准输入；不给则诊断本机",
            ),
            is_argument=True,
            metavar="INPUT",
        ),
    ] = ()
    question: Annotated[
        str,
        Option(
            help=Text(
                en="what you want to know, in your words (or a file question.txt in the directory)",
                zh="用自己的话提出的问题（或目录中的 question.txt）",
            ),
            metavar="TEXT",
        ),
    ] = ""
    side: Annotated[
        Literal["training", "serving"] | None,
        Option(
            help=Text(en="show the fix for this side only", zh="只显示该侧的修复方法"),
            flags=("--for",),
            choices=("training", "serving"),
        ),
    ] = None
    save: Annotated[
        str | None,
        Option(
            help=Text(
                en="write everything that was read as one case file, secrets redacted",
                zh="把读到的一切写成一个案例文件，密钥已隐去",
            ),
            metavar="FILE",
        ),
    ] = None
    redact: Annotated[
        bool,
        Option(
            help=Text(
                en="with --save: also replace host names, addresses and serial numbers, consistently, so that the case can be shared",
                zh="与 --save 一起使用：同时以一致的方式替换主机名、地址和序列号，使案例可以分享",
            )
        ),
    ] = False
    lab: Annotated[
        bool,
        Option(
            help=Text(
                en="diagnose the hosts of the lab: look, then measure what tells the remaining causes apart",
                zh="诊断实验室中的主机：先查看，再测量能区分剩余原因的内容",
            )
        ),
    ] = False
    name: Annotated[str, Option(help=Text(en="which lab", zh="哪个实验室"), metavar="NAME")] = DEFAULT_NAME
    peers: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="also measure the path to this host, where `wirespeed peer` runs (repeatable)",
                zh="同时测量到该主机的路径，其上运行 `wirespeed peer`（可重复）",
            ),
            flags=("--peer",),
            metavar="HOST[:PORT]",
        ),
    ] = ()
    token: Annotated[
        str | None,
        Option(
            help=Text(en=f"of the peers; or in {TOKEN_VARIABLE}", zh=f"对端的口令；也可放在 {TOKEN_VARIABLE} 中"), metavar="TOKEN"
        ),
    ] = None
    budget: Annotated[
        str,
        Option(
            help=Text(
                en="longest time for looking at what lives; 0 takes its facts only",
                zh="查看与测量运行中系统的最长时间；0 表示只看配置",
            ),
            metavar="60s",
        ),
    ] = "60s"
    fail_on: Annotated[
        Severity | None,
        Option(
            help=Text(
                en="exit with 1 when a finding that is more likely than not is at least this severe",
                zh="有把握过半且不低于该级别的结论时以 1 退出",
            ),
            choices=SEVERITIES,
        ),
    ] = None


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Read everything, judge every cause, order what was found. Bad input becomes a problem; raises CouldNot where a lab is asked for and none lives."""
    return examine(options, progress)[0]


def examine(options: Options, progress: Progress = unheard) -> tuple[Answer, Case]:
    """The same, with all that was read and measured."""
    if options.save is not None:
        check_target(Path(options.save))
    gathered = Gathered(shelf.every(tools, Reader))
    gathered.question = options.question
    if options.inputs or not options.lab:
        gathered.gather(options.inputs, progress)
    gathered.ask()
    steps = _look(gathered, options, progress) if options.lab or options.peers or not options.inputs else ()
    if options.save is not None:
        gathered.save(Path(options.save), identities=options.redact)
    case = Case(gathered.records, gathered.question, gathered.texts, gathered.collected)
    return concluded(case, gathered, options.side, options.save, steps), case


def _look(gathered: Gathered, options: Options, progress: Progress) -> tuple[Step, ...]:
    """Look at what lives, and measure. No time means that the facts, which are gathered already, have to do."""
    budget_s = 0.0 if options.budget in NO_TIME else asked_s(options.budget, "--budget", most_s=LONGEST_S)
    if not options.lab and not budget_s:
        return ()
    with _fleet(options, budget_s + PATIENCE_S) as fleet:
        looked = look(
            fleet,
            gathered.records,
            budget_s,
            lambda case: judged_all(case, gathered.problems),
            progress,
            has_facts=not options.lab and not options.inputs,
        )
    for log in fleet.logs:
        gathered.take(fresh_lines(log))
    gathered.take_measured(f"{options.name}.jsonl" if options.lab else "measured.jsonl", looked.records, looked.problems)
    gathered.has_looked()
    lost = {one.source.host for one in looked.problems if one.source.tool == "agent"}
    if lost >= {host.name for host in fleet.everything}:
        gathered.unread.append(f"lab {options.name}" if options.lab else "this machine")
    for peer in fleet.peers:
        if not any(
            isinstance(one, PortProbe) and one.target in peer.addresses and one.outcome == "connected" for one in looked.records
        ):
            gathered.problems.append(Problem(source=Source(tool="peer", path=peer.name), why=_NO_PEER))
            gathered.unread.append(peer.name)
    return tuple(looked.steps)


_NO_PEER = Text(en="does not answer; is `wirespeed peer` running there?", zh="没有应答；那里是否在运行 `wirespeed peer`？")


def _fleet(options: Options, for_s: float) -> AbstractContextManager[Fleet]:
    """The lab's hosts, or this one."""
    if not options.lab:
        return nullcontext(this_host(*asked_peers(options.peers, options.token)))
    from wirespeed.verbs._lab_hosts import lab_fleet

    return lab_fleet(options.name, for_s)


def exit_code(answer: Answer, options: Options) -> int:
    """3 when an input that was named could not be read; 1 when a finding that is more likely than not is severe enough; else 0."""
    if answer.unread:
        return 3
    if options.fail_on is None:
        return 0
    severe = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1]
    likely = [finding for finding in answer.findings if finding.confidence_ratio >= LEADING_RATIO]
    return int(any(finding.severity in severe for finding in likely))


def present(answer: Answer, options: Options) -> Document:
    """The answer as blocks."""
    return page_of(answer)
