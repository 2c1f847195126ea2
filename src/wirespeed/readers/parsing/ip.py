"""What the views of `ip` have in common: the line that opens an interface, and addresses."""

import ipaddress

from wirespeed.readers.parsing.regex import regex

NAME = r"[A-Za-z0-9_][\w.:-]*?"
HEADER = regex(
    rf"^\s*(?:\d+: +)?(?P<name>{NAME})(?:@(?P<peer>[\w.-]+))?:? +<(?P<flags>[A-Z0-9_,-]+)> mtu (?P<mtu>\d+)(?P<rest>.*)$"
)
"""`4: eth0: <BROADCAST,UP> mtu 1500 ...`; the index may be missing in an excerpt."""
RECOGNISED = regex(r"<[A-Z_,-]*(?:UP|BROADCAST|NOARP|LOOPBACK|POINTOPOINT)[A-Z0-9_,-]*> mtu \d")


def is_address(text: str) -> bool:
    """Whether the text is an IPv4 or IPv6 address, with or without zone."""
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def value_after(words: list[str], key: str) -> str | None:
    """The word after `key` in `ip`'s `key value` style, or None."""
    for at, one in enumerate(words[:-1]):
        if one == key:
            return words[at + 1]
    return None


def number_after(words: list[str], key: str) -> int | None:
    """The whole number after `key`, or None."""
    found = value_after(words, key)
    return int(found) if found is not None and found.isdecimal() else None
