"""Measure the path to peers: connecting, latency, throughput and what limits it, loss, path MTU, hops, DSCP; or a full mesh."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec

from wirespeed.benches import iperf3, mesh
from wirespeed.benches.links import client
from wirespeed.benches.links.protocol import DEFAULT_PORT, Refused
from wirespeed.benches.links.relay import relayed
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.benches.mesh import MeshHost
from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem
from wirespeed.model.document import AnyBlock, Document, FactList, Headline, Prose
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import PortProbe, ThroughputRun
from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.theory.mesh import MeshFit
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._quantities import address_of, place
from wirespeed.verbs._starved import starved_tests
from wirespeed.verbs.bench._link_tables import mesh_blocks, path_blocks
from wirespeed.verbs.peer import TOKEN_VARIABLE

SCHEMA = "wirespeed/bench-links/1"
IPERF3_PORT = 5201
LONGEST_S = 60.0
MOST_FLOWS = 64
FEWEST_MESH_HOSTS = 2


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which peers, and what to measure."""

    peers: Annotated[
        tuple[str, ...],
        Option(
            help=Text(en="hosts where `wirespeed peer` runs", zh="运行 `wirespeed peer` 的主机"),
            is_argument=True,
            metavar="PEER[:PORT][@RACK]",
        ),
    ] = ()
    token: Annotated[
        str | None,
        Option(
            help=Text(en=f"of the peers; or in {TOKEN_VARIABLE}", zh=f"对端的口令；也可放在 {TOKEN_VARIABLE} 中"), metavar="TOKEN"
        ),
    ] = None
    for_: Annotated[str, Option(help=Text(en="of one measurement", zh="单项测量的时长"), flags=("--for",), metavar="TIME")] = "2s"
    only: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="only these tests, with commas or repeated: connect, latency, throughput, datagrams, path_mtu, hops, dscp",
                zh="只做这些测试，可用逗号分隔或重复：connect、latency、throughput、datagrams、path_mtu、hops、dscp",
            ),
            metavar="TEST,...",
        ),
    ] = ()
    flows_count: Annotated[
        int,
        Option(
            flags=("--flows",),
            help=Text(en="of the test with many flows; 1 leaves it out", zh="多流测试的流数；1 表示不做"),
            metavar="N",
        ),
    ] = 4
    both_ways: Annotated[bool, Option(help=Text(en="also flows in both directions at once", zh="另测双向同时收发"))] = False
    drop_copy: Annotated[
        bool,
        Option(
            help=Text(
                en="the receiver drops the payload in the kernel: the link's limit rather than that of its memory copy",
                zh="接收端在内核中丢弃数据：测的是链路上限而非内存拷贝上限",
            )
        ),
    ] = False
    mesh: Annotated[
        bool,
        Option(
            help=Text(
                en="measure every pair of the peers (started with --mesh), none disturbed by another, and name the odd ones",
                zh="测量各对端（以 --mesh 启动）两两之间，互不干扰，并指出异常者",
            )
        ),
    ] = False
    most_crossing_count: Annotated[
        int | None,
        Option(
            flags=("--most-crossing",),
            help=Text(
                en="in a mesh, pairs that may cross a rack's uplinks at once", zh="全网状测试中同时跨机架上行链路的主机对数上限"
            ),
            metavar="N",
        ),
    ] = None
    iperf3: Annotated[
        str | None, Option(help=Text(en="an iperf3 server as the peer", zh="以 iperf3 服务器为对端"), metavar="HOST[:PORT]")
    ] = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `bench links`; its JSON is the contract `wirespeed/bench-links/1`."""

    schema: str = SCHEMA
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Text, ...] = ()
    """What these measurements cannot tell."""
    hosts: tuple[str, ...] = ()
    """Of a mesh."""
    bandwidth_fit: MeshFit | None = None
    latency_fit: MeshFit | None = None


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Measure. Raises BadRequest for options that make no sense, CouldNot where a peer refuses or iperf3 is missing."""
    duration_s = asked_s(options.for_, "--for", most_s=LONGEST_S)
    if not 1 <= options.flows_count <= MOST_FLOWS:
        raise BadRequest(Text(en=f"--flows is 1 to {MOST_FLOWS}", zh=f"--flows 为 1 到 {MOST_FLOWS}"))
    if options.iperf3 is not None:
        return _with_iperf3(options, duration_s)
    if not options.peers:
        raise BadRequest(
            Text(en="name a peer, or an iperf3 server with --iperf3", zh="请给出对端，或用 --iperf3 指定 iperf3 服务器")
        )
    token = options.token or os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise BadRequest(
            Text(en=f"the peers' token is needed: {TOKEN_VARIABLE} or --token", zh=f"需要对端的口令：{TOKEN_VARIABLE} 或 --token")
        )
    hosts = [_host(said) for said in options.peers]
    if options.mesh:
        return _mesh(hosts, token, duration_s, options, progress)
    return _star(hosts, token, duration_s, options, progress)


def _host(said: str) -> MeshHost:
    where, _, rack = said.partition("@")
    host, port = place(where, DEFAULT_PORT)
    return MeshHost(name=where, address=address_of(host), port=port, rack=rack or None)


