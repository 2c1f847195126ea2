"""Captured machines of the tests, written down in `tests/data/observation/<name>/machine.yaml`."""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from wirespeed.machines.captured import Captured
from wirespeed.model.run import Reply
from wirespeed.model.text import same

DATA = Path(__file__).parents[1] / "data" / "observation"


def replies(written: dict[str, Any]) -> list[Reply]:
    found = [Reply(kind="file", request=path, content=text.encode()) for path, text in written.get("files", {}).items()]
    found += [Reply(kind="link", request=path, content=target.encode()) for path, target in written.get("links", {}).items()]
    found += [Reply(kind="answer", request=request, content=text.encode()) for request, text in written.get("answers", {}).items()]
    for key, reason in written.get("refused", {}).items():
        kind, _, request = key.partition(" ")
        found.append(Reply(kind=kind, request=request, reason=reason, why=same(f"{request}: {reason}")))
    if "environment" in written:
        found.append(Reply(kind="environment", request="", content=msgspec.json.encode(written["environment"])))
    return found


def written(name: str) -> dict[str, Any]:
    return yaml.safe_load((DATA / name / "machine.yaml").read_text(encoding="utf-8"))


def machine(name: str) -> Captured:
    return Captured(replies(written(name)), host=written(name)["host"], taken_at_s=1_700_000_000.0)


def lay_out(name: str, root: Path) -> None:
    """The same machine as a plain tree of files and links, as support bundles hold it (files behind links are left out)."""
    tree = written(name)
    behind = tuple(f"{path}/" for path in tree.get("links", {}))
    for path, text in tree["files"].items():
        if not path.startswith(behind):
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
