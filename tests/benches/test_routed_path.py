"""Path MTU, hops and DSCP over a real router in namespaces: with ICMP, without it, with a firewall in between."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benches.peers import in_namespace
from wirespeed.model import record_lines
from wirespeed.model.link_runs import FlowRun, HeaderRun, PathMtuRun
from wirespeed.model.measurement import PathHop, PortProbe
from wirespeed.model.record import Record

SCRIPT = Path(__file__).parent / "routed.py"


def measured(router: str, tests: str) -> list[Record]:
    if router != "plain" and shutil.which("nft") is None:
        pytest.skip("nft is not installed")
    tried = subprocess.run([*in_namespace(), "ip", "link"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip("namespaces cannot be made here")
    done = subprocess.run(
        [*in_namespace(), sys.executable, str(SCRIPT), router, tests],
        capture_output=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr.decode()
    return [one for one in record_lines.decoded(done.stdout.splitlines(), "routed") if isinstance(one, Record)]


def test_a_small_mtu_is_found_both_ways_and_a_router_tells_of_one() -> None:
    """Towards b the router says so; from b the frame is larger than the router's interface takes, and nobody says so."""
    there, back = [one for one in measured("plain", "path_mtu") if isinstance(one, PathMtuRun)]
    assert (there.sender, there.interface_mtu_bytes, there.passed_bytes, there.lost_bytes, there.reported_bytes) == (
        "a",
        9000,
        1400,
        1401,
        1400,
    )
    assert (back.sender, back.interface_mtu_bytes, back.reported_bytes) == ("b", 9000, None)
    assert back.passed_bytes is not None and back.lost_bytes == back.passed_bytes + 1
    assert 1400 <= back.passed_bytes <= 1418  # a veth takes a VLAN tag and a header more than its MTU


def test_a_black_hole_is_found_without_a_word_from_routers() -> None:
    there, _ = [one for one in measured("silent", "path_mtu") if isinstance(one, PathMtuRun)]
    assert (there.passed_bytes, there.lost_bytes, there.reported_bytes) == (1400, 1401, None)


def test_hops_are_counted_and_named() -> None:
    found = measured("plain", "hops")
    headers = [one for one in found if isinstance(one, HeaderRun)]
    assert [(one.sender, one.hops_count) for one in headers] == [("a", 1), ("b", 1)]
    assert headers[0].is_same_subnet is False
    hops = [one for one in found if isinstance(one, PathHop)]
    assert [(hop.hop_index, hop.address, hop.is_last) for hop in hops] == [(1, "10.1.0.2", False), (2, "10.2.0.1", True)]


@pytest.mark.parametrize(("router", "kept"), [("plain", True), ("bleach", False)])
def test_dscp_kept_or_not(router: str, kept: bool) -> None:
    headers = [one for one in measured(router, "dscp") if isinstance(one, HeaderRun)]
    assert len(headers) == 6
    assert all(one.dscp_received_code == (one.dscp_sent_code if kept else 0) for one in headers)


def test_a_firewall_that_drops_gives_records_soon() -> None:
    start = time.monotonic()
    found = measured("block", "connect,throughput,path_mtu")
    assert time.monotonic() - start < 20
    assert {one.outcome for one in found if isinstance(one, PortProbe)} == {"timed-out"}
    flows = [one for one in found if isinstance(one, FlowRun)]
    assert flows and all(one.error == "timed-out" and one.received_bytes == 0 for one in flows)


def test_a_black_holed_flow_is_a_record() -> None:
    """Segments of 8960 bytes vanish in silence: the handshake works, and the flow tells of time-outs and nothing received."""
    flows = [one for one in measured("silent", "throughput") if isinstance(one, FlowRun)]
    there = next(one for one in flows if one.sender == "a")
    assert there.received_bytes < 100_000
    assert there.error == "timed-out" or there.retransmits_packets
