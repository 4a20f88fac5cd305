"""Archives: the names of the files in a ZIP, marks of macros and encryption, and inflating.

Members are read only when the archive is an office document.
Source: PKWARE APPNOTE, 4.3.7, 4.4.4, 4.6.9 and appendix D; [MS-OVBA], 2.2; [MS-OFFCRYPTO], 2.3.4.4.
"""

import re
import zlib
from contextlib import suppress
from itertools import pairwise

from nbspam.limits import Allowance
from nbspam.mail.attachments.office import OFFICE_FILES, is_of_office, is_shown, read_xml
from nbspam.mail.charset import choose_header_codec, decode_with
from nbspam.mail.message import MAX_NAMES, Document

MAX_MEMBERS = 1_000  # of a ZIP
MAX_MEMBER_NAME = 2_000  # bytes of the name of one
MAX_PIECE = 200_000  # bytes of a compressed piece that are read, and that it may inflate to
PIECE_COST = 5_000  # bytes that each piece counts at least, for a broken one takes time as well
_HEADER = b"PK\x03\x04"
_GUESS_BYTES = 10_000  # of names whose codec is guessed
_HEADER_SIZE = 30  # bytes, without name and extra field
_STORED, _DEFLATED = 0, 8
_UTF_8_FLAG = 1 << 11  # the name is in UTF-8
_UNICODE_PATH = b"up"  # an extra field: size, version, CRC-32 of the name in the header, name in UTF-8
_WORD = re.compile(rb"[A-Za-z\x80-\xff]++")
_RUSSIAN = bytes([*range(0x80, 0xB0), *range(0xE0, 0xF2), 0xFC])  # letters of cp866, and №
_FRAMES = re.compile(rb"[\xb0-\xdf]")  # lines and corners of cp437, which no file name has
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")  # single bytes of cp932; other text has many that look so
_NOT_ASCII = re.compile("[^\0-\x7f]+")
# Charsets of names that are too short for a guess: the rows of common characters; those of Latin letters.
_EAST_ASIAN_ROWS = (("cp932", range(0x81, 0x98)), ("big5", range(0xA1, 0xC7)))
_LATIN = ("cp437", "cp850", "cp852", "cp1252")
_WIDE_LETTERS = "\uff00"  # and after it; in cp932 two letters of Western Europe look so
_LATIN_SIGNS = dict.fromkeys(map(ord, "«»¿¡°")) | dict.fromkeys(map(ord, "ƒªº"), " ")  # signs, no letters
_AFTER_LATIN = "\u0250"
_OLE_MACROS = "_VBA_PROJECT".encode("utf-16-le")  # the name of a stream in the file
_OLE_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def inflate(packed: bytes) -> bytes:
    """Inflate the first bytes of raw deflate data (RFC 1951); b"" if it is broken."""
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed[:MAX_PIECE], MAX_PIECE)
    except zlib.error:
        return b""


def read_ole(payload: bytes, document: Document) -> None:
    """Mark what an old office file, or a new one that is encrypted, holds."""
    if _OLE_MACROS in payload:
        document.mark("macros")
    if _OLE_ENCRYPTED in payload:
        document.mark("encrypted")


