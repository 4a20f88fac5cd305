"""What one character beyond ASCII becomes in the small alphabet of nbspam.tokens.words.

A character becomes the same letters wherever it is: its compatibility form (NFKC) in lower case, without
accents and vowel points, because many writers leave these out and spammers add them.
The `regex` package would cost a fresh process 13 ms.
"""

import unicodedata

from nbspam.mail.unicode_14 import is_known
from nbspam.tokens.bag import EDGE

# Quotation marks, hyphens and dashes inside of words; Arabic marks in numbers.
_PUNCTUATION = str.maketrans("´‘’‛ʼ‐‑‒–—―٪٫٬", "'''''------%.,")
# Letters that some programs or writers replace by another one: Turkish, Arabic and Persian.
# The rest print nothing, and are letters or marks by their category.
_SPELLINGS = str.maketrans("ıىیةکٱ", "iييهكا", "\u0640\u034f\u115f\u1160\u17b4\u17b5")
# Combining classes of marks that make another letter: nukta of India, voiced kana.  Other marks are dropped.
_KEPT_MARKS = (0, 7, 8)
_BLANKS = "\u2800\ufffd"  # Braille without a dot; what could not be read
# How the Unicode names of characters begin that are written without spaces between words.
_UNSPACED = (
    "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "THAI", "LAO", "MYANMAR", "KHMER",
)  # fmt: skip


def convert(character: str) -> str:
    """What one character becomes: letters, nothing, or a space."""
    if character.isascii():
        return character
    if not is_known(character):
        return " "
    plain = character
    if unicodedata.category(character) != "Lo" or unicodedata.decomposition(character):
        apart = unicodedata.normalize("NFKD", character.translate(_PUNCTUATION))
        bare = "".join([part for part in apart if not _is_mark(part)])
        plain = unicodedata.normalize("NFKC", bare).casefold()
    plain = plain.translate(_SPELLINGS)
    return "".join([part if part.isascii() else _convert_letter(part) for part in plain])


def _is_mark(character: str) -> bool:
    """True for accents, vowel points, and characters that print nothing."""
    category = unicodedata.category(character)
    if category[0] != "M":
        return category == "Cf"
    is_kept = unicodedata.combining(character) in _KEPT_MARKS and category != "Me"
    return not is_kept or unicodedata.name(character, "").startswith("VARIATION SELECTOR")


def _convert_letter(character: str) -> str:
    """A letter, digit, mark or currency sign beyond ASCII as it is, a picture as a word of its own."""
    category = unicodedata.category(character)
    if category == "So" and character > "\u00ff" and character not in _BLANKS:
        return f" {character} "
    if category[0] == "N" and unicodedata.digit(character, None) is not None:
        return str(unicodedata.digit(character))
    if category == "Sc":
        return character
    if category[0] not in "LNM":
        return " "
    return EDGE + character + EDGE if unicodedata.name(character, "").startswith(_UNSPACED) else character
