"""Diagnose every fault of the lab, and healthy labs, and count how often the right cause comes first.

Usage: python benchmarks/lab.py [--seeds 5] [--healthy 60] [--fault NAME ...] [--rows FILE]
Each run is made in a lab of its own. Rows are written to FILE as they come; runs that stand there already, made by the same sources, are
not made again, so a benchmark that was interrupted goes on. Exit code 1 when short of the figures.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import wirespeed

LAB = "bench"
WANTED_FIRST_RATIO, WANTED_THIRD_RATIO = 0.95, 1.0
MOST_DIAGNOSIS_S = 15.0
SURE_RATIO = 0.5
ALARMING = ("high", "medium")
QUIET_RATIO = 0.2
QUIET_PATIENCE_S = 20.0
LOOK_S = 1.0
LOOK_ALIKES = {
    "mtu_black_hole": ("firewall-blocks-ports",),
    "mtu_probing_off": ("firewall-blocks-ports",),
    "port_range_blocked": ("pmtu-blackhole", "mtu-mismatch"),
    "loss_random": ("straggler-slow-node", "cpu-cfs-throttling"),
    "loss_bursts": ("straggler-slow-node", "cpu-cfs-throttling"),
    "slow_host_cpu": ("packet-loss", "link-speed-lower-than-assumed"),
    "stalling_host": ("packet-loss", "link-speed-lower-than-assumed"),
    "nagle_split_writes": ("server-saturated",),
    "slow_server": ("nagle-delayed-ack",),
    "rate_cap": ("straggler-slow-node", "cpu-cfs-throttling"),
    "one_direction_cap": ("straggler-slow-node", "cpu-cfs-throttling"),
    "dns_slow": ("accept-queue-overflow", "distance"),
    "dns_search_storm": ("accept-queue-overflow", "distance"),
    "listen_queue_overflow": ("dns-slow", "firewall-blocks-ports"),
}
"""What each is taken for; such a cause must not come first."""
TRAFFIC = ("idle", "training", "serving")
SETTLE_S = 1.5
"""A fault that starts programs has them running by then, as a fault of a day would."""


def main() -> int:
    """Run all, print a line each and the figures last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--healthy", type=int, default=60)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--rows", type=Path)
    asked = parser.parse_args()
    if asked.rows:
        asked.rows.parent.mkdir(parents=True, exist_ok=True)
    wirespeed.lab.down(name=LAB)
    wirespeed.lab.up(name=LAB)
    faults = [one for one in wirespeed.lab.faults(name=LAB).faults if not asked.fault or one.fault in asked.fault]
    for one in faults:
        if not one.available:
            print(f"not available here: {one.fault} (lacks {', '.join(one.lacking)})")
    kept = kept_rows(asked.rows)
    rows = []
    runs = [(one.fault, seed, partial(faulty, one, seed)) for one in faults if one.available for seed in range(asked.seeds)]
    runs += [("healthy", number, partial(healthy, number)) for number in range(0 if asked.fault else asked.healthy)]
    for what, number, run in runs:
        row = kept.get((what, number)) or {**run(), "run": [what, number], "sources": SOURCES}
        rows.append(row)
        if asked.rows and (what, number) not in kept:
            with asked.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    wirespeed.lab.down(name=LAB)
    return told(rows)


