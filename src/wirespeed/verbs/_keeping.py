"""A recording that is kept as it runs: what was flushed can be read whatever happens next."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import msgspec

from wirespeed.archive import store
from wirespeed.archive.series import FrameWriter, close_series
from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.run import Manifest, RecordingNote
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.recording import Recording, Sink

LEAST_PERIOD_S, MOST_PERIOD_S = 0.001, 60.0
MOST_DURATION_S = 7 * 86_400.0


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


@contextmanager
def stopped_by_interrupt() -> Iterator[Callable[[], bool]]:
    """Ctrl-C ends the recording at its next flush, lest it cut one in half; a second one ends the program."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)


def told(progress: Progress, for_s: float) -> Callable[[Recording], None] | None:
    """Tell how far a recording is, with a live picture; None where nobody listens."""
    if progress is unheard:
        return None
    from wirespeed.observation.live import Live
    from wirespeed.verbs import _record_page

    live = Live()

    def tell(recording: Recording) -> None:
        live.follow(recording)
        progress(
            Update(
                says=Text(en="recording, Ctrl-C ends it and keeps what there is", zh="正在记录，按 Ctrl-C 结束并保留已有内容"),
                done_ratio=min(recording.duration_s / for_s, 1.0),
                remaining_s=max(for_s - recording.duration_s, 0.0),
                view=_record_page.view(live),
            )
        )

    return tell
