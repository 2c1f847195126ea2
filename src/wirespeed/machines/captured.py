"""A machine that is not here: the replies of a saved run, or a plain tree of files under a directory or in an archive."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from wirespeed.machines.machine import (
    MachineProblem,
    Output,
    absent,
    command_request,
    ioctl_request,
    netlink_request,
    problem_of,
    question_request,
)
from wirespeed.model.run import Reply, ReplyKind
from wirespeed.model.text import Text

MOST_FILE_BYTES = 16 * 1024 * 1024
MOST_LINKS = 40
"""Links followed on the way of one path, as the kernel does."""


class Captured:
    """A machine made of replies, by request. What was never asked when it was captured is absent."""

    def __init__(self, replies: Iterable[Reply], host: str | None = None, taken_at_s: float | None = None) -> None:
        self._replies: dict[tuple[ReplyKind, str], Reply] = {(one.kind, one.request): one for one in replies}
        self._directories = _directories(request for kind, request in self._replies if kind in ("file", "link"))
        self._host = host
        self._taken_at_s = taken_at_s

    @property
    def host(self) -> str | None:
        """The name it had when it was captured."""
        return self._host

    def read(self, path: str) -> bytes:
        """Content of a captured file."""
        return self._reply("file", path)

    def listing(self, path: str) -> tuple[str, ...]:
        """The listing as captured, or the names of captured files below the directory."""
        if ("listing", path) in self._replies:
            return _names(self._reply("listing", path))
        names = self._directories.get(path.rstrip("/"))
        if names is None:
            raise absent(path)
        return tuple(sorted(names))

    def link(self, path: str) -> str:
        """Where a captured link points."""
        return self._reply("link", path).decode(errors="surrogateescape")

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """The captured output of a command."""
        try:
            return msgspec.json.decode(self._reply("command", command_request(argv)), type=Output)
        except msgspec.DecodeError as error:
            raise _damaged(argv[0]) from error

    def ioctl(self, name: str, request: bytes) -> bytes:
        """The captured ethtool reply."""
        return self._reply("ioctl", ioctl_request(name, request))

    def netlink(self, family: int, request: bytes) -> bytes:
        """The captured netlink reply."""
        return self._reply("netlink", netlink_request(family, request))

    def ask(self, question: str, subject: str = "") -> bytes:
        """The captured answer."""
        return self._reply("answer", question_request(question, subject))

    def environment(self) -> Mapping[str, str]:
        """The captured environment."""
        try:
            return msgspec.json.decode(self._reply("environment", ""), type=dict[str, str])
        except msgspec.DecodeError as error:
            raise _damaged("environment") from error

    def now(self) -> float:
        """When it was captured."""
        if self._taken_at_s is None:
            raise absent("time of capture")
        return self._taken_at_s

    def _reply(self, kind: ReplyKind, request: str) -> bytes:
        found = self._replies.get((kind, request))
        if found is None:
            raise MachineProblem(
                "absent", Text(en=f"{request or kind} is not part of what was captured", zh=f"捕获内容中没有 {request or kind}")
            )
        if found.content is None:
            raise MachineProblem(found.reason or "absent", found.why or absent(request).why)
        return found.content


class _Still:
    """Copied files of a machine, which answer nothing but what was copied, and which of them were asked for."""

    def __init__(self, host: str | None) -> None:
        self._host = host
        self.asked: set[str] = set()
        """Places of the files that were read, relative to the root."""

    @property
    def host(self) -> str | None:
        """The copied machine's own name, from its kernel or from /etc/hostname."""
        if self._host is None:
            for path in ("/proc/sys/kernel/hostname", "/etc/hostname"):
                try:
                    self._host = self.read(path).decode(errors="replace").strip() or None
                except MachineProblem:
                    continue
                break
        return self._host

    def read(self, path: str) -> bytes:
        """Content of a copied file."""
        raise absent(path)

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """Copied files run nothing."""
        raise absent(argv[0])

    def ioctl(self, name: str, request: bytes) -> bytes:
        """Copied files answer no ioctl."""
        raise absent(f"ethtool request to {name}")

    def netlink(self, family: int, request: bytes) -> bytes:
        """Copied files answer no netlink."""
        raise absent(f"netlink family {family}")

    def ask(self, question: str, subject: str = "") -> bytes:
        """Copied files answer no question."""
        raise absent(question_request(question, subject))

    def environment(self) -> Mapping[str, str]:
        """Copied files have no environment."""
        raise absent("environment")

    def now(self) -> float:
        """Copied files do not know when they were copied."""
        raise absent("time of capture")


