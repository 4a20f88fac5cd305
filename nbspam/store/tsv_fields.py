"""Token text in files of lines and tabs.

Hides the escapes: a tab, a line end or a backslash of a token is written with a backslash, so that
a line stays a line and a field a field.  Tokens hold such characters hardly ever, but mail is hostile.
"""

from __future__ import annotations

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANINGS = {escape[1]: character for character, escape in _ESCAPES.items()}


def escaped(text: str) -> str:
    """The text without tabs and line ends; `unescaped` gives it back."""
    if "\\" in text or "\t" in text or "\n" in text or "\r" in text:
        return "".join(_ESCAPES.get(character, character) for character in text)
    return text


def unescaped(text: str) -> str:
    """What `escaped` was given; ValueError for a backslash that means nothing."""
    if "\\" not in text:
        return text
    pieces = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            meant = _MEANINGS.get(next(characters, ""))
            if meant is None:
                raise ValueError("a backslash without a meaning")
            character = meant
        pieces.append(character)
    return "".join(pieces)


def natural(text: str) -> int:
    """A whole number >= 0 that fits the model file; ValueError otherwise (also for signs, spaces, 1_000)."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise ValueError("not a whole number")
    number = int(text)
    if number >= 1 << 63:
        raise ValueError("too large")
    return number
