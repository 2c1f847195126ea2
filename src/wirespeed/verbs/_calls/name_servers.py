"""Ask the name servers this host uses for its own name and for one that nobody has."""

from collections.abc import Iterator

import msgspec

from wirespeed.benches import names
from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem
from wirespeed.model.facts.host import ResolverSetup
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.observation.asking import problem, read_by
from wirespeed.verbs._call import Call

UNKNOWN_NAME = "wirespeed-probe"
"""A name without a dot goes through the whole search list, and each step costs an answer like this one's."""
MOST_SERVERS = 3
"""As many as a resolver uses (resolv.conf(5), MAXNS)."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


def _run(_: Options) -> Iterator[Record | Problem]:
    machine = Local()
    try:
        setups = [one for one in read_by("resolv_conf", machine, "/etc/resolv.conf") if isinstance(one, ResolverSetup)]
    except MachineProblem as trouble:
        yield problem(machine, "resolv_conf", "/etc/resolv.conf", trouble)
        return
    servers = list(dict.fromkeys(server for one in setups for server in one.nameservers))[:MOST_SERVERS]
    domain = next((name for one in setups for name in one.search), "")
    for server in servers:
        for name in (machine.host or "localhost", UNKNOWN_NAME):
            yield names.ask(server, f"{name}.{domain}".rstrip("."), machine.host)


CALL = Call(options=Options, run=_run)
