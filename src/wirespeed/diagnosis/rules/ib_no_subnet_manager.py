"""The InfiniBand link is up and no subnet manager has configured it."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.fabric import FabricLink, SubnetManager
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, PROVES, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_WAITING = ("init", "initialize", "initializing", "initialising", "armed")


def _judge(case: Case) -> Verdict:
    ports = case.every(RdmaPort, lambda one: one.state is not None and one.link_layer != "ethernet")
    waiting = tuple(one for one in ports if one.state in _WAITING)
    no_lid = tuple(one for one in ports if one.sm_lid_number == 0 and one.state not in (None, "active", "down"))
    active = tuple(one for one in ports if one.state == "active")
    unset = case.every(FabricLink, lambda one: one.state in _WAITING)
    silent = case.every(SubnetManager, is_answering=False)
    masters = case.every(SubnetManager, state="master")
    stage = case.every(Counter, lambda one: (one.scope, one.name) == ("ibdiagnet", "Subnet Manager") and one.value_count > 0)
    return Verdict(
        evidence=(
            *piece(_WAITS, PROVES, waiting),
            *piece(_NO_LID, FAIR, no_lid),
            *piece(_SILENT, STRONG, silent),
            *piece(_LINKS, FAIR, unset),
            *piece(_STAGE, FAIR, stage),
            *against(_MASTER, STRONG, masters if not waiting and not silent else ()),
            *piece(_SAID, STRONG, case.said("subnet-manager-missing")),
            *against(_ACTIVE, STRONG, active if not waiting else ()),
        )
    )


_WAITS = Text(en="the link is up and the port waits in Initializing", zh="链路已通，端口停在 Initializing")
_SILENT = Text(en="no subnet manager answers", zh="没有子网管理器应答")
_LINKS = Text(en="links of the fabric wait in Initialize", zh="网络中有链路停在 Initialize")
_STAGE = Text(en="ibdiagnet finds errors of the subnet manager", zh="ibdiagnet 发现子网管理器错误")
_MASTER = Text(en="a master subnet manager answers", zh="主子网管理器有应答")
_NO_LID = Text(en="the port knows no subnet manager (SM lid 0)", zh="端口不知道子网管理器（SM lid 为 0）")
_SAID = Text(en="a missing, stopped or doubled subnet manager is reported", zh="描述提到子网管理器缺失、停止或重复")
_ACTIVE = Text(en="every port listed is active, so a subnet manager has configured it", zh="所列端口均激活，说明子网管理器已配置")

RULE = Rule(
    cause="ib-no-subnet-manager",
    title=Text(en="No subnet manager serves the InfiniBand fabric", zh="InfiniBand 网络没有子网管理器"),
    summary=Text(
        en="The cables are fine, but without a subnet manager no port gets an address or a route, so none becomes Active.",
        zh="线缆正常，但没有子网管理器，端口得不到地址和路由，因而不会 Active。",
    ),
    needs=(
        (SubnetManager,),
        (FabricLink,),
        (wants(RdmaPort, lambda one: one.state is not None and one.link_layer != "ethernet"),),
        (wants(Statement, lambda one: one.topic == "subnet-manager-missing"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="opensm (or UFM, or the switch) assigns LIDs and routes; one active instance per subnet.",
            zh="opensm（或 UFM、交换机）分配 LID 与路由；每个子网一个活动实例。",
        ),
        shows=Text(
            en="ibstat: State Initializing, Physical state LinkUp, SM lid 0.",
            zh="ibstat：State Initializing，Physical state LinkUp，SM lid 0。",
        ),
        sources=("NCCL networking troubleshooting guide", "InfiniBand Architecture Specification vol. 1, subnet management"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ib-port-down",
            because=Text(en="there the physical state itself is Polling or Disabled", zh="彼处物理状态就是 Polling 或 Disabled"),
        ),
        LookAlike(
            cause="roce-unreachable-path",
            because=Text(
                en="RoCE ports (link layer Ethernet) need no subnet manager", zh="RoCE 端口（以太网链路层）不需要子网管理器"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Start one subnet manager on the fabric", zh="在网络上启动一个子网管理器"),
            commands=("systemctl enable --now opensm",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Ports become Active and sminfo answers", zh="端口变为 Active，sminfo 有应答"),
            commands=("ibstat | grep -E 'State|SM lid'", "sminfo"),
        ),
    ),
    gain=Text(en="The fabric starts to work at all", zh="网络开始工作"),
    severity="high",
    explains=("ib-port-down", "ib-disabled-socket-fallback"),
)
