"""Transfers and waits, checked by hand."""

import pytest

from wirespeed.theory import storage


def test_window_over_round_trip() -> None:
    """3 MiB each 100 ms: 31.4 MB/s, 252 Mb/s."""
    assert 8 * storage.window_limited_bytes_per_s(3 * 2**20, 0.100) == pytest.approx(251.66e6, rel=1e-4)


def test_window_needed_undoes_it() -> None:
    """10 Gb/s at 80 ms: 100 MB in flight."""
    assert storage.window_needed_bytes(1.25e9, 0.080) == pytest.approx(100e6)


def test_transfer_time() -> None:
    """62 GiB at 520 MB/s took 128 s (shared case 006)."""
    assert storage.transfer_s(62 * 2**30, 520e6) == pytest.approx(128.0, abs=0.1)


@pytest.mark.parametrize(
    ("step_s", "data_s", "share"), [(8.719, 8.597, 0.986), (0.169, 0.046, 0.272), (1.0, 2.0, 1.0), (0.0, 0.0, 0.0)]
)
def test_data_wait_share(step_s: float, data_s: float, share: float) -> None:
    assert storage.data_wait_ratio(step_s, data_s) == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize(
    ("rate", "line", "is_one"),
    [(97.8e9, 100e9, True), (941e6, 1e9, True), (9.38e9, 10e9, True), (80e9, 100e9, False), (110e9, 100e9, False)],
)
def test_healthy_share(rate: float, line: float, is_one: bool) -> None:
    assert storage.is_healthy_share(rate, line) is is_one


def test_loss_limit_is_one_window_for_each_loss() -> None:
    """With one loss in 10,000 packets the window swings around 122 segments (1.22 / sqrt(p))."""
    assert storage.loss_limited_bytes_per_s(1000.0, 0.1, 1e-4) == pytest.approx(122 * 1000.0 / 0.1)
