"""The thing that is judged: every record at hand, and what the user asked."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import TypeVar, cast

from wirespeed.model.record import Record
from wirespeed.model.settings import Statement

R = TypeVar("R", bound=Record)


class Case:
    """All records of one diagnosis, found by type; it never changes after it is made.

    Look-ups return tuples in input order; an empty tuple means *nothing was seen*, which is not *it is not so*.
    """

    def __init__(
        self, records: Iterable[Record], question: str = "", texts: Mapping[str, str] | None = None, collected: Collection[str] = ()
    ) -> None:
        self.records = tuple(records)
        self.texts = dict(texts or {})
        """Heads of the inputs as text, by input name: what the user's own words can be compared with."""
        self.collected = frozenset(collected)
        """Names of the texts that a program gathered: nothing in them is anybody's own words."""
        self.question = question
        self._by_type: dict[type[Record], list[Record]] = {}
        for record in self.records:
            self._by_type.setdefault(type(record), []).append(record)

    def every(self, kind: type[R], where: Callable[[R], bool] | None = None, **fields: object) -> tuple[R, ...]:
        """Records of one type whose fields equal those given and for which `where` holds."""
        return tuple(self._found(kind, where, fields))

    def first(self, kind: type[R], where: Callable[[R], bool] | None = None, **fields: object) -> R | None:
        """The first such record, or None."""
        return next(self._found(kind, where, fields), None)

    def _found(self, kind: type[R], where: Callable[[R], bool] | None, fields: dict[str, object]) -> Iterator[R]:
        """Such records one by one: who wants the first does not look at a hundred thousand."""
        found = iter(cast(list[R], self._by_type.get(kind, [])))
        for name, value in fields.items():
            found = filter(partial(_equals, attrgetter(name), value), found)
        return found if where is None else filter(where, found)

    def has(self, kind: type[Record]) -> bool:
        """Whether any record of this type is there."""
        return kind in self._by_type

    def said(self, *topics: str) -> tuple[Statement, ...]:
        """What people said on any of these topics, without negation."""
        return self.every(Statement, lambda one: one.topic in topics and not one.is_negated)

    def denied(self, *topics: str) -> tuple[Statement, ...]:
        """What people said is *not* so, on any of these topics."""
        return self.every(Statement, lambda one: one.topic in topics and one.is_negated)


def _equals(field: Callable[[object], object], value: object, record: object) -> bool:
    return field(record) == value
