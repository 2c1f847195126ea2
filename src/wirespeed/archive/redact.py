"""Make a run fit to send away: secrets always go, identities on request; readers read the same afterwards.

A secret is often told by a name that stands elsewhere: in another field of the record, or on another line than the one that is quoted.
So records are looked at by their names as well, and what the texts show to be secret on a line of its own goes from every quote.
Only free text is ever changed: words that the model itself defines (kinds, reasons, topics) stay even where a host has that name.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from wirespeed.archive.named import without_named_secrets
from wirespeed.archive.store import Run
from wirespeed.archive.substitutes import Substitutes
from wirespeed.model.facts.host import EnvVar, HostIdentity, HostsEntry, ResolverSetup
from wirespeed.model.record import Record
from wirespeed.model.run import Reply
from wirespeed.model.secrets import REDACTED, is_secret_name, spread_secrets, without_secrets

T = TypeVar("T")
Rewrite = Callable[[Reply, Substitutes], bytes]
"""Replaces identities in a binary reply; whoever knows the layout supplies it."""
_ADDRESS_VARIABLES = frozenset({"MASTER_ADDR", "SLURMD_NODENAME", "HOSTNAME", "SLURM_LAUNCH_NODE_IPADDR"})

_OWN_WORDS = frozenset({"topic", "canonical", "dimension", "tool", "unit", "wirespeed_version"})
"""Fields of type `str` whose words are the model's own."""
_WORD = re.compile(r"[^\s\"',;]+")


def redacted(run: Run, *, identities: bool, rewrite: Rewrite, key: bytes | None = None) -> Run:
    """The run without secrets and, on request, without identities. A fresh key makes substitutes differ from run to run."""
    substitutes = Substitutes(key or secrets.token_bytes(32), frozenset(_names(run))) if identities else None

    spread = _spread(run)

    def clean(text: str) -> str:
        text = without_secrets(text)
        return substitutes.in_text(text) if substitutes else text

    def clean_field(text: str) -> str:
        return clean(_WORD.sub(lambda word: REDACTED if word[0] in spread else word[0], text) if spread else text)

    manifest = msgspec.structs.replace(
        run.manifest,
        host=clean(run.manifest.host) if run.manifest.host else None,
        redacted=("secrets", "identities") if identities else ("secrets",),
    )
    return Run(
        manifest=manifest,
        replies=tuple(_reply(reply, clean, substitutes, rewrite) for reply in run.replies),
        records=tuple(_clean(without_named_secrets(item), clean_field) for item in run.records),
        problems=run.problems,
    )


def _spread(run: Run) -> frozenset[str]:
    """Words that are secret by a name on another line, of every text of the run."""
    texts = ((reply.content or b"").decode(errors="surrogateescape") for reply in run.replies if _is_text(reply))
    lines = {line for text in texts for line in spread_secrets(text)}
    return frozenset(word for line in lines for word in _WORD.findall(line) if len(word) > 2 and word != REDACTED)


def _is_text(reply: Reply) -> bool:
    return reply.content is not None and reply.kind not in ("netlink", "ioctl") and b"\0" not in reply.content


def _names(run: Run) -> Iterator[str]:
    """Host and domain names that the run itself shows to be names."""
    if run.manifest.host:
        yield run.manifest.host
    for item in run.records:
        if isinstance(item, Record) and item.source.host:
            yield item.source.host
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
    if content is not None and _is_text(reply):
        is_secret = reply.request.startswith("/proc/sys/") and is_secret_name(reply.request.rpartition("/")[2])
        content = (
            REDACTED.encode() if is_secret else clean(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        )
    elif content is not None:
        content = rewrite(reply, substitutes) if substitutes else content
    request = reply.request if reply.kind in ("netlink", "ioctl") else clean(reply.request)
    return Reply(kind=reply.kind, request=request, content=content, reason=reply.reason, why=_clean(reply.why, clean))


def _clean(item: T, clean: Callable[[str], str]) -> T:
    """The same with every free text cleaned."""
    if isinstance(item, msgspec.Struct):
        return msgspec.structs.replace(item, **{name: _clean(getattr(item, name), clean) for name in _free_fields(type(item))})
    if isinstance(item, str):
        return clean(item)  # type: ignore[return-value]
    if isinstance(item, tuple):
        return tuple(_clean(one, clean) for one in item)  # type: ignore[return-value]
    return item


@lru_cache(maxsize=512)
def _free_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Fields in which any text may stand."""
    hints = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if name not in _OWN_WORDS and _is_free(hints[name]))


def _is_free(hint: Any) -> bool:
    """Whether a field of this type holds text and no choice."""
    if hint is str or (isinstance(hint, type) and issubclass(hint, msgspec.Struct)):
        return True
    return get_origin(hint) not in (Literal, dict) and any(_is_free(one) for one in get_args(hint))
