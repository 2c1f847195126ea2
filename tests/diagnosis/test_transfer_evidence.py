"""Single observations of the rules in how transfers go on: each case holds one of them alone; all figures are synthetic."""

import pytest

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.joins.levels import break_of
from wirespeed.diagnosis.judge import judge_rule
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all

READERS = shelf.every(tools, Reader)
RULES = shelf.every(rules, Rule)

FAST = (410.0, 420.0, 395.0, 405.0, 415.0, 400.0, 398.0, 411.0)
SLOW = (61.0, 60.0, 62.0, 59.0, 61.5, 60.5, 60.0, 61.0)
UNEVEN = (400.0, 60.0, 390.0, 55.0, 410.0, 420.0, 61.0, 405.0)
STATS = "Number of regular files transferred: {files}\nTotal transferred file size: {size} bytes\n"


def _curl(*mebibytes_per_s: float, separator: str = "\n", last_percent: int = 80) -> str:
    """curl's meter, a line a second."""
    rows, got, whole = [], 0.0, sum(mebibytes_per_s)
    for second, rate in enumerate(mebibytes_per_s, 1):
        got += rate
        percent = int(last_percent * got / whole)
        rows.append(
            f"{percent:3} 9999M {percent:4} {got:.0f}M    0     0  {got / second:.0f}M      0  0:01:00  0:00:{second:02}  0:00:30 {rate:.1f}M"
        )
    return separator.join(rows) + "\n"


def _dd(*megabytes_per_s: float) -> str:
    """dd with status=progress, a total a second."""
    totals = [int(1e6 * sum(megabytes_per_s[: place + 1])) for place in range(len(megabytes_per_s))]
    return "\r".join(f"{total} bytes (1 GB, 1 GiB) copied, {second} s, 1.0 GB/s" for second, total in enumerate(totals, 1)) + "\n"


def _wget(*rows: tuple[int, str]) -> str:
    """Dots of wget: percent and rate."""
    dots = " ".join(["." * 10] * 5)
    return "".join(f"{50 * place:6}K {dots} {percent:2}% {rate} 9s\n" for place, (percent, rate) in enumerate(rows))


SEEN: dict[str, tuple[str, str]] = {
    "dd collapses": ("storage_bound", _dd(*FAST, *SLOW)),
    "a download collapses: storage": ("storage_bound", _curl(*FAST, *SLOW)),
    "a download collapses: allowance": ("cloud_allowance", _curl(*FAST, *SLOW)),
    "a download collapses: origin": ("origin_rate_limited", _curl(*FAST, *SLOW)),
    "the meter written over itself": ("origin_rate_limited", _curl(*FAST, *SLOW, separator="\r")),
    "the end crawls": ("slow_connection_tail", _wget(*((10 * place, "88M") for place in range(1, 9)), (96, "40.5K"), (97, "38K"))),
    "many small files": ("download_single_stream", STATS.format(files="123,456", size="1,048,576,000")),
}

NOT_SEEN: dict[str, tuple[str, str]] = {
    "dd is not the network": ("cloud_allowance", _dd(*FAST, *SLOW)),
    "a steady download": ("origin_rate_limited", _curl(*FAST, *FAST)),
    "a download that grows faster": ("cloud_allowance", _curl(*SLOW, *FAST)),
    "an uneven download": ("origin_rate_limited", _curl(*UNEVEN, *UNEVEN)),
    "too few moments": ("origin_rate_limited", _curl(*FAST[:4], *SLOW[:4])),
    "a little slower": ("storage_bound", _dd(*FAST, *(0.7 * rate for rate in FAST))),
    "the end is fast": ("slow_connection_tail", _wget(*((10 * place, "88M") for place in range(1, 9)), (96, "60M"), (97, "70M"))),
    "slow from the start": (
        "slow_connection_tail",
        _wget(*((10 * place, "44K") for place in range(1, 9)), (96, "40.5K"), (97, "38K")),
    ),
    "few large files": ("download_single_stream", STATS.format(files="12", size="1,048,576,000")),
    "many large files": ("download_single_stream", STATS.format(files="2,000", size="4,048,576,000")),
}


def _supports(rule: str, text: str) -> bool:
    records = [item for _, item in read_all(MemoryLines(text, "input"), READERS) if isinstance(item, Record)]
    return any(one.weight_nats > 0 for one in judge_rule(rule, RULES[rule], Case(records)).verdict.evidence)


@pytest.mark.parametrize("name", SEEN)
def test_it_speaks(name: str) -> None:
    assert _supports(*SEEN[name])


@pytest.mark.parametrize("name", NOT_SEEN)
def test_it_does_not_speak(name: str) -> None:
    assert not _supports(*NOT_SEEN[name])


def test_lines_written_over_one_another_are_read_as_lines() -> None:
    """The same moments, whether a terminal or a file took them down."""
    rates = [
        [item.rate_bits_per_s for item in READERS["transfer_progress"].read(MemoryLines(text)) if isinstance(item, Record)]
        for text in (_curl(*FAST), _curl(*FAST, separator="\r"))
    ]
    assert rates[0] == rates[1] == [pytest.approx(8 * rate * 2**20) for rate in FAST]


def test_a_long_transfer_is_thinned_out_and_keeps_its_ends() -> None:
    moments = [
        item
        for item in READERS["transfer_progress"].read(
            MemoryLines(_wget(*((place // 100, f"{place + 1}K") for place in range(10_000))))
        )
        if isinstance(item, Record)
    ]
    assert 128 <= len(moments) <= 257
    assert [moments[0].rate_bits_per_s, moments[-1].rate_bits_per_s] == [8 * 1024, 8 * 1024 * 10_000]


@pytest.mark.parametrize(
    ("values", "place"),
    [((1.0,) * 8 + (3.0,) * 8, 8), ((1.0,) * 4 + (3.0,) * 12, 4), ((1.0,) * 16, None), ((3.0,) * 8 + (1.0,) * 8, None)],
)
def test_where_a_level_breaks(values: tuple[float, ...], place: int | None) -> None:
    assert break_of(values, 2.0, 0.15) == place
