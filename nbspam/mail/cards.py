"""Calendars and cards: their text with its lines joined, and what is written in it as it is shown.

Hides how lines are folded and letters escaped, in iCalendar and vCard and as older programs do.
Source: RFC 5545, 3.1 and 3.3.11; RFC 6350, 3.2 and 3.4; versit, vCard 2.1, 2.1.3 (quoted-printable).
"""

from __future__ import annotations

from nbspam.mail.charset import decode
from nbspam.mail.transfer import decode_quoted_printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

_QUOTED = "QUOTED-PRINTABLE"


def shown(text: str, allowance: Allowance) -> str:
    """The text as readers show it, names of properties too."""
    text = text.replace("\r\n", "\n")
    unfolded = _unfolded(text)
    if _QUOTED in unfolded.upper():
        # Where a value goes on behind "=", the white space is a part of it.
        unfolded = _unfolded(text.replace("=\n ", "=\n=20").replace("=\n\t", "=\n=09"))
        unfolded = _decoded(unfolded, allowance)
    return unfolded.replace("\\n", "\n").replace("\\N", "\n").replace("\\,", ",").replace("\\;", ";")


def _unfolded(text: str) -> str:
    return text.replace("\n ", "").replace("\n\t", "")


def _decoded(text: str, allowance: Allowance) -> str:
    """The text with the values decoded that say that they are quoted-printable."""
    lines = iter(text.split("\n"))
    found = []
    for line in lines:
        head, colon, value = line.partition(":")
        if _QUOTED in head.upper():
            values = [value]
            while values[-1].rstrip().endswith("="):
                values.append(next(lines, ""))
            payload = decode_quoted_printable("\n".join(values).encode("utf-8", "replace"))
            line = head + colon + decode(payload, _charset(head), allowance)[0]
        found.append(line)
    return "\n".join(found)


def _charset(head: str) -> str:
    """The charset that a property names, "" if none: FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE."""
    _, _, behind = head.lower().partition(";charset=")
    return behind.partition(";")[0]
