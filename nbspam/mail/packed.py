"""Pieces of files that are no text: numbers, what is packed, within the bounds of a message.

Hides that checksums do not count, as they do not for who shows such files.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

ZLIB_HEADER = 2  # bytes before what is deflated, in RFC 1950
MAX_PIECE = 200_000  # bytes of a packed piece that are read, and at most as many that come of it


def little_endian(data: bytes, at: int, length: int) -> int:
    """The number in so many bytes, the lowest first; those behind the end are none."""
    return int.from_bytes(data[at : at + length], "little")


def stored(piece: bytes, allowance: Allowance) -> bytes:
    """The first bytes of a piece that is not packed; none of too many in a message."""
    if allowance.unpacked_pieces <= 0:
        return b""
    allowance.unpacked_pieces -= 1
    return piece[:MAX_PIECE]


def inflated(packed: bytes, allowance: Allowance, most: int = MAX_PIECE) -> bytes:
    """The first bytes of what was deflated (RFC 1951); none if it is broken, or of too many in a message."""
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored(packed, allowance), most)
    except zlib.error:
        return b""
