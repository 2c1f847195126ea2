"""NUMA nodes with their CPUs, memory and distances."""

import re
from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import NumaNode
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, cpus_of, text_of
from wirespeed.observation.collector import Collector

ROOT = "/sys/devices/system/node"
_TOTAL = re.compile(r"MemTotal:\s+(\d+) kB")


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    for name in machine.listing(ROOT):
        if re.fullmatch(r"node\d+", name):
            yield _node(machine, name)


def _node(machine: Machine, name: str) -> NumaNode:
    base = f"{ROOT}/{name}"
    found = Gathered(machine, "sysfs", base)
    found.take("cpus", f"{base}/cpulist", cpus_of)
    found.take("distances", f"{base}/distance", lambda text: tuple(int(word) for word in text.split()))
    try:
        for index, line in enumerate(text_of(machine, f"{base}/meminfo").split("\n")):
            total = _TOTAL.search(line)
            if total:
                found.put("memory_bytes", int(total[1]) * 1024)
                found.quotes.append(Quote(source=f"{base}/meminfo", line_index=index, text=line))
                break
    except MachineProblem as trouble:
        found.lacks("memory_bytes", trouble.reason)
    return found.into(NumaNode, index=int(name.removeprefix("node")))


COLLECTOR = Collector(title=Text(en="NUMA nodes", zh="NUMA 节点"), gives=(NumaNode,), observe=_observe, cost_s=0.001)
