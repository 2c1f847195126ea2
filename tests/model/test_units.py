"""Times as people write them."""

import pytest

from wirespeed.model.units import duration_in_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("100ms", 0.1),
        ("5m", 300.0),
        ("1.5h", 5400.0),
        ("1m30s", 90.0),
        ("1 m 30 s", 90.0),
        ("2", 2.0),
        ("10us", 1e-5),
        ("2D", 172_800.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration_in_s(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "soon", "10 parsecs", "5m x", "nan", "inf", "1..2s", "3 s s"])
def test_what_is_no_duration(text: str) -> None:
    assert duration_in_s(text) is None
