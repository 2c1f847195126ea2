"""A shelf is a package whose modules each define one object of one kind; the file name is its id."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def ids(package: ModuleType) -> tuple[str, ...]:
    """Ids of everything on the shelf, sorted; reads the directory and imports nothing."""
    names = {path.stem for root in package.__path__ for path in Path(root).glob("*.py")}
    return tuple(sorted(name for name in names if not name.startswith("_")))


def groups(package: ModuleType) -> tuple[str, ...]:
    """Shelves that stand on this shelf: packages in its directory, sorted; imports nothing."""
    names = {path.parent.name for root in package.__path__ for path in Path(root).glob("*/__init__.py")}
    return tuple(sorted(name for name in names if not name.startswith("_")))


def take(package: ModuleType, name: str, kind: type[T]) -> T:
    """The one object of `kind` that module `name` defines. Raises LookupError when there is not exactly one."""
    module = importlib.import_module(f"{package.__name__}.{name}")
    found = [value for value in vars(module).values() if isinstance(value, kind)]
    if len(found) != 1:
        raise LookupError(f"{module.__name__} must define exactly one {kind.__name__}, and defines {len(found)}")
    return found[0]


def every(package: ModuleType, kind: type[T]) -> dict[str, T]:
    """Everything on the shelf by id."""
    return {name: take(package, name, kind) for name in ids(package)}
