"""Amounts with units and places on the network, as people write them in options."""

import re
import socket
from collections.abc import Callable

from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[A-Za-zµμ/%]+)")
_PLACE = re.compile(
    r"\[(?P<inside>[^\[\]]+)\](?::(?P<after>\d+))?|(?P<host>[^:\[\]]+)(?::(?P<port>\d+))?|(?P<plain>[0-9A-Fa-f:.%]+)"
)


def rate(said: str, option: str) -> float:
    """Bits per second of `200Mb/s` and the like. Raises BadRequest."""
    return _amount(said, option, rate_in_bits_per_s, "200Mb/s")


def share(said: str, option: str) -> float:
    """The ratio of `0.5%`. Raises BadRequest."""
    return _amount(said, option, lambda number, unit: number / 100 if unit == "%" else None, "0.5%")


def _amount(said: str, option: str, convert: Callable[[float, str], float | None], example: str) -> float:
    found = _AMOUNT.fullmatch(said.strip())
    value = convert(float(found["number"]), found["unit"]) if found else None
    if value is None:
        raise BadRequest(
            Text(en=f"{option} is a number with its unit, such as {example}", zh=f"{option} 需为带单位的数值，例如 {example}")
        )
    return value


def place(said: str, usual_port: int) -> tuple[str, int]:
    """Host and port of `HOST`, `HOST:PORT`, `[V6]:PORT` or a bare IPv6 address. Raises BadRequest."""
    found = _PLACE.fullmatch(said.strip())
    if found is None:
        raise BadRequest(
            Text(
                en=f"{said!r} is no place: write HOST, HOST:PORT or [IPv6]:PORT",
                zh=f"{said!r} 不是有效的位置：请写成 HOST、HOST:PORT 或 [IPv6]:PORT",
            )
        )
    port = int(found["after"] or found["port"] or usual_port)
    if port > 65_535:
        raise BadRequest(Text(en=f"port {port} does not exist", zh=f"端口 {port} 不存在"))
    return str(found["inside"] or found["host"] or found["plain"]), port


def address_of(host: str) -> str:
    """The first address a name has; an address stays as it is. Raises CouldNot."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError) as error:
        raise CouldNot(Text(en=f"{host} has no address: {error}", zh=f"无法解析 {host} 的地址：{error}")) from error
