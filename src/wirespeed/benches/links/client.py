"""Run the tests of one spec against its peer: records and problems, never a hang, never a traceback for what a network can do."""

import time
from collections.abc import Callable

from wirespeed.benches.links import tests
from wirespeed.benches.links.protocol import PathBroken, Refused
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, not_done
from wirespeed.model import shelf
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

ORDER = ("connect", "latency", "hops", "dscp", "path_mtu", "datagrams", "throughput")
"""What loads the path comes last; a test that is not named here comes before those that load it."""


def tests_of(spec: LinkSpec) -> tuple[str, ...]:
    """Ids of the tests of a spec, in the order they run. Raises LookupError for one that is not on the shelf."""
    known = shelf.ids(tests)
    unknown = set(spec.tests) - set(known)
    if unknown:
        raise LookupError(f"no link test called {min(unknown)}")
    wanted = spec.tests or known
    return tuple(sorted(wanted, key=lambda name: (ORDER.index(name) if name in ORDER else 0, name)))


def cost_s(spec: LinkSpec) -> float:
    """Estimate of the whole time."""
    return sum(shelf.take(tests, name, LinkTest).cost_s(spec) for name in tests_of(spec))


def run(spec: LinkSpec, heard: Callable[[str], None] = lambda test: None) -> list[Record | Problem]:
    """Every test of the spec; `heard` is told each before it begins.

    A session that breaks is opened once more for the next test; a path that is dead gives each test's own record of that.
    Raises Refused where the peer answers and does not want us.
    """
    found: list[Record | Problem] = []
    end_s = time.monotonic() + spec.most_s
    session: Session | None = None
    broken: str | None = None
    try:
        for name in tests_of(spec):
            heard(name)
            test = shelf.take(tests, name, LinkTest)
            if test.without_session is not None:
                found.extend(test.without_session(spec))
            if time.monotonic() > end_s:
                found.append(not_done(spec, test.title, "timed-out"))
                continue
            if session is None and broken is None:
                session, broken = _opened(spec)
            if session is None:
                found.extend(test.failed(spec, broken or "failed"))
                continue
            try:
                found.extend(test.client(spec, session))
            except PathBroken as failure:
                found.extend(test.failed(spec, failure.error))
                session.is_broken = True
            if session.is_broken:
                session.__exit__(None, None, None)
                session = None
    finally:
        if session is not None:
            session.__exit__(None, None, None)
    return found


def _opened(spec: LinkSpec) -> tuple[Session | None, str | None]:
    try:
        return Session.opened(spec), None
    except Refused:
        raise
    except PathBroken as failure:
        return None, failure.error


def title_of(name: str) -> Text:
    """A test's title."""
    return shelf.take(tests, name, LinkTest).title
