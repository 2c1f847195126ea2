"""What generating one token costs when the weights must be read for it: the bound that memory bandwidth sets."""

BITS_PER_BYTE = 8.0
ATTAINABLE_RATIO = (0.3, 1.1)
"""Share of the bound that real servers reach with one request in flight: kernels read at 60 to 90 % of the memory's rate, layers
split over machines add waits; a tenth above allows for rounded sizes."""


def weights_bytes(parameters_count: float, bits_per_parameter_count: float) -> float:
    """Size of the weights that a token has to read (of a mixture of experts: the active ones)."""
    return parameters_count * bits_per_parameter_count / BITS_PER_BYTE


def most_tokens_per_s(weights_read_bytes: float, memory_bytes_per_s: float, devices_count: int = 1) -> float:
    """Tokens a second of one sequence when `devices_count` devices each read their share of the weights at the same time."""
    return memory_bytes_per_s * devices_count / weights_read_bytes


def is_bound_by_memory(seen_tokens_per_s: float, bound_tokens_per_s: float) -> bool:
    """Whether a rate is what reading the weights allows."""
    low, high = ATTAINABLE_RATIO
    return low <= seen_tokens_per_s / bound_tokens_per_s <= high
