"""Tensor parallelism crosses nodes, and every layer waits for the network."""

import re

from wirespeed.diagnosis.joins.cluster import spans_nodes
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Command, Statement
from wirespeed.model.text import Text

_FLAGS = ("--tensor-parallel-size", "--tensor_parallel_size", "--tp-size", "--tp", "-tp", "--tensor-model-parallel-size")
_MOST_GPUS_A_NODE = 8
_EXCEEDS = re.compile(r"(?i)tensor parallel size \(?\d+\)? exceeds available GPUs")


def _judge(case: Case) -> Verdict:
    wide = case.every(Command, lambda one: (_degree(one) or 0) > _MOST_GPUS_A_NODE)
    spread = case.every(
        Command,
        lambda one: (
            (_degree(one) or 0) > 1
            and _nodes(one) > 1
            and _nodes(one) * _MOST_GPUS_A_NODE >= (_degree(one) or 0) > _gpus_a_node(case, one)
        ),
    )
    exceeds = case.every(FrameworkEvent, lambda one: _EXCEEDS.search(one.message) is not None)
    said = case.said("tensor-parallel-across-nodes")
    either = case.said("tensor-parallel") if spans_nodes(case) else ()
    evidence = (
        *piece(_WIDE, STRONG, wide),
        *piece(_WIDER, STRONG, _wider_than_a_node(case) if not wide else ()),
        *piece(_SPREAD, FAIR, spread if not wide else ()),
        *piece(_EXCEEDS_NODE, FAIR, exceeds),
        *piece(_SAID, FAIR + 0.5, said),
        *piece(_BOTH, SLIGHT, either if not said else ()),
        *piece(_SLOW, SLIGHT, case.said("slow-links") if said or wide or spread else ()),
        *piece(_SHARE, SLIGHT, case.said("communication-share-high") if said or wide or spread or either else ()),
    )
    return Verdict(evidence=evidence)


def _wider_than_a_node(case: Case) -> tuple[Statement, ...]:
    """A stated degree of tensor parallelism above the stated GPUs of a node."""
    degree = max(case.said("tensor-parallel-degree"), key=lambda one: one.value or 0, default=None)
    gpus = case.first(Statement, lambda one: one.topic == "gpus-per-node" and (one.value or 0) > 0)
    if degree and gpus and (degree.value or 0) > (gpus.value or 0):
        return (degree, gpus)
    is_wide = degree is not None and gpus is None and (degree.value or 0) > _MOST_GPUS_A_NODE and spans_nodes(case)
    return (degree,) if degree is not None and is_wide else ()


def _degree(command: Command) -> int | None:
    return _value(command, _FLAGS)


def _nodes(command: Command) -> int:
    return _value(command, ("--nnodes", "--num-nodes", "--num_nodes", "-N", "--nodes")) or 1


def _gpus_a_node(case: Case, command: Command) -> int:
    """GPUs of a node: stated by the launcher, else counted, else as many as fit."""
    stated = _value(command, ("--nproc_per_node", "--nproc-per-node", "--gpus-per-node"))
    return stated or len({one.index for one in case.every(Gpu)}) or _MOST_GPUS_A_NODE


def _value(command: Command, flags: tuple[str, ...]) -> int | None:
    for index, argument in enumerate(command.arguments):
        name, _, value = argument.partition("=")
        if name in flags:
            text = value or (command.arguments[index + 1] if index + 1 < len(command.arguments) else "")
            return int(text) if text.isdigit() else None
    return None


_WIDE = Text(en="tensor parallelism is wider than a node", zh="张量并行度超过单节点 GPU 数")
_WIDER = Text(en="the degree of tensor parallelism exceeds the GPUs of a node", zh="张量并行度超过单节点 GPU 数")
_SPREAD = Text(en="tensor parallelism takes GPUs of more than one node", zh="张量并行占用了多个节点的 GPU")
_EXCEEDS_NODE = Text(en="the engine warns that the degree exceeds the node's GPUs", zh="引擎警告并行度超过本节点 GPU 数")
_SAID = Text(en="tensor parallelism runs across nodes", zh="张量并行跨节点运行")
_BOTH = Text(en="tensor parallelism on several nodes", zh="多节点上使用张量并行")
_SLOW = Text(en="the link between the nodes is slow", zh="节点间链路较慢")
_SHARE = Text(en="communication dominates", zh="通信占主导")

RULE = Rule(
    cause="cross-node-tp",
    title=Text(en="Tensor parallelism crosses nodes", zh="张量并行跨节点"),
    summary=Text(
        en="Each layer needs two all-reduces on the critical path; across nodes their latency and bytes dominate the step.",
        zh="每层在关键路径上需要两次 all-reduce；跨节点时其延迟与字节主导步时。",
    ),
    needs=(
        (wants(Command, lambda one: _degree(one) is not None),),
        (wants(FrameworkEvent, lambda one: _EXCEEDS.search(one.message) is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Tensor parallelism moves activations 2 to 4 times a layer, with no compute to hide it; NVLink is many times faster than a NIC.",
            zh="张量并行每层传输激活 2 至 4 次且无计算可掩盖；NVLink 比网卡快许多倍。",
        ),
        shows=Text(
            en="Two nodes give fewer tokens per second than one; GPUs idle in all-reduce; pipeline across nodes is faster.",
            zh="两个节点的每秒 token 少于一个；GPU 在 all-reduce 中空闲；节点间用流水线更快。",
        ),
        sources=(
            "Megatron-LM paper (tensor parallelism inside the node)",
            "vLLM documentation: distributed serving",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="there gradients or sharded parameters are too many", zh="彼处是梯度或切分参数过多"),
        ),
        LookAlike(
            cause="ib-disabled-socket-fallback",
            because=Text(en="there the link would be fast if RDMA were on", zh="彼处若启用 RDMA 链路本来很快"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Tensor parallel inside the node, pipeline (or data) parallel across nodes",
                zh="节点内张量并行，节点间流水线（或数据）并行",
            ),
            commands=("vllm serve MODEL --tensor-parallel-size GPUS_A_NODE --pipeline-parallel-size NODES",),
        ),
    ),
    checks=(Check(what=Text(en="Tokens per second rise and inter-node traffic falls", zh="每秒 token 上升，节点间流量下降")),),
    gain=Text(
        en="Takes the all-reduces of every layer off the slow link; most on Ethernet, less on InfiniBand",
        zh="让每层的 all-reduce 离开慢链路；以太网上收益最大，InfiniBand 上较小",
    ),
    severity="medium",
    explains=(
        "no-fault-hardware-limit",
        "parallel-strategy-comm-bound",
        "small-message-latency-bound",
    ),
)
