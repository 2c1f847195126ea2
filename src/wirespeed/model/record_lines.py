"""Records as lines of JSON, and back, whatever kinds of record the model knows."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Union

import msgspec

from wirespeed import model
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text


class _Trouble(msgspec.Struct, frozen=True, tag_field="kind", tag="Problem"):
    """How a problem stands among records, which are tagged with their kind."""

    problem: Problem


def encoded(item: Record | Problem) -> bytes:
    """One line, without its end."""
    return msgspec.json.encode(_Trouble(item) if isinstance(item, Problem) else item)


def decoded(lines: Iterable[bytes], path: str) -> Iterator[Record | Problem]:
    """Each line's record; a line that is damaged, or of a kind this version does not know, gives a problem."""
    decoder = _decoder()
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            item = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield Problem(
                source=Source(tool="archive", path=path),
                why=Text(en=f"this record cannot be read: {error}", zh=f"该记录无法读取：{error}"),
                line_index=index,
            )
        else:
            yield item.problem if isinstance(item, _Trouble) else item


@cache
def record_types() -> tuple[type[Record], ...]:
    """Every record type of the model, by walking its modules."""
    for found in pkgutil.walk_packages(model.__path__, f"{model.__name__}."):
        importlib.import_module(found.name)
    types = [kind for kind in _below(Record) if kind.__module__.startswith(f"{model.__name__}.")]
    return tuple(sorted(types, key=lambda kind: kind.__name__))


def _below(kind: type[Record]) -> Iterator[type[Record]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(Union[(*record_types(), _Trouble)])
