"""Time without a processor, from the kernel's own account of this thread."""

from pathlib import Path

import pytest

from wirespeed.benches.links import starvation
from wirespeed.benches.links.starvation import Use, waited_for_processor_s


def test_the_second_field_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "schedstat"
    monkeypatch.setattr(starvation, "SCHEDSTAT", told)
    told.write_text("5000000000 1500000000 77\n")
    use = Use()
    assert waited_for_processor_s() == 1.5
    told.write_text("6000000000 2000000000 99\n")
    assert use.ratios(2.0)[1] == 0.25


@pytest.mark.parametrize("text", ["", "12", "a b c"])
def test_a_kernel_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    told = tmp_path / "schedstat"
    told.write_text(text)
    monkeypatch.setattr(starvation, "SCHEDSTAT", told)
    assert waited_for_processor_s() is None
    assert Use().ratios(1.0)[1] is None
