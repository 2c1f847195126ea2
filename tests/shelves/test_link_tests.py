"""Every test on the shelf of link tests."""

import pytest

from benches.peers import TOKEN, responder
from wirespeed.benches.links import client, tests
from wirespeed.benches.links.spec import LinkSpec, LinkTest
from wirespeed.model import shelf
from wirespeed.model.record import Record
from wirespeed.model.source import Problem

SHELF = shelf.every(tests, LinkTest)
SPEC = LinkSpec(address="127.0.0.1", token=TOKEN, duration_s=0.3, sender="a", receiver="b", connects_count=3, flows_count=2)


@pytest.mark.parametrize("name", SHELF)
def test_a_dead_path_is_said_and_costs_are_stated(name: str) -> None:
    test = SHELF[name]
    assert 0 < test.cost_s(SPEC) < 30
    for one in test.failed(SPEC, "timed-out"):
        assert (isinstance(one, Problem) and one.reason == "timed-out") or (
            isinstance(one, test.gives) and one.error == "timed-out"
        )


@pytest.mark.parametrize("name", SHELF)
def test_it_gives_what_it_promises_and_takes_about_as_long_as_it_says(name: str) -> None:
    import time

    import msgspec

    with responder() as (port, _):
        start = time.monotonic()
        found = client.run(msgspec.structs.replace(SPEC, port=port, tests=(name,)))
        took = time.monotonic() - start
    records = [one for one in found if isinstance(one, Record)]
    assert records and not [one for one in found if isinstance(one, Problem)]
    assert {type(one) for one in records} <= set(SHELF[name].gives)
    assert took < 3 * SHELF[name].cost_s(SPEC) + 2
    for one in records:
        assert getattr(one, "sender", "a") in ("a", "b")
        assert one.source.host == "a"
