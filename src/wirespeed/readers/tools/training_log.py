"""Step times and throughput in training logs: the forms of the common trainers.

Known forms: PyTorch ImageNet example, torchvision's references (also DETR, MAE, DINO), timm, open_clip, PySlowFast, mmcv, mmengine and detectron2 (`time`, `data_time`), Megatron-LM, NeMo, DeepSpeed, nanotron,
MaxText, Hugging Face Trainer (progress bar and end of run), Lightning, torchtitan, torchtune, nanoGPT, llm.c, tf_cnn_benchmarks, and plain
`step N, X examples/sec`. A progress bar gives a moving mean; one that counts bytes, or names what it does, is none of a training loop.
"""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import TrainingStep
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "training-log"
_N = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_UNIT = r"(?:samples?|examples?|images?|sequences?|tok(?:en)?s?)(?:/s(?:ec(?:ond)?)?| per second)"

_FORMS: tuple[tuple[str, str], ...] = (
    (
        "ImageNet",
        rf"Epoch:? \[\d+\]\[\s*(?P<step>\d+)/\d+\]\s+Time\s+(?P<s>{_N}) \(\s*(?P<mean_s>{_N})\)"
        rf"(?:\s+Data\s+(?P<data_s>{_N}) \(\s*(?P<data_mean_s>{_N})\))?",
    ),
    (
        "ImageNet, without its epoch",
        rf"\bTime\s+(?P<s>{_N}) \(\s*(?P<mean_s>{_N})\)\s+Data\s+(?P<data_s>{_N}) \(\s*(?P<data_mean_s>{_N})\)",
    ),
    (
        "timm",
        rf"Train: \d+ \[\s*(?P<step>\d+)/\d+.*\bTime: (?P<s>{_N})s,\s+(?P<rate>{_N})/s\s+\((?P<mean_s>{_N})s,"
        rf"(?:.*\bData: (?P<data_s>{_N}) \((?P<data_mean_s>{_N})\))?",
    ),
    (
        "open_clip",
        rf"Train Epoch: \d+ \[\s*(?P<step>\d+)/\d+.*\bData \(t\): (?P<data_s>{_N}) Batch \(t\): (?P<s>{_N})(?:, (?P<rate>{_N})/s)?",
    ),
    (
        "torchvision's references and their copies",
        rf"\bEpoch: \[\d+(?:/\d+)?\]\s+\[\s*(?P<step>\d+)/\d+\]\s+eta: \S.*\btime: (?P<s>{_N})\s+data: (?P<data_s>{_N})",
    ),
    ("PySlowFast", rf"\bjson_stats: \{{(?=.*\"dt\": (?P<s>{_N}))(?=.*\"dt_data\": (?P<data_s>{_N}))"),
    (
        "mmengine",
        rf"\[\d+\]\[\s*(?P<step>\d+)/\d+\]\s.*\btime: (?P<s>{_N}),?\s+data_time: (?P<data_s>{_N})",
    ),
    ("detectron2", rf"\biter: (?P<step>\d+)\s.*\btime: (?P<s>{_N})\s.*\bdata_time: (?P<data_s>{_N})"),
    (
        "Megatron-LM",
        rf"\biteration\s+(?P<step>\d+)/\s*\d+ \|.*elapsed time per iteration \(ms\): (?P<ms>{_N})(?:/(?P<mean_ms>{_N}))?"
        rf"(?:.*throughput per GPU \(TFLOP/s/GPU\): (?P<tflops>{_N}))?(?:.*samples per second: (?P<rate>{_N}))?",
    ),
    ("NeMo", rf"\bglobal_step[:=] ?(?P<step>\d+)(?:\.0+)?\b.*\btrain_step_timing in s[:=] ?(?P<s>{_N})"),
    (
        "nanotron",
        rf"\biteration: (?P<step>\d+) / \d+ \|.*elapsed_time_per_iteration_ms: (?P<ms>{_N})(?:.*hardware_tflops_per_gpu: (?P<tflops>{_N}))?",
    ),
    (
        "MaxText",
        rf"\bcompleted step: (?P<step>\d+), seconds: (?P<s>{_N})(?:, TFLOP/s/device: (?P<tflops>{_N}))?(?:, Tokens/s/device: (?P<rate>{_N}))?",
    ),
    ("torchtune", rf"\bStep (?P<step>\d+) \| loss:.*\btokens_per_second_per_gpu:(?P<rate>{_N})"),
    ("DeepSpeed timer", rf"\bglobal_step=(?P<step>\d+), RunningAvgSamplesPerSec={_N}, CurrSamplesPerSec=(?P<rate>{_N})"),
    ("DeepSpeed engine", rf"\bsteps: (?P<step>\d+) loss: \S+ iter time \(s\): (?P<s>{_N})(?: samples/sec: (?P<rate>{_N}))?"),
    ("DeepSpeed, shortened", rf"\bSamplesPerSec=(?P<rate>{_N})"),
    (
        "Hugging Face, end of run",
        rf"'train_samples_per_second': '?(?P<rate>{_N})'?,.*'train_steps_per_second': '?(?P<steps_per_s>{_N})",
    ),
    ("torchtitan", rf"\bstep:\s+(?P<step>\d+)\s+loss:.*\b(?:tps|wps): (?P<rate>{_N})(?:.*\btflops: (?P<tflops>{_N}))?"),
    (
        "progress bar",
        rf"^(?:\s*|.*\b(?:[Ee]poch|[Tt]rain|[Ss]teps?)[\w :/\[\]]{{0,24}}:\s*)\d{{1,3}}%\|[^|]{{0,200}}\| ?(?P<step>\d+)/\d+ \[[^\]]{{0,60}}?, +"
        rf"(?:(?P<mean_s>{_N})s/it|(?P<its_per_s>{_N})it/s)",
    ),
    ("nanoGPT", rf"\biter (?P<step>\d+): loss \S+, time (?P<ms>{_N})ms"),
    ("llm.c", rf"\bstep\s+(?P<step>\d+)/\d+ \|.*\| (?P<ms>{_N}) ms \|(?:.*\| (?P<rate>{_N}) tok/s)?"),
    ("build-nanogpt", rf"\bstep\s+(?P<step>\d+) \|.*\bdt: (?P<ms>{_N})ms \|.*tok/sec: (?P<rate>{_N})"),
    ("tf_cnn_benchmarks", rf"^(?P<step>\d+)\s+images/sec: (?P<rate>{_N})"),
    ("plain", rf"(?i)\b(?:step|iter(?:ation)?)s?\s*[:=]?\s*(?P<step>\d+)\b(?:/\d+)?[^\d].*?(?<![\w.])(?P<rate>{_N})\s*{_UNIT}\b"),
    (
        "plain, by time",
        rf"(?i)\b(?:step|iter(?:ation)?)\s*[:=]?\s*(?P<step>\d+)\b.*?\b(?:step"
        rf"|iter(?:ation)?)[ _]time\s*[:=]?\s*(?P<s>{_N}) ?s(?:ec)?\b",
    ),
)
_PATTERNS = tuple(regex(pattern) for _, pattern in _FORMS)
_HINT = regex(
    r"[Tt]im(?:e|ing)|dt_data|Batch \(t\)|s/it\b|seconds: |/s\b|/sec|per second|SamplesPerSec|samples_per_second|tokens_per_second|tps:|wps:|dt:| ms \|"
)
"""One of these is in every form; lines without any are not looked at further."""
_RANK = regex(r"\[(?:default|rank)(?P<rank>\d+)\]")
_MS_PER_SECOND = 1000.0
_MOST_LOOKED_AT_CHARACTERS = 1_000
_MOST_OVERWRITTEN = 200
_FLOPS_PER_TFLOP = 1e12


