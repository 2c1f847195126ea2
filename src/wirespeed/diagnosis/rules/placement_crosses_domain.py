"""A group that talks a lot spans racks, switches, zones or NVLink domains."""

import re

from wirespeed.diagnosis.joins.pieces import against, configured, piece
from wirespeed.diagnosis.joins.placement import Spread, spreads
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclChannel
from wirespeed.model.facts.cluster import JobNodes, NodeGroup
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting, Statement, Table
from wirespeed.model.text import Text

_NEAR = re.compile(
    r"(?i)\b(?:same|within|intra|single|one|inside)[- ]?(?:a |the )?(?:rack|leaf|switch|zone|az|pod|domain|island|block|nvlink)|\blocal\b"
)
_FAR = re.compile(
    r"(?i)\b(?:cross|across|different|inter|two|between|other|spanning)[- ]?(?:the )?(?:racks?|leaf|leaves|switch(?:es)?|zones?|azs?|pods?|domains?|islands?|blocks?|spine)"
)
_LABEL = re.compile(r"(?i)topology|clique|superpod|(?<![a-z])(?:rack|zone|block)(?:[-_ ]?(?:id|name|index))?(?![a-z])")
_FAST_DOMAIN = re.compile(r"(?i)block|clique|nvlink")
"""Levels inside which hosts share NVLink: leaving one costs far more than leaving a leaf switch."""
_APART_RATIO = 1.25


def _judge(case: Case) -> Verdict:
    compared = [(table, ratio) for table in case.every(Table) if (ratio := _near_over_far_ratio(table)) is not None]
    tables = tuple(table for table, ratio in compared if ratio >= _APART_RATIO)
    even = [table for table, ratio in compared if ratio < _APART_RATIO]
    domains = _several_domains(case)
    jobs = spreads(case)
    evidence = (
        *piece(_TABLE, STRONG + SLIGHT, tables),
        *piece(_DOMAINS, FAIR + 0.5, domains),
        *piece(_DOMAINS, STRONG, _listed_in_domains(case) if not domains else ()),
        *_placed(jobs),
        *piece(_BLIND, SLIGHT, _blind_scheduler(case) if _across(jobs) else ()),
        *against(_TOGETHER, STRONG, _records([one for one in jobs if len(one.places) == 1]) if not _across(jobs) else ()),
        *piece(_PARTLY_NVLINK, FAIR, _leaves_the_nvlink_domain(case)),
        *piece(_SAID, FAIR + 0.5, case.said("crosses-domain")),
        *(contradicts(_THIN, FAIR, one) for one in case.said("oversubscribed")[:1]),
        *(contradicts(_RULED_OUT, FAIR, one) for one in case.said("crossing-ruled-out")[:1]),
        *(contradicts(_EVEN, STRONG, table) for table in even[:1]),
    )
    return Verdict(evidence=evidence)


def _across(jobs: tuple[Spread, ...]) -> list[Spread]:
    return [one for one in jobs if len(one.places) > 1]


def _placed(jobs: tuple[Spread, ...]) -> tuple[Evidence, ...]:
    """The job that is spread most needlessly: one that a single place could hold."""
    across = sorted(_across(jobs), key=lambda one: (not one.fits_one, not one.is_parallel, len(one.places)))
    if not across:
        return ()
    worst = across[0]
    is_fast = _FAST_DOMAIN.search(worst.level) is not None
    needless = STRONG if is_fast else FAIR + SLIGHT if worst.is_parallel else FAIR
    weight = needless if worst.fits_one else SLIGHT
    return piece(
        _SPREAD if worst.fits_one else _SPREAD_OF_NEED,
        weight,
        worst.records,
        job=worst.job,
        nodes_count=worst.nodes_count,
        places_count=len(worst.places),
        level=worst.level,
    )


def _blind_scheduler(case: Case) -> list[Record]:
    """Slurm without a topology plug-in: it takes nodes in their order."""
    return [one.record for one in configured(case, r"^topology_plugin$") if re.search(r"default|flat|none|null", one.setting)]


def _records(jobs: list[Spread]) -> list[Record]:
    return [record for one in jobs[:1] for record in one.records]


def _near_over_far_ratio(table: Table) -> float | None:
    """How far the figures of rows of one domain and of several are apart; None where the table compares no such rows."""
    near = [_numbers(row) for row in table.rows if _NEAR.search(row[0])]
    far = [_numbers(row) for row in table.rows if _FAR.search(row[0])]
    if not near or not far:
        return None
    pairs = zip(near[0], far[0], strict=False)
    return max((max(one, other) / min(one, other) for one, other in pairs if one > 0 and other > 0), default=None)


def _numbers(row: tuple[str, ...]) -> list[float]:
    return [float(found[0]) if (found := re.match(r"\d+(?:\.\d+)?", cell.strip())) else 0.0 for cell in row[1:]]


