"""Files of a mail that are no text: what archives hold, where documents lead to, what they do when opened.

Hides the formats: ZIP, PDF, and the office documents, which are made of ZIP or OLE.
Nothing is unpacked but what may name an address, within bounds; nothing raises.
Source: PKWARE's APPNOTE, 4.3.7; ISO 32000-1, 7.3.4, 7.5.7 and 12.6.4.7; [MS-OVBA], 2.2.
"""

from __future__ import annotations

import zlib

from nbspam.mail.message import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.limits import Allowance

MAX_NAMES = 100  # of files in an archive
MAX_ADDRESSES = 100
MAX_STRING = 2_000  # bytes of a string in a PDF, or of an address
MAX_PIECE = 200_000  # bytes of a packed piece that are read
_FILE = b"PK\x03\x04"
_NAME_AT = 30  # where the name begins, from the signature on
_STORED, _DEFLATED = 0, 8
_ZLIB_HEADER = 2  # bytes before what is packed in a PDF; viewers do not mind a wrong checksum behind it
_OFFICE = frozenset(("[Content_Types].xml", "mimetype"))  # what only office documents hold
_MACROS = "_VBA_PROJECT".encode("utf-16-le")
# What a PDF says of itself, and what it can do.
_SAYS = (b"/Title", b"/Author", b"/Subject", b"/Keywords", b"/Creator", b"/Producer")
_DOES = (b"/JavaScript", b"/OpenAction", b"/Launch", b"/SubmitForm", b"/EmbeddedFile", b"/XFA")
_ESCAPES = {ord("n"): b"\n", ord("r"): b"\r", ord("t"): b"\t", ord("b"): b"\b", ord("f"): b"\f"}


def read_document(payload: bytes, allowance: Allowance) -> Document:
    """What is in a file of one of the three formats; its first bytes tell which."""
    document = Document()
    if payload.startswith(_FILE):
        _read_archive(payload, document, allowance)
    elif payload.startswith(b"%PDF"):
        _read_pdf(payload, document, allowance)
    elif _MACROS in payload:
        document.mark("macros")
    return document


