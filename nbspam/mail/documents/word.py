"""Documents of Word 6 to 2003: the text that they show, and where their links lead to.

Hides that a text may stand in pieces, some in bytes and some in UTF-16, and the file system in the file: the
list of the pieces is found by its length, and the text is taken to stand in one place, as it nearly always
does.
Source: [MS-DOC], 2.4.1 (text), 2.5 (addresses), 2.8.35 (PlcPcd) and 2.9.73 (FcCompressed).
"""

from __future__ import annotations

from itertools import pairwise

from nbspam.mail.charset import decode_with
from nbspam.mail.message import MAX_TEXT
from nbspam.mail.packed import little_endian

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.message import Document

_SECTOR = 64  # bytes; everything begins at one: of 512 what is large, of 64 what is below 4,096 bytes
_BEGINNINGS = (b"\xec\xa5", b"\xdc\xa5")  # of Word 97 and later, of Word 6 and 95
_MAX_VERSION = 0x01FF  # behind the beginning; more is no document, only its first bytes in a picture
_ENCRYPTED = 0x0100
_IN_BYTES = 1 << 30  # of the address of a piece
_MAX_PIECES = 1_000
_MAX_LIST = 5 + 4 + 12 * _MAX_PIECES
# Marks of lines, cells, pictures and the like, as what they do to words; fields keep theirs.
_SHOWN_AS = dict.fromkeys(range(32), " ") | {0x1E: "-", 0x1F: None, 0x13: "\x13", 0x14: "\x14", 0x15: None}


def read_word(payload: bytes, document: Document) -> None:
    """Fills the document with what the file shows, if it is one of Word."""
    at = _beginning(payload)
    if at < 0:
        return
    if little_endian(payload, at + 10, 2) & _ENCRYPTED:
        document.mark("encrypted")
        return
    text = "".join(_pieces(payload, at)).translate(_SHOWN_AS)
    shown, *fields = text.split("\x13")
    for field in fields:  # what to do, and what it gave
        instruction, _, result = field.partition("\x14")
        shown += result
        document.follows(instruction)
    document.text = shown.replace("\x14", "")[:MAX_TEXT]


def _beginning(payload: bytes) -> int:
    """Where the addresses stand, to which all others are relative; -1 if they do not."""
    begins = [at for at in range(0, len(payload), _SECTOR) if payload[at : at + 2] in _BEGINNINGS]
    return next((at for at in begins if little_endian(payload, at + 2, 2) <= _MAX_VERSION), -1)


def _pieces(payload: bytes, at: int) -> Iterator[str]:
    """The pieces of the text in order; one of bytes where there is no list of them."""
    size = little_endian(payload, at + 0x1A6, 4)
    mark = b"\x02" + max(size - 5, 0).to_bytes(4, "little") + bytes(4)
    listed = payload.find(mark) + 5 if size in range(21, _MAX_LIST) else 4
    if listed < 5:
        begin, end = little_endian(payload, at + 24, 4), little_endian(payload, at + 28, 4)
        yield _read(payload, at + begin, end - begin, in_bytes=True)
        return
    n = (size - 5 - 4) // 12
    places = [little_endian(payload, listed + 4 * place, 4) for place in range(n + 1)]
    room = MAX_TEXT
    for number, (first, last) in enumerate(pairwise(places)):
        address = little_endian(payload, listed + 4 * (n + 1) + 8 * number + 2, 4)
        in_bytes = bool(address & _IN_BYTES)
        address &= _IN_BYTES - 1
        yield _read(payload, at + (address // 2 if in_bytes else address), last - first, in_bytes)
        room -= max(last - first, 0)
        if room < 0:
            return


def _read(payload: bytes, at: int, characters: int, in_bytes: bool) -> str:
    length = max(min(characters, MAX_TEXT), 0)
    if in_bytes:
        return decode_with("cp1252", payload[at : at + length])
    return payload[at : at + 2 * length].decode("utf-16-le", "replace")
