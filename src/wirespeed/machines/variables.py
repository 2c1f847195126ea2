"""Which environment variables bear on networks and frameworks; their secrets never leave this file."""

import re
from collections.abc import Mapping

from wirespeed.model.secrets import REDACTED, is_secret_name, without_secrets

_MATTERS = re.compile(
    r"^(?:NCCL|RCCL|MSCCL|GLOO|UCX|UCC|FI|OMPI_MCA|PMIX|TORCH|TORCHELASTIC|PYTORCH|CUDA|NVIDIA|NVSHMEM|HIP|ROCR|HSA|HCCL"
    r"|VLLM|SGLANG|RAY|DEEPSPEED|HOROVOD|MLX5|MLX4|RDMAV|IBV|EFA|AWS_OFI|MSCCLPP|OMP|KMP|MKL|GOMP|UVICORN|GUNICORN|SLURM_(?:JOB|NODE|PROCID"
    r"|LOCALID|NTASKS|NNODES|CPU|TOPOLOGY|MPI)\w*)_"
    r"|^(?:SLURM_(?:PROCID|LOCALID|NODEID|NNODES|NTASKS|JOB_ID|JOB_NODELIST|NODELIST|CPUS_PER_TASK)|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK"
    r"|LOCAL_RANK|LOCAL_WORLD_SIZE|NODE_RANK|GROUP_RANK|LD_PRELOAD|LD_LIBRARY_PATH|KUBERNETES_SERVICE_HOST)$"
    r"|^(?i:https?_proxy|all_proxy|no_proxy)$"
)


def that_matter(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that bear on networks and frameworks, sorted by name, secrets replaced."""
    return {name: shown(name, variables[name]) for name in sorted(variables) if _MATTERS.search(name)}


def shown(name: str, setting: str) -> str:
    """The value, or a mark where it is secret."""
    return REDACTED if setting and is_secret_name(name) else without_secrets(setting)
