"""Environment variables: `env`, `export` lines, `docker -e`, job scripts, and notes such as `X is not set`."""

from collections.abc import Iterator

from wirespeed.model.facts.host import EnvVar
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.secrets import REDACTED, is_secret_name
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_NAME = r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+|PATH|HOME)"
_ASSIGNED = regex(rf"(?:^|[\s;'\"])(?:export\s+|-x\s+|-e\s+|--env[= ])?{_NAME}=(?P<setting>\"[^\"]*\"|'[^']*'|[^\s;]*)")
_UNSET = regex(rf"\b{_NAME}\s+(?:is\s+)?(?:not\s+set|unset)\b")
_RECOGNISED = regex(rf"(?m)(?:^|\s){_NAME}=|{_UNSET.pattern.replace('?P<name>', '?:')}")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        for found in _ASSIGNED.finditer(line):
            yield _variable(lines, index, line, found["name"], found["setting"].strip("'\""))
        for found in _UNSET.finditer(line):
            yield _variable(lines, index, line, found["name"], None)


def _variable(lines: Lines, index: int, line: str, name: str, setting: str | None) -> EnvVar:
    shown = REDACTED if setting and is_secret_name(name) else setting
    return EnvVar(source=source(lines, "env"), quotes=(quote(lines, index, line),), name=name, setting=shown)


READER = Reader(
    title=Text(en="environment variables", zh="环境变量"),
    gives=(EnvVar,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("env | grep -E '^(NCCL|GLOO|UCX|FI|OMPI|TORCH|CUDA)_'",),
    voice="loose",
)
