"""Versions of what matters to the network, as people and version lists write them: `NCCL 2.18.3`, `OFED 5.8`, `torch==2.4.0`.

Names are given in one spelling: `nccl`, `rccl`, `cuda`, `rocm`, `driver`, `torch`, `ofed`, `doca`, `firmware`, `libfabric`,
`aws-ofi-nccl`, `ucx`, `openmpi`, `vllm`, `sglang`, `ollama`, `nginx` ... A version needs a dot, except for drivers and CUDA, whose
major number alone is common. Image tags count only where they name the thing (`vllm-openai:v0.6.3`).
"""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_LINE_CHARACTERS = 1_000

_NAMES: dict[str, str] = {
    "nccl": r"nvidia-nccl-cu1\d|libnccl2|NCCL", "rccl": r"RCCL", "cuda": r"CUDA(?: (?:toolkit|runtime|driver))?", "rocm": r"ROCm",
    "cudnn": r"cuDNN",
    "torch": r"PyTorch|torch", "ofed": r"MLNX_OFED(?:_LINUX)?|MOFED|OFED", "doca": r"DOCA(?:[- ](?:OFED|Host))?",
    "driver": r"(?:(?:NVIDIA|GPU|nvidia) )?[Dd]river", "firmware": r"[Ff]irmware|FW|fw|fw_ver|firmware-version",
    "libfabric": r"[Ll]ibfabric", "efa": r"EFA(?: (?:driver|installer))?|efa-installer",
    "aws-ofi-nccl": r"aws-ofi-nccl|AWS OFI NCCL|OFI plugin",
    "ucx": r"UCX", "openmpi": r"Open ?MPI|OMPI|openmpi", "hpcx": r"HPC-?X", "rdma-core": r"rdma-core", "nvshmem": r"NVSHMEM",
    "gdrcopy": r"GDRCopy|gdrcopy", "kernel": r"(?:Linux )?[Kk]ernel|Linux", "ubuntu": r"Ubuntu", "docker": r"Docker|docker-ce",
    "containerd": r"containerd", "kubernetes": r"Kubernetes|k8s|kubelet", "calico": r"[Cc]alico", "cilium": r"[Cc]ilium",
    "flannel": r"[Ff]lannel", "istio": r"Istio", "vllm": r"vLLM|vllm(?:-openai)?", "sglang": r"SGLang|sglang",
    "ollama": r"[Oo]llama",
    "tensorrt-llm": r"TensorRT-LLM|TRT-LLM", "tgi": r"TGI|text-generation-inference", "triton": r"Triton(?: Inference Server)?",
    "deepspeed": r"DeepSpeed|deepspeed", "megatron": r"Megatron(?:-LM|-Core)?", "ray": r"Ray|ray",
    "transformers": r"[Tt]ransformers",
    "lightning": r"(?:PyTorch )?Lightning|pytorch-lightning", "accelerate": r"[Aa]ccelerate", "nginx": r"[Nn]ginx|ingress-nginx",
    "haproxy": r"HAProxy|haproxy", "envoy": r"[Ee]nvoy", "traefik": r"[Tt]raefik", "litellm": r"LiteLLM|litellm",
    "gunicorn": r"[Gg]unicorn", "uvicorn": r"[Uu]vicorn", "aiohttp": r"aiohttp", "httpx": r"httpx", "requests": r"requests",
    "node": r"Node\.js|[Nn]ode(?= v)", "python": r"Python|python", "slurm": r"[Ss]lurm", "openssl": r"OpenSSL",
    "grpc": r"gRPC|grpcio",
    "mlx5_core": r"mlx5_core", "bnxt_en": r"bnxt_en", "ena": r"ENA driver|ena", "iperf": r"iperf3?", "perftest": r"[Pp]erftest",
}  # fmt: skip
_MAJOR_ALONE = frozenset({"cuda", "driver", "doca"})

