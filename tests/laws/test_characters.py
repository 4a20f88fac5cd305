"""The core has a table of what each character becomes and is: Python's answers.

python -m tests.laws.test_characters        make the table again
"""

import textwrap
from itertools import groupby
from pathlib import Path

import pytest

from nbspam.mail.message import pin
from nbspam.tokens.bag import EDGE
from nbspam.tokens.unicode_words import COMMON, CharacterTable

TABLE = Path(__file__).resolve().parents[2] / "core/src/tokens/characters.txt"
SURROGATES = range(0xD800, 0xE000)  # no characters: they are in no text
# Marks of the table for a space, the edge of a word, and the character itself.
MARKS = str.maketrans({" ": "␣", EDGE: "¦"})
OWN = "∘"
HEAD = """\
# What each character from U+0080 on is, and becomes in a word: the answers of Python with Unicode 14, made by
# tests/laws/test_characters.py.  COUNT:KINDS of so many characters one after the other, then their text.
# KINDS is a digit of base 32 for five bits: Unicode 14 has it, letter or digit, letter, capital, of lower
# or title case.  In the text ␣ is a space, ¦ the edge of a word in a script without spaces, ∘ the character.
"""


def describe(code: int, table: CharacterTable) -> str:
    """KINDS and text."""
    if code in SURROGATES:
        return "0␣"
    character = chr(code)
    known = pin(character)
    is_lower = known.islower() or (known.istitle() and not known.isupper())
    kinds = known == character, known.isalnum(), known.isalpha(), known.isupper(), is_lower
    digit = "0123456789abcdefghijklmnopqrstuv"[sum(kind << bit for bit, kind in enumerate(kinds))]
    return digit + table[code].replace(character, OWN).translate(MARKS)


def make_table() -> str:
    table = CharacterTable(COMMON)
    runs = groupby(describe(code, table) for code in range(0x80, 0x110000))
    words = [f"{len(list(run))}:{text}" for text, run in runs]
    return (
        HEAD
        + "\n".join(textwrap.wrap(" ".join(words), 110, break_long_words=False, break_on_hyphens=False))
        + "\n"
    )


@pytest.mark.slow
def test_core_knows_what_python_says_of_each_character() -> None:
    assert TABLE.read_text("utf-8") == make_table()


if __name__ == "__main__":
    TABLE.write_text(make_table(), "utf-8")
