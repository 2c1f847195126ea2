"""NVLink is down, in error or not usable between some GPUs."""

import re

from wirespeed.diagnosis.joins.cluster import spans_nodes
from wirespeed.diagnosis.joins.gpu_health import failed_checks
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.events.nccl import NcclTuning
from wirespeed.model.facts.gpu import DevicePath, Gpu, GpuCheck, NvLink, PeerAccess
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import CollectiveRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

ODD_LATENCY_RATIO = 20.0
"""A peer latency twenty times the usual of the same matrix is a broken path, not a longer one."""
_WITH_NVLINK = re.compile(r"\bSXM|\bNVL\b|\bHGX|\bDGX|\bGB[23]00|\b[HB][12]00 80GB HBM3")
"""Models that are not sold without NVLink (or, for NVL, without its bridge)."""
FEWEST_GPUS_COUNT = 3
"""Of two GPUs nobody can tell which lacks a link."""
LARGE_BYTES = 64_000_000
PCIE_CLASS_BYTES_PER_S = 40e9
"""What collectives reach over PCIe; NVLink of any generation since the V100 gives three times that and more."""
NVLINK_XIDS = frozenset({74, 144, 145, 146, 147, 148, 149, 150})
"""Xids of NVLink (NVIDIA Xid catalogue)."""


def _judge(case: Case) -> Verdict:
    inactive = case.every(NvLink, is_active=False)
    errors = case.every(NvLink, lambda one: bool(one.replay_count or one.recovery_count or one.crc_errors_count))
    xids = case.every(
        KernelEvent, lambda one: one.topic in ("xid", "sxid", "nvlink") and (one.code_number in NVLINK_XIDS or one.topic != "xid")
    )
    odd = _odd_peers(case)
    uneven = _pairs_without_nvlink(case)
    pair, without = case.said("pair-specific"), _nvlink_machine_without(case)
    return Verdict(
        evidence=(
            *piece(_INACTIVE, STRONG, inactive),
            *piece(_ERRORS, FAIR, errors),
            *piece(_XID, STRONG, xids),
            *piece(_LAST, FAIR, case.every(Gpu, lambda one: one.last_xid_number in NVLINK_XIDS) if not xids else ()),
            *piece(_CHECK, FAIR + SLIGHT, failed_checks(case, "nvlink") if not inactive else ()),
            *piece(_ODD, STRONG, odd),
            *piece(_UNEVEN, STRONG, uneven),
            *piece(_ALL_WITHOUT, STRONG if case.said("nvlink-trouble") else FAIR, without),
            *piece(_FEWER, STRONG, _fewer_links(case)),
            *piece(_PLAN, FAIR, _plan_without(case)),
            *piece(_SLOW, FAIR, _slow_for_nvlink(case)),
            *piece(_PAIR, FAIR, pair),
            *piece(_P2P_OFF, FAIR if pair or odd else SLIGHT, case.said("p2p-off-passes")),
            *piece(_SAID, STRONG, case.said("nvlink-trouble")),
            *against(_NONE, FAIR, _no_nvlink_model(case)),
            *against(_ALIKE, STRONG, case.said("alike-on-all-of-a-kind")),
            *against(_BRIDGED, FAIR, case.said("bridged-card-named") if not (xids or odd or uneven or without) else ()),
        )
    )


