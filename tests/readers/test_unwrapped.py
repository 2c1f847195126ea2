"""Logs of containers are read as what the program said."""

from wirespeed.model import shelf
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import MemoryLines
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all
from wirespeed.readers.unwrapped import unwrapped

CRI = (
    "2024-05-01T12:00:00.123456789Z stdout F INFO 05-01 12:00:00 ready\n"
    "2024-05-01T12:00:01.1Z stderr P ConnectionRefusedError: [Errno 111] Connection refused\n"
    "2024-05-01T14:00:02.987654321+02:00 stderr F second\n"
)


def _lines(text: str) -> list[str]:
    return [line for _, line in unwrapped(MemoryLines(text))]


def test_runtime_format() -> None:
    assert _lines(CRI) == ["INFO 05-01 12:00:00 ready", "ConnectionRefusedError: [Errno 111] Connection refused", "second", ""]


def test_kubectl_prefix_and_stamp() -> None:
    both = "[pod/trainer-0/pytorch] 2024-05-01T12:00:00.123456789Z hello\n[pod/trainer-0/pytorch] hello again\nplain"
    assert _lines(both) == ["hello", "hello again", "plain"]


def test_docker_json_lines() -> None:
    text = '{"log":"a \\"b\\"\\n","stream":"stderr","time":"2024-05-01T12:00:00.1Z"}\n{"log":"cut'
    assert _lines(text) == ['a "b"', '{"log":"cut']


def test_compose_services() -> None:
    text = "llama-cpp  | a\nllama-cpp  | b\nweb-1      | c\nllama-cpp  | d\nweb-1      | e | f\nllama-cpp  | g\n"
    assert _lines(text) == ["a", "b", "c", "d", "e | f", "g", ""]


def test_a_table_is_no_compose_log() -> None:
    text = "mode     | GB/s\nnode-a   | 11\nnode-b   | 12\nnode-c   | 11\nnode-d   | 3\n"
    assert _lines(text) == text.split("\n")


def test_a_programs_own_stamps_stay() -> None:
    text = "2024-05-01T12:00:00.123456Z kernel: eth0 up\n2024-05-01T12:00:00Z stdout of the tool\n[pod trainer] x\n"
    assert _lines(text) == text.split("\n")


def test_whole_head_and_sample_agree() -> None:
    seen = unwrapped(MemoryLines(CRI))
    assert seen.whole() == seen.head == seen.sample == "\n".join(_lines(CRI))


def test_readers_see_the_programs_lines_with_their_numbers() -> None:
    records = [item for _, item in read_all(MemoryLines(CRI), shelf.every(tools, Reader)) if isinstance(item, FrameworkEvent)]
    assert [(one.topic, one.quotes[0].line_index, one.quotes[0].text) for one in records] == [
        ("connection-refused", 1, "ConnectionRefusedError: [Errno 111] Connection refused")
    ]
