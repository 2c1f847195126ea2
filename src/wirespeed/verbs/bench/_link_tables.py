"""Tables of link measurements for people."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from wirespeed.benches.mesh import bandwidths, latencies
from wirespeed.model.document import AnyBlock, Grid, Headline, Prose
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import PathHop, PortProbe, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.theory.mesh import MeshFit, Odd, Pair, Term
from wirespeed.theory.samples import median

R = TypeVar("R", bound=Record)
BITS_PER_BYTE = 8.0
PATH = Text(en="from → to", zh="从 → 到")
LIMITS = {
    "congestion-window": Text(en="congestion window", zh="拥塞窗口"),
    "receive-window": Text(en="receive window", zh="接收窗口"),
    "send-buffer": Text(en="send buffer", zh="发送缓冲区"),
    "sender": Text(en="sender (its core or its program)", zh="发送端（其 CPU 核或程序）"),
    "pacing": Text(en="rate bound", zh="速率上限"),
}
NOTHING = Text(en="nothing stood out", zh="无明显瓶颈")


def path_blocks(records: Sequence[Record]) -> list[AnyBlock]:
    """One table for each kind of measurement there is."""
    blocks: list[AnyBlock] = [Headline(text=_summary(records))]
    for title, grid in (
        (Text(en="TCP connection attempts", zh="TCP 建连"), _connects(_of(records, PortProbe))),
        (Text(en="Round-trip times", zh="往返时延"), _latencies(_of(records, LatencyRun))),
        (Text(en="Throughput", zh="吞吐"), _flows(_of(records, FlowRun))),
        (Text(en="Throughput by iperf3", zh="iperf3 吞吐"), _iperf3(_of(records, ThroughputRun))),
        (Text(en="Trains of datagrams", zh="UDP 数据报序列"), _trains(_of(records, DatagramTrain))),
        (Text(en="Path MTU", zh="路径 MTU"), _mtus(_of(records, PathMtuRun))),
        (Text(en="Hops", zh="跳数"), _hops(_of(records, HeaderRun), _of(records, PathHop))),
        (Text(en="DSCP", zh="DSCP"), _codes(_of(records, HeaderRun))),
    ):
        if grid is not None:
            blocks += [Headline(text=title, level=2), grid]
        if grid is not None and title.en == "Round-trip times":
            blocks += _host_share(_of(records, LatencyRun))
    return blocks


def _of(records: Sequence[Record], kind: type[R]) -> list[R]:
    return [one for one in records if isinstance(one, kind)]


def _grid(columns: Sequence[Text], rows: Sequence[Sequence[Text]]) -> Grid | None:
    return Grid(columns=tuple(columns), rows=tuple(tuple(row) for row in rows)) if rows else None


def _value(name: str, value: Any) -> Text:
    return same(printed(name, value))


def _ends(one: Any) -> Text:
    return same(f"{one.sender} → {one.receiver}")


def _summary(records: Sequence[Record]) -> Text:
    single = [one for one in _of(records, FlowRun) if one.purpose == "single" and one.error is None]
    idle = [one for one in _of(records, LatencyRun) if (one.load, one.waiting, one.protocol) == ("idle", "blocking", "tcp")]
    parts_en, parts_zh = [], []
    if single:
        rate = _rate(single[0].goodput_bytes_per_s)
        parts_en.append(f"{rate.en} with one flow")
        parts_zh.append(f"单流 {rate.zh}")
    if idle and idle[0].rtt_p50_s is not None:
        rtt = printed("rtt_s", idle[0].rtt_p50_s)
        parts_en.append(f"{rtt} round trip on the idle path (median)")
        parts_zh.append(f"空闲往返时延中位数 {rtt}")
    if not parts_en:
        return Text(en="What was measured", zh="测量结果")
    return Text(en="; ".join(parts_en), zh="；".join(parts_zh))


def _rate(bytes_per_s: float) -> Text:
    return _value("rate_bits_per_s", bytes_per_s * BITS_PER_BYTE)


def _connects(probes: list[PortProbe]) -> Grid | None:
    groups: dict[tuple[str, int | None, str], list[float]] = {}
    for one in probes:
        groups.setdefault((one.target, one.port, one.outcome), []).append(one.time_s or 0.0)
    rows = [
        (
            same(f"{target} port {port}"),
            same(outcome),
            same(str(len(times_s))),
            _value("time_s", median(times_s)),
            _value("time_s", max(times_s)),
        )
        for (target, port, outcome), times_s in groups.items()
    ]
    columns = (
        Text(en="to", zh="目标"),
        Text(en="outcome", zh="结果"),
        Text(en="attempts", zh="次数"),
        Text(en="median", zh="中位数"),
        Text(en="longest", zh="最长"),
    )
    return _grid(columns, rows)


def _latencies(runs: list[LatencyRun]) -> Grid | None:
    loads = {"idle": Text(en="idle", zh="空闲"), "loaded": Text(en="beside a bulk flow", zh="与大流量并行")}
    waits = {"blocking": Text(en="blocking", zh="阻塞等待"), "spinning": Text(en="spinning", zh="自旋等待")}
    rows = [
        (_ends(one), same(one.protocol.upper()), loads[one.load], waits[one.waiting], same(f"{one.received_count}/{one.sent_count}"),
         *(_value("rtt_s", value) for value in (one.rtt_min_s, one.rtt_p50_s, one.rtt_p99_s, one.rtt_max_s)))
        for one in runs
    ]  # fmt: skip
    columns = (
        PATH, Text(en="protocol", zh="协议"), Text(en="path", zh="路径"), Text(en="ends wait", zh="两端等待方式"),
        Text(en="back/sent", zh="返回/发出"), Text(en="least", zh="最小"), same("P50"), same("P99"), Text(en="most", zh="最大"),
    )  # fmt: skip
    return _grid(columns, rows)


def _host_share(runs: list[LatencyRun]) -> list[AnyBlock]:
    """The host's share: what waking up adds, for each protocol with both figures."""
    blocks: list[AnyBlock] = []
    idle = {(one.receiver, one.protocol, one.waiting): one.rtt_p50_s for one in runs if one.load == "idle"}
    for (receiver, protocol, waiting), p50_s in idle.items():
        spinning_s = idle.get((receiver, protocol, "spinning"))
        if waiting != "blocking" or p50_s is None or spinning_s is None:
            continue
        if spinning_s >= p50_s:
            continue  # no core was free to spin on: says nothing about the host's share
        share, gap = printed("share_ratio", 1 - spinning_s / p50_s), printed("gap_s", p50_s - spinning_s)
        blocks.append(
            Prose(
                text=Text(
                    en=f"{protocol.upper()}: {gap} of the median ({share}) is the hosts waking up, not the network.",
                    zh=f"{protocol.upper()}：中位数中有 {gap}（{share}）是主机唤醒的开销，与网络无关。",
                )
            )
        )
    return blocks


