"""Bring up a cluster of hosts, leaf and spine routers in network namespaces; needs root or user namespaces."""

import time
from typing import Annotated

import msgspec

from wirespeed.emulation import founding
from wirespeed.emulation.topology import Spec
from wirespeed.model.document import Document, FactList, Headline, Steps
from wirespeed.model.kinds import Option
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._quantities import rate, share
from wirespeed.verbs.lab._shared import USUAL_NAME, NameOption, ShownNode, node_grid, shown_nodes

SCHEMA = "wirespeed/lab-up/1"
KEEPER_MODULE = "wirespeed.verbs.lab._keeper"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The size of the cluster and its links."""

    leaves_count: Annotated[int, Option(help=Text(en="leaf switches", zh="叶交换机数量"), flags=("--leaves",), metavar="N")] = 2
    spines_count: Annotated[
        int,
        Option(
            help=Text(en="spine switches, each joined to every leaf", zh="脊交换机数量，各连接所有叶交换机"),
            flags=("--spines",),
            metavar="N",
        ),
    ] = 2
    hosts_count: Annotated[
        int,
        Option(
            help=Text(en="hosts, shared out among the leaves", zh="主机数量，平均分到各叶交换机"), flags=("--hosts",), metavar="N"
        ),
    ] = 4
    name: NameOption = USUAL_NAME
    host_rate: Annotated[str, Option(help=Text(en="of a host's link", zh="主机链路速率"), metavar="RATE")] = "200Mb/s"
    uplink_rate: Annotated[str, Option(help=Text(en="of a leaf-spine link", zh="叶脊链路速率"), metavar="RATE")] = "400Mb/s"
    delay: Annotated[str, Option(help=Text(en="of each host's link, one way", zh="每条主机链路的单向时延"), metavar="TIME")] = "0s"
    loss: Annotated[
        str,
        Option(
            help=Text(en="share of packets lost on each host's link, each way", zh="每条主机链路每个方向的丢包率"),
            metavar="PERCENT",
        ),
    ] = "0%"
    for_: Annotated[
        str, Option(help=Text(en="after which the lab ends by itself", zh="到时实验室自行结束"), flags=("--for",), metavar="TIME")
    ] = "8h"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `lab up`."""

    schema: str = SCHEMA
    name: str
    directory: str
    nodes: tuple[ShownNode, ...]
    host_rate_bits_per_s: float
    uplink_rate_bits_per_s: float
    is_in_user_namespace: bool
    duration_s: float


def run(options: Options) -> Answer:
    """Bring the lab up. Raises BadRequest for sizes that make no sense, CouldNot where the machine does not permit it."""
    start = time.perf_counter()
    spec = Spec(
        leaves_count=options.leaves_count,
        spines_count=options.spines_count,
        hosts_count=options.hosts_count,
        host_rate_bits_per_s=rate(options.host_rate, "--host-rate"),
        uplink_rate_bits_per_s=rate(options.uplink_rate, "--uplink-rate"),
        delay_s=asked_s(options.delay, "--delay", least_s=0.0),
        loss_ratio=share(options.loss, "--loss"),
    )
    made = founding.up(spec, KEEPER_MODULE, name=options.name, lifetime_s=asked_s(options.for_, "--for"))
    return Answer(
        name=options.name,
        directory=str(made.directory),
        nodes=shown_nodes(made),
        host_rate_bits_per_s=spec.host_rate_bits_per_s,
        uplink_rate_bits_per_s=spec.uplink_rate_bits_per_s,
        is_in_user_namespace=made.state.is_in_user_namespace,
        duration_s=time.perf_counter() - start,
    )


def present(answer: Answer, options: Options) -> Document:
    """What stands, and what to do with it."""
    first = next(node.name for node in answer.nodes if node.role == "host")
    last = [node.name for node in answer.nodes if node.role == "host"][-1]
    name = "" if answer.name == USUAL_NAME else f" --name {answer.name}"
    return Document(
        title=same("wirespeed lab up"),
        blocks=(
            Headline(
                text=Text(
                    en=f"The lab is up: {len(answer.nodes)} nodes in {printed('_s', answer.duration_s)}",
                    zh=f"实验室已就绪：{len(answer.nodes)} 个节点，用时 {printed('_s', answer.duration_s)}",
                ),
                tone="good",
            ),
            node_grid(answer.nodes),
            FactList(
                rows=(
                    (Text(en="link of a host", zh="主机链路"), same(printed("_bits_per_s", answer.host_rate_bits_per_s))),
                    (
                        Text(en="link between leaf and spine", zh="叶脊链路"),
                        same(printed("_bits_per_s", answer.uplink_rate_bits_per_s)),
                    ),
                    (Text(en="kept in", zh="保存于"), same(answer.directory)),
                )
            ),
            Steps(
                title=Text(en="Next", zh="接下来"),
                steps=(
                    (
                        Text(en="run anything in a host", zh="在主机中运行任意程序"),
                        (f"wirespeed lab run{name} {first} -- ping -c 3 {last}",),
                    ),
                    (Text(en="end it", zh="结束实验室"), (f"wirespeed lab down{name}",)),
                ),
            ),
        ),
    )
