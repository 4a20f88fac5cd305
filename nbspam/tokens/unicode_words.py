"""Text beyond ASCII -> the small alphabet of nbspam.tokens.words, one character at a time.

nbspam.tokens.characters says what a character becomes.
"""

from itertools import pairwise

from nbspam.mail.message import pin
from nbspam.tokens.bag import EDGE, INNER

_BEYOND_LETTERS = 0x31350  # no letter of Unicode 14 is from here on, and no mark except in _TAGS
_TAGS = range(0xE0000, 0xE1000)
# The characters of most Western mail, converted already: unicodedata takes 2 ms to load.
COMMON = {code: chr(code) for code in range(128)}
COMMON |= zip(
    range(0xC0, 0x100), "aaaaaaæceeeeiiiiðnooooo øuuuuyþßaaaaaaæceeeeiiiiðnooooo øuuuuyþy", strict=True
)
COMMON |= {ord("ß"): "ss", ord("…"): "...", ord("™"): "tm", ord("£"): "£", ord("€"): "€"}
COMMON |= dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\ufeff"), "")
COMMON |= dict.fromkeys(map(ord, "\xa0«»·©®°“”„•\u202f"), " ")
COMMON |= {ord("‘"): "'", ord("’"): "'", ord("–"): "-", ord("—"): "-"}
_INVISIBLE = "\u00ad\u034f\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0"  # noqa: E501
_TURNED_ROUND, _TURNED_BACK = "\u202e", "\u202c"  # what is between is shown from right to left (UAX #9, 2.2)
_ISOLATES, _ISOLATE_END = "\u2066\u2067\u2068", "\u2069"
_OPENING = "\u202a\u202b\u202d" + _TURNED_ROUND + _ISOLATES
_LEFTWARD = (("\u0590", "\u08ff"), ("\ufb1d", "\ufdff"), ("\ufe70", "\ufefe"))  # Hebrew, Arabic and the like
# Scripts whose words need invisible characters: Hebrew, Arabic, those of India and South East Asia.
_WRITTEN_WITH_INVISIBLE = ("\u0590", "\u18ff")


class CharacterTable(dict[int, str]):
    """Code point -> what it becomes: a table for str.translate, filled as characters come, up to 25 MB."""

    def __missing__(self, code: int) -> str:
        if code >= _BEYOND_LETTERS and code not in _TAGS:
            return " "
        from nbspam.tokens.characters import convert  # common characters do without

        self[code] = converted = convert(chr(code))
        return converted


_table = CharacterTable(COMMON)


def fold(text: str) -> str:
    """The text in the small alphabet, except its lines that are plain ASCII: most lines of most mail."""
    if _TURNED_ROUND in text:
        text = text.replace(_TURNED_BACK + _TURNED_ROUND, "")  # nothing is between them: one run
        text = "\n".join([_read_turned(line) if _TURNED_ROUND in line else line for line in text.split("\n")])
    text = "\n".join([line if line.isascii() else line.translate(_table) for line in text.split("\n")])
    if EDGE in text:
        text = text.replace(EDGE + EDGE, INNER).replace(EDGE, " ")
    return text


def _read_turned(line: str) -> str:
    """A line with what U+202E turns round, up to what ends it, in the order in which a person reads it."""
    pieces: list[str] = []
    turned: list[str] = []
    opened: list[str] = []
    isolates = outermost = 0  # open ones; how much is open with the first U+202E
    for character in line:
        if character in _OPENING:
            opened.append(character)
            isolates += character in _ISOLATES
            outermost = outermost or (character == _TURNED_ROUND) * len(opened)
        elif character == _TURNED_BACK and opened and opened[-1] not in _ISOLATES:
            opened.pop()
        elif character == _ISOLATE_END:
            while isolates and opened.pop() not in _ISOLATES:
                pass
            isolates -= isolates > 0
        else:
            (turned if outermost else pieces).append(character)
        if len(opened) < outermost:
            pieces.append(_turn("".join(turned)))
            turned, outermost = [], 0
    return "".join(pieces) + _turn("".join(turned))


def _turn(text: str) -> str:
    is_leftward = any(first <= letter <= last for letter in text for first, last in _LEFTWARD)
    return text if is_leftward else text[::-1]


def splits_words(text: str) -> bool:
    """True if an invisible character is inside of a word that needs none, or one turns the text round.

    Mail programs put such characters before replies and after names, and many an emoji has one in it.
    """
    if _TURNED_ROUND in text:
        return True
    invisible = [character for character in _INVISIBLE if character in text]
    if not invisible:
        return False
    for character in invisible[1:]:
        text = text.replace(character, invisible[0])
    pieces = [piece for piece in text.split(invisible[0]) if piece]
    return any(_needs_none(first[-1]) and _needs_none(second[0]) for first, second in pairwise(pieces))


def _needs_none(character: str) -> bool:
    first, last = _WRITTEN_WITH_INVISIBLE
    return pin(character).isalnum() and not first <= character <= last
