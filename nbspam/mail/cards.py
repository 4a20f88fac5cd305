"""Calendars and cards: their text with its lines joined, and what mail programs show of it.

Source: RFC 5545, 3.1, 3.3.11 and 3.8; RFC 6350, 3.2, 3.4 and 6.
"""

from __future__ import annotations

_STARTS = ("BEGIN:VCAL", "BEGIN:VCARD")
_SHOWN = {"SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT", "ORGANIZER", "URL", "X-ALT-DESC", "CONFERENCE"}
_SHOWN |= {"FN", "ORG", "TITLE", "NOTE"}


def unfolded(text: str) -> str:
    """The text with folded lines joined and escaped line ends, commas and semicolons decoded."""
    joined = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
    return joined.replace("\\n", "\n").replace("\\N", "\n").replace("\\,", ",").replace("\\;", ";")


def shown_of_card(text: str) -> str:
    """The values that people see, of an unfolded calendar or card; "" of any other text."""
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
        if is_shown:  # also a further line of the same value
            found.append(line)
    return "\n".join(found)
