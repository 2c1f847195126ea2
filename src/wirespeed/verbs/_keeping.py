"""A recording that is kept as it runs: what was flushed can be read whatever happens next."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from wirespeed.archive import store
from wirespeed.archive.series import FrameWriter, close_series
from wirespeed.model.run import Manifest, RecordingNote
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.recording import Recording, Sink


def kept_recording(
    place: Path, manifest: Manifest, every_s: float, start: Callable[[Sink], Recording]
) -> tuple[Recording, Manifest]:
    """Begin a run at `place`, record into it, and close its series into Parquet.

    Returns the recording and the manifest that `store.end_run` is to be given with all that belongs to the run. What could not be closed is a
    problem of the recording, and stays readable as frames. Raises FileExistsError and OSError where the run cannot be begun.
    """
    note = RecordingNote(every_s=every_s, started_at_s=manifest.started_at_s)
    store.begin_run(msgspec.structs.replace(manifest, recording=note), place)
    writer = FrameWriter(place)
    recording = start(writer.write)
    try:
        writer.close()
        close_series(place, manifest.host)
    except (OSError, ImportError) as error:
        said = getattr(error, "strerror", None) or error
        why = Text(en=f"the series stay as frames, which can be read: {said}", zh=f"序列仍以帧的形式保存，可以读取：{said}")
        recording.problems.append(Problem(source=Source(tool="record", path=str(place), host=recording.host), why=why))
    return recording, msgspec.structs.replace(manifest, started_at_s=recording.started_at_s, recording=note_of(recording))


def note_of(recording: Recording) -> RecordingNote:
    """What a manifest says of a recording."""
    return RecordingNote(
        every_s=recording.every_s,
        periods_s=dict(recording.periods_s),
        started_at_s=recording.started_at_s,
        duration_s=recording.duration_s,
        ended=recording.ended,
    )
