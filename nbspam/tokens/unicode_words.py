"""Words of text that is not plain ASCII.

Hides Unicode: compatibility forms (NFKC), case folding, zero-width characters, stacked
combining marks, and scripts written without spaces.  Works with character tables filled as
characters come, because the `regex` package costs a fresh process 13 ms to import.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from nbspam.tokens.lookalikes import has_posing_capitals, posing, unmasked
from nbspam.tokens.words import (
    ASCII_TABLE,
    JOINERS,
    MAX_WORD,
    MIN_SPACED,
    NUMERIC,
    SPACED,
    SPACED_WORDS,
    CharacterTable,
    from_chunks,
    irregular,
    skip_token,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MARKS = 3  # combining marks kept on one letter; Vietnamese and Hebrew need no more
_BLANK = 0x2800  # braille without a dot
_EDGE = "\x02"  # stands on both sides of each character of a script without spaces
INNER = "\x03"  # what two edges become between two such characters
SPELLED = "\x04"  # before a word whose letters stood one by one
ZERO_WIDTH = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u206a\u206b\u206c\u206d\u206e\u206f\u3164\ufeff\uffa0"  # noqa: E501
_TO_THE_RIGHT, _TO_THE_LEFT = "\u202d\u202e"
_TURNED_BACK = "\u202c"
# Hebrew, Arabic, the scripts of India, Thai, Khmer: characters that print nothing are part of their spelling.
_WRITTEN_WITH = (0x590, 0x18FF)
_SIGNS = {0x2018: "'", 0x2019: "'", 0x201B: "'", 0x02BC: "'", 0x5F3: "'", 0x5BE: "-"}
_SIGNS.update(dict.fromkeys(range(0x2010, 0x2016), "-"))
_SIGNS.update({0x66A: "%", 0x66B: ".", 0x66C: ","})
_SIGNS[0x640] = ""  # what only makes an Arabic word longer
# Letters by the one that others write in their place: Turkish without its dots; alef with what is mostly left
# out; two at the end of Arabic words; kaf and yeh, which have one code in Arabic and another one in Persian;
# Russian and Greek as in capitals, the one without its dots, the other without accents; Romanian with the
# cedilla of older charsets.
_WRITTEN_FOR = str.maketrans("ıأإآٱىیةک" + "ёάέήίόύώșț", "iااااييهك" + "еαεηιουωşţ")
_WRITTEN_FOR.update(str.maketrans("ЁΆΈΉΊΌΎΏȘȚ", "ЕΑΕΗΙΟΥΩŞŢ"))
# Where the marks are that words are mostly written without: vowels of Hebrew and Arabic.
_READ_WITHOUT = ((0x591, 0x5C7), (0x610, 0x61A), (0x64B, 0x670), (0x6D6, 0x6ED))
_BLACK = (0x1F150, 0x1F170)  # where the alphabets in white on black begin
# Variation selectors, and marks that strike a letter through, underline or frame it; no language needs these.
_DRAWN_WITH = (
    (0x305, 0x305),
    (0x332, 0x338),
    (0x33F, 0x33F),
    (0x488, 0x489),
    (0x180B, 0x180F),
    (0x20D0, 0x20F0),
    (0xFE00, 0xFE0F),
    (0xE0100, 0xE01EF),
)
# Of no meaning yet, and shown as nothing whatever they will mean (Default_Ignorable_Code_Point).
_IGNORED = ((0x2065, 0x2065), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))
_FLAGS = ("\U0001f1e6", "\U0001f1ff")  # letters of which two are a flag
_FOUR_WORDS = "\ufdfa"  # one character that NFKC makes eighteen of; no other makes as many
_PRICE = NUMERIC + "€£¥¢₽₩₹" + "₺₴₸₪₫₱₦₡₲₵₭₮₼₾₿৳฿៛"
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul jamo
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x318F),  # Bopomofo, Hangul compatibility jamo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)


def _become(code: int) -> str:
    """What a character becomes between normalisation and splitting."""
    if code < 128:
        return chr(ASCII_TABLE[code])
    if code in _SIGNS:
        return _SIGNS[code]
    if code in _WRITTEN_FOR:
        return chr(_WRITTEN_FOR[code])
    character = chr(code)
    category = unicodedata.category(character)
    if _is_unseen(character, category) or (category[0] == "M" and _is_one_of(code, _READ_WITHOUT)):
        return ""
    if category[0] == "N" and unicodedata.digit(character, None) is not None:
        return str(unicodedata.digit(character))  # of every script, and in a black circle
    if category == "Sc":
        return character  # two of them stand among letters of _UNSPACED
    if category[0] not in "LNM":
        return _white_on_black(code) or " "
    if is_unspaced(character):
        return _EDGE + character + _EDGE
    return character


def _is_unseen(character: str, category: str) -> bool:
    """Whether nothing of it is seen, or only how another one is drawn."""
    if category[0] == "M":
        return character in ZERO_WIDTH or _is_one_of(ord(character), _DRAWN_WITH)
    if category == "Cn":
        return _is_one_of(ord(character), _IGNORED)
    return category == "Cf" or character in ZERO_WIDTH


def _is_one_of(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Whether a character is in one of the ranges, whose ends belong to them."""
    return any(first <= code <= last for first, last in ranges)


