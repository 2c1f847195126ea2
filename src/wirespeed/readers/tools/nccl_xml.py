"""The machine and the plan as NCCL writes them to XML: `NCCL_TOPO_DUMP_FILE` (and topology files given to it) and `NCCL_GRAPH_DUMP_FILE`.

`link_speed` and `link_width` are the lower of what the device and the port above it can do, not what they do now; from 2.30 on those of GPUs
are what NVML reads at start (NVIDIA/nccl, src/graph/xml.cc, ncclTopoGetXmlFromSys). Bandwidths of links are computed as NCCL does
(src/graph/topo.cc, ncclTopoAddPci): width x speed, where 0 lanes count as 16 and an unknown speed as 8 GT/s.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.events.nccl import NcclGdr, NcclTopoNode, NcclTuning
from wirespeed.model.facts.gpu import DevicePath
from wirespeed.model.facts.host import NumaNode, PciDevice
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.xml_elements import Element, steps

_TOOL = "nccl-topology-xml"
MOST_DEVICES = 64
"""GPUs and NICs between which paths are told; the largest machines have a third of that."""

_ROOT = regex(r"<(?:system version=|graphs version=|cpu (?:\w+=\"[^\"]*\" )*(?:numaid|host_hash)=|pci busid=|graph id=)")
_SPEED = regex(r"^(?P<number>\d{1,3}(?:\.\d)?) GT/s")
_PER_LANE = {2.5: 15, 5.0: 30, 8.0: 60, 16.0: 120, 32.0: 240, 64.0: 480}
"""Units of 100 Mb/s a lane that NCCL plans with (kvDictPciGen)."""
_USUAL_PER_LANE, _USUAL_LANES = 60, 16
_BYTES_PER_GB = 1e9
_BITS_PER_MBPS = 1e6
_PATTERNS = {"1": "BALANCED_TREE", "2": "SPLIT_TREE", "3": "TREE", "4": "RING", "5": "NVLS", "6": "COLLNET_DIRECT"}
"""NCCL src/include/graph.h."""
_CLASSES = (("0x0300", "gpu"), ("0x0302", "gpu"), ("0x0380", "gpu"), ("0x02", "nic"), ("0x0604", "bridge"), ("0x0680", "nvswitch"))
_NETDEV = regex(r"^(?:eth|en[opsx]|bond|lo|ib\d|hsn|br|docker|virbr|wl)")
"""Names of interfaces that NCCL's socket transport lists as nets."""
_CUT = Text(
    en="the XML is cut or damaged here; what stood before and after it is used", zh="XML 在此处不完整或已损坏；其前后的内容仍被使用"
)


@dataclass(slots=True)
class _Device:
    """A GPU or net with the PCI elements above it, outermost first."""

    name: str
    element: Element
    above: tuple[str, ...]
    numa: str | None
    """The processor it hangs on; None in an excerpt that does not tell."""
    nvlinks: dict[str, int] = field(default_factory=dict)
    address: str = ""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    gpus: list[_Device] = []
    nets: list[_Device] = []
    for step in steps(lines, _ROOT):
        element = step.element
        if element is None:
            yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=step.line_index)
        elif step.what == "closes" and element.name in ("system", "cpu") and element.parent is None:
            yield from _paths(lines, gpus, nets)
            gpus, nets = [], []
        elif step.what == "opens":
            yield from _opened(lines, element)
            _collect(element, gpus, nets)
    yield from _paths(lines, gpus, nets)


def _opened(lines: Lines, element: Element) -> Iterator[Record]:
    if element.name == "cpu":
        yield from _numa_node(lines, element)
    elif element.name == "pci":
        yield _link(lines, element)
    elif element.name == "gpu" and element.parent is not None and element.parent.name == "pci":
        yield _device(lines, element.parent, f"GPU{element.attributes.get('dev', '?')}", "gpu")
    elif element.name == "net":
        yield from _net(lines, element)
    elif element.name == "graph":
        yield from _graph(lines, element)


