"""A PCIe link trained below what the device can do, or the slot is too narrow."""

import re

from wirespeed.diagnosis.joins.gpu_health import failed_checks, replaying
from wirespeed.diagnosis.joins.pcie_sleep import waking_gpus
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.gpu import Gpu, GpuCheck
from wirespeed.model.facts.host import PciDevice
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

_PCIE_COLUMN = re.compile(r"(?i)\b(?:width|lanes?|gen(?:eration)?|pcie)\b")
_LIMIT_COLUMN = re.compile(r"(?i)max|cap")
_LEADING_NUMBER = re.compile(r"(\d{1,3}(?:\.\d)?)")
LAST_OF_8B10B = 5e9
"""Transfers per second of the last generation that spends two bits of ten on its code."""
FIRST_GENERATION_TRANSFERS_PER_S = 2.5e9
BUSY_RATIO = 0.1
"""An idle GPU lowers its PCIe generation to save power; only a busy one tells."""

FEWEST_TWINS_COUNT = 3
"""Of two devices nobody can tell which is the odd one."""


def _judge(case: Case) -> Verdict:
    narrow = case.every(PciDevice, _is_narrow)
    slow = case.every(PciDevice, lambda one: _is_slow(one) and not _may_be_an_idle_gpu(one, case))
    slow_gpus = case.every(PciDevice, lambda one: _is_slow(one) and _may_be_an_idle_gpu(one, case))
    wakes = waking_gpus(case)
    limited = case.every(KernelEvent, topic="pcie-limited")
    gpus = case.every(
        Gpu, lambda one: bool(one.pcie_width_lanes and one.pcie_width_max_lanes and one.pcie_width_lanes < one.pcie_width_max_lanes)
    )
    busy = case.every(Gpu, _is_slow_while_busy)
    full = case.every(PciDevice, _is_full)
    odd = _below_their_twins(case)
    device = next((one.address or "BDF" for one in (*narrow, *slow, *odd) if isinstance(one, PciDevice)), "BDF")
    values: dict[str, Value] = {"device": device}
    return Verdict(
        evidence=(
            *piece(_LIMITED, PROVES, limited),
            *piece(_NARROW, STRONG + SLIGHT, narrow + gpus),
            *piece(_SLOW, STRONG, slow + busy),
            *piece(_GPU_IDLE, SLIGHT, slow_gpus if not narrow else ()),
            *piece(_TWINS, STRONG if not (narrow or gpus or slow or busy) else FAIR, odd),
            *piece(_SLOT, STRONG, _narrower_than_their_port(case)),
            *piece(_COPIES, STRONG, case.said("one-device-copies-slow")),
            *piece(_ODD_ROW, STRONG, _tables_with_a_narrow_row(case)),
            *piece(_REPLAYS, FAIR, replaying(case)),
            *piece(_CHECK, FAIR + SLIGHT, failed_checks(case, "pcie")),
            *piece(_ERRORS, SLIGHT, case.every(KernelEvent, topic="aer")),
            *piece(_SAID, STRONG, case.said("pcie-narrow")),
            *against(_WAKES, STRONG + SLIGHT, wakes if not (narrow or gpus or busy) else ()),
            *against(_ALIKE, FAIR, case.said("alike-on-all-of-a-kind")),
            *against(_FULL, FAIR, full if not narrow and not slow and not slow_gpus else ()),
        ),
        values=values,
    )


