"""The tokens a second of one request are what reading the weights from memory allows."""

import re

from wirespeed.diagnosis.joins.failures import failures
from wirespeed.diagnosis.joins.pieces import against, lines_of, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text
from wirespeed.theory import decoding

MEMORY_BYTES_PER_S = {
    "dgx spark": 273e9, "gb10": 273e9, "jetson": 205e9, "strix halo": 256e9, "ryzen ai max": 256e9, "m4 max": 546e9, "m3 max": 400e9,
    "m2 ultra": 800e9, "m3 ultra": 819e9, "m1 max": 400e9, "mac mini": 120e9, "3060": 360e9, "4060 ti": 288e9, "4070": 504e9,
    "4080": 717e9, "3090": 936e9, "4090": 1008e9, "5090": 1792e9, "p40": 347e9, "t4": 320e9, "l4": 300e9, "l40s": 864e9, "l40": 864e9,
    "a10g": 600e9, "a10": 600e9, "a40": 696e9, "a6000": 768e9, "v100": 900e9, "a100": 2039e9, "h100": 3350e9, "h200": 4800e9,
    "b200": 8000e9, "mi300x": 5300e9, "mi250": 3276e9,
}  # fmt: skip
"""Memory bandwidth from the makers' data sheets (largest variant of each name)."""
_MODEL = re.compile(
    r"(?i)(?<![\w.])(?:(?P<experts>\d+)x)?(?P<billions>\d{1,4}(?:\.\d)?)\s?B\b(?:-?A(?P<active>\d{1,3}(?:\.\d)?)B)?(?!/s| ?per| ?bytes)"
)
_BITS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"(?i)\b(?:q4\w*|int4|4[- ]?bit|awq|gptq|nf4|w4a16|fp4|nvfp4|mxfp4|iq4\w*)\b"), 4.5),
    (re.compile(r"(?i)\b(?:q5\w*|q6\w*)\b"), 6.0),
    (re.compile(r"(?i)\b(?:q8\w*|int8|fp8|8[- ]?bit|w8a8)\b"), 8.0),
    (re.compile(r"(?i)\b(?:fp32|float32|f32|full precision|32[- ]?bit)\b"), 32.0),
    (re.compile(r"(?i)\b(?:bf16|fp16|f16|half precision|16[- ]?bit|unquanti[sz]ed)\b"), 16.0),
)
_DEVICES = re.compile(
    r"(?i)\b(?P<count>[2-9]|16|two|three|four|eight)\s?(?:[x×]\s?|nodes?\b|machines?\b|(?:\w+ )?(?:gpus?|cards?|sparks?|boxes)\b|(?=(?:dgx|mac|rtx|a100|h100)\b))"
    r"|(?:tensor[- ]parallel(?:[- ]size)?|\btp)\s?=?\s?(?P<split>[2-9]|16)\b"
)
_TOUCHED = r"(?:weights?|bytes|data|traffic|memory|read|touched|moved)\b[^.;]{0,24}\b(?:per|each|every|a) (?:token|step)\W{0,3}(?:roughly |about |around |is |of )*$"
_OF_WEIGHTS = re.compile(r"(?i)^\s?(?:of |for )?(?:the )?(?:model )?weights?\b")
_WEIGHTS_ARE = r"(?:weights?|model size|checkpoint|parameters)\b\W{0,3}(?:are |is |take |takes |of |about |in memory )*$"
_COUNTS = {"two": 2, "three": 3, "four": 4, "eight": 8}
_MEMORY = re.compile(r"(?i)read kernel|stream triad|memcpy|bandwidth test|lpddr|ddr[45]|hbm|gddr|memory|vram|\bram\b")
_PLAIN_MEMORY = re.compile(r"(?i)\b(?:" + "|".join(sorted(map(re.escape, MEMORY_BYTES_PER_S), key=len, reverse=True)) + r")\b")
MOST_LINES = 400


def _lines(case: Case) -> list[str]:
    """What was written, where numbers or words of it were read: the head of each input and every quoted line."""
    heads = [line for text in case.texts.values() for line in text.split("\n")[:MOST_LINES]]
    return [*heads, *lines_of([*case.every(Quantity), *case.every(Statement)]), case.question]


def _touched(case: Case) -> float | None:
    """Bytes a token reads, as somebody counted them; of a range its middle."""
    told = [one for one in quantities(case, "size", _TOUCHED) if 1e8 <= one.value <= 1e13]
    return sum(one.value for one in told[:2]) / len(told[:2]) if told else _weights_told(case)


def _weights_told(case: Case) -> float | None:
    """The size of the weights where it is told, such as `32 GB of weights`."""
    sizes = [one for one in quantities(case, "size") if 1e8 <= one.value <= 1e13]
    told = [one for one in sizes if re.search(_WEIGHTS_ARE, one.subject) or _OF_WEIGHTS.match(_behind(one))]
    return max((one.value for one in told), default=None)


def _behind(one: Quantity) -> str:
    """What follows the number on its line."""
    return one.quotes[0].text.partition(one.printed)[2] if one.quotes else ""


def _weights(lines: list[str]) -> float | None:
    """Bytes of weights a token reads, of the largest model named; 16 bits where no precision is."""
    models = [found for line in lines for found in _MODEL.finditer(line)]
    read = [
        float(found["active"] or found["billions"]) for found in models if not found["experts"] and float(found["billions"]) > 0
    ]
    if not read or max(read) <= 0:
        return None
    bits = next((number for shape, number in _BITS if any(shape.search(line) for line in lines)), 16.0)
    return decoding.weights_bytes(1e9 * max(read), bits)


