"""Regular expressions that are compiled when they are first used: a diagnosis needs a few dozen of more than a thousand."""

import re
from typing import cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "groups", "groupindex", "flags")


class _Deferred:
    """Stands for a compiled pattern; the first use of any of its methods compiles it and puts the compiled ones in their place."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = flags

    def __getattr__(self, name: str) -> object:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.given_flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return self.__dict__[name]


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern as `re.compile` gives it, but compiled on first use. A mistake in it shows then."""
    return cast(re.Pattern[str], _Deferred(pattern, flags))


def flags_beside(pattern: re.Pattern[str]) -> int:
    """The flags of a pattern, without compiling it; those written in a pattern that is not compiled are not among them."""
    return pattern.given_flags if isinstance(pattern, _Deferred) else pattern.flags
