"""Every fault of the knowledge base, the lab and the gateway signatures has exactly one label of the vocabulary."""

import csv
from pathlib import Path

import yaml

from wirespeed.model.labels import MEANINGS

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "fault-labels.tsv"


def _rows() -> list[list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[2:]]


def test_labels_are_known_and_ids_stand_once() -> None:
    rows = _rows()
    assert {label for _, _, label in rows} <= set(MEANINGS)
    ids = [(source, name) for source, name, _ in rows]
    assert len(ids) == len(set(ids))


def test_nothing_is_left_out(shared_data: Path) -> None:
    knowledge = shared_data / "knowledge"
    faults = yaml.safe_load((knowledge / "faults.yaml").read_text(encoding="utf-8"))["entries"]
    lab = yaml.safe_load((knowledge / "lab-signatures.yaml").read_text(encoding="utf-8"))["signatures"]
    with (knowledge / "gateway-signatures.csv").open(encoding="utf-8", newline="") as text:
        gateway = {row["fault"] for row in csv.DictReader(text)}
    wanted = {("faults", one["id"]) for one in faults} | {("lab", one["id"]) for one in lab} | {("gateway", one) for one in gateway}
    assert {(source, name) for source, name, _ in _rows()} == wanted
