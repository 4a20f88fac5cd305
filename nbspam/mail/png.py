"""PNG: its chunks to the samples of a picture.

Hides the order of chunks and the palette.  Checksums do not count, as they do not for who shows such files.
Source: Portable Network Graphics, 3rd edition, 5 and 11.
"""

from __future__ import annotations

from nbspam.mail.packed import ZLIB_HEADER, inflated
from nbspam.mail.picture import Raster, read_codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

_FIRST = 8  # where the chunks begin
_MAX_CHUNKS = 1_000
_IN_PALETTE = 3  # of the types of colour
_WHITE = 255


def read_png(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Fills the document with what the QR codes of a picture say; of an interlaced one nothing is read."""
    chunks = _chunks(payload)
    head = chunks[b"IHDR"]
    if len(head) < 13 or head[12]:
        return
    packed = chunks[b"IDAT"]
    raster = Raster(int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"))
    raster.depth = head[8]
    raster.is_filtered = True
    if head[9] == _IN_PALETTE:
        opaque = chunks[b"tRNS"].ljust(256, b"\xff")
        greens = chunks[b"PLTE"][1:768:3]
        raster.lights = bytes([green if opaque[at] > 127 else _WHITE for at, green in enumerate(greens)])
    if raster.is_drawing(len(packed)):
        raster.data = inflated(packed[ZLIB_HEADER:], allowance, raster.most_bytes())
        read_codes(raster, document, allowance)


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
