"""The coordinator of a mesh: disjoint pairs at a time, one start for all, both directions, and figures from its records."""

import time
from collections.abc import Sequence

import pytest

from wirespeed.benches import mesh
from wirespeed.benches.links.spec import LinkSpec, not_done
from wirespeed.benches.mesh import MeshHost
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import same
from wirespeed.theory.mesh import Term

HOSTS = [MeshHost(name=f"h{place}", address=f"10.0.0.{place}", rack=f"r{place // 3}") for place in range(9)]


class Fleet:
    """Answers as hosts would, at once; `h4` is slow and the path from `h0` to `h1` is dead."""

    def __init__(self) -> None:
        self.asked: list[Sequence[tuple[str, LinkSpec]]] = []

    def ask(self, asked: Sequence[tuple[str, LinkSpec]]) -> list[list[Record | Problem]]:
        self.asked.append(asked)
        return [self._one(spec) for _, spec in asked]

    def _one(self, spec: LinkSpec) -> list[Record | Problem]:
        source = Source(tool="test", path="test")
        ends = {"sender": spec.sender, "receiver": spec.receiver, "address": spec.address, "source": source}
        if (spec.sender, spec.receiver) == ("h0", "h1"):
            return [not_done(spec, same("dead"), "timed-out")] if spec.tests == ("latency",) else [self._flow(spec, ends, 0)]
        factor = 0.5 if "h4" in (spec.sender, spec.receiver) else 1.0
        wobble = 1.0 + 0.02 * (((int(spec.sender[1]) * 37 + int(spec.receiver[1]) * 61) % 101) / 50 - 1)
        if spec.tests == ("throughput",):
            return [self._flow(spec, ends, int(1e9 * factor * wobble))]
        rtt_s = 50e-6 * wobble
        latency = LatencyRun(**ends, protocol="tcp", payload_bytes=14, sent_count=100, received_count=100, rtt_p50_s=rtt_s)  # type: ignore[arg-type]
        return [latency]

    @staticmethod
    def _flow(spec: LinkSpec, ends: dict[str, object], received: int) -> FlowRun:
        return FlowRun(
            **ends,  # type: ignore[arg-type]
            port=1, source_port=2, test=spec.label, purpose=spec.purpose or "single", duration_s=1.0, received_bytes=received,
            goodput_bytes_per_s=float(received),
        )  # fmt: skip


@pytest.mark.parametrize("most_crossing", [None, 1])
def test_no_host_is_asked_twice_at_a_time_and_all_start_together(most_crossing: int | None) -> None:
    fleet, told = Fleet(), []
    found = mesh.run(
        HOSTS,
        fleet.ask,
        token="t",
        most_crossing_count=most_crossing,
        heard=lambda done, whole, left_s: told.append((done, whole, left_s)),
    )
    for asked in fleet.asked:
        busy = [name for _, spec in asked for name in (spec.sender, spec.receiver)]
        assert len(busy) == len(set(busy))
        if asked[0][1].tests == ("throughput",):
            (start_at_s,) = {spec.start_at_s for _, spec in asked}
            assert start_at_s is not None and start_at_s - time.time() + 5 > 0
    flows = [one for one in found if isinstance(one, FlowRun)]
    assert len({(flow.sender, flow.receiver) for flow in flows}) == len(flows) == 72
    assert told[0][0] == 0 and told[-1][0] == told[-1][1] and told[-1][2] == 0.0
    assert all(left_s >= 0 for _, _, left_s in told)


def test_the_fit_of_its_records_names_the_slow_host_and_the_dead_pair() -> None:
    fleet = Fleet()
    bandwidth, latency = mesh.fits(mesh.run(HOSTS, fleet.ask, token="t"), HOSTS)
    assert [odd.term for odd in bandwidth.odd] == [Term("host", ("h4",))]
    assert bandwidth.odd[0].factor_ratio == pytest.approx(0.5, rel=0.05)
    assert bandwidth.dead == (("h0", "h1"),)
    assert latency.odd == ()


def test_flows_of_one_pair_count_together() -> None:
    flow = FlowRun(
        source=Source(tool="t", path="p"), sender="a", receiver="b", address="x", port=1, source_port=2, test="t", purpose="mesh",
        duration_s=1.0, received_bytes=5, goodput_bytes_per_s=5.0,
    )  # fmt: skip
    assert mesh.bandwidths([flow, flow]) == {("a", "b"): 10.0}