def _below_their_twins(case: Case) -> tuple[Record, ...]:
    """Devices whose link is below that of most others with the same capability (or, for GPUs, of the same machine)."""
    devices: list[tuple[Record, object, tuple[float, float]]] = [
        (one, (one.host, one.max_speed_transfers_per_s, one.max_width_lanes), (one.speed_transfers_per_s, one.width_lanes))
        for one in case.every(PciDevice)
        if one.speed_transfers_per_s and one.width_lanes and one.max_speed_transfers_per_s
    ]
    devices += [
        (one, (one.host, "gpu"), (one.pcie_generation_number or 0, one.pcie_width_lanes))
        for one in case.every(Gpu)
        if one.pcie_width_lanes
    ]
    groups: dict[object, list[tuple[Record, tuple[float, float]]]] = {}
    for record, key, link in devices:
        groups.setdefault(key, []).append((record, link))
    found: list[Record] = []
    for twins in groups.values():
        usual = sorted(link for _, link in twins)[len(twins) // 2]
        low = [record for record, link in twins if link[0] < usual[0] or link[1] < usual[1]]
        found += low if len(twins) >= FEWEST_TWINS_COUNT else ()
    return tuple(found)


def _narrower_than_their_port(case: Case) -> tuple[Record, ...]:
    """NICs whose slot carries less than their port, with the port; both are read of one machine by the device's name."""
    ports = {(one.source.path, one.device): one for one in case.every(RdmaPort, lambda one: bool(one.link_rate_bits_per_s))}
    found: list[Record] = []
    for device in case.every(PciDevice, lambda one: one.device_class == "nic" and bool(one.title)):
        port = ports.get((device.source.path, device.title or ""))
        if port is None or not device.speed_transfers_per_s or not device.width_lanes:
            continue
        if slot_bits_per_s(device.speed_transfers_per_s, device.width_lanes) < (port.link_rate_bits_per_s or 0.0):
            found += [device, port]
    return tuple(found)


def slot_bits_per_s(speed_transfers_per_s: float, width_lanes: int) -> float:
    """What a slot carries each way: 8 of 10 bits up to generation 2, 128 of 130 from generation 3 on (PCI Express base specification)."""
    return speed_transfers_per_s * width_lanes * (0.8 if speed_transfers_per_s <= LAST_OF_8B10B else 128 / 130)


def _tables_with_a_narrow_row(case: Case) -> tuple[Table, ...]:
    """Tables of devices with a column of PCIe widths or generations in which a row or two are below all others."""
    return case.every(Table, lambda one: any(_has_a_low_cell(one, place) for place in _pcie_columns(one)))


def _pcie_columns(table: Table) -> list[int]:
    return [place for place, name in enumerate(table.columns) if _PCIE_COLUMN.search(name) and not _LIMIT_COLUMN.search(name)]


def _has_a_low_cell(table: Table, place: int) -> bool:
    found = [_LEADING_NUMBER.search(row[place]) for row in table.rows if place < len(row)]
    numbers = sorted(float(one[1]) for one in found if one)
    low = [one for one in numbers if one < numbers[-1]]
    return len(numbers) >= 3 and 0 < len(low) < len(numbers) / 2


def _is_narrow(device: PciDevice) -> bool:
    return bool(device.width_lanes and device.max_width_lanes and 0 < device.width_lanes < device.max_width_lanes)


def _is_slow(device: PciDevice) -> bool:
    below = bool(
        device.speed_transfers_per_s
        and device.max_speed_transfers_per_s
        and device.speed_transfers_per_s < device.max_speed_transfers_per_s
    )
    return below or (device.is_downgraded is True and not _is_narrow(device))


def _may_be_an_idle_gpu(device: PciDevice, case: Case) -> bool:
    """A GPU's link, or one of unknown kind at the first generation and full width where GPUs are spoken of."""
    asleep = (device.speed_transfers_per_s or 0.0) == FIRST_GENERATION_TRANSFERS_PER_S and not _is_narrow(device)
    unknown = device.device_class is None and (case.has(Gpu) or bool(case.said("consumer-gpu", "one-device-copies-slow")))
    return device.device_class == "gpu" or (asleep and unknown)


def _is_full(device: PciDevice) -> bool:
    known = device.width_lanes and device.max_width_lanes and device.speed_transfers_per_s and device.max_speed_transfers_per_s
    return bool(known) and not _is_narrow(device) and not _is_slow(device)


def _is_slow_while_busy(gpu: Gpu) -> bool:
    below = bool(
        gpu.pcie_generation_number
        and gpu.pcie_generation_max_number
        and gpu.pcie_generation_number < gpu.pcie_generation_max_number
    )
    return below and (gpu.utilisation_ratio or 0.0) >= BUSY_RATIO


_LIMITED = Text(en="the kernel says that the PCIe link limits this device", zh="内核报告 PCIe 链路限制了该设备")
_NARROW = Text(en="the link has fewer lanes than the device can use", zh="链路通道数少于设备能力")
_SLOW = Text(en="the link runs at a lower generation than the device can", zh="链路代数低于设备能力")
_GPU_IDLE = Text(en="the GPU's link runs at a lower generation (normal while it idles)", zh="GPU 链路代数较低（空闲时正常）")
_ODD_ROW = Text(
    en="one device has fewer lanes, or a lower generation, than the others of the table", zh="表中有设备的通道数或代数低于其他设备"
)
_TWINS = Text(en="this device's link is below that of its twins", zh="该设备的链路低于同类设备")
_SLOT = Text(en="the NIC's slot carries less than its port", zh="网卡插槽的带宽低于其端口速率")
_COPIES = Text(en="copies to one device are far slower than to its twins", zh="向某一设备的复制远慢于同类设备")
_REPLAYS = Text(en="a GPU's link repeats far more packets than those of its twins", zh="某 GPU 链路的重传远多于同类")
_CHECK = Text(en="DCGM finds a PCIe link too narrow, too slow or repeating", zh="DCGM 发现 PCIe 链路过窄、过慢或频繁重传")
_ERRORS = Text(en="PCIe errors are logged", zh="日志中有 PCIe 错误")
_SAID = Text(en="a narrow slot or a downgraded link is reported", zh="描述提到插槽窄或链路降级")
_WAKES = Text(
    en="the same GPU's link is at its full generation in another reading: it sleeps when idle",
    zh="同一 GPU 在另一次读数中链路为满代数：空闲时会休眠",
)
_ALIKE = Text(en="all machines of this kind show the same", zh="同型号所有机器都一样")
_FULL = Text(en="the links listed run at full width and speed", zh="所列链路均为全宽全速")

RULE = Rule(
    cause="pcie-link-degraded",
    title=Text(en="A PCIe link runs below its capability", zh="PCIe 链路低于其能力"),
    summary=Text(
        en="The device sits in a narrow slot or its link trained to fewer lanes or a lower generation; it cannot deliver its network or copy rate through it.",
        zh="设备所在插槽窄，或链路协商到更少通道、更低代数，无法交付其网络或复制速率。",
    ),
    needs=(
        (wants(PciDevice, lambda one: one.width_lanes is not None or one.is_downgraded is not None),),
        (wants(Gpu, lambda one: one.pcie_width_lanes is not None or one.pcie_generation_number is not None),),
        (wants(Gpu, lambda one: one.pcie_replays_count is not None),),
        (GpuCheck,),
        (wants(KernelEvent, lambda one: one.topic in ("pcie-limited", "aer")),),
        (wants(Table, lambda one: bool(_pcie_columns(one))),),
        (wants(Statement, lambda one: one.topic in ("pcie-narrow", "one-device-copies-slow")),),
    ),
    silence_needs=(
        (wants(PciDevice, lambda one: one.width_lanes is not None or one.is_downgraded is not None),),
        (wants(Gpu, lambda one: one.pcie_width_lanes is not None or one.pcie_generation_number is not None),),
        (wants(KernelEvent, lambda one: one.topic in ("pcie-limited", "aer")),),
        (wants(Table, lambda one: bool(_pcie_columns(one))),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Usable rate is about lanes x GT/s x 128/130 / 8, less some 10 % for packets: Gen3 x16 13 GB/s, Gen4 x16 26, Gen5 x16 52.",
            zh="可用速率约为 通道数 × GT/s × 128/130 / 8，再减约 10% 包开销：Gen3 x16 13 GB/s，Gen4 x16 26，Gen5 x16 52。",
        ),
        shows=Text(
            en="lspci LnkSta below LnkCap ('downgraded'); one NIC or GPU at a half, a quarter or an eighth.",
            zh="lspci 的 LnkSta 低于 LnkCap（downgraded）；某张网卡或 GPU 只有一半、四分之一或八分之一。",
        ),
        sources=(
            "PCI Express Base Specification (encoding)",
            "mej/nhc#90",
            "Azure nd96isr_h100_v5 health checks (48 GB/s on Gen5)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="link-speed-lower-than-assumed",
            because=Text(en="there the network port's own rate is low", zh="彼处网络端口自身速率低"),
        ),
        LookAlike(
            cause="nic-firmware-state",
            because=Text(en="there PCIe reads right and the device is slow all the same", zh="彼处 PCIe 读数正确而设备仍慢"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Reseat the card, use a full-width slot, check riser and bifurcation in the firmware",
                zh="重新插卡，使用全宽插槽，检查转接卡与固件中的拆分设置",
            ),
            risk=Text(en="Needs downtime", zh="需停机"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Current equals capable width and speed under load", zh="负载下当前宽度与速度等于能力"),
            commands=("sudo lspci -vv -s {device} | grep -E 'LnkCap:|LnkSta:'",),
        ),
    ),
    gain=Text(en="The ratio of the widths: two- to eightfold", zh="宽度之比：二至八倍"),
    severity="high",
    explains=("straggler-slow-node",),
)
