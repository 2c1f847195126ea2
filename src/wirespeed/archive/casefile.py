"""The run as one JSON file: bug report, test fixture and demonstration."""

import base64
import binascii
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from wirespeed.archive.drafts import check_parent, draft_of
from wirespeed.archive.store import Run, newer
from wirespeed.model import record_lines
from wirespeed.model.run import CASE_SCHEMA, CaseFile, CaseReply, Manifest, Reply
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

MOST_CASE_BYTES = 256 * 1024 * 1024


def write_case(run: Run, path: Path) -> None:
    """Write a case file, whole or not at all. Raises FileExistsError where there is one, OSError where writing fails."""
    check_target(path)
    with draft_of(path) as draft:
        with draft.open("wb") as file:
            file.write(encoded(run))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)


def check_target(path: Path) -> None:
    """Raise FileExistsError where there is something already, OSError where nothing can be written; to be asked before long work."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, f"{path} exists already; a case is written once")
    check_parent(path)


def encoded(run: Run) -> bytes:
    """The JSON of a run."""
    manifest = msgspec.structs.replace(run.manifest, sources=())
    case = CaseFile(
        manifest=manifest,
        replies=tuple(_encoded(reply) for reply in run.replies),
        records=tuple(msgspec.Raw(record_lines.encoded(item)) for item in run.records),
    )
    return msgspec.json.format(msgspec.json.encode(case), indent=1) + b"\n"


def _encoded(reply: Reply) -> CaseReply:
    text, binary = None, None
    if reply.content is not None:
        try:
            text = reply.content.decode("utf-8")
        except UnicodeDecodeError:
            binary = base64.b64encode(reply.content).decode("ascii")
    request = reply.request.encode(errors="surrogateescape").decode(errors="replace")
    return CaseReply(kind=reply.kind, request=request, text=text, base64=binary, reason=reply.reason, why=reply.why)


def open_case(path: Path) -> Run:
    """Open a case file as far as it can be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return _nothing(path, "is not a plain file", "不是普通文件")
        with path.open("rb") as file:
            content = file.read(MOST_CASE_BYTES + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        return _nothing(path, f"cannot be read: {said}", f"无法读取：{said}")
    if len(content) > MOST_CASE_BYTES:
        return _nothing(path, f"is larger than {MOST_CASE_BYTES} bytes", f"大于 {MOST_CASE_BYTES} 字节")
    return decoded(content, path)


def decoded(content: bytes, path: Path) -> Run:
    """A run from the bytes of a case file."""
    try:
        case = msgspec.json.decode(content, type=CaseFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _nothing(path, f"is no case file: {error}", f"不是案例文件：{error}")
    problems = list(newer(case.schema, CASE_SCHEMA, path))
    replies = tuple(_decoded(case.replies, path, problems))
    kept = tuple(record_lines.decoded((bytes(line) for line in case.records), str(path)))
    return Run(manifest=case.manifest, replies=replies, records=kept, problems=tuple(problems))


def _decoded(replies: tuple[CaseReply, ...], path: Path, problems: list[Problem]) -> Iterator[Reply]:
    for held in replies:
        content = held.text.encode() if held.text is not None else None
        if held.base64 is not None:
            try:
                content = base64.b64decode(held.base64, validate=True)
            except (binascii.Error, ValueError):
                problems.append(_problem(path, f"the reply to {held.request} is damaged", f"{held.request} 的内容已损坏"))
        yield Reply(kind=held.kind, request=held.request, content=content, reason=held.reason, why=held.why)


def _nothing(path: Path, en: str, zh: str) -> Run:
    return Run(manifest=Manifest(), problems=(_problem(path, en, zh),))


def _problem(path: Path, en: str, zh: str) -> Problem:
    return Problem(source=Source(tool="archive", path=str(path)), why=Text(en=en, zh=zh))
