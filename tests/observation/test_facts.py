"""What collectors make of machines we do not have, and that each keeps its promises on every machine. Values checked by hand."""

import struct
from typing import TypeVar

import msgspec
import pytest

from observation.trees import DATA, machine, replies, written
from wirespeed.machines.captured import Captured
from wirespeed.machines.local import Local
from wirespeed.machines.machine import ioctl_request
from wirespeed.model import shelf
from wirespeed.model.facts.gpu import Gpu, NvLink
from wirespeed.model.facts.host import (
    ContainerState,
    CpuMask,
    CpuQuota,
    EnvVar,
    HostIdentity,
    Interrupt,
    IommuState,
    KernelModule,
    Mount,
    NumaNode,
    PciDevice,
    ProcessLimit,
    ResolverSetup,
    SoftwareVersion,
    Sysctl,
)
from wirespeed.model.facts.link import Counter, Link, LinkRings, QueueSteering
from wirespeed.model.facts.rdma import Gid, RdmaDeviceNode, RdmaPort
from wirespeed.model.record import Record
from wirespeed.model.run import Reply
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import ethtool_ioctl as ethtool
from wirespeed.verbs._look import observe

R = TypeVar("R", bound=Record)
COLLECTORS = shelf.every(facts, Collector)
TREES = sorted(path.name for path in DATA.iterdir())


def seen(tree: str | Captured, kind: type[R]) -> list[R]:
    found = observe(machine(tree) if isinstance(tree, str) else tree)
    return [item for item in found if isinstance(item, kind)]


def test_a_roce_port_with_its_gids_and_counters() -> None:
    first, second = seen("roce_host", RdmaPort)
    assert (first.device, first.state, first.physical_state, first.link_layer) == ("mlx5_0", "active", "linkup", "ethernet")
    assert (first.link_rate_bits_per_s, first.lanes, first.firmware, first.link) == (4e11, "4X NDR", "28.39.1002", "ens1f0np0")
    assert first.missing["active_mtu_bytes"] == "unsupported"
    assert (second.state, second.lid_number, second.missing["lid_number"]) == ("down", None, "denied")
    gids = seen("roce_host", Gid)
    assert [(gid.index, gid.roce_version, gid.ipv4) for gid in gids] == [
        (0, "v1", None),
        (1, "v2", None),
        (2, "v1", "192.0.2.1"),
        (3, "v2", "192.0.2.1"),
    ]
    counters = {one.name: one for one in seen("roce_host", Counter) if one.scope == "mlx5_0/1"}
    assert counters["out_of_sequence"].value_count == 4096
    assert counters["out_of_sequence"].canonical == "rdma_out_of_sequence"
    assert counters["packet_seq_err"].value_count == 0
    assert "lifespan" not in counters
    assert [one.setting for one in seen("roce_host", Setting) if one.name == "mlx5_0/1/traffic_class"] == ["Global tclass=106"]


def test_quotes_are_the_lines_of_the_files() -> None:
    tree = written("roce_host")["files"]
    for item in observe(machine("roce_host")):
        if isinstance(item, Record):
            for quote in item.quotes:
                assert tree[quote.source].split("\n")[quote.line_index] == quote.text


def test_a_link_that_is_down_has_no_speed_and_says_why() -> None:
    up, down = (next(one for one in seen("roce_host", Link) if one.name == name) for name in ("ens1f0np0", "ens1f1np1"))
    assert (up.link_rate_bits_per_s, up.mtu_bytes, up.numa_node_index, up.pci_address) == (4e11, 9000, 1, "0000:81:00.0")
    assert up.is_up is True
    assert down.is_up is False
    assert (down.link_rate_bits_per_s, down.missing["link_rate_bits_per_s"]) == (None, "absent")
    assert (down.has_carrier, down.missing["has_carrier"]) == (None, "unsupported")


def test_a_pcie_link_below_what_both_ends_can() -> None:
    devices = {one.address: one for one in seen("roce_host", PciDevice)}
    assert set(devices) == {"0000:80:01.0", "0000:81:00.0"}, "an ISA bridge carries no traffic"
    card = devices["0000:81:00.0"]
    assert (card.speed_transfers_per_s, card.max_speed_transfers_per_s) == (16e9, 32e9)
    assert (card.width_lanes, card.max_width_lanes, card.parent, card.driver) == (8, 16, "0000:80:01.0", "mlx5_core")
    assert (card.device_class, card.title, card.numa_node_index) == ("nic", "15b3:1021", 1)
    assert card.acs_flags is None
    assert card.missing["acs_flags"] == "absent"