def _flows(flows: list[FlowRun]) -> Grid | None:
    tests: dict[str, list[FlowRun]] = {}
    for one in flows:
        tests.setdefault(f"{one.test}/{one.sender}", []).append(one)
    purposes = {
        "single": Text(en="one flow", zh="单流"), "parallel": Text(en="{count} flows", zh="{count} 流"), "both-ways": Text(en="both ways, {count} each", zh="双向各 {count} 流"),
        "incast": Text(en="incast", zh="多打一"), "mesh": Text(en="mesh", zh="全网状"),
    }  # fmt: skip
    rows = []
    for group in tests.values():
        first = group[0]
        errors = sorted({one.error for one in group if one.error})
        limits = {one.limited_by: None for one in group}
        rows.append(
            (
                _ends(first),
                purposes[first.purpose].filled({"count": str(len(group))}),
                _rate(sum(one.goodput_bytes_per_s for one in group)),
                _value("resent_ratio", _resent_ratio(group)),
                _value("rtt_s", median([one.rtt_p50_s for one in group if one.rtt_p50_s is not None])),
                same(first.congestion_control or "?"),
                same(", ".join(errors)) if errors else _joined([NOTHING if one is None else LIMITS[one] for one in limits]),
            )
        )
    columns = (
        PATH, Text(en="flows", zh="流"), Text(en="goodput", zh="有效吞吐"), Text(en="sent again", zh="重传"), Text(en="RTT in the flow", zh="流内 RTT"),
        Text(en="control", zh="拥塞控制"), Text(en="limited by", zh="受限于"),
    )  # fmt: skip
    return _grid(columns, rows)


