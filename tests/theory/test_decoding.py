"""The bound that memory bandwidth sets on decoding, by hand."""

import pytest

from wirespeed.theory import decoding


def test_seventy_billion_in_bf16_over_two_machines() -> None:
    weights = decoding.weights_bytes(70e9, 16)
    assert weights == pytest.approx(140e9)
    assert decoding.most_tokens_per_s(weights, 273e9, 2) == pytest.approx(3.9)


def test_eight_billion_in_four_bits_on_one_card() -> None:
    """8e9 parameters at half a byte are 4 GB; 1008 GB/s read them 252 times a second."""
    assert decoding.most_tokens_per_s(decoding.weights_bytes(8e9, 4), 1008e9) == pytest.approx(252.0)


@pytest.mark.parametrize(("seen", "expected"), [(3.0, True), (3.9, True), (1.0, False), (6.0, False)])
def test_what_is_bound_by_memory(seen: float, expected: bool) -> None:
    assert decoding.is_bound_by_memory(seen, 3.9) is expected
