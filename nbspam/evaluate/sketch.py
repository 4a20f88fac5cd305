"""A small ROC curve as lines of plain text, for a terminal.

Hides the drawing: both axes logarithmic, because a filter worth its name lives in the
corner below one percent, where a plain ROC curve shows nothing.
"""

from __future__ import annotations

from math import ceil, log10

import numpy as np
from numpy.typing import NDArray

from nbspam.evaluate import metrics, ranking
from nbspam.evaluate.outcomes import Evaluation

# Bits of a Braille character's dots: (row from the top, column).
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800


def roc_sketch(evaluation: Evaluation, width: int = 50, height: int = 10, unicode: bool = True) -> list[str]:
    """Lines of text: share of spam missed (upwards) against share of ham lost (to the right), in percent.

    width, height : characters of the drawing area, at least 20 and 4; axes and labels come on top
    unicode       : Braille dots and box lines, else plain ASCII
    Returns [] where there is no curve: no class plays spam, or there is no ham or no spam.  A share
    of nothing is drawn at the lower end of its axis, a decade that one message would not reach.
    """
    tasks = metrics.rankings(evaluation.columns)
    if evaluation.columns.positive is None or not tasks:
        return []
    width, height = max(width, 20), max(height, 4)
    tally = tasks[0].tally()
    ham, spam = tally.sum(axis=0)
    lost, missed = ranking.curve(tally)
    x_decades, y_decades = _decades(ham), _decades(spam)
    cells = (2, 4) if unicode else (1, 1)
    columns = _places(lost, x_decades, width * cells[0])
    heights = _places(missed, y_decades, height * cells[1])
    dots = _drawn(columns, heights, width * cells[0], height * cells[1])
    x_marks = [column // cells[0] for column in _decade_places(x_decades, dots.shape[1])]
    y_marks = [(dots.shape[0] - 1 - row) // cells[1] for row in _decade_places(y_decades, dots.shape[0])]
    rows = _braille(dots) if unicode else ["".join(" *"[int(dot)] for dot in row) for row in dots]
    return _framed(rows, x_marks, y_marks, unicode)


def _decades(messages: float) -> int:
    """How many powers of ten the axis spans below 100 %: enough for half a message."""
    return ceil(log10(2 * messages))


def _places(share: NDArray[np.float64], decades: int, size: int) -> NDArray[np.int64]:
    """Shares as places 0 .. size - 1 on a logarithmic axis."""
    exponent = np.log10(np.maximum(share, 10.0**-decades))
    return np.rint((1 + exponent / decades) * (size - 1)).astype(np.int64)


def _decade_places(decades: int, size: int) -> list[int]:
    """Where 100 %, 10 % and so on lie on an axis of that many places."""
    return [int(place) for place in _places(np.logspace(0, -decades, decades + 1), decades, size)]


def _drawn(
    columns: NDArray[np.int64], heights: NDArray[np.int64], width: int, height: int
) -> NDArray[np.bool_]:
    """bool (height, width), row 0 on top: the corners joined by steps, first to the right, then down."""
    dots = np.zeros((height, width), dtype=np.bool_)
    for place in range(len(columns) - 1):
        left, right = columns[place], columns[place + 1]
        low, high = heights[place + 1], heights[place]
        dots[height - 1 - high, left : right + 1] = True
        dots[height - 1 - high : height - low, right] = True
    return dots


def _braille(dots: NDArray[np.bool_]) -> list[str]:
    blocks = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2)
    codes = (blocks * np.array(_DOTS)[None, :, None, :]).sum(axis=(1, 3))
    return ["".join(chr(_BRAILLE + code) if code else " " for code in row) for row in codes]


def _framed(rows: list[str], x_marks: list[int], y_marks: list[int], unicode: bool) -> list[str]:
    """The drawing with its axes; marks: where 100 %, 10 % and so on stand, from the left and from the top."""
    side, tick, corner, floor, mark = "│┤└─┬" if unicode else "|++-+"
    at_row = {row: _percent(decade) for decade, row in enumerate(y_marks)}
    margin = max(map(len, at_row.values()))
    framed = [
        f"{at_row.get(row, ''):>{margin}} {tick if row in at_row else side}{text.rstrip()}"
        for row, text in enumerate(rows)
    ]
    axis = "".join(mark if place in x_marks else floor for place in range(len(rows[0])))
    below = ""
    for decade, place in reversed(list(enumerate(x_marks))):
        label = _percent(decade)
        start = max(0, margin + 2 + place - len(label) // 2)
        if not below or start > len(below):  # labels that would touch are left out
            below = f"{below:<{start}}{label}"
    head = f"{'spam missed %':<{margin}}"
    return [head, *framed, f"{'':>{margin}} {corner}{axis}", f"{below}  ham lost %"]


def _percent(decade: int) -> str:
    """100 % divided by ten `decade` times."""
    return f"{10.0 ** (2 - decade):.{max(0, decade - 2)}f}"
