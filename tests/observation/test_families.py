"""Every family of counters: what its bytes mean, taken from texts of real kernels and counted by hand."""

import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from wirespeed.machines.captured import Captured
from wirespeed.machines.kept import Kept
from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem, netlink_request
from wirespeed.model import shelf
from wirespeed.model.run import Reply
from wirespeed.observation import series
from wirespeed.observation.sampler import Family, Probe, Wanted
from wirespeed.readers.netlink import ethtool_ioctl, inet_diag, rtnetlink

FAMILIES = shelf.every(series, Family)


def machine(files: Mapping[str, str], *others: Reply) -> Captured:
    return Captured(
        [*(Reply(kind="file", request=path, content=text.encode()) for path, text in files.items()), *others], host="node-a"
    )


def seen(name: str, files: Mapping[str, str], *others: Reply) -> dict[tuple[str, str], float]:
    probe = FAMILIES[name].open(machine(files, *others), Wanted())
    return values(probe)


def values(probe: Probe) -> dict[tuple[str, str], float]:
    raw = tuple(source.read() for source in probe.sources)
    if probe.parse_many:
        probe.parse_many([raw])
    layout, found = probe.parse(raw)
    assert len(layout) == len(found)
    assert len(set(layout)) == len(layout), "two series of one name"
    return {(key.scope, key.name): value for key, value in zip(layout, found, strict=True)}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_machine_without_any_says_why(name: str) -> None:
    with pytest.raises(MachineProblem) as trouble:
        FAMILIES[name].open(machine({}), Wanted())
    assert trouble.value.reason in ("absent", "unsupported", "denied")
    assert trouble.value.why.zh


@pytest.mark.parametrize("name", FAMILIES)
def test_this_machine_and_the_same_layout_as_long_as_nothing_changes(name: str) -> None:
    try:
        probe = FAMILIES[name].open(Local(), Wanted())
    except MachineProblem:
        pytest.skip(f"this machine has no {name}")
    values(probe)
    raw = tuple(source.read() for source in probe.sources)
    assert probe.parse(raw)[0] is probe.parse(raw)[0]
    assert all(key.family == name for key in probe.parse(raw)[0])
    for source in probe.sources:
        source.close()


def test_links() -> None:
    text = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
        "    lo: 8662554  148840    0    0    0     0          0         0  8662554  148840    0    0    0     0       0          0\n"
        "eth0.7:1393741   13470     1    2    3     4          5         6        7       8    9   10   11    12      13         14\n"
    )
    found = seen("links", {"/proc/net/dev": text})
    assert found["lo", "tx_packets"] == 148840
    assert found["eth0.7", "rx_bytes"] == 1393741  # no blank after the colon
    assert [found["eth0.7", name] for name in ("rx_dropped", "rx_fifo_errors", "tx_dropped", "tx_carrier_errors")] == [2, 3, 10, 13]


def test_interrupts_are_summed_by_line_and_by_core() -> None:
    text = (
        "           CPU0       CPU1       \n"
        " 24:          0         12  PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n"
        " 25:       1000        234  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n"
        "LOC:     500000     400000   Local timer interrupts\n"
        "ERR:          7\n"
    )
    found = seen("interrupts", {"/proc/interrupts": text})
    assert found == {
        ("irq 24 virtio2-config", "count"): 12, ("irq 25 virtio2-input.0", "count"): 1234, ("irq LOC", "count"): 900000,
        ("cpu0", "count"): 501000, ("cpu1", "count"): 400246,
    }  # fmt: skip


def test_softirqs() -> None:
    text = "                    CPU0       CPU2       \n      NET_TX:          3         40\n      NET_RX:        100       2000\n"
    found = seen("softirqs", {"/proc/softirqs": text})
    assert (found["cpu2", "NET_RX"], found["cpu0", "NET_TX"]) == (2000, 3)