def _star(hosts: Sequence[MeshHost], token: str, duration_s: float, options: Options, progress: Progress) -> Answer:
    """From this host to each peer, one after the other."""
    names = tuple(name for said in options.only for name in said.split(",") if name)
    specs = [
        LinkSpec(
            address=host.address,
            port=host.port,
            token=token,
            tests=names,
            sender=Local().host or "",
            receiver=host.name,
            duration_s=duration_s,
            flows_count=options.flows_count,
            is_both_ways=options.both_ways,
            is_copied=not options.drop_copy,
        )
        for host in hosts
    ]
    found: list[Record | Problem] = []
    try:
        costs_s = [client.cost_s(spec) for spec in specs]
        for place_, spec in enumerate(specs):
            told = _teller(progress, spec, sum(costs_s[place_:]), sum(costs_s[:place_]) / sum(costs_s))
            found.extend(client.run(spec, told))
    except LookupError as error:
        raise BadRequest(Text(en=str(error), zh=f"没有该链路测试：{error}")) from error
    except Refused as error:
        raise CouldNot(_refusal(spec, error.error)) from error
    return Answer(records=_records(found), problems=_problems(found))


def _teller(progress: Progress, spec: LinkSpec, left_s: float, done_ratio: float) -> Callable[[str], None]:
    def told(test: str) -> None:
        title = client.title_of(test)
        says = Text(en=f"{spec.receiver}: {title.en}", zh=f"{spec.receiver}：{title.zh}")
        progress(Update(says=says, done_ratio=done_ratio, remaining_s=left_s))

    return told


def _refusal(spec: LinkSpec, why: str) -> Text:
    said = {
        "token": Text(en="another token", zh="口令不同"),
        "version": Text(en="another version of the protocol", zh="协议版本不同"),
        "busy": Text(en="too many sessions", zh="会话过多"),
    }.get(why, same(why))
    return Text(en=f"{spec.receiver} refuses: {said.en}", zh=f"{spec.receiver} 拒绝：{said.zh}")


def _mesh(hosts: Sequence[MeshHost], token: str, duration_s: float, options: Options, progress: Progress) -> Answer:
    """Between the peers, each asked to test the paths to the others."""
    if len({host.name for host in hosts}) < FEWEST_MESH_HOSTS:
        raise BadRequest(Text(en="a mesh needs at least two different peers", zh="全网状测试至少需要两个不同的对端"))
    ways = {host.name: LinkSpec(address=host.address, port=host.port, token=token, receiver=host.name) for host in hosts}

    def ask(asked: Sequence[tuple[str, LinkSpec]]) -> list[list[Record | Problem]]:
        return relayed([(ways[sender], spec) for sender, spec in asked], duration_s + 10.0)

    def heard(done: int, whole: int, remaining_s: float) -> None:
        says = Text(en=f"step {done} of {whole}", zh=f"第 {done} 步，共 {whole} 步")
        progress(Update(says=says, done_ratio=done / whole, remaining_s=remaining_s))

    found = mesh.run(hosts, ask, token=token, duration_s=duration_s, most_crossing_count=options.most_crossing_count, heard=heard)
    bandwidth_fit, latency_fit = mesh.fits(found, hosts)
    return Answer(
        records=_records(found),
        problems=_problems(found),
        hosts=tuple(host.name for host in hosts),
        bandwidth_fit=bandwidth_fit,
        latency_fit=latency_fit,
    )


def _with_iperf3(options: Options, duration_s: float) -> Answer:
    host, port = place(options.iperf3 or "", IPERF3_PORT)
    try:
        found = list(iperf3.measured(Local(), host, port, duration_s, options.flows_count))
    except MachineProblem as error:
        raise CouldNot(error.why) from error
    return Answer(records=_records(found), problems=_problems(found), notes=(iperf3.CANNOT,))


def _records(found: Sequence[Record | Problem]) -> tuple[Record, ...]:
    return tuple(one for one in found if isinstance(one, Record))


def _problems(found: Sequence[Record | Problem]) -> tuple[Problem, ...]:
    return (*(one for one in found if isinstance(one, Problem)), *starved_tests(found))


def exit_code(answer: Answer, options: Options) -> int:
    """3 where no peer could be measured at all."""
    return 0 if _was_measured(answer) else 3


def _was_measured(answer: Answer) -> bool:
    return any(
        (isinstance(one, FlowRun) and one.received_bytes > 0)
        or (isinstance(one, LatencyRun | DatagramTrain) and one.received_count > 0)
        or (isinstance(one, PathMtuRun) and one.passed_bytes is not None)
        or (isinstance(one, PortProbe) and one.outcome == "connected")
        or isinstance(one, ThroughputRun | HeaderRun)
        for one in answer.records
    )


_NOBODY = Text(
    en="No peer answered. Is `wirespeed peer` running there, at this address and port, and does a filter let it through?",
    zh="没有对端应答。那里是否在该地址与端口运行 `wirespeed peer`，过滤器是否放行？",
)


def present(answer: Answer, options: Options) -> Document:
    """Tables for each kind of measurement; for a mesh its matrix and what is odd."""
    if answer.bandwidth_fit is not None and answer.latency_fit is not None:
        blocks = mesh_blocks(answer.hosts, answer.records, answer.bandwidth_fit, answer.latency_fit)
    else:
        blocks = path_blocks(answer.records)
    notes: list[AnyBlock] = [] if _was_measured(answer) else [Prose(text=_NOBODY)]
    if answer.problems or answer.notes:
        notes.append(Headline(text=Text(en="What could not be had", zh="未能获取的信息"), level=2))
        rows = [(same(one.source.path), one.why) for one in answer.problems]
        rows += [(same("iperf3"), note) for note in answer.notes]
        notes.append(FactList(rows=tuple(rows)))
    return Document(title=same("wirespeed bench links"), blocks=(*blocks, *notes))
