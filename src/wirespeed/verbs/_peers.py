"""Peers as a diagnosis names them: hosts without an agent, whose responder knows a token."""

import os

from wirespeed.benches.links.protocol import DEFAULT_PORT
from wirespeed.model.errors import BadRequest
from wirespeed.model.text import Text
from wirespeed.verbs._hosts import Host, no_agent
from wirespeed.verbs._quantities import address_of, place
from wirespeed.verbs.peer import TOKEN_VARIABLE


def asked_peers(said: tuple[str, ...], token: str | None) -> tuple[tuple[Host, ...], str]:
    """The peers and their token. Raises BadRequest where a token is missing or a name is none."""
    secret = token or os.environ.get(TOKEN_VARIABLE, "")
    if said and not secret:
        raise BadRequest(
            Text(en=f"the peers' token is needed: {TOKEN_VARIABLE} or --token", zh=f"需要对端的口令：{TOKEN_VARIABLE} 或 --token")
        )
    return tuple(_peer(one) for one in said), secret


def _peer(said: str) -> Host:
    name, port = place(said, DEFAULT_PORT)
    return Host(name=said, role="peer", addresses=(address_of(name),), connect=no_agent, port=port)
