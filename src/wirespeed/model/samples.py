"""Samples of counters and gauges: what a series is called, a block of samples of one family, and one series in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.intp]


class Key(msgspec.Struct, frozen=True, gc=False):
    """What one series is called.

    `family` is the file on the series shelf, `scope` the device, flow, core or table, `name` the counter's own name. `unit` is that of
    the value: `bytes`, `packets`, `1`, `s`, `ratio`, `celsius`, `w`, `hz`, or `setting` for what only changes when somebody sets it.
    """

    family: str
    scope: str
    name: str
    unit: str = "1"
    kind: Literal["counter", "gauge"] = "counter"


Layout: TypeAlias = tuple[Key, ...]
"""Which series a row of values holds, in order."""


@dataclass(frozen=True, slots=True)
class Block:
    """Samples of one family between two flushes: `count` rows of one layout.

    Most counters do not move most of the time: `first` has the whole first row, `columns` the indices of the series that moved
    after it, and `values` (row by column) those alone. `t_s` counts from the start of the recording.
    """

    family: str
    layout: Layout
    t_s: Numbers
    first: Numbers
    columns: Indices
    values: Numbers

    def column(self, index: int) -> Numbers:
        """Every sample of the series at `index` of the layout."""
        import numpy as np

        found = np.flatnonzero(self.columns == index)
        return self.values[:, found[0]] if len(found) else np.full(len(self.t_s), self.first[index])


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One series of one host in full; `value` is NaN where it was not there (an interface that came later, a flow that ended)."""

    host: str | None
    key: Key
    t_s: Numbers
    value: Numbers


def series_of(blocks: Sequence[Block], host: str | None) -> Iterator[Series]:
    """Every series of the blocks of one family, on the family's own times."""
    import numpy as np

    if not blocks:
        return
    t_s = np.concatenate([block.t_s for block in blocks])
    places: dict[Key, list[tuple[int, int]]] = {}
    for number, block in enumerate(blocks):
        for index, key in enumerate(block.layout):
            places.setdefault(key, []).append((number, index))
    starts = np.cumsum([0, *(len(block.t_s) for block in blocks)])
    for key, found in places.items():
        value = np.full(len(t_s), np.nan)
        for number, index in found:
            value[starts[number] : starts[number + 1]] = blocks[number].column(index)
        yield Series(host=host, key=key, t_s=t_s, value=value)
