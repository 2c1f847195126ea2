"""Host lists are expanded as Slurm does, and never without bound."""

import pytest

from wirespeed.readers.parsing.host_lists import expanded


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("node-a", ("node-a",)),
        ("node[001-003,007]", ("node001", "node002", "node003", "node007")),
        ("a[9-10],b1", ("a9", "a10", "b1")),
        ("r[1-2]n[1-2].x", ("r1n1.x", "r1n2.x", "r2n1.x", "r2n2.x")),
        ("(null)", ()),
        ("node[1-", ()),
        ("node[3-1]", ()),
        ("node[1-99999999]", ()),
        ("a[1-200]b[1-200]", ()),
        ("node[x]", ()),
        ("a,,b", ()),
    ],
)
def test_expanded(text: str, hosts: tuple[str, ...]) -> None:
    assert expanded(text) == hosts
