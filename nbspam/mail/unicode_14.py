"""Which characters Unicode 14 has, the Unicode of Python 3.11.  Later ones count as no characters.

Each Python has the tables of another Unicode, and its answer whether a character is a letter or a capital.
For the characters of Unicode 14 these answers are the same everywhere: tests/laws/test_every_python.py.
"""

from bisect import bisect_right
from itertools import accumulate

from nbspam.tables import read_table

UNKNOWN = "\uffff"  # is no character, and never will be
_ENDS = list(accumulate(map(int, read_table("unicode")["runs"])))


def is_known(character: str) -> bool:
    """True if Unicode 14 has the character."""
    return bisect_right(_ENDS, ord(character)) % 2 == 0


def replace_unknown(text: str) -> str:
    """The text with UNKNOWN for each character that Unicode 14 does not have."""
    unknown = [character for character in set(text) if not is_known(character)]
    return text.translate(dict.fromkeys(map(ord, unknown), UNKNOWN)) if unknown else text
