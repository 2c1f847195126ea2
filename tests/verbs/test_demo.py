"""The demo names the cause each thread established, and writes one page."""

from pathlib import Path

import pytest

import wirespeed
from wirespeed.model.errors import CouldNot

ESTABLISHED = {"training": "pcie-acs-enabled", "fabric": "mtu-mismatch", "serving": "proxy-buffering"}
"""What NVIDIA/nccl-tests#252, NVIDIA/nccl#709 and ggml-org/llama.cpp#20872 found."""


def test_the_bundled_failures(tmp_path: Path) -> None:
    answer = wirespeed.demo(report=str(tmp_path / "demo.html"), cases_only=True)
    assert {case.name: case.answer.findings[0].cause for case in answer.cases} == ESTABLISHED
    assert all(case.answer.findings[0].confidence_ratio >= 0.7 for case in answer.cases)
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert "wirespeed/bundled" not in page
    assert "PCIe ACS" in page


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(CouldNot):
        wirespeed.demo(report=str(tmp_path / "absent" / "demo.html"), cases_only=True)
