"""The times of tcpdump's lines as nanoseconds of one scale, whichever of its five ways they were printed in.

tcpdump(1): the default is the clock of the day, `-tt` seconds since 1970, `-ttt` the time since the line before, `-tttt` date and clock,
`-ttttt` the time since the first line. Clock, delta and elapsed time look alike: deltas are told by falling back again and again.
"""

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

_NANO = 1_000_000_000
_DAY_NS = 86_400 * _NANO
STAMP = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[ T])?(?<![\d:.])(?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>\d\d)\.(?P<part>\d{3,9})(?![\d:])"
    r"|(?<![\d.:])(?P<epoch>\d{9,10})\.(?P<epoch_part>\d{6,9})(?![\d.])"
)
_FEWEST_STAMPS = 4
_FALLS_RATIO = 0.15
_LONG_DELTA_NS = 3600 * _NANO


class Clock:
    """Turns stamps into times that never run backwards by a day; `is_delta` adds them up. No time is 0: that means none was printed."""

    def __init__(self, is_delta: bool = False) -> None:
        self.is_delta = is_delta
        self._total_ns = _DAY_NS
        self._day_ns = _DAY_NS
        self._last_ns: int | None = None
        self._dates: dict[str, int] = {}

    def at_ns(self, found: re.Match[str]) -> int:
        """The time of a stamp."""
        if found["epoch"]:
            return int(found["epoch"]) * _NANO + _fraction_ns(found["epoch_part"])
        clock_ns = _clock_ns(found)
        if found["year"]:
            return self._midnight_ns(found) + clock_ns
        if self.is_delta:
            self._total_ns += clock_ns
            return self._total_ns
        if self._last_ns is not None and clock_ns < self._last_ns - _DAY_NS // 2:
            self._day_ns += _DAY_NS
        self._last_ns = clock_ns
        return self._day_ns + clock_ns

    def _midnight_ns(self, found: re.Match[str]) -> int:
        text = f"{found['year']}-{found['month']}-{found['day']}"
        known = self._dates.get(text)
        if known is None:
            try:
                known = (date.fromisoformat(text) - date(1970, 1, 1)).days * _DAY_NS
            except ValueError:
                known = 0
            self._dates = {text: known}
        return known


def _clock_ns(found: re.Match[str]) -> int:
    seconds = 3600 * int(found["hours"]) + 60 * int(found["minutes"]) + int(found["seconds"])
    return seconds * _NANO + _fraction_ns(found["part"])


def _fraction_ns(digits: str) -> int:
    return int(digits.ljust(9, "0"))


def are_deltas(stamps: Sequence[re.Match[str]]) -> bool:
    """Whether stamps without dates are times since the line before: small ones that fall back often, which a clock does not."""
    if len(stamps) < _FEWEST_STAMPS or any(one["epoch"] or one["year"] for one in stamps):
        return False
    times = [_clock_ns(one) for one in stamps]
    falls = sum(later < earlier for earlier, later in pairwise(times))
    return max(times) < _LONG_DELTA_NS and falls >= _FALLS_RATIO * (len(times) - 1)
