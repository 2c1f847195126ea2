"""Nothing is found where nothing is, and what was planted is found first."""

import time

import numpy as np
import pytest

from wirespeed.diagnosis.comparison import LIVES_ONCE, compared, figures_of, unit_of
from wirespeed.diagnosis.relevance import is_symptom, is_trouble
from wirespeed.model.link_runs import DatagramTrain, FlowRun, LatencyRun
from wirespeed.model.samples import Key, Series
from wirespeed.model.series import Distribution, SeriesSummary
from wirespeed.model.source import Source

SOURCE = Source(tool="test", path="run", host="node-a")
EVERY_S = 0.1


def counted(rng: np.random.Generator, family: str, name: str, unit: str, per_s: np.ndarray) -> Series:
    """A counter whose steps are Poisson around a rate for each sample."""
    steps = rng.poisson(per_s * EVERY_S)
    value = 1e6 + np.concatenate(([0.0], np.cumsum(steps)))
    return Series(host="node-a", key=Key(family, "eth0", name, unit), t_s=np.arange(len(value)) * EVERY_S, value=value)


def gauge(family: str, name: str, unit: str, value: np.ndarray) -> Series:
    return Series(
        host="node-a", key=Key(family, "eth0", name, unit, "gauge"), t_s=np.arange(len(value)) * EVERY_S, value=value.astype(float)
    )


