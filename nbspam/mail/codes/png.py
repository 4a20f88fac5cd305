"""PNG: its chunks to the samples of a picture.

Hides the order of chunks and the palette.  Checksums do not count, as they do not for who shows such files.
Source: Portable Network Graphics, 3rd edition, 5 and 11.
"""

from __future__ import annotations

from nbspam.mail.codes.picture import Raster, read_codes
from nbspam.mail.packed import ZLIB_HEADER, inflated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

_FIRST = 8  # where the chunks begin
_MAX_CHUNKS = 1_000
_IN_PALETTE = 3  # of the types of colour
_CHANNELS = {0: 1, 2: 3, _IN_PALETTE: 1, 4: 2, 6: 4}
# Of an interlaced picture, six parts before that of all odd rows: their first column and row, and the steps.
_PARTS = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2))
_WHITE = 255


def read_png(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Fills the document with what the QR codes of a picture say; of an interlaced one in its odd rows."""
    chunks = _chunks(payload)
    head = chunks[b"IHDR"]
    if len(head) < 13 or head[9] not in _CHANNELS:
        return
    packed = chunks[b"IDAT"]
    raster = Raster(int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"), head[8], True)
    if head[9] == _IN_PALETTE:
        opaque = chunks[b"tRNS"].ljust(256, b"\xff")
        greens = chunks[b"PLTE"][1:768:3]
        raster.lights = bytes([green if opaque[at] > 127 else _WHITE for at, green in enumerate(greens)])
    if raster.is_drawing(len(packed)):
        before = _even_rows(raster, _CHANNELS[head[9]]) if head[12] else 0
        raster.data = inflated(packed[ZLIB_HEADER:], allowance, before + raster.most_bytes())[before:]
        if before:
            raster.height //= 2
            raster.lines = 2
        read_codes(raster, document, allowance)


def _even_rows(raster: Raster, channels: int) -> int:
    """How many bytes the parts of an interlaced picture take that make its even rows."""
    total = 0
    for column, row, right, down in _PARTS:
        width, height = len(range(column, raster.width, right)), len(range(row, raster.height, down))
        total += Raster(width, height, raster.depth, True).row_bytes(channels) * height
    return total


def _chunks(payload: bytes) -> dict[bytes, bytes]:
    """What stands in the chunks that make a picture, of each kind together."""
    found: dict[bytes, list[bytes]] = {b"IHDR": [], b"PLTE": [], b"tRNS": [], b"IDAT": []}
    at = _FIRST
    for _ in range(_MAX_CHUNKS):
        if at >= len(payload):
            break
        length, kind = int.from_bytes(payload[at : at + 4], "big"), payload[at + 4 : at + 8]
        if kind in found:
            found[kind].append(payload[at + 8 : at + 8 + length])
        at += length + 12
    return {kind: b"".join(pieces) for kind, pieces in found.items()}