def test_configuration_space_as_root_and_not() -> None:
    """A bridge with ACS: express capability at 0x40 (MPS 256, MRRS 512), ACS at 0x100 with SrcValid and UpstreamFwd on."""
    space = bytearray(4096)
    space[0x06], space[0x34], space[0x40] = 0x10, 0x40, 0x10
    space[0x48:0x4A] = (1 << 5 | 2 << 12).to_bytes(2, "little")
    space[0x100:0x104] = (0x000D | 1 << 16).to_bytes(4, "little")
    space[0x106:0x108] = (0x11).to_bytes(2, "little")
    base = replies(written("roce_host"))
    path = "/sys/bus/pci/devices/0000:80:01.0/config"
    root = Captured([*base, Reply(kind="file", request=path, content=bytes(space))])
    bridge = next(one for one in seen(root, PciDevice) if one.address == "0000:80:01.0")
    assert (bridge.acs_flags, bridge.max_payload_bytes, bridge.max_read_request_bytes) == (("SrcValid", "UpstreamFwd"), 256, 512)
    user = Captured([*base, Reply(kind="file", request=path, content=bytes(space[:64]))])
    bridge = next(one for one in seen(user, PciDevice) if one.address == "0000:80:01.0")
    assert (bridge.acs_flags, bridge.missing["acs_flags"]) == (None, "denied")


def test_rings_as_the_ioctl_gives_them() -> None:
    """struct ethtool_ringparam: rx_max, mini, jumbo, tx_max, rx, mini, jumbo, tx."""
    reply = struct.pack("=9I", ethtool.GRINGPARAM, 8192, 0, 0, 8192, 1024, 0, 0, 512)
    asked = Reply(kind="ioctl", request=ioctl_request("ens1f0np0", ethtool.RINGS_REQUEST), content=reply)
    (rings,) = seen(Captured([*replies(written("roce_host")), asked]), LinkRings)
    assert (rings.link, rings.rx_entries, rings.rx_max_entries, rings.tx_entries, rings.tx_max_entries) == (
        "ens1f0np0", 1024, 8192, 512, 8192,
    )  # fmt: skip


def test_the_rest_of_a_roce_host() -> None:
    assert [(node.index, len(node.cpus), node.distances) for node in seen("roce_host", NumaNode)] == [
        (0, 64, (10, 21)),
        (1, 64, (21, 10)),
    ]
    assert [node.memory_bytes for node in seen("roce_host", NumaNode)] == [1056313344 * 1024, None]
    (iommu,) = seen("roce_host", IommuState)
    assert (iommu.is_on, iommu.mode) == (True, "translated")
    modules = {one.name: one.is_loaded for one in seen("roce_host", KernelModule)}
    assert modules["mlx5_core"] is True
    assert modules["nvidia_peermem"] is False
    assert "tcp_bbr" not in modules, "may be built in; without the kernel's list of built-ins nothing is claimed"
    settings = {one.name: one.setting for one in seen("roce_host", Sysctl)}
    assert settings["net.ipv4.tcp_rmem"] == "4096 131072 6291456"
    assert settings["net.ipv4.conf.ens1f0np0.rp_filter"] == "2"
    interrupt = next(one for one in seen("roce_host", Interrupt) if one.irq == "130")
    assert (interrupt.per_cpu_counts, interrupt.effective_cpus) == ((11, 5000000), (1,))
    steering = {one.queue: one.cpus for one in seen("roce_host", QueueSteering)}
    assert steering == {"rx-0": (0, 1, 2, 3), "tx-0": (32,)}
    limits = {one.name: one for one in seen("roce_host", ProcessLimit)}
    assert limits["memlock"].limit_bytes == 8388608
    assert limits["nofile"].limit_count == 1024
    assert [(one.name, one.version) for one in seen("roce_host", SoftwareVersion)] == [("ofed", "23.10-1.1.9")]
    nodes = {one.path: one.is_accessible for one in seen("roce_host", RdmaDeviceNode)}
    assert nodes == {"/dev/infiniband/uverbs0": True, "/dev/infiniband/uverbs1": False}