def machine(
    seed: int, *, count: int = 600, segments_per_s: float = 20_000.0, loss_ratio: float = 0.0, fall: float = 0.0
) -> list[Series]:
    """A machine with a steady flow and the chatter of an idle one: cron bursts, remote shells, timers, a page cache that wanders."""
    rng = np.random.default_rng(seed)
    swell = np.repeat(1 + 0.05 * rng.standard_normal(count // 10), 10)
    sent = segments_per_s * (1 - fall) * swell.clip(0.3)
    burst = np.where(np.repeat(rng.random(count // 20) < 0.1, 20), 30.0, 0.0)
    chatter = rng.gamma(2.0, 5.0, count)
    return [
        counted(rng, "links", "tx_packets", "packets", sent),
        counted(rng, "links", "tx_bytes", "bytes", sent * 1448),
        counted(rng, "protocols", "OutSegs", "packets", sent),
        counted(rng, "protocols", "RetransSegs", "packets", sent * loss_ratio + 0.05),
        counted(rng, "softnet", "processed", "packets", chatter),
        counted(rng, "cpu", "ctxt", "1", 400 + 10 * burst + 20 * chatter),
        counted(rng, "interrupts", "count", "1", 900 + 5 * burst),
        counted(rng, "cpu", "user", "s", np.full(count, 0.02)),
        counted(rng, "disks", "written_bytes", "bytes", 500 * burst),
        counted(rng, "protocols", "TCPTimeouts", "1", np.full(count, 0.02)),
        gauge("memory", "MemAvailable", "bytes", 3e10 + 1e8 * rng.standard_normal() + np.cumsum(rng.standard_normal(count)) * 1e5),
        gauge("qdiscs", "backlog_packets", "packets", rng.poisson(0.3, count)),
        gauge("sockets", "used", "1", 150 + rng.integers(-4, 4) + np.repeat(rng.integers(-2, 3, count // 20), 20)),
        gauge("links", "mtu", "bytes", np.full(count, 1500)),
    ]


def moved(before: list[Series], after: list[Series]) -> list[str]:
    return [one.figure for one in compared((before, ()), (after, ())) if one.verdict == "moved"]


def test_a_run_against_itself_is_nothing() -> None:
    assert compared((machine(1), ()), (machine(1), ())) == ()


@pytest.mark.parametrize("seed", range(20))
def test_two_quiet_runs_are_nothing(seed: int) -> None:
    assert not moved(machine(100 + seed), machine(200 + seed))


@pytest.mark.parametrize("seed", range(5))
def test_loss_is_found_and_first(seed: int) -> None:
    figures = compared((machine(300 + seed), ()), (machine(400 + seed, loss_ratio=0.01), ()))
    assert (figures[0].figure, figures[0].verdict) == ("protocols/eth0/RetransSegs", "moved")
    mean = next(one for one in figures if one.figure == "protocols/eth0/RetransSegs" and one.statistic == "mean")
    assert mean.lowest is not None and mean.highest is not None
    assert mean.lowest <= 200 <= mean.highest, "1 % of 20,000 segments a second"
    assert {one.figure for one in figures if one.verdict == "moved"} == {"protocols/eth0/RetransSegs"}


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_less_throughput_is_found(seed: int) -> None:
    found = moved(machine(500 + seed), machine(600 + seed, fall=0.10))
    assert set(found) == {"links/eth0/tx_bytes", "links/eth0/tx_packets", "protocols/eth0/OutSegs"}


def test_rare_trouble_on_a_light_flow_is_found() -> None:
    """100 segments a second, 3 % lost: three retransmits a second."""
    before, after = (machine(seed, segments_per_s=100, loss_ratio=loss) for seed, loss in ((1, 0.0), (2, 0.03)))
    assert moved(before, after)[0] == "protocols/eth0/RetransSegs"


def test_a_level_that_is_constant_in_both_runs() -> None:
    assert moved([gauge("links", "mtu", "bytes", np.full(100, 9e6))], [gauge("links", "mtu", "bytes", np.full(100, 1.5e3))])
    ends = [Series(host=None, key=Key("a", "b", "drops"), t_s=np.array([0.0, 30.0]), value=np.array([5.0, 5.0]))]
    rng = np.random.default_rng(1)
    busy = [counted(rng, "a", "other", "1", np.full(300, 5000.0))]
    after = [counted(rng, "a", "drops", "1", np.full(300, 10.0))]
    after[0] = Series(host=None, key=Key("a", "b", "drops"), t_s=after[0].t_s, value=after[0].value)
    assert set(moved([*ends, *busy], [*after, *busy])) == {"a/b/drops"}, (
        "a series kept as its two ends was looked at as often as others"
    )


def test_bursts_that_the_mean_hides_are_found_in_the_tail() -> None:
    rng = np.random.default_rng(3)
    even = np.full(1200, 3e6)
    bursts = np.where(np.arange(1200) % 10 == 0, 30e6, 0.0)
    before, after = [counted(rng, "links", "tx_bytes", "bytes", even)], [counted(rng, "links", "tx_bytes", "bytes", bursts)]
    figures = {one.statistic: one for one in compared((before, ()), (after, ()))}
    assert (figures["p99"].verdict, figures["mean"].verdict) == ("moved", "still")


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_too_short_to_tell(count: int) -> None:
    rng = np.random.default_rng(4)
    before, after = (
        [
            Series(
                host=None,
                key=Key("links", "eth0", "rx_bytes", "bytes"),
                t_s=np.arange(count) * 1.0,
                value=np.cumsum(rng.random(count) * size),
            )
        ]
        for size in (1e6, 1e9)
    )
    figures = compared((before, ()), (after, ()))
    assert all(one.verdict == "unknown" and one.why is not None and one.lowest is None for one in figures)


def test_a_reset_and_a_standing_clock_are_gaps() -> None:
    """A device made anew counts from zero, and a clock that stood still has no rate."""
    series = Series(
        host=None, key=Key("links", "eth0", "rx", "packets"), t_s=np.array([0.0, 1, 1, 2, 3]), value=np.array([10.0, 20, 30, 5, 15])
    )
    rate = figures_of(series)
    assert rate[0] == 10.0 and rate[3] == 10.0
    assert np.isnan(rate[[1, 2]]).all()


def test_units_of_what_is_compared() -> None:
    assert unit_of(Key("cpu", "all", "user", "s")) == "ratio"
    assert unit_of(Key("links", "eth0", "rx", "bytes")) == "bytes/s"
    assert unit_of(Key("gpus", "0", "power", "w", "gauge")) == "w"


def test_what_lives_once_is_not_compared() -> None:
    rng = np.random.default_rng(5)
    (family,) = LIVES_ONCE
    assert (
        compared(
            ([counted(rng, family, "sent", "bytes", np.full(100, 1e6))], ()),
            ([counted(rng, family, "sent", "bytes", np.full(100, 9e6))], ()),
        )
        == ()
    )


def test_tails_of_rates_need_the_same_pace() -> None:
    rng = np.random.default_rng(6)
    (slow,) = [counted(rng, "links", "rx", "bytes", np.full(600, 1e7))]
    fast = Series(host=None, key=slow.key, t_s=slow.t_s / 10, value=slow.value / 5)
    assert {one.statistic for one in compared(([slow], ()), ([fast], ()))} == {"mean"}


def flow(rate: float, **given: object) -> FlowRun:
    return FlowRun(
        source=SOURCE,
        **({"sender": "a", "receiver": "b", "address": "192.0.2.1", "port": 5201, "source_port": 1, "test": str(rate)} | given),  # type: ignore[arg-type]
        duration_s=1.0,
        received_bytes=int(rate),
        goodput_bytes_per_s=rate,
    )


def latency(p50_s: float) -> LatencyRun:
    return LatencyRun(
        source=SOURCE,
        sender="a",
        receiver="b",
        address="x",
        protocol="tcp",
        payload_bytes=64,
        sent_count=9,
        received_count=9,
        rtt_p50_s=p50_s,
    )


def test_repeated_measurements_have_an_interval_and_single_ones_have_not() -> None:
    fast, slow = [1.00e9, 1.01e9, 0.99e9, 1.005e9, 0.995e9], [0.90e9, 0.905e9, 0.895e9, 0.901e9, 0.899e9]
    (goodput,) = compared(((), map(flow, fast)), ((), map(flow, slow)))
    assert (goodput.verdict, goodput.group, goodput.before_count) == ("moved", "measurement", 5)
    assert goodput.difference == pytest.approx(-0.1e9)
    (single,) = compared(((), [flow(1e9)]), ((), [flow(0.5e9)]))
    assert single.verdict == "unknown" and single.why is not None
    (rtt,) = compared(((), map(latency, [50e-6, 51e-6, 49e-6, 50e-6])), ((), map(latency, [51e-6, 50e-6, 52e-6, 50e-6])))
    assert rtt.verdict == "still", "a microsecond does not matter"


def test_what_failed_is_no_measurement() -> None:
    refused = [flow(0.0, test=str(number), error="reset") for number in range(5)]
    good = [flow(1e9 + number, test=str(number)) for number in range(5)]
    assert compared(((), good), ((), refused)) == ()


def test_flows_of_one_test_count_as_their_sum() -> None:
    pairs = [flow(rate, test=str(number), purpose="parallel") for number in range(4) for rate in (4e8 + number, 6e8)]
    other = [flow(rate, test=str(number), purpose="parallel") for number in range(4) for rate in (1e8 + number, 9e8)]
    figures = compared(((), pairs), ((), other))
    assert figures == (), "the same sum, shared otherwise"


def train(lost: int, runs: int) -> DatagramTrain:
    return DatagramTrain(
        source=SOURCE, sender="a", receiver="b", address="x", payload_bytes=64, rate_per_s=1000.0, sent_count=5000, received_count=5000 - lost,
        lost_count=lost, duplicates_count=0, reordered_count=0, loss_ratio=lost / 5000, loss_runs_count=runs, longest_loss_run_count=lost,
    )  # fmt: skip


def test_one_train_tells_loss_unless_it_was_one_burst() -> None:
    (spread,) = compared(((), [train(0, 0)]), ((), [train(60, 50)]))
    (burst,) = compared(((), [train(0, 0)]), ((), [train(60, 1)]))
    assert (spread.verdict, burst.verdict) == ("moved", "unknown")
    assert spread.after == pytest.approx(0.012)


def summary(mean: float) -> SeriesSummary:
    values = Distribution(count=300, mean=mean, p50=mean, p95=mean, p99=mean, minimum=mean, maximum=mean)
    return SeriesSummary(
        source=SOURCE,
        family="links",
        scope="eth0",
        name="rx_bytes",
        unit="bytes/s",
        every_s=0.1,
        duration_s=30.0,
        values=values,
        first_count=0,
    )


def test_summaries_alone_never_say_moved() -> None:
    (figure,) = compared(((), [summary(1e6)]), ((), [summary(9e6)]))
    assert figure.verdict == "unknown"
    assert figure.why is not None and "summaries" in figure.why.en


def test_three_hundred_series_of_100_000_samples_within_five_seconds() -> None:
    """Most of a recording's series do not move; of those that do, forty long ones are many."""
    rng = np.random.default_rng(7)
    still = np.zeros(100_001)
    t_s = np.arange(100_001) * EVERY_S
    sides = []
    for _ in range(2):
        busy = [np.cumsum(rng.poisson(10, 100_001)).astype(float) for _ in range(20)]
        sides.append(
            [
                Series(host=None, key=Key("links", f"eth{index}", "rx", "packets"), t_s=t_s, value=value)
                for index, value in enumerate(busy)
            ]
            + [
                Series(host=None, key=Key("ethtool", f"eth{index}", "drops", "packets"), t_s=t_s, value=still)
                for index in range(280)
            ]
        )
    start_s = time.process_time()
    compared((sides[0], ()), (sides[1], ()))
    assert time.process_time() - start_s < 5.0


@pytest.mark.parametrize(
    "name",
    [
        "RetransSegs",
        "TCPTimeouts",
        "rx_dropped",
        "ListenOverflows",
        "time_squeeze",
        "TCPLostRetransmit",
        "InErrs",
        "rx_missed_errors",
    ],
)
def test_trouble_by_name(name: str) -> None:
    assert is_trouble(name) and is_symptom(name)


@pytest.mark.parametrize(
    "name", ["rx_packets", "OutSegs", "user", "interrupts", "TCPHPHits", "closed", "InSegs", "ctxt", "merged", "InNoECTPkts"]
)
def test_no_trouble_by_name(name: str) -> None:
    assert not is_trouble(name)
