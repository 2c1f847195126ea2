"""`dcgmi diag -j` (DCGM 2 to 5) and `dcgmi health -c -j`: what each check came to, for which GPU, and why.

Names of the members: nvvs/include/NvvsJsonStrings.h and dcgmi/DcgmiOutput.cpp of NVIDIA/DCGM.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from wirespeed.model.facts.gpu import GpuCheck
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import marked_documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DIAG = regex(r'\{\s*"DCGM (?:GPU )?Diagnostic"\s*:')
_HEALTH = regex(r'\{\s*"body"\s*:\s*\{\s*"(?:CPU|GPU|NvSwitch|Overall Health)"\s*:')
_OPENING = regex(f"{_DIAG.pattern}|{_HEALTH.pattern}")
_OUTCOMES: dict[str, Literal["pass", "warn", "fail"]] = {
    "pass": "pass", "warn": "warn", "fail": "fail", "healthy": "pass", "warning": "warn", "failure": "fail",
}  # fmt: skip
_MOST_DETAIL_CHARACTERS = 2_000
_MOST_QUOTE_CHARACTERS = 400
_MOST_CHECKS = 10_000


@dataclass(slots=True)
class _Rows:
    """The lines of one document, looked through in its own order."""

    rows: list[Quote]
    place: int = 0

    def next(self, mark: str) -> Quote:
        """The next line with the mark, or the line at hand; of a long line the part from the mark on."""
        self.place = next((at for at in range(self.place, len(self.rows)) if mark in self.rows[at].text), self.place)
        row = self.rows[self.place]
        start = max(row.text.find(mark), 0) if len(row.text) > _MOST_QUOTE_CHARACTERS else 0
        return Quote(source=row.source, line_index=row.line_index, text=row.text[start : start + _MOST_QUOTE_CHARACTERS])


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for found in marked_documents(lines, _OPENING, "dcgmi"):
        if isinstance(found, Problem):
            yield found
            continue
        document, rows = found
        inside = next((document[name] for name in ("DCGM GPU Diagnostic", "DCGM Diagnostic") if name in document), None)
        told = _diag(lines, inside, _Rows(rows)) if isinstance(inside, dict) else _health(lines, document, _Rows(rows))
        for count, one in enumerate(told):
            if count >= _MOST_CHECKS:
                break
            yield one


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def _diag(lines: Lines, inside: dict[str, Any], rows: _Rows) -> Iterator[GpuCheck]:
    for category in _objects(inside.get("test_categories")):
        for test in _objects(category.get("tests")):
            name = word(test.get("name")) or word(test.get("test_name"))
            if name is None:
                continue
            named = rows.next(f'"{name}"')
            for result in _objects(test.get("results")):
                outcome = _OUTCOMES.get((word(result.get("status")) or "").lower())
                if outcome is None:
                    continue
                detail = _warnings(result.get("warnings"))
                said: tuple[Quote, ...] = ()
                if detail and outcome != "pass":
                    said = (rows.next(detail.replace('"', '\\"')[:40]),)
                for gpu in _gpus(result):
                    yield _check(lines, "dcgmi diag", (named, *said), name, outcome, gpu, detail if outcome != "pass" else None)


def _warnings(value: object) -> str | None:
    """Warnings are words, or objects with one; DCGM 2 gives a single word."""
    several = value if isinstance(value, list) else [value]
    words = [word(one.get("warning")) if isinstance(one, dict) else word(one) for one in several]
    return " ".join(one for one in words if one)[:_MOST_DETAIL_CHARACTERS] or None


def _gpus(result: dict[str, Any]) -> list[int | None]:
    """The GPUs a result is for: `gpu_id`, `gpu_ids` in one word, or an entity; None where it holds for all of them."""
    listed = word(result.get("gpu_ids")) or word(result.get("gpu_id"))
    if listed and listed.isdecimal():
        return [int(listed[:3])]
    entity = number(result.get("entity_id"))
    if entity is not None and result.get("entity_group") == "GPU":
        return [entity]
    single = number(result.get("gpu_id"))
    return [single]


def _health(lines: Lines, document: dict[str, Any], rows: _Rows) -> Iterator[GpuCheck]:
    body = document.get("body")
    for group, found in body.items() if isinstance(body, dict) else ():
        if group == "Overall Health":
            outcome = _outcome(found)
            if outcome == "pass":
                yield _check(lines, "dcgmi health", (rows.next('"Overall Health"'),), "overall health", outcome, None, None)
            continue
        for entity, state in _children(found):
            rows.next(f'"{entity}"')
            index = int(entity[:3]) if group == "GPU" and entity.isdecimal() else None
            for _, errors in _children(state):
                for system, told in _children(errors):
                    outcome = _outcome(told)
                    if outcome is not None:
                        yield _check(lines, "dcgmi health", (rows.next(f'"{system}"'),), system, outcome, index, _reason(told))


def _children(value: object) -> list[tuple[str, Any]]:
    children = value.get("children") if isinstance(value, dict) else None
    return list(children.items()) if isinstance(children, dict) else []


def _outcome(value: object) -> Literal["pass", "warn", "fail"] | None:
    return _OUTCOMES.get((word(value.get("value")) or "").lower()) if isinstance(value, dict) else None


def _reason(value: dict[str, Any]) -> str | None:
    overflow = value.get("overflow")
    words = [one for one in overflow if isinstance(one, str)] if isinstance(overflow, list) else []
    return " ".join(words)[:_MOST_DETAIL_CHARACTERS] or None


def _check(
    lines: Lines,
    tool: str,
    quotes: tuple[Quote, ...],
    name: str,
    outcome: Literal["pass", "warn", "fail"],
    gpu: int | None,
    detail: str | None,
) -> GpuCheck:
    return GpuCheck(source=source(lines, tool), quotes=quotes, check=name.lower(), outcome=outcome, gpu_index=gpu, detail=detail)


READER = Reader(
    title=Text(en="dcgmi diag and health (JSON)", zh="dcgmi diag 与 health（JSON）"),
    gives=(GpuCheck,),
    recognises=marked(_OPENING),
    read=_read,
    obtained_by=("dcgmi diag -r 2 -j", "dcgmi health -c -j -g 0"),
)