def test_a_container_without_rdma_devices() -> None:
    (node,) = seen("container_without_rdma", RdmaDeviceNode)
    assert node.exists is False
    (container,) = seen("container_without_rdma", ContainerState)
    assert (container.runtime, container.shm_bytes, container.is_privileged) == ("kubernetes", 67108864, False)
    assert "IPC_LOCK" not in container.capabilities
    (quota,) = seen("container_without_rdma", CpuQuota)
    assert (quota.quota_cpus_ratio, quota.throttled_ratio) == (4.0, 0.25)
    (mask,) = seen("container_without_rdma", CpuMask)
    assert mask.cpus == (0, 1, 2, 3, 8)
    (mount,) = seen("container_without_rdma", Mount)
    assert (mount.size_bytes, mount.filesystem) == (67108864, "tmpfs")
    assert [one.ndots_count for one in seen("container_without_rdma", ResolverSetup)] == [5]
    assert {one.name: one.setting for one in seen("container_without_rdma", EnvVar)}["NCCL_IB_DISABLE"] == "1"


def test_a_vm_without_numa_placement() -> None:
    link = next(one for one in seen("vm", Link) if one.name == "eth0")
    assert (link.numa_node_index, link.missing["numa_node_index"]) == (None, "absent")
    (gpu,) = seen("vm", PciDevice)
    assert (gpu.device_class, gpu.width_lanes, gpu.speed_transfers_per_s, gpu.numa_node_index) == ("gpu", None, None, None)
    (identity,) = seen("vm", HostIdentity)
    assert identity.virtualisation == "kvm"


def test_gpus_from_the_library_reply() -> None:
    """Units of nvml.h: mW, MHz, MB/s; a null is a value the driver did not give."""
    reply = msgspec.json.encode({
        "driver": "550.54.15", "cuda": "12.4",
        "gpus": [{
            "index": 0, "name": "NVIDIA H200", "pci_address": "00000000:81:00.0", "utilisation_percent": 50, "power_milliwatts": 300500,
            "power_limit_milliwatts": 700000, "sm_clock_mhz": 1005, "sm_clock_max_mhz": 1980, "throttle_bits": 0x4 | 0x20,
            "temperature_celsius": 87, "pcie_width": 8, "pcie_width_max": 16, "ecc_uncorrected": None, "fabric_state": 3,
            "nvlinks": [{"link": 0, "is_active": True, "mbytes_per_s": 26562, "replays": 0, "recoveries": None, "crc_errors": 3},
                        {"link": 1, "is_active": False, "mbytes_per_s": None}],
        }],
    })  # fmt: skip
    tree = Captured([
        Reply(kind="answer", request="gpus", content=reply),
        Reply(kind="file", request="/sys/bus/pci/devices/0000:81:00.0/numa_node", content=b"1\n"),
    ])  # fmt: skip
    (gpu,) = seen(tree, Gpu)
    assert (gpu.utilisation_ratio, gpu.power_w, gpu.power_limit_w, gpu.sm_clock_hz) == (0.5, 300.5, 700.0, 1.005e9)
    assert (gpu.throttle_reasons, gpu.numa_node_index, gpu.fabric_state) == (
        ("sw_power_cap", "sw_thermal_slowdown"),
        1,
        "completed",
    )
    assert (gpu.ecc_uncorrected_count, gpu.missing["ecc_uncorrected_count"]) == (None, "unsupported")
    first, second = seen(tree, NvLink)
    assert (first.bandwidth_bytes_per_s, first.replay_count, first.recovery_count) == (26562e6, 0, None)
    assert (second.is_active, second.bandwidth_bytes_per_s) == (False, None)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", COLLECTORS)
def test_gives_what_it_declares(name: str, tree: str) -> None:
    for item in observe(machine(tree), (name,)):
        assert isinstance(item, (*COLLECTORS[name].gives, Problem))
        assert not isinstance(item, Problem) or "mistake" not in item.why.en, item


@pytest.mark.parametrize("name", COLLECTORS)
def test_live_gives_what_it_declares(name: str) -> None:
    for item in observe(Local(), (name,)):
        assert isinstance(item, (*COLLECTORS[name].gives, Problem))
        assert not isinstance(item, Problem) or "mistake" not in item.why.en, item


@pytest.mark.parametrize("name", COLLECTORS)
def test_an_empty_machine_has_problems_and_no_zeros(name: str) -> None:
    for item in observe(Captured([]), (name,)):
        if isinstance(item, Problem):
            assert item.reason == "absent"
        else:
            numbers = [
                value for value in msgspec.structs.astuple(item) if isinstance(value, int | float) and not isinstance(value, bool)
            ]
            assert not numbers
