"""RAR: the names of the files in an archive, and whether it is encrypted.

Hides both formats: that of RAR 1.5 to 4, with sizes of two and four bytes, and that of RAR 5, with sizes of
as many bytes as they need.  Nothing is unpacked.
Source: RAR 5.0 archive format (rarlab); for the older one, technote.txt of RAR 4.
"""

from __future__ import annotations

from nbspam.mail.message import MAX_NAMES
from nbspam.mail.packed import little_endian

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Document

_OLDER, _NEWER = b"Rar!\x1a\x07\x00", b"Rar!\x1a\x07\x01\x00"
_MAX_BLOCKS = 1_000  # looked at
_MAX_NAME = 1_000  # bytes
_LEAST = 7  # bytes of the header of a block of the older format
# Of the older format: kinds of blocks, and what their flags say.
_ARCHIVE, _FILE = 0x73, 0x74
_HEADERS_ENCRYPTED = 0x80
_ENCRYPTED, _LARGE, _HAS_SIZE = 0x04, 0x100, 0x8000
# Of the newer one.
_FILE_5, _ENCRYPTION_5 = 2, 4
_EXTRA_5, _DATA_5 = 1, 2
_TIME_5, _CHECKSUM_5 = 2, 4
_ENCRYPTION_RECORD_5 = 1


def read_rar(payload: bytes, document: Document) -> None:
    """Fills the document with the names in the archive."""
    if payload.startswith(_OLDER):
        _read_older(payload, document)
    elif payload.startswith(_NEWER):
        _read_newer(payload, document)


def _read_older(payload: bytes, document: Document) -> None:
    at = len(_OLDER)
    for _ in range(_MAX_BLOCKS):
        kind, flags = little_endian(payload, at + 2, 1), little_endian(payload, at + 3, 2)
        size = little_endian(payload, at + 5, 2)
        if kind == _ARCHIVE and flags & _HEADERS_ENCRYPTED:
            document.mark("encrypted")
            return
        follows = little_endian(payload, at + 7, 4) if kind == _FILE or flags & _HAS_SIZE else 0
        if kind == _FILE:
            begin = at + 32
            if flags & _LARGE:
                follows |= little_endian(payload, begin, 4) << 32
                begin += 8
            name = payload[begin : begin + little_endian(payload, at + 26, 2)]
            _add(name.partition(b"\0")[0], bool(flags & _ENCRYPTED), document)
        at += size + follows
        if size < _LEAST or at >= len(payload):
            return


def _read_newer(payload: bytes, document: Document) -> None:
    at = len(_NEWER)
    for _ in range(_MAX_BLOCKS):
        size, begin = _varying(payload, at + 4)  # behind a checksum
        kind, at = _varying(payload, begin)
        flags, at = _varying(payload, at)
        extra, at = _varying(payload, at) if flags & _EXTRA_5 else (0, at)
        follows, at = _varying(payload, at) if flags & _DATA_5 else (0, at)
        end = begin + size
        if kind == _ENCRYPTION_5:
            document.mark("encrypted")
            return
        if kind == _FILE_5:
            record, _ = _varying(payload, _varying(payload, end - extra)[1])  # behind its size
            _add(_name(payload, at), extra > 0 and record == _ENCRYPTION_RECORD_5, document)
        at = end + follows
        if not size or at >= len(payload):
            return


def _name(payload: bytes, at: int) -> bytes:
    """The name in the header of a file, whose own fields begin at `at`."""
    flags, at = _varying(payload, at)
    _, at = _varying(payload, at)  # its size
    _, at = _varying(payload, at)  # attributes
    at += 4 * bool(flags & _TIME_5) + 4 * bool(flags & _CHECKSUM_5)
    _, at = _varying(payload, at)  # how it is packed
    _, at = _varying(payload, at)  # by which system
    length, at = _varying(payload, at)
    return payload[at : at + min(length, _MAX_NAME)]


def _varying(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends; bit 7 says that it goes on."""
    value = 0
    for place, byte in enumerate(data[at : at + 10]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    return 0, len(data)


def _add(name: bytes, encrypted: bool, document: Document) -> None:
    if len(document.names) < MAX_NAMES:
        document.names.append(name.decode("utf-8", "replace").replace("\\", "/"))
    if encrypted:
        document.mark("encrypted")
