"""The RoCE GID index in use is not routable or not RoCE v2."""

import re

from wirespeed.diagnosis.joins.cluster import variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.rdma import Gid
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_RETRY_EXCEEDED_CODE = 12
_INVALID_CODE = 22
_TIMED_OUT_CODE = 110


def _judge(case: Case) -> Verdict:
    gids = case.every(Gid)
    usable = tuple(one for one in gids if one.roce_version == "v2" and one.ipv4)
    chosen = variables(case, "NCCL_IB_GID_INDEX")
    unset = case.every(EnvVar, lambda one: one.name == "NCCL_IB_GID_INDEX" and not one.setting)
    bad = _chosen_badly(chosen, gids)
    differ = _rows_that_differ(usable)
    good = _chosen_well(chosen, usable) if not differ else ()
    retry = case.every(NcclWarning, lambda one: one.topic == "completion-error" and one.status_code == _RETRY_EXCEEDED_CODE)
    modify = case.every(
        NcclWarning, lambda one: one.topic == "modify-qp-failed" and one.status_code in (_INVALID_CODE, _TIMED_OUT_CODE, 101, 113)
    )
    hinted = case.every(NcclWarning, lambda one: "gid index" in one.message.lower() and one.topic == "hint")
    changed = case.every(NcclWarning, lambda one: one.topic == "async-event" and "gid" in one.message.lower())
    link_local = case.every(
        NcclWarning, lambda one: re.search(r"(?i)local ?gid:? (?:index \d+,? )?\S* ?fe80:", one.message) is not None
    )
    failed = retry or modify
    evidence = (
        *piece(_BAD, STRONG, bad),
        *piece(
            _UNSET, STRONG if retry and usable else FAIR, (*unset, *usable) if unset and usable and usable[0].index != 0 else ()
        ),
        *piece(_ROWS_DIFFER, STRONG, differ),
        *piece(_NOT_DEFAULT, SLIGHT, usable if failed and not chosen and not unset and usable and usable[0].index != 0 else ()),
        *piece(_RETRY, SLIGHT, retry if gids or case.said("gid-index-matters") or unset else ()),
        *piece(_MODIFY, FAIR if any(one.status_code == _INVALID_CODE for one in modify) else SLIGHT, modify if not good else ()),
        *piece(_HINTED, FAIR, (*hinted, *changed)),
        *piece(_LINK_LOCAL, STRONG, link_local),
        *piece(_SAID, FAIR + SLIGHT, case.said("gid-index-matters")),
        *((contradicts(_GOOD, STRONG, *good),) if good else ()),
    )
    index = usable[0].index if usable else "INDEX"
    return Verdict(evidence=evidence, values={"gid_index": index})


def _rows_that_differ(usable: tuple[Gid, ...]) -> tuple[Gid, ...]:
    """The routable entries of one device on two hosts, where they have no index in common: one number for all cannot be right."""
    by_host: dict[tuple[str, int], dict[str, list[Gid]]] = {}
    for one in usable:
        if one.host is not None:
            by_host.setdefault((one.device, one.port), {}).setdefault(one.host, []).append(one)
    for hosts in by_host.values():
        first, *others = hosts.values()
        for other in others:
            if not {one.index for one in first} & {one.index for one in other}:
                return (first[0], other[0])
    return ()


def _index_of(variable: EnvVar) -> int | None:
    text = (variable.setting or "").strip().rstrip(".")
    return int(text) if text.isdigit() else None


def _chosen_badly(chosen: tuple[EnvVar, ...], gids: tuple[Gid, ...]) -> tuple[Record, ...]:
    """A chosen index that the table lists as v1, without an IPv4 address although another has one, or not at all."""
    for variable in chosen:
        index = _index_of(variable)
        listed = [one for one in gids if one.index == index]
        wrong = [one for one in listed if one.roce_version == "v1" or (not one.ipv4 and any(other.ipv4 for other in gids))]
        if index is not None and gids and (wrong or not listed):
            return (variable, *(wrong or gids[:1]))
    return ()


