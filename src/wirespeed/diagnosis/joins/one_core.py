"""A machine whose CPUs, taken together, are used by as much as one of them is."""

import re

from wirespeed.diagnosis.joins.pieces import quantities
from wirespeed.model.case import Case
from wirespeed.model.settings import Quantity

ONE_CORE_RATIOS = (0.85, 1.06)
LEAST_CPUS_COUNT, MOST_CPUS_COUNT = 2, 512
_COUNT = re.compile(r"(?i)\b(\d{1,3})[ -](?:v?cpus?|cores|v?cores?|hardware threads)\b")


def one_core_of_several(case: Case, subject: str) -> tuple[Quantity, float, int] | None:
    """A share of all CPUs that is one of them, with the share and the number of CPUs that somebody names."""
    lines = [case.question, *(quote.text for one in case.every(Quantity) for quote in one.quotes), *_heads(case)]
    counts = {int(found) for line in lines for found in _COUNT.findall(line)}
    for one in quantities(case, "share", subject):
        for count in counts:
            if LEAST_CPUS_COUNT <= count <= MOST_CPUS_COUNT and ONE_CORE_RATIOS[0] <= one.value * count <= ONE_CORE_RATIOS[1]:
                return one, one.value, count
    return None


def _heads(case: Case) -> list[str]:
    return [line for text in case.texts.values() for line in text.split("\n")[:400]]
