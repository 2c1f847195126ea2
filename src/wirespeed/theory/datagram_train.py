"""What became of a train of numbered datagrams: loss and its runs, duplicates, and reordering (RFC 4737)."""

from collections.abc import Iterable
from typing import NamedTuple


class TrainVerdict(NamedTuple):
    """Counts over one train."""

    received_count: int
    """Datagrams of the train that arrived at least once."""
    lost_count: int
    duplicates_count: int
    reordered_count: int
    loss_runs_count: int
    longest_loss_run_count: int


def judged(arrivals: Iterable[int], sent_count: int) -> TrainVerdict:
    """Judge the numbers of a train (0 to `sent_count` - 1) in the order they arrived; a number out of that range is ignored.

    A datagram is reordered when one that was sent later has arrived before it (RFC 4737, 3.3: s < NextExp); a duplicate is not
    reordered as well.
    """
    seen = bytearray(sent_count)
    next_expected = duplicates = reordered = 0
    for number in arrivals:
        if not 0 <= number < sent_count:
            continue
        if seen[number]:
            duplicates += 1
            continue
        seen[number] = 1
        if number >= next_expected:
            next_expected = number + 1
        else:
            reordered += 1
    runs = [len(run) for run in bytes(seen).split(b"\x01") if run]
    return TrainVerdict(
        received_count=sum(seen),
        lost_count=sent_count - sum(seen),
        duplicates_count=duplicates,
        reordered_count=reordered,
        loss_runs_count=len(runs),
        longest_loss_run_count=max(runs, default=0),
    )