def _several_domains(case: Case) -> tuple[Setting, ...]:
    """Topology labels of nodes of one job that name different domains of one level."""
    labels = case.every(Setting, lambda one: _LABEL.search(one.name) is not None)
    by_name: dict[str, dict[str, Setting]] = {}
    for one in labels:
        by_name.setdefault(one.name.lower(), {})[one.setting] = one
    return next((tuple(found.values()) for found in by_name.values() if len(found) > 1), ())


def _listed_in_domains(case: Case) -> tuple[Statement, ...]:
    """One line of each domain, where a list gives every node's rack, leaf, clique or zone and they are not the same."""
    found: dict[str, Statement] = {}
    for one in case.said("lies-in-domain"):
        found.setdefault((one.unit or "").lower(), one)
    levels = {re.match(r"[a-z]+", name) for name in found}
    return tuple(found.values()) if len(found) > 1 and len({level[0] for level in levels if level}) == 1 else ()


def _leaves_the_nvlink_domain(case: Case) -> tuple[NcclChannel, ...]:
    """Channels of one job of which some go by multi-node NVLink and others by the network."""
    inside = case.first(NcclChannel, lambda one: "MNNVL" in one.transport)
    outside = case.first(NcclChannel, lambda one: one.transport.startswith("NET"))
    return (inside, outside) if inside and outside else ()


_PARTLY_NVLINK = Text(
    en="some nodes of the job share an NVLink domain, others are reached over the network",
    zh="作业的部分节点同属一个 NVLink 域，其余节点只能经网络到达",
)
_SPREAD = Text(
    en="the {nodes_count} nodes of {job} hang on {places_count} places of one level ({level}), and one alone would have room for them",
    zh="{job} 的 {nodes_count} 个节点分布在同一层级（{level}）的 {places_count} 处，而单独一处即可容纳",
)
_SPREAD_OF_NEED = Text(
    en="the {nodes_count} nodes of {job} hang on {places_count} places of one level ({level}); none has room for all of them",
    zh="{job} 的 {nodes_count} 个节点分布在同一层级（{level}）的 {places_count} 处；没有一处能全部容纳",
)
_BLIND = Text(en="the scheduler is set up without the fabric's topology", zh="调度器未配置网络拓扑")
_TOGETHER = Text(en="all nodes of the job hang on one place of the fabric", zh="作业的所有节点都在网络的同一处")
_TABLE = Text(en="inside one domain it is clearly faster than across domains", zh="同一域内明显快于跨域")
_DOMAINS = Text(en="the nodes carry labels of different domains", zh="节点带有不同域的标签")
_THIN = Text(en="the links between the domains are said to be too thin for any placement", zh="据称域间链路本身就不足，与放置无关")
_EVEN = Text(en="inside one domain it is as slow as across domains", zh="同一域内与跨域一样慢")
_RULED_OUT = Text(en="the crossing is said to make no difference", zh="据称跨域并无影响")
_SAID = Text(en="the group spans racks, switches, zones or NVLink domains", zh="该组跨越机架、交换机、可用区或 NVLink 域")

RULE = Rule(
    cause="placement-crosses-domain",
    title=Text(en="The group spans racks or NVLink domains", zh="通信组跨越机架或 NVLink 域"),
    summary=Text(
        en="Ranks that exchange the most data sit in different racks, zones or NVLink domains, so their traffic crosses the slow tier.",
        zh="数据交换最多的 rank 位于不同机架、可用区或 NVLink 域，其流量经过慢的层级。",
    ),
    needs=(
        (wants(Table, lambda one: len(one.rows) >= 2),),
        (wants(Setting, lambda one: re.search(r"(?i)topology|rack|zone|clique", one.name) is not None),),
        (JobNodes, NodeGroup),
        (wants(NcclChannel, lambda one: "MNNVL" in one.transport),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Bandwidth falls by tier: NVLink domain, leaf, spine, core; a scheduler unaware of them scatters a group.",
            zh="带宽逐层下降：NVLink 域、叶、脊、核心；不了解层级的调度器会把组打散。",
        ),
        shows=Text(
            en="The same job varies by placement; groups inside one rack reach the full rate.",
            zh="同一作业随放置而变；同机架内的组能达到满速。",
        ),
        sources=(
            "NVIDIA/nccl#1453",
            "Slurm topology.conf(5), topology/tree and topology/block; Kueue topology aware scheduling",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="oversubscribed-fabric",
            because=Text(en="there placement is right and the uplinks are too few", zh="彼处放置正确，上行链路不足"),
        ),
        LookAlike(
            cause="ecmp-collision",
            because=Text(en="there the same placement varies from run to run", zh="彼处同样放置在不同运行间变化"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Place each group inside one domain and order ranks by topology", zh="把每个组放在同一域内，并按拓扑排列 rank"
            ),
            commands=(
                "#SBATCH --switches=1",
                "scontrol show topology",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The group's nodes share one leaf or domain", zh="组内节点同属一个叶交换机或域"),
            commands=("nvidia-smi -q | grep -A3 Fabric",),
        ),
    ),
    gain=Text(en="From the slow tier's rate to the inner one's", zh="由慢层级速率提升到内层速率"),
    severity="medium",
    explains=(
        "oversubscribed-fabric",
        "straggler-slow-node",
    ),
)