def read_zip(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Note the members by their local headers: the central directory may be missing or lie."""
    members = _list_members(payload, allowance)
    is_office = any(name.lower() in OFFICE_FILES for name, _ in members)
    for name, at in members:
        name_lower = name.lower()
        is_encrypted = read_number(payload, at + 6, 1) & 1
        if is_encrypted:
            document.mark("encrypted")
        if name_lower.endswith("vbaproject.bin") or (is_office and name_lower.startswith("basic/")):
            document.mark("macros")
        if len(document.names) < MAX_NAMES and not (is_office and is_of_office(name_lower)):
            document.names.append(name)
        if is_office and not is_encrypted and is_shown(name_lower):
            read_xml(name_lower, _read_content(payload, at, allowance), document, allowance)


def _list_members(payload: bytes, allowance: Allowance) -> list[tuple[str, int]]:
    """The name of each file in the archive, and where its header begins."""
    members: list[tuple[bytes, str, int]] = []
    at = payload.find(_HEADER)
    while at >= 0 and len(members) < MAX_MEMBERS:
        end = at + _HEADER_SIZE + read_number(payload, at + 26, 2)
        name = payload[at + _HEADER_SIZE : end]
        members.append((name, _read_marked_name(payload, at, name), at))
        at = payload.find(_HEADER, end)
    codec = _guess_codec(b"\n".join([name for name, marked, _ in members if not marked]), allowance)
    return [((marked or decode_with(codec, name))[:MAX_MEMBER_NAME], at) for name, marked, at in members]


def _read_marked_name(payload: bytes, at: int, name: bytes) -> str:
    """The name in the header that begins there, if it is marked as UTF-8, else ""."""
    if read_number(payload, at + 6, 2) & _UTF_8_FLAG:
        return name.decode("utf-8", "replace")
    begin = at + _HEADER_SIZE + len(name)
    extra = payload[begin : begin + read_number(payload, at + 28, 2)]
    _, _, field = extra.partition(_UNICODE_PATH)
    if field and read_number(field, 3, 4) == zlib.crc32(name):
        return field[7 : 2 + read_number(field, 0, 2)].decode("utf-8", "replace")
    return ""


def _guess_codec(names: bytes, allowance: Allowance) -> str:
    """The codec of unmarked names: cp437 by the format, but programs write that of their system."""
    with suppress(UnicodeError):
        names.decode()
        return "utf-8"
    names = b"\n".join([name for name in names.split(b"\n") if not name.isascii()])
    if len(names) > _GUESS_BYTES:
        names = names[:_GUESS_BYTES].rpartition(b"\n")[0] or names[:_GUESS_BYTES]
    words = [word for word in _WORD.findall(names) if not word.isascii()]
    letters = b"".join(words)
    is_russian = not letters.translate(None, _RUSSIAN) and len(letters) >= 2 * len(words)
    if is_russian and _has_usual_case(names.decode("cp866")):
        return "cp866"
    for codec, rows in _EAST_ASIAN_ROWS:
        if _is_east_asian(names, codec, rows):
            return codec
    codec = choose_header_codec(names, "", allowance)
    if codec != "cp1252":
        return codec
    with suppress(UnicodeError):  # too short for a guess
        if _FRAMES.search(names) and not _HALF_WIDTH.search(names.decode("cp932")):
            return "cp932"
    fallback = "cp850" if _FRAMES.search(names) else "cp437"  # letters of Western Europe in their place
    return next((each for each in _LATIN if _is_latin(decode_with(each, names))), fallback)


def _is_east_asian(names: bytes, codec: str, rows: range) -> bool:
    """True if all characters beyond ASCII are common ones, two or more together, and no GB 2312."""
    try:
        runs = _NOT_ASCII.findall(names.decode(codec))
    except UnicodeError:
        return False
    characters = "".join(runs)
    pairs = [character.encode(codec) for character in characters]
    is_common = all(len(pair) == 2 and pair[0] in rows for pair in pairs)
    is_whole = max(characters, default="") < _WIDE_LETTERS and all(len(run) > 1 for run in runs)
    return is_common and is_whole and any(pair[1] < 0xA1 for pair in pairs)


def _is_latin(text: str) -> bool:
    """True if all characters beyond ASCII are letters of Europe, or quotes, in their place."""
    high = "".join(_NOT_ASCII.findall(text)).translate(_LATIN_SIGNS)
    return (not high or high.isalpha()) and max(high, default="") < _AFTER_LATIN and _has_usual_case(text)


def _has_usual_case(text: str) -> bool:
    """False if a capital follows a small letter, and one of them is not ASCII."""
    return not any(
        first.islower() and second.isupper()
        for first, second in pairwise(text)
        if not (first + second).isascii()
    )


def _read_content(payload: bytes, at: int, allowance: Allowance) -> bytes:
    """The first bytes of the member whose header begins there."""
    if allowance.document_bytes <= 0:
        return b""
    method = read_number(payload, at + 8, 2)
    begin = at + _HEADER_SIZE + read_number(payload, at + 26, 2) + read_number(payload, at + 28, 2)
    piece = b""
    if method == _DEFLATED:
        piece = inflate(payload[begin : begin + MAX_PIECE])
    elif method == _STORED:
        piece = payload[begin : begin + min(read_number(payload, at + 18, 4), MAX_PIECE)]
    allowance.document_bytes -= max(len(piece), PIECE_COST)
    return piece


def read_number(data: bytes, at: int, length: int) -> int:
    """The little-endian number of that many bytes; bytes beyond the end count as none."""
    return int.from_bytes(data[at : at + length], "little")
