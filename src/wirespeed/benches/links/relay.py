"""Ask responders to test the paths between each other: how a mesh is measured where nothing but responders runs."""

from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from wirespeed.benches.links import protocol
from wirespeed.benches.links.protocol import PathBroken
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, not_done
from wirespeed.model import record_lines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

WHAT = Text(en="the path between two peers", zh="两个对端之间的路径")


def relayed(asked: Sequence[tuple[LinkSpec, LinkSpec]], within_s: float) -> list[list[Record | Problem]]:
    """For each (way to the sending peer, test it shall run): its records. All of them run at the same time."""
    found: list[list[Record | Problem]] = [[] for _ in asked]
    with ExitStack() as stack:
        begun: dict[int, Session] = {}
        for place, (way, spec) in enumerate(asked):
            try:
                session = stack.enter_context(Session.opened(way))
                session.begin(protocol.RELAY, msgspec.structs.replace(spec, token=""))
                begun[place] = session
            except PathBroken as failure:
                found[place] = [not_done(spec, WHAT, failure.error)]
        for place, session in begun.items():
            try:
                answer = session.answer(protocol.Relayed, within_s)
            except PathBroken as failure:
                found[place] = [not_done(asked[place][1], WHAT, failure.error)]
                continue
            if answer.why is not None:
                found[place] = [not_done(asked[place][1], WHAT, answer.why)]
            else:
                found[place] = list(record_lines.decoded((bytes(line) for line in answer.lines), session.welcome.host))
    return found
