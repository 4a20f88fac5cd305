"""Characters that Japanese mail has in ISO-2022-JP though that has no place for them: decode_jis.

Hides where NEC and IBM put them, and Windows with them: numbers in circles, Roman ones, abbreviations in one
square, forms of letters that names are written with.  Mail programs write them all, and show them.
"""

from __future__ import annotations

from _codecs import register_error

_HANDLER = "nbspam-jis"
_known: dict[bytes, str] = {}  # pairs of 94 rows and cells at most


def decode_jis(payload: bytes, codec: str) -> str:
    """Decode by a codec of ISO-2022-JP; what is no character of Windows either is replaced.

    codec : one whose errors are pairs of 7-bit bytes
    """
    return payload.decode(codec, _HANDLER)


def _beyond(error: UnicodeError) -> tuple[str, int]:
    """The character of two bytes that the codec does not know, and where it is to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.end]
    found = _known.get(pair)
    if found is None:
        found = _character(*pair) if len(pair) == 2 else "\ufffd"
        _known[pair] = found
    return found, error.end


def _character(row: int, cell: int) -> str:
    """By the same place in Shift_JIS (JIS X 0208:1997, annex 1), as windows-932 has it."""
    lead = ((row + 1) >> 1) + (0x70 if row < 0x5F else 0xB0)
    trail = cell + (0x7E if row % 2 == 0 else 0x1F if cell < 0x60 else 0x20)
    if lead > 0xFF or trail > 0xFF:
        return "\ufffd"
    return bytes((lead, trail)).decode("cp932", "replace")[:1]


register_error(_HANDLER, _beyond)
