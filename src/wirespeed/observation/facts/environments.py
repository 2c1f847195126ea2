"""Environment of frameworks and NCCL: of this process, and of running jobs whose environment may be read. Secrets are replaced."""

from collections.abc import Iterator, Mapping
from typing import Any

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import answer_of, problem, read_by
from wirespeed.observation.collector import Collector

_CONFIGURATION = "/etc/nccl.conf"


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    try:
        yield from _variables(machine, machine.environment(), "environment")
    except MachineProblem as trouble:
        yield problem(machine, "env", "environment", trouble)
    try:
        yield from read_by("env_dump", machine, _CONFIGURATION)
    except MachineProblem as trouble:
        if trouble.reason != "absent":
            yield problem(machine, "env", _CONFIGURATION, trouble)
    answer = answer_of(machine, "job-environments", "", dict[str, Any])
    for job in answer.get("jobs", ()):
        yield from _variables(machine, job["variables"], f"/proc/{job['pid']}/environ")
    if answer.get("unreadable_count"):
        yield Problem(
            source=Source(tool="env", path="/proc/*/environ", host=machine.host),
            why=Text(
                en=f"the environment of {answer['unreadable_count']} processes of other users may not be read",
                zh=f"无权读取其他用户的 {answer['unreadable_count']} 个进程的环境变量",
            ),
            reason="denied",
        )


def _variables(machine: Machine, variables: Mapping[str, str], path: str) -> Iterator[EnvVar]:
    rank = variables.get("RANK", "")
    for index, (name, setting) in enumerate(variables.items()):
        yield EnvVar(
            source=Source(tool="env", path=path, host=machine.host),
            quotes=(Quote(source=path, line_index=index, text=f"{name}={setting}"),),
            name=name,
            setting=setting,
            rank=int(rank) if rank.isdigit() else None,
        )


COLLECTOR = Collector(title=Text(en="framework environment", zh="框架环境变量"), gives=(EnvVar,), observe=_observe, cost_s=0.02)
