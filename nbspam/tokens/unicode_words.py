"""Text beyond ASCII -> the small alphabet of nbspam.tokens.words, one character at a time.

A character becomes the same letters wherever it is: its compatibility form (NFKC) in lower case, without
accents and vowel points, because many writers leave these out and spammers add them.
The `regex` package would cost a fresh process 13 ms.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from nbspam.tokens.words import INNER

MAX_CHARACTERS = 60_000  # whose meaning is remembered, some 8 MB
EDGE = "\ue000"  # on both sides of each character of a script without spaces
# Quotation marks, hyphens and dashes inside of words; Arabic signs of numbers.
_SIGNS = str.maketrans("´‘’‛ʼ‐‑‒–—―٪٫٬", "'''''------%.,")
# Letters that some programs or writers replace by another one: Turkish, Arabic and Persian.
_SPELLINGS = str.maketrans("ıىیةکٱ", "iييهكا", "\u0640")
# Combining classes of marks that make another letter: nukta of India, voiced kana.  Other marks are dropped.
_KEPT_MARKS = (0, 7, 8)
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5"  # print nothing, and are letters or marks by their category
_INVISIBLE = "\u00ad\u034f\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0"  # noqa: E501
_TURNED_ROUND = "\u202e"  # what follows is shown from right to left
# Scripts whose words need invisible characters: Hebrew, Arabic, those of India and South East Asia.
_WRITTEN_WITH_INVISIBLE = ("\u0590", "\u18ff")
_BLANK = "\u2800"  # Braille without a dot
# How the Unicode names of characters begin that are written without spaces between words.
_UNSPACED = (
    *("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL"),
    *("THAI", "LAO", "MYANMAR", "KHMER"),
)


class CharacterTable(dict[int, str]):
    """Code point -> what it becomes: a table for str.translate, filled as characters come.

    A full one starts anew: hostile mail may have any number of different characters.
    """

    def __missing__(self, code: int) -> str:
        if len(self) >= MAX_CHARACTERS:
            self.clear()
        self[code] = become = _become(chr(code))
        return become


def _become(character: str) -> str:
    """What one character becomes: letters, nothing, or a space."""
    if character.isascii():
        return character
    bare = "".join(
        [part for part in unicodedata.normalize("NFKD", character.translate(_SIGNS)) if not _is_mark(part)]
    )
    plain = unicodedata.normalize("NFKC", bare).casefold().translate(_SPELLINGS)
    return "".join([part if part.isascii() else _letter(part) for part in plain])


def _is_mark(character: str) -> bool:
    """True for accents, vowel points, and characters that print nothing."""
    if unicodedata.combining(character) not in _KEPT_MARKS or character in _FILLERS:
        return True
    if unicodedata.category(character) in ("Cf", "Me"):
        return True
    return unicodedata.name(character, "").startswith("VARIATION SELECTOR")


def _letter(character: str) -> str:
    """A letter, digit, mark or currency sign beyond ASCII as it is, a picture as a word of its own."""
    category = unicodedata.category(character)
    if category == "So" and character > "\u00ff" and character != _BLANK:
        return f" {character} "
    if category[0] == "N" and unicodedata.digit(character, None) is not None:
        return str(unicodedata.digit(character))
    if category == "Sc":
        return character
    if category[0] not in "LNM":
        return " "
    return EDGE + character + EDGE if is_unspaced(character) else character


def is_unspaced(character: str) -> bool:
    """True for a character of a script that is written without spaces between words."""
    return unicodedata.name(character, "").startswith(_UNSPACED)


_table = CharacterTable()


def folded(text: str) -> str:
    """The text in the small alphabet, except its lines that are plain ASCII: most lines of most mail."""
    text = "\n".join([line if line.isascii() else line.translate(_table) for line in text.split("\n")])
    if EDGE in text:
        text = text.replace(EDGE + EDGE, INNER).replace(EDGE, " ")
    return text


def has_zero_width(text: str) -> bool:
    """True if an invisible character is inside of a word that needs none, or one turns the text round.

    Mail programs put such characters before replies and behind names, and many an emoji has one in it.
    """
    if _TURNED_ROUND in text:
        return True
    found = [character for character in _INVISIBLE if character in text]
    if not found:
        return False
    for character in found[1:]:
        text = text.replace(character, found[0])
    pieces = [piece for piece in text.split(found[0]) if piece]
    return any(_needs_none(first[-1]) and _needs_none(second[0]) for first, second in pairwise(pieces))


def _needs_none(character: str) -> bool:
    first, last = _WRITTEN_WITH_INVISIBLE
    return character.isalnum() and not first <= character <= last