def _collect(element: Element, gpus: list[_Device], nets: list[_Device]) -> None:
    """Note where a device hangs, for the paths between them."""
    if element.name == "gpu" and "dev" in element.attributes and element.ancestor("pci") and len(gpus) < MOST_DEVICES:
        gpus.append(_placed(f"GPU{element.attributes['dev']}", element))
    elif element.name == "net" and element.ancestor("pci") and len(nets) < MOST_DEVICES:
        name = element.attributes.get("name")
        if name and not _NETDEV.match(name):
            nets.append(_placed(name, element))
    elif element.name == "nvlink" and gpus and element.parent is gpus[-1].element:
        target = element.attributes.get("target", "")
        gpus[-1].nvlinks[target] = gpus[-1].nvlinks.get(target, 0) + (_whole(element.attributes.get("count")) or 0)


def _placed(name: str, element: Element) -> _Device:
    above: list[str] = []
    numa: str | None = None
    around = element.parent
    while around is not None:
        if around.name == "pci":
            above.append(around.attributes.get("busid", ""))
        elif around.name == "cpu":
            numa = around.attributes.get("host_hash", "") + "/" + around.attributes.get("numaid", "")
        around = around.parent
    return _Device(name, element, tuple(reversed(above)), numa, address=above[0] if above else "")


def _paths(lines: Lines, gpus: list[_Device], nets: list[_Device]) -> Iterator[DevicePath]:
    """Classes of the paths from each GPU to every other and to every net, as `nvidia-smi topo -m` names them."""
    for place, near in enumerate(gpus):
        for far in (*gpus[:place], *gpus[place + 1 :], *nets):
            links = _nvlinks(near, far)
            path_class = f"NV{links}" if links else _path_class(near, far)
            if path_class:
                yield DevicePath(
                    source=source(lines, _TOOL),
                    quotes=(near.element.quoted(lines), far.element.quoted(lines)),
                    near=near.name,
                    far=far.name,
                    path_class=path_class,
                )


def _nvlinks(near: _Device, far: _Device) -> int:
    """NVLinks between two GPUs: those that end at the other one, or all of the one that has fewer where both end at switches."""
    direct = near.nvlinks.get(far.address, 0)
    if direct or not near.nvlinks or not far.nvlinks:
        return direct
    is_switched = set(near.nvlinks) == set(far.nvlinks)
    return min(sum(near.nvlinks.values()), sum(far.nvlinks.values())) if is_switched else 0


def _path_class(near: _Device, far: _Device) -> str | None:
    if near.numa is None or far.numa is None:
        return None
    if near.numa != far.numa:
        return "SYS"
    shared = 0
    for one, other in zip(near.above, far.above, strict=False):
        if one != other:
            break
        shared += 1
    if shared == 0:
        return "PHB"
    below = max(len(near.above), len(far.above)) - shared
    return "PIX" if below <= 1 else "PXB"


def _numa_node(lines: Lines, element: Element) -> Iterator[NumaNode]:
    index = _whole(element.attributes.get("numaid"))
    if index is None or index < 0:
        return
    yield NumaNode(
        source=source(lines, _TOOL),
        quotes=(element.quoted(lines),),
        index=index,
        cpus=_cpus(element.attributes.get("affinity", "")),
    )


def _cpus(mask: str) -> tuple[int, ...]:
    """CPUs of a mask in groups of 32 bits, highest first."""
    groups = mask.split(",")
    if not mask or len(groups) > 256 or not all(re.fullmatch(r"[0-9a-fA-F]{1,8}", group) for group in groups):
        return ()
    number = int("".join(group.zfill(8) for group in groups), 16)
    return tuple(index for index in range(number.bit_length()) if number >> index & 1)


