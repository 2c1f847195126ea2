"""Measure what recording costs, how punctual it is, and whether 20 ms of line rate each second show as that.

Usage: python benchmarks/recorder.py [--seconds 8] [--rounds 3]     (exit code 1 when short of the figures)

Overhead is the CPU time of sampling, parsing, compressing and writing, measured by the recorder itself (`RecordingCost`) over a recording that
is kept; the median of the rounds counts. The burst picture is taken in a network namespace of its own that ends with the process: a veth pair,
a token bucket of 200 Mb/s, and a sender that hands it half a megabyte (20 ms at that rate) at the start of each second.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from wirespeed.archive.series import FrameWriter
from wirespeed.model.series import Burst, RecordingCost
from wirespeed.observation.recording import fast_family_names, record

MOST_AT_10_HZ_RATIO, MOST_AT_100_HZ_RATIO = 0.01, 0.05
RATE_BITS_PER_S, BURST_S, PERIOD_S = 200e6, 0.02, 1.0
INSIDE = "WIRESPEED_BENCH_INSIDE"


def main() -> int:
    """Print a line a figure, and all in the last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if os.environ.get(INSIDE):
        return burst_picture(asked.seconds)
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    slow = cost("everything at 10 Hz", None, 0.1, asked.seconds, asked.rounds, MOST_AT_10_HZ_RATIO)
    fast = cost("fast set at 100 Hz", fast_family_names(), 0.01, asked.seconds, asked.rounds, MOST_AT_100_HZ_RATIO)
    cost("everything, fast set at 100 Hz", None, 0.01, asked.seconds, 1, None)
    picture, is_right = pictured(asked.seconds)
    is_cheap = slow.cpu_ratio < MOST_AT_10_HZ_RATIO and fast.cpu_ratio < MOST_AT_100_HZ_RATIO
    print(
        f"recorder: {slow.cpu_ratio:.2%} of a core at 10 Hz (bound {MOST_AT_10_HZ_RATIO:.0%}), {fast.cpu_ratio:.2%} at 100 Hz "
        f"(bound {MOST_AT_100_HZ_RATIO:.0%}), lateness P99 {slow.lateness_p99_s * 1e3:.2f} and {fast.lateness_p99_s * 1e3:.2f} ms; {picture}"
    )
    return 0 if is_cheap and is_right else 1


def cost(
    what: str, families: tuple[str, ...] | None, every_s: float, for_s: float, rounds: int, bound: float | None
) -> RecordingCost:
    """The round of median CPU time, after one that is not counted: it loads what later ones find loaded."""
    record(None, families, for_s=0.6, every_s=every_s)
    found = sorted((_kept_cost(families, every_s, for_s) for _ in range(rounds)), key=lambda one: one.cpu_ratio)
    middle = found[len(found) // 2]
    late = ", ".join(f"{value * 1e3:.2f}" for value in (middle.lateness_p50_s, middle.lateness_p99_s, middle.lateness_max_s))
    bounded = "" if bound is None else f" (bound {bound:.0%})"
    print(
        f"{what}: {middle.cpu_ratio:.2%} of a core{bounded}, {middle.samples_count} readings in {middle.duration_s:.1f} s, "
        f"lateness P50, P99, most {late} ms, {middle.missed_count} deadlines missed; rounds {[f'{one.cpu_ratio:.2%}' for one in found]}"
    )
    return middle


def _kept_cost(families: tuple[str, ...] | None, every_s: float, for_s: float) -> RecordingCost:
    with tempfile.TemporaryDirectory(prefix="wirespeed-bench-") as folder:
        writer = FrameWriter(Path(folder))
        recording = record(None, families, for_s=for_s, every_s=every_s, sink=writer.write)
        writer.close()
        return recording.cost()


def pictured(for_s: float) -> tuple[str, bool]:
    """The burst picture from a namespace; None where this machine allows none, which is told and does not count."""
    unshare = shutil.which("unshare")
    if unshare is None or shutil.which("ip") is None or shutil.which("tc") is None:
        return "no burst picture: unshare, ip or tc is missing", True
    flags = ["--net", "--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net", "--mount"]
    command = [unshare, *flags, sys.executable, __file__, "--seconds", str(for_s)]
    done = subprocess.run(command, env=os.environ | {INSIDE: "1"}, capture_output=True, text=True, timeout=for_s + 60, check=False)
    sys.stderr.write(done.stderr)
    if done.returncode == 3:
        return f"no burst picture: {done.stdout.strip()}", True
    return done.stdout.strip().splitlines()[-1] if done.stdout else "the burst picture failed", done.returncode == 0


def burst_picture(for_s: float) -> int:
    """Inside the namespace: bursts out of one end of a veth pair, and what the recorder makes of them."""
    commands = (
        "ip link set lo up",
        "ip link add a0 type veth peer name b0",
        "ip addr add 10.66.0.1/24 dev a0",
        "ip link set a0 up",
        "ip link set b0 up",
        "ip neigh add 10.66.0.2 lladdr 02:00:00:00:00:66 dev a0 nud permanent",
        f"tc qdisc add dev a0 root tbf rate {RATE_BITS_PER_S:.0f}bit burst 15k limit 1m",
    )
    for command in commands:
        done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{command}: {done.stderr.strip()}")
            return 3
    count = int(for_s)
    sender = threading.Thread(target=send_bursts, args=(count,), daemon=True)
    sender.start()
    recording = record(None, ["links", "qdiscs", "protocols", "softnet"], for_s=count + 0.2, every_s=0.01)
    sender.join()
    bursts = [one for one in recording.records() if isinstance(one, Burst) and (one.link, one.direction) == ("a0", "tx")]
    if not bursts:
        print("no burst was seen")
        return 1
    (found,) = bursts
    period = "none" if found.period_s is None else f"{found.period_s:.3f} s"
    print(
        f"bursts: {found.bursts_count} of {count} seen, every {period} (truth {PERIOD_S:.0f} s), {found.burst_p50_s * 1e3:.1f} ms long "
        f"(truth {BURST_S * 1e3:.0f}), peak {found.peak_bytes_per_s * 8 / 1e6:.0f} of {RATE_BITS_PER_S / 1e6:.0f} Mb/s against a mean of "
        f"{found.mean_bytes_per_s * 8 / 1e6:.1f}, queue peak {found.queue_peak_packets} packets"
    )
    is_right = (
        abs(found.bursts_count - count) <= 1
        and found.period_s is not None
        and abs(found.period_s - PERIOD_S) < 0.05
        and abs(found.burst_p50_s - BURST_S) < 0.01
        and found.peak_bytes_per_s * 8 > 0.8 * RATE_BITS_PER_S
        and bool(found.queue_peak_packets)
    )
    return 0 if is_right else 1


def send_bursts(count: int) -> None:
    """Half a megabyte on each second."""
    payload = b"x" * 1400
    size_bytes = RATE_BITS_PER_S / 8 * BURST_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * 1024 * 1024)
        start_s = time.monotonic() + 0.3
        for number in range(count):
            time.sleep(max(start_s + number * PERIOD_S - time.monotonic(), 0.0))
            sent = 0
            while sent < size_bytes:
                sent += handle.sendto(payload, ("10.66.0.2", 9))


if __name__ == "__main__":
    sys.exit(main())
