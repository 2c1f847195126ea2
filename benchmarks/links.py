"""Our link tests beside iperf3 and sockperf, between the same two namespaces in the same run, turn by turn.

Usage: python benchmarks/links.py [--rounds N]
Exit code 0 when every bound is kept, 1 when one is not, 3 when it cannot be judged (a tool is missing, no namespaces, a busy machine).
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from wirespeed.benches.links import client
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.model.link_runs import FlowRun, LatencyRun

ADDRESS, PORT, IPERF3_PORT, SOCKPERF_PORT = "10.90.0.2", 5270, 5201, 11111
TOKEN = "for this benchmark only"
LEAST_THROUGHPUT_RATIO = 0.95
LEAST_DROP_COPY_RATIO = 1.5
MOST_P50_RATIO = 1.10
MOST_P99_RATIO = 1.50
BUSY_RATIO = 0.25
"""Share of all cores that others use while we wait, from which on a round is not counted."""
PATIENCE_S = 60.0
"""To wait for a quiet moment before each round."""
INSIDE = "--inside"
TOOLS = {"iperf3": "iperf3", "sockperf": "sockperf", "ip": "iproute2", "taskset": "util-linux", "unshare": "util-linux"}
SETUP = """
mount -t tmpfs none /run
ip netns add b
ip link set lo up
ip link add a0 type veth peer name b0 netns b
ip address add 10.90.0.1/24 dev a0
ip link set a0 up
ip -n b address add 10.90.0.2/24 dev b0
ip -n b link set lo up
ip -n b link set b0 up
"""
RESPONDER = """
from wirespeed.benches.links.responder import listen_at, serve
from wirespeed.benches.links.spec import Limits
serve(listen_at({address!r}, {port}), {token!r}, 1800.0, Limits(most_bytes_per_s=1e12))
"""


def main() -> int:
    """Make the namespaces, or measure inside them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(INSIDE, action="store_true")
    given = parser.parse_args()
    if given.inside:
        return measure(given.rounds)
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    if missing:
        print(f"links: not judged, these packages are missing: {' '.join(missing)}")
        return 3
    inside = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*inside, "true"], check=False).returncode != 0:
        print("links: not judged, this machine allows no namespaces")
        return 3
    return subprocess.run(
        [*inside, sys.executable, __file__, INSIDE, "--rounds", str(given.rounds)], check=False, timeout=1800
    ).returncode


def measure(rounds: int) -> int:
    """Every round: each tool and ours, one after the other. Everything started here ends with this process's namespace."""
    for line in SETUP.strip().splitlines():
        subprocess.run(line.split(), check=True)
    there = ["ip", "netns", "exec", "b", "taskset", "-c", str((os.cpu_count() or 1) - 1)]
    os.sched_setaffinity(0, {0})
    responder = RESPONDER.format(address=ADDRESS, port=PORT, token=TOKEN)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = [
        subprocess.Popen([*there, sys.executable, "-c", responder]),
        subprocess.Popen([*there, "iperf3", "-s", "-p", str(IPERF3_PORT)], **quiet),
        subprocess.Popen([*there, "sockperf", "sr", "--tcp", "-i", ADDRESS, "-p", str(SOCKPERF_PORT)], **quiet),
        subprocess.Popen([*there, "sockperf", "sr", "-i", ADDRESS, "-p", str(SOCKPERF_PORT)], **quiet),
    ]
    time.sleep(2.0)
    kept, disturbed = [], 0
    try:
        for number in range(rounds):
            others = wait_for_quiet()
            figures = one_round()
            others = max(others, busy_ratio())
            print(f"round {number + 1}: {told(figures)}; others use {others:.0%} of the cores", flush=True)
            if others > BUSY_RATIO:
                disturbed += 1
            else:
                kept.append(figures)
    finally:
        for server in servers:
            server.kill()
    return judge(kept, disturbed)


def one_round() -> dict[str, float]:
    """Ratios of ours to the tool's, taken within seconds of each other, and ours in plain figures."""
    first, own, dropped, again = iperf3_flow(), own_flow(is_copied=True), own_flow(is_copied=False), iperf3_flow()
    theirs = [(one + other) / 2 for one, other in zip(first, again, strict=True)]
    figures = {"throughput": own[0] / theirs[0], "drop copy": dropped[0] / theirs[0], "own Gb/s": own[0] / 1e9}
    figures |= {"per sender core": own[1] / theirs[1], "per receiver core": own[2] / theirs[2]}
    for protocol in ("tcp", "udp"):
        p50, p99 = sockperf_s(protocol)
        figures[f"{protocol} sockperf us"] = p50 * 1e6
        run = own_latency(protocol)
        figures[f"{protocol} P50"], figures[f"{protocol} P99"] = run[0] / p50, run[1] / p99
    return figures


