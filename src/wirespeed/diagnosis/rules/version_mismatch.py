"""Versions differ between the nodes, or stacked libraries do not fit each other."""

import re

from wirespeed.diagnosis.joins.cluster import host_of
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_MUST_AGREE = {"nccl", "rccl", "torch", "pytorch", "vllm", "sglang", "ray", "aws-ofi-nccl", "libfabric", "ucx", "cuda"}


def _judge(case: Case) -> Verdict:
    differing = _differing_between_hosts(case)
    unlinked = case.every(
        FrameworkEvent,
        lambda one: re.search(r"undefined symbol|symbol lookup error|driver version is insufficient", one.message) is not None,
    )
    evidence = (
        *piece(_WARNED, PROVES, case.every(NcclWarning, topic="version-mismatch")),
        *piece(_DIFFER, STRONG + SLIGHT, differing, software=differing[0].name if differing else None),
        *piece(_UNLINKED, STRONG, unlinked),
        *piece(_GARBLED, FAIR, case.every(NcclWarning, topic="peer-address-invalid")),
        *piece(_SAID, FAIR + SLIGHT, case.said("versions-differ")),
        *piece(_TWO_NAMED, FAIR, _two_named(case) if case.said("versions-differ") else ()),
        *piece(_GROUPS, FAIR if case.said("versions-differ") or differing else SLIGHT, case.said("groups-do-not-mix")),
    )
    return Verdict(evidence=evidence)


def _two_named(case: Case) -> tuple[SoftwareVersion, ...]:
    """Two versions of one software that must be equal, wherever they were seen."""
    first: dict[str, SoftwareVersion] = {}
    for one in case.every(SoftwareVersion, lambda one: one.name.lower() in _MUST_AGREE):
        before = first.setdefault(one.name.lower(), one)
        if before.version != one.version:
            return (before, one)
    return ()


def _differing_between_hosts(case: Case) -> tuple[SoftwareVersion, ...]:
    """One record of each version of a software that must be equal, when two hosts (or ranks) differ."""
    found: dict[str, dict[str, dict[str, SoftwareVersion]]] = {}
    for one in case.every(SoftwareVersion, lambda one: one.name.lower() in _MUST_AGREE):
        place = host_of(one) or (f"rank {one.rank}" if one.rank is not None else None)
        if place:
            found.setdefault(one.name.lower(), {}).setdefault(place, {}).setdefault(one.version.split("+")[0], one)
    for places in found.values():
        first, *others = places.values()
        for other in others:
            here, there = first.keys() - other.keys(), other.keys() - first.keys()
            if here and there:  # one that only one of two lists holds is no difference: lists are excerpts
                return (*(first[version] for version in here), *(other[version] for version in there))
    return ()


_WARNED = Text(en="the library itself reports a version mismatch", zh="库自身报告版本不匹配")
_DIFFER = Text(en="hosts run different versions of {software}", zh="各主机的 {software} 版本不同")
_TWO_NAMED = Text(en="two versions of the same software are named", zh="提到同一软件的两个版本")
_UNLINKED = Text(en="a library was built for another version than it meets", zh="某库与所遇到的版本不符")
_GARBLED = Text(
    en="what a peer sent as its address is none: the two ends lay out their messages differently",
    zh="对端发来的地址无法识别：两端的消息布局不同",
)
_SAID = Text(en="versions differ or do not fit each other", zh="版本不同或互不匹配")
_GROUPS = Text(en="each group of hosts works by itself, mixed they fail", zh="每组主机各自正常，混用则失败")

RULE = Rule(
    cause="version-mismatch",
    title=Text(en="Incompatible software versions", zh="软件版本不兼容"),
    summary=Text(
        en="Ranks or stacked libraries come from different releases, whose wire set-up or binary interface differs.",
        zh="各 rank 或上下层的库来自不同版本，其建连方式或二进制接口不同。",
    ),
    needs=(
        (SoftwareVersion,),
        (wants(NcclWarning, lambda one: one.topic == "version-mismatch"),),
        (wants(FrameworkEvent, lambda one: "symbol" in one.message),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL promises compatibility of one release with itself only; frameworks bring their own copy beside the system's.",
            zh="NCCL 只保证同一版本之间兼容；框架自带的副本与系统版本并存。",
        ),
        shows=Text(
            en="Mismatched NCCL version, undefined symbol, or a hang and odd internal errors when new hosts join.",
            zh="Mismatched NCCL version、undefined symbol，或新主机加入后挂起与奇怪的内部错误。",
        ),
        sources=(
            "NVIDIA/nccl#1634",
            "NCCL warning text, release 2.23 and later",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-version-bug",
            because=Text(en="there all hosts agree on a release that has a defect", zh="彼处所有主机版本一致，而该版本有缺陷"),
        ),
        LookAlike(cause="nccl-plugin-mismatch", because=Text(en="there only the network plugin differs", zh="彼处仅网络插件不同")),
    ),
    changes=(
        Change(
            what=Text(
                en="Run the same image on all hosts and let one copy of each library be found",
                zh="所有主机使用同一镜像，且每个库只保留一份",
            ),
            commands=(
                "python -c 'import torch; print(torch.__version__, torch.cuda.nccl.version())'",
                "ldconfig -p | grep nccl",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Every host prints the same versions", zh="每台主机打印的版本相同"), commands=("NCCL_DEBUG=VERSION ...",)
        ),
    ),
    gain=Text(en="The job starts or stops hanging", zh="作业可启动或不再挂起"),
    severity="high",
    explains=("collective-timeout-too-short",),
)
