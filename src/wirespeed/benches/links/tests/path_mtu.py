"""The largest packet that passes in each direction, found by don't-fragment probes, beside what interfaces and routers say."""

from collections.abc import Callable
from typing import NamedTuple

from wirespeed.benches.links.probing import HEADROOM_BYTES, Answer, Prober, answer_probes
from wirespeed.benches.links.routes import way_to
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, not_done, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import PathMtuRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

TITLE = Text(en="path MTU", zh="路径 MTU")
LARGEST_BYTES = 65_535


class Search(NamedTuple):
    """What a search found: the largest size that passed and the smallest that did not."""

    passed_bytes: int | None
    lost_bytes: int | None


def search(passes: Callable[[int], bool], smallest_bytes: int, largest_bytes: int, hint: Callable[[], int | None]) -> Search:
    """Binary search for the largest size that passes, starting at the largest; `hint` is a size to try next, where somebody told one."""
    if passes(largest_bytes):
        return Search(largest_bytes, None)
    if not passes(smallest_bytes):
        return Search(None, smallest_bytes)
    low, high = smallest_bytes, largest_bytes
    hinted: int | None = None
    while high - low > 1:
        middle, told = (low + high) // 2, hint()
        if told is not None and told != hinted:
            hinted = told
            middle = min(max(told, low + 1), high - 1)
        elif hinted is not None and low == hinted:
            middle = low + 1  # what a router told passed: one byte more should not
        if passes(middle):
            low = middle
        else:
            high = middle
    return Search(low, high)


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    with Prober(session, "path_mtu") as prober:
        first = prober.probe()
        if not isinstance(first, Answer):
            return [not_done(spec, TITLE, "timed-out")]
        ours = way_to(spec.address).mtu_bytes
        return [_there(spec, prober, ours), _back(spec, prober, first.peer_interface_mtu_bytes)]


def _there(spec: LinkSpec, prober: Prober, interface_bytes: int | None) -> PathMtuRun:
    numbers = prober.numbers

    def passes(size: int) -> bool:
        return isinstance(prober.probe(payload_bytes=size - numbers.header_bytes), Answer)

    def told() -> int | None:
        return next((one.mtu_bytes for one in reversed(prober.told) if one.mtu_bytes), None)

    found = search(passes, numbers.smallest_mtu_bytes, min(interface_bytes or LARGEST_BYTES, LARGEST_BYTES), told)
    return _run(spec, (sender_of(spec), receiver_of(spec)), interface_bytes, found, told())


def _back(spec: LinkSpec, prober: Prober, interface_bytes: int | None) -> PathMtuRun:
    numbers, told_bytes = prober.numbers, 0

    def passes(size: int) -> bool:
        nonlocal told_bytes
        answer = prober.probe(reply_bytes=size - numbers.header_bytes)
        if not isinstance(answer, Answer):
            answer = prober.probe(reply_bytes=0)  # a small reply brings what the routers told the peer
            told_bytes = (answer.peer_told_mtu_bytes or 0) if isinstance(answer, Answer) else 0
            return False
        return answer.reply_payload_bytes == max(HEADROOM_BYTES, size - numbers.header_bytes)

    largest = min(interface_bytes or LARGEST_BYTES, LARGEST_BYTES)
    found = search(passes, numbers.smallest_mtu_bytes, largest, lambda: told_bytes or None)
    return _run(spec, (receiver_of(spec), sender_of(spec)), interface_bytes, found, told_bytes or None)


def _run(spec: LinkSpec, ends: tuple[str, str], interface_bytes: int | None, found: Search, reported: int | None) -> PathMtuRun:
    return PathMtuRun(
        source=source_of(spec),
        sender=ends[0],
        receiver=ends[1],
        address=spec.address,
        interface_mtu_bytes=interface_bytes,
        passed_bytes=found.passed_bytes,
        lost_bytes=found.lost_bytes,
        reported_bytes=reported,
    )


TEST = LinkTest(
    title=TITLE,
    gives=(PathMtuRun,),
    cost_s=lambda spec: 0.5,
    client=_client,
    failed=lambda spec, error: [not_done(spec, TITLE, error)],
    server=answer_probes,
)
