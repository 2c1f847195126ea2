"""A defect or missing support in one release of the communication library."""

import re

from wirespeed.diagnosis.joins.cluster import variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

_RELEASE = re.compile(r"(?i)(?:nccl|rccl|torch|cuda|v)?\s*v?\d+\.\d+(?:\.\d+)?")
_LIBRARIES = {"nccl", "rccl", "ucx", "libfabric", "aws-ofi-nccl", "torch", "pytorch", "cuda", "vllm", "sglang", "openmpi"}
_RATE = re.compile(r"(\d+(?:\.\d+)?) ?[GM][bB](?:/s|ps|it/s)?")
_WENT_WELL = re.compile(
    r"(?i)\b(?:clean|works?|fine|ok|pass\w*|no (?:hang|error|problem|issue)|good|fast|normal|stable|all steps)\b|✅|✓"
)
_WENT_BADLY = re.compile(
    r"(?i)\b(?:hang\w*|hung|wedg\w*|stuck|stall\w*|freez\w*|froze\w*|fail\w*|crash\w*|slow\w*|abort\w*|deadlock\w*|segfault\w*|error\w*|broken)\b|❌"
)
_APART_RATIO = 1.5
"""Releases on the same hosts this far apart are unlikely to be noise; a starting point, not calibrated."""


def _judge(case: Case) -> Verdict:
    not_found = case.every(NcclWarning, topic="net-not-found")
    injected = case.said("topology-file") or variables(case, "NCCL_TOPO_FILE", "NCCL_NET", "NCCL_NET_PLUGIN")
    helped = case.said("other-release-helps")
    since = case.said("since-upgrade")
    told = _releases_told_apart(case)
    evidence = (
        *piece(_BY_RELEASE, STRONG + SLIGHT, _table_by_release(case)),
        *piece(_TOLD_APART, STRONG, told if not _table_by_release(case) else ()),
        *piece(_NOT_FOUND, FAIR, not_found if not injected else ()),
        *piece(_NO_KERNEL, STRONG + SLIGHT, case.every(NcclWarning, topic="device-unsupported")),
        *piece(_HELPED, STRONG, helped),
        *piece(_FEATURE, FAIR, case.said("feature-off-helps")),
        *piece(_SINCE, FAIR, since),
    )
    return Verdict(evidence=(*evidence, *(contradicts(_MIXED, FAIR, one) for one in case.said("versions-differ")[:1])))


def _table_by_release(case: Case) -> tuple[Table, ...]:
    """Tables with a column for each release, whose best figures are far apart."""
    return tuple(table for table in case.every(Table) if _releases_differ(table) or _rows_differ(table))


def _releases_differ(table: Table) -> bool:
    columns = [index for index, heading in enumerate(table.columns) if _RELEASE.fullmatch(heading.strip())]
    best = [max((_number(row, index) for row in table.rows), default=0.0) for index in columns]
    return len(best) >= 2 and min(best) > 0 and max(best) >= _APART_RATIO * min(best)


def _rows_differ(table: Table) -> bool:
    """Rows that begin with a release, some with figures far above those of others in one column."""
    rows = [row for row in table.rows if row and _RELEASE.fullmatch(row[0].strip())]
    if len(rows) < 2:
        return False
    by_column = ([_number(row, index) for row in rows] for index in range(1, len(table.columns)))
    return any(min(values) > 0 and max(values) >= _APART_RATIO * min(values) for values in by_column)


def _releases_told_apart(case: Case) -> tuple[SoftwareVersion, ...]:
    """Two releases of one library, each with what came of it on its line: one good, the other bad, or rates far apart."""
    first: dict[str, SoftwareVersion] = {}
    for one in case.every(SoftwareVersion, lambda one: one.name.lower() in _LIBRARIES and bool(one.quotes)):
        before = first.setdefault(one.name.lower(), one)
        if before.version == one.version:
            continue
        if _fared_differently(_after(before, one), _after(one, before), is_in_trouble=bool(case.said("hang"))):
            return (before, one)
    return ()


