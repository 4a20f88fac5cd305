"""Text out of mail made fit to show: nothing in it can move the cursor, hide or turn around other text.

Hides which characters those are: all that Unicode does not call printable, that is
control characters, directional overrides, zero-width ones, and halves of characters.
"""

from __future__ import annotations

from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def cleaned(text: str) -> str:
    """The text with white space of any kind as a space and other unprintable characters as U+FFFD."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char.isspace() else REPLACEMENT for char in text)


def cleaned_value(value: Any) -> Any:
    """For template engines: strings cleaned, other values and marked-up text as they are."""
    return cleaned(value) if type(value) is str else value
