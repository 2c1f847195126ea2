"""Foreign text made safe to print: what would move a cursor, change colours or reverse a line becomes visible."""

import unicodedata


def visible(text: str) -> str:
    """The text with control, format and surrogate characters written as escapes; a tab stays."""
    if text.isprintable():
        return text
    return "".join(letter if letter == "\t" or not _is_hidden(letter) else f"\\x{ord(letter):02x}" for letter in text)


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn")
