"""What a collective moves."""

from wirespeed.model.units import Bytes


def gradient_bytes(parameter_count: int, bytes_per_element: int) -> Bytes:
    """Bytes of gradients all-reduced for each step of plain data parallelism."""
    return Bytes(parameter_count * bytes_per_element)
