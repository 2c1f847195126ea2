"""`lspci` with `-vv`/`-vvv` (capabilities) or `-tv` (the tree); a single quoted capability line is enough."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.host import PciDevice
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ADDRESS = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_HEADER = regex(
    rf"^(?:[\w.-]{{1,64}}: )?(?P<address>{_ADDRESS}) (?P<what>(?!Lnk)[A-Z3][\w /()-]{{1,60}}?)(?: \[[0-9a-f]{{4}}\])?: (?P<title>\S.*)$"
)
_LINK = regex(r"\b(?P<which>LnkCap|LnkSta):(?:\s|.{0,24}, )\s*Speed (?P<speed>\d{1,3}(?:\.\d)?) ?GT/s(?P<rest>.{0,120})")
_PREFIXED = regex(rf"^\W{{0,3}}(?P<address>{_ADDRESS})\b.{{0,40}}\bLnk(?:Cap|Sta):")
"""A note on one line: the address of a device before its link."""
_WIDTH = regex(r"\bWidth x(?P<lanes>\d{1,2})")
_ACS = regex(r"\bACSCtl:\s*(?P<flags>[A-Z]\w+[+-].{0,160})")
_FLAG = regex(r"\b([A-Z][A-Za-z]+)\+")
_PAYLOAD = regex(r"\bMaxPayload (?P<payload>\d{2,4}) bytes, MaxReadReq (?P<read>\d{2,4}) bytes")
_NUMA = regex(r"^\s*NUMA node: (?P<node>\d{1,3})\s*$")
_DRIVER = regex(r"\bKernel driver in use: (?P<driver>[\w-]{1,32})")
_TREE = regex(r"^[ |]*(?=[-+\\][-+\[]).*-[0-9a-f]{2}\.[0-7](?![0-9.])")
_TREE_PART = regex(
    r"\[(?P<bus>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2})(?:-[0-9a-f]{2})?\]|(?<=-)(?P<slot>[0-9a-f]{2}\.[0-7])(?P<title>  \S.*)?"
)
_RECOGNISED = regex(
    rf"(?m)^(?:[\w.-]{{1,64}}: )?{_ADDRESS} [A-Z3][\w /()-]{{1,60}}(?: \[[0-9a-f]{{4}}\])?: \S"
    r"|\b(?:LnkSta|LnkCap):.{0,40}Speed \d|\bACSCtl:\s*[A-Z]\w{1,20}[+-]|\bMaxPayload \d+ bytes, MaxReadReq"
    r"|^ ?[-+\\|]-?\[[0-9a-f]{4}:[0-9a-f]{2}\]-"
)
_CLASSES = {
    "PCI bridge": "bridge",
    "Ethernet controller": "nic",
    "Infiniband controller": "nic",
    "Network controller": "nic",
    "3D controller": "gpu",
    "VGA compatible controller": "gpu",
    "Display controller": "gpu",
    "Processing accelerators": "gpu",
    "Non-Volatile memory controller": "nvme",
}
_ORDER = ("NUMA", "DevCtl", "LnkCap", "LnkSta", "ACSCtl", "driver")
"""Order of the lines within a device: one that goes back starts another device where no header says so."""
_MOST_BRANCHES = 256
_BAD_LINK = Text(en="a PCIe link line without speed and width", zh="PCIe 链路行缺少速率与宽度")


@dataclass(slots=True)
class _Device:
    """What was read of one device so far; `keys` are the lines already seen."""

    fields: dict[str, object] = field(default_factory=dict)
    quotes: list[Quote] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    device = _Device()
    branches: dict[int, tuple[str, str | None]] = {}
    for index, line in lines:
        said = quote(lines, index, line)
        header = _HEADER.match(line)
        if header:
            yield from _finished(lines, device)
            device = _Device(fields=_header_fields(header), quotes=[said], keys={"header"})
            continue
        if _TREE.search(line):
            yield from _tree_line(lines, line, said, branches)
            continue
        if prefixed := _PREFIXED.match(line):
            yield from _finished(lines, device)
            device = _Device(fields={"address": _whole_address(prefixed["address"])}, keys={"header"})
        for key, fields in _capabilities(line):
            if not fields:
                yield Problem(source=source(lines, "lspci"), why=_BAD_LINK, line_index=index)
                continue
            if "header" not in device.keys and any(_ORDER.index(key) <= _ORDER.index(seen) for seen in device.keys):
                yield from _finished(lines, device)
                device = _Device()
            if key not in device.keys:
                device.keys.add(key)
                device.fields.update(fields)
                device.quotes.extend(() if said in device.quotes[-1:] else (said,))
    yield from _finished(lines, device)


def _header_fields(header: re.Match[str]) -> dict[str, object]:
    what = header["what"]
    return {
        "address": _whole_address(header["address"]),
        "title": header["title"].strip(),
        "device_class": _CLASSES.get(what, what.lower()),
    }


def _whole_address(address: str) -> str:
    """With its domain, as sysfs writes it; lspci leaves the domain out where it is 0000."""
    return address.lower() if address.count(":") == 2 else f"0000:{address.lower()}"


def _capabilities(line: str) -> Iterator[tuple[str, dict[str, object]]]:
    """What the telling parts of a line say; notes put LnkCap and LnkSta of a device on one line."""
    later = next((at for which in ("LnkSta:", "LnkCap:") if (at := line.find(which)) > 0 and "Lnk" in line[:at]), len(line))
    for part in (line[:later], line[later:]):
        key, fields = _capability(part)
        if key:
            yield key, fields


def _capability(line: str) -> tuple[str, dict[str, object]]:
    """Name of a telling line and its fields; a name without fields is a damaged line."""
    if found := _LINK.search(line):
        return found["which"], _link_fields(found)
    if "LnkSta:" in line or "LnkCap:" in line:
        return "link", {}
    if found := _ACS.search(line):
        return "ACSCtl", {"acs_flags": tuple(_FLAG.findall(found["flags"]))}
    if found := _PAYLOAD.search(line):
        return "DevCtl", {"max_payload_bytes": int(found["payload"]), "max_read_request_bytes": int(found["read"])}
    if found := _NUMA.match(line):
        return "NUMA", {"numa_node_index": int(found["node"])}
    if found := _DRIVER.search(line):
        return "driver", {"driver": found["driver"]}
    return "", {}


def _link_fields(found: re.Match[str]) -> dict[str, object]:
    speed = float(found["speed"]) * 1e9
    width = _WIDTH.search(found["rest"])
    lanes = {} if width is None else {"width_lanes": int(width["lanes"])}
    if found["which"] == "LnkCap":
        return {"max_speed_transfers_per_s": speed, **{f"max_{name}": value for name, value in lanes.items()}}
    is_downgraded = True if "(downgraded)" in found["rest"] else False if "(ok)" in found["rest"] else None
    return {"speed_transfers_per_s": speed, **lanes, "is_downgraded": is_downgraded}


def _finished(lines: Lines, device: _Device) -> Iterator[PciDevice]:
    if device.fields.keys() - {"numa_node_index", "driver"}:
        yield PciDevice(source=source(lines, "lspci"), quotes=tuple(device.quotes), **device.fields)  # type: ignore[arg-type]


def _tree_line(lines: Lines, line: str, said: Quote, branches: dict[int, tuple[str, str | None]]) -> Iterator[PciDevice]:
    """Devices of one line of the tree. A branch sign keeps its column over the lines, and with it bus and bridge."""
    bus, parent, domain = "", None, "0000"
    for part in _TREE_PART.finditer(line):
        at = part.start() - 2
        column = at if line[at : at + 2] in ("+-", "\\-") else None
        if part["bus"]:
            domain, _, number = part["bus"].rpartition(":") if ":" in part["bus"] else (domain, "", part["bus"])
            bus = f"{domain}:{number}"
            parent = None if ":" in part["bus"] else parent
            continue
        if column is not None and bus:
            branches[column] = (bus, parent)
        elif column is not None:
            bus, parent = branches.get(column, ("", None))
            domain = bus.rpartition(":")[0] or domain
        if not bus or len(branches) > _MOST_BRANCHES:
            continue
        address = f"{bus}:{part['slot']}"
        title = (part["title"] or "").strip() or None
        yield PciDevice(source=source(lines, "lspci"), quotes=(said,), address=address, title=title, parent=parent)
        parent = address


READER = Reader(
    title=Text(en="lspci", zh="lspci"),
    gives=(PciDevice,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("lspci -vvv", "lspci -tv"),
)