def _memory(case: Case, lines: list[str]) -> tuple[float, tuple[Record, ...]] | None:
    """Bytes a second of one device's memory: as said beside a kind of memory, or by the device's name."""
    said = [
        one
        for one in quantities(case, "rate")
        if one.value > 0 and "B" in one.printed and any(_MEMORY.search(each.text) for each in one.quotes)
    ]
    if said:
        return said[0].value / 8.0, (said[0],)
    named = next((found[0].lower() for line in lines if (found := _PLAIN_MEMORY.search(line))), None)
    return None if named is None else (MEMORY_BYTES_PER_S[named], ())


def _devices_count(lines: list[str]) -> int:
    counts = [found["count"] or found["split"] for line in lines for found in _DEVICES.finditer(line)]
    return max((_COUNTS.get(count.lower()) or int(count) for count in counts), default=1)


def _rates(case: Case) -> list[tuple[Record, float, str]]:
    """Tokens a second as people and servers give them: of a server only while it runs one request."""
    told: list[tuple[Record, float, str]] = [
        (one, one.value, one.printed) for one in quantities(case, "tokens_per_s") if one.value > 0
    ]
    alone = {one.quotes for one in case.every(ServingMetric, lambda one: one.name == "running_count" and one.value == 1)}
    seen = case.every(ServingMetric, lambda one: one.name == "output_tokens_per_s" and one.quotes in alone and one.value > 0)
    return [*((one, one.value, f"{one.value:g} tokens/s") for one in seen), *told]


def _judge(case: Case) -> Verdict:
    lines = _lines(case)
    weights, memory, rates = _touched(case) or _weights(lines), _memory(case, lines), _rates(case)
    evidence: list[Evidence] = []
    if weights and memory and rates:
        count = _devices_count(lines)
        bounds = [decoding.most_tokens_per_s(weights, memory[0], devices) for devices in {1, count}]
        match = next(((rate, bound) for rate in rates for bound in bounds if decoding.is_bound_by_memory(rate[1], bound)), None)
        if match:
            numbers: dict[str, Value] = {"weights_bytes": weights, "memory_bytes_per_s": memory[0], "bound_text": f"{match[1]:.3g}"}
            evidence.append(supports(_BOUND, STRONG, match[0][0], *memory[1], **numbers, seen_text=match[0][2]))
            evidence += piece(_EXPECTS, FAIR, case.said("expects-more", "blames-network"))
            evidence += piece(_BATCH, SLIGHT, case.said("batching-is-free"))
        elif all(rate[1] < decoding.ATTAINABLE_RATIO[0] * min(bounds) for rate in rates):
            evidence.append(contradicts(_BELOW, FAIR, rates[0][0], bound_text=f"{min(bounds):.3g}"))
    evidence += against(_FAILED, STRONG, failures(case))
    return Verdict(evidence=tuple(evidence))


_BOUND = Text(
    en="reading {weights_bytes} of weights for each token at {memory_bytes_per_s} a device allows about {bound_text} tokens/s; {seen_text} was seen",
    zh="每个词元读取 {weights_bytes} 权重，单设备内存 {memory_bytes_per_s}，约可达 {bound_text} token/s；实测 {seen_text}",
)
_BELOW = Text(en="memory bandwidth would allow about {bound_text} tokens/s", zh="内存带宽本可达约 {bound_text} token/s")
_EXPECTS = Text(en="more was expected, or the network is suspected", zh="期望更高，或怀疑网络")
_BATCH = Text(en="several requests at once take hardly longer than one", zh="多个请求同时进行几乎不比一个慢")
_FAILED = Text(en="a program fails", zh="有程序失败")

RULE = Rule(
    cause="no-fault-hardware-limit",
    title=Text(en="Decoding is as fast as the memory can read the weights", zh="解码速度已达内存读取权重的上限"),
    summary=Text(
        en="Each token of a request reads all weights once; memory bandwidth, not the network, sets this rate.",
        zh="每个词元都要读取一遍全部权重；决定该速率的是内存带宽而非网络。",
    ),
    needs=(
        (wants(Quantity, lambda one: one.dimension == "tokens_per_s"), Statement),
        (wants(ServingMetric, lambda one: one.name == "output_tokens_per_s"), Quantity),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="tokens/s of one sequence = devices x memory bandwidth / bytes of weights: 140 GB of bf16 weights on two machines of 273 GB/s give 3.9.",
            zh="单序列 token/s = 设备数 × 内存带宽 / 权重字节数：140 GB 的 bf16 权重在两台 273 GB/s 机器上为 3.9。",
        ),
        shows=Text(
            en="Few tokens a second for one request, nearly the same for each of several at once; fewer bits a weight speed it up.",
            zh="单请求每秒词元很少，多个并发时各自几乎相同；减少每权重比特数可提速。",
        ),
        sources=("NVIDIA data sheets (memory bandwidth)", "Pope et al. 2022, Efficiently Scaling Transformer Inference, section 2"),
    ),
    told_apart_from=(
        LookAlike(
            cause="cross-node-tp",
            because=Text(en="there the rate is far below what the memory allows", zh="那里速率远低于内存所允许的"),
        ),
        LookAlike(cause="server-saturated", because=Text(en="there many requests share the rate", zh="那里多个请求分摊速率")),
    ),
    changes=(
        Change(
            what=Text(
                en="Quantise the weights (fp8, 4 bits), take a smaller or sparser model, or decode speculatively",
                zh="量化权重（fp8、4 位）、改用更小或更稀疏的模型，或使用推测解码",
            ),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="Half the bytes a weight give nearly twice the tokens a second", zh="权重字节减半，速率近乎翻倍")),),
    gain=Text(en="None from the network; up to twice from half the bits", zh="网络上无收益；比特减半最多快一倍"),
    severity="info",
    explains=("cross-node-tp", "gdr-disabled", "small-message-latency-bound"),
)
