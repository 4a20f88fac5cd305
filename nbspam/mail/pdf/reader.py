"""PDF: its objects, where they lead to, what it says of itself, what it does when it is opened.

Hides where objects stand: in the open or packed, the later of two with one number in place of the earlier,
found by their beginnings as viewers do when the table of contents is wrong.  What a page shows is read by
nbspam.mail.pdf.pages.
Source: ISO 32000-1, 7.3 (names: 7.3.5), 7.5.7 and 12.6.4.7.
"""

from __future__ import annotations

import re
from functools import lru_cache

from nbspam.mail.packed import MAX_PIECE
from nbspam.mail.pdf.filters import MAX_FILTERS, hexadecimal, unfiltered
from nbspam.mail.pdf.objects import STRING, behind_gap, parted, value_behind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

MAX_OBJECTS = 10_000
MAX_STRING = 2_000  # bytes of one
_KEPT_NAMES = 256  # files have few, and have them often
_MAX_KEPT = 64  # bytes of one that is kept from one file to the next
_MAX_NUMBERS = 24  # bytes before "obj" in which its two numbers stand
_STRING_OR_NAME = re.compile(STRING + rb"|/[A-Za-z0-9]*#[A-Za-z0-9#]+", re.DOTALL)
_STREAM = re.compile(rb">>[\s\0]*+stream\b")
_NUMBER = re.compile(rb"#([0-9A-Fa-f]{2})")
_NO_LETTERS = b" \t\r\n\0\f()<>[]{}/%"
_FILTER = re.compile(rb"/([^\s\0()<>\[\]{}/%]++)|(\d{1,9})\s++\d{1,5}\s++R")
_NAMES_OR_REFERENCES = re.compile(rb"\[[^\]]*+|" + _FILTER.pattern)
# What a PDF says of itself, and what it can do.
_SAYS = (b"/Title", b"/Author", b"/Subject", b"/Keywords", b"/Creator", b"/Producer")
_DOES = (b"/JavaScript", b"/OpenAction", b"/Launch", b"/SubmitForm", b"/EmbeddedFile", b"/XFA")
_ESCAPES = {ord("n"): b"\n", ord("r"): b"\r", ord("t"): b"\t", ord("b"): b"\b", ord("f"): b"\f"}


