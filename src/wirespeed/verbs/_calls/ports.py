"""Try ports of a peer: those given, those where jobs meet, and a spread over all others."""

from collections.abc import Iterable

import msgspec

from wirespeed.benches import ports
from wirespeed.machines.local import Local
from wirespeed.model.measurement import PortProbe
from wirespeed.verbs._call import Call


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The peer, and ports that matter beside the usual ones."""

    address: str
    ports: tuple[int, ...] = ()


def _run(options: Options) -> Iterable[PortProbe]:
    wanted = (*options.ports, *ports.RENDEZVOUS_PORTS, *ports.SPREAD_PORTS)
    return ports.probe(options.address, wanted, Local().host)


CALL = Call(options=Options, run=_run)
