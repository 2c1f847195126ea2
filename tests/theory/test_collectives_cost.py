"""Collectives, worked out by hand."""

from wirespeed.theory.collectives_cost import gradient_bytes


def test_gradients_of_7e9_parameters_in_two_and_four_bytes() -> None:
    assert gradient_bytes(7_000_000_000, 2) == 14e9
    assert gradient_bytes(7_000_000_000, 4) == 28e9