def _resent_ratio(group: list[FlowRun]) -> float | None:
    sent = [one.segments_out_packets for one in group if one.segments_out_packets]
    again = [one.retransmits_packets for one in group if one.retransmits_packets is not None]
    return sum(again) / sum(sent) if sent and again else None


def _joined(texts: Sequence[Text]) -> Text:
    return Text(en=", ".join(one.en for one in texts), zh="、".join(one.zh for one in texts))


def _iperf3(runs: list[ThroughputRun]) -> Grid | None:
    rows = [
        (same(one.role), Text(en="back", zh="反向") if one.is_reverse else Text(en="there", zh="正向"), _value("stream_count", one.stream_count),
         _value("rate_bits_per_s", one.rate_bits_per_s), _value("retransmits_packets", one.retransmits_packets))
        for one in runs
    ]  # fmt: skip
    columns = (
        Text(en="counted by", zh="统计方"),
        Text(en="direction", zh="方向"),
        Text(en="flows", zh="流"),
        Text(en="rate", zh="速率"),
        Text(en="sent again", zh="重传"),
    )
    return _grid(columns, rows)


def _trains(trains: list[DatagramTrain]) -> Grid | None:
    rows = [
        (_ends(one), same(str(one.sent_count)), _value("rate_per_s", one.rate_per_s), _value("loss_ratio", one.loss_ratio), same(f"{one.loss_runs_count} ({one.longest_loss_run_count})"),
         same(str(one.duplicates_count)), same(str(one.reordered_count)), _value("dropped_by_receiver_count", one.dropped_by_receiver_count))
        for one in trains
    ]  # fmt: skip
    columns = (
        PATH, Text(en="sent", zh="发出"), Text(en="rate", zh="速率"), Text(en="lost", zh="丢失"), Text(en="runs of loss (longest)", zh="连续丢失段（最长）"),
        Text(en="duplicates", zh="重复"), Text(en="reordered", zh="乱序"), Text(en="dropped by receiver's socket", zh="接收端套接字丢弃"),
    )  # fmt: skip
    return _grid(columns, rows)


def _mtus(runs: list[PathMtuRun]) -> Grid | None:
    rows = [
        (_ends(one), *(_value("mtu_bytes", value) for value in (one.interface_mtu_bytes, one.passed_bytes)),
         Text(en="every size passed", zh="所有大小均通过") if one.lost_bytes is None else _value("mtu_bytes", one.lost_bytes),
         Text(en="nobody", zh="无") if one.reported_bytes is None else _value("mtu_bytes", one.reported_bytes))
        for one in runs
    ]  # fmt: skip
    columns = (
        PATH,
        Text(en="interface", zh="接口"),
        Text(en="passed", zh="通过"),
        Text(en="did not pass", zh="未通过"),
        Text(en="told by a router", zh="路由器告知"),
    )
    return _grid(columns, rows)


def _hops(headers: list[HeaderRun], hops: list[PathHop]) -> Grid | None:
    rows = [
        (
            _ends(one),
            _value("ttl_hops", one.ttl_sent_hops),
            _value("ttl_hops", one.ttl_received_hops),
            _value("hops_count", one.hops_count),
        )
        for one in headers
        if one.ttl_sent_hops is not None
    ]
    rows += [
        (
            same(f"{one.hop_index}: {one.address or '?'}"),
            same(""),
            same(""),
            _value("rtt_s", one.rtt_mean_s) if one.rtt_mean_s else same(""),
        )
        for one in hops
    ]
    columns = (
        PATH,
        Text(en="TTL sent", zh="发出 TTL"),
        Text(en="TTL received", zh="收到 TTL"),
        Text(en="routers passed", zh="经过路由器"),
    )
    return _grid(columns, rows)


def _codes(headers: list[HeaderRun]) -> Grid | None:
    rows = [
        (_ends(one), _value("code", one.dscp_sent_code), _value("code", one.dscp_received_code))
        for one in headers
        if one.dscp_sent_code is not None
    ]
    return _grid((PATH, Text(en="sent", zh="发出"), Text(en="received", zh="收到")), rows)