def _read(lines: Lines) -> Iterator[Record | Problem]:
    steps = 0
    form: re.Pattern[str] | None = None
    for index, line in lines:
        for part in _parts(line):
            found = _find(part, form)
            if found is not None:
                form = found.re
                yield _step(lines, index, line, found.groupdict(), steps)
                steps += 1


def _parts(line: str) -> list[str]:
    """What a progress bar wrote over again and again on one line, or the line."""
    return line.split("\r")[-_MOST_OVERWRITTEN:] if "\r" in line else [line]


def _find(line: str, likely: re.Pattern[str] | None = None) -> re.Match[str] | None:
    """The first form that fits; the form of the step before goes first, since a program keeps to its own."""
    looked_at = line[:_MOST_LOOKED_AT_CHARACTERS]
    if likely is not None and (found := likely.search(looked_at)):
        return found
    if not _HINT.search(looked_at):
        return None
    return next((found for pattern in _PATTERNS if (found := pattern.search(looked_at))), None)


def _step(lines: Lines, index: int, line: str, parts: dict[str, str | None], seen_before: int) -> TrainingStep:
    """A step; one whose form prints no number is numbered by its place in the text."""
    milliseconds, mean_ms = _number(parts, "ms"), _number(parts, "mean_ms")
    steps_per_s, tflops = _number(parts, "steps_per_s") or _number(parts, "its_per_s"), _number(parts, "tflops")
    rank = _RANK.search(line)
    return TrainingStep(
        source=source(lines, _TOOL),
        quotes=(quote(lines, index, line),),
        step_index=int(parts.get("step") or seen_before),
        step_s=milliseconds / _MS_PER_SECOND if milliseconds is not None else _number(parts, "s"),
        step_mean_s=1.0 / steps_per_s
        if steps_per_s
        else mean_ms / _MS_PER_SECOND
        if mean_ms is not None
        else _number(parts, "mean_s"),
        data_s=_number(parts, "data_s"),
        data_mean_s=_number(parts, "data_mean_s"),
        throughput_per_s=_number(parts, "rate"),
        flops_per_s=tflops * _FLOPS_PER_TFLOP if tflops is not None else None,
        rank=int(rank["rank"]) if rank else None,
    )


def _number(parts: dict[str, str | None], name: str) -> float | None:
    printed = parts.get(name)
    try:
        return None if printed is None else float(printed.replace(",", ""))
    except ValueError:
        return None


READER = Reader(
    title=Text(en="training log", zh="训练日志"),
    gives=(TrainingStep,),
    recognises=marked(*_PATTERNS, confirmed=lambda sample: any(_find(line) is not None for line in sample.split("\n"))),
    read=_read,
)
