"""Ranks in bridge-mode containers announce addresses that no other host can reach."""

import re

from wirespeed.diagnosis.joins.cluster import IpAddress, address_of, is_docker_bridge, spans_nodes
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclBootstrap, NcclWarning
from wirespeed.model.facts.host import ContainerState
from wirespeed.model.facts.path import Address
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_OWN = re.compile(r"(?i)\blocalhost\b|(?<![\d.])127\.0\.0\.1\b")
_FURTHER_NETWORKS = re.compile(r"172\.(?:1[89]|2\d)\.0\.\d+$")


def _judge(case: Case) -> Verdict:
    failed = case.every(
        NcclWarning,
        lambda one: one.topic in ("connect-failed", "timeout") and _is_container(case, address_of(one.peer or one.message)),
    )
    announced = (
        *case.every(
            NcclBootstrap,
            lambda one: one.order_index == 0 and _is_container(case, address_of(one.address)) and one.interface != "docker0",
        ),
        *case.every(Address, lambda one: _is_container(case, address_of(one.address)) and one.link.startswith("eth")),
    )
    refused = case.every(FrameworkEvent, lambda one: _is_container(case, address_of(one.peer or one.message)))
    bridged = case.every(ContainerState, lambda one: one.network_mode == "bridge")
    host_mode = case.every(ContainerState, network_mode="host")
    many = spans_nodes(case)
    in_containers = bool(bridged or case.said("runs-in-container")) and not host_mode
    itself = (
        case.every(FrameworkEvent, lambda one: one.topic == "connection-refused" and _OWN.search(one.message) is not None)
        if in_containers
        else ()
    )
    shown = failed or announced or refused
    evidence = (
        *piece(_FAILED, STRONG, (*failed, *refused)),
        *piece(_ANNOUNCED, FAIR + 0.5 if many else SLIGHT, announced),
        *piece(_BRIDGED, FAIR if shown or many or itself else SLIGHT, bridged),
        *piece(_PORTS, SLIGHT, tuple(one for one in bridged if one.published_ports) if shown or many else ()),
        *piece(
            _SAID,
            FAIR + 0.5 if many else SLIGHT,
            case.said("bridge-networking") if shown or (many is not False and not bridged) else (),
        ),
        *piece(_ITSELF, FAIR + 0.5, itself),
        *piece(_ADDRESS, FAIR, case.said("bridge-address") if not shown else ()),
        *((contradicts(_HOST_MODE, STRONG, host_mode[0]),) if host_mode and not bridged else ()),
    )
    return Verdict(evidence=evidence)


def _is_container(case: Case, address: IpAddress | None) -> bool:
    """Whether a container of a bridge network has this address; the first of each network is the bridge of the host itself.

    Docker's further networks start at 172.18.0.0/16; other sites use that range too, so there a container must be in the story.
    """
    if address is None or address.version != 4 or str(address).endswith(".0.1"):
        return False
    in_containers = bool(case.said("runs-in-container", "bridge-networking") or case.first(ContainerState))
    return is_docker_bridge(address) or (in_containers and _FURTHER_NETWORKS.match(str(address)) is not None)


_FAILED = Text(
    en="a connection goes to an address of docker0's network, which exists on every host",
    zh="连接指向 docker0 网段的地址，而每台主机上都有该网段",
)
_ANNOUNCED = Text(en="the process announces the container bridge's address", zh="进程宣告的是容器网桥地址")
_BRIDGED = Text(en="the container runs in bridge mode", zh="容器以 bridge 模式运行")
_PORTS = Text(en="published ports do not cover the random ones that ranks use", zh="发布的端口不包含 rank 使用的随机端口")
_ITSELF = Text(
    en="a client in a container looks for the server on localhost, which is the container itself",
    zh="容器内的客户端在 localhost 上找服务，而那是容器自身",
)
_SAID = Text(en="containers with bridge networking on several hosts", zh="多台主机上的容器使用 bridge 网络")
_ADDRESS = Text(en="an address of a container bridge is used", zh="使用了容器网桥的地址")
_HOST_MODE = Text(en="the container uses the host's network", zh="容器使用主机网络")

RULE = Rule(
    cause="docker-network",
    title=Text(en="Container bridge addresses are unreachable from other hosts", zh="容器网桥地址无法从其他主机访问"),
    summary=Text(
        en="In bridge mode each container has a private address that is the same on every host, so ranks announce what nobody else can reach.",
        zh="bridge 模式下容器地址是每台主机相同的私有地址，rank 宣告的地址他人无法到达。",
    ),
    needs=(
        (wants(ContainerState, lambda one: one.network_mode is not None),),
        (wants(NcclWarning, lambda one: one.topic == "connect-failed"),),
        (NcclBootstrap,),
        (wants(Address, lambda one: is_docker_bridge(address_of(one.address))),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="docker0 is 172.17.0.0/16 on every host and is translated outwards only; published ports open single numbers inwards.",
            zh="docker0 在每台主机上都是 172.17.0.0/16，仅向外做地址转换；发布端口只放行个别端口。",
        ),
        shows=Text(
            en="Init works over the published master port, then connect to 172.17.0.x fails; single host is fine.",
            zh="经发布的主端口初始化成功，随后连接 172.17.0.x 失败；单机正常。",
        ),
        sources=(
            "NVIDIA/nccl#929",
            "deepinsight/insightface#1444",
            "Docker documentation: bridge networks",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-wrong-interface",
            because=Text(
                en="there a reachable interface exists in the same network namespace", zh="彼处同一网络命名空间内有可达接口"
            ),
        ),
        LookAlike(
            cause="service-bound-loopback",
            because=Text(en="there a server on the host listens on loopback only", zh="彼处主机上的服务只监听回环"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Run with the host's network", zh="使用主机网络"), commands=("docker run --network host --ipc host ...",)
        ),
        Change(
            what=Text(
                en="Or use a routed container network (overlay, macvlan, Kubernetes)",
                zh="或使用可路由的容器网络（overlay、macvlan、Kubernetes）",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="The bootstrap address is the host's", zh="bootstrap 地址为主机地址"),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep Bootstrap",),
        ),
    ),
    gain=Text(en="The job starts across hosts", zh="作业可跨主机启动"),
    severity="high",
    explains=(
        "nccl-wrong-interface",
        "host-ip-mismatch",
        "firewall-blocks-ports",
        "collective-timeout-too-short",
    ),
)
