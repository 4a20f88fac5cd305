"""Pictures: their samples, row by row, to what the QR codes in them say.

Hides filters, depths, palettes and channels.  A code is dark and light, or light and dark, so one channel of
a picture tells it.  Photographs are left alone: they cost much, and codes in them are not found here.
Source: Portable Network Graphics, 3rd edition, 7.2 and 9.
"""

from __future__ import annotations

from itertools import accumulate

from nbspam.mail.codes.finder import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

MAX_PIXELS = 1_000_000
_LEAST_SIDE = 21  # pixels: the modules of the smallest code
_DEPTHS = (1, 2, 4, 8, 16)
_MAX_BITS = 4  # of a packed picture for a pixel; a photograph has more
_SMALL = 20_000  # bytes of a packed picture that may have more
# Of grey, grey and opacity, three colours, four: the channels that may tell a code.
_TELLING = {1: (0,), 2: (0, 1), 3: (1,), 4: (1, 3)}
_SUB, _UP, _AVERAGE = 1, 2, 3  # what was taken off a row: the pixel before, that above, the mean of both


class Raster:
    """A picture as its rows of samples.

    width, height : pixels
    depth         : bits of a sample
    data          : the rows, each of whole bytes; how many there are tells how many samples make a pixel
    is_filtered   : whether a byte before each row says what was taken off it
    lights        : how light each number of a palette is; b"" if samples say it themselves
    lines         : for how many rows of the picture each stands
    """

    __slots__ = ("data", "depth", "height", "is_filtered", "lights", "lines", "width")

    def __init__(self, width: int, height: int, depth: int, is_filtered: bool) -> None:
        self.width, self.height = width, height
        self.depth, self.is_filtered = depth, is_filtered
        self.data = b""
        self.lights = b""
        self.lines = 1

    def is_drawing(self, packed_bytes: int) -> bool:
        """Whether a picture that was packed to so many bytes may be one that holds a code."""
        pixels = self.width * self.height
        may_be = (
            min(self.width, self.height) >= _LEAST_SIDE and pixels <= MAX_PIXELS and self.depth in _DEPTHS
        )
        return may_be and packed_bytes <= max(pixels * _MAX_BITS // 8, _SMALL)

    def row_bytes(self, channels: int) -> int:
        """Of a row, with what stands before it."""
        return (self.width * channels * self.depth + 7) // 8 + self.is_filtered

    def most_bytes(self) -> int:
        """The most that its rows have."""
        return self.row_bytes(max(_TELLING)) * self.height


def read_codes(raster: Raster, document: Document, allowance: Allowance) -> None:
    """Fills the document with where the QR codes of a picture lead to, or with what else they say."""
    for text in _texts(raster, allowance):
        document.shows_code(text)


def _texts(raster: Raster, allowance: Allowance) -> list[str]:
    fitting = [
        channels for channels in _TELLING if raster.row_bytes(channels) * raster.height <= len(raster.data)
    ]
    channels = max(fitting, default=1)
    for channel in _TELLING[channels]:
        rows = list(_rows(raster, channels, channel, allowance))
        lights = set().union(*{id(row): row for row in rows}.values())
        if len(lights) > 1:  # else all is in another channel, as where a code is drawn on nothing
            middle = (min(lights) + max(lights)) // 2
            is_dark = bytes([value <= middle for value in range(256)])
            dark = {id(row): row.translate(is_dark) for row in rows}
            return codes([dark[id(row)] for row in rows for _ in range(raster.lines)], allowance)
    return []


def _rows(raster: Raster, channels: int, channel: int, allowance: Allowance) -> Iterator[bytes]:
    """How light the pixels of each row are, by one of the channels; rows that are alike are one object."""
    data, row_bytes = raster.data, raster.row_bytes(channels)
    sample = max(raster.depth // 8, 1)  # bytes; of 16 bits the first says enough
    pixel = channels * sample
    begin = raster.is_filtered + channel * sample
    above = bytes(len(range(begin, row_bytes, pixel)))
    shown = _shown(above, raster)
    for at in range(0, len(data) - row_bytes + 1, row_bytes):
        kind = data[at] if raster.is_filtered else 0
        row = data[at + begin : at + row_bytes : pixel]
        if any(row) if kind == _UP else kind or row != above:
            allowance.picture_pixels -= raster.width
            if allowance.picture_pixels < 0:
                return
            row = _unfiltered(kind, row, above)
            if row != above:
                above, shown = row, _shown(row, raster)
        yield shown


def _unfiltered(kind: int, row: bytes, above: bytes) -> bytes:
    """A row with what was taken off it."""
    if kind == _SUB:
        return bytes([value & 255 for value in accumulate(row)])
    if kind == _UP:
        return bytes([(value + up) & 255 for value, up in zip(row, above, strict=True)])
    if kind == _AVERAGE:
        return _by_average(row, above)
    return _by_nearest(row, above) if kind else row


def _by_average(row: bytes, above: bytes) -> bytes:
    made = bytearray()
    left = 0
    for value, up in zip(row, above, strict=True):
        left = (value + (left + up) // 2) & 255
        made.append(left)
    return bytes(made)


def _by_nearest(row: bytes, above: bytes) -> bytes:
    """By the one of three neighbours that is nearest to what they foretell together: left, up, corner."""
    made = bytearray()
    left = corner = 0
    for value, up in zip(row, above, strict=True):
        if up != corner:  # else it is the left one
            by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            if by_left > by_up or by_left > by_corner:
                left = up if by_up <= by_corner else corner
            corner = up
        if value:
            left = (left + value) & 255
        made.append(left)
    return bytes(made)


def _shown(row: bytes, raster: Raster) -> bytes:
    """How light the pixels of a row are, from 0 to 255, where several may stand in a byte."""
    if raster.depth < 8:
        ones = (1 << raster.depth) - 1
        shifts = range(8 - raster.depth, -1, -raster.depth)
        row = bytes([byte >> shift & ones for byte in row for shift in shifts])[: raster.width]
        if not raster.lights:
            return row.translate(bytes([min(value, ones) * 255 // ones for value in range(256)]))
    return row.translate(raster.lights.ljust(256, b"\0")) if raster.lights else row
