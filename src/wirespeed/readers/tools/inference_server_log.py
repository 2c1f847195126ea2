"""Start of inference servers: the address they listen on, whether they use a GPU, and how long loading took.

vLLM, SGLang (uvicorn), TGI, Triton, llama.cpp and its rpc-server, Ollama (also `ollama ps`), LocalAI, gunicorn and Flask. Their request and
throughput lines are read as serving metrics. Times become `ServingMetric`s: `load_s` (weights), `compile_s` (graphs, kernels), `start_s` (all).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.serving import ModelPlacement
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "inference-server"
MOST_LINE_CHARACTERS = 4_000
MOST_BUFFERS = 64

_ADDRESS = r"(?:https?://)?(?P<host>\[[0-9a-fA-F:]{2,45}\]|[\w.-]{1,253}|\*):(?P<port>\d{1,5})\b"
_LISTENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("uvicorn", regex(rf"\bUvicorn running on {_ADDRESS}")),
    ("vllm", regex(rf"Starting vLLM (?:API )?server(?: \d+)? on {_ADDRESS}")),
    ("ollama", regex(rf"(?:msg=\"|INFO |routes\.go:\d+: )Listening on {_ADDRESS}")),
    ("llama.cpp", regex(rf"server is listening on {_ADDRESS}")),
    (
        "llama.cpp",
        regex(
            r"HTTP server (?:is )?listening.{0,160}?hostname[:=] ?\"?(?P<host>[\w.:]{1,253})\"?,? .{0,40}?port[:=] ?\"?(?P<port>\d{1,5})"
        ),
    ),
    ("llama.cpp rpc-server", regex(rf"Starting RPC server (?:v[\d.]+ )?on {_ADDRESS}")),
    ("triton", regex(rf"Started (?:GRPCInferenceService|HTTPService|Metrics Service) at {_ADDRESS}")),
    ("localai", regex(rf"LocalAI (?:API )?is (?:listening|started and running).{{0,160}}?(?:endpoint|address)=\"?{_ADDRESS}")),
    ("localai", regex(r"\(bound on host (?P<host>[\w.:]{1,253}) and port (?P<port>\d{1,5})\)")),
    ("tgi", regex(r"\bArgs \{.{0,3000}?hostname: \"(?P<host>[\w.:]{1,253})\", port: (?P<port>\d{1,5})\b")),
    ("gunicorn", regex(rf"\[INFO\] Listening at: {_ADDRESS}")),
    ("flask", regex(rf"(?m)^[ \t]*\* Running on {_ADDRESS}")),
)
_ALL_ADDRESSES = regex(r"\* Running on all addresses \((?P<host>[\w.:]+)\)")
_RPC_ENDPOINT = regex(rf"^\s*endpoint\s*: {_ADDRESS}\s*$")
_RPC_START = regex(r"Starting RPC server v\d")

_OFFLOADED = regex(r"\boffloaded (?P<gpu>\d{1,5})/(?P<all>\d{1,5}) layers to GPU")
_OFFLOAD_PLAN = regex(r"msg=\"?offload[^\"]{0,40}\"?.{0,400}?layers\.model=(?P<all>\d{1,5}) layers\.offload=(?P<gpu>\d{1,5})\b")
_BUFFER = regex(r"(?P<where>\S{1,80}) +(?:model|KV) buffer size *= *(?P<size>\d+(?:\.\d+)?) (?P<unit>[KMG]iB)\b")
_OLLAMA_PS = regex(
    r"(?m)^\S{1,200}[ \t]+[0-9a-f]{8,12}[ \t]+\d+(?:\.\d+)? [KMGT]B[ \t]+(?P<split>\d{1,3}%(?:/\d{1,3}%)? (?:CPU/GPU|CPU|GPU))\s"
)
_DEVICES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("ollama", "cpu", regex(r"msg=\"inference compute\".{0,200}? library=cpu\b|msg=\"no compatible GPUs were discovered\"")),
    ("ollama", "gpu", regex(r"msg=\"inference compute\".{0,200}? library=(?P<named>cuda|rocm|metal|oneapi|vulkan)\b", re.I)),
    ("vllm", "cpu", regex(r"Automatically detected platform cpu\b|device_config=(?:DeviceConfig\(.{0,30})?'?cpu\b")),
    ("vllm", "gpu", regex(r"Automatically detected platform (?P<named>cuda|rocm|xpu|tpu|hpu)\b")),
    (
        "llama.cpp",
        "cpu",
        regex(
            r"no usable GPU found|compiled without (?:GPU|CUDA) support|ggml_cuda_init: failed to initialize CUDA|not compiled with GPU offload support"
        ),
    ),
    ("llama.cpp", "gpu", regex(r"ggml_(?P<named>cuda|rocm|metal|vulkan|sycl)_init: found [1-9]\d* ", re.I)),
    ("llama.cpp rpc-server", "cpu", regex(r"create_backend: using CPU backend")),
    ("llama.cpp rpc-server", "gpu", regex(r"create_backend: using (?P<named>CUDA|Metal|Vulkan|SYCL|ROCm) backend")),
    (
        "localai",
        "cpu",
        regex(r"/backends/cpu-\w|GPU (?:device )?not found, using CPU|WARN.{0,60}no GPU (?:device )?(?:found|detected)"),
    ),
)
_REMOTE = regex(r"^RPC\d*\[|^RPC\d*$")

_TIMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("load_s", regex(r"Loading weights took (?P<s>\d+(?:\.\d+)?) seconds")),
    ("load_s", regex(r"Model loading took \d+(?:\.\d+)? Gi?B and (?P<s>\d+(?:\.\d+)?) seconds")),
    ("load_s", regex(r"Load weight end\. elapsed=(?P<s>\d+(?:\.\d+)?) ?s\b")),
    ("compile_s", regex(r"torch\.compile (?:takes|took) (?P<s>\d+(?:\.\d+)?) s in total")),
    ("compile_s", regex(r"Graph capturing finished in (?P<s>\d+(?:\.\d+)?) secs")),
    ("compile_s", regex(r"Capture cuda graph end\. Time elapsed: (?P<s>\d+(?:\.\d+)?) ?s\b")),
    ("start_s", regex(r"init engine \(.{0,80}\) took (?P<s>\d+(?:\.\d+)?) seconds")),
    ("start_s", regex(r"llama runner started in (?P<s>\d+(?:\.\d+)?) seconds")),
    ("start_s", regex(r"\bShard ready in (?P<s>\d+(?:\.\d+)?)s\b")),
)
_HINTS = (
    "running on", "Running on", "istening", "Starting ", "Started ", "started ", "bound on host", "Args {", "endpoint", "layers", "buffer size",
    "% CPU", "% GPU", "CPU/GPU", "inference compute", "compatible GPU", "platform ", "usable GPU", "GPU support", "GPU offload", "_init:",
    "create_backend", "/backends/", "no GPU", "GPU not", "took ", "elapsed", "takes ", "finished in", "ready in", "device_config",
)  # fmt: skip
"""One of these is on every line that is read; the others of a long log are passed over quickly."""
_SHAPES = (
    *(shape for _, shape in _LISTENS), _OFFLOADED, _OFFLOAD_PLAN, _BUFFER, *(shape for _, _, shape in _DEVICES),
    *(shape for _, shape in _TIMES),
)  # fmt: skip


@dataclass(slots=True)
class _Model:
    """Buffers of the model that is being loaded."""

    bytes_of: dict[str, int] = field(default_factory=lambda: {"cpu": 0, "gpu": 0, "remote": 0})
    quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    model = _Model()
    everywhere: str | None = None
    is_rpc = False
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        if not any(hint in text for hint in _HINTS):
            continue
        said = quote(lines, index, line)
        if found := _ALL_ADDRESSES.search(text):
            everywhere = found["host"]
        is_rpc = is_rpc or _RPC_START.search(text) is not None
        yield from _listener(lines, said, text, everywhere, is_rpc)
        if _OFFLOADED.search(text):
            yield from _buffers(lines, model)
            model = _Model()
        yield from _placement(lines, said, text)
        if (found := _BUFFER.search(text)) and len(model.quotes) < MOST_BUFFERS:
            size = size_in_bytes(float(found["size"]), found["unit"]) or 0.0
            model.bytes_of[_where(found["where"])] += int(size)
            model.quotes.append(said)
        for name, shape in _TIMES:
            if timed := shape.search(text):
                yield ServingMetric(source=source(lines, TOOL), quotes=(said,), name=name, value=float(timed["s"]))
    yield from _buffers(lines, model)


def _listener(lines: Lines, said: Quote, text: str, everywhere: str | None, is_rpc: bool) -> Iterator[Listener]:
    shapes = (*_LISTENS, ("llama.cpp rpc-server", _RPC_ENDPOINT)) if is_rpc else _LISTENS
    for server, shape in shapes:
        found = shape.search(text)
        if found is None or int(found["port"]) > 65_535:
            continue
        host = everywhere if server == "flask" and everywhere else found["host"].strip("[]")
        yield Listener(source=source(lines, TOOL), quotes=(said,), address=host, port=int(found["port"]), process=server)
        return


def _placement(lines: Lines, said: Quote, text: str) -> Iterator[ModelPlacement]:
    offloaded = _OFFLOADED.search(text) or _OFFLOAD_PLAN.search(text)
    listed = _OLLAMA_PS.match(text)
    if offloaded:
        yield ModelPlacement(
            source=source(lines, TOOL),
            quotes=(said,),
            server="llama.cpp",
            layers_count=int(offloaded["all"]),
            gpu_layers_count=int(offloaded["gpu"]),
        )
    elif listed:
        yield ModelPlacement(
            source=source(lines, "ollama ps"), quotes=(said,), server="ollama", cpu_ratio=_cpu_ratio(listed["split"])
        )
    else:
        for server, device, shape in _DEVICES:
            found = shape.search(text)
            if found:
                named = found.groupdict().get("named")
                yield ModelPlacement(
                    source=source(lines, TOOL), quotes=(said,), server=server, device=named.lower() if named else device
                )
                return


def _cpu_ratio(split: str) -> float:
    """`48%/52% CPU/GPU` is 0.48, `100% CPU` is 1, `100% GPU` is 0."""
    percents = [int(part.strip("% ")) for part in split.split(" ")[0].split("/")]
    return percents[0] / 100.0 if split.endswith(("CPU", "CPU/GPU")) else 1.0 - percents[0] / 100.0


def _where(buffer: str) -> str:
    if _REMOTE.search(buffer):
        return "remote"
    return "cpu" if buffer.upper().startswith(("CPU", "CUDA_HOST", "HOST")) else "gpu"


def _buffers(lines: Lines, model: _Model) -> Iterator[ModelPlacement]:
    """What the buffers of one model come to."""
    if model.quotes:
        held = model.bytes_of
        yield ModelPlacement(
            source=source(lines, TOOL),
            quotes=tuple(model.quotes[:12]),
            server="llama.cpp",
            cpu_bytes=held["cpu"],
            gpu_bytes=held["gpu"],
            remote_bytes=held["remote"],
        )


READER = Reader(
    title=Text(en="start of inference servers", zh="推理服务器启动日志"),
    gives=(Listener, ModelPlacement, ServingMetric),
    recognises=marked(*_SHAPES, _OLLAMA_PS),
    read=_read,
    obtained_by=("ollama ps", "journalctl -u ollama | tail -200", "docker logs CONTAINER 2>&1 | head -200"),
    voice="loose",
)
