"""What is packed in a file, unpacked within the bounds of a message.

Hides that checksums do not count, as they do not for who shows such files.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

MAX_PIECE = 200_000  # bytes of a packed piece that are read, and at most as many that come of it


def inflated(packed: bytes, allowance: Allowance) -> bytes:
    """The first bytes of what was deflated (RFC 1951); none if it is broken, or of too many in a message."""
    if allowance.unpacked_pieces <= 0:
        return b""
    allowance.unpacked_pieces -= 1
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed[:MAX_PIECE], MAX_PIECE)
    except zlib.error:
        return b""