def _link(lines: Lines, element: Element) -> NcclTopoNode:
    """The PCI link above a device, at the bandwidth NCCL plans with."""
    speed = _SPEED.match(element.attributes.get("link_speed", ""))
    per_lane = _PER_LANE.get(float(speed["number"]), _USUAL_PER_LANE) if speed else _USUAL_PER_LANE
    lanes = _whole(element.attributes.get("link_width")) or _USUAL_LANES
    depth, around = 0, element.parent
    while around is not None:
        depth, around = depth + 1, around.parent
    return NcclTopoNode(
        source=source(lines, _TOOL),
        quotes=(element.quoted(lines),),
        node=f"PCI/{element.attributes.get('busid', '?')}",
        link="PCI",
        bandwidth_bytes_per_s=lanes * per_lane / 80.0 * _BYTES_PER_GB,
        depth_index=depth,
    )


def _device(lines: Lines, pci: Element, title: str, fallback: str) -> PciDevice:
    speed = _SPEED.match(pci.attributes.get("link_speed", ""))
    code = pci.attributes.get("class", "")
    cpu, parent = pci.ancestor("cpu"), pci.ancestor("pci")
    return PciDevice(
        source=source(lines, _TOOL),
        quotes=(pci.quoted(lines),),
        address=pci.attributes.get("busid"),
        title=title,
        device_class=next((name for start, name in _CLASSES if code.startswith(start)), fallback),
        speed_transfers_per_s=float(speed["number"]) * 1e9 if speed else None,
        width_lanes=_whole(pci.attributes.get("link_width")) or None,
        numa_node_index=_whole(cpu.attributes.get("numaid")) if cpu else None,
        parent=parent.attributes.get("busid") if parent else None,
    )


def _net(lines: Lines, element: Element) -> Iterator[Record]:
    """A NIC of an RDMA transport; the socket transport's nets are interfaces, which have no GPUDirect to lose."""
    name, pci = element.attributes.get("name"), element.ancestor("pci")
    if name is None or _NETDEV.match(name):
        return
    if pci is not None:
        yield _device(lines, pci, name, "nic")
    speed = _whole(element.attributes.get("speed"))
    yield RdmaPort(
        source=source(lines, _TOOL),
        quotes=(element.quoted(lines),),
        device=name,
        port=_whole(element.attributes.get("port")) or 1,
        link_rate_bits_per_s=speed * _BITS_PER_MBPS if speed else None,
    )
    if element.attributes.get("gdr") in ("0", "1"):
        yield NcclGdr(
            source=source(lines, _TOOL), quotes=(element.quoted(lines),), is_on=element.attributes["gdr"] == "1", hca=name
        )


def _graph(lines: Lines, element: Element) -> Iterator[NcclTuning]:
    """One plan; NCCL writes those it did not find with no channel."""
    channels = _whole(element.attributes.get("nchannels"))
    if not channels:
        return
    yield NcclTuning(
        source=source(lines, _TOOL),
        quotes=(element.quoted(lines),),
        algorithm=_PATTERNS.get(element.attributes.get("pattern", "")),
        channels_count=channels,
        path_within=element.attributes.get("typeintra"),
        path_between=element.attributes.get("typeinter"),
        bandwidth_within_bytes_per_s=_gigabytes(element.attributes.get("speedintra")),
        bandwidth_between_bytes_per_s=_gigabytes(element.attributes.get("speedinter")),
    )


def _whole(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text) else None


def _gigabytes(text: str | None) -> float | None:
    return float(text) * _BYTES_PER_GB if text and re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text) else None


READER = Reader(
    title=Text(en="NCCL topology and graph XML", zh="NCCL 拓扑与图 XML"),
    gives=(NcclTopoNode, NumaNode, PciDevice, RdmaPort, NcclGdr, DevicePath, NcclTuning),
    recognises=marked(_ROOT),
    read=_read,
    obtained_by=("NCCL_TOPO_DUMP_FILE=topology.xml NCCL_GRAPH_DUMP_FILE=graph.xml <your command>",),
)