def is_unspaced(character: str) -> bool:
    """Whether it is of a script that is written without spaces between words."""
    return _is_one_of(ord(character), _UNSPACED)


def _white_on_black(code: int) -> str:
    """The letter that is white on a black circle or square; NFKC knows those with a rim only."""
    for first in _BLACK:
        if first <= code < first + 26:
            return chr(ord("a") + code - first)
    return ""


def as_printed(text: str) -> str:
    """A text of one line normalised, without the characters of which nothing is seen."""
    kept = [character for character in text if not _is_unseen(character, unicodedata.category(character))]
    return normalised("".join(kept))


def _mark(code: int) -> str:
    """M for a combining mark and what NFKC makes one (half-width voiced marks), a full stop for all else."""
    if code < 0x300:
        return "."
    character = chr(code)
    marks = unicodedata.combining(unicodedata.normalize("NFKD", character)[0])
    return "M" if marks or unicodedata.category(character)[0] == "M" else "."


def _picture(code: int) -> str | None:
    """Itself if it is a picture (shape, star, arrow, emoji); other characters are left out."""
    return chr(code) if code > 0xFF and code != _BLANK and unicodedata.category(chr(code)) == "So" else None


def _within(code: int) -> str:
    """0 for a character that prints nothing, a for a letter or digit of a script that needs none of these."""
    character = chr(code)
    if character in ZERO_WIDTH:
        return "0"
    is_letter = unicodedata.category(character)[0] in "LNM"
    return "a" if is_letter and not _WRITTEN_WITH[0] <= code <= _WRITTEN_WITH[1] else " "


_ALPHABET = CharacterTable(_become)
_PICTURE = CharacterTable(_picture)
_MARKS = CharacterTable(_mark)
_WITHIN = CharacterTable(_within)


def has_zero_width(text: str) -> bool:
    """Whether characters that print nothing stand inside of a word, or one turns the text round anywhere.

    Mail programs put others before the text of a reply and behind names, and many an emoji is several with a
    joiner between them.  A number or Latin text that is held from left to right, as telephones write the
    numbers of their contacts, stands as it would.
    """
    if text.isascii() or not any(character in text for character in ZERO_WIDTH):
        return False
    if _TO_THE_LEFT in text or any(_is_leftward(_run(held)) for held in text.split(_TO_THE_RIGHT)[1:]):
        return True
    return any("0" in word.strip("0") for word in text.translate(_WITHIN).split())


def _run(text: str) -> str:
    """What a character that sets the direction has in its power: up to U+202C or the end of the line."""
    return text.partition("\n")[0].partition(_TURNED_BACK)[0]


def _is_leftward(run: str) -> bool:
    """Whether it has a letter that is written from right to left."""
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in run)


def turned(text: str) -> str:
    """The text with each run behind U+202E, up to U+202C or the end of the line, in the order it is read.

    What is written from right to left anyway, as Arabic is, stays.
    """
    first, *pieces = text.split(_TO_THE_LEFT)
    found = [first]
    for piece in pieces:
        run = _run(piece)
        found += [_TO_THE_LEFT, run if _is_leftward(run) else run[::-1], piece[len(run) :]]
    return "".join(found)


def normalised(text: str) -> str:
    """NFKC and case folding, after runs of combining marks are cut to MAX_MARKS."""
    return _folded(_composed(text))


def _folded(text: str) -> str:
    """Case folding, but of letters that become one and marks: the Turkish capital, two Greek ones.

    Many a program has made a letter and a mark of the Turkish one already.
    """
    text = text.replace("İ", "i").replace("ΐ", "ϊ").replace("ΰ", "ϋ")
    return text.casefold().replace("i\u0307", "i")


def _composed(text: str) -> str:
    """NFKC, after runs of combining marks are cut to MAX_MARKS.

    The cut comes first because canonical ordering sorts a run of marks in quadratic time.
    """
    if _is_latin(text):
        return unicodedata.normalize("NFKC", text)
    kinds = text.translate(_MARKS)
    too_many = "M" * (MAX_MARKS + 1)
    at = kinds.find(too_many)
    if at >= 0:
        pieces: list[str] = []
        start = 0
        while at >= 0:
            pieces.append(text[start : at + MAX_MARKS])
            start = at + MAX_MARKS
            end = kinds.find(".", start)
            start = len(text) if end < 0 else end
            at = kinds.find(too_many, start)
        pieces.append(text[start:])
        text = "".join(pieces)
    return unicodedata.normalize("NFKC", text)


