"""DNS set-up, and one timed look-up of the machine's own name."""

from collections.abc import Iterator
from typing import Any

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import HostsEntry, ResolverSetup
from wirespeed.model.measurement import NameLookup
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import answer_of, problem, read_by
from wirespeed.observation.collector import Collector

LONGEST_NAME = 253
"""Characters of a name, without the dot at its end (RFC 1035)."""


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    for reader, path in (("resolv_conf", "/etc/resolv.conf"), ("hosts_file", "/etc/hosts")):
        try:
            yield from read_by(reader, machine, path)
        except MachineProblem as trouble:
            yield problem(machine, reader, path, trouble)
    if machine.host:
        yield from look_up(machine, machine.host)


def is_name(text: str) -> bool:
    """Whether a resolver can be asked for this: no blanks, no empty label, none longer than the standard allows."""
    try:
        encoded = text.encode("idna")
    except UnicodeError:
        return False
    return 0 < len(encoded.removesuffix(b".")) <= LONGEST_NAME and not any(one.isspace() or not one.isprintable() for one in text)


def look_up(machine: Machine, name: str) -> Iterator[Record | Problem]:
    """Time one look-up through the system's resolver; the machine bounds it to two seconds."""
    source = Source(tool="getaddrinfo", path=f"name-lookup {name}", host=machine.host)
    try:
        answer = answer_of(machine, "name-lookup", name, dict[str, Any])
    except MachineProblem as trouble:
        yield problem(machine, "getaddrinfo", name, trouble)
        return
    yield NameLookup(source=source, name=name, time_s=float(answer["time_s"]), is_answered=bool(answer["is_answered"]))
    for address in answer.get("addresses", ()):
        yield HostsEntry(source=source, name=name, address=str(address))


COLLECTOR = Collector(
    title=Text(en="name resolution", zh="域名解析"), gives=(ResolverSetup, HostsEntry, NameLookup), observe=_observe, cost_s=0.01
)
