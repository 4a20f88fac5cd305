"""Filters of a PDF: what a stream is packed with, undone one after the other.

Hides that a filter has a short name, too, which viewers take everywhere, and that letters may stand for
bytes.
Source: ISO 32000-1, 7.4.2 to 7.4.5 and table 94 (short names).
"""

from __future__ import annotations

import re
from struct import error, pack

from nbspam.mail.packed import MAX_PIECE, ZLIB_HEADER, inflated, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

MAX_FILTERS = 4  # of a stream; nobody has use for more than two
_PACKED = frozenset((b"FlateDecode", b"LZWDecode", b"RunLengthDecode"))
_LATE = re.compile(rb"/EarlyChange\s++0")
_NOT_ASCII85 = re.compile(rb"[^!-u]")


def unfiltered(
    data: bytes, names: list[bytes], parameters: bytes, allowance: Allowance, most: int = MAX_PIECE
) -> bytes:
    """The first bytes of a stream, at most so many; none if it is packed in a way that text is not.

    data       : from where it begins, with what follows it
    names      : of its filters, without the slash, in the order in which they are undone
    parameters : what is said of them
    """
    names = [_SHORT.get(name, name) for name in names if name != b"Crypt"]  # of its own, it does nothing
    if len(names) > MAX_FILTERS or not _PACKED.union(_LETTERS) >= set(names):
        return b""
    if not names or names[0] in _LETTERS:
        data = data.partition(b"endstream")[0]
    for place, name in enumerate(names):
        if name == b"FlateDecode":
            data = inflated(data[ZLIB_HEADER:], allowance, most)
        elif name == b"LZWDecode":
            from nbspam.mail.pdf.lzw import lzw_unpacked

            data = lzw_unpacked(stored(data, allowance), not _LATE.search(parameters), most)
        elif name == b"RunLengthDecode":
            data = _from_run_lengths(stored(data, allowance), most)
        else:
            data = _LETTERS[name](stored(data, allowance) if place else data)
    return stored(data, allowance) if _PACKED.isdisjoint(names) else data[:most]


def _from_run_lengths(packed: bytes, most: int) -> bytes:
    """Below 128 a number stands before one byte more than it says, above before a byte that comes again."""
    found = bytearray()
    at = 0
    while at < len(packed) and packed[at] != 128 and len(found) < most:
        number = packed[at]
        if number < 128:
            found += packed[at + 1 : at + 2 + number]
            at += number + 2
        else:
            found += packed[at + 1 : at + 2] * (257 - number)
            at += 2
    return bytes(found[:most])


def _from_ascii85(text: bytes) -> bytes:
    """Five digits are four bytes; it ends where no digit stands."""
    digits = b"".join(text.split()).replace(b"z", b"!!!!!")
    end = _NOT_ASCII85.search(digits)
    digits = digits[: end.start()] if end else digits
    missing = -len(digits) % 5
    digits = digits.translate(_FROM_ZERO) + b"\x54" * missing
    fives = zip(digits[::5], digits[1::5], digits[2::5], digits[3::5], digits[4::5], strict=True)
    words = [(((a * 85 + b) * 85 + c) * 85 + d) * 85 + e for a, b, c, d, e in fives]
    try:
        return pack(f">{len(words)}I", *words)[: 4 * len(words) - missing]
    except error:
        return b""


def _from_hexadecimal(text: bytes) -> bytes:
    return hexadecimal(text.partition(b">")[0])


def hexadecimal(digits: bytes) -> bytes:
    """The bytes of which these are the digits; none if others are among them."""
    digits = b"".join(digits.split())
    try:
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))
    except ValueError:
        return b""


_FROM_ZERO = bytes([max(byte - ord("!"), 0) for byte in range(256)])
_SHORT = {
    b"Fl": b"FlateDecode",
    b"LZW": b"LZWDecode",
    b"RL": b"RunLengthDecode",
    b"A85": b"ASCII85Decode",
    b"AHx": b"ASCIIHexDecode",
}
_LETTERS = {b"ASCII85Decode": _from_ascii85, b"ASCIIHexDecode": _from_hexadecimal}
