"""The whole way from a machine to findings: what is wrong there is named, what is usual there is not."""

from pathlib import Path

import pytest

import wirespeed
from observation.trees import replies, written
from wirespeed.archive.casefile import write_case
from wirespeed.archive.store import Run
from wirespeed.model.run import Manifest


def _likely(name: str, folder: Path) -> dict[str, str]:
    """Causes that are more likely than not on a captured machine, with their severity."""
    kept = folder / "machine.json"
    write_case(Run(manifest=Manifest(host=written(name)["host"]), replies=tuple(replies(written(name)))), kept)
    answer = wirespeed.diagnose(str(kept))
    return {one.cause: one.severity for one in answer.findings if one.confidence_ratio >= 0.5}


def test_a_usual_virtual_machine_is_left_alone(tmp_path: Path) -> None:
    assert not [cause for cause, severity in _likely("vm", tmp_path).items() if severity in ("high", "medium")]


def test_a_container_without_its_devices_is_named(tmp_path: Path) -> None:
    assert "container-missing-rdma-device" in _likely("container_without_rdma", tmp_path)


def test_a_narrow_slot_is_named(tmp_path: Path) -> None:
    assert "pcie-link-degraded" in _likely("roce_host", tmp_path)


@pytest.mark.parametrize("name", ["vm", "container_without_rdma", "roce_host"])
def test_a_saved_machine_is_read_as_a_machine(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "machine.json"
    write_case(Run(manifest=Manifest(host="node-a"), replies=tuple(replies(written(name)))), kept)
    (given,) = wirespeed.diagnose(str(kept)).inputs
    assert given.recognised_as == "machine"
    assert given.records > 0
