"""What a recording found: summaries of series, bursts, watched TCP flows, and what moved together.

The samples themselves are columns in the run's `series/`; these records are what a case carries of them.
"""

from typing import Literal

import msgspec

from wirespeed.model.record import Record

BEFORE_TESTS = "before the tests"
DURING_BULK = "during the bulk test"
"""Paths of a recording's source: what a host does by itself, and what it does while our own flows run, are different evidence."""


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one series in a few numbers, all in the series' own `unit`."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    minimum: float
    maximum: float


class SeriesSummary(Record, frozen=True, kw_only=True):
    """One series over a recording: a gauge as it was, a counter as its rate.

    `family` is the file on the series shelf, `scope` the device, flow, core or table, `name` the counter's own name.
    """

    family: str
    scope: str
    name: str
    unit: str
    """Such as `bytes/s`, `packets/s`, `1/s`, `bytes`, `packets`, `ratio`, `s`."""
    every_s: float
    """Sampling period asked for."""
    duration_s: float
    values: Distribution
    first_count: int | None = None
    """A counter's value at the start; None for a gauge."""
    last_count: int | None = None


class Burst(Record, frozen=True, kw_only=True):
    """Traffic of one link and direction in bursts: what the mean hides."""

    link: str
    direction: Literal["rx", "tx"]
    window_s: float
    """Over which a peak is taken: the sampling period."""
    duration_s: float
    mean_bytes_per_s: float
    peak_bytes_per_s: float
    link_rate_bits_per_s: float | None = None
    bursts_count: int
    burst_p50_s: float
    """How long a burst lasts."""
    period_s: float | None = None
    """From start to start, where they come evenly."""
    queue_peak_packets: int | None = None
    """Most packets queued at the device while bursts ran; None where no queue is seen."""
    drops_in_bursts_count: int | None = None


class FlowSummary(Record, frozen=True, kw_only=True):
    """One TCP connection watched over a recording, from TCP_INFO read again and again. Counts are differences over the recording."""

    local_address: str
    local_port: int
    remote_address: str
    remote_port: int
    process: str | None = None
    samples_count: int
    duration_s: float
    sent_bytes: int | None = None
    received_bytes: int | None = None
    data_segments_out_packets: int | None = None
    segments_out_packets: int | None = None
    retransmits_packets: int | None = None
    timeouts_count: int | None = None
    reordering_seen_count: int | None = None
    dsack_duplicates_count: int | None = None
    delivered_ce_packets: int | None = None
    rtt_min_s: float | None = None
    rtt_p50_s: float | None = None
    rtt_p99_s: float | None = None
    congestion_control: str | None = None
    mss_bytes: int | None = None
    path_mtu_bytes: int | None = None
    congestion_window_p50_packets: int | None = None
    send_window_p50_bytes: int | None = None
    busy_ratio: float | None = None
    rwnd_limited_ratio: float | None = None
    sndbuf_limited_ratio: float | None = None
    backoff_max_count: int | None = None
    recv_queue_p50_bytes: int | None = None
    recv_queue_max_bytes: int | None = None
    held_back_ratio: float | None = None
    """Share of samples in which a small piece (less than one MSS) waited unsent although the windows had room: Nagle's algorithm."""


class Moved(Record, frozen=True, kw_only=True):
    """A series that moved when a symptom did (requirement E6)."""

    symptom: str
    """`host family/scope/name` of the series that hurts."""
    series: str
    """The same for what moved with it."""
    coefficient_ratio: float
    """Rank correlation of the two, -1 to 1 (Spearman)."""
    lag_s: float
    """Positive where the series moves before the symptom."""
    samples_count: int
    chance_ratio: float
    """Share of circular shifts at which any of the series watched correlates as strongly: how often chance does it."""


class Periodic(Record, frozen=True, kw_only=True):
    """A series whose spikes come at even intervals."""

    series: str
    """`host family/scope/name`."""
    period_s: float
    coefficient_ratio: float
    """Autocorrelation at the period, 0 to 1."""
    repeats_count: int
    """Periods that the recording spans."""
    chance_ratio: float
    """How often a series of no rhythm shows this, all series watched taken together."""


class RecordingCost(Record, frozen=True, kw_only=True):
    """What a recording cost the machine, and how punctual it was."""

    every_s: float
    """Sampling period asked for."""
    duration_s: float
    samples_count: int
    """Readings, of all families."""
    missed_count: int
    """Deadlines that passed while the recorder was held up."""
    cpu_ratio: float
    """CPU time of reading, parsing and keeping, as a share of one core."""
    lateness_p50_s: float
    lateness_p99_s: float
    lateness_max_s: float
    """How far behind its deadline a reading began."""
