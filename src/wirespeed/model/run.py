"""The run: one format for everything that is kept of a machine, as a directory or as one file."""

from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.source import Reason
from wirespeed.model.text import Text

RUN_SCHEMA = "wirespeed/run/1"
"""Schema of the directory: `manifest.json`, `raw/`, `records.jsonl`, and `series/` where there was a recording."""
CASE_SCHEMA = "wirespeed/case/1"
"""Schema of the same in one JSON file, raw bytes included."""
MANIFEST_NAME = "manifest.json"
RECORDS_NAME = "records.jsonl"
RAW_NAME = "raw"
SERIES_NAME = "series"

ReplyKind: TypeAlias = Literal["file", "listing", "link", "command", "ioctl", "netlink", "answer", "environment", "input"]
"""How a machine was asked; the request's text depends on it (see `machines/machine.py`). `input` is a text the user gave."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing a machine was asked, and its bytes, or why it gave none."""

    kind: ReplyKind
    request: str
    content: bytes | None = None
    reason: Reason | None = None
    why: Text | None = None


class Held(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply in a run's manifest; `file` is below `raw/`, and absent where the machine gave nothing."""

    kind: ReplyKind
    request: str
    file: str | None = None
    reason: Reason | None = None
    why: Text | None = None


class RecordingNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest says of the recording in `series/`."""

    every_s: float
    periods_s: dict[str, float] = {}
    """How often each family was read; a family the machine lacks is missing."""
    started_at_s: float | None = None
    """Wall clock (from 1970) of the instant from which `t_s` counts, monotonic."""
    duration_s: float | None = None
    ended: Literal["finished", "stopped", "interrupted", "not-kept"] | None = None
    """None while it is being recorded: a run found so was never closed, and what had been flushed is there."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: who made it, where, when, and everything that was asked.

    `started_at_s` counts from 1970 (UTC) on the machine's own clock.
    """

    schema: str = RUN_SCHEMA
    wirespeed_version: str = ""
    host: str | None = None
    started_at_s: float | None = None
    clock: str = "CLOCK_REALTIME of the machine"
    redacted: tuple[str, ...] = ()
    """What was replaced: `secrets`, and `identities` on request."""
    sources: tuple[Held, ...] = ()
    made_by: str = ""
    """The verb that made it."""
    recording: RecordingNote | None = None


class CaseReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply in a case file: UTF-8 text where the bytes are text, base64 otherwise."""

    kind: ReplyKind
    request: str
    text: str | None = None
    base64: str | None = None
    reason: Reason | None = None
    why: Text | None = None


class CaseFile(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one file. `records` are records and problems as JSON objects."""

    schema: str = CASE_SCHEMA
    manifest: Manifest
    replies: tuple[CaseReply, ...] = ()
    records: tuple[msgspec.Raw, ...] = ()
