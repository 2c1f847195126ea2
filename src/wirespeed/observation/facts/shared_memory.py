"""Size and use of /dev/shm, through which workers of one machine talk."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import Mount
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, answer_of, text_of
from wirespeed.observation.collector import Collector

PATH = "/dev/shm"


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    found = Gathered(machine, "statvfs", PATH)
    try:
        sizes = answer_of(machine, "filesystem", PATH, dict[str, int])
        found.put("size_bytes", sizes.get("size_bytes"))
        found.put("used_bytes", sizes.get("used_bytes"))
    except MachineProblem as trouble:
        found.lacks("size_bytes", trouble.reason)
        found.lacks("used_bytes", trouble.reason)
    try:
        _add_mount(found, text_of(machine, "/proc/mounts"))
    except MachineProblem as trouble:
        found.lacks("filesystem", trouble.reason)
    yield found.into(Mount, path=PATH)


def _add_mount(found: Gathered, text: str) -> None:
    for index, line in enumerate(text.split("\n")):
        words = line.split()
        if len(words) >= 4 and words[1] == PATH:
            found.put("filesystem", words[2])
            found.put("options", tuple(words[3].split(",")))
            found.quotes.append(Quote(source="/proc/mounts", line_index=index, text=line))
            return
    found.lacks("filesystem", "absent")


COLLECTOR = Collector(title=Text(en="shared memory", zh="共享内存"), gives=(Mount,), observe=_observe, cost_s=0.001)
