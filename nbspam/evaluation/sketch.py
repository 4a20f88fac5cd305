"""A small ROC curve as lines of text for a terminal, both axes logarithmic.

A good filter is in the corner below one percent, where a plain ROC curve shows nothing.
"""

from __future__ import annotations

from math import ceil, log10

import numpy as np

from nbspam.evaluation.outcomes import Evaluation, Floats, Ints
from nbspam.evaluation.ranking import curve, rankings

# Bits of a Braille character's dots: (row from the top, column).
_BITS = np.array(((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80)))
_BRAILLE, ACROSS, DOWN = 0x2800, 2, 4  # dots a character


def roc_sketch(evaluation: Evaluation, width: int = 44, height: int = 7) -> list[str]:
    """Lines of text: share of spam missed (upwards) against share of ham lost (to the right), in percent.

    width, height : characters of the drawing area; axes and labels are added
    Returns [] without a curve: no class spam, no ham or no spam.  A share of 0 is drawn at the lower end of
    its axis, which is below the share of one message.
    """
    tasks = rankings(evaluation)
    if evaluation.positive is None or not tasks:
        return []
    tally = tasks[0].tally()
    x_decades, y_decades = (ceil(log10(2 * messages)) for messages in tally.sum(axis=0))
    lost, missed = curve(tally)
    x, y = _place(lost, x_decades, width * ACROSS), _place(missed, y_decades, height * DOWN)
    dots = np.zeros((height * DOWN, width * ACROSS), dtype=np.int64)  # rows from below
    for left, right, high, low in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
        dots[high, left : right + 1] = 1  # corners are joined by steps, first to the right, then down
        dots[low : high + 1, right] = 1
    codes = (dots[::-1].reshape(height, DOWN, width, ACROSS) * _BITS[:, None, :]).sum(axis=(1, 3))
    x_marks, y_marks = _place_marks(x_decades, width, ACROSS), _place_marks(y_decades, height, DOWN)
    margin = max(map(len, y_marks.values()))
    lines = [f"{'spam missed %':<{margin}}"]
    for row, drawn in enumerate(codes.tolist()):
        label = y_marks.get(height - 1 - row, "")
        text = "".join(chr(_BRAILLE + code) if code else " " for code in drawn)
        lines.append(f"{label:>{margin}} {'┤' if label else '│'}{text.rstrip()}")
    below = ""
    for place, label in x_marks.items():
        start = max(0, margin + 2 + place - len(label) // 2)
        if not below or start > len(below):  # labels that would touch are left out
            below = f"{below:<{start}}{label}"
    axis = "".join("┬" if place in x_marks else "─" for place in range(width))
    return [*lines, f"{'':>{margin}} └{axis}", f"{below}  ham lost %"]


def _place(share: Floats, decades: int, size: int) -> Ints:
    """Shares as dots 0 .. size - 1 on a logarithmic axis that spans so many powers of ten."""
    exponent = np.log10(np.maximum(share, 10.0**-decades))
    return np.rint((1 + exponent / decades) * (size - 1)).astype(np.int64)


def _place_marks(decades: int, size: int, dots: int) -> dict[int, str]:
    """Character -> label in percent, of each power of ten, from the least."""
    exponents = range(-decades, 1)
    places = _place(np.array([10.0**exponent for exponent in exponents]), decades, size * dots) // dots
    labels = [f"{10.0 ** (2 + exponent):.{max(0, -2 - exponent)}f}" for exponent in exponents]
    return dict(zip(places.tolist(), labels, strict=True))
