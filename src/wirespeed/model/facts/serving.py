"""What inference servers say of themselves when they start."""

from wirespeed.model.record import Record


class ModelPlacement(Record, frozen=True, kw_only=True):
    """Where an inference server computes and keeps a model: on GPUs, on its CPU, or parted between them."""

    server: str
    """`llama.cpp`, `ollama`, `vllm`, `localai`, `llama.cpp rpc-server` ..."""
    device: str | None = None
    """`cpu`, `cuda`, `rocm`, `metal` ... where the server names what it computes on."""
    layers_count: int | None = None
    gpu_layers_count: int | None = None
    cpu_bytes: int | None = None
    """Weights and KV cache in the CPU's memory."""
    gpu_bytes: int | None = None
    remote_bytes: int | None = None
    """Weights and KV cache on other machines (llama.cpp's RPC back end); what computes there, they know."""
    cpu_ratio: float | None = None
    """Share of the model on the CPU, as `ollama ps` prints it."""
