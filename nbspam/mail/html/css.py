"""The syntax of CSS, as far as declarations need it: where they are cut, and numbers with their units.

Hides comments, strings, escapes and brackets, so that a style may be cut at its semicolons and a sheet
at its braces.  Linear in time, without regular expressions.
"""

from __future__ import annotations

# Pixels of one of each common unit; those that depend on what is around are taken at their usual size.
PIXELS = {
    "px": 1.0,
    "": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.945,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "vw": 10.0,
    "vh": 8.0,
    "vmin": 8.0,
    "vmax": 10.0,
    "%": 6.0,  # of the width of a mail
}
QUOTE = "`"  # stands around what was a string, so that 'none' is no word; CSS knows no such sign
MOST = 1e6  # so that no product overflows
_MARKS = ("'", '"', "/*", "\\")
_HEX = "0123456789abcdefABCDEF"
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
# What means something in a style means nothing in a string.
_IN_STRING = dict.fromkeys(map(ord, ";:{}[]()!,'\"\\@"), " ")


def flattened(css: str) -> str:
    """The same without comments, with escapes resolved, and with strings that hold no signs."""
    css = css.replace("\0", " ")
    cut = css
    for mark in _MARKS:
        cut = cut.replace(mark, "\0" + mark)
    pieces = cut.split("\0")  # from the second on each begins with a mark
    parts = [pieces[0]]
    place = start = len(pieces[0])
    for piece in pieces[1:]:
        if place >= start:
            parts.append(css[start:place])
            text, start = _meaning(css, place)
            parts.append(text)
        place += len(piece)
    parts.append(css[start:])
    return "".join(parts)


def _meaning(css: str, place: int) -> tuple[str, int]:
    """What stands for a comment, an escape or a string, and what follows it."""
    mark = css[place]
    if mark == "\\":
        return _escape(css, place + 1)
    if mark != "/":
        return _string(css, place, mark)
    stop = css.find("*/", place + 2)
    return " ", stop + 2 if stop >= 0 else len(css)


def _escape(css: str, start: int) -> tuple[str, int]:
    """The character of an escape, and what follows it; a sign loses its meaning."""
    stop = start
    while stop < start + 6 and css[stop : stop + 1] in _HEX and stop < len(css):
        stop += 1
    if stop == start:
        char, stop = css[start : start + 1], start + 1
    else:
        number = int(css[start:stop], 16)
        char = chr(number) if 0 < number <= 0x10FFFF else "_"
        stop += css[stop : stop + 1].isspace()
    return (char.lower() if char.isalnum() or char in "-_" else "_"), stop


def _string(css: str, place: int, quote: str) -> tuple[str, int]:
    """What a string holds, and what follows it; without its quote it ends with the line."""
    at, end = place + 1, place
    while True:
        if end < at:  # looked for once, however many lines come before it, for time to be linear
            end = css.find(quote, at)
            end = end if end >= 0 else len(css)
        line = css.find("\n", at, end)
        stop = line if line >= 0 else end
        if stop == len(css) or not _is_escaped(css, stop):
            return QUOTE + css[place + 1 : stop].translate(_IN_STRING) + QUOTE, stop + 1
        at = stop + 1


def _is_escaped(css: str, place: int) -> bool:
    """Whether an odd number of backslashes stands before a place in a string."""
    start = place
    while css[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1


def unnested(style: str) -> str:
    """The same without the semicolons that stand in brackets."""
    if not ("{" in style or "[" in style):
        if "(" not in style:
            return style
        if all(part.count("(") == part.count(")") for part in style.split(";")):
            return style
    parts = []
    closers: list[str] = []
    for char in style:
        if char in _CLOSERS:
            closers.append(_CLOSERS[char])
        elif closers and char == closers[-1]:
            closers.pop()
        parts.append(" " if char == ";" and closers else char)
    return "".join(parts)


def number_of(value: str) -> tuple[float, str] | None:
    """Number and unit; None if the value is no number, or its unit none that a browser knows."""
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz%")
    if not digits:  # a word
        return None
    if value[-1] == ")" and "(" in value:
        from nbspam.mail.html.values import calculated  # rare

        return calculated(value)
    if "_" in digits or not digits.isascii():  # float() takes more than a browser does
        return None
    try:
        number = max(-MOST, min(float(digits), MOST))
    except ValueError:
        return None
    unit = value[len(digits) :]
    if unit in PIXELS:
        return number, unit
    from nbspam.mail.html.values import in_rare_unit

    return in_rare_unit(number, unit)


def pixels_of(value: str) -> float:
    """A length in pixels; 0 for what is none."""
    number = number_of(value)
    return 0.0 if number is None else number[0] * PIXELS.get(number[1], 0.0)


def split_outside(text: str, sign: str) -> list[str]:
    """The text cut at a sign that stands in no brackets."""
    if "(" not in text and "[" not in text:
        return text.split(sign)
    parts, start, depth = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]" and depth > 0)
        if char == sign and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
