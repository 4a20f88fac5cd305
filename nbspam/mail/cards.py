"""Calendars and cards: their text with its lines joined, and what mail programs show of it.

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
_STARTS = ("BEGIN:VCAL", "BEGIN:VCARD")
_SHOWN = {"SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT", "ORGANIZER", "URL", "X-ALT-DESC", "CONFERENCE"}
_SHOWN |= {"FN", "ORG", "TITLE", "NOTE"}


def shown_of_card(text: str) -> str:
    """The values that people see, a line each, of a calendar or card, unfolded; "" of any other text.

    A value may have lines of its own.  Source: RFC 5545, 3.8; RFC 6350, 6.
    """
    if not text.lstrip()[:11].upper().startswith(_STARTS):
        return ""
    found: list[str] = []
    is_shown = False
    for line in text.split("\n"):
        before, colon, value = line.partition(":")
        name = before.partition(";")[0]
        if colon and name.isupper() and name.replace("-", "").isalnum():
            is_shown = name in _SHOWN
            line = value
        if is_shown:
            found.append(line)
    return "\n".join(found)


def unfolded(text: str, allowance: Allowance) -> str:
    """The text with its lines joined and its values as readers show them, names of properties too."""
    text = text.replace("\r\n", "\n")
    joined = _joined(text)
    if _QUOTED in joined.upper():
        # Where a value goes on behind "=", the white space is a part of it.
        joined = _joined(text.replace("=\n ", "=\n=20").replace("=\n\t", "=\n=09"))
        joined = _decoded(joined, allowance)
    return joined.replace("\\n", "\n").replace("\\N", "\n").replace("\\,", ",").replace("\\;", ";")


def _joined(text: str) -> str:
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
