"""Measure what looking at the machine costs: the whole inspection, each collector, and 4,000 loopback sockets with TCP_INFO.

Usage: python benchmarks/facts.py [--sockets N]     (exit code 1 when over the bounds)
"""

import argparse
import contextlib
import gc
import resource
import socket
import statistics
import struct
import sys
import time

from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem
from wirespeed.model import shelf
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.verbs import inspect

WANTED_SOCKETS_S = 0.05
WANTED_INSPECTION_S = 2.0
ROUNDS = 7


def main() -> int:
    """Print one line a figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sockets", type=int, default=4000)
    wanted = parser.parse_args().sockets
    collectors = shelf.every(facts, Collector)
    start = time.perf_counter()
    inspect.run(inspect.Options())
    inspection_s = time.perf_counter() - start
    print(f"inspection {inspection_s:.3f} s (bound {WANTED_INSPECTION_S} s)")
    for name, collector in collectors.items():
        took = timed(collector)[0]
        print(f"  {name:16} {took * 1e3:8.2f} ms (stated {collector.cost_s * 1e3:.0f} ms)")
    with contextlib.ExitStack() as stack:
        opened = open_sockets(stack, wanted)
        wall_s, cpu_s, found = timed(collectors["connections"])
    bound = f"bound {WANTED_SOCKETS_S * 1e3:.0f} ms of CPU"
    print(f"{found} sockets ({opened} opened here): {cpu_s * 1e3:.1f} ms of CPU, {wall_s * 1e3:.1f} ms in all, medians ({bound})")
    return 0 if inspection_s < WANTED_INSPECTION_S and cpu_s < WANTED_SOCKETS_S and found >= opened else 1


def timed(collector: Collector) -> tuple[float, float, int]:
    """Median wall time and CPU time of a collector, and how many sockets it saw. CPU time judges: the machine may be shared."""
    took: list[float] = []
    worked: list[float] = []
    found = 0
    for _ in range(ROUNDS):
        gc.collect()
        start, start_cpu = time.perf_counter(), time.process_time()
        try:
            items = list(collector.observe(Local()))
        except MachineProblem:
            items = []
        took.append(time.perf_counter() - start)
        worked.append(time.process_time() - start_cpu)
        found = sum(isinstance(item, TcpSocket) for item in items)
    return statistics.median(took), statistics.median(worked), found


def open_sockets(stack: contextlib.ExitStack, wanted: int) -> int:
    """Open pairs of connected loopback sockets, within the limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, wanted + 200)), hard))
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))
    for _ in range(wanted // 2):
        for one in (stack.enter_context(socket.create_connection(server.getsockname())), stack.enter_context(server.accept()[0])):
            one.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )  # closing resets: no TIME-WAIT for the next run
    return wanted // 2 * 2


if __name__ == "__main__":
    sys.exit(main())
