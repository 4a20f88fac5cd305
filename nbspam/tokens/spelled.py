"""Words whose characters stand one by one: F R E E   P I L L S, К Р Е Д И Т.

Hides how many in a row are no longer words of one character each, and where one such word ends.
"""

from __future__ import annotations

from itertools import groupby, pairwise

from nbspam.tokens.unicode_words import INNER, SPELLED, is_unspaced
from nbspam.tokens.words import MIN_SPACED

_MAX_PARTED = 20_000  # characters that are looked at for where such words end
# How wide characters are that part words, in blanks; a line end is wider than what parts two letters.
_WIDTHS = {ord("\n"): "   ", ord("\t"): "   ", ord("\r"): None, ord("\u00a0"): " "}
_AROUND = ".,;:!?'\"()[]-_*|"  # that may stand beside a single letter
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


def parted(text: str) -> tuple[list[str], str]:
    """The text cut where the gap between two single letters is wider than the least in their run.

    And, whole, what stands too far behind to be looked at.
    """
    pieces = text[:_MAX_PARTED].translate(_WIDTHS).split(" ")
    cuts: list[int] = []
    run: list[tuple[int, int]] = []  # of each single letter its place and the gap before it
    gap = 0
    for place, piece in enumerate(pieces):
        gap += 1
        letter = piece.strip(_AROUND)
        if not letter:
            continue
        if len(letter) > 1:
            cuts.extend(_wider(run))
            run = []
        else:
            run.append((place, gap))
        gap = 0
    cuts.extend(_wider(run))
    found = [" ".join(pieces[begin:end]) for begin, end in pairwise([0, *cuts, len(pieces)])]
    return found, text[_MAX_PARTED:]


def _wider(run: list[tuple[int, int]]) -> list[int]:
    """Where a run is cut."""
    least = min([gap for _, gap in run[1:]], default=0)
    return [place for place, gap in run[1:] if gap > least]


def _kind(chunk: str) -> tuple[bool, bool]:
    """Whether it is one letter, and whether that is of a script without spaces."""
    return (True, is_unspaced(chunk)) if len(chunk) == 1 and chunk.isalpha() else (False, False)
