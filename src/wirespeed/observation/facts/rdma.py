"""RDMA devices: ports, GID tables, counters, traffic class, and whether they can be opened."""

import re
from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.rdma import Gid, RdmaDeviceNode, RdmaPort
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, answer_of, listing_or_nothing, problem, value_of
from wirespeed.observation.collector import Collector

ROOT = "/sys/class/infiniband"
NODES = "/dev/infiniband"
_RATE = re.compile(r"^(\d+(?:\.\d+)?) Gb/sec(?: \((.+)\))?")
_NO_GID = re.compile(r"^[0:]*$")


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    try:
        devices = machine.listing(ROOT)
    except MachineProblem as trouble:
        yield problem(machine, "sysfs", ROOT, trouble)
        devices = ()
    for device in devices:
        for port in listing_or_nothing(machine, f"{ROOT}/{device}/ports"):
            if port.isdigit():
                yield _port(machine, device, int(port))
                yield from _gids(machine, device, int(port))
                yield from _counters(machine, device, int(port))
        yield from _traffic_class(machine, device)
    yield from _nodes(machine, bool(devices))


def _port(machine: Machine, device: str, port: int) -> RdmaPort:
    base = f"{ROOT}/{device}/ports/{port}"
    found = Gathered(machine, "sysfs", base)
    found.take("state", f"{base}/state", _after_colon)
    found.take("physical_state", f"{base}/phys_state", _after_colon)
    found.take("link_layer", f"{base}/link_layer", lambda text: text.lower() if text in ("InfiniBand", "Ethernet") else None)
    found.take("link_rate_bits_per_s", f"{base}/rate", lambda text: float(match[1]) * 1e9 if (match := _RATE.match(text)) else None)
    rate = _RATE.match(value_of(machine, f"{base}/rate") or "")
    found.put("lanes", rate[2] if rate else None)
    found.take("lid_number", f"{base}/lid", lambda text: int(text, 16))
    found.take("sm_lid_number", f"{base}/sm_lid", lambda text: int(text, 16))
    found.take("firmware", f"{ROOT}/{device}/fw_ver", lambda text: text or None)
    found.take("board", f"{ROOT}/{device}/board_id", lambda text: text or None)
    found.take("link", f"{base}/gid_attrs/ndevs/0", lambda text: text or None)
    for field in ("active_mtu_bytes", "max_mtu_bytes"):
        found.lacks(field, "unsupported")  # sysfs does not show it; ibv_devinfo does
    return found.into(RdmaPort, device=device, port=port)


def _after_colon(text: str) -> str | None:
    """`4: ACTIVE` and `5: LinkUp`."""
    return text.partition(":")[2].strip().lower() or None


def _gids(machine: Machine, device: str, port: int) -> Iterator[Gid]:
    base = f"{ROOT}/{device}/ports/{port}"
    for index in sorted((name for name in listing_or_nothing(machine, f"{base}/gids") if name.isdigit()), key=int):
        gid = value_of(machine, f"{base}/gids/{index}")
        if not gid or _NO_GID.match(gid):
            continue
        found = Gathered(machine, "sysfs", f"{base}/gids/{index}")
        found.take("gid", f"{base}/gids/{index}", str)
        found.take("roce_version", f"{base}/gid_attrs/types/{index}", _roce_version)
        found.take("link", f"{base}/gid_attrs/ndevs/{index}", lambda text: text or None)
        found.put("ipv4", _ipv4(gid))
        yield found.into(Gid, device=device, port=port, index=int(index))


def _roce_version(text: str) -> str | None:
    """`IB/RoCE v1` is printed for InfiniBand too."""
    return "v2" if text == "RoCE v2" else "v1" if text.endswith("RoCE v1") else None


def _ipv4(gid: str) -> str | None:
    words = gid.split(":")
    if len(words) != 8 or words[:6] != ["0000"] * 5 + ["ffff"]:
        return None
    try:
        number = int(words[6] + words[7], 16)
    except ValueError:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _counters(machine: Machine, device: str, port: int) -> Iterator[Counter]:
    for folder in ("counters", "hw_counters"):
        base = f"{ROOT}/{device}/ports/{port}/{folder}"
        for name in listing_or_nothing(machine, base):
            found = Gathered(machine, "sysfs", f"{base}/{name}")
            found.take("value_count", f"{base}/{name}", int)
            if "value_count" in found.values and name != "lifespan":
                yield found.into(Counter, scope=f"{device}/{port}", name=name, canonical=canonical_name(name))


def _traffic_class(machine: Machine, device: str) -> Iterator[Setting]:
    for port in listing_or_nothing(machine, f"{ROOT}/{device}/tc"):
        path = f"{ROOT}/{device}/tc/{port}/traffic_class"
        found = Gathered(machine, "sysfs", path)
        found.take("setting", path, lambda text: text or None)
        if "setting" in found.values:
            yield found.into(Setting, name=f"{device}/{port}/traffic_class")


def _nodes(machine: Machine, has_devices: bool) -> Iterator[Record | Problem]:
    """The character devices. A container that sees RDMA devices in sysfs but has no such node cannot use them."""
    names = [name for name in listing_or_nothing(machine, NODES) if name.startswith("uverbs")]
    if not names and has_devices:
        yield Gathered(machine, "devices", NODES).into(RdmaDeviceNode, path=f"{NODES}/uverbs0", exists=False)
    for name in names:
        found = Gathered(machine, "devices", f"{NODES}/{name}")
        try:
            found.put("is_accessible", answer_of(machine, "access", f"{NODES}/{name}", dict[str, bool]).get("is_accessible"))
        except MachineProblem as trouble:
            found.lacks("is_accessible", trouble.reason)
        yield found.into(RdmaDeviceNode, path=f"{NODES}/{name}", exists=True)


COLLECTOR = Collector(
    title=Text(en="RDMA devices", zh="RDMA 设备"),
    gives=(RdmaPort, Gid, Counter, Setting, RdmaDeviceNode),
    observe=_observe,
    cost_s=0.02,
)
