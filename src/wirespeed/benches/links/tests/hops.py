"""Routers between the two ends: TTL sent against TTL received both ways, and the address of each hop by probes that expire there."""

from wirespeed.benches.links.probing import Answer, Prober, answer_probes
from wirespeed.benches.links.routes import way_to
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, not_done, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import HeaderRun
from wirespeed.model.measurement import PathHop
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

TITLE = Text(en="hops of the path", zh="路径跳数")
MOST_HOPS = 16
TRIES_COUNT = 2
"""For one hop: routers limit their answers."""


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    with Prober(session, "hops") as prober:
        first = prober.probe()
        if not isinstance(first, Answer):
            return [not_done(spec, TITLE, "timed-out")]
        is_neighbour = way_to(spec.address).is_neighbour
        there = _header(spec, (sender_of(spec), receiver_of(spec)), prober.ttl_hops, first.ttl_received_hops, is_neighbour)
        back = _header(spec, (receiver_of(spec), sender_of(spec)), first.peer_ttl_sent_hops, first.reply_ttl_hops, None)
        return [there, back, *_addresses(spec, prober, there.hops_count or 0)]


def _header(
    spec: LinkSpec, ends: tuple[str, str], ttl_sent: int, ttl_received: int | None, is_same_subnet: bool | None
) -> HeaderRun:
    return HeaderRun(
        source=source_of(spec),
        sender=ends[0],
        receiver=ends[1],
        address=spec.address,
        ttl_sent_hops=ttl_sent,
        ttl_received_hops=ttl_received,
        hops_count=None if ttl_received is None else max(0, ttl_sent - ttl_received),
        is_same_subnet=is_same_subnet,
    )


def _addresses(spec: LinkSpec, prober: Prober, hops_count: int) -> list[PathHop]:
    """One record a hop, the peer last. A router that says nothing is a hop without an address."""
    found = []
    for ttl_hops in range(1, min(hops_count, MOST_HOPS) + 2):
        prober.set(ttl_hops=ttl_hops)
        before = len(prober.told)
        answer = prober.probe(tries_count=TRIES_COUNT)
        is_last = isinstance(answer, Answer)
        by = next((one.by for one in prober.told[before:] if one.is_time_exceeded), None)
        found.append(
            PathHop(
                source=source_of(spec),
                hop_index=ttl_hops,
                address=spec.address if is_last else by,
                rtt_mean_s=answer.rtt_s if isinstance(answer, Answer) else None,
                is_last=is_last,
            )
        )
        if is_last:
            break
    return found


TEST = LinkTest(
    title=TITLE,
    gives=(HeaderRun, PathHop),
    cost_s=lambda spec: 0.3,
    client=_client,
    failed=lambda spec, error: [not_done(spec, TITLE, error)],
    server=answer_probes,
)