def read_pdf(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Fills the document with what is in the file; of an encrypted one, little but that it is."""
    payload = _with_plain_names(payload)
    if b"/Encrypt" in payload:
        document.mark("encrypted")  # or pretends to be: what can be read is no secret
    file = PdfFile(payload, allowance)
    pieces = [payload, *file.packed]
    for piece in pieces:
        for mark in _DOES:
            if mark in piece:
                document.mark(mark[1:].decode().lower())
        for address in _strings(file, piece, b"/URI"):
            document.leads_to(address)
    for piece in pieces:  # behind all addresses, for a table of contents has many titles
        for key in _SAYS if "encrypted" not in document.marks else ():
            document.says += _strings(file, piece, key)
    if any(b"/Contents" in piece for piece in pieces):
        from nbspam.mail.pdf.pages import shown

        document.text = shown(file, allowance)
    if any(b"/Image" in piece for piece in pieces):
        from nbspam.mail.pdf.pictures import read_pictures

        read_pictures(file, document, allowance)


class PdfFile:
    """The objects of a file by number, each as bytes from behind "obj", with what follows a stream.

    packed : the pieces that hold more objects
    """

    __slots__ = ("_says", "_streams", "allowance", "objects", "packed")

    def __init__(self, payload: bytes, allowance: Allowance) -> None:
        self.allowance = allowance
        self.objects: dict[int, bytes] = {}
        self.packed: list[bytes] = []
        self._says: dict[int, bytes] = {}
        self._streams: dict[int, bytes] = {}
        number, begin = -1, 0
        pieces: list[tuple[int, bytes]] = []
        for at in _beginnings(payload):
            numbers = payload[max(at - _MAX_NUMBERS, 0) : at].split()
            pieces.append((number, payload[begin:at]))
            number, begin = int(numbers[-2]), at + 3
        pieces = [*pieces, (number, payload[begin:])][1:]
        self.objects = dict(pieces)  # how one is packed may be told by another, wherever that stands
        opened = [self._opened(content) for _, content in pieces]
        self.objects = {}
        self._says.clear()
        for (number, content), objects in zip(pieces, opened, strict=True):
            self.objects[number] = content
            if objects is not None:
                self.packed.append(_with_plain_names(objects[0]))
                self._add_packed(*objects)

    def _opened(self, content: bytes) -> tuple[bytes, int] | None:
        """The piece that holds more objects, and where the first begins; None if it holds none."""
        says = parted(content)[0] if b"/ObjStm" in content else b""
        return (self._unpacked(content), number_behind(says, b"/First")) if b"/ObjStm" in says else None

    def _add_packed(self, piece: bytes, first: int) -> None:
        """The objects of a piece; pairs of a number and a place stand before the first of them."""
        if len(self.objects) >= MAX_OBJECTS:
            return
        pairs = piece[:first].split()[: 2 * MAX_OBJECTS]
        places = [int(text) for text in pairs if text.isdigit() and len(text) < 10]
        begins = sorted(
            (first + place, number) for number, place in zip(places[::2], places[1::2], strict=False)
        )
        ends = [begin for begin, _ in begins[1:]]
        for (begin, number), end in zip(begins, [*ends, len(piece)], strict=False):
            self.objects[number] = _with_plain_names(piece[begin:end])

    def dictionary(self, number: int) -> bytes:
        """What an object says of itself, without its strings, remarks and stream."""
        if number not in self._says:
            self._says[number] = parted(self.objects.get(number, b""))[0]
        return self._says[number]

    def listed(self, says: bytes, key: bytes) -> list[int]:
        """The objects behind a key; the list of them may be an object of its own."""
        found = references(b"/" + value_behind(says, key), b"/") or references(says, key)
        content = self.dictionary(found[0]).lstrip() if len(found) == 1 else b""
        return references(b"/" + content, b"/") if content.startswith(b"[") else found

    def stream(self, number: int) -> bytes:
        """The stream of an object, unpacked; nothing if it is packed in a way that text is not."""
        if number not in self._streams:
            self._streams[number] = self._unpacked(self.objects.get(number, b""))
        return self._streams[number]

    def samples(self, number: int, most: int) -> bytes:
        """The stream of a picture, unpacked, to so many bytes."""
        return self._unpacked(self.objects[number], most)

    def _unpacked(self, content: bytes, most: int = MAX_PIECE) -> bytes:
        if self.allowance.unpacked_pieces <= 0:
            return b""
        says, data = parted(content)
        names = self._filters(value_behind(says, b"/Filter"))
        return unfiltered(data, names, self._parameters(says), self.allowance, most)

    def _parameters(self, says: bytes) -> bytes:
        """What is said of the filters of a stream: a dictionary or a list of them, perhaps an object."""
        value = value_behind(says, b"/DecodeParms")[:MAX_STRING]
        for number in references(b"/" + value, b"/")[:1]:
            value = self.dictionary(number)[:MAX_STRING]
        return value.partition(b"]" if value[:1] == b"[" else b">>")[0]

    def _filters(self, value: bytes, deeper: int = 2) -> list[bytes]:
        """The names of the filters of a stream: one, or a list; both may be objects of their own."""
        found = _NAMES_OR_REFERENCES.match(value[:MAX_STRING])
        names: list[bytes] = []
        for name, number in _FILTER.findall(found[0])[: MAX_FILTERS + 1] if found else ():
            if not number:
                names.append(name)
            elif deeper:
                names += self._filters(self.dictionary(int(number)).lstrip(), deeper - 1)
        return names


def _with_plain_names(data: bytes) -> bytes:
    """The same, but for streams, with letters of names that are written by numbers: /J#53 is /JS."""
    if b"#" not in data:
        return data
    found: list[bytes] = []
    for piece in data.split(b"endstream"):
        begin = _STREAM.search(piece)
        end = begin.start() if begin else len(piece)
        found.append(_STRING_OR_NAME.sub(_plain, piece[:end]) + piece[end:])
    return b"endstream".join(found)


def _plain(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text[:1] == b"(":
        return text
    return _plain_name(text) if len(text) > _MAX_KEPT else _short_plain_name(text)


def _plain_name(name: bytes) -> bytes:
    return _NUMBER.sub(_plain_letter, name)


def _plain_letter(number: re.Match[bytes]) -> bytes:
    """What is no letter, as a parenthesis, stays as it is written: else it would end the name."""
    letter = bytes.fromhex(number[1].decode("ascii"))
    return number[0] if letter in _NO_LETTERS else letter


_short_plain_name = lru_cache(_KEPT_NAMES)(_plain_name)


def _beginnings(payload: bytes) -> list[int]:
    """Where "obj" stands behind two numbers."""
    found: list[int] = []
    at = payload.find(b"obj")
    while at >= 0 and len(found) < MAX_OBJECTS:
        numbers = payload[max(at - _MAX_NUMBERS, 0) : at].split()
        if len(numbers) > 1 and (numbers[-1] + numbers[-2]).isdigit():
            found.append(at)
        at = payload.find(b"obj", at + 3)
    return found


def references(says: bytes, key: bytes) -> list[int]:
    """The numbers of the objects that stand behind a key as "7 0 R" or "[7 0 R 8 0 R]"; none if none do."""
    value = says.partition(key)[2][:MAX_STRING].lstrip()
    if value[:1] == b"[":
        value = value[1:].partition(b"]")[0]
    else:
        number, mark, _ = value[:_MAX_NUMBERS].partition(b"R")
        value = number + mark if number[:1].isdigit() else b""
    words = value.replace(b"R", b" R ").split()
    return [
        int(number)
        for number, _, mark in zip(words, words[1:], words[2:], strict=False)
        if mark == b"R" and number.isdigit()
    ]


def number_behind(data: bytes, key: bytes) -> int:
    """The number that stands behind a key; 0 if none does."""
    words = data.partition(key)[2][:_MAX_NUMBERS].replace(b"/", b" ").replace(b">", b" ").split()
    return int(words[0]) if words and words[0].isdigit() else 0


def _strings(file: PdfFile, data: bytes, key: bytes) -> list[str]:
    """The strings that stand behind a key, or in an object to which it refers."""
    found: list[str] = []
    at = data.find(key)
    while at >= 0 and file.allowance.document_strings > 0:
        value = behind_gap(data[at + len(key) : at + MAX_STRING])
        file.allowance.document_strings -= 1
        for number in references(b"/" + value, b"/")[:1] if value[:1].isdigit() else ():
            value = behind_gap(file.objects.get(number, b"")[:MAX_STRING])
        if value[:1] == b"(":
            found.append(_text(literal(value)))
        elif value[:1] == b"<":  # a dictionary, too, has no digits
            found.append(_text(hexadecimal(value[1:].partition(b">")[0])))
        at = data.find(key, at + len(key))
    return found


def literal(value: bytes) -> bytes:
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


def _text(string: bytes) -> str:
    """A string of a PDF: UTF-16 or UTF-8 with its mark, else near enough Latin-1."""
    if string[:2] == b"\xfe\xff":
        return string[2:].decode("utf-16-be", "replace")
    if string[:3] == b"\xef\xbb\xbf":
        return string[3:].decode("utf-8", "replace")
    return string.decode("latin-1")


def as_number(word: bytes) -> float:
    """A number as it is written; 0 if it is none."""
    try:
        return float(word)
    except ValueError:
        return 0.0
