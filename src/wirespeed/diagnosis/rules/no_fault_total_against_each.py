"""The total rate of all requests is compared with the time of one."""

from wirespeed.diagnosis.joins.pieces import ALONE, MOST_COMPARED, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text
from wirespeed.theory import requests

SEVERAL_COUNT = 2.0
SHARED_RATIO = (0.6, 1.6)


def _judge(case: Case) -> Verdict:
    asked = case.said("total-against-each")
    pair = _total_and_each(case)
    evidence: list[Evidence] = []
    if pair:
        total, each, in_flight = pair
        numbers: dict[str, Value] = {"total_per_s": total.value, "each_s": each.value, "in_flight_text": f"{in_flight:.0f}"}
        evidence += piece(_NUMBERS, STRONG if asked else SLIGHT, [total, each], **numbers)
        evidence += piece(_ASKED, FAIR, asked)
    elif (shared := _shared(case)) is not None:
        evidence.append(
            supports(
                _SHARED,
                STRONG,
                *shared[:3],
                total_per_s=shared[0].value,
                each_text=shared[2].printed,
                in_flight_text=f"{shared[1].value:.0f}",
            )
        )
        evidence += piece(_ASKED, FAIR, asked)
    else:
        evidence += piece(_ASKED, ALONE, asked)
    if asked:
        evidence += piece(_EXPECTS, FAIR, case.said("expects-more"))
    return Verdict(evidence=tuple(evidence))


def _total_and_each(case: Case) -> tuple[ServingMetric | Quantity, ServingMetric | Quantity, float] | None:
    """A total rate of tokens and a time per token that together mean several requests in flight."""
    totals: list[ServingMetric | Quantity] = [*case.every(ServingMetric, name="output_tokens_per_s")]
    each: list[ServingMetric | Quantity] = [*case.every(ServingMetric, lambda one: one.name in ("tpot_s", "itl_s"))]
    totals = totals or list(quantities(case, "tokens_per_s"))
    each = each or list(quantities(case, "time", r"per (?:output )?token|tpot|itl|inter-token"))
    pairs = [(total, one, requests.in_flight_count(total.value, one.value)) for total in totals[:MOST_COMPARED] for one in each[:9]]
    return next((one for one in pairs if one[2] >= SEVERAL_COUNT), None)


def _shared(case: Case) -> tuple[ServingMetric, ServingMetric, Quantity] | None:
    """A total rate that is the running requests times the rate that one of them sees."""
    running = [one for one in case.every(ServingMetric, name="running_count") if one.value >= SEVERAL_COUNT]
    logged = {quote for one in case.every(ServingMetric) for quote in one.quotes}
    told = [one for one in quantities(case, "tokens_per_s") if not logged.intersection(one.quotes)]
    for total in case.every(ServingMetric, name="output_tokens_per_s")[:MOST_COMPARED]:
        for each in told[:MOST_COMPARED]:
            for count in running[:9]:
                if SHARED_RATIO[0] <= each.value * count.value / max(total.value, 1e-9) <= SHARED_RATIO[1]:
                    return total, count, each
    return None


_SHARED = Text(
    en="{total_per_s} tokens/s in total over {in_flight_text} running requests are the {each_text} that one sees",
    zh="合计 {total_per_s} token/s 由 {in_flight_text} 个运行中的请求分摊，即单个所见的 {each_text}",
)
_NUMBERS = Text(
    en="{total_per_s} tokens/s in total and {each_s} per token of one request mean some {in_flight_text} requests at a time",
    zh="合计 {total_per_s} token/s，单请求每词元 {each_s}，即同时约有 {in_flight_text} 个请求",
)
_ASKED = Text(en="a total and a figure of one request are set against each other", zh="把总量与单个请求的数字相互对照")
_EXPECTS = Text(en="another number was expected", zh="期望的是另一个数字")


def _is_rate(one: Record) -> bool:
    return isinstance(one, ServingMetric) and one.name == "output_tokens_per_s"


RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="Total throughput and time of one request are different measures", zh="总吞吐与单请求耗时是两种度量"),
    summary=Text(
        en="Throughput adds all requests in flight, time per token is that of one; their product is the number in flight.",
        zh="吞吐是所有在途请求之和，每词元时间属于单个请求；二者之积即在途请求数。",
    ),
    needs=(
        (wants(ServingMetric, _is_rate),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Little's law: requests in flight = tokens/s of all x seconds per token of one.",
            zh="利特尔法则：在途请求数 = 全体 token/s × 单请求每词元秒数。",
        ),
        shows=Text(
            en="529 tokens/s beside 108 ms per token: 57 requests at a time, each with 9 tokens/s; nothing is lost between.",
            zh="529 token/s 与每词元 108 ms 并存：同时 57 个请求，每个 9 token/s；中间并无损失。",
        ),
        sources=("Little 1961, A Proof for the Queuing Formula L = λW", "vllm benchmarks: output throughput, TPOT"),
    ),
    told_apart_from=(
        LookAlike(
            cause="client-bound-benchmark",
            because=Text(en="there two tools give different numbers of one measure", zh="那里两个工具对同一度量给出不同数字"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Compare like with like: tokens/s of one request is 1 / time per token",
                zh="同类相比：单请求 token/s = 1 / 每词元时间",
            )
        ),
    ),
    checks=(Check(what=Text(en="With one request at a time the two agree", zh="每次只发一个请求时两者一致")),),
    gain=Text(en="None: nothing is slow", zh="无：没有变慢"),
    severity="info",
)
