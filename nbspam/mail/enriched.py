"""Text with commands in it (text/enriched, text/richtext): what it shows.

Hides the commands, which are about looks: words are whole without them.
Source: RFC 1896; for richtext RFC 1341, 7.1.3.
"""

from __future__ import annotations

_UNSHOWN = frozenset(("param", "comment"))  # what stands between such a command and its end
_SHOWN_AS = {"lt": "<", "nl": "\n", "np": "\n", "paragraph": "\n", "/paragraph": "\n"}


def shown(text: str) -> str:
    """The text without its commands; what begins as one and is none stays."""
    first, *pieces = text.replace("<<", "\0").split("<")  # no zero is left in a text
    found = [first]
    aside: list[str] = []
    is_unshown = False
    for piece in pieces:
        command, ended, behind = piece.partition(">")
        name = command.lower()
        if not ended or not name.removeprefix("/").replace("-", "").isalnum():
            behind = "<" + piece
        elif name in _UNSHOWN:
            is_unshown = True
        elif name[:1] == "/" and name[1:] in _UNSHOWN:
            is_unshown = False
            aside.clear()
        else:
            behind = _SHOWN_AS.get(name, "") + behind
        (aside if is_unshown else found).append(behind)
    return "".join(found + aside).replace("\0", "<")  # without an end nothing is hidden
