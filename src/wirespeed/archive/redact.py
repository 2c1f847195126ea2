"""Make a run fit to send away: secrets always go, identities on request; readers read the same afterwards."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from wirespeed.archive.store import Run
from wirespeed.archive.substitutes import Substitutes
from wirespeed.model.facts.host import EnvVar, HostIdentity, HostsEntry, ResolverSetup
from wirespeed.model.run import Reply
from wirespeed.model.secrets import without_secrets

T = TypeVar("T")
Rewrite = Callable[[Reply, Substitutes], bytes]
"""Replaces identities in a binary reply; whoever knows the layout supplies it."""
_ADDRESS_VARIABLES = frozenset({"MASTER_ADDR", "SLURMD_NODENAME", "HOSTNAME", "SLURM_LAUNCH_NODE_IPADDR"})


def redacted(run: Run, *, identities: bool, rewrite: Rewrite, key: bytes | None = None) -> Run:
    """The run without secrets and, on request, without identities. A fresh key makes substitutes differ from run to run."""
    substitutes = Substitutes(key or secrets.token_bytes(32), frozenset(_names(run))) if identities else None

    def clean(text: str) -> str:
        text = without_secrets(text)
        return substitutes.in_text(text) if substitutes else text

    replies = tuple(_reply(reply, clean, substitutes, rewrite) for reply in run.replies)
    manifest = msgspec.structs.replace(
        run.manifest,
        host=clean(run.manifest.host) if run.manifest.host else None,
        redacted=("secrets", "identities") if identities else ("secrets",),
    )
    return Run(
        manifest=manifest, replies=replies, records=tuple(_clean(item, clean) for item in run.records), problems=run.problems
    )


def _names(run: Run) -> Iterator[str]:
    """Host and domain names that the run itself shows to be names."""
    if run.manifest.host:
        yield run.manifest.host
    for item in run.records:
        if isinstance(item, HostIdentity) and item.hostname:
            yield item.hostname
        elif isinstance(item, HostsEntry):
            yield item.name
        elif isinstance(item, ResolverSetup):
            yield from item.search
        elif isinstance(item, EnvVar) and item.name in _ADDRESS_VARIABLES and item.setting:
            yield item.setting


def _reply(reply: Reply, clean: Callable[[str], str], substitutes: Substitutes | None, rewrite: Rewrite) -> Reply:
    content = reply.content
    if content is not None:
        if reply.kind in ("netlink", "ioctl") or b"\0" in content:
            content = rewrite(reply, substitutes) if substitutes else content
        else:
            content = clean(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    request = reply.request if reply.kind in ("netlink", "ioctl") else clean(reply.request)
    return Reply(kind=reply.kind, request=request, content=content, reason=reply.reason, why=_clean(reply.why, clean))


def _clean(item: T, clean: Callable[[str], str]) -> T:
    """Every string of a record replaced, through its plain form and back."""
    return msgspec.convert(_walked(msgspec.to_builtins(item), clean), type=type(item))


def _walked(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _walked(one, clean) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(one, clean) for one in value]
    return value