def mesh_blocks(hosts: Sequence[str], records: Sequence[Record], bandwidth: MeshFit, latency: MeshFit) -> list[AnyBlock]:
    """What is odd, then the two matrices."""
    odd = [*_odd_rows(bandwidth, Text(en="throughput", zh="吞吐")), *_odd_rows(latency, Text(en="round trip", zh="往返时延"))]
    head = (
        Text(en="Nothing odd in the mesh", zh="网状测试未见异常")
        if not odd
        else Text(en=f"{len(odd)} odd in the mesh", zh=f"网状测试发现 {len(odd)} 处异常")
    )
    blocks: list[AnyBlock] = [Headline(text=head, tone="warn" if odd else "good")]
    if odd:
        blocks.append(
            Grid(
                columns=(
                    Text(en="what", zh="对象"),
                    Text(en="figure", zh="指标"),
                    Text(en="against the typical", zh="相对典型值"),
                    Text(en="chance says so", zh="偶然概率"),
                ),
                rows=tuple(odd),
            )
        )
    for title, values, show in (
        (Text(en="Throughput, sender in rows", zh="吞吐（行为发送端）"), bandwidths(records), lambda value: _rate(value).en),
        (
            Text(en="Median round trip on the idle path", zh="空闲往返时延中位数"),
            latencies(records),
            lambda value: printed("rtt_s", value),
        ),
    ):
        blocks += [Headline(text=title, level=2), _matrix(hosts, values, show)]
    for fit, name in ((bandwidth, Text(en="throughput", zh="吞吐")), (latency, Text(en="round trip", zh="往返时延"))):
        if fit.pair_spread_ratio is not None:
            pair, host = printed("spread_ratio", fit.pair_spread_ratio), printed("spread_ratio", fit.host_spread_ratio)
            blocks.append(
                Prose(
                    text=Text(
                        en=f"Spread of {name.en} after all effects: {pair} between pairs, {host} between ordinary hosts.",
                        zh=f"{name.zh}扣除各效应后的离散度：主机对之间 {pair}，普通主机之间 {host}。",
                    )
                )
            )
    return blocks


def _matrix(hosts: Sequence[str], values: dict[Pair, float | None], show: Callable[[float], str]) -> Grid:
    def cell(sender: str, receiver: str) -> Text:
        if sender == receiver:
            return same("·")
        value = values.get((sender, receiver))
        return same("—" if value is None else show(value))

    rows = tuple((same(sender), *(cell(sender, receiver) for receiver in hosts)) for sender in hosts)
    return Grid(columns=(same(""), *(same(host) for host in hosts)), rows=rows)


def _odd_rows(fit: MeshFit, figure: Text) -> list[tuple[Text, ...]]:
    rows: list[tuple[Text, ...]] = [
        (_named(one), figure, _value("factor_ratio", one.factor_ratio), _value("chance_ratio", one.chance_ratio)) for one in fit.odd
    ]
    gave_nothing = Text(en="gave nothing", zh="无结果")
    rows += [(same(host), figure, gave_nothing, same("")) for host in fit.dead_hosts]
    alone = [pair for pair in fit.dead if not set(pair) & set(fit.dead_hosts)]
    return rows + [(same(f"{pair[0]} → {pair[1]}"), figure, gave_nothing, same("")) for pair in alone]


def _named(odd: Odd) -> Text:
    """The term, and what would explain the same figures."""
    others = [_term(one) for one in odd.same_as]
    first = _term(odd.term)
    if not others:
        return first
    joined = _joined(others)
    return Text(en=f"{first.en} (or {joined.en})", zh=f"{first.zh}（或{joined.zh}）")


def _term(term: Term) -> Text:
    name = " – ".join(term.names)
    if term.kind == "pair" and term.direction == "sending":
        return same(" → ".join(term.names))
    kinds = {
        "host": Text(en=f"host {name}", zh=f"主机 {name}"),
        "pair": Text(en=f"pair {name}", zh=f"主机对 {name}"),
        "uplink": Text(en=f"uplink of rack {name}", zh=f"机架 {name} 的上行链路"),
        "rack": Text(en=f"rack {name}, inside too", zh=f"机架 {name}（含内部）"),
        "racks": Text(en=f"between racks {name}", zh=f"机架 {name} 之间"),
    }
    ways = {
        "both": same(""),
        "sending": Text(en=", sending", zh="（发送方向）"),
        "receiving": Text(en=", receiving", zh="（接收方向）"),
    }
    said, way = kinds[term.kind], ways[term.direction]
    return Text(en=said.en + way.en, zh=said.zh + way.zh)
