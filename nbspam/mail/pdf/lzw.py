"""LZW, with which old programs packed the streams of a PDF.

Hides that codes grow by a bit when the table of what they stand for is full, or one code early.
Source: ISO 32000-1, 7.4.4.2.
"""

from __future__ import annotations

MAX_PACKED = 20_000  # bytes; a page has fewer, and each costs a step
_CLEAR, _END = 256, 257
_LEAST_BITS, _MOST_BITS = 9, 12  # of a code
_SINGLE = [bytes([byte]) for byte in range(256)] + [b"", b""]


def lzw_unpacked(packed: bytes, is_early: bool, most: int) -> bytes:
    """The first bytes of what was packed, at most so many; of broken data what stands before that.

    is_early : whether codes grow one code early
    """
    known, bits, before = _SINGLE.copy(), _LEAST_BITS, b""
    found = bytearray()
    held, held_bits = 0, 0
    for byte in packed[:MAX_PACKED]:
        held, held_bits = held << 8 | byte, held_bits + 8
        if held_bits < bits:
            continue
        held_bits -= bits
        code = held >> held_bits
        held &= (1 << held_bits) - 1
        if code == _CLEAR:
            known, bits, before = _SINGLE.copy(), _LEAST_BITS, b""
            continue
        if code == _END or code >= len(known) + bool(before) or len(found) >= most:
            break
        piece = known[code] if code < len(known) else before + before[:1]
        found += piece
        if before and len(known) < 1 << _MOST_BITS:
            known.append(before + piece[:1])
        before = piece
        if len(known) + is_early >= 1 << bits and bits < _MOST_BITS:
            bits += 1
    return bytes(found[:most])
