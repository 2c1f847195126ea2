"""The TCP_INFO line of `ss -i`: `cubic wscale:7,7 rto:204 rtt:0.4/0.2 ...` (iproute2, misc/ss.c)."""

import re
from collections.abc import Callable

from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.regex import regex

CONGESTION_CONTROLS = frozenset(
    {"cubic", "reno", "bbr", "bbr1", "bbr2", "bbr3", "dctcp", "htcp", "vegas", "westwood", "bic", "illinois", "scalable", "yeah",
     "highspeed", "hybla", "veno", "lp", "nv", "cdg", "dcqcn", "prague"}
)  # fmt: skip
_INFO = regex(r"(?:^|\s)(?:rto|rtt|cwnd|mss|minrtt|bytes_acked|segs_out|rcv_space):\d")
_RATE = regex(r"^(?P<number>\d+(?:\.\d+)?)(?P<scale>[KMG]?)bps$")
_SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_DROPS = regex(r"\bskmem:\([^)]*\bd(?P<drops>\d+)\)")


def is_info(text: str) -> bool:
    """Whether a line holds TCP_INFO; two of its fields are enough."""
    return len(_INFO.findall(text)) >= 2 or (text[:1].isspace() and _INFO.search(text) is not None and "skmem:" in text)


def info_fields(text: str) -> dict[str, object]:
    """Fields of `TcpSocket` that the line gives; what it does not give is left out."""
    fields: dict[str, object] = {}
    tokens = text.split()
    for place, token in enumerate(tokens):
        key, colon, value = token.partition(":")
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in CONGESTION_CONTROLS:
            fields["congestion_control"] = token
            if following.startswith("rto:"):
                fields["has_window_scaling"] = False
        elif token in ("pacing_rate", "delivery_rate"):
            _keep(fields, f"{token}_bytes_per_s", _bytes_per_s(following))
        elif token == "app_limited":  # noqa: S105
            fields["delivery_is_app_limited"] = True
        elif colon and key in _PARSERS:
            name, parse = _PARSERS[key]
            _keep(fields, name, parse(value))
        if colon and key in _PAIRS:
            name, parse = _PAIRS[key]
            _keep(fields, name, parse(value.partition("/")[2]))
    drops = _DROPS.search(text)
    if drops:
        fields["socket_drops_count"] = int(drops["drops"])
    if "delivery_rate_bytes_per_s" in fields:
        fields.setdefault("delivery_is_app_limited", False)
    return fields


def _keep(fields: dict[str, object], name: str, value: object) -> None:
    if value is not None:
        fields[name] = value


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _milliseconds(text: str) -> float | None:
    number = re.match(r"\d+(?:\.\d+)?", text)
    return time_in_s(float(number[0]), "ms") if number else None


def _bytes_per_s(text: str) -> float | None:
    found = _RATE.match(text)
    return float(found["number"]) * _SCALES[found["scale"]] / 8.0 if found else None


_Parser = tuple[str, Callable[[str], object]]
_PARSERS: dict[str, _Parser] = {
    "wscale": ("has_window_scaling", lambda text: True),
    "mss": ("mss_bytes", _whole),
    "pmtu": ("path_mtu_bytes", _whole),
    "rtt": ("rtt_s", _milliseconds),
    "minrtt": ("min_rtt_s", _milliseconds),
    "rto": ("rto_s", _milliseconds),
    "cwnd": ("congestion_window_packets", _whole),
    "ssthresh": ("slow_start_threshold_packets", _whole),
    "snd_wnd": ("send_window_bytes", _whole),
    "rcv_wnd": ("receive_window_bytes", _whole),
    "bytes_sent": ("bytes_sent_bytes", _whole),
    "bytes_acked": ("bytes_acked_bytes", _whole),
    "bytes_received": ("bytes_received_bytes", _whole),
    "bytes_retrans": ("bytes_retransmitted_bytes", _whole),
    "segs_out": ("segments_out_packets", _whole),
    "data_segs_out": ("data_segments_out_packets", _whole),
    "segs_in": ("segments_in_packets", _whole),
    "lost": ("lost_packets", _whole),
    "unacked": ("unacked_packets", _whole),
    "backoff": ("backoff_count", _whole),
    "reord_seen": ("reordering_seen_count", _whole),
    "dsack_dups": ("dsack_duplicates_count", _whole),
    "delivered": ("delivered_packets", _whole),
    "delivered_ce": ("delivered_ce_packets", _whole),
    "busy": ("busy_s", _milliseconds),
    "rwnd_limited": ("rwnd_limited_s", _milliseconds),
    "sndbuf_limited": ("sndbuf_limited_s", _milliseconds),
    "notsent": ("not_sent_bytes", _whole),
    "lastsnd": ("last_send_s", _milliseconds),
}
_PAIRS: dict[str, _Parser] = {"rtt": ("rtt_variation_s", _milliseconds), "retrans": ("retransmits_total_packets", _whole)}
