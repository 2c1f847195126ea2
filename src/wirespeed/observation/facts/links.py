"""Network interfaces: what they are, how they are set, and what they and their drivers count."""

import re
from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter, Link, LinkChannels, LinkCoalescing, LinkOffload, LinkPause, LinkRings
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import LINKS, Gathered, listing_or_nothing, text_of
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import ethtool_ioctl as ethtool
from wirespeed.readers.netlink import rtnetlink

TOOL = "ethtool"
MOST_LINKS = 512
"""A host of many containers has hundreds of veth pairs; beyond this they say nothing new."""
_PCI_ADDRESS = re.compile(r"^[0-9a-f]{4,5}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_PRINTED_FEATURES = {
    "tx-generic-segmentation": "generic-segmentation-offload", "rx-gro": "generic-receive-offload", "rx-lro": "large-receive-offload",
    "rx-vlan-hw-parse": "rx-vlan-offload", "tx-vlan-hw-insert": "tx-vlan-offload", "rx-ntuple-filter": "ntuple-filters",
    "rx-hashing": "receive-hashing", "rx-checksum": "rx-checksumming",
}  # fmt: skip
"""Names under which `ethtool -k` prints a kernel feature."""
_FEATURE_GROUPS = {
    "tcp-segmentation-offload": re.compile(r"^tx-tcp6?(?:-ecn|-mangleid)?-segmentation$"),
    "tx-checksumming": re.compile(r"^tx-checksum-"),
    "scatter-gather": re.compile(r"^tx-scatter-gather"),
}
"""Headings of `ethtool -k`, on when any of their features is on."""


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    seen = _seen(machine)
    names = [name for name in listing_or_nothing(machine, LINKS) if name != "bonding_masters"] or sorted(seen)
    if not names:
        yield Problem(
            source=Source(tool=TOOL, path=LINKS, host=machine.host),
            why=Text(en="no network interface can be seen", zh="看不到任何网络接口"),
            reason="absent",
        )
    masters = {link.index: link.name for link in seen.values()}
    for name in names[:MOST_LINKS]:
        yield _link(machine, name, seen.get(name), masters)
        yield from _settings(machine, name)
        yield from _roce_settings(machine, name)
        yield from _offloads(machine, name)
        yield from _counters(machine, name)


def _seen(machine: Machine) -> dict[str, rtnetlink.LinkSeen]:
    try:
        reply = machine.netlink(rtnetlink.NETLINK_ROUTE, rtnetlink.LINKS_REQUEST)
    except MachineProblem:
        return {}
    return {link.name: link for link in rtnetlink.links(reply)}


def _link(machine: Machine, name: str, seen: rtnetlink.LinkSeen | None, masters: dict[int, str]) -> Link:
    base = f"{LINKS}/{name}"
    found = Gathered(machine, TOOL, base)
    found.take("link_rate_bits_per_s", f"{base}/speed", _rate)
    found.take("duplex", f"{base}/duplex", lambda text: text if text in ("full", "half") else None)
    found.take("mtu_bytes", f"{base}/mtu", int)
    found.take("has_carrier", f"{base}/carrier", lambda text: text == "1")
    found.take("mac_address", f"{base}/address", lambda text: text if text.strip("0:") else None)
    found.take("carrier_changes_count", f"{base}/carrier_changes", int)
    found.take("tx_queue_packets", f"{base}/tx_queue_len", int)
    found.take("is_up", f"{base}/flags", lambda text: bool(int(text, 16) & rtnetlink.IFF_UP))
    found.take("numa_node_index", f"{base}/device/numa_node", _node)
    _add_netlink(found, seen, masters)
    _add_ethtool(machine, name, found)
    try:
        address = machine.link(f"{base}/device").rpartition("/")[2]
        if _PCI_ADDRESS.match(address):
            found.put("pci_address", address)
    except MachineProblem as trouble:
        found.lacks("pci_address", trouble.reason)
    return found.into(Link, name=name)


def _rate(text: str) -> float | None:
    """The kernel prints Mb/s, and -1 (or its unsigned form) where it does not know."""
    return int(text) * 1e6 if 0 < int(text) < 0xFFFFFFFF else None


def _node(text: str) -> int | None:
    """Firmware that does not say gives -1."""
    return int(text) if int(text) >= 0 else None


def _add_netlink(found: Gathered, seen: rtnetlink.LinkSeen | None, masters: dict[int, str]) -> None:
    if seen is None:
        return
    found.put("type_name", seen.type_name)
    found.put("master", masters.get(seen.master_index) if seen.master_index else None)
    for field in ("is_up", "has_carrier", "mtu_bytes", "mac_address", "tx_queue_packets", "carrier_changes_count"):
        if field not in found.values:
            found.put(field, getattr(seen, field))


def _add_ethtool(machine: Machine, name: str, found: Gathered) -> None:
    try:
        driver = ethtool.driver(machine.ioctl(name, ethtool.DRIVER_REQUEST))
        if driver is not None:
            found.put("driver", driver.driver)
            found.put("driver_version", driver.version)
            found.put("firmware", None if driver.firmware in (None, "N/A") else driver.firmware)
            if driver.bus and _PCI_ADDRESS.match(driver.bus):
                found.put("pci_address", driver.bus)
    except MachineProblem as trouble:
        for field in ("driver", "driver_version", "firmware"):
            found.lacks(field, trouble.reason)
    try:
        request = ethtool.settings_request(machine.ioctl(name, ethtool.SETTINGS_PROBE))
        settings = ethtool.settings(machine.ioctl(name, request)) if request else None
        if settings is not None:
            found.put("autonegotiates", settings.autonegotiates)
            found.put("advertised_max_bits_per_s", settings.advertised_max_bits_per_s)
    except MachineProblem as trouble:
        for field in ("autonegotiates", "advertised_max_bits_per_s"):
            found.lacks(field, trouble.reason)


