"""Gradients travel in fp32 although training is mixed precision: twice the bytes."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Command, Quantity, Setting, Statement
from wirespeed.model.text import Text
from wirespeed.theory.collectives_cost import gradient_bytes

_WIDE = re.compile(r"(?i)\b(?:torch\.)?(?:fp32|float32|float)\b")
_REDUCES = re.compile(
    r"(?i)communication_data_type|reduce_dtype|grad_reduce|allreduce[-_].*fp32|accumulate[-_]allreduce[-_]grads[-_]in[-_]fp32|reduce[-_]in[-_]fp32"
)
_FP32_BYTES = 4
_TOLERANCE_RATIO = 0.1


def _judge(case: Case) -> Verdict:
    set_wide = (
        *case.every(
            Setting,
            lambda one: (
                _REDUCES.search(one.name) is not None and bool(_WIDE.search(one.setting) or one.setting.lower().startswith("true"))
            ),
        ),
        *case.every(CodeCall, lambda one: re.search(r"reduce_dtype\s*=\s*torch\.float(?:32)?\b", one.arguments) is not None),
        *case.every(Command, lambda one: any(_REDUCES.search(argument) for argument in one.arguments)),
    )
    said = case.said("gradients-in-fp32")
    mixed = case.said("mixed-precision")
    evidence = (
        *piece(_SET, STRONG, set_wide),
        *piece(_SAID, FAIR + 0.5, said),
        *piece(_MIXED, SLIGHT, mixed if said or set_wide else ()),
        *piece(_BYTES, FAIR, _four_bytes_a_parameter(case)),
    )
    return Verdict(evidence=evidence)


def _four_bytes_a_parameter(case: Case) -> tuple[Record, ...]:
    """A volume near four bytes for each parameter of a stated model size, beside talk of mixed precision."""
    if not case.said("mixed-precision"):
        return ()
    counts = [_parameters(one.quotes[0].text) for one in (*case.every(Quantity), *case.every(Statement)) if one.quotes]
    parameters = next((count for count in counts if count), None)
    if parameters is None:
        return ()
    wanted_bytes = gradient_bytes(parameters, _FP32_BYTES)
    return case.every(
        Quantity,
        lambda one: (
            one.dimension == "size"
            and abs(one.value - wanted_bytes) <= _TOLERANCE_RATIO * wanted_bytes
            and "grad" in one.quotes[0].text.lower()
        ),
    )


def _parameters(text: str) -> int | None:
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?) ?(?:B|billion)(?: ?-?param\w*|\b(?= model))", text)
    return round(float(found[1]) * 1e9) if found else None


_SET = Text(en="the reduction of gradients is set to fp32", zh="梯度归约被设置为 fp32")
_SAID = Text(en="gradients are exchanged in fp32", zh="梯度以 fp32 交换")
_MIXED = Text(en="training itself is in 16 bits", zh="训练本身为 16 位")
_BYTES = Text(en="the volume is four bytes for each parameter", zh="传输量为每参数四字节")

RULE = Rule(
    cause="fp32-gradients",
    title=Text(en="Gradients travel in fp32", zh="梯度以 fp32 传输"),
    summary=Text(
        en="Mixed-precision training exchanges its gradients in 4 bytes, twice of what bf16 needs.",
        zh="混合精度训练以 4 字节交换梯度，是 bf16 的两倍。",
    ),
    needs=(
        (wants(Setting, lambda one: _REDUCES.search(one.name) is not None),),
        (wants(CodeCall, lambda one: "reduce_dtype" in one.arguments),),
        (wants(Command, lambda one: any(_REDUCES.search(argument) for argument in one.arguments)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Bytes of a step = parameters x bytes per element x 2(n-1)/n; halving the element halves the time where the link is the limit.",
            zh="每步字节 = 参数量 x 每元素字节 x 2(n-1)/n；链路受限时元素减半则时间减半。",
        ),
        shows=Text(
            en="NCCL calls on Float where weights are bf16; volume is 4 bytes a parameter.",
            zh="权重为 bf16 而 NCCL 调用为 Float；传输量为每参数 4 字节。",
        ),
        sources=(
            "DeepSpeed configuration: communication_data_type",
            "Megatron-LM: --accumulate-allreduce-grads-in-fp32",
            "PyTorch FSDP: MixedPrecision.reduce_dtype",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="bandwidth-insufficient",
            because=Text(en="there 16-bit gradients already fill the link", zh="彼处 16 位梯度已占满链路"),
        ),
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="there the layout and not the type makes the volume", zh="彼处是布局而非类型造成传输量"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Reduce in bf16 where convergence allows, or compress gradients", zh="在收敛允许时以 bf16 归约，或压缩梯度"
            ),
            commands=(
                "model.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)",
            ),
        ),
    ),
    checks=(Check(what=Text(en="The loss curve is the same and bytes a step are half", zh="损失曲线一致且每步字节减半")),),
    gain=Text(en="Half of the gradient exchange time", zh="梯度交换时间减半"),
    severity="low",
)
