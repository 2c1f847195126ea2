"""Hot experts receive more tokens, and all-to-all waits for the ranks that hold them."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

_EXPERT = re.compile(r"(?i)\bexpert|\bep ?rank")
_RANK = re.compile(r"(?i)\bexpert|\brank|\bgpu")
_TOKENS = re.compile(r"(?i)token|receiv|load|count|share|%|bytes|recv|time")
_UNEVEN_RATIO = 2.0
"""With twice the mean load, the hottest expert takes about twice the time; a starting point, not calibrated."""


def _judge(case: Case) -> Verdict:
    about_experts = case.said("experts")
    places = _RANK if about_experts else _EXPERT
    tables = tuple(table for table in case.every(Table) if _is_uneven(table, places))
    evidence = (
        *piece(_TABLE, STRONG + SLIGHT, tables),
        *piece(_SAID, FAIR + SLIGHT, case.said("experts-uneven") if about_experts else ()),
        *piece(_EXPERTS, SLIGHT, about_experts if case.said("experts-uneven") or tables else ()),
    )
    return Verdict(evidence=evidence)


def _is_uneven(table: Table, places: re.Pattern[str]) -> bool:
    """A table of experts (or, where experts are spoken of, of ranks) with a column of loads whose largest is far above the mean."""
    if not places.search(" ".join((*table.columns, *(row[0] for row in table.rows if row)))):
        return False
    for index, heading in enumerate(table.columns):
        if index and _TOKENS.search(heading):
            loads = [
                float(row[index].replace(",", "").rstrip("% ")) for row in table.rows if index < len(row) and _is_number(row[index])
            ]
            if len(loads) >= 3 and max(loads) >= _UNEVEN_RATIO * sum(loads) / len(loads):
                return True
    return False


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*\d[\d,]*(?:\.\d+)?\s*%?\s*", cell) is not None


_TABLE = Text(en="the hottest expert gets at least twice the mean load", zh="最热的专家负载至少是平均值的两倍")
_SAID = Text(en="experts are loaded unevenly", zh="专家负载不均")
_EXPERTS = Text(en="the model has experts spread over the ranks", zh="模型的专家分布在各 rank 上")

RULE = Rule(
    cause="moe-imbalance",
    title=Text(en="Hot experts make all-to-all wait", zh="热点专家使 all-to-all 等待"),
    summary=Text(
        en="Routing sends far more tokens to a few experts; the ranks that hold them receive and compute longer, and the others wait.",
        zh="路由把过多 token 送到少数专家，持有它们的 rank 接收与计算更久，其余等待。",
    ),
    needs=((wants(Table, lambda one: _EXPERT.search(" ".join(one.columns)) is not None),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="All-to-all ends when the fullest receiver is done; its time follows the maximum, not the mean.",
            zh="all-to-all 在最满的接收者完成时才结束；时间取决于最大值而非平均值。",
        ),
        shows=Text(
            en="All-to-all time varies from layer to layer and batch to batch with a clean network; some ranks receive several times the bytes.",
            zh="网络正常而 all-to-all 时间随层与批次变化；部分 rank 接收的字节为数倍。",
        ),
        sources=(
            "GShard and Switch Transformer papers (capacity factor, balancing loss)",
            "DeepSeek EPLB",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ecmp-collision", because=Text(en="there the bytes are even and the paths are not", zh="彼处字节均匀，路径不均")
        ),
        LookAlike(
            cause="straggler-slow-node",
            because=Text(en="there the same node is slow with any routing", zh="彼处无论路由如何同一节点都慢"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Balance experts: balancing loss or bias, capacity factor, redundant copies of hot experts, placement by load",
                zh="均衡专家：均衡损失或偏置、容量因子、热专家冗余副本、按负载放置",
            )
        ),
    ),
    checks=(Check(what=Text(en="The ratio of maximum to mean tokens nears one", zh="最大与平均 token 之比接近 1")),),
    gain=Text(
        en="Down to the mean load: the ratio of maximum to mean of the expert part",
        zh="降至平均负载：专家部分可按最大与平均之比缩短",
    ),
    severity="medium",
)
