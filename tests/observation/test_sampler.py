"""One family while it is sampled: what is parsed, and how a costly one is read more rarely."""

import numpy as np
import pytest

from wirespeed.model.samples import Key, series_of
from wirespeed.observation import sampler
from wirespeed.observation.sampler import Probe, Raw, Row, Sampled

LAYOUT = (Key("x", "a", "n"), Key("x", "b", "n"))


class Source:
    def __init__(self, *replies: bytes) -> None:
        self.replies = list(replies)
        self.is_open = True

    def read(self) -> bytes:
        return self.replies.pop(0)

    def close(self) -> None:
        self.is_open = False


def sampled(*replies: bytes, budget: float = 1e9) -> tuple[Sampled, list[Raw]]:
    parsed: list[Raw] = []

    def parse(raw: Raw) -> Row:
        parsed.append(raw)
        numbers = list(map(float, raw[0].split()))
        return (LAYOUT, numbers) if len(numbers) == 2 else ((), [])

    return Sampled("x", Probe(sources=(Source(*replies),), parse=parse), 0.1, budget), parsed


def test_nothing_is_parsed_before_the_flush_and_the_same_bytes_once() -> None:
    one, parsed = sampled(b"1 5", b"1 5", b"1 5", b"2 5")
    for number in range(4):
        one.take(number * 0.1)
    assert not parsed
    (block,) = one.flushed()
    assert len(parsed) == 2
    assert [block.column(0).tolist(), block.column(1).tolist()] == [[1, 1, 1, 2], [5, 5, 5, 5]]
    assert block.columns.tolist() == [0]
    assert one.flushed() == []


def test_a_gap_splits_blocks_and_joins_as_nan() -> None:
    one, _ = sampled(b"1 5", b"", b"3 5")
    for number in range(3):
        one.take(number * 0.1)
    blocks = one.flushed()
    assert [len(block.layout) for block in blocks] == [2, 0, 2]
    first, _ = series_of(blocks, None)
    assert np.array_equal(first.value, [1, np.nan, 3], equal_nan=True)


def test_the_grid_is_kept_and_missed_deadlines_are_counted() -> None:
    one, _ = sampled()
    one.schedule(0.0)
    assert (round(one.due_s, 9), one.missed_count) == (0.1, 0)
    one.schedule(0.1001)
    assert (round(one.due_s, 9), one.missed_count) == (0.2, 0)
    one.schedule(0.47)
    assert (round(one.due_s, 9), one.missed_count) == (0.5, 2)


def test_a_costly_family_is_read_more_rarely_and_a_cheap_one_is_not() -> None:
    cheap, _ = sampled(b"1 5")
    cheap.take(0.0)
    cheap.flushed()
    assert cheap.slowed_period_s() is None
    costly, _ = sampled(b"1 5", budget=1e-9)
    costly.take(0.0)
    costly.flushed()
    period_s = costly.slowed_period_s()
    assert period_s is not None
    assert period_s > 1.0
    assert abs(period_s / 0.1 - round(period_s / 0.1)) < 1e-6


def test_a_closing_sample_just_after_another_is_left_out() -> None:
    one, _ = sampled(b"1 5", b"2 5")
    one.take(0.0)
    one.take_last(0.01)
    assert len(one.flushed()[0].t_s) == 1
    one.take_last(0.09)
    assert len(one.flushed()[0].t_s) == 1


def test_a_reading_that_was_held_up_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three takes 30 ms of a period of 100: when in between the counter was read is not known."""
    ticks = iter([0.0, 0.001, 1.0, 1.030, 2.0, 2.001, 3.0, 3.0])
    monkeypatch.setattr(sampler, "perf_counter", lambda: next(ticks))
    one, _ = sampled(b"1 5", b"2 5", b"3 5")
    for number in range(3):
        one.take(number * 0.1)
    (block,) = one.flushed()
    assert block.column(0).tolist() == [1, 3]
    assert one.missed_count == 1