def _marked(text: str) -> str:
    """The text in its own small alphabet.  Lines of plain ASCII, most of most mail, take the table."""
    return " ".join(
        [
            " ".join(lines).encode("ascii").translate(ASCII_TABLE).decode("ascii")
            if plain
            else " ".join([_marked_line(line) for line in lines])
            for plain, lines in _runs(text.split("\n"))
        ]
    )


def _marked_line(line: str) -> str:
    """One line with a character beyond ASCII.  Capitals that pose as Latin ones go before case is folded."""
    composed = _composed(line.replace("´", "'"))  # which NFKC makes a blank and a mark
    if max(composed) >= _FLAGS[0]:
        composed = _without_halves_of_flags(composed)
    if not has_posing_capitals(composed):
        return _folded(composed).translate(_ALPHABET)
    return _folded(posing(composed.translate(_ALPHABET)))


def _without_halves_of_flags(line: str) -> str:
    """The line with each letter in a box that has none beside it to be a flag with as a plain one."""
    boxed = [character if _FLAGS[0] <= character <= _FLAGS[1] else "" for character in line]
    plain = list(line)
    for place, (before, letter, after) in enumerate(zip(["", *boxed], boxed, [*boxed[1:], ""], strict=False)):
        if letter and not (before or after):
            plain[place] = chr(ord(letter) - ord(_FLAGS[0]) + ord("a"))
    return "".join(plain)


def _runs(strings: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """The strings in runs of plain ASCII ones and runs of others, beginning with a plain one."""
    plain = bytes(map(str.isascii, strings))
    at, kind = 0, 1
    while at < len(strings):
        end = plain.find(1 - kind, at)
        end = len(strings) if end < 0 else end
        yield kind == 1, strings[at:end]
        at, kind = end, 1 - kind


def _is_latin(text: str) -> bool:
    """Whether no character is beyond U+00FF, and so none is a combining mark."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def unicode_words(text: str, limit: int) -> list[str]:
    """The words of any text, in order; on ASCII text the same as nbspam.tokens.words.words.

    Pictures come last, each a word: between letters (f★r★e★e) they part them as a blank does.
    """
    found = _words(text, limit)
    if len(found) < limit and not _is_latin(text):
        foreign = "".join([line for line in text.split("\n") if not line.isascii()])
        found.extend(foreign.translate(_PICTURE)[: limit - len(found)])
    return found


def _words(text: str, limit: int, parts: bool = True) -> list[str]:
    """parts : cut where words end whose letters stand one by one"""
    *pieces, _ = text.split(_FOUR_WORDS, limit + 1)
    if len(pieces) > limit:  # what follows so many of them gives no word that is kept
        text = _FOUR_WORDS.join(pieces)
    marked = _marked(text)
    spaced = marked.replace(_EDGE + _EDGE, INNER).replace(_EDGE, " ").replace(". ", " ").replace(", ", " ")
    chunks = spaced.split(None, limit)[:limit]
    if parts and SPACED_WORDS in bytes(
        [len(bare) == 1 for chunk in chunks if (bare := chunk.strip(JOINERS))]
    ):
        from nbspam.tokens.spelled import parted  # rare

        pieces, rest = parted(text)
        if len(pieces) > 1:
            return [word for piece in (*pieces, rest) for word in _words(piece, limit, False)][:limit]
    if spaced.isascii():
        return from_chunks(chunks)
    found: list[str] = []
    for plain, run in _runs(chunks):
        if plain:
            found.extend(from_chunks(run))
            continue
        if len(run) >= MIN_SPACED and SPACED in bytes([len(chunk) == 1 for chunk in run]):
            from nbspam.tokens.spelled import joined  # rare

            run = joined(run)
        for chunk in run:
            _foreign(chunk, found)
            if len(found) > limit:  # a page of Chinese is one chunk
                return found
    return found


def _foreign(chunk: str, found: list[str]) -> None:
    """Adds the words of one chunk that has a character beyond ASCII."""
    if INNER in chunk:
        characters = chunk.split(INNER)
        found.extend([a + b for a, b in pairwise(characters)])
        return
    if chunk[0] == SPELLED:
        word = chunk[1:]
        found.append("spaced=" + word if len(word) <= MAX_WORD else skip_token(word))
        return
    chunk = chunk.strip(JOINERS)
    if not chunk:
        return
    seen = unmasked(chunk)
    if seen != chunk:
        found.append("mixed-script=")
        chunk = seen
        if chunk.isascii():
            irregular(chunk, found)
            return
    if len(chunk) <= MAX_WORD and not chunk.strip(_PRICE):
        found.append(chunk)  # £3.50
        return
    for piece in chunk.replace(",", " ").replace(".", " ").replace("--", " ").split():
        piece = piece.strip(JOINERS)
        if piece:
            found.append(piece if len(piece) <= MAX_WORD else skip_token(piece))