def _read_archive(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Names from the header of each file: a directory stands behind them all, and may be cut off."""
    at = payload.find(_FILE)
    while at >= 0 and len(document.names) < MAX_NAMES:
        flags, method = payload[at + 6 : at + 7], int.from_bytes(payload[at + 8 : at + 10], "little")
        begin = at + _NAME_AT
        end = begin + int.from_bytes(payload[at + 26 : at + 28], "little")
        name = payload[begin : min(end, begin + MAX_STRING)]
        document.names.append(name.decode("utf-8", "replace"))
        if flags and flags[0] & 1:
            document.mark("encrypted")
        elif name.lower().endswith(b".rels"):
            content = end + int.from_bytes(payload[at + 28 : at + 30], "little")
            size = int.from_bytes(payload[at + 18 : at + 22], "little")
            _read_targets(_content(payload, content, method, size, allowance), document)
        elif name.lower().endswith(b"vbaproject.bin"):
            document.mark("macros")
        at = payload.find(_FILE, max(end, at + _NAME_AT))
    if not _OFFICE.isdisjoint(document.names):
        document.names.clear()  # each document has the same


def _content(payload: bytes, at: int, method: int, size: int, allowance: Allowance) -> bytes:
    """The first bytes of a file in an archive."""
    if allowance.unpacked_pieces <= 0 or method not in (_STORED, _DEFLATED):
        return b""
    if method == _DEFLATED:
        return _inflated(payload[at : at + MAX_PIECE], allowance)
    allowance.unpacked_pieces -= 1
    return payload[at : at + min(size, MAX_PIECE)]


def _inflated(packed: bytes, allowance: Allowance) -> bytes:
    allowance.unpacked_pieces -= 1
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, MAX_PIECE)
    except zlib.error:
        return b""


def _read_targets(relations: bytes, document: Document) -> None:
    """The addresses outside of an office document that it has to do with."""
    for piece in relations.split(b"Target=", MAX_ADDRESSES)[1:]:
        quote = piece[:1]
        if quote in (b'"', b"'"):
            target = piece[1:MAX_STRING].partition(quote)[0].decode("utf-8", "replace")
            _add_address(target.replace("&amp;", "&"), document)


def _add_address(address: str, document: Document) -> None:
    if "://" in address and len(document.addresses) < MAX_ADDRESSES:
        document.addresses.append(address)


def _read_pdf(payload: bytes, document: Document, allowance: Allowance) -> None:
    if b"/Encrypt" in payload:
        document.mark("encrypted")
        return
    pieces = list(_pieces(payload, allowance))
    for piece in pieces:
        for mark in _DOES:
            if mark in piece:
                document.mark(mark[1:].decode().lower())
        for address in _strings(piece, b"/URI", allowance):
            _add_address(address, document)
    for piece in pieces:  # behind all addresses, for a table of contents has many titles
        for key in _SAYS:
            document.says += _strings(piece, key, allowance)


def _pieces(payload: bytes, allowance: Allowance) -> Iterator[bytes]:
    """The file as it is, and what stands in its packed objects."""
    yield payload
    at = payload.find(b"/ObjStm")
    while at >= 0 and allowance.unpacked_pieces > 0:
        begin = payload.find(b"stream", at, at + MAX_STRING)
        if begin >= 0:
            start = begin + len(b"stream")
            packed = payload[start : start + MAX_PIECE].lstrip(b"\r\n")
            yield _inflated(packed[_ZLIB_HEADER:], allowance)
        at = payload.find(b"/ObjStm", at + 1)


def _strings(data: bytes, key: bytes, allowance: Allowance) -> list[str]:
    """The strings that stand behind a key."""
    found: list[str] = []
    at = data.find(key)
    while at >= 0 and allowance.document_strings > 0:
        value = data[at + len(key) : at + MAX_STRING].lstrip(b" \t\r\n\0\f")
        allowance.document_strings -= 1
        if value[:1] == b"(":
            found.append(_text(_literal(value)))
        elif value[:1] == b"<":  # a dictionary, too, has no digits
            found.append(_text(_hexadecimal(value[1:].partition(b">")[0])))
        at = data.find(key, at + len(key))
    return found


def _literal(value: bytes) -> bytes:
    """The bytes between an opening parenthesis and the one that closes it."""
    found = bytearray()
    depth, at = 0, 0
    while at < len(value):
        byte = value[at]
        if byte == ord("\\"):
            escaped, length = _escaped(value[at + 1 : at + 4])
            found += escaped
            at += 1 + length
            continue
        depth += (byte == ord("(")) - (byte == ord(")"))
        if not depth:
            break
        found.append(byte)
        at += 1
    return bytes(found[1:])


def _escaped(behind: bytes) -> tuple[bytes, int]:
    """What a backslash and the bytes behind it stand for, and how many of these belong to it."""
    digits = 0
    while digits < len(behind) and behind[digits : digits + 1] in b"01234567":
        digits += 1
    if digits:
        return bytes([int(behind[:digits], 8) & 255]), digits
    first = behind[:1]
    if first in (b"\n", b"\r"):  # the string goes on in the next line
        return b"", 2 if behind[:2] == b"\r\n" else 1
    return _ESCAPES.get(first[0], first) if first else b"", 1


def _hexadecimal(digits: bytes) -> bytes:
    digits = b"".join(digits.split())
    try:
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))
    except ValueError:
        return b""


def _text(string: bytes) -> str:
    """A string of a PDF: UTF-16 or UTF-8 with its mark, else near enough Latin-1."""
    if string[:2] == b"\xfe\xff":
        return string[2:].decode("utf-16-be", "replace")
    if string[:3] == b"\xef\xbb\xbf":
        return string[3:].decode("utf-8", "replace")
    return string.decode("latin-1")
