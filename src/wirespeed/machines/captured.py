"""A machine that is not here: the replies of a saved run, or a plain tree of files under a directory."""

import os
from collections.abc import Iterable, Mapping
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


class Tree:
    """A plain copy of /proc, /sys and /etc under a directory, as support bundles hold it. Links never lead out of it."""

    def __init__(self, root: Path, host: str | None = None) -> None:
        self._root = root.resolve()
        self._host = host

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
        try:
            inside = self._inside(path)
            if not inside.is_file():
                raise absent(path)
            with inside.open("rb") as file:
                return file.read(MOST_FILE_BYTES)
        except OSError as error:
            raise problem_of(error, path) from error

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a copied directory."""
        try:
            return tuple(sorted(entry.name for entry in self._inside(path).iterdir()))
        except OSError as error:
            raise problem_of(error, path) from error

    def link(self, path: str) -> str:
        """Where a copied link points."""
        try:
            return os.readlink(self._inside(str(Path(path).parent)) / Path(path).name)  # noqa: PTH115 - as written
        except OSError as error:
            raise problem_of(error, path) from error

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """A tree runs nothing."""
        raise absent(argv[0])

    def ioctl(self, name: str, request: bytes) -> bytes:
        """A tree answers no ioctl."""
        raise absent(f"ethtool request to {name}")

    def netlink(self, family: int, request: bytes) -> bytes:
        """A tree answers no netlink."""
        raise absent(f"netlink family {family}")

    def ask(self, question: str, subject: str = "") -> bytes:
        """A tree answers no question."""
        raise absent(question_request(question, subject))

    def environment(self) -> Mapping[str, str]:
        """A tree has no environment."""
        raise absent("environment")

    def now(self) -> float:
        """A tree does not know when it was copied."""
        raise absent("time of capture")

    def _inside(self, path: str) -> Path:
        """The place below the root; a link with an absolute target is taken relative to the root, as the copied machine saw it."""
        place = self._root
        pending = [part for part in path.split("/") if part]
        followed = 0
        while pending:
            part = pending.pop(0)
            if part == "..":
                place = place.parent if place != self._root else place
                continue
            step = place / part
            if step.is_symlink():
                followed += 1
                if followed > 40:
                    raise absent(path)
                target = os.readlink(step)  # noqa: PTH115
                place = self._root if target.startswith("/") else place
                pending = [piece for piece in target.split("/") if piece and piece != "."] + pending
            elif part != ".":
                place = step
        return place


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
