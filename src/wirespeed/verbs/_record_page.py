"""How a recording looks: while it runs, and when it is over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from wirespeed.model.document import AnyBlock, Document, FactList, Grid, Headline, Prose
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.record import Record
from wirespeed.model.series import Burst, FlowSummary, RecordingCost, SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed

if TYPE_CHECKING:
    from wirespeed.observation.live import Live

R = TypeVar("R", bound=Record)
MOST_ROWS = 12
"""Rows a table shows; JSON and the series have all."""
_LINK, _WAY = Text(en="link", zh="接口"), Text(en="way", zh="方向")
_MEAN, _PEAK = Text(en="mean", zh="均值"), Text(en="peak", zh="峰值")
_TITLE = Text(en="wirespeed recording", zh="wirespeed 记录")


def view(live: Live) -> Document:
    """The live picture."""
    rows = tuple(
        (
            same(link),
            same(way),
            *(
                same(printed("rate_bytes_per_s", value))
                for value in (one.now_bytes_per_s, one.peak_bytes_per_s, one.mean_bytes_per_s)
            ),
        )
        for link, ways in live.links.items()
        for way, one in sorted(ways.items())
    )
    core = f" ({live.busiest_core})" if live.busiest_core else ""
    facts = (
        (Text(en="retransmits", zh="重传"), same(printed("retransmits_per_s", live.retransmits_per_s))),
        (Text(en="drops", zh="丢包"), same(printed("drops_per_s", live.drops_per_s))),
        (
            Text(en=f"busiest softirq core{core}", zh=f"软中断最忙的核{core}"),
            same(printed("busy_ratio", live.busiest_softirq_ratio)),
        ),
        (Text(en="all cores", zh="全部核"), same(printed("busy_ratio", live.cpu_ratio))),
    )
    blocks: tuple[AnyBlock, ...] = (FactList(rows=facts),)
    if rows:
        blocks = (Grid(columns=(_LINK, _WAY, Text(en="now", zh="当前"), _PEAK, _MEAN), rows=rows[:MOST_ROWS]), *blocks)
    return Document(title=_TITLE, blocks=blocks)


def page(
    host: str,
    duration_s: float,
    ended: str | None,
    saved: str | None,
    periods_s: dict[str, float],
    records: Sequence[Record],
    problems: Sequence[Problem],
) -> Document:
    """The summary."""
    took = printed("duration_s", duration_s)
    blocks: list[AnyBlock] = [Headline(text=Text(en=f"{took} of {host}", zh=f"{host} 的 {took} 记录"))]
    if ended == "interrupted":
        blocks.append(Prose(text=Text(en="Ended early; what there was is shown.", zh="提前结束；显示已有的内容。")))
    if saved:
        blocks.append(Prose(text=Text(en=f"Kept in {saved}", zh=f"已保存到 {saved}")))
    blocks += _links(_of(records, SeriesSummary))
    blocks += _bursts(_of(records, Burst))
    blocks += _flows(_of(records, FlowSummary))
    blocks += _listeners(_of(records, Listener))
    blocks += _queues(_of(records, SeriesSummary))
    blocks += _moved(_of(records, Counter))
    blocks += _cores(_of(records, SeriesSummary))
    blocks += _cost(_of(records, RecordingCost), periods_s)
    if problems:
        blocks.append(Headline(text=Text(en="What could not be had", zh="未能获取的信息"), level=2))
        blocks.append(FactList(rows=tuple((same(problem.source.path), problem.why) for problem in problems)))
    return Document(title=Text(en=f"wirespeed recording of {host}", zh=f"wirespeed 记录 {host}"), blocks=tuple(blocks))


def _of(records: Iterable[Record], kind: type[R]) -> list[R]:
    return [record for record in records if isinstance(record, kind)]


def _section(title: Text, columns: Sequence[Text], rows: Sequence[tuple[Text, ...]]) -> list[AnyBlock]:
    if not rows:
        return []
    blocks: list[AnyBlock] = [Headline(text=title, level=2), Grid(columns=tuple(columns), rows=tuple(rows[:MOST_ROWS]))]
    if len(rows) > MOST_ROWS:
        more = len(rows) - MOST_ROWS
        blocks.append(Prose(text=Text(en=f"{more} more in the JSON answer", zh=f"另有 {more} 条见 JSON 输出")))
    return blocks


def _cells(*pairs: tuple[str, object]) -> tuple[Text, ...]:
    return tuple(same(printed(name, value)) for name, value in pairs)


def _links(series: Sequence[SeriesSummary]) -> list[AnyBlock]:
    rates = {(one.scope, one.name): one.values for one in series if one.family == "links"}
    rows = []
    for link, name in rates:
        if name not in ("rx_bytes", "tx_bytes"):
            continue
        values, packets = rates[link, name], rates.get((link, f"{name[:2]}_packets"))
        rows.append(
            _cells(
                ("", link), ("", name[:2]), ("rate_bytes_per_s", values.mean), ("rate_bytes_per_s", values.p99),
                ("rate_bytes_per_s", values.maximum), ("packets_per_s", packets and packets.mean),
            )
        )  # fmt: skip
    columns = (_LINK, _WAY, _MEAN, same("P99"), _PEAK, Text(en="packets", zh="包"))
    return _section(Text(en="Links", zh="链路"), columns, rows)


def _bursts(bursts: Sequence[Burst]) -> list[AnyBlock]:
    rows = [
        _cells(
            ("", f"{one.link} {one.direction}"), ("bursts_count", one.bursts_count), ("period_s", one.period_s), ("burst_s", one.burst_p50_s),
            ("peak_bytes_per_s", one.peak_bytes_per_s), ("", f"{printed('', round(one.peak_bytes_per_s / one.mean_bytes_per_s, 1))}x"),
            ("queue_peak_packets", one.queue_peak_packets), ("drops_count", one.drops_in_bursts_count),
        )
        for one in bursts
    ]  # fmt: skip
    columns = (
        _LINK, Text(en="bursts", zh="突发次数"), Text(en="each", zh="间隔"), Text(en="lasting", zh="持续"), _PEAK,
        Text(en="of the mean", zh="相对均值"), Text(en="queue peak", zh="队列峰值"), Text(en="drops", zh="丢包"),
    )  # fmt: skip
    return _section(Text(en="Bursts", zh="突发"), columns, rows)


def _flows(flows: Sequence[FlowSummary]) -> list[AnyBlock]:
    rows = [
        _cells(
            ("", f"{one.local_address}:{one.local_port} > {one.remote_address}:{one.remote_port}"), ("sent_bytes", one.sent_bytes),
            ("received_bytes", one.received_bytes), ("rtt_s", one.rtt_p50_s), ("retransmits", one.retransmits_packets),
            ("rwnd_limited_ratio", one.rwnd_limited_ratio), ("held_back_ratio", one.held_back_ratio),
        )
        for one in flows
        if one.sent_bytes or one.received_bytes or one.retransmits_packets
    ]  # fmt: skip
    columns = (
        Text(en="connection", zh="连接"), Text(en="sent", zh="发送"), Text(en="received", zh="接收"), Text(en="RTT P50", zh="RTT P50"),
        Text(en="retransmits", zh="重传"), Text(en="receiver's window", zh="受接收窗口限制"), Text(en="held back", zh="小包被推迟"),
    )  # fmt: skip
    return _section(Text(en="Connections", zh="连接"), columns, rows)


def _listeners(listeners: Sequence[Listener]) -> list[AnyBlock]:
    rows = [
        _cells(("", f"{one.address}:{one.port}"), ("queue_count", one.queue_count), ("backlog_count", one.backlog_count))
        for one in listeners
        if one.queue_count
    ]
    columns = (Text(en="address", zh="地址"), Text(en="accept queue at most", zh="接受队列最大值"), Text(en="limit", zh="上限"))
    return _section(Text(en="Listening sockets", zh="监听套接字"), columns, rows)


def _queues(series: Sequence[SeriesSummary]) -> list[AnyBlock]:
    rows = [
        _cells(("", one.scope), ("", one.name), ("", round(one.values.mean, 1)), ("", round(one.values.maximum)))
        for one in series
        if (one.family == "qdiscs" and one.name == "backlog_packets") or one.family == "queues"
    ]
    columns = (Text(en="queue", zh="队列"), Text(en="what", zh="内容"), _MEAN, _PEAK)
    return _section(Text(en="Queues", zh="队列"), columns, rows)


def _moved(counters: Sequence[Counter]) -> list[AnyBlock]:
    """Counters with a common name, which are those that mean something, and what TCP says of trouble."""
    quiet = ("rx_packets", "tcp_out_segments")
    rows = [
        _cells(
            ("", one.scope),
            ("", one.name),
            ("count", one.value_count),
            ("count_per_s", one.value_count / one.over_s if one.over_s else None),
        )
        for one in sorted(counters, key=lambda one: -one.value_count)
        if one.value_count and one.canonical is not None and one.canonical not in quiet
    ]
    columns = (
        Text(en="where", zh="位置"),
        Text(en="counter", zh="计数器"),
        Text(en="moved by", zh="增量"),
        Text(en="rate", zh="速率"),
    )
    return _section(Text(en="Counters that tell trouble and moved", zh="发生变化的故障计数器"), columns, rows)


def _cores(series: Sequence[SeriesSummary]) -> list[AnyBlock]:
    rows = [
        _cells(("", one.scope), ("", one.name), ("busy_ratio", one.values.mean), ("busy_ratio", min(one.values.maximum, 1.0)))
        for one in series
        if one.family == "cpu" and one.unit == "ratio" and one.scope != "all" and one.name not in ("idle", "iowait")
    ]
    columns = (Text(en="core", zh="核"), Text(en="time in", zh="用时"), _MEAN, _PEAK)
    return _section(Text(en="Cores", zh="CPU 核"), columns, sorted(rows, key=lambda row: row[0].en))


def _cost(costs: Sequence[RecordingCost], periods_s: dict[str, float]) -> list[AnyBlock]:
    if not costs:
        return []
    cost = costs[0]
    late = ", ".join(printed("lateness_s", value) for value in (cost.lateness_p50_s, cost.lateness_p99_s, cost.lateness_max_s))
    by_period: dict[float, list[str]] = {}
    for family, period_s in periods_s.items():
        by_period.setdefault(period_s, []).append(family)
    read = "; ".join(f"{printed('period_s', period_s)}: {', '.join(names)}" for period_s, names in sorted(by_period.items()))
    rows = (
        (
            Text(en="own CPU time", zh="自身 CPU 开销"),
            Text(en=f"{printed('cpu_ratio', cost.cpu_ratio)} of a core", zh=f"单核的 {printed('cpu_ratio', cost.cpu_ratio)}"),
        ),
        (Text(en="lateness P50, P99, most", zh="延迟 P50、P99、最大"), same(late)),
        (Text(en="readings", zh="读取次数"), same(printed("samples_count", cost.samples_count))),
        (Text(en="deadlines missed", zh="错过的时刻"), same(printed("missed_count", cost.missed_count))),
        (Text(en="read every", zh="读取间隔"), same(read)),
    )
    return [Headline(text=Text(en="What recording cost", zh="记录自身的开销"), level=2), FactList(rows=rows)]