class Tree(_Still):
    """A plain copy of /proc, /sys and /etc under a directory, as support bundles hold it. Links never lead out of it."""

    def __init__(self, root: Path, host: str | None = None) -> None:
        super().__init__(host)
        self._root = root.resolve()

    def read(self, path: str) -> bytes:
        """Content of a copied file."""
        try:
            inside = self._inside(path)
            if not inside.is_file():
                raise absent(path)
            with inside.open("rb") as file:
                content = file.read(MOST_FILE_BYTES)
        except OSError as error:
            raise problem_of(error, path) from error
        self.asked.add(inside.relative_to(self._root).as_posix())
        return content

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a copied directory."""
        try:
            return tuple(sorted(entry.name for entry in self._inside(path).iterdir()))
        except OSError as error:
            if not (self._root / _top(path)).is_dir():
                raise _not_copied(path) from error
            raise problem_of(error, path) from error

    def link(self, path: str) -> str:
        """Where a copied link points."""
        try:
            return os.readlink(self._inside(str(Path(path).parent)) / Path(path).name)  # noqa: PTH115 - as written
        except OSError as error:
            raise problem_of(error, path) from error

    def _inside(self, path: str) -> Path:
        """The place below the root; a link with an absolute target is taken relative to the root, as the copied machine saw it."""
        return self._root / followed(path, self._target)

    def _target(self, place: str) -> str | None:
        step = self._root / place
        return os.readlink(step) if step.is_symlink() else None  # noqa: PTH115


class Packed(_Still):
    """Copied files in an archive, which is never unpacked to a place: names are looked up, links are followed among them."""

    def __init__(self, files: Mapping[str, Callable[[], bytes]], links: Mapping[str, str], host: str | None = None) -> None:
        super().__init__(host)
        self._files = files
        self._links = links
        self._directories = _directories((*files, *links))

    def read(self, path: str) -> bytes:
        """Content of a copied file."""
        place = followed(path, self._links.get)
        if place not in self._files:
            raise absent(path)
        content = self._files[place]()
        self.asked.add(place)
        return content

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a copied directory."""
        names = self._directories.get(followed(path, self._links.get))
        if names is None:
            raise absent(path) if _top(path) in self._directories else _not_copied(path)
        return tuple(sorted(names))

    def link(self, path: str) -> str:
        """Where a copied link points."""
        folder, _, name = path.rpartition("/")
        target = self._links.get("/".join(part for part in (followed(folder, self._links.get), name) if part))
        if target is None:
            raise absent(path)
        return target


def _top(path: str) -> str:
    return path.strip("/").partition("/")[0]


def _not_copied(path: str) -> MachineProblem:
    """Of a part of the machine of which nothing was copied, nobody knows what is not in it."""
    top = _top(path)
    return MachineProblem("unsupported", Text(en=f"/{top} was not copied", zh=f"/{top} 未被复制"))


def followed(path: str, target_of: Callable[[str], str | None]) -> str:
    """A path of a copied machine without links, relative to its root, out of which nothing leads. Raises MachineProblem for a loop."""
    place: list[str] = []
    pending = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    links_left = MOST_LINKS
    while pending:
        part = pending.pop()
        if part == "..":
            place = place[:-1]
            continue
        place.append(part)
        target = target_of("/".join(place))
        if target is None:
            continue
        links_left -= 1
        if links_left < 0:
            raise absent(path)
        place = [] if target.startswith("/") else place[:-1]
        pending.extend(piece for piece in reversed(target.split("/")) if piece not in ("", "."))
    return "/".join(place)


def _names(content: bytes) -> tuple[str, ...]:
    return tuple(name for name in content.decode(errors="surrogateescape").split("\n") if name)


def _directories(paths: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        while "/" in path:
            path, _, name = path.rpartition("/")
            found.setdefault(path, set()).add(name)
    return found


def _damaged(what: str) -> MachineProblem:
    return MachineProblem("unsupported", Text(en=f"the captured reply of {what} is damaged", zh=f"{what} 的捕获内容已损坏"))
