"""What a digest keeps of a long text, and that what readers find in it is what they find in the text. Texts are synthetic."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirespeed.model import shelf
from wirespeed.model.events.log import KernelEvent, ServerEvent
from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import MemoryLines
from wirespeed.model.measurement import CollectiveRun, TrainingStep
from wirespeed.model.record import Record
from wirespeed.readers import digest as digests
from wirespeed.readers import tools
from wirespeed.readers.digest import FIRST_COUNT, Digest, digest_of
from wirespeed.readers.recognise import read_all, readers_for

READERS = shelf.every(tools, Reader)
RUN_CHARACTERS = 10_000


class Runs(MemoryLines):
    """A text in memory that comes in runs, as a file does."""

    def runs(self) -> Iterator[str]:
        run: list[str] = []
        for _, line in self:
            run.append(line)
            if sum(map(len, run)) > RUN_CHARACTERS:
                yield "\n".join(run)
                run = []
        yield "\n".join(run)


def noise(count: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [
        f"Jan  5 10:{at // 60 % 60:02}:{at % 60:02} node-a containerd[{chance.randrange(9999)}]: shim {chance.getrandbits(128):032x} of pod"
        f" web-{chance.getrandbits(40):x}-{''.join(chance.choices('ghjkmnpq', k=5))} gone"
        for at in range(count)
    ]


def digested(lines: list[str]) -> Digest:
    found = digest_of(Runs("\n".join(lines), "log"))
    assert found is not None
    return found


def records(text: MemoryLines | Digest) -> list[Record]:
    return [item for _, item in read_all(text, READERS) if isinstance(item, Record)]


def test_lines_that_differ_in_figures_only_are_left_out() -> None:
    found = digested(noise(5_000))
    kept = [(index, line) for index, line in found if line]
    assert [index for index, _ in kept] == [0, 1, 2, 3, 15, 63, 255, 1023, 4095, 4998, 4999]
    assert kept[4][1] == noise(5_000)[15]
    assert found.lines_count == 5_000
    assert found.kept_count == 11


def test_where_lines_are_left_out_an_empty_one_stands() -> None:
    indexes = [index for index, _ in digested(noise(100))]
    assert indexes == sorted(set(indexes))
    assert all(line == "" for index, line in digested(noise(100)) if index in (14, 62))


@pytest.mark.parametrize("at", [3, 20_000, 39_000])
def test_a_rare_line_is_recognised_and_read_wherever_it_stands(at: int) -> None:
    """Windows of a text of 5 MB would miss two lines in its middle."""
    lines = noise(40_000)
    lines[at] = "Jan  5 11:00:00 node-a kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=1234, GPU has fallen off the bus."
    found = digested(lines)
    assert "kernel_log" in readers_for(found.sample, READERS)
    (event,) = (one for one in records(found) if isinstance(one, KernelEvent))
    assert event.code_number == 79
    assert event.quotes[0].line_index == at
    assert event.quotes[0].text == lines[at]


def test_an_excerpt_of_another_tool_is_read_whole() -> None:
    """A table of thirty rows of one shape, of which the digest alone has a few."""
    rows = [
        f"{size:>12} {size // 4:>13}     float     sum      -1   {20 + step:.2f}    {step + 0.5:.2f}    {step + 0.9:.2f}      0"
        for step, size in enumerate(8 << at for at in range(30))
    ]
    table = ["#       size         count      type   redop    root     time   algbw   busbw #wrong", *rows]
    lines = noise(20_000)
    lines[9_000:9_000] = table
    runs = [one for one in records(digested(lines)) if isinstance(one, CollectiveRun)]
    plain = [one for one in records(MemoryLines("\n".join(table), "log")) if isinstance(one, CollectiveRun)]
    assert len(runs) == len(plain) == 30
    assert [one.size_bytes for one in runs] == [one.size_bytes for one in plain]


def test_measurements_are_all_read() -> None:
    """The steps of a training log have one shape; a late slowdown must not be lost."""
    steps = [
        f"iteration {step:>8}/ 900000 | elapsed time per iteration (ms): {1000 if step < 3_000 else 2000}.0 | lm loss: 2.0"
        for step in range(6_000)
    ]
    lines = [line for pair in zip(steps, noise(6_000), strict=True) for line in pair]
    found = [one for one in records(digested(lines)) if isinstance(one, TrainingStep)]
    assert len(found) == 6_000
    assert sum(one.step_s == 2.0 for one in found) == 3_000


def test_one_failure_among_thousands_of_requests_is_found() -> None:
    """It differs from the others in its status alone."""
    lines = [
        f'192.0.2.{at % 200} - - [05/Jan/2026:10:00:00 +0000] "POST /v1/completions HTTP/1.1" 200 {at}' for at in range(20_000)
    ]
    lines[11_111] = lines[11_111].replace(" 200 11111", " 504 167")
    (event,) = (one for one in records(digested(lines)) if isinstance(one, ServerEvent))
    assert (event.status_code, event.quotes[0].line_index) == (504, 11_111)


def test_what_is_so_is_read_once_and_not_again() -> None:
    lines = [f"Jan  5 10:00:00 node-a app[{at}]: started with vLLM 0.6.{at % 3} on GPU" for at in range(10_000)]
    assert 0 < sum(isinstance(one, SoftwareVersion) for one in records(digested(lines))) < 20


def test_events_between_commoner_lines_come_with_all_their_like() -> None:
    lines = noise(20_000)
    for at in range(500, 20_000, 500):
        lines[at] = f"Jan  5 11:00:00 node-a kernel: mlx5_core 0000:17:00.0 ens1f0: Link {'down' if at % 1000 else 'up'}"
    found = [one for one in records(digested(lines)) if isinstance(one, KernelEvent)]
    assert len(found) == 39


def test_a_text_without_repetition_has_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    words = random.Random(3)
    lines = [" ".join("".join(words.choices("ghijklmnopqrstuvwxyz", k=6)) for _ in range(8)) for _ in range(3_000)]
    assert digest_of(Runs("\n".join(lines), "log")) is None
    monkeypatch.setattr(digests, "MOST_SHAPES", 100)
    assert digest_of(Runs("\n".join(lines + noise(1_000)), "log")) is None


def test_a_bound_on_rough_shapes_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(digested(noise(3_000)))
    monkeypatch.setattr(digests, "MOST_ROUGH_SHAPES", 10)
    assert list(digested(noise(3_000))) == before


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["x 1", "x 2", "y beef", "ü 7", "", "z\u2028y 3", "q" * 20]), max_size=200))
def test_every_shape_is_kept_and_every_kept_line_is_the_texts(lines: list[str]) -> None:
    found = digest_of(Runs("\n".join(lines), "log"))
    text = "\n".join(lines).split("\n")
    if found is None:
        return
    kept = [(index, line) for index, line in found if found.holds(index)]
    assert all(text[index] == line for index, line in kept)
    assert {line.partition(" ")[0] for _, line in kept} == {line.partition(" ")[0] for line in text}
    for index in range(len(text)):
        like = sum(one.partition(" ")[0] == text[index].partition(" ")[0] for one in text)
        assert found.goes_on(index) == (like > FIRST_COUNT)
    assert [line for _, line in found.with_all(10**6)] == text
