"""Text whose lines were broken inside of words, and where: a blank at the end of a line says so.

Hides the rules of RFC 3676, 4, for `delsp=yes`: what Google writes, and who writes without blanks.
"""

from __future__ import annotations

_SIGNATURE = "-- "  # ends in a blank and never flows


def joined_lines(text: str) -> str:
    """The text with each line that flows joined to the next one of as many quotation marks."""
    pieces: list[str] = []
    flowing = -1  # quotation marks of the line before, if it flows
    for line in text.replace("\r\n", "\n").split("\n"):
        inner = line.lstrip(">")
        depth = len(line) - len(inner)
        inner = inner.removeprefix(" ")  # put before what would seem to be a quotation
        if depth != flowing:
            pieces.append("\n" + ">" * depth + " " * bool(depth))
        flows = inner.endswith(" ") and inner != _SIGNATURE
        pieces.append(inner[:-1] if flows else inner.rstrip())
        flowing = depth if flows else -1
    return "".join(pieces)[1:]
