"""`ibv_devinfo` and `ibv_devinfo -v`: devices, their ports and, with `-v`, GIDs, width and speed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.rdma import Gid, RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_FIELD = regex(
    r"(?:^|\s)(?P<label>hca_id|fw_ver|board_id|port|state|max_mtu|active_mtu|sm_lid|port_lid|link_layer"
    r"|active_width|active_speed|phys_state)"
    r":\s+(?P<setting>\S.{0,63})"
)
_GID = regex(r"GID\[ *(?P<index>\d{1,4})\]:\s+(?P<gid>[0-9a-fA-F:.]{2,45})(?:, (?P<type>IB/RoCE v1|RoCE v1|RoCE v2|IB))?")
_RECOGNISED = regex(r"(?m)\bhca_id:\s+\w|^\s*state:\s+PORT_\w+|^\s*(?:active|max)_mtu:\s+\d|^\s*GID\[ *\d+\]:")
_FIRST_NUMBER = regex(r"^(\d{1,6}(?:\.\d{1,3})?)")
_DEVICE_LABELS = frozenset({"hca_id", "fw_ver", "board_id"})
_BAD_MTU = Text(en="an MTU of ibv_devinfo is no number", zh="ibv_devinfo 的 MTU 不是数字")


@dataclass(slots=True)
class _Port:
    """What was read of one port so far, and of the device it belongs to."""

    device: dict[str, str] = field(default_factory=dict)
    device_quotes: list[Quote] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    port = _Port()
    for index, line in lines:
        said = quote(lines, index, line)
        gid = _GID.search(line)
        if gid:
            yield from _gid(lines, port, gid, said)
            continue
        found = _FIELD.search(line)
        if not found:
            continue
        label, setting = found["label"], found["setting"].strip()
        if label == "hca_id":
            yield from _finished(lines, port)
            port = _Port()
        elif label in port.fields:
            yield from _finished(lines, port)
            port = _Port(device=port.device, device_quotes=port.device_quotes)
        if label in _DEVICE_LABELS:
            port.device[label] = setting
            port.device_quotes = [*port.device_quotes, said][:8]
        elif label.endswith("_mtu") and not _FIRST_NUMBER.match(setting):
            yield Problem(source=source(lines, "ibv_devinfo"), why=_BAD_MTU, line_index=index)
        else:
            port.fields[label] = setting
            port.quotes.append(said)
    yield from _finished(lines, port)


def _finished(lines: Lines, port: _Port) -> Iterator[RdmaPort]:
    if not port.fields.keys() - {"port", "sm_lid", "port_lid"}:
        return
    device = port.device.get("hca_id", "")
    layer = port.fields.get("link_layer", "").lower()
    state = port.fields.get("state", "").split(" ")[0].removeprefix("PORT_").lower()
    physical = port.fields.get("phys_state", "").split(" ")[0].replace("_", "").lower()
    yield RdmaPort(
        source=source(lines, "ibv_devinfo"),
        quotes=(*port.device_quotes, *port.quotes),
        missing={} if device else {"device": "absent"},
        device=device,
        port=_whole(port.fields.get("port")) or 1,
        state=state or None,
        physical_state=physical or None,
        link_layer="infiniband" if layer == "infiniband" else "ethernet" if layer == "ethernet" else None,
        link_rate_bits_per_s=_rate(port.fields),
        lanes=port.fields.get("active_width", "").split(" ")[0] or None,
        active_mtu_bytes=_whole(port.fields.get("active_mtu")),
        max_mtu_bytes=_whole(port.fields.get("max_mtu")),
        firmware=port.device.get("fw_ver"),
        board=port.device.get("board_id"),
        lid_number=_whole(port.fields.get("port_lid")),
        sm_lid_number=_whole(port.fields.get("sm_lid")),
    )


def _rate(fields: dict[str, str]) -> float | None:
    """`active_speed` is that of one lane, `active_width` (4X) the number of lanes."""
    lanes = _FIRST_NUMBER.match(fields.get("active_width", ""))
    speed = _FIRST_NUMBER.match(fields.get("active_speed", ""))
    return float(lanes[1]) * float(speed[1]) * 1e9 if lanes and speed else None


def _gid(lines: Lines, port: _Port, found: re.Match[str], said: Quote) -> Iterator[Gid]:
    kind = found["type"] or ""
    gid = found["gid"].lower()
    mapped = gid.removeprefix("::ffff:")
    yield Gid(
        source=source(lines, "ibv_devinfo"),
        quotes=(*port.device_quotes[:1], said),
        missing={} if "hca_id" in port.device else {"device": "absent"},
        device=port.device.get("hca_id", ""),
        port=_whole(port.fields.get("port")) or 1,
        index=int(found["index"]),
        gid=gid,
        ipv4=mapped if mapped != gid and mapped.count(".") == 3 else None,
        roce_version="v2" if kind.endswith("v2") else "v1" if kind.endswith("v1") else None,
    )


def _whole(setting: str | None) -> int | None:
    found = _FIRST_NUMBER.match(setting or "")
    return int(min(float(found[1]), 1e9)) if found else None


READER = Reader(
    title=Text(en="ibv_devinfo", zh="ibv_devinfo"),
    gives=(RdmaPort, Gid),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ibv_devinfo", "ibv_devinfo -v"),
)
