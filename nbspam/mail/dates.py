"""Dates of mail, as they are really written.  Not needed to classify a message with the default model."""

import re

from nbspam.mail.message import Message

_FIRST_SECOND = 31_536_000  # of 1971
_LAST_SECOND = 4_133_980_799  # of 2100
_MAX_DATE_CHARACTERS = 200
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_COMMENT = re.compile(r"\([^()]*\)\s*([+-][0-9]{4}\s*)$")  # before the zone
# Year, month, day, time and zone, with or without signs between: 2024-06-03T10:00:00+02:00, 20240603T100000Z.
_ISO = re.compile(r"([0-9]{4})[-/]?([0-9]{1,2})[-/]?([0-9]{1,2})(?:t([0-9:.,]+)(z|[-+].*)?)?$")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# Other zones are hardly written; the standard library knows GMT and those of North America (RFC 5322, 4.3).
_ZONES = {"bst": "+0100", "cet": "+0100", "cest": "+0200", "jst": "+0900"}


def find_date(message: Message) -> float | None:
    """Unix time of the topmost Received field with a date, else of Date; None without a date."""
    for name, value in message.headers:
        if name == "received" and ";" in value:
            seconds = parse_date(value.rpartition(";")[2])
            if seconds is not None:
                return seconds
    date = message.get("date")
    return parse_date(date) if date else None


def parse_date(text: str) -> float | None:
    """Unix time of an RFC 5322 date, seconds; None if it is no date or outside 1971 .. 2100.

    A missing or unknown zone is UTC; years of two digits are 1969 .. 2068, of three from 1900 on.
    """
    from email.utils import mktime_tz, parsedate_tz  # 10 ms

    text = _COMMENT.sub(r" \1", text[:_MAX_DATE_CHARACTERS]).partition("(")[0].lower()
    words = text.replace(" am", "am").replace(" pm", "pm").split()
    try:
        place = 1 if words and words[0].rstrip(",") in _DAYS else 0
        if match := _ISO.match(words[place] if words[place:] else ""):
            words = [*_split_iso(match, has_time=place + 1 < len(words)), *words[place + 1 :]]
        fields = parsedate_tz(" ".join([_normalise_word(word) for word in words]))
        if fields is None:
            return None
        year = fields[0] + 1900 if fields[0] < 1000 else fields[0]
        seconds = mktime_tz((year, *fields[1:]))
    except (ValueError, TypeError, IndexError, OverflowError):  # the stdlib raises them for some texts
        return None
    return float(seconds) if _FIRST_SECOND <= seconds <= _LAST_SECOND else None


def _split_iso(match: re.Match[str], has_time: bool) -> list[str]:
    """Day, month, year and time of 2024-06-03T10:00:00+02:00 (RFC 3339, 5.6), in the order of RFC 5322.

    has_time : the time is in words after it
    """
    year, month, day, time, zone = match.groups("")
    if time.isdigit():  # ISO 8601, 5.4.1, without colons
        time = ":".join(filter(None, (time[:2], time[2:4] or "00", time[4:])))
    name = _MONTHS[max(int(month) - 1, 0) : int(month)]
    return [day, *name, year, *([] if has_time and not time else [time or "00:00:00"]), *filter(None, [zone])]


def _normalise_word(word: str) -> str:
    """A word of a date as RFC 5322 has it: +02:00, +02, GMT+2, 1:30:00.5pm and some zones are not."""
    if word[3:4] in ("+", "-") and word[:3] in ("gmt", "utc"):
        word = word[3:] if len(word) > 6 else word[3] + word[4:].zfill(2) + "00"
    if word[:1] in ("+", "-") and word[1:].isdigit() and len(word) <= 3:
        return word[0] + word[1:].zfill(2) + "00"
    if ":" in word:
        if word.endswith(("am", "pm")):
            hour, _, rest = word[:-2].partition(":")
            word = f"{int(hour) % 12 + 12 * word.endswith('pm')}:{rest}"
        return word.replace(":", "") if word[0] in "+-" else word.partition(".")[0]
    return _ZONES.get(word, word)
