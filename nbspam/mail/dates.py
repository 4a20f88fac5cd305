"""When a mail arrived, from its own header: for replay in time order.

Hides RFC 5322 dates as they are really written.  Not on the classify lane.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Message

FIRST_YEAR = 1971
LAST_YEAR = 2100
_MAX_DATE_CHARACTERS = 200
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Those of RFC 5322, section 4.3, and others that are written; military zones were defined wrongly and mean
# nothing.
_ZONES_HOURS = {
    "edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8,
    "bst": 1, "cet": 1, "cest": 2, "met": 1, "mest": 2, "eet": 2, "eest": 3, "msk": 3, "msd": 4,
    "jst": 9, "kst": 9, "hkt": 8, "akst": -9, "akdt": -8, "hst": -10, "aest": 10, "aedt": 11,
}  # fmt: skip


def received_date(message: Message) -> float | None:
    """Unix time of the topmost Received field with a date, else of Date; None if there is none."""
    for name, value in message.headers:
        if name == "received" and ";" in value:
            seconds = parse_date(value.rpartition(";")[2])
            if seconds is not None:
                return seconds
    for name, value in message.headers:
        if name == "date":
            return parse_date(value)
    return None


def parse_date(text: str) -> float | None:
    """Unix time of an RFC 5322 date, seconds; None if it is none or outside 1971 .. 2100.

    A missing or unknown zone is UTC; years of two digits are 1950 .. 2049, of three from 1900 on.
    """
    day = month = year = -1
    clock: tuple[int, int, int] | None = None
    offset: int | None = None
    if not text.isascii():  # other digits are digits too, for str
        text = text.encode("ascii", "replace").decode("ascii")
    for word in text[:_MAX_DATE_CHARACTERS].partition("(")[0].replace(",", " ").lower().split():
        if ":" in word and clock is None:
            clock = _clock(word)
        elif word[0] in "+-" and word[1:].replace(":", "", 1).isdigit():  # some write +02:00
            offset = _offset(word.replace(":", ""))
        elif word.count("-") == 2 and month < 0:  # 24-Sep-2002
            first, middle, last = word.split("-")
            month = _MONTHS.get(middle[:3], -1)
            day, year = _number(first), _year(last)
        elif word[:3] in _MONTHS and month < 0 and word.isalpha():
            month = _MONTHS[word[:3]]
        elif word.isdigit():
            if day < 0 and len(word) <= 2:
                day = int(word)
            elif year < 0:
                year = _year(word)
        elif offset is None and clock is not None:
            offset = _ZONES_HOURS.get(word, 0) * 3600
    if clock is None or not FIRST_YEAR <= year <= LAST_YEAR or month < 0:
        return None
    if not 1 <= day <= _DAYS_OF_MONTH[month - 1]:
        return None
    hours, minutes, seconds = clock
    return float(_days(year, month, day) * 86400 + hours * 3600 + minutes * 60 + seconds - (offset or 0))


def _number(word: str) -> int:
    return int(word) if word.isdigit() and len(word) <= 4 else -1


def _year(word: str) -> int:
    year = _number(word)
    if 0 <= year < 50 and len(word) <= 2:
        return year + 2000
    return year + 1900 if 0 <= year < 1000 else year


def _clock(word: str) -> tuple[int, int, int] | None:
    numbers = [_number(piece.partition(".")[0]) for piece in word.split(":", 3)]
    if len(numbers) == 2:
        numbers.append(0)
    hours, minutes, seconds = numbers[:3]
    if 0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds <= 60:
        return hours, minutes, seconds
    return None


def _offset(word: str) -> int:
    digits = word[1:]
    if len(digits) > 4:
        return 0
    hours, minutes = divmod(int(digits), 100) if len(digits) > 2 else (int(digits), 0)
    seconds = hours * 3600 + minutes * 60
    return -seconds if word[0] == "-" else seconds


def _days(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 in the Gregorian calendar.

    Source: H. Hinnant, "chrono-compatible low-level date algorithms", days_from_civil.
    """
    if month <= 2:
        year -= 1
    era_year = year % 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year // 400 * 146097 + era_year * 365 + era_year // 4 - era_year // 100 + day_of_year - 719468