def test_softnet_before_the_column_of_the_core() -> None:
    row = "00000010 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000005 00000000\n"
    found = seen("softnet", {"/proc/net/softnet_stat": row + row.replace("10", "1f", 1)})
    assert (found["cpu0", "processed"], found["cpu1", "processed"], found["cpu1", "received_rps"]) == (16, 31, 5)
    assert ("cpu0", "backlog") not in found


def test_cores_and_pressure() -> None:
    stat = "cpu  300 0 100 5000 20 0 60 4 0 0\ncpu0 300 0 100 5000 20 0 60 4 0 0\nintr 7 0 0\nctxt 123456\nprocs_running 3\n"
    files = {"/proc/stat": stat}
    assert seen("cpu", files)["cpu0", "softirq"] == pytest.approx(0.6)
    assert seen("cpu", files)["all", "ctxt"] == 123456
    files |= {f"/proc/pressure/{one}": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.0 avg60=0.0 avg300=0.0 total=7\n" for one in ("cpu", "io", "memory")}  # fmt: skip
    assert seen("cpu", files)["pressure", "io_some"] == pytest.approx(2.5)


def test_sockets_memory_disks() -> None:
    found = seen("sockets", {"/proc/net/sockstat": "sockets: used 44\nTCP: inuse 4 orphan 0 tw 58 alloc 5 mem 1\n"})
    assert (found["TCP", "tw"], found["sockets", "used"]) == (58, 44)
    found = seen(
        "memory", {"/proc/meminfo": "MemTotal:  1000 kB\nHugePages_Free:   3\n", "/proc/vmstat": "pgmajfault 9\nnr_other 1\n"}
    )
    assert found == {("meminfo", "MemTotal"): 1_024_000, ("meminfo", "HugePages_Free"): 3, ("vmstat", "pgmajfault"): 9}
    disk = "   7       0 loop0 1 1 1 1 1 1 1 1 1 1 1\n 259       0 nvme0n1 100 0 800 50 20 0 160 30 2 70 80\n"
    found = seen("disks", {"/proc/diskstats": disk})
    assert {scope for scope, _ in found} == {"nvme0n1"}
    assert [found["nvme0n1", name] for name in ("read_bytes", "written_bytes", "in_flight", "busy_time")] == [
        409600,
        81920,
        2,
        0.07,
    ]


@pytest.mark.parametrize(
    ("cgroup", "path", "text"),
    [
        (
            "0::/pod/job\n",
            "/sys/fs/cgroup/pod/job/cpu.stat",
            "usage_usec 5000000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250000\n",
        ),
        (
            "3:cpu,cpuacct:/pod/job\n0::/\n",
            "/sys/fs/cgroup/cpu/pod/job/cpu.stat",
            "nr_periods 10\nnr_throttled 4\nthrottled_time 250000000\n",
        ),
    ],
)
def test_throttling_in_both_versions_of_cgroups(cgroup: str, path: str, text: str) -> None:
    found = seen("cgroup", {"/proc/self/cgroup": cgroup, path: text})
    assert (found["/pod/job", "throttled_time"], found["/pod/job", "throttled_periods"]) == (0.25, 4)


def test_connection_tracking() -> None:
    text = "entries  searched found insert_failed drop\n0000000a  00000000 00000002 00000003 00000000\n0000000a  00000000 00000001 0000001f 00000004\n"
    found = seen("conntrack", {"/proc/net/stat/nf_conntrack": text})
    assert (found["conntrack", "entries"], found["conntrack/cpu1", "insert_failed"], found["conntrack/cpu0", "found"]) == (
        10,
        31,
        2,
    )


def test_rdma_ports_without_what_is_no_number() -> None:
    base = "/sys/class/infiniband/mlx5_0/ports/1"
    files = {
        f"{base}/hw_counters/np_cnp_sent": "77\n",
        f"{base}/hw_counters/lifespan": "12\n",
        f"{base}/counters/port_xmit_wait": "5\n",
    }
    files[f"{base}/counters/symbol_error"] = "N/A (no PMA)\n"
    assert seen("rdma", files) == {("mlx5_0/1", "np_cnp_sent"): 77, ("mlx5_0/1", "port_xmit_wait"): 5}


def test_driver_statistics() -> None:
    names = ("rx_prio3_pause", "rx_out_of_buffer")
    strings = struct.pack("=III", ethtool_ioctl.GSTRINGS, 1, 2) + b"".join(name.encode().ljust(32, b"\0") for name in names)
    asked = {
        ethtool_ioctl.string_count_request(1): struct.pack("=IIQI", ethtool_ioctl.GSSET_INFO, 0, 2, 2),
        ethtool_ioctl.strings_request(1, 2): strings,
        ethtool_ioctl.statistics_request(2): struct.pack("=IIQQ", ethtool_ioctl.GSTATS, 2, 2**40, 9),
    }
    replies = [
        Reply(kind="ioctl", request=f"eth0 {request.rstrip(bytes(1)).hex()}", content=content) for request, content in asked.items()
    ]
    found = seen("ethtool", {}, Reply(kind="listing", request="/sys/class/net", content=b"eth0"), *replies)
    assert found == {("eth0", "rx_prio3_pause"): 2**40, ("eth0", "rx_out_of_buffer"): 9}


def test_gpus() -> None:
    answer = {
        "gpus": [
            {"index": 0, "utilisation_percent": 97, "power_milliwatts": 300500, "temperature_celsius": None,
             "nvlinks": [{"link": 3, "tx_kib": 2, "replays": 1}]},
            {"index": 1},
        ]
    }  # fmt: skip
    found = seen("gpus", {}, Reply(kind="answer", request="gpus", content=msgspec.json.encode(answer)))
    assert found == {
        ("gpu0", "busy"): 0.97,
        ("gpu0", "power"): 300.5,
        ("gpu0/nvlink3", "tx_bytes"): 2048,
        ("gpu0/nvlink3", "replays"): 1,
    }


def test_a_queue_of_this_machine_is_named_by_its_link() -> None:
    try:
        probe = FAMILIES["qdiscs"].open(Local(), Wanted())
    except MachineProblem:
        pytest.skip("no interface here has a queueing discipline")
    names = {name for _, name in socket.if_nameindex()}
    assert {scope.partition("/")[0] for scope, _ in values(probe)} <= names


def test_flows_that_were_named_and_no_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [server.getsockname()[1] for server in (one, two)]
        with socket.create_connection(one.getsockname()), socket.create_connection(two.getsockname()):
            probe = FAMILIES["flows"].open(Local(), Wanted(flows=(f"127.0.0.1:{ports[0]}",)))
            scopes = {scope for scope, _ in values(probe)}
    assert len(scopes) == 2  # both ends are here
    assert all(f"127.0.0.1:{ports[0]}" in scope.split(">") for scope in scopes)


def test_the_busiest_flows_have_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    from wirespeed.observation.series import flows

    monkeypatch.setattr(flows, "MOST_AT_ONCE", 2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        idle = [socket.create_connection(server.getsockname()) for _ in range(5)]
        near, far = socket.create_connection(server.getsockname()), None
        for _ in idle:
            server.accept()
        far, _ = server.accept()
        probe = FAMILIES["flows"].open(Local(), Wanted())
        (dump,) = probe.sources
        before = dump.read()
        near.sendall(b"x" * 100_000)
        after = dump.read()
        assert probe.parse_many is not None
        probe.parse_many([(before,), (after,)])
        layout, _ = probe.parse((after,))
        ends = {f"{one[0]}:{one[1]}" for one in (near.getsockname(), far.getsockname())}
        assert {key.scope.split(">")[0] for key in layout} == ends
        assert any("less busy" in problem.why.en for problem in probe.problems)
        for handle in (*idle, near, far):
            handle.close()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is missing")
def test_in_another_network_namespace_the_counters_are_its_own() -> None:
    """/sys is still that of the namespace we came from, and must not be believed."""
    script = (
        "from wirespeed.observation.recording import record\n"
        "r = record(None, ['links', 'queues', 'ethtool', 'protocols'], for_s=0.15, every_s=0.05)\n"
        "print(sorted({key.scope for key in r.keys('links')}), sorted(r.blocks), [(p.source.path, p.reason) for p in r.problems])\n"
    )
    command = ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(f"no user namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert "eth0" not in done.stdout
    assert "('queues', 'absent')" in done.stdout
    assert "'lo'" in done.stdout


def test_a_kept_file_longer_than_a_page_is_whole(tmp_path: Path) -> None:
    from wirespeed.machines.kept import kept_file

    path = tmp_path / "long"
    path.write_bytes(b"0123456789" * 20_000)
    file: Kept = kept_file(Local(), str(path))
    assert file.read() == file.read() == b"0123456789" * 20_000
    path.write_bytes(b"short")
    assert file.read() == b"short"
    file.close()
    real = kept_file(Local(), "/proc/self/smaps")
    assert real.read().count(b"VmFlags") > 20
    real.close()
    with pytest.raises(MachineProblem):
        kept_file(Local(), str(tmp_path / "absent"))


def test_an_end_that_nobody_has_and_a_name_that_resolves() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        port = server.getsockname()[1]
        probe = FAMILIES["flows"].open(Local(), Wanted(flows=("127.0.0.1:1",)))
        assert not values(probe)
        assert [problem.reason for problem in probe.problems] == ["absent"]
        by_name = FAMILIES["flows"].open(
            machine(
                {}, Reply(kind="answer", request="name-lookup node-b", content=b'{"addresses": ["127.0.0.1", "::1"]}'), *_dumps()
            ),
            Wanted(flows=(f"node-b:{port}",)),
        )
        assert {scope.count(str(port)) for scope, _ in values(by_name)} == {1}
        assert not by_name.problems
    with pytest.raises(MachineProblem):
        FAMILIES["flows"].open(machine({}, *_dumps()), Wanted(flows=("nowhere.invalid:80",)))


def _dumps() -> list[Reply]:
    """This machine's connections, as a captured machine has them."""
    requests = inet_diag.OPEN_REQUESTS
    return [Reply(kind="netlink", request=netlink_request(4, one), content=Local().netlink(4, one)) for one in requests]


def test_errors_one_by_one_and_the_carrier() -> None:
    """A link message as the kernel builds it: statistics in the order of if_link.h, each with its own number."""

    def attribute(kind: int, content: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)

    body = bytes(16) + attribute(3, b"eth0\0") + attribute(23, struct.pack("=25Q", *range(100, 125)))
    body += attribute(33, b"\1") + attribute(35, struct.pack("=I", 6))
    reply = struct.pack("=IHHII", 16 + len(body), 16, 2, 1, 0) + body + struct.pack("=IHHIII", 20, 3, 2, 1, 0, 0)
    found = seen("link_errors", {}, Reply(kind="netlink", request=netlink_request(0, rtnetlink.LINKS_REQUEST), content=reply))
    assert found["eth0", "carrier"] == 1
    assert found["eth0", "carrier_changes"] == 6
    assert [
        found["eth0", name] for name in ("rx_errors", "rx_crc_errors", "rx_missed_errors", "tx_carrier_errors", "rx_nohandler")
    ] == [104, 112, 115, 117, 123]
    assert ("eth0", "rx_bytes") not in found


def test_statistics_are_those_of_sysfs() -> None:
    """The order of the names, against the kernel's own files; only of interfaces at rest, which count nothing meanwhile."""
    found = values(FAMILIES["link_errors"].open(Local(), Wanted()))
    root = Path("/sys/class/net")
    compared = 0
    for (link, name), value in found.items():
        path = root / link / "statistics" / name
        if path.exists():
            assert abs(int(path.read_text()) - value) <= 2
            compared += 1
    if not compared:
        pytest.skip("no statistics in sysfs")
