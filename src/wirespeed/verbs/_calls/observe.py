"""The facts of the machine the agent runs on."""

from collections.abc import Iterator

import msgspec

from wirespeed.machines.local import Local
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.verbs._call import Call
from wirespeed.verbs._look import observed


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of fact; empty means all."""

    only: tuple[str, ...] = ()


def _run(options: Options) -> Iterator[Record | Problem]:
    for _, items in observed(Local(), options.only or None):
        yield from items


CALL = Call(options=Options, run=_run)
