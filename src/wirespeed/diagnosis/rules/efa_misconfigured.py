"""The EFA provider or its NCCL plugin is not usable, on instances that have EFA."""

from wirespeed.diagnosis.joins.cluster import uses_sockets, variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclNetwork, NcclPlugin, NcclWarning
from wirespeed.model.events.ucx import UcxTransport
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    lanes = case.every(UcxTransport, is_chosen=True)
    on_efa = (
        *(one for one in lanes if one.transport == "srd"),
        *case.every(NcclNetwork, lambda one: "efa" in (one.provider or "")),
        *case.said("efa-cluster"),
        *(one for one in variables(case, "FI_PROVIDER") if "efa" in (one.setting or "")),
        *variables(case, "FI_EFA_USE_DEVICE_RDMA"),
    )
    unavailable = (*case.every(FrameworkEvent, topic="efa-unavailable"), *case.every(NcclWarning, topic="ofi-failed"))
    no_plugin = (*case.every(NcclPlugin, name=None), *case.every(NcclWarning, topic="verbs-library-missing"))
    sockets = uses_sockets(case)
    other_provider = case.every(NcclNetwork, lambda one: one.provider is not None and "efa" not in one.provider)
    with_efa = case.every(
        NcclNetwork,
        lambda one: ("libfabric" in one.name.lower() or "ofi" in one.name.lower()) and one not in other_provider,
    )
    emulated = tuple(one for one in lanes if one.transport == "tcp" and (one.operation or "").startswith(("rma", "amo")))
    groups = (*case.said("packet-filter"), *case.every(Setting, lambda one: "security" in one.name.lower()))
    stuck = case.said("hang") or case.said("efa-unusable") or with_efa
    evidence = (
        *piece(_UNAVAILABLE, STRONG + SLIGHT, unavailable),
        *piece(_NO_PLUGIN, STRONG, no_plugin if on_efa else ()),
        *piece(_SOCKETS, FAIR, sockets if on_efa else ()),
        *piece(
            _OTHER_PROVIDER,
            STRONG,
            tuple(one for one in variables(case, "FI_PROVIDER") if "efa" not in (one.setting or "") and case.said("efa-cluster")),
        ),
        *piece(_OTHER_PROVIDER, STRONG, other_provider if on_efa else ()),
        *piece(_EMULATED, STRONG, emulated if on_efa else ()),
        *piece(_GROUP, FAIR + SLIGHT, groups if on_efa and stuck else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("efa-unusable")),
        *(contradicts(_USED, STRONG, one) for one in with_efa[:1] if not groups and not case.said("hang", "efa-unusable")),
    )
    return Verdict(evidence=evidence)


_UNAVAILABLE = Text(en="libfabric or the OFI plugin reports that EFA cannot be used", zh="libfabric 或 OFI 插件报告 EFA 不可用")
_NO_PLUGIN = Text(en="NCCL finds no network plugin, and without it EFA is invisible", zh="NCCL 找不到网络插件，没有它就看不到 EFA")
_SOCKETS = Text(en="NCCL uses sockets on an instance with EFA", zh="在带 EFA 的实例上 NCCL 使用套接字")
_OTHER_PROVIDER = Text(en="FI_PROVIDER names another provider than efa", zh="FI_PROVIDER 指定的不是 efa")
_EMULATED = Text(
    en="one-sided operations go over TCP although an EFA device is there: UCX emulates them",
    zh="虽有 EFA 设备，单边操作仍走 TCP：由 UCX 模拟",
)
_GROUP = Text(
    en="a security group is in the path; EFA needs a rule to and from the group itself, in both directions",
    zh="路径上有安全组；EFA 需要对该组自身的入站与出站规则",
)
_SAID = Text(en="the EFA provider or plugin is not usable", zh="EFA 提供者或插件不可用")
_USED = Text(en="NCCL uses libfabric", zh="NCCL 正在使用 libfabric")

RULE = Rule(
    cause="efa-misconfigured",
    title=Text(en="EFA is not usable for NCCL", zh="NCCL 无法使用 EFA"),
    summary=Text(
        en="The libfabric EFA provider, the OFI plugin, the device or the security group is missing where the ranks run, so traffic takes TCP or fails.",
        zh="rank 所在环境缺少 libfabric EFA 提供者、OFI 插件、设备或安全组规则，流量走 TCP 或失败。",
    ),
    needs=(
        (NcclPlugin,),
        (wants(FrameworkEvent, lambda one: one.topic == "efa-unavailable"),),
        (wants(NcclWarning, lambda one: one.topic == "ofi-failed"),),
        (wants(EnvVar, lambda one: one.name.startswith("FI_")),),
        (UcxTransport,),
        (wants(NcclNetwork, lambda one: "libfabric" in one.name.lower()),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL reaches EFA only through aws-ofi-nccl and libfabric; all traffic between members must be allowed by the security group to itself.",
            zh="NCCL 只能通过 aws-ofi-nccl 与 libfabric 使用 EFA；安全组须允许成员之间（对自身）的全部流量。",
        ),
        shows=Text(
            en="No plugin found, Using network Socket, or no eligible providers, on an instance type with EFA.",
            zh="在带 EFA 的实例上出现 No plugin found、Using network Socket 或 no eligible providers。",
        ),
        sources=(
            "NVIDIA/nccl#959",
            "AWS EFA user guide",
            "aws/aws-ofi-nccl README",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ib-disabled-socket-fallback",
            because=Text(en="there the fabric is verbs based and needs no plugin", zh="彼处是 verbs 网络，不需要插件"),
        ),
        LookAlike(
            cause="container-missing-rdma-device",
            because=Text(en="there the plugin is in place and the device file is missing", zh="彼处插件齐备，缺的是设备文件"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Install libfabric and aws-ofi-nccl in the image, and put them on the library path",
                zh="在镜像中安装 libfabric 与 aws-ofi-nccl，并加入库路径",
            ),
            commands=(
                "export LD_LIBRARY_PATH=/opt/amazon/efa/lib:/opt/amazon/ofi-nccl/lib:$LD_LIBRARY_PATH",
                "fi_info -p efa",
            ),
        ),
        Change(
            what=Text(
                en="Request vpc.amazonaws.com/efa in the pod (or pass /dev/infiniband) and let the security group reach itself in both directions",
                zh="在 Pod 中申请 vpc.amazonaws.com/efa（或传入 /dev/infiniband），并让安全组双向允许自身",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="NCCL selects libfabric with EFA", zh="NCCL 选择 libfabric 的 EFA"),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep -E 'NET/OFI|Using network'",),
        ),
    ),
    gain=Text(en="100 to 3,200 Gb/s instead of a TCP flow's 5 to 10", zh="由单条 TCP 流的 5 至 10 Gb/s 变为 100 至 3,200 Gb/s"),
    severity="high",
    explains=(
        "ib-disabled-socket-fallback",
        "tcp-single-flow-limit",
        "kv-transfer-bound",
        "firewall-blocks-ports",
    ),
)
