"""What an opaque signature of S/MIME is wrapped around: bytes of the signature to those of the part in it.

Hides BER.  Outlook, Apple Mail and Thunderbird show such a part as the mail; the signature may be anybody's.
Only the way to the content is read (RFC 5652, 5.1 and 5.2): nothing is verified.
"""

from __future__ import annotations

_SIGNED_DATA = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
_DATA = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"
_HEAD = 64  # bytes in which it says that it is signed, and
_WAY = 4_096  # in which its content begins, behind the names of algorithms
_EXPLICIT, _OCTETS, _PIECES = 0xA0, 0x04, 0x24


def signed_content(payload: bytes) -> bytes:
    """The part that was signed; b"" if it is elsewhere, or encrypted."""
    if _SIGNED_DATA not in payload[:_HEAD]:
        return b""
    at = payload.find(_DATA, 0, _WAY)
    tag, start, _ = _element(payload, at + len(_DATA))
    if at < 0 or tag != _EXPLICIT:
        return b""
    tag, start, stop = _element(payload, start)
    if tag == _OCTETS:
        return payload[start:stop]
    pieces = []
    while tag == _PIECES and start < stop:
        kind, first, start = _element(payload, start)
        if kind != _OCTETS:
            break
        pieces.append(payload[first:start])
    return b"".join(pieces)


def _element(data: bytes, at: int) -> tuple[int, int, int]:
    """(tag, start, stop) of the element at this offset; without a length of its own it goes on to the end."""
    head = data[at : at + 2]
    if len(head) < 2:
        return 0, len(data), len(data)
    start, size = at + 2, head[1]
    if size == 0x80:
        return head[0], start, len(data)
    if size > 0x80:
        start += size - 0x80
        size = int.from_bytes(data[at + 2 : start], "big")
    return head[0], start, start + size
