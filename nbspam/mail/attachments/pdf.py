"""PDF: where it leads to, what it does when opened, who made it, and the text that its pages show.

Objects are found by their beginnings, as viewers do when the table of contents is wrong.  Text is read in
the order of the file; a word ends where the pen jumps.
Source: ISO 32000-1, 7.3 to 7.5 (objects), 9 (text), 12.6.4 (actions).
"""

from __future__ import annotations

import re
from base64 import a85decode
from bisect import bisect_right
from contextlib import suppress
from itertools import pairwise

from nbspam.limits import Allowance
from nbspam.mail.attachments.archive import MAX_PIECE, PIECE_COST, inflate
from nbspam.mail.message import MAX_DOCUMENT_TEXT, Document

MAX_OBJECTS = 10_000
MAX_PAGES = 64  # pages and forms
MAX_SAYS = 20_000  # bytes of a dictionary or array in which keys are looked up
MAX_TITLES = 20  # titles, authors and their like
MAX_RANGE = 256  # codes of one width
FONT_COST = 100  # items of a message that reading a font counts, for its dictionary is searched
_MARKS = ("Encrypt", "JavaScript", "OpenAction", "Launch", "SubmitForm", "AcroForm", "EmbeddedFile", "XFA")
_GAP = 0.2  # sizes of a font between two words
_FAR = complex(-1e9, -1e9)  # no string ends there, so the next one begins a word