_ALL = "|".join(pattern for pattern in _NAMES.values())
_DIGITS = r"[vV]?(?P<version>\d+(?:\.\d+)+(?:[-+.]?[A-Za-z0-9_]+(?:[-+.][A-Za-z0-9_]+)*)?|\d{2,3}(?![\w.,]))"
_TUPLE = regex(r"(?P<name>NCCL|nccl)[^\n(]{0,20}\((?P<version>\d+, \d+, \d+)\)")
_MENTION = regex(
    rf"\b(?<![./@-])(?P<name>{_ALL})(?:\s+|-|/|:|==|=|\s*[:=]\s*)(?:[Vv]ersion\s*[:=]?\s*|used to build PyTorch: |ver(?:\."
    rf"|\s)\s?)?{_DIGITS}"
)
_IMAGE = regex(rf"/(?P<name>vllm-openai|sglang|ollama|text-generation-inference|nginx|traefik|envoy|haproxy):{_DIGITS}")
_NAME_OF = {name: regex(rf"^(?:{pattern})$") for name, pattern in _NAMES.items()}
_ADDRESS = regex(r"^\d{1,3}(?:\.\d{1,3}){3}$")
_NOT_A_VERSION = regex(r"\s?(?:%|[kKMGT]i?[Bb]|ms\b|us\b|s\b|times\b|x\b|tok|GPUs?\b|nodes?\b|W\b|errors?\b|req)")
_QUICK = regex(rf"\b(?:{_ALL})(?:\W|[Vv])")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    has_prompt = True
    printed: list[str] = []
    for seen in excerpt(lines, _mentions):
        index, line = seen.index, seen.line
        has_prompt = bool(line.strip()) and (has_prompt or seen.is_prompt)
        if printed and line.strip() and not seen.is_prompt:
            yield from _printed(lines, index, line, seen.host, printed)
        printed = _asked_for(line) if seen.is_prompt and len(line) <= MOST_LINE_CHARACTERS else [] if line.strip() else printed
        if len(line) > MOST_LINE_CHARACTERS or not _DIGIT.search(line) or not _QUICK.search(line):
            continue
        host = seen.host if has_prompt or seen.text != line else None
        if host is not None and not _NUMBERED.search(host):
            host = None  # `Server: Docker 24.0`: a heading, not a machine
        for pattern in (_MENTION, _IMAGE):
            for found in pattern.finditer(line):
                name = _name(found["name"])
                if name and _is_version(name, found["version"], line[found.end() : found.end() + 8]):
                    yield _record(lines, index, line, host, name, found["version"])
        for found in _TUPLE.finditer(line):
            yield _record(lines, index, line, host, "nccl", found["version"].replace(", ", "."))


def _asked_for(command: str) -> list[str]:
    """The names whose versions a line of Python prints, in its order."""
    return [
        _name(found["module"] or "") or found["module"] or ("cuda" if found["cuda"] else "nccl")
        for found in _ASKED.finditer(command)
    ]


def _printed(lines: Lines, index: int, line: str, host: str | None, names: list[str]) -> Iterator[SoftwareVersion]:
    """What was printed below such a line: as many words, or tuples, as it asks for."""
    words = _WORDS.findall(line[:MOST_LINE_CHARACTERS])
    for name, word in zip(names, words, strict=True) if len(words) == len(names) else ():
        version = ".".join(re.findall(r"\d+", word)) if word.startswith("(") else word
        version = _nccl_version(int(version)) if name == "nccl" and version.isdecimal() and len(version) <= 6 else version
        if "." in version and version[0].isdigit():
            yield _record(lines, index, line, host, name, version)


def _nccl_version(code: int) -> str:
    """NCCL_VERSION_CODE of nccl.h: 1000 x major + 100 x minor + patch up to 2.8, ten times the major's place from 2.9 on."""
    major, rest = divmod(code, 1_000 if code < 10_000 else 10_000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _mentions(text: str) -> re.Match[str] | None:
    return _MENTION.match(text) if _FIRST_LETTER.match(text) else None


_ASKED = regex(r"\b(?P<module>[a-z][a-z_]*)\.__version__|\b(?P<cuda>torch\.version\.cuda)\b|\bcuda\.nccl\.version\(\)")
_WORDS = regex(r"\(\d+(?:, ?\d+)+\)|[^\s()]+")
_FIRST_LETTER = regex(r"[A-Za-z]")
_DIGIT = regex(r"\d")
_NUMBERED = regex(r"[\d-]|(?i:node|host|worker|master|gpu)")


def _name(written: str) -> str | None:
    return next((name for name, pattern in _NAME_OF.items() if pattern.match(written)), None)


def _is_version(name: str, version: str, behind: str) -> bool:
    if "." not in version and name not in _MAJOR_ALONE:
        return False
    return not _NOT_A_VERSION.match(behind) and (name == "ofed" or not _ADDRESS.match(version))


def _record(lines: Lines, index: int, line: str, host: str | None, name: str, version: str) -> SoftwareVersion:
    return SoftwareVersion(
        source=source(lines, "versions", host), quotes=(quote(lines, index, line),), name=name, version=version.rstrip(".-+")
    )


READER = Reader(
    title=Text(en="software versions", zh="软件版本"),
    gives=(SoftwareVersion,),
    recognises=marked(_MENTION, _IMAGE, _TUPLE, _ASKED),
    read=_read,
    obtained_by=("python -m torch.utils.collect_env", "ofed_info -s"),
    voice="loose",
)