def _after(version: SoftwareVersion, other: SoftwareVersion) -> str:
    """What the line says behind the release, up to the other one where both stand on it."""
    return version.quotes[0].text.partition(version.version)[2].partition(other.version)[0]


def _fared_differently(one: str, other: str, *, is_in_trouble: bool) -> bool:
    rates = [float(found[1]) for text in (one, other) if (found := _RATE.search(text))]
    if len(rates) == 2 and min(rates) > 0:
        return max(rates) >= _APART_RATIO * min(rates)
    good, bad = (tuple(pattern.search(text) is not None for text in (one, other)) for pattern in (_WENT_WELL, _WENT_BADLY))
    if any(bad):
        return bad[0] != bad[1]
    return is_in_trouble and good[0] != good[1]


def _number(row: tuple[str, ...], index: int) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", row[index]) if index < len(row) else None
    return float(found[1]) if found else 0.0


_BY_RELEASE = Text(en="on the same hosts the figures differ by the release alone", zh="在相同主机上，仅版本不同数值就相差很大")
_TOLD_APART = Text(en="one release fares well and another badly", zh="一个版本正常，另一个版本异常")
_NOT_FOUND = Text(
    en="NCCL looks for a network device that its own detection did not give", zh="NCCL 寻找的网络设备并不在其自身探测结果中"
)
_NO_KERNEL = Text(
    en="the kernels of this release do not fit the GPU: none is built for it, or it asks for more shared memory than the GPU has",
    zh="该版本的内核不适合此 GPU：没有为其编译，或所需共享内存超过 GPU 所有",
)
_MIXED = Text(en="the versions differ within one job", zh="同一作业内版本不一致")
_HELPED = Text(en="another release works or is fast", zh="换一个版本即正常或变快")
_FEATURE = Text(en="switching one feature of the library off avoids it", zh="关闭该库的某个特性即可避免")
_SINCE = Text(en="it began with a new release or image", zh="问题始于新版本或新镜像")

RULE = Rule(
    cause="nccl-version-bug",
    title=Text(en="A defect of this release of the communication library", zh="该版本通信库存在缺陷"),
    summary=Text(
        en="The same job on the same hosts behaves with another release; the network is not at fault.",
        zh="同一作业、同样主机换个版本就正常；问题不在网络。",
    ),
    needs=(
        (wants(NcclWarning, lambda one: one.topic in ("net-not-found", "device-unsupported")),),
        (wants(SoftwareVersion, lambda one: one.name.lower() in _LIBRARIES),),
        (wants(Table, lambda one: any(_RELEASE.fullmatch(heading.strip()) for heading in one.columns)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Transports, tuners and plugins change with every release, and some releases have known hangs or slow paths.",
            zh="传输、调优与插件随版本变化，某些版本有已知的挂起或慢路径。",
        ),
        shows=Text(
            en="The failure follows the image and not the site, host or fabric.", zh="故障跟随镜像，而不是站点、主机或网络。"
        ),
        sources=(
            "NVIDIA-NeMo/Speech#13996",
            "NVIDIA/nccl#209",
            "NVIDIA/nccl#513",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="version-mismatch", because=Text(en="there two releases meet in one job", zh="彼处同一作业中混用两个版本")),
        LookAlike(
            cause="nccl-env-override",
            because=Text(en="there a variable and not the release makes the difference", zh="彼处差异来自变量而非版本"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Move to a release with the fix, or back to the last good one, on all hosts at once",
                zh="在所有主机上同时换到已修复的版本，或退回最近的正常版本",
            ),
            commands=("LD_PRELOAD=/opt/nccl-RELEASE/lib/libnccl.so.2 NCCL_DEBUG=VERSION ...",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The same test passes with the other release", zh="同一测试在另一版本下通过"),
            commands=("NCCL_DEBUG=VERSION ./all_reduce_perf -b 8 -e 1G -f 2 -g 8",),
        ),
    ),
    gain=Text(en="Restores what the hardware can do", zh="恢复硬件应有的水平"),
    severity="medium",
    explains=(
        "tcp-single-flow-limit",
        "version-mismatch",
    ),
)
