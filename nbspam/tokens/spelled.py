"""Words beyond ASCII whose characters stand one by one: К Р Е Д И Т.

Hides how many in a row are no longer words of one character each.
"""

from __future__ import annotations

from itertools import groupby

from nbspam.tokens.unicode_words import INNER, SPELLED, is_unspaced
from nbspam.tokens.words import MIN_SPACED

MIN_LETTERS = 4  # in scripts with spaces: three may each be a word, as in Russian и я в


def joined(chunks: list[str]) -> list[str]:
    """The chunks, none of them ASCII, with each run of single letters as the chunk that it spells."""
    kept: list[str] = []
    for (lone, unspaced), run in groupby(chunks, _kind):
        spelled = list(run)
        if not lone or len(spelled) < (MIN_SPACED if unspaced else MIN_LETTERS):
            kept.extend(spelled)
        else:
            kept.append(INNER.join(spelled) if unspaced else SPELLED + "".join(spelled))
    return kept


def _kind(chunk: str) -> tuple[bool, bool]:
    """Whether it is one letter, and whether that is of a script without spaces."""
    return (True, is_unspaced(chunk)) if len(chunk) == 1 and chunk.isalpha() else (False, False)
