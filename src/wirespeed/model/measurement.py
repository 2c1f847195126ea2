"""Measured things, raw: one record a measured point."""

from typing import Literal

from wirespeed.model.record import Record


class CollectiveRun(Record, frozen=True, kw_only=True):
    """One row of a collective benchmark. `time_s` per operation; bandwidths as printed (GB = 1e9 bytes)."""

    operation: str | None
    """`all_reduce`, `all_gather`, `reduce_scatter`, `alltoall`, `broadcast`, `sendrecv` ...; None when the rows do not say."""
    size_bytes: int
    rank_count: int | None = None
    time_s: float | None = None
    """Mean of the ranks where the tool gives more than one figure."""
    time_min_s: float | None = None
    """Of the rank that was through first."""
    time_max_s: float | None = None
    """Of the rank that was through last."""
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    in_place: bool = False
    wrong_count: int | None = None
    error_ratio: float | None = None
    rank: int | None = None
    """Where each rank tells its own time of an operation of a running job; None for a benchmark's row."""
    communicator: str | None = None
    sequence_number: int | None = None
    """Place of the operation among those of its communicator: the same on every rank."""
    is_timed_by_gpu: bool | None = None


class CollectiveTotal(Record, frozen=True, kw_only=True):
    """All operations of one kind and size that a running job made, summed up."""

    operation: str
    size_bytes: int
    operations_count: int
    total_s: float
    mean_s: float | None = None
    busbw_bytes_per_s: float | None = None


class BenchmarkStart(Record, frozen=True, kw_only=True):
    """The first line of a collective benchmark's header: one for each run, or for each process that believes it is alone."""

    threads_count: int | None = None
    gpus_count: int | None = None
    """GPUs of one process (`-g`)."""


class BenchmarkRank(Record, frozen=True, kw_only=True):
    """One rank line of a benchmark header: where it runs and on which device."""

    rank: int
    node: str | None = None
    device_index: int | None = None
    device: str | None = None
    group: int | None = None


class CollectiveSummary(Record, frozen=True, kw_only=True):
    """Footer of a collective benchmark: mean busbw over all sizes (not a peak) and whether data was right."""

    busbw_mean_bytes_per_s: float | None = None
    out_of_bounds_count: int | None = None
    is_correct: bool | None = None


class ThroughputRun(Record, frozen=True, kw_only=True):
    """One throughput figure of iperf3, perftest, wget, dd and the like."""

    tool: str
    rate_bits_per_s: float
    role: Literal["sender", "receiver", "sum-sender", "sum-receiver", "interval", "mean", "peak"] = "mean"
    protocol: str | None = None
    """`tcp`, `udp`, `rdma`."""
    stream_count: int | None = None
    duration_s: float | None = None
    transferred_bytes: float | None = None
    retransmits_packets: int | None = None
    congestion_window_bytes: float | None = None
    lost_ratio: float | None = None
    jitter_s: float | None = None
    size_bytes: int | None = None
    is_reverse: bool = False
    is_both_ways: bool = False
    """Both ends sent at once and the rate is the sum of the two directions."""
    memory: Literal["host", "gpu"] | None = None
    """Where the buffers lie, as far as the tool says; `gpu` when either end's do."""
    cpu_local_ratio: float | None = None
    cpu_remote_ratio: float | None = None


class TransferProgress(Record, frozen=True, kw_only=True):
    """One moment of one transfer, from the progress lines of pv, wget, rsync, dd, curl, scp and the like."""

    tool: str
    transfer_index: int
    """Which transfer of the text this is, from 1."""
    rate_bits_per_s: float
    """At that moment, or since the moment told before."""
    elapsed_s: float | None = None
    transferred_bytes: float | None = None
    done_ratio: float | None = None


class CopySummary(Record, frozen=True, kw_only=True):
    """What a copy of many files moved in all (`rsync --stats`)."""

    tool: str
    files_count: int
    """Files that were transferred, of those looked at."""
    transferred_bytes: float
    """Size of these files."""
    sent_bytes: float | None = None
    rate_bits_per_s: float | None = None
    """Of what went over the wire, over the whole run."""


class MessageLatency(Record, frozen=True, kw_only=True):
    """Time of one message, or of one exchange, from a latency benchmark (perftest, OSU, qperf, sockperf)."""

    tool: str
    is_round_trip: bool
    """Whether the whole exchange is counted; else the time is that of one way, which these tools take for half of the exchange."""
    protocol: str | None = None
    """`tcp`, `udp`, `rdma`, `mpi`."""
    size_bytes: int | None = None
    memory: Literal["host", "gpu"] | None = None
    """Where the buffers lie, as far as the tool says; `gpu` when either end's do."""
    load: Literal["idle", "loaded"] = "idle"
    """`loaded` where messages are sent at a rate without waiting for the answers."""
    latency_min_s: float | None = None
    latency_mean_s: float | None = None
    latency_p50_s: float | None = None
    latency_p99_s: float | None = None
    latency_p999_s: float | None = None
    latency_max_s: float | None = None
    latency_deviation_s: float | None = None
    sent_count: int | None = None
    dropped_count: int | None = None


