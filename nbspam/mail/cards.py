"""Calendars and cards: what mail programs show of them.

Source: RFC 5545, 3.1, 3.3.11 and 3.8; RFC 6350, 3.2, 3.4 and 6.
"""

from __future__ import annotations

_STARTS = ("BEGIN:VCAL", "BEGIN:VCARD")
_SHOWN = {"SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT", "ORGANIZER", "URL", "X-ALT-DESC", "CONFERENCE"}
_SHOWN |= {"FN", "ORG", "TITLE", "NOTE"}


def shown_of_card(text: str) -> str:
    """The values that people see, of a calendar or card; any other text as it is."""
    if not text.lstrip()[:11].upper().startswith(_STARTS):
        return text
    text = text.replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")  # folded lines
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
    shown = "\n".join(found)
    return shown.replace("\\n", "\n").replace("\\N", "\n").replace("\\,", ",").replace("\\;", ";")
