"""The container or pod was started without the RDMA device files, so nothing in it can use RDMA."""

import re

from wirespeed.diagnosis.joins.cluster import rdma_ports_active, uses_rdma, uses_sockets
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclHca, NcclWarning
from wirespeed.model.events.ucx import UcxTransport
from wirespeed.model.facts.host import ContainerState
from wirespeed.model.facts.rdma import RdmaDeviceNode
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_RDMA_DEVICE = re.compile(r"(?i)infiniband|rdma|/hca|/ib|efa|roce|mlnx|hostdev")
"""Device files, and the names that device plug-ins give to what they pass in (the name after the slash is the operator's choice)."""
_NOT_OPENED = re.compile(r"(?i)ibv_open_device.*fail|unable to open device \w")


def _judge(case: Case) -> Verdict:
    containers = case.every(ContainerState)
    given = tuple(one for one in containers if one.is_privileged or any(_RDMA_DEVICE.search(name) for name in one.devices))
    bare = tuple(one for one in containers if one not in given)
    none_inside = (
        *case.every(NcclHca, device=None),
        *case.every(NcclWarning, topic="verbs-library-missing"),
        *case.every(FrameworkEvent, lambda one: one.topic == "verbs-failed" and "memory" not in one.message.lower()),
    )
    seen_outside = (*rdma_ports_active(case), *case.said("rdma-healthy-outside"))
    none_offered = _offers_no_rdma(case)
    not_opened = case.every(NcclWarning, lambda one: _NOT_OPENED.search(one.message) is not None)
    inside = bool(containers or case.said("runs-in-container"))
    wanted = none_inside or uses_sockets(case) or case.said("sockets-used", "rdma-device-not-passed")
    evidence = (
        *piece(_NODE_MISSING, STRONG + SLIGHT, case.every(RdmaDeviceNode, exists=False)),
        *piece(_NODE_DENIED, STRONG, case.every(RdmaDeviceNode, is_accessible=False)),
        *piece(_CANNOT_OPEN, STRONG if inside else FAIR, not_opened),
        *piece(_BARE, STRONG if none_inside else FAIR, bare if wanted and (none_inside or seen_outside) else ()),
        *piece(_NONE_INSIDE, FAIR, none_inside if inside else ()),
        *piece(_NOT_OFFERED, SLIGHT, none_offered if inside else ()),
        *piece(_OUTSIDE, FAIR, seen_outside if inside and none_inside else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("rdma-device-not-passed") if inside and not given else ()),
        *(contradicts(_GIVEN, STRONG, one) for one in given[:1]),
        *(contradicts(_USED, STRONG, one) for one in uses_rdma(case)[:1]),
    )
    return Verdict(evidence=evidence)


def _offers_no_rdma(case: Case) -> tuple[UcxTransport, ...]:
    """What UCX offers, when no RDMA transport is among it."""
    offered = case.every(UcxTransport, is_chosen=False)
    has_rdma = any(one.transport.startswith(("rc", "dc", "ud", "srd")) for one in offered)
    return () if has_rdma else tuple(one for one in offered if one.transport == "tcp")


_CANNOT_OPEN = Text(en="the RDMA devices are seen but cannot be opened", zh="能看到 RDMA 设备，但无法打开")
_NODE_MISSING = Text(en="the RDMA device file does not exist where the process runs", zh="进程所在环境中不存在 RDMA 设备文件")
_NODE_DENIED = Text(en="the RDMA device file cannot be opened", zh="RDMA 设备文件无法打开")
_BARE = Text(en="the container was started without /dev/infiniband", zh="容器启动时未传入 /dev/infiniband")
_NONE_INSIDE = Text(en="no RDMA device can be opened inside the container", zh="容器内打不开任何 RDMA 设备")
_NOT_OFFERED = Text(en="UCX finds no RDMA transport inside the container", zh="容器内 UCX 找不到 RDMA 传输")
_OUTSIDE = Text(en="the host's RDMA port is active", zh="主机上的 RDMA 端口处于激活状态")
_SAID = Text(en="the RDMA devices are not visible inside the container", zh="容器内看不到 RDMA 设备")
_GIVEN = Text(en="the container was given the RDMA devices", zh="容器已获得 RDMA 设备")
_USED = Text(en="NCCL uses RDMA", zh="NCCL 正在使用 RDMA")

RULE = Rule(
    cause="container-missing-rdma-device",
    title=Text(en="The container lacks the RDMA devices", zh="容器缺少 RDMA 设备"),
    summary=Text(
        en="The host's RDMA adapter works, but the container was started without its device files, so libraries inside fall back to TCP.",
        zh="主机 RDMA 网卡正常，但容器启动时未传入设备文件，容器内的库只能退回 TCP。",
    ),
    needs=(
        (NcclHca,),
        (ContainerState,),
        (RdmaDeviceNode,),
        (wants(UcxTransport, lambda one: not one.is_chosen),),
        (wants(NcclWarning, lambda one: one.topic == "verbs-library-missing" or _NOT_OPENED.search(one.message) is not None),),
        (wants(FrameworkEvent, lambda one: one.topic == "verbs-failed"),),
        (Statement,),
    ),
    silence_needs=((NcclHca,), (RdmaDeviceNode,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Verbs need /dev/infiniband/uverbsN and rdma_cm; a container sees them only when they are passed or a device plugin adds them.",
            zh="verbs 需要 /dev/infiniband/uverbsN 与 rdma_cm；只有显式传入或由设备插件添加，容器才能看到。",
        ),
        shows=Text(
            en="ibv_devinfo lists ports on the host, and NET/IB : No device found appears inside.",
            zh="主机上 ibv_devinfo 能列出端口，容器内却出现 NET/IB : No device found。",
        ),
        sources=(
            "vllm-project/vllm#42075",
            "NCCL user guide: Docker",
            "k8s-rdma-shared-dev-plugin README",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ulimit-memlock",
            because=Text(en="there the devices are visible and only memory registration fails", zh="彼处设备可见，仅内存注册失败"),
        ),
        LookAlike(
            cause="ib-disabled-socket-fallback",
            because=Text(
                en="there a variable or missing library stops RDMA on the host as well", zh="彼处变量或缺库使主机上也无法使用 RDMA"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Pass the devices and the right to lock memory", zh="传入设备并允许锁定内存"),
            commands=("docker run --network host --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1 ...",),
        ),
        Change(
            what=Text(
                en="On Kubernetes, request the RDMA resource of the device plugin and add IPC_LOCK",
                zh="Kubernetes 中申请设备插件的 RDMA 资源并添加 IPC_LOCK",
            ),
            commands=("kubectl describe node NODE | grep -i rdma",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Inside the container the port is active", zh="容器内端口为激活状态"),
            commands=("ibv_devinfo | grep -E 'hca_id|state'",),
        ),
    ),
    gain=Text(en="RDMA instead of TCP between the nodes", zh="节点间改用 RDMA 而非 TCP"),
    severity="high",
    explains=(
        "ib-disabled-socket-fallback",
        "rdma-fallback-tcp",
        "nccl-env-override",
    ),
    settled_by=(
        "ls -l /dev/infiniband",
        "ibv_devinfo",
    ),
)