class PingRun(Record, frozen=True, kw_only=True):
    """One ping: its summary, or a single reply when that is all there is."""

    target: str
    protocol: Literal["icmp", "tcp", "udp"] = "icmp"
    """What was sent: a TCP probe times the first exchange of a handshake, and passes where echoes are dropped."""
    port: int | None = None
    payload_bytes: int | None = None
    dont_fragment: bool = False
    sent_count: int | None = None
    received_count: int | None = None
    loss_ratio: float | None = None
    rtt_min_s: float | None = None
    rtt_mean_s: float | None = None
    rtt_max_s: float | None = None
    rtt_deviation_s: float | None = None
    duplicates_count: int | None = None
    ttl_hops: int | None = None
    error: str | None = None
    """Such as `message too long, mtu=1400`, `destination unreachable`."""
    reported_mtu_bytes: int | None = None


class PathHop(Record, frozen=True, kw_only=True):
    """One hop of mtr or traceroute. Loss at a middle hop alone means nothing: routers limit their answers."""

    hop_index: int
    address: str | None
    sent_count: int | None = None
    loss_ratio: float | None = None
    rtt_mean_s: float | None = None
    rtt_min_s: float | None = None
    rtt_max_s: float | None = None
    rtt_deviation_s: float | None = None
    path_mtu_bytes: int | None = None
    """Path MTU learnt at this hop (`tracepath`, `traceroute --mtu`)."""
    is_last: bool = False


class HttpTiming(Record, frozen=True, kw_only=True):
    """One request's times from `curl -w`: seconds since start, as curl defines them."""

    label: str = ""
    """What the line or command says about the request (`proxy`, `direct`, a URL, `response 1 KB`)."""
    url: str | None = None
    namelookup_s: float | None = None
    connect_s: float | None = None
    appconnect_s: float | None = None
    pretransfer_s: float | None = None
    starttransfer_s: float | None = None
    total_s: float | None = None
    size_bytes: float | None = None
    speed_bytes_per_s: float | None = None
    status_code: int | None = None
    connects_count: int | None = None
    http_version: str | None = None


class ServedRequest(Record, frozen=True, kw_only=True):
    """One request of a server's log: when its answer ended (seconds since 1970; only differences mean something) and how long it took."""

    path: str
    method: str
    status_code: int
    ended_s: float
    duration_s: float


class LoadRun(Record, frozen=True, kw_only=True):
    """Summary of an HTTP load test (wrk, hey, oha, ab)."""

    tool: str
    requests_per_s: float | None = None
    latency_mean_s: float | None = None
    latency_p50_s: float | None = None
    latency_p90_s: float | None = None
    latency_p95_s: float | None = None
    latency_p99_s: float | None = None
    latency_max_s: float | None = None
    connections_count: int | None = None
    requests_count: int | None = None
    error_counts: dict[str, int] = {}
    status_counts: dict[str, int] = {}
    dns_dialup_s: float | None = None
    duration_s: float | None = None


class NameLookup(Record, frozen=True, kw_only=True):
    """One timed look-up of a name."""

    name: str
    time_s: float
    is_answered: bool | None = None
    queries_count: int | None = None


class NameServerRun(Record, frozen=True, kw_only=True):
    """One name asked of one name server several times, one question after another."""

    server: str
    name: str
    sent_count: int
    answered_count: int
    time_p50_s: float | None = None
    time_max_s: float | None = None
    is_known: bool | None = None
    """Whether the server knows the name (NOERROR with answers); None without any answer."""
    error: str | None = None
    """Why nothing could be asked, such as `refused`."""


class PortProbe(Record, frozen=True, kw_only=True):
    """One TCP connection attempt (nc, curl, telnet, a library's connect) and how it ended."""

    target: str
    port: int | None = None
    outcome: Literal["connected", "refused", "timed-out", "no-route", "unreachable", "reset", "aborted", "prohibited"]
    time_s: float | None = None


class TrainingStep(Record, frozen=True, kw_only=True):
    """One logged step or interval: total time and the part spent waiting for data, where logged."""

    step_index: int
    step_s: float | None = None
    step_mean_s: float | None = None
    data_s: float | None = None
    data_mean_s: float | None = None
    throughput_per_s: float | None = None
    """Samples, examples, images or tokens per second as the log counts them."""
    flops_per_s: float | None = None
    """Of one GPU, as the program counts the model's operations."""
    rank: int | None = None


class PhaseTime(Record, frozen=True, kw_only=True):
    """Time of one part of a training step by the program's own timers: of one rank, or the least and the most of all ranks."""

    name: str
    """As the program names it: `forward-backward`, `all-grads-sync`, `batch-generator`, `bwd_allreduce`, `optimizer` ..."""
    time_s: float | None = None
    time_min_s: float | None = None
    time_max_s: float | None = None
    rank: int | None = None
    report_index: int = 0
    """Which report of the text it is from, in order: parts of one step share it."""


class ServingMetric(Record, frozen=True, kw_only=True):
    """One metric of an inference server or load test: `ttft_s`, `queue_s`, `running_count`, `kv_use_ratio` ...

    `name` is the source's name in snake_case; `at` the load or labels of the row.
    """

    name: str
    value: float
    at: str = ""
    run: str = ""
    """Figures with the same text are of one run of a load generator; empty where the source does not tell runs apart."""
