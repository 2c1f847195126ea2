"""The whole loop on a lab: baseline, a fault that nobody is told, diagnosis, fix, verification against the baseline."""

import os
from collections.abc import Callable, Sequence
from random import SystemRandom
from statistics import median

import msgspec

from wirespeed.diagnosis.joins.rates import pair_rates
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Grid, Headline, Prose
from wirespeed.model.link_runs import DatagramTrain, LatencyRun
from wirespeed.model.progress import Progress, Update
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs import diagnose
from wirespeed.verbs._diagnosis import LEADING_RATIO
from wirespeed.verbs.lab import break_, down, faults, heal, up

BUDGET = "14s"
QUIET_RATIO = 0.7
"""A baseline slower than this share of what is reached afterwards was no baseline."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What the active tests of one diagnosis say of the network in a few numbers."""

    slowest_pair_bits_per_s: float | None
    median_pair_bits_per_s: float | None
    rtt_p50_s: float | None
    rtt_worst_p95_s: float | None
    loss_worst_ratio: float | None


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: what was broken, what was found, and the figures before, during and after."""

    fault: str
    title: Text
    cause: str
    where: str
    details: dict[str, str]
    found_first: bool
    baseline: Figures
    broken: Figures
    fixed: Figures
    findings_before: tuple[str, ...]
    """Causes surer than not on the healthy lab: none, or the machine was not quiet."""
    findings_after: tuple[str, ...]
    answer: diagnose.Answer


def turn(progress: Progress) -> Loop:
    """Make a lab of this process's own, break it in secret, diagnose, heal, verify, and take it down whatever happens.

    Raises CouldNot where no lab can be.
    """
    name = f"demo-{os.getpid()}"
    progress(Update(says=Text(en="making a cluster of four hosts", zh="正在搭建四台主机的集群")))
    up.run(up.Options(name=name, for_="10m"))
    try:
        return _turned(name, progress)
    finally:
        down.run(down.Options(name=name))


def _turned(name: str, progress: Progress) -> Loop:
    before, healthy = _examined(name, progress)
    offered = faults.run(faults.Options(name=name)).faults
    chosen = SystemRandom().choice([one for one in offered if one.available and one.is_counted])
    broken = break_.run(break_.Options(fault=chosen.fault, name=name))
    answer, hurt = _examined(name, progress)
    heal.run(heal.Options(name=name))
    after, mended = _examined(name, progress)
    return Loop(
        fault=chosen.fault,
        title=chosen.title,
        cause=chosen.cause,
        where=broken.where or "",
        details=broken.details,
        found_first=bool(answer.findings) and answer.findings[0].cause == chosen.cause,
        baseline=figures(healthy),
        broken=figures(hurt),
        fixed=figures(mended),
        findings_before=_sure(before),
        findings_after=_sure(after),
        answer=answer,
    )


def _examined(name: str, progress: Progress) -> tuple[diagnose.Answer, Case]:
    return diagnose.examine(diagnose.Options(lab=True, name=name, budget=BUDGET), progress)


def _sure(answer: diagnose.Answer) -> tuple[str, ...]:
    return tuple(one.cause for one in answer.findings if one.confidence_ratio >= LEADING_RATIO)


def figures(case: Case) -> Figures:
    """The figures of a case; None where it has no such test."""
    rates = [8 * one.goodput_bytes_per_s for one in pair_rates(case, with_starved=True)]
    runs = case.every(LatencyRun, lambda one: one.load == "idle")
    middle = [one.rtt_p50_s for one in runs if one.rtt_p50_s is not None]
    late = [one.rtt_p95_s for one in runs if one.rtt_p95_s is not None]
    return Figures(
        slowest_pair_bits_per_s=min(rates, default=None),
        median_pair_bits_per_s=median(rates) if rates else None,
        rtt_p50_s=median(middle) if middle else None,
        rtt_worst_p95_s=max(late, default=None),
        loss_worst_ratio=max((one.loss_ratio for one in case.every(DatagramTrain)), default=None),
    )


def shown(loop: Loop, told: Callable[[diagnose.Answer], Sequence[AnyBlock]]) -> list[AnyBlock]:
    """The turn as blocks; `told` shows the diagnosis."""
    drawn = ", ".join(f"{name} {value}" for name, value in loop.details.items())
    verdict = (
        Text(en="The diagnosis was right.", zh="诊断正确。")
        if loop.found_first
        else Text(en="The diagnosis named another cause first.", zh="诊断首先给出了另一个原因。")
    )
    return [
        Headline(text=Text(en="A cluster with something wrong in it", zh="一个有问题的集群"), level=2),
        *told(loop.answer),
        Headline(text=Text(en="What had been broken", zh="实际注入的故障"), level=3),
        Prose(text=Text(en=f"{loop.title.en} ({loop.cause}), on {loop.where}: {drawn}", zh=f"{loop.title.zh}（{loop.cause}），位于 {loop.where}：{drawn}")),
        Prose(text=verdict),
        Headline(text=Text(en="Fixed, and verified against the baseline", zh="修复，并与基线对照验证"), level=3),
        _compared(loop),
        *_disturbed(loop),
        Prose(text=_after(loop)),
    ]  # fmt: skip


def _compared(loop: Loop) -> Grid:
    columns = (
        Text(en="figure", zh="指标"),
        Text(en="baseline", zh="基线"),
        Text(en="broken", zh="故障时"),
        Text(en="fixed", zh="修复后"),
    )
    rows = tuple(
        (
            name,
            *(
                same(printed(field, getattr(one, field)) if getattr(one, field) is not None else "-")
                for one in (loop.baseline, loop.broken, loop.fixed)
            ),
        )
        for field, name in _NAMES.items()
    )
    return Grid(columns=columns, rows=rows)


def _disturbed(loop: Loop) -> list[AnyBlock]:
    """A word where the baseline was not a healthy network's: something else used the machine."""
    before, after = loop.baseline.slowest_pair_bits_per_s, loop.fixed.slowest_pair_bits_per_s
    is_off = bool(loop.findings_before) or (before is not None and after is not None and before < QUIET_RATIO * after)
    if not is_off:
        return []
    text = Text(
        en="The baseline was disturbed: something else used this machine while it was measured. Compare with care.",
        zh="测量基线时有其他程序占用本机，基线受到干扰；对照时请留意。",
    )
    return [Prose(text=text)]


def _after(loop: Loop) -> Text:
    if not loop.findings_after:
        return Text(en="After the fix the same diagnosis finds nothing.", zh="修复后，同样的诊断不再发现问题。")
    named = ", ".join(loop.findings_after)
    return Text(en=f"After the fix it still names {named}.", zh=f"修复后仍然给出 {named}。")


_NAMES = {
    "slowest_pair_bits_per_s": Text(en="slowest pair of hosts", zh="最慢的主机对"),
    "median_pair_bits_per_s": Text(en="median pair", zh="主机对中位数"),
    "rtt_p50_s": Text(en="round trip, median", zh="往返时延中位数"),
    "rtt_worst_p95_s": Text(en="round trip, worst P95", zh="往返时延最差 P95"),
    "loss_worst_ratio": Text(en="loss, worst path", zh="最差路径丢包率"),
}
