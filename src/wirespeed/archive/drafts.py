"""What is written stands beside its place first, under a name that says whose it is, and is moved there when it is whole."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def draft_of(place: Path) -> Iterator[Path]:
    """The path of a draft, which is gone afterwards unless it was moved. Drafts that killed processes left are removed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(place)
    draft = place.parent / f".{place.name}.{os.getpid()}.part"
    try:
        yield draft
    finally:
        _remove(draft)


def check_parent(place: Path) -> None:
    """Raise OSError where nothing can be created: the nearest folder that is there is none, or may not be written to."""
    folder = next(parent for parent in (*place.parents, Path()) if parent.exists())
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _remove_abandoned(place: Path) -> None:
    """Drafts of the same place whose process is dead."""
    start, end = f".{place.name}.", ".part"
    for path in place.parent.iterdir():
        process = path.name.removeprefix(start).removesuffix(end)
        if path.name == f"{start}{process}{end}" and process.isdecimal() and not _is_alive(int(process)):
            _remove(path)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # alive, and somebody else's
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