def iperf3_flow() -> tuple[float, float, float]:
    """Bits a second, and bits a second of processor time that the sender and the receiver used (that depends less on what others do)."""
    done = subprocess.run(
        ["iperf3", "-c", ADDRESS, "-p", str(IPERF3_PORT), "-t", "2", "-O", "1", "-J"], capture_output=True, check=True, timeout=60
    )
    end = json.loads(done.stdout)["end"]
    rate, cpu = float(end["sum_received"]["bits_per_second"]), end["cpu_utilization_percent"]
    return rate, rate / (cpu["host_total"] / 100), rate / (cpu["remote_total"] / 100)


def own_flow(*, is_copied: bool) -> tuple[float, float, float]:
    """The same of ours."""
    spec = LinkSpec(
        address=ADDRESS, port=PORT, token=TOKEN, tests=("throughput",), duration_s=2.0, is_reverse_too=False, is_copied=is_copied
    )
    (flow,) = [one for one in client.run(spec) if isinstance(one, FlowRun)]
    rate = flow.goodput_bytes_per_s * 8
    return rate, rate / (flow.sender_cpu_ratio or 1.0), rate / (flow.receiver_cpu_ratio or 1.0)


def sockperf_s(protocol: str) -> tuple[float, float]:
    """Half round trips: sockperf's median and 99th percentile."""
    argv = ["sockperf", "pp", "-i", ADDRESS, "-p", str(SOCKPERF_PORT), "-t", "1", "-m", "14"]
    done = subprocess.run(
        [*argv, *(["--tcp"] if protocol == "tcp" else [])], capture_output=True, text=True, check=True, timeout=60
    )
    found = dict(re.findall(r"percentile (\d+\.\d+) =\s+(\d+\.\d+)", done.stdout))
    return float(found["50.000"]) / 1e6, float(found["99.000"]) / 1e6


def own_latency(protocol: str) -> tuple[float, float]:
    """Half round trips, as sockperf counts them."""
    spec = LinkSpec(address=ADDRESS, port=PORT, token=TOKEN, tests=("latency",), duration_s=2.0)
    runs = [one for one in client.run(spec) if isinstance(one, LatencyRun)]
    (run,) = [one for one in runs if (one.protocol, one.load, one.waiting) == (protocol, "idle", "blocking")]
    assert run.rtt_p50_s is not None and run.rtt_p99_s is not None, run
    return run.rtt_p50_s / 2, run.rtt_p99_s / 2


def wait_for_quiet() -> float:
    """Wait until others leave the machine alone, for a while; what they use in the end."""
    end_s = time.monotonic() + PATIENCE_S
    while (others := busy_ratio()) > BUSY_RATIO and time.monotonic() < end_s:
        time.sleep(1.0)
    return others


def busy_ratio() -> float:
    """Share of all cores in use while this benchmark waits: what others do."""

    def read() -> tuple[int, int]:
        ticks = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]]
        return sum(ticks), ticks[3] + ticks[4]

    first = read()
    time.sleep(0.5)
    last = read()
    return 1.0 - (last[1] - first[1]) / max(1, last[0] - first[0])


def told(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in figures.items())


def judge(kept: list[dict[str, float]], disturbed: int) -> int:
    """Medians over the undisturbed rounds, in one line."""
    if len(kept) < 3 or disturbed > len(kept):
        print(f"links: not judged, others used the machine in {disturbed} of {disturbed + len(kept)} rounds")
        return 3
    middle = {name: statistics.median(round_[name] for round_ in kept) for name in kept[0]}
    short = [
        *(["throughput"] if middle["throughput"] < LEAST_THROUGHPUT_RATIO else []),
        *(["drop copy"] if middle["drop copy"] < LEAST_DROP_COPY_RATIO else []),
        *(name for name in ("tcp P50", "udp P50") if middle[name] > MOST_P50_RATIO),
        *(name for name in ("tcp P99", "udp P99") if middle[name] > MOST_P99_RATIO),
    ]
    verdict = f"SHORT in {', '.join(short)}" if short else "all within bounds"
    print(
        f"links, medians of {len(kept)} rounds beside the tools: {middle['throughput']:.2f} of iperf3 (bound {LEAST_THROUGHPUT_RATIO}), "
        f"{middle['drop copy']:.2f} without the receiver's copy (bound {LEAST_DROP_COPY_RATIO}); of sockperf TCP P50 {middle['tcp P50']:.2f}, "
        f"P99 {middle['tcp P99']:.2f}, UDP P50 {middle['udp P50']:.2f}, P99 {middle['udp P99']:.2f} (bounds {MOST_P50_RATIO}, {MOST_P99_RATIO}); "
        f"{verdict}"
    )
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
