"""What moved together: a planted relation is found in a recording, and a quiet one names nothing."""

import numpy as np

from wirespeed.model.samples import Block, Key
from wirespeed.observation.recorded_together import moved
from wirespeed.observation.recording import Recording


def _recording(rtt: np.ndarray, sent: np.ndarray) -> Recording:
    t_s = np.arange(len(rtt)) * 0.1
    recording = Recording(host="h1", every_s=0.1, started_at_s=0.0)
    recording.duration_s = len(rtt) * 0.1
    flow, link = Key("flows", "a:1>b:2", "rtt", "s", "gauge"), Key("links", "eth0", "tx_bytes", "bytes", "counter")
    recording.blocks = {
        "flows": [_block("flows", flow, t_s, rtt)],
        "links": [_block("links", link, t_s, np.cumsum(sent))],
    }
    return recording


def _block(family: str, key: Key, t_s: np.ndarray, value: np.ndarray) -> Block:
    return Block(family=family, layout=(key,), t_s=t_s, first=value[:1], columns=np.array([0]), values=value[:, None])


def test_delay_that_follows_the_load_is_found() -> None:
    random = np.random.default_rng(1)
    load = np.clip(random.normal(1e6, 4e5, 300), 0, None)
    late = 0.001 + 1e-9 * load + random.normal(0, 5e-5, 300)
    found = moved(_recording(late, load * 0.1))
    assert [(one.symptom, one.series) for one in found] == [("h1 flows/a:1>b:2/rtt", "h1 links/eth0/tx_bytes")]
    assert found[0].coefficient_ratio > 0.8


def test_what_has_nothing_to_do_with_each_other_is_not() -> None:
    random = np.random.default_rng(2)
    assert moved(_recording(random.normal(0.001, 1e-4, 300), random.normal(1e5, 1e4, 300))) == ()


def test_a_short_recording_says_nothing() -> None:
    assert moved(_recording(np.linspace(0.001, 0.002, 30), np.linspace(1, 2, 30))) == ()
