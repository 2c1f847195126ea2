"""Answer the link tests of others until the asker leaves or the time is over."""

from collections.abc import Iterable

import msgspec

from wirespeed.benches.links import responder
from wirespeed.model.errors import CouldNot
from wirespeed.model.record import Record
from wirespeed.model.text import Text
from wirespeed.verbs._call import Call


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Where, for whom and for how long."""

    address: str
    port: int
    token: str
    for_s: float


def _run(options: Options) -> Iterable[Record]:
    try:
        listening = responder.listen_at(options.address, options.port)
    except OSError as error:
        where = f"{options.address} port {options.port}"
        raise CouldNot(
            Text(en=f"cannot answer at {where}: {error.strerror}", zh=f"无法在 {where} 应答：{error.strerror}")
        ) from error
    responder.serve(listening, options.token, options.for_s)
    return ()


CALL = Call(options=Options, run=_run)
