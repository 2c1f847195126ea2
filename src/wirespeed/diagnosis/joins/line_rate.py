"""Rates of links as read or named, and what was measured on them, in bits per second."""

import re

from wirespeed.diagnosis.joins.benchmarks import NETWORK_BENCHMARKS
from wirespeed.diagnosis.joins.pieces import quantities
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.measurement import CollectiveRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.theory import storage

GENERATION_BITS_PER_S = {
    "QDR": 32e9, "FDR": 56e9, "EDR": 100e9, "HDR100": 100e9, "HDR": 200e9, "NDR200": 200e9, "NDR": 400e9, "XDR": 800e9,
}  # fmt: skip
"""Data rates of 4 lanes, which is what `4X` means (IBTA volume 1, table of link rates)."""
_NETWORK_TOOLS = (*NETWORK_BENCHMARKS, "osu", "wget", "curl", "rsync", "scp", "tqdm", "aria2")


_LINKS = r"(?:nics?|hcas?|cards?|ports?|rails?|adapters?|links?|cables?|uplinks?)"
_COUNT = r"\b(\d{1,2}|two|three|four|six|eight|dual|quad|both)"
_SEVERAL = re.compile(
    rf"(?i){_COUNT} ?[x×*] ?(?:[\w-]+ )?(\d{{2,3}}) ?G(?:b|E|\b)"
    rf"|{_COUNT} (?:\w+ )?{_LINKS} (?:of|at|with|running|each)? ?(\d{{2,3}}) ?G(?:b|E|\b)"
    rf"|{_COUNT}[ -](\d{{2,3}}) ?G(?:b(?:it)?(?:/s|ps)?|bE|E)? (?:\w+ )?{_LINKS}"
)
_NUMBERS = {"two": 2, "both": 2, "dual": 2, "three": 3, "four": 4, "quad": 4, "six": 6, "eight": 8}
_LIMIT = re.compile(
    r"(?i)\blimit|\bcap(?:ped|s)?\b|per[- ](?:flow|connection|stream)|(?:single|one) flow|\bonly (?:at |about |up to )?\d+ ?[gm]b|shap(?:ed|er|ing)|thrott|polic"
)


def _names_a_line(said: Statement) -> bool:
    """Whether the rate is in bits, and the link's own rather than what holds traffic down."""
    in_bytes = (said.unit or "").startswith("GB") and said.unit != "GBASE"
    return not in_bytes and not any(_LIMIT.search(quote.text) for quote in said.quotes)


def _sums(said: Statement) -> list[float]:
    """`4 x 400 Gb/s`, `four cards of 200G` and `dual 100G ports` as the rate of all of them."""
    found = [[part for part in groups if part] for quote in said.quotes for groups in _SEVERAL.findall(quote.text)]
    return [1e9 * float(_NUMBERS.get(count.lower(), count)) * float(rate) for count, rate in found]


def line_rates(case: Case) -> list[tuple[Record, float]]:
    """Every link rate that was read from a port or named in words."""
    found: list[tuple[Record, float]] = [
        (one, one.link_rate_bits_per_s) for one in case.every(RdmaPort) if one.link_rate_bits_per_s
    ]
    found += [(one, one.link_rate_bits_per_s) for one in case.every(Link) if one.link_rate_bits_per_s]
    found += [(one, 1e9 * one.value) for one in case.said("line-rate-named") if one.value and _names_a_line(one)]
    found += [(one, 1e9) for one in case.said("gigabit-named")]
    found += [
        (one, one.value)
        for one in quantities(case, "rate", r"(?:speed|link rate|line rate|\b(?:eth|en[opsx]|bond|ib)\w*\d)\W{0,3}$")
        if "B" not in one.printed
    ]
    found += [(one, rate) for one in case.said("line-rate-named", "rdma-card-count", "several-links-named") for rate in _sums(one)]
    named = [(one, GENERATION_BITS_PER_S.get((one.unit or "").upper())) for one in case.said("infiniband-generation")]
    return [*(one for one in found if one[1] > 0), *((one, rate) for one, rate in named if rate)]


def measured_rates(case: Case) -> list[tuple[Record, float]]:
    """The best rate of tools and collectives; without any, the rates in prose that are not a link's own."""
    runs: list[tuple[Record, float]] = [
        (one, 8 * one.busbw_bytes_per_s) for one in case.every(CollectiveRun) if one.busbw_bytes_per_s
    ]
    runs += [(one, one.rate_bits_per_s) for one in case.every(ThroughputRun) if one.tool.startswith(_NETWORK_TOOLS)]
    if runs:
        return [max(runs, key=lambda one: one[1])]
    printed = [(one, 8e9 * one.value) for one in case.said("busbw-named") if one.value]
    if printed:
        return [max(printed, key=lambda one: one[1])]
    named = {rate for _, rate in line_rates(case)}
    return [(one, one.value) for one in quantities(case, "rate") if one.value not in named]


def reached(case: Case) -> tuple[tuple[Record, float], tuple[Record, float]] | None:
    """A measured rate that is what the fastest of the named links delivers, with that link's rate."""
    lines = line_rates(case)
    if not lines:
        return None
    line = max(lines, key=lambda one: one[1])
    return next(((one, line) for one in measured_rates(case) if storage.is_healthy_share(one[1], line[1])), None)
