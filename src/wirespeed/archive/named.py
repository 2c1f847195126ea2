"""Secrets that a record holds in one field and names in another, and what its quotes then show."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from wirespeed.model.facts.host import EnvVar, Sysctl
from wirespeed.model.record import Record
from wirespeed.model.secrets import REDACTED, is_secret_name, without_secrets
from wirespeed.model.settings import CodeCall, Command, Directive, Setting

T = TypeVar("T")
_SHORTEST_REPLACED_CHARACTERS = 3
"""A shorter secret would be found inside other words of a quote; there only its name decides."""


def without_named_secrets(item: T) -> T:
    """The record without what its name says is secret, in its fields and its quotes."""
    match item:
        case EnvVar(setting=str() as setting) | Sysctl(setting=str() as setting) if _is_secret(item.name, setting):
            return _replaced(item, (setting,), setting=REDACTED)
        case Setting() if _is_secret(item.name, item.setting):
            return _replaced(item, (item.setting,), setting=REDACTED, value=None, unit=None, duration_s=None)
        case CodeCall() if item.arguments and is_secret_name(item.name):
            return _replaced(item, (item.arguments,), arguments=REDACTED)
        case Directive() | Command():
            arguments = tuple(_arguments(item))
            lost = tuple(old for old, new in zip(item.arguments, arguments, strict=True) if old != new)
            return _replaced(item, lost, arguments=arguments) if lost else item
    return item


def _is_secret(name: str, setting: str) -> bool:
    """As in a text: a word such as `true`, or a variable that is referred to, is none."""
    return setting not in ("", REDACTED) and without_secrets(f"{name}={setting}") != f"{name}={setting}" and is_secret_name(name)


def _arguments(item: Directive | Command) -> Iterator[str]:
    """The arguments, those replaced that the one before (a flag, a header) or the directive names.

    A list of nothing but options (`args:` of a container) has its first one where a program stands.
    """
    is_directive = isinstance(item, Directive)
    name = item.name if isinstance(item, Directive) else ""
    is_named = is_directive and is_secret_name(name)
    sets_header = is_directive and "header" in name
    before = item.program if isinstance(item, Command) else ""
    for argument in item.arguments:
        is_flagged = before.startswith("-") and "=" not in before and not argument.startswith("-") and is_secret_name(before)
        is_user = before in ("-u", "-U", "--user", "--proxy-user") and ":" in argument
        is_header = sets_header and (is_secret_name(before) or before.lower().endswith("cookie"))
        if (is_named or is_flagged or is_header) and _is_secret("password", argument):
            yield REDACTED
        elif is_user:
            yield without_secrets(f"-u {argument}").removeprefix("-u ")
        else:
            yield argument
        before = before if is_header else argument


def _replaced(item: T, lost: tuple[str, ...], **fields: object) -> T:
    """The record with these fields, and with none of what was lost left in its quotes."""
    assert isinstance(item, Record)
    words = [one for one in lost if len(one) >= _SHORTEST_REPLACED_CHARACTERS]
    quotes = tuple(msgspec.structs.replace(quote, text=_without(quote.text, words)) for quote in item.quotes)
    return msgspec.structs.replace(item, quotes=quotes, **fields)


def _without(text: str, words: list[str]) -> str:
    for word in words:
        text = text.replace(word, REDACTED)
    return text
