"""Series of different paces on one clock."""

import numpy as np
import pytest

from wirespeed.model.samples import Key, Series
from wirespeed.theory.grids import on_grid


def series(kind: str, t_s: list[float], value: list[float]) -> Series:
    return Series(host="a", key=Key("links", "eth0", kind, "bytes", kind), t_s=np.array(t_s), value=np.array(value))  # type: ignore[arg-type]


def test_counters_of_two_paces_agree_about_a_steady_rate() -> None:
    fast = np.arange(0, 2.001, 0.01) + 0.0003
    slow = np.arange(0, 2.001, 0.25)
    for t_s in (fast, slow):
        (found,) = on_grid([series("counter", t_s.tolist(), (1000 * t_s).tolist())], 0.1, 2.0).values()
        assert len(found) == 20
        assert found == pytest.approx(np.full(20, 1000.0), rel=0.01)


def test_all_that_was_counted_stays_and_lies_where_it_was() -> None:
    found = on_grid([series("counter", [0, 0.1, 0.2, 0.3, 0.4], [0, 0, 50, 50, 50])], 0.1, 0.4)
    assert found["a links/eth0/counter"].round(6).tolist() == [0, 500, 0, 0]


def test_a_fall_is_a_gap_in_its_cells_alone() -> None:
    (found,) = on_grid([series("counter", [0, 0.1, 0.2, 0.3, 0.4], [90, 100, 5, 15, 25])], 0.1, 0.4).values()
    assert np.isnan(found).tolist() == [False, True, False, False]
    assert found[2] == pytest.approx(100)


def test_what_came_later_was_not_there_before() -> None:
    (found,) = on_grid([series("counter", [0, 0.1, 0.2, 0.3], [float("nan"), float("nan"), 5, 15])], 0.1, 0.3).values()
    assert np.isnan(found).tolist() == [True, True, False]


def test_a_spike_of_a_gauge_is_kept_and_a_slow_one_holds() -> None:
    fast = series("gauge", [0, 0.05, 0.1, 0.15, 0.2], [0, 9, 0, 0, 3])
    (found,) = on_grid([fast], 0.1, 0.3).values()
    assert found.tolist() == [9, 0, 3]
    (slow,) = on_grid([series("gauge", [0, 0.5], [4, 6])], 0.25, 1.0).values()
    assert slow.tolist() == [4, 4, 6, 6]
