"""QR codes in a picture: where their three squares stand, and the grid between these.

Hides the search.  A square is met in each row through its middle as dark, light, dark, light and dark in the
proportion 1 : 1 : 3 : 1 : 1.  Codes that lie on a side or on their head are found, light ones on a dark
ground, and those that are turned a little; those drawn in perspective, as in a photograph, are not.
Source: ISO/IEC 18004, 6.3.3 and 12.
"""

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbspam.mail.limits import Allowance

_MAX_TRIES = 8  # three squares that may belong together
_MAX_SQUARES = 12  # looked at
_MAX_HITS = 20  # in a row
_MODULES = 7  # of a square
_LOOKED_AT = 300  # rows, about, of a high picture: modules in it have some pixels


class _Square:
    """Rows, one behind the other, that go through a square at the same place.

    column, width : of pixels
    begin, end    : the first and the last of the rows
    """

    __slots__ = ("begin", "column", "end", "is_dark", "width")

    def __init__(self, hit: tuple[float, int, bool], row: int) -> None:
        self.column, self.width, self.is_dark = hit
        self.begin = self.end = row

    def has(self, hit: tuple[float, int, bool]) -> bool:
        """Whether a row goes through this square there."""
        column, width, is_dark = hit
        is_here = abs(self.column - column) * _MODULES <= width and abs(self.width - width) * 4 <= width
        return is_here and is_dark == self.is_dark

    @property
    def row(self) -> float:
        """Where its middle stands, as `column` says it."""
        return (self.begin + self.end + 1) / 2


def codes(rows: Sequence[bytes], allowance: Allowance) -> list[str]:
    """The texts of the QR codes in a picture.

    rows : of pixels, 1 for dark, else 0; those that are alike are best one object
    """
    found: list[str] = []
    for squares in islice(_corners(_squares(rows, allowance)), _MAX_TRIES):
        text = _read(rows, *squares, allowance)
        if text and text not in found:
            found.append(text)
    return found


def _squares(rows: Sequence[bytes], allowance: Allowance) -> list[_Square]:
    """The largest squares whose middle is about as high as it is wide."""
    found: list[_Square] = []
    met: list[_Square] = []  # those that the last rows went through
    before, hits = b"", list[tuple[float, int, bool]]()
    step = max(len(rows) // _LOOKED_AT, 1)
    for at in range(0, len(rows), step):
        row = rows[at]
        if row is not before:
            before, hits = row, _hits(row, allowance)
        allowance.picture_steps -= len(hits) * len(met)
        if allowance.picture_steps < 0:
            break
        for hit in hits:
            for square in met:
                if square.has(hit):
                    square.end = at
                    break
            else:
                met.append(_Square(hit, at))
        if met:  # a row may miss: a speck, or sides that are not sharp
            found += [square for square in met if square.end < at - step]
            met = [square for square in met if square.end >= at - step]
    heights = [(square, square.end - square.begin + step) for square in found + met]
    # Three of seven modules are the middle.
    likely = [
        square for square, height in heights if 2 * square.width <= _MODULES * height <= 4 * square.width
    ]
    return sorted(likely, key=lambda square: -square.width)[:_MAX_SQUARES]


def _hits(row: bytes, allowance: Allowance) -> list[tuple[float, int, bool]]:
    """What may be a square in this row: its middle, its width, and whether it is dark."""
    edges = [0]
    while edges[-1] >= 0:
        edges.append(row.find(1 ^ row[edges[-1]], edges[-1]))
    edges[-1] = len(row)
    allowance.picture_steps -= len(edges)
    found: list[tuple[float, int, bool]] = []
    for at in range(len(edges) - 5):
        begin, light, middle, behind, last, end = edges[at : at + 6]
        if not light - begin < behind - middle > end - last:  # so are most
            continue
        one = (end - begin) / _MODULES
        if abs(behind - middle - 3 * one) < 1.5 * one and all(
            abs(width - one) < one / 2 for width in (light - begin, middle - light, last - behind, end - last)
        ):
            found.append(((begin + end) / 2, end - begin, row[begin] == 1))
    return found[:_MAX_HITS]


def _corners(squares: list[_Square]) -> Iterator[tuple[_Square, _Square, _Square]]:
    """Three squares each: one with a right angle between the others, that to its right, and that below."""
    for corner in squares:
        like = [each for each in squares if each is not corner and each.is_dark == corner.is_dark]
        for right in like:
            across, down = right.column - corner.column, right.row - corner.row
            for below in like:
                # Turned by a right angle, the way to the right is the way down.
                miss = abs(below.column - corner.column + down) + abs(below.row - corner.row - across)
                if miss <= corner.width / 2 and abs(right.width - corner.width) <= corner.width / 4:
                    yield corner, right, below


def _read(
    rows: Sequence[bytes], corner: _Square, right: _Square, below: _Square, allowance: Allowance
) -> str:
    """The text of the code at three squares; "" if there is none."""
    from nbspam.mail.codes.qr import MAX_VERSION, read_code  # most pictures hold none

    across = right.column - corner.column, right.row - corner.row
    down = below.column - corner.column, below.row - corner.row
    module = (corner.width + right.width + below.width) / 3 / _MODULES
    distance = (across[0] ** 2 + across[1] ** 2) ** 0.5 / module
    likely = round((distance - 10) / 4)
    for version in (likely, likely - 1, likely + 1):
        if 1 <= version <= MAX_VERSION:
            between = 10 + 4 * version  # modules from the middle of a square to that of the next
            allowance.picture_steps -= between**2
            if allowance.picture_steps < 0:
                break
            steps = [(x / between, y / between) for x, y in (across, down)]
            text = read_code(_grid(rows, corner, steps, between + _MODULES))
            if text:
                return text
    return ""


def _grid(
    rows: Sequence[bytes], corner: _Square, steps: list[tuple[float, float]], size: int
) -> list[list[int]]:
    """The modules of a code, 1 for those as its squares are, by the steps to the right and down.

    None if the picture ends before the code does.
    """
    (right_x, right_y), (down_x, down_y) = steps
    # The middle of a square is its fourth module.
    x = corner.column - 3 * (right_x + down_x)
    y = corner.row - 3 * (right_y + down_y)
    for on, at in ((0, 0), (0, size - 1), (size - 1, 0), (size - 1, size - 1)):
        end_x, end_y = x + on * right_x + at * down_x, y + on * right_y + at * down_y
        if not (0 <= end_x < len(rows[0]) and 0 <= end_y < len(rows)):
            return []
    light = not corner.is_dark
    modules = range(size)
    return [
        [
            rows[int(y + on * right_y + at * down_y)][int(x + on * right_x + at * down_x)] ^ light
            for on in modules
        ]
        for at in modules
    ]
