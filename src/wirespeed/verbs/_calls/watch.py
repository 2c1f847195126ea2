"""Record here for a short while: what moved, and what moved together, as records."""

from collections.abc import Iterable

import msgspec

from wirespeed.diagnosis.correlated import correlated
from wirespeed.machines.local import Local
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.observation.recording import record
from wirespeed.verbs._call import Call


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """For how long, how often, and which families; none means all."""

    for_s: float
    every_s: float = 0.1
    families: tuple[str, ...] = ()


def _run(options: Options) -> Iterable[Record | Problem]:
    recording = record(Local(), options.families or None, for_s=options.for_s, every_s=options.every_s)
    return [*recording.records(), *correlated(recording.series())]


CALL = Call(options=Options, run=_run)
