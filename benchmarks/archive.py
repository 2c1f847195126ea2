"""Diagnose a sosreport-like archive of 300 MB with 2,000 members: time, memory, and whether the planted fault comes out first.

Usage: python benchmarks/archive.py [--archive FILE] [--scale 1.0]     (exit code 1 when over the bounds or another cause leads)

The archive is made first (about a minute, not counted), unless FILE is there already. `wirespeed diagnose` runs as a child process; its
wall time, CPU time and peak memory are the kernel's own figures (wait4). The last line has all figures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sosreport

WANTED_WALL_S = 30.0
WANTED_MEMORY_MB = 500.0
WANTED_ARCHIVE_MB = 300.0


def main() -> int:
    """Make the archive, diagnose it, print figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wirespeed-bench-") as folder:
        place = options.archive or Path(folder) / "sosreport.tar.gz"
        if not place.exists():
            start = time.perf_counter()
            count, content_bytes = sosreport.write(place, options.scale)
            print(f"made in {time.perf_counter() - start:.0f} s: {count} members of {content_bytes / 1e6:.0f} MB in all")
        wall_s, cpu_s, memory_mb, answer = diagnosed(place, Path(folder) / "answer.json")
        archive_mb = place.stat().st_size / 1e6
    print(f"{len(answer['inputs'])} texts read, {sum(one['records'] for one in answer['inputs'])} records")
    for problem in answer["problems"]:
        print(f"  {problem['why']['en']}")
    for finding in answer["findings"][:5]:
        sources = {quote["source"].rpartition(f"{sosreport.ROOT}/")[2] for one in finding["evidence"] for quote in one["quotes"]}
        print(f"  {finding['confidence_ratio']:.2f} {finding['cause']} ({', '.join(sorted(sources)[:3])})")
    first = answer["findings"][0]["cause"] if answer["findings"] else "nothing"
    is_within = wall_s < WANTED_WALL_S and memory_mb < WANTED_MEMORY_MB and archive_mb >= WANTED_ARCHIVE_MB * options.scale * 0.95
    print(
        f"{archive_mb:.0f} MB: {wall_s:.1f} s (bound {WANTED_WALL_S:.0f} s), {cpu_s:.1f} s of CPU, {memory_mb:.0f} MB of memory"
        f" (bound {WANTED_MEMORY_MB:.0f} MB), first: {first} (planted: {sosreport.EXPECTED_CAUSE})"
    )
    return 0 if is_within and first == sosreport.EXPECTED_CAUSE else 1


def diagnosed(place: Path, answer: Path) -> tuple[float, float, float, dict[str, Any]]:
    """Wall time, CPU time in seconds, peak memory in MB, and the answer."""
    with answer.open("wb") as output:
        start = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-m", "wirespeed", "diagnose", str(place), "--format", "json"], stdout=output)
        _, _, used = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start
    return wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, json.loads(answer.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
