"""Gloo, the CPU process group, announces loopback or an interface its peers cannot reach."""

import re

from wirespeed.diagnosis.joins.cluster import variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, PROVES, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_GLOO = re.compile(r"(?i)gloo|connectFullMesh|ProcessGroupGloo|transport/tcp/(?:pair|device)")
_WAS_CONNECTED = re.compile(r"(?i)(?:read|write) error|closed by peer|waiting \d+ ?ms for (?:recv|send)|operation to complete")
"""Pairs that had met before: the peer ended or came late, and no address was wrong."""
_LOOPBACK = re.compile(r"(?<![\d.])127\.\d+\.\d+\.\d+|\blocalhost\b|(?<![\w:])::1(?!\w)")


def _judge(case: Case) -> Verdict:
    no_interface = case.every(
        FrameworkEvent, lambda one: one.topic == "gloo-no-interface" or "Unable to find address for" in one.message
    )
    gloo = case.every(FrameworkEvent, lambda one: one.topic.startswith("gloo") or _GLOO.search(one.message) is not None)
    mesh = tuple(
        one
        for one in gloo
        if (one.topic == "gloo-connect-failed" or one.topic in _CONNECT_TOPICS) and not _WAS_CONNECTED.search(one.message)
    )
    said = tuple(
        one for one in case.said("gloo-address-wrong") if not any(_WAS_CONNECTED.search(quote.text) for quote in one.quotes)
    )
    loopback = tuple(one for one in gloo if _LOOPBACK.search(f"{one.message} {one.peer or ''}"))
    refused = case.every(
        FrameworkEvent, lambda one: one.topic == "connection-refused" and _LOOPBACK.search(one.message) is not None
    )
    listed = tuple(one for one in variables(case, "GLOO_SOCKET_IFNAME") if re.search(r"[\^,]", one.setting or ""))
    evidence = (
        *piece(_NO_INTERFACE, PROVES, no_interface),
        *piece(_MESH, STRONG, mesh),
        *piece(_LOOPED, STRONG, loopback or (refused if case.said("gloo-named") else ())),
        *piece(_PATTERN, FAIR, listed),
        *piece(_SAID, FAIR + 0.5, said if not no_interface else ()),
    )
    return Verdict(evidence=evidence)


_CONNECT_TOPICS = ("connection-refused", "connection-reset", "no-route", "timeout", "connection-timeout")


_NO_INTERFACE = Text(en="Gloo finds no interface under the name it was given", zh="Gloo 按给定名称找不到接口")
_MESH = Text(en="Gloo cannot connect its ranks to each other", zh="Gloo 无法在各 rank 间建立连接")
_LOOPED = Text(en="Gloo connects to a loopback address", zh="Gloo 连接的是回环地址")
_PATTERN = Text(
    en="GLOO_SOCKET_IFNAME holds NCCL syntax (^ or a list); Gloo takes plain interface names",
    zh="GLOO_SOCKET_IFNAME 使用了 NCCL 语法（^ 或列表）；Gloo 只接受具体接口名",
)
_SAID = Text(en="Gloo announces the wrong address", zh="Gloo 宣告了错误的地址")

RULE = Rule(
    cause="gloo-wrong-interface",
    title=Text(en="Gloo announces a wrong or missing interface", zh="Gloo 宣告了错误或不存在的接口"),
    summary=Text(
        en="The CPU process group binds to loopback or to an interface name that does not exist, so the ranks cannot meet although NCCL is fine.",
        zh="CPU 进程组绑定到回环或不存在的接口名，NCCL 正常而各 rank 仍无法建立 Gloo 连接。",
    ),
    needs=((FrameworkEvent,), (wants(EnvVar, lambda one: one.name == "GLOO_SOCKET_IFNAME"),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Gloo resolves the host name (often 127.0.1.1) unless GLOO_SOCKET_IFNAME names one existing interface; it knows no ^ exclusion.",
            zh="除非 GLOO_SOCKET_IFNAME 指定一个存在的接口，Gloo 会解析主机名（常为 127.0.1.1）；它不支持 ^ 排除语法。",
        ),
        shows=Text(
            en='Unable to find address for, connectFullMesh failed, or connection refused to 127.0.0.1 in new_group(backend="gloo").',
            zh='Unable to find address for、connectFullMesh failed，或 new_group(backend="gloo") 中连接 127.0.0.1 被拒绝。',
        ),
        sources=(
            "aws-samples/aws-do-eks#51",
            "vllm-project/vllm#6329",
            "gpustack/gpustack#2125",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-wrong-interface",
            because=Text(
                en="there NCCL's own bootstrap fails; Gloo has a separate variable",
                zh="彼处是 NCCL 自身引导失败；Gloo 使用另一个变量",
            ),
        ),
        LookAlike(
            cause="hostname-resolution",
            because=Text(
                en="there every library gets the loopback address from the resolver", zh="彼处所有库都从解析器得到回环地址"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Export one concrete interface name for Gloo on every host", zh="在每台主机为 Gloo 指定一个具体接口名"),
            commands=("export GLOO_SOCKET_IFNAME=$(ip -o route get PEER | sed 's/.* dev //;s/ .*//')",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="A Gloo group of all ranks forms", zh="全部 rank 的 Gloo 组可建立"),
            commands=(
                "python -c 'import torch.distributed as d; d.init_process_group(\"gloo\"); d.barrier(); print(d.get_rank())'",
            ),
        ),
    ),
    gain=Text(en="The job starts", zh="作业可启动"),
    severity="high",
    explains=(
        "hostname-resolution",
        "nccl-env-override",
    ),
)
