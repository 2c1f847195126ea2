"""Accept queue in use and its limit, of every listening TCP socket (inet_diag)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_dump
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.source import Source
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted
from wirespeed.readers.netlink import inet_diag

MOST_LISTENERS = 512
_SOURCE = Source(tool="inet_diag", path="inet_diag listeners")


@lru_cache(maxsize=64)
def _layout(scopes: tuple[str, ...]) -> Layout:
    return tuple(Key("listeners", scope, name, "1", "gauge") for scope in scopes for name in ("queue", "backlog"))


def _parse(raw: Raw) -> Row:
    """The scope is `ADDRESS:PORT`; sockets that share one (SO_REUSEPORT) are shown by the fullest."""
    fullest: dict[str, tuple[float, float]] = {}
    for found in inet_diag.listeners(raw[0], {}, _SOURCE):
        shown = (float(found.queue_count or 0), float(found.backlog_count or 0))
        scope = f"{found.address}:{found.port}"
        if len(fullest) < MOST_LISTENERS or scope in fullest:
            fullest[scope] = max(fullest.get(scope, shown), shown)
    return _layout(tuple(fullest)), [value for pair in fullest.values() for value in pair]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_dump(machine, inet_diag.NETLINK_SOCK_DIAG, inet_diag.LISTENING_REQUESTS),), parse=_parse)


FAMILY = Family(title=Text(en="listening sockets", zh="监听套接字"), open=_open, period_s=0.2, named_period_s=0.02)
