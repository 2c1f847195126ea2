"""What a collective costs: bytes on the wire, bus bandwidth and the time to expect from size and rate.

Factors as in nccl-tests `doc/PERFORMANCE.md`: bus bandwidth makes the result of any rank count comparable with the link.
"""

from wirespeed.model.units import Bytes, BytesPerS, Seconds

_DOUBLE = frozenset({"all_reduce"})
_SHARED = frozenset({"all_gather", "reduce_scatter", "alltoall", "all_to_all"})
_WHOLE = frozenset({"broadcast", "reduce", "sendrecv", "gather", "scatter"})
_NONE = Seconds(0.0)


def bus_factor(operation: str, rank_count: int) -> float | None:
    """Bus bandwidth over algorithm bandwidth; None for an operation without a known factor or fewer than two ranks."""
    if rank_count < 2:
        return None
    if operation in _DOUBLE:
        return 2.0 * (rank_count - 1) / rank_count
    if operation in _SHARED:
        return (rank_count - 1) / rank_count
    return 1.0 if operation in _WHOLE else None


def bus_bandwidth(operation: str, rank_count: int, size: Bytes, time: Seconds) -> BytesPerS | None:
    """Bus bandwidth of one operation on `size` bytes (the larger buffer) that took `time`."""
    factor = bus_factor(operation, rank_count)
    return None if factor is None or time <= 0 else BytesPerS(factor * size / time)


def time_expected_s(operation: str, rank_count: int, size: Bytes, busbw: BytesPerS, start: Seconds = _NONE) -> Seconds | None:
    """Time from the bytes each rank must move at this bus bandwidth, after a fixed start time."""
    factor = bus_factor(operation, rank_count)
    return None if factor is None else Seconds(start + factor * size / busbw)


def gradient_bytes(parameter_count: int, bytes_per_element: int) -> Bytes:
    """Bytes of gradients all-reduced for each step of plain data parallelism."""
    return Bytes(parameter_count * bytes_per_element)


def half_bandwidth_size_bytes(start: Seconds, busbw: BytesPerS) -> Bytes:
    """The size at which start time and transfer time are equal: below it latency rules, above it bandwidth."""
    return Bytes(start * busbw)
