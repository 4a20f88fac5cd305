"""What Windows writes into ISO-2022-JP beside JIS X 0208: AS_WINDOWS, a way to treat errors in decoding.

Hides the rows 13 and 89 to 92, which the standard leaves free: NEC's ①, ㈱, № and IBM's 髙, 﨑.
"""

from __future__ import annotations

import codecs

AS_WINDOWS = "nbspam-windows-jis"  # for bytes.decode
_BROKEN = "\ufffd"
_known: dict[bytes, str] = {}  # of the 8,836 pairs those that were met


def _decoded(error: UnicodeError) -> tuple[str, int]:
    """The character of bytes that the standard does not know, and where to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    end = error.end
    pair = error.object[error.start : end]
    return _known.get(pair) or _met(pair), end


def _met(pair: bytes) -> str:
    """A character met for the first time."""
    if len(pair) != 2 or min(pair) < 0x21 or max(pair) > 0x7E:
        return _BROKEN
    row, cell = pair
    first = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)  # as Shift_JIS has them
    second = cell + (0x7E if row % 2 == 0 else 0x1F if cell < 0x60 else 0x20)
    found = _known[pair] = bytes((first, second)).decode("cp932", "replace")[:1]
    return found


codecs.register_error(AS_WINDOWS, _decoded)