def _chosen_well(chosen: tuple[EnvVar, ...], usable: tuple[Gid, ...]) -> tuple[Record, ...]:
    for variable in chosen:
        found = [one for one in usable if one.index == _index_of(variable)]
        if found:
            return (variable, found[0])
    return ()


_BAD = Text(
    en="the chosen GID index is not RoCE v2 over IPv4, or does not exist", zh="所选 GID 索引不是基于 IPv4 的 RoCE v2，或不存在"
)
_UNSET = Text(en="no GID index is set, and the routable one is not the default", zh="未设置 GID 索引，而可路由的索引不是默认值")
_ROWS_DIFFER = Text(
    en="the routable GID stands at another index on another host: one number for all of them fits only some",
    zh="可路由的 GID 在各主机上的索引不同：统一设一个数字只对部分主机有效",
)
_NOT_DEFAULT = Text(en="the routable GID is not at the default index", zh="可路由的 GID 不在默认索引上")
_RETRY = Text(en="the first transfer is never answered (retry exceeded)", zh="首次传输得不到应答（重试超限）")
_MODIFY = Text(en="a queue pair cannot be connected", zh="队列对无法建立连接")
_HINTED = Text(
    en="NCCL itself points at the GID index or reports that the table changed", zh="NCCL 自身提示 GID 索引，或报告 GID 表变化"
)
_LINK_LOCAL = Text(en="the local GID in use is link-local", zh="所用本地 GID 为链路本地地址")
_SAID = Text(en="the GID index matters", zh="与 GID 索引有关")
_GOOD = Text(en="the chosen index is RoCE v2 over IPv4", zh="所选索引是基于 IPv4 的 RoCE v2")

RULE = Rule(
    cause="roce-gid-index-wrong",
    title=Text(en="The RoCE GID index is wrong", zh="RoCE GID 索引错误"),
    summary=Text(
        en="Queue pairs use a GID that is link-local or RoCE v1 and cannot be routed, so connections or first transfers fail.",
        zh="队列对使用链路本地或 RoCE v1 的 GID，无法路由，连接或首次传输失败。",
    ),
    needs=(
        (Gid,),
        (wants(EnvVar, lambda one: one.name == "NCCL_IB_GID_INDEX"),),
        (wants(NcclWarning, lambda one: one.topic in ("modify-qp-failed", "hint") or "gid" in one.message.lower()),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A RoCE port has several GIDs (v1 and v2, link-local and each IP); NCCL before 2.21 takes index 0 unless told.",
            zh="RoCE 端口有多个 GID（v1、v2、链路本地及每个 IP）；2.21 之前的 NCCL 默认取索引 0。",
        ),
        shows=Text(
            en="Error 12 with vendor error 129 at the very first transfer, or modify_qp fails with 22 or 110; the hosts ping.",
            zh="首次传输即报 error 12、vendor err 129，或 modify_qp 报 22、110；主机可互相 ping。",
        ),
        sources=(
            "NVIDIA/nccl#426",
            "NCCL user guide: NCCL_IB_GID_INDEX",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="roce-unreachable-path",
            because=Text(en="there the right GID is used and the path is missing", zh="彼处 GID 正确，缺的是路径"),
        ),
        LookAlike(
            cause="mtu-mismatch", because=Text(en="there small messages pass and large ones fail", zh="彼处小消息通过，大消息失败")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Use the index that show_gids lists as v2 with IPv4, the same meaning on every host",
                zh="使用 show_gids 中 v2 且带 IPv4 的索引，各主机含义一致",
            ),
            commands=(
                "show_gids",
                "export NCCL_IB_GID_INDEX={gid_index}",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="perftest passes with this index between the hosts", zh="两主机间用该索引的 perftest 通过"),
            commands=("ib_write_bw -d mlx5_0 -x {gid_index} -R PEER",),
        ),
    ),
    gain=Text(en="RDMA works", zh="RDMA 可用"),
    severity="high",
    explains=(
        "roce-unreachable-path",
        "packet-loss",
    ),
    settled_by=("show_gids",),
)
