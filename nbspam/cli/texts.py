"""What goes to a terminal or a log: errors, names, numbers.

Hides how text that came out of a mail or a file system is made harmless: control characters
are shown, never passed through.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.errors import NbspamError


def plain(text: str) -> str:
    """The text with every character that is not printable written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escape(character)
        for character in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def error_text(error: NbspamError) -> str:
    """What, where, why, what next; the slug at the end of the last line."""
    first = f"nbspam: {plain(error.where)}: {plain(error.why)}"
    if not error.remedy:
        return f"{first}  [{error.slug}]\n"
    return f"{first}\n  next: {plain(error.remedy)}  [{error.slug}]\n"


def default_model(environment: dict[str, str] | os._Environ[str]) -> str:
    """$NBSPAM_MODEL, else model.nbspam in the user's data folder."""
    given = environment.get("NBSPAM_MODEL")
    if given:
        return given
    data = environment.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "nbspam", "model.nbspam")


def verdict_line(label: str, probability: float | None, name: str) -> str:
    """LABEL<TAB>PROBABILITY<TAB>NAME, probability with six digits, `undefined` where there is none."""
    shown = "undefined" if probability is None else f"{probability:.6f}"
    return f"{plain(label)}\t{shown}\t{plain(name)}\n"
