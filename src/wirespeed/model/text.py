"""A sentence a user can see, in both languages of the product."""

import string
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Language: TypeAlias = Literal["en", "zh"]

_FORMATTER = string.Formatter()


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence (or short paragraph) in English and Chinese.

    `{name}` marks a placeholder; both languages must use the same ones (kept true by the tidy tests).
    """

    en: str
    zh: str

    def __getitem__(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def placeholders(self) -> frozenset[str]:
        """Names of the placeholders in the English sentence."""
        return placeholders_of(self.en)

    def filled(self, shown: Mapping[str, str]) -> "Text":
        """Replace each placeholder by its printed value.

        Raises KeyError when a placeholder has no value: a sentence with a hole is a programmer's error.
        """
        return Text(en=self.en.format_map(shown), zh=self.zh.format_map(shown))


def placeholders_of(sentence: str) -> frozenset[str]:
    """Names of the `{placeholders}` in one sentence."""
    return frozenset(name for _, name, _, _ in _FORMATTER.parse(sentence) if name)


def same(words: str) -> Text:
    """A text that reads the same in both languages: a command, a name, a quotation. It is shown as it is, never filled."""
    return Text(en=words, zh=words)
