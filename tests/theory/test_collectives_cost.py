"""Collectives: nccl-tests' own factors, and rows of published runs worked out by hand."""

import pytest

from wirespeed.model.units import Bytes, BytesPerS, Seconds
from wirespeed.theory.collectives_cost import (
    bus_bandwidth,
    bus_factor,
    gradient_bytes,
    half_bandwidth_size_bytes,
    time_expected_s,
)


@pytest.mark.parametrize(
    ("operation", "rank_count", "wanted"),
    [
        ("all_reduce", 2, 1.0),
        ("all_reduce", 8, 1.75),
        ("all_gather", 8, 0.875),
        ("reduce_scatter", 16, 0.9375),
        ("alltoall", 4, 0.75),
        ("broadcast", 8, 1.0),
        ("all_reduce", 1, None),
        ("unheard-of", 8, None),
    ],
)
def test_bus_factor(operation: str, rank_count: int, wanted: float | None) -> None:
    assert bus_factor(operation, rank_count) == wanted


def test_bus_bandwidth_of_a_row() -> None:
    """33,554,432 B in 1,234.5 us is 27.18 GB/s; with 16 ranks times 1.875 it is 50.96 (row of nccl-tests' format notes)."""
    assert bus_bandwidth("all_reduce", 16, Bytes(33554432), Seconds(1234.5e-6)) == pytest.approx(50.96e9, rel=1e-3)


def test_no_time_no_bandwidth() -> None:
    assert bus_bandwidth("all_reduce", 16, Bytes(8), Seconds(0.0)) is None


def test_time_expected_is_the_inverse() -> None:
    time = time_expected_s("all_reduce", 16, Bytes(33554432), BytesPerS(50.96e9))
    assert time == pytest.approx(1234.5e-6, rel=1e-3)
    assert time_expected_s("unheard-of", 16, Bytes(1), BytesPerS(1.0)) is None


def test_gradients_of_7e9_parameters_in_two_and_four_bytes() -> None:
    assert gradient_bytes(7_000_000_000, 2) == 14e9
    assert gradient_bytes(7_000_000_000, 4) == 28e9


def test_half_bandwidth_size() -> None:
    """20 us at 50 GB/s: 1 MB."""
    assert half_bandwidth_size_bytes(Seconds(20e-6), BytesPerS(50e9)) == pytest.approx(1e6)
