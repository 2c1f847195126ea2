"""Parts of a framework know the same node under different addresses."""

import re

from wirespeed.diagnosis.joins.cluster import address_of, host_of, variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.host import EnvVar, HostsEntry
from wirespeed.model.facts.path import Address
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_NODE_RESOURCE = re.compile(r"node:(?P<address>[^\s'\",]+)")


def _judge(case: Case) -> Verdict:
    waiting = case.every(FrameworkEvent, lambda one: one.topic == "placement-waiting")
    asked = tuple((one, found["address"]) for one in waiting if (found := _NODE_RESOURCE.search(one.message)))
    strangers = tuple(one for one, address in asked if _lives_elsewhere(case, address))
    ports = variables(case, "VLLM_HOST_IP", "HOST_IP", "SGLANG_HOST_IP")
    evidence = (
        *piece(_ASKED, STRONG if strangers else FAIR, tuple(one for one, _ in asked), address=asked[0][1] if asked else None),
        *piece(_SECOND, FAIR, strangers),
        *piece(_FOREIGN, STRONG, tuple(one for one in ports if _is_foreign(case, one.setting))),
        *piece(_OTHER_NAME, FAIR + SLIGHT, _endpoint_under_another_name(case)),
        *piece(_NOBODY, FAIR, _nobody_listens(case)),
        *piece(_SAID, FAIR + SLIGHT, case.said("node-address-disagrees")),
        *piece(_WAITS, SLIGHT, case.said("placement-never-ready")),
    )
    return Verdict(evidence=evidence)


def _lives_elsewhere(case: Case, address: str) -> bool:
    """Whether the host that owns this address also has another one: two names for one node are possible."""
    owners = {host_of(one) for one in case.every(Address) if one.address == address}
    others = case.every(Address, lambda one: one.address != address and host_of(one) in owners)
    return bool(owners and others)


def _is_foreign(case: Case, address: str | None) -> bool:
    """Whether the host's own list of addresses does not hold the one it announces."""
    own = {one.address for one in case.every(Address)}
    return len(own) >= 2 and address_of(address) is not None and address not in own


def _endpoint_under_another_name(case: Case) -> tuple[Record, ...]:
    """A store that cannot be reached at an address, on a host whose own name resolves to another one."""
    for timed_out in case.every(FrameworkEvent, lambda one: one.topic == "store-timeout" and one.peer is not None):
        endpoint = address_of(timed_out.peer or "")
        own = case.every(HostsEntry, lambda one: one.host is not None and one.name.split(".")[0] == one.host.split(".")[0])
        other = next((one for one in own if endpoint is not None and address_of(one.address) not in (None, endpoint)), None)
        if other is not None and not any(address_of(one.address) == endpoint for one in own):
            return (timed_out, other)
    return ()


def _nobody_listens(case: Case) -> tuple[Record, ...]:
    """A store that cannot be reached at a port, and a list of listeners without that port."""
    listeners = case.every(Listener)
    for timed_out in case.every(FrameworkEvent, lambda one: one.topic == "store-timeout" and one.peer is not None):
        port = (timed_out.peer or "").rpartition(":")[2]
        if listeners and port.isdigit() and all(one.port != int(port) for one in listeners):
            return (timed_out, listeners[0])
    return ()


_OTHER_NAME = Text(
    en="the endpoint is one address of the host, its own name means another: it does not know that it is the endpoint",
    zh="端点是该主机的一个地址，而其主机名解析到另一个：它不知道自己就是端点",
)
_NOBODY = Text(en="nobody listens at the endpoint's port", zh="端点端口上没有监听者")
_ASKED = Text(en="the scheduler waits for a resource of node {address}", zh="调度器在等待节点 {address} 的资源")
_SECOND = Text(en="that node has a second address, under which it may have registered", zh="该节点还有第二个地址，可能以它注册")
_FOREIGN = Text(en="the announced address belongs to no interface of the host", zh="宣告的地址不属于本机任何接口")
_SAID = Text(en="components name the same node by different addresses", zh="各组件用不同地址称呼同一节点")
_WAITS = Text(en="the start waits for ever", zh="启动一直等待")

RULE = Rule(
    cause="host-ip-mismatch",
    title=Text(en="Framework components disagree on a node's address", zh="框架各组件对节点地址的认定不一致"),
    summary=Text(
        en="The engine asks for a node by one of its addresses while the cluster registered it under another, so placement waits for ever.",
        zh="引擎按节点的某个地址请求资源，而集群以另一地址注册，放置便一直等待。",
    ),
    needs=(
        (wants(FrameworkEvent, lambda one: one.topic == "placement-waiting"),),
        (wants(FrameworkEvent, lambda one: one.topic == "store-timeout"), HostsEntry),
        (wants(FrameworkEvent, lambda one: one.topic == "store-timeout"), Listener),
        (wants(EnvVar, lambda one: one.name in ("VLLM_HOST_IP", "HOST_IP", "SGLANG_HOST_IP")),),
        (Statement,),
    ),
    silence_needs=(
        (wants(FrameworkEvent, lambda one: one.topic == "placement-waiting"),),
        (wants(EnvVar, lambda one: one.name in ("VLLM_HOST_IP", "HOST_IP", "SGLANG_HOST_IP")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Ray names node resources by the address given at start; vLLM and others detect their own by the default route.",
            zh="Ray 按启动时给出的地址命名节点资源；vLLM 等按默认路由自行探测。",
        ),
        shows=Text(
            en="No available node types can fulfill node:ADDRESS while ray status lists other addresses; both nodes have joined.",
            zh="No available node types can fulfill node:地址，而 ray status 列出的是其他地址；两个节点都已加入。",
        ),
        sources=(
            "eugr/spark-vllm-docker#227",
            "vLLM documentation: VLLM_HOST_IP",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-wrong-interface",
            because=Text(en="there placement succeeds and the collective's connection fails", zh="彼处放置成功，集合通信连接失败"),
        ),
        LookAlike(
            cause="hostname-resolution", because=Text(en="there a name gives the wrong address", zh="彼处是名称解析到错误地址")
        ),
    ),
    changes=(
        Change(
            what=Text(en="Start every node with the same address that the engine announces", zh="每个节点以引擎宣告的同一地址启动"),
            commands=(
                "export VLLM_HOST_IP=ADDRESS",
                "ray start --node-ip-address=$VLLM_HOST_IP ...",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Both lists name the same addresses", zh="两处列出的地址相同"),
            commands=(
                "ray status",
                "python -c 'import ray; ray.init(); print(ray.cluster_resources())'",
            ),
        ),
    ),
    gain=Text(en="The engine starts", zh="引擎可启动"),
    severity="high",
    explains=(
        "nccl-wrong-interface",
        "collective-timeout-too-short",
    ),
)
