"""What holds a flow back, from scripted shares of time."""

import pytest

from wirespeed.theory.flow_limit import limited_by

FREE = {
    "busy_ratio": 1.0, "rwnd_limited_ratio": 0.0, "sndbuf_limited_ratio": 0.0, "window_use_ratio": 0.5, "sender_cpu_ratio": 0.3,
    "of_bound_ratio": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({}, None),
        ({"rwnd_limited_ratio": 0.88}, "receive-window"),  # measured with a receive buffer of 8 KiB
        ({"rwnd_limited_ratio": 0.05}, None),
        ({"sndbuf_limited_ratio": 0.6}, "send-buffer"),
        ({"sndbuf_limited_ratio": 0.3, "rwnd_limited_ratio": 0.4}, "receive-window"),
        ({"busy_ratio": 0.4}, "sender"),
        ({"sender_cpu_ratio": 0.99, "window_use_ratio": 1.0}, "sender"),
        ({"window_use_ratio": 1.0}, "congestion-window"),
        ({"window_use_ratio": 1.0, "rwnd_limited_ratio": 0.5}, "receive-window"),
        ({"of_bound_ratio": 1.0, "busy_ratio": 0.1}, "pacing"),
        ({"of_bound_ratio": 0.3, "busy_ratio": 0.1}, "sender"),
        (dict.fromkeys(FREE), None),
    ],
)
def test_the_strongest_limit_is_named(change: dict[str, float | None], limit: str | None) -> None:
    assert limited_by(**(FREE | change)) == limit  # type: ignore[arg-type]
