"""Words of InfiniBand's fabric tools: speeds of lanes by their names, and hosts in node descriptions."""

from wirespeed.model.facts.cluster import NodeGroup
from wirespeed.model.source import Quote, Source
from wirespeed.readers.parsing.regex import regex

LANE_RATE_BITS_PER_S = {
    "SDR": 2.5e9, "DDR": 5e9, "QDR": 10e9, "FDR10": 10.3125e9, "FDR": 14.0625e9, "EDR": 25.78125e9, "HDR": 53.125e9, "NDR": 106.25e9,
    "XDR": 212.5e9,
}  # fmt: skip
"""Signalling rate of one lane as the tools print it (InfiniBand Architecture Specification; infiniband-diags, libibnetdisc)."""
DATA_RATE_BITS_PER_S = {
    "SDR": 2.5e9, "DDR": 5e9, "QDR": 10e9, "FDR10": 10e9, "FDR": 14e9, "EDR": 25e9, "HDR": 50e9, "NDR": 100e9, "XDR": 200e9,
}  # fmt: skip
"""What ibstat calls the rate of a lane: 4x NDR is 400 Gb/s."""

_RAIL = regex(r"^(?P<host>[\w.-]{1,253}) (?P<adapter>HCA-\d{1,3}|(?:mlx\d|hfi\d|bnxt_re|irdma|ib[ps]?|rocep?)[\w.]{0,20})$")


def rail_group(source: Source, quotes: tuple[Quote, ...], description: str, switch: str) -> NodeGroup | None:
    """A host's place on one switch, a level for each of its adapters (a rail); None where the description is no host's adapter."""
    found = _RAIL.match(description.strip())
    if found is None:
        return None
    return NodeGroup(source=source, quotes=quotes, level=f"leaf-switch of {found['adapter']}", name=switch, nodes=(found["host"],))