# Two levels of parentheses inside a string; without its end it is all that follows, so the search is linear.
# The pieces of a string are bounded, and not possessive: Python 3.11.2 takes too much with `(?: | )*+`.
_INNER = rb"\((?:[^()]++|\([^()]*+\)){0,100}\)"
_STRING = rb"(\((?:[^()\\]++|\\.|" + _INNER + rb"){0,10000}\)?|<[0-9A-Fa-f\s]*+>)"
_NUMBER = re.compile(rb"[-+]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})")
# An image in a page (8.9.7): it has no length, so its end is an EI before text, as in viewers.
_IMAGE = rb"BI\s.*?(?:EI(?=\s)(?!.{0,4}[^\s -~])|\Z)"
_NAME_OR_OPERATOR = rb"/([^\s()<>\[\]{}/%]*+)|" + _IMAGE + rb"|%[^\r\n]*+|[A-Za-z'\"*]++"
_TOKEN = re.compile(_STRING + rb"|(" + _NUMBER.pattern + rb")|" + _NAME_OR_OPERATOR, re.DOTALL)
_STRING_OR_ESCAPE = re.compile(_STRING + rb"|#([0-9A-Fa-f]{2})", re.DOTALL)
_ADDRESSES = re.compile(rb"/(?:URI|F)\s*+" + _STRING, re.DOTALL)
_TITLES = re.compile(rb"/(?:Title|Author|Subject|Keywords|Creator|Producer)\s*+" + _STRING, re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\n": b"", b"\r": b"", b"\r\n": b""}
_OBJECT = re.compile(rb"(?<!\d)(\d{1,9})\s{1,9}\d{1,5}\s{1,9}obj")
_STREAM = re.compile(rb">>\s*+stream\r?\n?")
_REFERENCE = re.compile(rb"(\d{1,9})\s+\d{1,5}\s+R")
_STREAMS = re.compile(rb"/(?:Contents|ToUnicode)\s*+(\[[^]]*+|\d{1,9}\s+\d{1,5}\s+R)")
_FILTERS = re.compile(rb"/Filter\s*+(\[[^]]*+|/\w++)")
_FONT = re.compile(rb"/([^\s/<>\[\]()]++)\s+(\d{1,9})\s+\d{1,5}\s+R")
_WIDTHS = re.compile(rb"(\d{1,5}+)\s*+(?:\[([^]]*+)|(\d{1,5}+)\s++(\d{1,5}(?:\.\d*+)?))")
_CODE = rb"<([0-9A-Fa-f]{1,8})>\s*+"
_CHARACTER = re.compile(_CODE + rb"()<([^<>]{0,128}+)>()")  # the groups of _RANGE, two of them empty
_RANGE = re.compile(_CODE + _CODE + rb"(?:<([^<>]{0,128}+)>|\[([^][]*+)\])")


def read_pdf(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Fill the document; the strings of an encrypted file cannot be read, and its text is left out."""
    file = _File(payload, allowance)
    plain = b"\n".join(file.pieces)
    for name in _MARKS:
        if b"/" + name.encode() in plain:
            document.mark("encrypted" if name == "Encrypt" else name.lower())
    for string in [string for piece in file.pieces for string in _ADDRESSES.findall(piece)]:
        document.add_address(_decode_text(string))
    if "encrypted" not in document.marks:
        document.says += [_decode_text(string) for string in _TITLES.findall(plain)[:MAX_TITLES]]
        document.text = file.text()


class _File:
    """The objects of a file.

    pieces  : all bytes that are not in a stream, an object each or packed; names are decoded
    says    : the first bytes of the dictionary, array or string that an object is, by its number
    streams : the stream of an object as it is in the file, b"" if it has none
    """

    def __init__(self, payload: bytes, allowance: Allowance) -> None:
        self.allowance = allowance
        self.pieces: list[bytes] = []
        self.says: dict[int, bytes] = {}
        self.streams: dict[int, bytes] = {}
        self._fonts: dict[int, _Font] = {}
        _, *objects = _OBJECT.split(payload, MAX_OBJECTS)
        for number, content in zip(map(int, objects[::2]), objects[1::2], strict=True):
            said, *rest = _STREAM.split(content, 1)
            self.streams[number], _, trailer = b"".join(rest).partition(b"endstream")
            self._add(number, said + trailer)
            if b"/ObjStm" in self.says[number]:
                self._add_packed(self.stream(number), int(self.number(self.says[number], b"First")))

    def _add(self, number: int, said: bytes) -> None:
        self.pieces.append(_decode_names(said))
        self.says[number] = self.pieces[-1][:MAX_SAYS]

    def _add_packed(self, data: bytes, first: int) -> None:
        """Objects in a stream: pairs of number and place, then the objects from `first` on."""
        most = max(2 * MAX_OBJECTS - len(self.pieces), 0)
        numbers = [int(word) for word in data[:first].split()[:most] if word.isdigit() and len(word) < 10]
        begins = sorted(zip(numbers[1::2], numbers[::2], strict=False))
        for (place, number), (end, _) in pairwise([*begins, (len(data), 0)]):
            self._add(number, data[first + place : first + end])

    def stream(self, number: int) -> bytes:
        """The first bytes of a stream; still encoded if text seldom has its filter."""
        data = self.streams.get(number, b"")[:MAX_PIECE] if self.allowance.document_bytes > 0 else b""
        filters = _FILTERS.search(self.says.get(number, b""))
        for name in filters[1].strip(b"[/ ").replace(b"/", b" ").split()[:2] if filters else ():
            if name == b"FlateDecode":
                data = inflate(data.lstrip()[2:])  # after the header of zlib
            elif name == b"ASCIIHexDecode":
                data = _decode_bytes(b"<" + data.partition(b">")[0])
            elif name == b"ASCII85Decode":
                with suppress(ValueError):
                    data = a85decode(data.partition(b"~")[0], ignorechars=b" \t\r\n\0\f")
        self.allowance.document_bytes -= max(len(data), PIECE_COST)
        return data

    def value(self, says: bytes, key: bytes) -> bytes:
        """What follows a key, or the object that it refers to; the value is its beginning."""
        match = re.search(rb"/" + key + rb"(?![A-Za-z0-9])\s*+", says)
        value = says[match.end() :] if match else b""
        for _ in range(2):  # an array of one reference may be an object, too
            if reference := _REFERENCE.match(value.lstrip(b"[ \r\n")):
                value = self.says.get(int(reference[1]), b"").lstrip()
        return value

    def number(self, says: bytes, key: bytes) -> float:
        """The number after a key, or the first one of an array; 0 without a number."""
        match = _NUMBER.search(self.value(says, key)[:100])
        return float(match[0]) if match else 0.0

    def content(self, says: bytes) -> bytes:
        """What a page draws, or the table of a font to Unicode, from one stream or several."""
        match = _STREAMS.search(says)
        numbers = [int(number) for number in _REFERENCE.findall(match[1])] if match else []
        return b"\n".join([self.stream(number) for number in numbers])[:MAX_PIECE]

    def text(self) -> str:
        """What the pages show, then the forms that are drawn on them; about MAX_DOCUMENT_TEXT characters."""
        writer = _Writer(self)
        pages = [n for n, says in self.says.items() if b"/Page" in says and b"/Contents" in says]
        forms = [n for n, says in self.says.items() if b"/Form" in says and b"/BBox" in says]
        for number in (pages + forms)[:MAX_PAGES]:
            says = self.says[number]
            writer.write(self.stream(number) or self.content(says), self._fonts_of(says))
        return "".join(writer.shown)[:MAX_DOCUMENT_TEXT]

    def _fonts_of(self, says: bytes) -> dict[bytes, _Font]:
        """The fonts of a page or form by the names they have there; a page inherits those of its parents."""
        fonts = b""
        for _ in range(5):
            fonts = fonts or self.value(self.value(says, b"Resources"), b"Font").partition(b">>")[0]
            says = self.value(says, b"Parent")
        named = {name: int(number) for name, number in _FONT.findall(fonts)}
        for number in named.values():
            if number not in self._fonts and self.allowance.document_items > 0:
                self._fonts[number] = _Font(self, self.says.get(number, b""))
        return {name: self._fonts[number] for name, number in named.items() if number in self._fonts}


class _Font:
    """What the codes of a font show, and how wide that is in thousandths of the size of the font.

    em       : how wide its widest character may be
    ranges   : first code, last code and the UTF-16 of the first; sorted
    encoding : of codes of one byte if there are no ranges
    """

    def __init__(self, file: _File, says: bytes) -> None:
        self.code_bytes = 2 if b"/Type0" in says else 1
        self.ranges = sorted(_read_ranges(file.content(says), file.allowance))
        self.encoding = "mac_roman" if b"/MacRomanEncoding" in says else "cp1252"
        unit = 1000 * file.number(says, b"FontMatrix") or 1.0  # fonts of Type 3 have their own (9.6.5)
        descendant = file.value(says, b"DescendantFonts")
        self.width = file.number(descendant, b"DW") or 500
        self.widths: dict[int, float] = {}
        single = b"%d %s" % (file.number(says, b"FirstChar"), file.value(says, b"Widths").partition(b"]")[0])
        for first, listed, last, width in _WIDTHS.findall(file.value(descendant, b"W") or single):
            codes = min(int(last or 0) + 1 - int(first), MAX_RANGE)
            widths = [unit * float(each) for each in _NUMBER.findall(listed) or [width or 0] * codes]
            self.widths.update(enumerate(widths, int(first)))
            file.allowance.document_items -= 1 + len(widths) // 8
        self.em = 1000.0 if unit == 1.0 else max([1000.0, *self.widths.values()])

    def character(self, code: int) -> str:
        """What a code shows; "" if the font does not say."""
        if self.code_bytes == 1 and not self.ranges:
            return bytes([code]).decode(self.encoding, "replace")
        place = bisect_right(self.ranges, (code, 1 << 32, b""))
        first, last, target = self.ranges[place - 1] if place else (0, -1, b"")
        number = int.from_bytes(target, "big") + code - first
        shown = number.to_bytes(len(target) + 4, "big")[4:].decode("utf-16-be", "replace")
        return shown if code <= last else ""


def _read_ranges(table: bytes, allowance: Allowance) -> list[tuple[int, int, bytes]]:
    """The ranges of codes in a ToUnicode table; a single code is a range as well."""
    mapped: list[tuple[int, int, bytes]] = []
    for section in table.split(b"beginbf")[1:]:
        entries = _RANGE if section.startswith(b"range") else _CHARACTER
        for first, last, target, listed in entries.findall(section):
            begin, end = int(first, 16), int(last or first, 16)
            single = enumerate(listed.split(b"<")[1:], begin)
            each = [(code, code, _decode_bytes(to[:128])) for code, to in single]
            mapped += each or [(begin, end, _decode_bytes(target))]
    allowance.document_items -= len(mapped) + FONT_COST
    return mapped


class _Writer:
    """A pen that goes over pages and writes what they show.

    Places on a page are complex numbers.
    pen, line, end : where it is, where the line begins, where the last string ended
    unit           : a step of 1 along the line, scaled and turned
    """

    def __init__(self, file: _File) -> None:
        self.shown: list[str] = []
        self._allowance = file.allowance
        self._plain = _Font(file, b"")  # of text whose font is not known

    def write(self, content: bytes, fonts: dict[bytes, _Font]) -> None:
        """Run the operators of a page."""
        self._font = self._plain
        self._size = 1.0
        self._unit = 1 + 0j
        self._pen = self._line = 0j
        self._end = _FAR
        operands: list[bytes | float] = []
        for match in _TOKEN.finditer(content):
            if self._allowance.document_items <= 0 or len(self.shown) >= MAX_DOCUMENT_TEXT:
                break
            self._allowance.document_items -= 1
            string, number, name = match.groups()
            if string or number:
                operands.append(_decode_bytes(string) if string else float(number))
            elif name is not None:
                self._font = fonts.get(_decode_names(name), self._font)  # only Tf takes names of fonts
            else:
                self._run(match[0], operands)
                operands = []

    def _run(self, operator: bytes, operands: list[bytes | float]) -> None:
        if operator in (b"T*", b"'", b'"'):
            self._end = _FAR
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            for each in operands:
                if isinstance(each, bytes):
                    self._show(each)
                else:
                    self._pen -= each / 1000 * self._size * self._unit
            return
        numbers = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0] + [each for each in operands if isinstance(each, float)]
        if operator == b"Tf":
            self._size = numbers[-1]
        elif operator in (b"BT", b"Tm"):
            self._unit = complex(*numbers[-6:-4])
            self._pen = self._line = complex(*numbers[-2:])
        elif operator in (b"Td", b"TD"):
            self._pen = self._line = self._line + complex(*numbers[-2:]) * self._unit

    def _show(self, string: bytes) -> None:
        font = self._font
        if abs(self._pen - self._end) > _GAP * font.em / 1000 * abs(self._size * self._unit):
            self.shown.append(" ")
        size = font.code_bytes
        codes = [int.from_bytes(string[at : at + size], "big") for at in range(0, len(string), size)]
        self._allowance.document_items -= len(codes)
        self.shown += map(font.character, codes)
        width = sum([font.widths.get(code, font.width) for code in codes])
        self._pen = self._end = self._pen + width / 1000 * self._size * self._unit


def _decode_text(string: bytes) -> str:
    """A string of a dictionary: UTF-16 with its mark or, near enough, Latin-1."""
    text = _decode_bytes(string)
    return text[2:].decode("utf-16-be", "replace") if text[:2] == b"\xfe\xff" else text.decode("latin-1")


def _decode_bytes(string: bytes) -> bytes:
    """The bytes of a string as it is written: in parentheses, or hexadecimal digits; b"" if it is wrong."""
    if string[:1] == b"(":
        return _ESCAPE.sub(_unescape, string[1:-1])
    digits = b"".join(string.split()).strip(b"<>").decode("latin-1")
    with suppress(ValueError):
        return bytes.fromhex(digits + "0" * (len(digits) % 2))  # 7.3.4.3: the last digit may be missing
    return b""


def _decode_names(says: bytes) -> bytes:
    """The same with names as they are meant: without characters that are written as #XX (7.3.5)."""
    return _STRING_OR_ESCAPE.sub(_unescape_name, says) if b"#" in says else says


def _unescape_name(match: re.Match[bytes]) -> bytes:
    """The character, unless it would end the name; a string stays as it is."""
    return bytes.fromhex((match[2] or b"").decode()).strip(b" ()<>[]{}/%\0\t\n\f\r") or match[0]


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if code[0] in b"01234567" else _ESCAPES.get(code, code)