def kept_rows(path: Path | None) -> dict[tuple[str, int], dict[str, object]]:
    """Rows of an earlier part of this benchmark by what was run: those of the same sources."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row["run"][0], row["run"][1]): row for row in rows if row["sources"] == SOURCES}


def sources_digest() -> str:
    """Of everything in the package, so that rows of other code are told apart."""
    digest = hashlib.sha256()
    for path in sorted(Path(wirespeed.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = sources_digest()


def faulty(fault: object, seed: int) -> dict[str, object]:
    """Break a fresh lab, diagnose it, and say at which place the right cause came."""
    load = fresh_lab()
    broken = wirespeed.lab.break_(fault=fault.fault, seed_number=seed, name=LAB)  # type: ignore[attr-defined]
    time.sleep(SETTLE_S)
    causes, took_s, answer = diagnosed()
    place = causes.index(fault.cause) + 1 if fault.cause in causes else 0  # type: ignore[attr-defined]
    rules = [rule for finding in answer.findings for rule in (finding.rule, *finding.also)]
    row = {
        "fault": fault.fault, "seed": seed, "where": broken.where, "details": broken.details, "cause": fault.cause,  # type: ignore[attr-defined]
        "is_counted": fault.is_counted, "rule_is_present": fault.rule in rules, "place": place, "causes": causes[:4], "took_s": took_s,  # type: ignore[attr-defined]
        "load": load, "confidence": [round(one.confidence_ratio, 2) for one in answer.findings[:4]],
    }  # fmt: skip
    print(f"{row['fault']:28} seed {seed} {broken.where:14} place {place} {took_s:5.1f} s {shown(answer)}", flush=True)
    return row


def healthy(number: int) -> dict[str, object]:
    """Diagnose a lab without a fault, under one of the usual loads."""
    load = fresh_lab()
    kind = TRAFFIC[number % len(TRAFFIC)]
    wirespeed.lab.traffic(kind=kind, name=LAB)
    time.sleep(SETTLE_S)
    causes, took_s, answer = diagnosed()
    alarms = [one.cause for one in answer.findings if one.severity in ALARMING and one.confidence_ratio >= SURE_RATIO]
    print(f"healthy, {kind:18} run {number:3} {'ALARM' if alarms else 'silent'} {took_s:5.1f} s {shown(answer)}", flush=True)
    return {"healthy": kind, "alarms": alarms, "causes": causes[:4], "took_s": took_s, "load": load}


def fresh_lab() -> float:
    """A new lab on a machine that is quiet, or as quiet as it becomes; the share of its cores that others used just before."""
    wirespeed.lab.down(name=LAB)
    waited_s = 0.0
    while (busy := busy_ratio()) > QUIET_RATIO and waited_s < QUIET_PATIENCE_S:
        waited_s += LOOK_S
    wirespeed.lab.up(name=LAB)
    return busy


def busy_ratio() -> float:
    """Share of all cores that was not idle over a moment. A load average would still show our own last run."""
    before = cpu_ticks()
    time.sleep(LOOK_S)
    total, idle = (after - earlier for after, earlier in zip(cpu_ticks(), before, strict=True))
    return 1.0 - idle / max(total, 1)


def cpu_ticks() -> tuple[int, int]:
    """All ticks since boot, and the idle ones (proc(5))."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return sum(ticks[:8]), ticks[3] + ticks[4]


def diagnosed() -> tuple[list[str], float, object]:
    start_s = time.perf_counter()
    answer = wirespeed.diagnose(lab=True, name=LAB, budget="13.5s")
    return [one.cause for one in answer.findings], time.perf_counter() - start_s, answer


def shown(answer: object) -> str:
    return ", ".join(f"{one.cause} {one.confidence_ratio:.2f}" for one in answer.findings[:3])  # type: ignore[attr-defined]


def told(rows: list[dict[str, object]]) -> int:
    """The figures in one line, after what went wrong."""
    counted = [row for row in rows if "fault" in row and row["is_counted"]]
    first = sum(row["place"] == 1 for row in counted)
    third = sum(0 < row["place"] <= 3 for row in counted)  # type: ignore[operator]
    ruled = sum(bool(row["rule_is_present"]) for row in counted)
    calm = [row for row in rows if "healthy" in row]
    alarms = [row for row in calm if row["alarms"]]
    longest_s = max((row["took_s"] for row in rows), default=0.0)  # type: ignore[type-var]
    busy = sum(row["load"] > QUIET_RATIO for row in rows)  # type: ignore[operator]
    wrong = Counter(
        f"{row['fault']} taken for {row['causes'][0] if row['causes'] else 'nothing'}" for row in counted if row["place"] != 1
    )  # type: ignore[index]
    for what, count in wrong.most_common():
        print(f"{count} x {what}")
    if busy:
        print(f"the machine was not quiet in {busy} of {len(rows)} runs (others used more than {QUIET_RATIO:.0%} of its cores)")
    likes = [row for row in rows if row.get("fault") in LOOK_ALIKES]
    mixed = [row for row in likes if row["causes"] and row["causes"][0] in LOOK_ALIKES[row["fault"]]]  # type: ignore[index]
    faults = len({row["fault"] for row in counted})
    total = max(len(counted), 1)
    print(
        f"bench-lab: {faults} faults, {len(counted)} runs: right first {first / total:.3f}, in three {third / total:.3f}, its rule present "
        f"{ruled / total:.3f}; look-alikes told apart {len(likes) - len(mixed)} of {len(likes)}; {len(calm)} healthy runs, {len(alarms)} alarms; longest diagnosis {longest_s:.1f} s"
    )
    is_short = first < WANTED_FIRST_RATIO * len(counted) or third < WANTED_THIRD_RATIO * len(counted) or alarms or mixed
    return int(bool(is_short or longest_s > MOST_DIAGNOSIS_S))


if __name__ == "__main__":
    sys.exit(main())