def _settings(machine: Machine, name: str) -> Iterator[Record]:
    """Rings, queues, moderation and flow control; a driver without one of them says so by an error, and gives no record."""
    source = Source(tool=TOOL, path=f"ethtool ioctl {name}", host=machine.host)
    rings = _words(machine, name, ethtool.RINGS_REQUEST)
    if rings:
        yield LinkRings(
            source=source, link=name, rx_entries=rings[4], rx_max_entries=rings[0], tx_entries=rings[7], tx_max_entries=rings[3]
        )
    queues = _words(machine, name, ethtool.CHANNELS_REQUEST)
    if queues:
        yield LinkChannels(
            source=source, link=name, rx_max_count=queues[0], tx_max_count=queues[1], combined_max_count=queues[3],
            rx_count=queues[4], tx_count=queues[5], combined_count=queues[7],
        )  # fmt: skip
    delays = _words(machine, name, ethtool.COALESCING_REQUEST)
    if delays:
        yield LinkCoalescing(
            source=source, link=name, rx_delay_s=delays[0] / 1e6, rx_frames_count=delays[1], tx_delay_s=delays[4] / 1e6,
            tx_frames_count=delays[5], is_adaptive_rx=bool(delays[9]), is_adaptive_tx=bool(delays[10]),
        )  # fmt: skip
    pause = _words(machine, name, ethtool.PAUSE_REQUEST)
    if pause:
        yield LinkPause(source=source, link=name, autonegotiates=bool(pause[0]), rx_is_on=bool(pause[1]), tx_is_on=bool(pause[2]))


def _words(machine: Machine, name: str, request: bytes) -> tuple[int, ...] | None:
    try:
        return ethtool.words(machine.ioctl(name, request), len(request) // 4 - 1)
    except MachineProblem:
        return None


def _roce_settings(machine: Machine, name: str) -> Iterator[Record]:
    """Trust and ECN of RoCE, where the vendor's driver shows them in sysfs."""
    paths = [f"{LINKS}/{name}/qos/trust"]
    paths += [f"{LINKS}/{name}/ecn/{side}/enable/{priority}" for side in ("roce_np", "roce_rp") for priority in range(8)]
    paths.append(f"{LINKS}/{name}/ecn/roce_np/cnp_dscp")
    try:
        machine.listing(f"{LINKS}/{name}/ecn")
    except MachineProblem:
        return
    for path in paths:
        found = Gathered(machine, "sysfs", path)
        found.take("setting", path, str)
        if "setting" in found.values:
            yield found.into(Setting, name=path.removeprefix(f"{LINKS}/"))


def _offloads(machine: Machine, name: str) -> Iterator[LinkOffload]:
    source = Source(tool=TOOL, path=f"ethtool ioctl {name}", host=machine.host)
    try:
        names = _strings(machine, name, ethtool.SET_FEATURES)
        features = ethtool.features(machine.ioctl(name, ethtool.features_request(len(names))), names) if names else []
    except MachineProblem:
        return
    for heading, pattern in _FEATURE_GROUPS.items():
        members = [(is_on, is_fixed) for feature, is_on, is_fixed in features if pattern.match(feature)]
        if members:
            is_on, is_fixed = any(on for on, _ in members), all(fixed for _, fixed in members)
            yield LinkOffload(source=source, link=name, feature=heading, is_on=is_on, is_fixed=is_fixed)
    for feature, is_on, is_fixed in features:
        yield LinkOffload(source=source, link=name, feature=_PRINTED_FEATURES.get(feature, feature), is_on=is_on, is_fixed=is_fixed)


def _counters(machine: Machine, name: str) -> Iterator[Record]:
    """The driver's statistics, then the kernel's where the driver has none of that name."""
    source = Source(tool=TOOL, path=f"ethtool ioctl {name}", host=machine.host)
    counted: set[str] = set()
    try:
        names = _strings(machine, name, ethtool.SET_STATS)
        values = ethtool.statistics(machine.ioctl(name, ethtool.statistics_request(len(names)))) if names else ()
    except MachineProblem:
        names, values = (), ()
    for counter, value in zip(names, values, strict=False):
        counted.add(counter)
        yield Counter(source=source, scope=name, name=counter, value_count=value, canonical=canonical_name(counter))
    base = f"{LINKS}/{name}/statistics"
    for counter in listing_or_nothing(machine, base):
        if counter not in counted:
            yield from _kernel_counter(machine, name, f"{base}/{counter}", counter)


def _kernel_counter(machine: Machine, name: str, path: str, counter: str) -> Iterator[Counter]:
    try:
        line = text_of(machine, path).partition("\n")[0]
    except MachineProblem:
        return
    if line.strip().isdigit():
        yield Counter(
            source=Source(tool="sysfs", path=path, host=machine.host),
            quotes=(Quote(source=path, line_index=0, text=line),),
            scope=name,
            name=counter,
            value_count=int(line),
            canonical=canonical_name(counter),
        )


def _strings(machine: Machine, name: str, string_set: int) -> tuple[str, ...]:
    count = ethtool.string_count(machine.ioctl(name, ethtool.string_count_request(string_set)))
    return ethtool.strings(machine.ioctl(name, ethtool.strings_request(string_set, count))) if count else ()


COLLECTOR = Collector(
    title=Text(en="network interfaces", zh="网络接口"),
    gives=(Link, LinkRings, LinkChannels, LinkCoalescing, LinkPause, LinkOffload, Counter, Setting),
    observe=_observe,
    cost_s=0.01,
)
