"""Make the table nbspam/tables/letters.txt again: python -m experiments.letter_costs [FOLDER]

Counts the letters in translations of free programs: the gettext catalogues in FOLDER, by default those of the
machine, /usr/share/locale.  The table of the project is from a Debian 12 with many programs, which has 4,032
catalogues; other programs change some digits, most of them by one.
"""

from __future__ import annotations

import math
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "nbspam/tables/letters.txt"
SCRIPTS = (
    *("cp1253 el", "cp1255 he", "cp1256 ar", "cp874 th", "cp1251 ru", "koi8_u ru", "koi8_u uk"),
    *("iso8859_5 ru", "cp866 ru", "iso8859_6 ar"),
)
LATIN = (
    *("cp1252 de", "cp1252 fr", "cp1252 es-pt", "cp1252 sv-fi", "cp1252 da", "cp1252 it", "cp1252 is"),
    *("cp1252 nl", "cp1254 tr", "cp1250 pl", "cp1250 cs-sk", "cp1250 hu", "cp1250 ro", "cp1250 hr-sl"),
    *("iso8859_2 pl", "iso8859_2 cs-sk", "iso8859_2 hr-sl", "cp1257 lt", "cp1257 lv", "cp1252 et"),
)
THAI_MARKS = "ัิีึืฺุู็่้๊๋์ํ๎"
OLD_LETTERS = str.maketrans("țș", "ţş")  # those of the charsets, with a cedilla
MIN_MESSAGE = 16  # characters
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
RARE, NO_CHARACTER = 30, 35  # costs


def read_catalogue(path: Path) -> Iterator[tuple[str, str]]:
    """(original, translation) of each message in a .mo file without plural forms.

    Source: the manual of GNU gettext, "The Format of GNU MO Files".
    """
    data = path.read_bytes()
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    count, *starts = struct.unpack_from(order + "3I", data, 8)
    tables = [struct.iter_unpack(order + "2I", data[start : start + 8 * count]) for start in starts]
    for places in zip(*tables, strict=True):
        written, read = [data[at : at + size].decode("utf-8", "ignore") for size, at in places]
        if "\0" not in written:
            yield written, read


def count_letters(folder: Path, languages: str) -> Counter[str]:
    """How often the messages of the languages have each character beyond ASCII, in lower case."""
    letters: Counter[str] = Counter()
    for language in languages.split("-"):
        for path in folder.glob(f"{language}/LC_MESSAGES/*.mo"):
            if not path.name.startswith(("iso_", "iso-")):  # names of countries and languages
                found = [read for written, read in read_catalogue(path) if written not in ("", read)]
                text = "".join([each for each in found if len(each) >= MIN_MESSAGE])
                letters.update([one for one in text.lower().translate(OLD_LETTERS) if not one.isascii()])
    return letters


def measure_cost(character: str, codec: str, letters: Counter[str], total: int) -> int:
    """The cost of a character in thirds of a bit."""
    if character.isalpha() or character in THAI_MARKS:
        share = letters[character.lower()] / total
        cost = min(round(-3 * math.log2(share)), RARE) if share else RARE
        return cost + (share > 0 and character.lower() != character)
    if character < "\xa0":
        return NO_CHARACTER
    if codec == "cp1252":
        return 10 if character in "«»®£©§°·¦\xad" else 16
    if codec == "cp866":
        return RARE  # frames, which no sentence has
    return 12 if character in "«»" else 20


def make_row(folder: Path, codec: str, languages: str) -> str:
    """A row of the table: four words on three lines."""
    characters = [bytes([byte]).decode(codec, "ignore") for byte in range(128, 256)]
    letters = count_letters(folder, languages)
    small = [one for one in characters if one == one.lower() and (one.isalpha() or one in THAI_MARKS)]
    total = sum(letters[one] for one in small if one)
    costs = [measure_cost(one, codec, letters, total) if one else NO_CHARACTER for one in characters]
    digits = "".join([DIGITS[cost] for cost in costs])
    return f"{codec} {languages}\n{digits[:64]}\n{digits[64:]}\n"


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/locale")
    text = TABLE.read_text(encoding="utf-8")
    for part, rows in (("[scripts]\n", SCRIPTS), ("[latin]\n", LATIN)):
        before, start, rest = text.partition(part)
        _, end, after = rest.partition("\n\n")
        table = "".join([make_row(folder, *row.split()) for row in rows])
        text = before + start + table.rstrip("\n") + end + after
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
