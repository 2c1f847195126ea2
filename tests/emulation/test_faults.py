"""Every fault breaks something, heals without a trace, and can be seen by measuring."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wirespeed.diagnosis import rules
from wirespeed.emulation import breaking, control, faults, features, founding, traffic
from wirespeed.emulation import lab as labs
from wirespeed.emulation.fault import Fault
from wirespeed.emulation.state import DEFAULT_NAME, read_state
from wirespeed.emulation.topology import Spec
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Rule
from wirespeed.verbs.lab.up import KEEPER_MODULE

SHELF = shelf.every(faults, Fault)
_LOOK = """
ip -d link; ip addr; ip route show table all; ip rule; tc qdisc; nft list ruleset
cat /etc/hosts /etc/resolv.conf; grep -rs . /proc/sys/net/ipv4
"""
_VOLATILE = re.compile(r"[a-z_]+_timer +[\d.]+|/route/flush.*")


def _snapshot(lab: labs.Lab, nodes: tuple[str, ...] = ()) -> dict[str, str]:
    """Everything that is set up in each node (or in these), and which processes the lab has."""
    seen = {}
    for name in nodes or tuple(node.name for node in lab.nodes):
        seen[name] = _VOLATILE.sub("", lab.order(name, control.Run(argv=("sh", "-c", _LOOK))).output)
    return {**seen, "processes": "\n".join(_processes(lab))}


def _processes(lab: labs.Lab) -> list[str]:
    """Names of all processes of the lab; those that carry out an order are waited for."""
    space = Path(f"/proc/{lab.node('h1').pid}/ns/pid").readlink()
    deadline = time.monotonic() + 2
    while True:
        names = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (place / "ns" / "pid").readlink() == space:
                    names.append((place / "comm").read_text(encoding="utf-8").strip())
        nodes = [name for name in names if name.startswith("lab ")]
        if len(nodes) == len(set(nodes)) or time.monotonic() > deadline:
            return sorted(names)
        time.sleep(0.01)


@pytest.fixture(scope="module")
def untouched(lab: labs.Lab) -> dict[str, str]:
    return _snapshot(lab)


@pytest.fixture
def healed(lab: labs.Lab) -> Iterator[None]:
    yield
    breaking.take_out(DEFAULT_NAME)


def _skip_unless_possible(lab: labs.Lab, fault_id: str) -> None:
    lacking = features.lacking(SHELF[fault_id], features.present(), lab.state.drawing)
    if lacking:
        pytest.skip(f"{fault_id} needs {features.TITLES[lacking[0]].en}")


def _difference(one: dict[str, str], other: dict[str, str]) -> dict[str, set[str]]:
    return {name: set(one[name].splitlines()) ^ set(other[name].splitlines()) for name in one if one[name] != other[name]}


def _run(lab: labs.Lab, node: str, *command: str) -> str:
    argv = (*lab.enter_argv(lab.node(node)), *command)
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False).stdout


def _loss_ratio(lab: labs.Lab, node: str, to: str, count: int = 1000) -> float:
    said = _run(lab, node, "ping", "-q", "-i", "0.002", "-c", str(count), "-W", "1", to)
    found = re.search(r"(\d+) received", said)
    assert found, said
    return 1 - int(found[1]) / count


def _rtt_s(lab: labs.Lab, node: str, to: str) -> float:
    said = _run(lab, node, "ping", "-q", "-i", "0.02", "-c", "20", to)
    found = re.search(r"= ([\d.]+)/", said)
    assert found, said
    return float(found[1]) / 1e3


_SINK = (
    "import socket,time\n"
    "l=socket.create_server(('',5011));print('ready',flush=True);c,_=l.accept();n=0;b=bytearray(1<<18);t=None\n"
    "while k:=c.recv_into(b): t=t or time.monotonic(); n+=k\n"
    "print(n*8/(time.monotonic()-t))\n"
)
_SENDER = (
    "import socket,sys,time\n"
    "s=socket.create_connection((sys.argv[1],5011));b=bytes(65536);e=time.monotonic()+0.6\n"
    "while time.monotonic()<e: s.send(b)\n"
)


def _rate_bits_per_s(lab: labs.Lab, sender: str, receiver: str) -> float:
    argv = (*lab.enter_argv(lab.node(receiver)), sys.executable, "-c", _SINK)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as sink:
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        _run(lab, sender, sys.executable, "-c", _SENDER, receiver)
        return float(sink.stdout.read())


def _log_says(lab: labs.Lab, node: str, wanted: str, seconds: float = 8.0, file: str = "client.log") -> bool:
    log = lab.directory / node / file
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if re.search(wanted, log.read_text(encoding="utf-8")):
                return True
        time.sleep(0.05)
    return False


def _counter(lab: labs.Lab, node: str, name: str) -> int:
    """One counter of /proc/net/netstat or snmp, which have names and values in lines of their own."""
    lines = lab.order(node, control.Run(argv=("cat", "/proc/net/netstat", "/proc/net/snmp"))).output.splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        found = dict(zip(names.split(), values.split(), strict=True))
        if name in found:
            return int(found[name])
    raise LookupError(name)


@pytest.mark.parametrize("fault_id", sorted(SHELF))
def test_names_an_existing_rule_of_its_cause(fault_id: str) -> None:
    fault = SHELF[fault_id]
    assert shelf.take(rules, fault.rule, Rule).cause == fault.cause
    assert fault.moves


def test_the_shelf_is_full() -> None:
    assert sum(fault.is_counted for fault in SHELF.values()) >= 26


@pytest.mark.parametrize("fault_id", sorted(SHELF))
def test_breaks_and_heals_without_a_trace(lab: labs.Lab, untouched: dict[str, str], fault_id: str) -> None:
    _skip_unless_possible(lab, fault_id)
    done = breaking.put_in(DEFAULT_NAME, fault_id, seed=7)
    try:
        assert labs.open_lab().state.faults == (done,)
        assert done.details
        touched = tuple(dict.fromkeys(undo.node for undo in done.undo))
        broken = _difference(_snapshot(lab, touched), untouched)
        assert broken or any(undo.kind == "cgroup" for undo in done.undo)
    finally:
        breaking.take_out(DEFAULT_NAME)
    assert _difference(untouched, _snapshot(lab)) == {}
    assert labs.open_lab().state.faults == ()


def test_a_seed_gives_the_same_again(lab: labs.Lab, healed: None) -> None:
    drawn = []
    for seed in (1, 1, 2, 3, 4, 5):
        one = breaking.put_in(DEFAULT_NAME, "mtu_mismatch", seed=seed)
        drawn.append((one.where, one.details["mtu"]))
        breaking.take_out(DEFAULT_NAME)
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 2


def test_a_second_fault_must_be_asked_for(lab: labs.Lab, healed: None) -> None:
    breaking.put_in(DEFAULT_NAME, "rate_cap", where="h1", seed=1)
    with pytest.raises(CouldNot, match="rate_cap is in force already"):
        breaking.put_in(DEFAULT_NAME, "mtu_mismatch", where="h2", seed=1)
    breaking.put_in(DEFAULT_NAME, "mtu_mismatch", where="h2", seed=1, also=True)
    assert [one.fault for one in breaking.take_out(DEFAULT_NAME, "rate_cap")] == ["rate_cap"]
    assert [one.fault for one in labs.open_lab().state.faults] == ["mtu_mismatch"]


def test_unknown_faults_and_places(lab: labs.Lab) -> None:
    with pytest.raises(BadRequest, match="no fault called nonsense"):
        breaking.put_in(DEFAULT_NAME, "nonsense")
    with pytest.raises(BadRequest, match="it can on h1, h2, h3, h4"):
        breaking.put_in(DEFAULT_NAME, "rate_cap", where="h9")
    with pytest.raises(BadRequest, match="not in force"):
        breaking.take_out(DEFAULT_NAME, "rate_cap")


def test_a_break_that_fails_is_taken_back(lab: labs.Lab, untouched: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    lab.order("h2", control.Run(argv=("ip", "address", "add", "10.1.0.1/32", "dev", "eth0")))  # what the fault would add
    before = _snapshot(lab)
    with pytest.raises(CouldNot, match=r"File exists|already assigned"):
        breaking.put_in(DEFAULT_NAME, "duplicate_address", where="h1-h2", seed=1)
    lab.order("h2", control.Run(argv=("ip", "address", "del", "10.1.0.1/32", "dev", "eth0")))
    assert labs.open_lab().state.faults == ()
    assert _difference(untouched, _snapshot(lab)) == {}
    assert before != untouched


@pytest.mark.parametrize("after_s", [0.25, 0.35])
def test_break_killed_midway_is_healed(lab: labs.Lab, untouched: dict[str, str], after_s: float) -> None:
    argv = (sys.executable, "-m", "wirespeed", "lab", "break", "oversubscribed_uplink_incast", "--on", "leaf1", "--seed", "1")
    program = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(after_s)
    program.kill()
    program.wait()
    breaking.take_out(DEFAULT_NAME)
    assert _difference(untouched, _snapshot(lab)) == {}


def test_random_loss_is_what_was_drawn(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "loss_random")
    done = breaking.put_in(DEFAULT_NAME, "loss_random", where="h3", seed=4)
    asked = float(done.details["loss"].split()[0]) / 100
    lost = _loss_ratio(lab, "h1", "h3")  # there and back: twice
    spread = 4 * (2 * asked / 1000) ** 0.5
    assert 2 * asked - spread < lost < 2 * asked + spread
    assert _loss_ratio(lab, "h1", "h4", 300) == 0


def test_loss_in_bursts_comes_in_rows(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "loss_bursts")
    breaking.put_in(DEFAULT_NAME, "loss_bursts", where="h3", seed=1)
    said = _run(lab, "h1", "ping", "-i", "0.001", "-c", "2000", "-W", "1", "h3")
    seen = [int(number) for number in re.findall(r"icmp_seq=(\d+)", said)]
    rows = [later - earlier - 1 for earlier, later in itertools.pairwise(seen) if later - earlier > 1]
    assert rows and sum(rows) / len(rows) >= 2  # losses apart from each other would come alone
    assert sum(rows) < 0.5 * 2000


def test_a_noisy_neighbour_fills_the_link(lab: labs.Lab, healed: None) -> None:
    done = breaking.put_in(DEFAULT_NAME, "noisy_neighbour", where="h3", seed=1)
    counter = "/sys/class/net/eth0/statistics/rx_bytes"
    before, start = int(lab.order("h3", control.Read(path=counter)).output), time.monotonic()
    time.sleep(0.6)
    rate = (int(lab.order("h3", control.Read(path=counter)).output) - before) * 8 / (time.monotonic() - start)
    asked = float(done.details["share of the link"].split()[0]) / 100 * 200e6
    assert 0.5 * asked < rate < 1.15 * asked  # on a busy machine the sender gets less of the processor


@pytest.mark.parametrize("fault_id", ["rate_cap", "one_direction_cap"])
def test_a_capped_link_is_slower(lab: labs.Lab, healed: None, fault_id: str) -> None:
    done = breaking.put_in(DEFAULT_NAME, fault_id, where="h3", seed=2)
    asked = float(done.details["rate"].split()[0]) * 1e6
    outward, inward = _rate_bits_per_s(lab, "h3", "h1"), _rate_bits_per_s(lab, "h1", "h3")
    slower = min(outward, inward)
    assert 0.4 * asked < slower < 1.25 * asked  # the bucket lets its burst pass, and the window is short
    if fault_id == "one_direction_cap":
        assert (outward < inward) == (done.details["direction"] == "from the host")
        assert max(outward, inward) > 1.5 * slower


def test_distance_is_seen_as_round_trip(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "distance")
    done = breaking.put_in(DEFAULT_NAME, "distance", where="h3", seed=3)
    one_way_s = float(done.details["delay"].split()[0]) / 1e3
    assert 2 * one_way_s <= _rtt_s(lab, "h1", "h3") + 0.0005 < 2 * one_way_s + 0.005
    assert _rtt_s(lab, "h1", "h4") < 0.003


def test_a_black_hole_passes_small_packets_only(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "mtu_black_hole")
    done = breaking.put_in(DEFAULT_NAME, "mtu_black_hole", where="leaf2", seed=1)
    mtu = int(done.details["mtu"])
    probe = ("ping", "-q", "-M", "do", "-c", "2", "-i", "0.05", "-W", "0.3")
    fits, too_big = (_run(lab, "h1", *probe, "-s", str(size - 28), "h3") for size in (mtu, mtu + 1))
    assert "2 received" in fits
    assert "0 received" in too_big and "Frag needed" not in too_big


def test_detours_show_in_the_time_to_live(lab: labs.Lab, healed: None) -> None:
    """64 less one for each router passed."""
    breaking.put_in(DEFAULT_NAME, "l3_detour", where="h1-h2", seed=1)
    assert "ttl=61" in _run(lab, "h1", "ping", "-c1", "-W2", "h2")
    breaking.take_out(DEFAULT_NAME)
    breaking.put_in(DEFAULT_NAME, "wrong_route_far_hop", where="h1-h3", seed=1)
    hops = _run(lab, "h1", "sh", "-c", "for t in 1 2 3 4 5 6; do ping -n -c1 -W1 -t $t h3 | grep -i from; done")
    assert len(re.findall(r"exceeded", hops)) == 5


def test_colliding_flows_take_one_uplink(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "ecmp_collision")
    breaking.put_in(DEFAULT_NAME, "ecmp_collision", where="leaf1", seed=1)
    asked = "ip route get 10.2.0.1 from 10.1.0.1 iif br0 ipproto tcp dport 5001 sport"
    ways = {_run(lab, "leaf1", *asked.split(), str(port)).split(" dev ")[1].split()[0] for port in range(40000, 40016)}
    assert len(ways) == 1


def test_reordering_is_seen_by_the_sender(lab: labs.Lab, healed: None) -> None:
    _skip_unless_possible(lab, "reordering")
    breaking.put_in(DEFAULT_NAME, "reordering", where="leaf1", seed=1)
    before = _counter(lab, "h1", "TCPSACKReorder") + _counter(lab, "h1", "TCPDSACKRecv")
    _rate_bits_per_s(lab, "h1", "h3")
    assert _counter(lab, "h1", "TCPSACKReorder") + _counter(lab, "h1", "TCPDSACKRecv") > before


@pytest.mark.parametrize(
    ("fault_id", "log"),
    [
        ("service_bound_loopback", r"ConnectionRefusedError: \[Errno 111\] Connection refused"),
        ("port_exhaustion", r"OSError: \[Errno 99\] Cannot assign requested address"),
        ("keepalive_race", r"ConnectionResetError|BrokenPipeError"),
        ("nagle_split_writes", r"latency p50 4[0-9]\.\d ms"),
        ("slow_server", r"latency p50 4[5-9]\.\d ms"),
        ("port_range_blocked", r"TimeoutError: timed out"),
        ("dns_slow", r"time_namelookup: (0\.[36]|1\.2)"),
        ("dns_search_storm", r"time_namelookup: 0\.[1-9]"),
    ],
)
def test_clients_complain_as_users_do(lab: labs.Lab, healed: None, fault_id: str, log: str) -> None:
    _skip_unless_possible(lab, fault_id)
    for old in lab.directory.glob("h*/client.log"):
        old.unlink()
    done = breaking.put_in(DEFAULT_NAME, fault_id, where="h3", seed=1)
    client = done.details.get("client", "h3")
    written = lab.directory / client / "client.log"
    assert _log_says(lab, client, log), written.read_text(encoding="utf-8") if written.exists() else "no log"


def _comes_true(condition: Callable[[], bool], seconds: float = 6.0) -> bool:
    deadline = time.monotonic() + seconds
    while not (is_true := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return is_true


def test_a_flapping_link_loses_its_carrier(lab: labs.Lab, healed: None) -> None:
    def changes() -> int:
        return int(lab.order("h3", control.Read(path="/sys/class/net/eth0/carrier_down_count")).output)

    before = changes()
    breaking.put_in(DEFAULT_NAME, "flapping_link", where="h3", seed=1)
    assert _comes_true(lambda: changes() > before)


def test_an_impostor_is_believed_until_healed(lab: labs.Lab, healed: None) -> None:
    _run(
        lab, "h1", "sh", "-c", "ping -c1 -W2 h3; ping -c1 -W2 h4"
    )  # the leaf knows both: an announcement changes, and adds nothing
    done = breaking.put_in(DEFAULT_NAME, "duplicate_address", where="h3-h4", seed=1)
    victim, impostor = done.details["victim"], done.details["impostor"]
    own = {name: lab.order(name, control.Read(path="/sys/class/net/eth0/address")).output.strip() for name in (victim, impostor)}
    address = lab.node(victim).addresses[0]
    assert _comes_true(lambda: own[impostor] in _run(lab, "leaf2", "ip", "neigh", "show", "to", address, "dev", "br0"))
    breaking.take_out(DEFAULT_NAME)
    _run(lab, "h1", "ping", "-c1", "-W2", victim)
    assert own[victim] in _run(lab, "leaf2", "ip", "neigh", "show", "to", address, "dev", "br0")


def test_a_stalling_host_takes_its_time(lab: labs.Lab, healed: None) -> None:
    code = (
        "import time\nt=[time.monotonic()]\n"
        "while t[-1]-t[0]<0.6: time.sleep(0.002); t.append(time.monotonic())\n"
        "print(sum(b-a for a,b in zip(t,t[1:]) if b-a>0.04))"
    )

    def stood_still_s(host: str) -> float:
        return float(lab.order(host, control.Run(argv=(sys.executable, "-c", code))).output)

    breaking.put_in(DEFAULT_NAME, "stalling_host", where="h3", seed=1)
    assert stood_still_s("h3") > 0.3 > stood_still_s("h4")


def test_a_bloated_queue_delays_what_comes_behind_bulk(lab: labs.Lab, healed: None) -> None:
    breaking.put_in(DEFAULT_NAME, "bufferbloat", where="h3", seed=1)
    argv = (*lab.enter_argv(lab.node("h3")), sys.executable, "-c", _SINK)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as sink:
        assert sink.stdout is not None
        sink.stdout.readline()
        sender = (*lab.enter_argv(lab.node("h1")), sys.executable, "-c", _SENDER, "h3")
        with subprocess.Popen(sender):
            said = _run(lab, "h4", "ping", "-q", "-c", "24", "-i", "0.05", "h3")
        assert sink.stdout.read()
    found = re.search(r"= [\d.]+/[\d.]+/([\d.]+)", said)
    assert found
    assert float(found[1]) > 15  # a queue of the lab's usual depth drains in 10 ms


def test_an_overflowing_accept_queue_counts(lab: labs.Lab, healed: None) -> None:
    before = _counter(lab, "h3", "ListenOverflows")
    breaking.put_in(DEFAULT_NAME, "listen_queue_overflow", where="h3", seed=1)
    assert _comes_true(lambda: _counter(lab, "h3", "ListenOverflows") > before)


def test_a_wrongly_announced_address_is_refused(lab: labs.Lab, healed: None) -> None:
    breaking.put_in(DEFAULT_NAME, "wrong_interface_announced", where="h3", seed=1)
    assert _log_says(lab, "h1", r"connect to h3 at 172\.17\.0\.1:29401 failed: ConnectionRefusedError", file="worker.log")


@pytest.mark.parametrize("kind", ["training", "serving"])
def test_healthy_load_runs_and_stops(lab: labs.Lab, untouched: dict[str, str], kind: traffic.Kind) -> None:
    def sent() -> int:
        return int(lab.order("h1", control.Read(path="/sys/class/net/eth0/statistics/tx_bytes")).output)

    before = sent()
    traffic.start(DEFAULT_NAME, kind)
    assert _comes_true(lambda: sent() - before >= 20_000)
    traffic.start(DEFAULT_NAME, "idle")
    assert _difference(untouched, _snapshot(lab)) == {}
    assert read_state(lab.directory) == lab.state


@pytest.mark.parametrize("is_killed", [False, True])
def test_groups_of_a_lab_are_removed(lab: labs.Lab, is_killed: bool) -> None:
    """By its guard, and where the guard was killed by whoever looks after the lab next."""
    _skip_unless_possible(lab, "slow_host_cpu")
    made = founding.up(Spec(hosts_count=2), KEEPER_MODULE, name="other")
    done = breaking.put_in("other", "slow_host_cpu", seed=1)
    (group,) = [Path(undo.what) for undo in done.undo if undo.kind == "cgroup"]
    assert str(made.node(done.where).pid) in (group / "cgroup.procs").read_text(encoding="ascii").split()
    if is_killed:
        os.kill(made.state.guard.pid, signal.SIGKILL)
    labs.down("other")
    assert not group.exists()
