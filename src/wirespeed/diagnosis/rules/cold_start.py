"""The first requests wait for a model to load, code to compile or a replica to start."""

from itertools import pairwise

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import HttpTiming, ServedRequest, ServingMetric
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

TIMES_SLOWER = 5.0
PAUSE_S, PAUSED_TIMES = 60.0, 3.0
"""Servers unload a model after minutes; what ends after a pause like that and takes thrice as long as the next has waited for the load."""
LEAST_S = 1.0
LONG_PULL_S = 30.0
LONG_START_S = 10.0
_START_TIMES = frozenset({"load_s", "compile_s", "start_s"})


def _first_is_slow(case: Case) -> list[HttpTiming]:
    timings = [one for one in case.every(HttpTiming) if one.total_s]
    if len(timings) < 3 or len({one.url for one in timings}) > 1:
        return []
    rest = sorted(one.total_s or 0.0 for one in timings[1:])
    typical_s = rest[len(rest) // 2]
    first_s = timings[0].total_s or 0.0
    return [timings[0], timings[1]] if first_s >= LEAST_S and first_s >= TIMES_SLOWER * typical_s else []


def _slow_after_pauses(case: Case) -> list[ServedRequest]:
    """Requests for one path of which those after a pause take several times as long as those that follow soon."""
    by_path: dict[tuple[str, str], list[ServedRequest]] = {}
    for one in case.every(ServedRequest, lambda one: one.status_code < 400):
        by_path.setdefault((one.method, one.path), []).append(one)
    for served in by_path.values():
        served.sort(key=lambda one: one.ended_s)
        pauses_s = [after.ended_s - after.duration_s - before.ended_s for before, after in pairwise(served)]
        rested = [one for one, pause_s in zip(served[1:], pauses_s, strict=True) if pause_s >= PAUSE_S]
        soon = [one for one, pause_s in zip(served[1:], pauses_s, strict=True) if pause_s < PAUSE_S]
        if not rested or len(soon) < 2:
            continue
        usual_s = max(one.duration_s for one in soon)
        least_s = min(one.duration_s for one in rested)
        if least_s >= LEAST_S and least_s >= PAUSED_TIMES * usual_s:
            return [rested[0], soon[0], *rested[1:]]
    return []


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    slow_first = _first_is_slow(case)
    rested = _slow_after_pauses(case)
    evidence += piece(
        _RESTED,
        STRONG + FAIR,
        rested,
        rested_s=rested[0].duration_s if rested else None,
        soon_s=rested[1].duration_s if rested else None,
    )
    evidence += piece(_FIRST, STRONG, slow_first)
    evidence += piece(_FIRST_SAID, FAIR if slow_first else STRONG, case.said("first-is-slow"))
    if evidence:
        evidence += piece(_LATER, FAIR, () if slow_first else case.said("later-is-fast"))
        evidence += piece(_LOADS, FAIR, case.said("loads-or-compiles"))
        evidence += piece(
            _TOOK, SLIGHT, case.every(ServingMetric, lambda one: one.name in _START_TIMES and one.value >= LONG_START_S)
        )
        evidence += piece(_PULLED, SLIGHT, case.every(ClusterEvent, lambda one: (one.took_s or 0.0) >= LONG_PULL_S))
    else:
        evidence += piece(_LOADS, ALONE, case.said("loads-or-compiles"))
    if len(case.every(HttpTiming)) >= 3 and not slow_first:
        evidence += against(_EVEN, FAIR, case.every(HttpTiming))
    evidence += against(_STORAGE, FAIR, case.said("storage-is-limit") if not slow_first else ())
    evidence += against(_WARM_UP, STRONG, case.said("warm-up-counted") if not slow_first else ())
    evidence += against(_LAST, FAIR, case.said("few-left-hanging"))
    return Verdict(evidence=tuple(evidence))


_WARM_UP = Text(en="a benchmark without warm-up measured its own first call", zh="未预热的基准测试测到了自身首次调用")
_RESTED = Text(
    en="after a pause a request takes {rested_s}, one that follows soon {soon_s}",
    zh="停顿之后的请求耗时 {rested_s}，紧随其后的为 {soon_s}",
)
_FIRST = Text(en="the first request is several times slower than the following ones", zh="首个请求比后续慢数倍")
_FIRST_SAID = Text(en="first requests are slow and later ones fast", zh="首批请求慢，之后快")
_LATER = Text(en="the requests after it are fast", zh="之后的请求很快")
_LOADS = Text(en="a model is loaded, code compiled or a replica started then", zh="此时在加载模型、编译代码或启动副本")
_TOOK = Text(en="loading, compiling or starting took tens of seconds", zh="加载、编译或启动用了数十秒")
_PULLED = Text(en="a replica first had to pull its image", zh="副本先要拉取镜像")
_EVEN = Text(en="the first request is as fast as the others", zh="首个请求与其他一样快")
_STORAGE = Text(en="the storage that is loaded from is slow", zh="加载所用的存储缓慢")
_LAST = Text(en="it is the end that is slow, not the beginning", zh="慢的是末尾而不是开头")

RULE = Rule(
    cause="cold-start",
    title=Text(en="The first requests wait for a cold start", zh="首批请求在等冷启动"),
    summary=Text(
        en="Weights are loaded, kernels compiled or replicas started when the first request comes; later ones are fast.",
        zh="首个请求到来时才加载权重、编译内核或启动副本；之后就快。",
    ),
    needs=((HttpTiming,), (ServedRequest,), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="140 GB of weights take 140 s at 1 GB/s; graph capture and compilation add tens of seconds; unloading after some idle minutes repeats it.",
            zh="140 GB 权重在 1 GB/s 下需 140 s；图捕获与编译再加数十秒；空闲数分钟后卸载又要重来。",
        ),
        shows=Text(
            en="Only the first request after a start or a pause is slow, by about the same time each time.",
            zh="仅启动或停顿后的首个请求慢，且每次慢的时间相近。",
        ),
        sources=("Ollama FAQ: keep_alive 5 min", "KServe / Knative scale to zero", "vLLM: CUDA graphs and torch.compile"),
    ),
    told_apart_from=(
        LookAlike(
            cause="firewall-idle-timeout",
            because=Text(
                en="there the request hangs or fails after a pause instead of being slow",
                zh="那里停顿后的请求挂起或失败，而不是变慢",
            ),
        ),
        LookAlike(
            cause="dns-slow",
            because=Text(en="a slow name costs 5 s, loading a model tens of seconds", zh="解析慢是 5 s，加载模型是数十秒"),
        ),
        LookAlike(
            cause="storage-bound",
            because=Text(
                en="if loading itself is slow, storage or its network is the next question",
                zh="若加载本身很慢，下一步查存储或其网络",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Warm up before taking traffic, keep the model loaded, keep one replica",
                zh="接流量前预热、保持模型加载、至少保留一个副本",
            ),
            commands=("OLLAMA_KEEP_ALIVE=-1", "minReplicas: 1", "readinessProbe on a real completion"),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="The first request after a start is as fast as the tenth", zh="启动后的首个请求与第十个一样快")),),
    gain=Text(en="Removes the slow first requests", zh="消除缓慢的首批请求"),
    severity="low",
    explains=("gateway-timeout-too-short", "storage-bound"),
)