def _odd_peers(case: Case) -> tuple[Record, ...]:
    """Pairs whose latency, or bandwidth, is far from the usual of the matrix."""
    pairs = case.every(PeerAccess, lambda one: one.latency_s is not None and one.near_index != one.far_index)
    if len(pairs) < 3:
        return ()
    usual = sorted(one.latency_s or 0.0 for one in pairs)[len(pairs) // 2]
    return tuple(one for one in pairs if (one.latency_s or 0.0) > ODD_LATENCY_RATIO * usual)


def _pairs_without_nvlink(case: Case) -> tuple[Record, ...]:
    """GPU pairs that are not joined by NVLink where most are."""
    pairs = case.every(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU") and one.near != one.far)
    without = tuple(one for one in pairs if not one.path_class.startswith("NV"))
    joined = {one.near for one in pairs if one.path_class.startswith("NV")}
    alone = {one.near for one in pairs} - joined
    if len(joined) >= 3 and 0 < len(alone) < len(joined):
        return tuple(one for one in without if one.near in alone)
    return without if pairs and 0 < len(without) < len(pairs) / 3 else ()


def _fewer_links(case: Case) -> tuple[Record, ...]:
    """GPUs that have fewer NVLinks to the others, in all, than most GPUs have."""
    pairs = case.every(DevicePath, lambda one: re.fullmatch(r"NV\d{1,2}", one.path_class) is not None)
    total: dict[tuple[str, str], int] = {}
    for one in pairs:
        total[one.source.path, one.near] = total.get((one.source.path, one.near), 0) + int(one.path_class[2:])
    if len(total) < FEWEST_GPUS_COUNT:
        return ()
    usual = sorted(total.values())[len(total) // 2]
    low = {gpu for gpu, links in total.items() if links < usual}
    return tuple(next(one for one in pairs if (one.source.path, one.near) == gpu) for gpu in sorted(low))


def _plan_without(case: Case) -> tuple[Record, ...]:
    """A plan of NCCL that takes no NVLink between GPUs, in a machine whose GPUs are made with it."""
    titled = case.every(Gpu, lambda one: _WITH_NVLINK.search(one.title or "") is not None)
    machine = (*titled, *case.said("nvlink-machine", "nvlink-trouble"))
    plans = case.every(NcclTuning, lambda one: one.path_within is not None)
    without = tuple(one for one in plans if one.path_within in ("PIX", "PXB", "PHB", "SYS"))
    return (without[0], machine[0]) if machine and without and len(without) == len(plans) else ()


def _nvlink_machine_without(case: Case) -> tuple[Record, ...]:
    """Pairs of GPUs none of which is joined by NVLink, in a machine whose GPUs are made with it."""
    pairs = case.every(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU") and one.near != one.far)
    titled = case.every(Gpu, lambda one: _WITH_NVLINK.search(one.title or "") is not None)
    machine = (*titled, *case.said("nvlink-machine", "nvlink-trouble"))
    return (pairs[0], machine[0]) if machine and pairs and not any(one.path_class.startswith("NV") for one in pairs) else ()


def _slow_for_nvlink(case: Case) -> tuple[Record, ...]:
    """The best large run of a benchmark inside one machine that has NVLink, where it is what PCIe gives."""
    machine = case.said("nvlink-machine")
    runs = case.every(CollectiveRun, lambda one: one.size_bytes >= LARGE_BYTES and one.busbw_bytes_per_s is not None)
    if not machine or not runs or spans_nodes(case) is not False:
        return ()
    best = max(runs, key=lambda one: one.busbw_bytes_per_s or 0.0)
    return (best, machine[0]) if (best.busbw_bytes_per_s or 0.0) < PCIE_CLASS_BYTES_PER_S else ()


def _no_nvlink_model(case: Case) -> tuple[Gpu, ...]:
    return case.every(Gpu, lambda one: any(name in (one.title or "") for name in ("GeForce", "RTX 40", "L40", "L4", "T4", "A10")))


_INACTIVE = Text(en="an NVLink is inactive", zh="有 NVLink 处于非活动状态")
_ERRORS = Text(en="an NVLink counts replays, recoveries or CRC errors", zh="NVLink 有重放、恢复或 CRC 错误计数")
_XID = Text(en="the driver reported an NVLink fault", zh="驱动报告 NVLink 故障")
_LAST = Text(en="the last Xid that a monitor saw on a GPU is one of NVLink", zh="监控在某 GPU 上最后见到的 Xid 属于 NVLink")
_CHECK = Text(en="DCGM finds a fault of NVLink", zh="DCGM 发现 NVLink 故障")
_FEWER = Text(en="a GPU has fewer NVLinks than its twins", zh="某 GPU 的 NVLink 数少于同类")
_PLAN = Text(en="NCCL plans without NVLink between the GPUs", zh="NCCL 的规划在 GPU 间不用 NVLink")
_ODD = Text(en="one pair of GPUs is far slower than all others", zh="有一对 GPU 远慢于其他")
_UNEVEN = Text(en="some pairs lack the NVLink that the others have", zh="部分成对缺少其他成对具有的 NVLink")
_SLOW = Text(
    en="within the machine the bandwidth is that of PCIe although it has NVLink", zh="机内带宽只有 PCIe 水平，而该机型有 NVLink"
)
_ALL_WITHOUT = Text(
    en="no pair of GPUs is joined by NVLink, which this machine should have", zh="该机应有 NVLink，但没有任何 GPU 对经 NVLink 相连"
)
_PAIR = Text(en="the fault follows a certain pair of GPUs", zh="故障跟随特定的一对 GPU")
_P2P_OFF = Text(en="it works with peer access off", zh="关闭对等访问后正常")
_SAID = Text(en="NVLink trouble is reported", zh="描述提到 NVLink 问题")
_ALIKE = Text(
    en="all machines of this kind show the same, so that it belongs to the kind", zh="同型号所有机器都一样，因此属于该型号的特性"
)
_BRIDGED = Text(
    en="cards with bridges use part of their links, and the others are inactive by design",
    zh="桥接卡只用部分链路，其余按设计为非活动",
)
_NONE = Text(en="this GPU model has no NVLink", zh="该 GPU 型号没有 NVLink")

RULE = Rule(
    cause="nvlink-missing",
    title=Text(en="The direct path between some GPUs is down or faulty", zh="部分 GPU 之间的直连通路断开或故障"),
    summary=Text(
        en="NVLink (or the peer path) between certain GPUs is inactive or in error; jobs that use it hang or fall to PCIe speed, others are fine.",
        zh="某些 GPU 之间的 NVLink（或对等通路）非活动或出错；用到它的任务挂起或降到 PCIe 速度，其他正常。",
    ),
    needs=(
        (wants(NvLink, lambda one: one.is_active is not None),),
        (wants(NvLink, lambda one: one.crc_errors_count is not None or one.replay_count is not None),),
        (wants(Gpu, lambda one: one.last_xid_number in NVLINK_XIDS),),
        (GpuCheck,),
        (wants(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU")),),
        (wants(PeerAccess, lambda one: one.latency_s is not None),),
        (wants(KernelEvent, lambda one: one.topic in ("xid", "sxid", "nvlink")),),
        (wants(Statement, lambda one: one.topic in ("nvlink-trouble", "pair-specific")),),
        (wants(NcclTuning, lambda one: one.path_within is not None), wants(Statement, lambda one: one.topic == "nvlink-machine")),
        (CollectiveRun, wants(Statement, lambda one: one.topic == "nvlink-machine")),
    ),
    silence_needs=(
        (wants(NvLink, lambda one: one.is_active is not None),),
        (wants(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU")),),
        (wants(PeerAccess, lambda one: one.latency_s is not None),),
        (wants(KernelEvent, lambda one: one.topic in ("xid", "sxid", "nvlink")),),
        (wants(NcclTuning, lambda one: one.path_within is not None), wants(Statement, lambda one: one.topic == "nvlink-machine")),
        (CollectiveRun, wants(Statement, lambda one: one.topic == "nvlink-machine")),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A link lost training, a bridge is loose, a switch port failed; peer-to-peer data then goes elsewhere or nowhere.",
            zh="链路训练失败、桥接松动或交换端口故障；对等数据改走他路或无路可走。",
        ),
        shows=Text(
            en="nvidia-smi nvlink -s shows inactive links; topo -m lacks NV#; a pair hangs while each GPU alone is fine.",
            zh="nvidia-smi nvlink -s 显示非活动链路；topo -m 缺 NV#；某一对挂起而单卡正常。",
        ),
        sources=("NVIDIA Xid catalogue", "azurehpc-health-checks check_nvlink_status", "determined-ai/determined#8915"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-acs-enabled",
            because=Text(en="ACS hits all pairs below a bridge, not one", zh="ACS 影响网桥下所有成对，而非一对"),
        ),
        LookAlike(
            cause="nvlink-fabric-manager",
            because=Text(en="there the whole NVSwitch fabric is not set up", zh="彼处整个 NVSwitch 互连未建立"),
        ),
        LookAlike(
            cause="nccl-env-override",
            because=Text(en="there a variable keeps NCCL from using NVLink that works", zh="彼处是变量使 NCCL 不用正常的 NVLink"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Test each pair, reset or reseat, then repair; keep the pair apart until then",
                zh="逐对测试，复位或重插，再修复；此前避免同时使用该对",
            ),
            commands=("nvidia-smi nvlink -s", "p2pBandwidthLatencyTest"),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="All links active, errors flat, all-reduce at the platform's floor",
                zh="所有链路活动、错误不增、all-reduce 达平台下限",
            ),
            commands=("nvidia-smi nvlink -e", "all_reduce_perf -b 1G -e 1G -g 8"),
        ),
    ),
    gain=Text(en="Five- to twentyfold within the node", zh="节点内五至二十倍"),
    severity="high",
    explains=("nccl-env-override", "no-fault-hardware-limit", "p2p-unsupported-gpu"),
)
