"""Fonts of a PDF: the codes of a string to the characters that they show.

Hides where the characters are told: in a table of the font, by its encoding, or by the names of what it
draws.  A font that tells nothing, only which of its drawings to use, gives no text.
Source: ISO 32000-1, 9.6.6, 9.7.5.2 and 9.10; Adobe Technical Note 5014 (CMaps); Adobe Glyph List
Specification, 2 (names).
"""

from __future__ import annotations

import re
from itertools import islice

from nbspam.mail.pdf.filters import hexadecimal
from nbspam.mail.pdf.reader import PdfFile, as_number, number_behind, references

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.limits import Allowance

MAX_ARRAY = 20_000  # bytes
_EM = 1_000  # units of the size of most fonts
_CODES = 256  # of one byte
_MAX_WORDS = 2 * _CODES  # of a table of names: each code and its name
_MAX_RANGE = 256  # codes of a range: but for their last byte they are one, as the standard has it;
_MAX_LONG = 8  # ranges of a font may be of more, as viewers take them
_PAIR = re.compile(rb"<([^<>]*)>\s*<([^<>]*)>")
_RANGE = re.compile(rb"<([^<>]*)>\s*<([^<>]*)>\s*(?:<([^<>]*)>|\[([^][]*)\])")
_ARRAY_ITEM = re.compile(rb"[][]|[-+.\d]{1,20}")
_DIFFERENCES = re.compile(rb"/Differences\s*\[([^][]*)\]")
# Encodings of fonts that the viewer has, for languages of many characters.
_ENCODINGS = (
    (b"-UCS2-", "utf-16-be"),
    (b"-UTF16-", "utf-16-be"),
    (b"/GBK", "gb18030"),
    (b"/GB-EUC", "gb18030"),
    (b"-RKSJ-", "cp932"),
    (b"-B5-", "cp950"),
    (b"/KSC", "cp949"),
)
# Names of what a font draws, each with the character; letters are their own, and may have an accent behind.
_DRAWN = (
    "zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 period . comma , hyphen - colon : "
    "semicolon ; dollar $ percent % at @ slash / quoteright ' quotesingle ' parenleft ( parenright ) "
    "exclam ! question ? ampersand & Euro € sterling £ yen ¥ fi fi fl fl ff ff ffi ffi ffl ffl germandbls ß "
    "plus + underscore _ numbersign # asterisk * endash – emdash —"
)
_NAMES = dict(zip(_DRAWN.split()[::2], _DRAWN.split()[1::2], strict=True), space=" ")
_ACCENTS = {
    "grave": "\u0300",
    "acute": "\u0301",
    "circumflex": "\u0302",
    "tilde": "\u0303",
    "dieresis": "\u0308",
    "ring": "\u030a",
    "cedilla": "\u0327",
    "ogonek": "\u0328",
    "caron": "\u030c",
}


class Font:
    """What codes show, and how wide that is.

    code_bytes : of one code, 1 or 2
    encoding   : codec of codes that `shown` and `ranges` do not have, "" if there is none
    shown      : characters by code
    ranges     : of many codes, each with its first code, the one behind its last, and what the first shows
    widths     : by code, in sizes of the font
    width      : of all others
    height     : of what it draws, in sizes of the font
    """

    __slots__ = ("code_bytes", "encoding", "height", "ranges", "shown", "width", "widths")

    def __init__(self, code_bytes: int = 1, encoding: str = "cp1252") -> None:
        self.code_bytes = code_bytes
        self.encoding = encoding
        self.shown: dict[int, str] = {}
        self.ranges: list[tuple[int, int, str]] = []
        self.widths: dict[int, float] = {}
        self.width = 0.5
        self.height = 1.0

    def read(self, string: bytes) -> tuple[str, float]:
        """What a string of codes shows, and its width."""
        codes = [high << 8 | low for high, low in zip(string[::2], string[1::2], strict=False)]
        if self.code_bytes == 1:
            codes = list(string)
        width = sum([self.widths.get(code, self.width) for code in codes])
        if not self.shown:
            return (string.decode(self.encoding, "replace") if self.encoding else ""), width
        return "".join([self._character(code) for code in codes]), width

    def _character(self, code: int) -> str:
        known = self.shown.get(code)
        if known is not None:
            return known
        for begin, end, first in self.ranges:
            if begin <= code < end:
                return _following(first, code - begin)
        return code.to_bytes(self.code_bytes, "big").decode(self.encoding, "replace") if self.encoding else ""


def read_font(file: PdfFile, number: int) -> Font:
    """A font of the file, the number of whose object is known."""
    says = file.dictionary(number)
    font = Font()
    if b"/Type0" in says:
        font = Font(2, next((codec for name, codec in _ENCODINGS if name in says), ""))
    tables = references(says, b"/ToUnicode")
    if tables:
        _read_table(file.stream(tables[0]), font, file.allowance)
    elif font.code_bytes == 1:
        encodings = references(says, b"/Encoding")
        says_codes = file.dictionary(encodings[0]) if encodings else says
        if b"/MacRomanEncoding" in says_codes:
            font.encoding = "mac_roman"
        _read_differences(says_codes, font.shown)
    if b"/Type3" in says:
        _read_drawn(file, says, font)
    else:
        _read_widths(file, says, font)
    return font


def _read_table(table: bytes, font: Font, allowance: Allowance) -> None:
    """The characters of single codes, and of ranges of codes: one after the other, or listed."""
    found = list(islice(_codes(table, font), max(allowance.document_items, 0)))
    allowance.document_items -= len(found)
    font.shown.update(codes for codes in found if codes is not None)


def _codes(table: bytes, font: Font) -> Iterator[tuple[int, str] | None]:
    """Each code with what it shows; None for the beginning of a section, which counts as well."""
    for section in table.split(b"beginbf")[1:]:
        yield None
        content = section.partition(b"endbf")[0]
        if section.startswith(b"char"):
            for code, characters in _PAIR.findall(content):
                yield _code(code), _characters(characters)
        else:
            for found in _RANGE.findall(content):
                yield from _range(font, *found)


def _range(
    font: Font, first: bytes, last: bytes, characters: bytes, listed: bytes
) -> Iterator[tuple[int, str]]:
    """Each code from the first to the last with what it shows; a longer range is noted besides."""
    begin, end = _code(first), _code(last) + 1
    codes = range(begin, min(end, begin + _MAX_RANGE))
    known = _characters(characters)
    if known:
        if end > codes.stop and len(font.ranges) < _MAX_LONG:
            font.ranges.append((begin, end, known))
        for offset, code in enumerate(codes):
            yield code, _following(known, offset)
    else:
        each = listed.replace(b">", b" ").replace(b"<", b" ").split()
        yield from zip(codes, [_characters(one) for one in each], strict=False)


def _following(known: str, offset: int) -> str:
    """What so many codes behind the one of these characters is shown as: the last of them goes on."""
    return known[:-1] + chr(min(ord(known[-1]) + offset, 0x10FFFF))


def _read_widths(file: PdfFile, says: bytes, font: Font) -> None:
    """The list of a font of single bytes from its first code on; else lists behind codes, and one of ranges.

    A code and a list are those from that code on; two codes and a width are those of a range.
    """
    if font.code_bytes == 1:
        _note_widths(font, number_behind(says, b"/FirstChar"), _sizes(_array(file, says, b"/Widths")))
        return
    descendants = file.listed(says, b"/DescendantFonts")
    says = file.dictionary(descendants[0]) if descendants else b""
    font.width = (number_behind(says, b"/DW") or _EM) / _EM
    _note_lists(font, _array(file, says.replace(b"/W[", b"/W ["), b"/W "))


def _read_drawn(file: PdfFile, says: bytes, font: Font) -> None:
    """The widths of a font that a document draws itself, in units of its own, and its height.

    Its letters may be pictures of as many dots as a printer has.  Where its box is not told, two mean
    widths are a height.
    """
    unit, box, widths = [
        [as_number(word) for word in _array(file, says, key)]
        for key in (b"/FontMatrix", b"/FontBBox", b"/Widths")
    ]
    scale = abs(unit[0]) if unit else 0.001
    _note_widths(font, number_behind(says, b"/FirstChar"), [width * scale for width in widths])
    drawn = [width for width in widths if width]
    height = box[3] - box[1] if len(box) == 4 else 0.0
    font.height = min(abs(height or 2 * sum(drawn) / max(len(drawn), 1)) or _EM, _EM) * scale


def _array(file: PdfFile, says: bytes, key: bytes) -> list[bytes]:
    """Numbers and brackets of an array behind a key, which may be an object of its own."""
    behind = says.partition(key)[2][:MAX_ARRAY].lstrip()
    if not behind.startswith(b"["):
        numbers = references(says, key)
        behind = file.dictionary(numbers[0])[:MAX_ARRAY] if numbers else b""
    found: list[bytes] = []
    depth = 0
    for item in _ARRAY_ITEM.findall(behind)[: file.allowance.document_items]:
        depth += (item == b"[") - (item == b"]")
        if depth <= 0:
            break
        found.append(item)
    file.allowance.document_items -= len(found)
    return found[1:]


def _sizes(widths: list[bytes]) -> list[float]:
    return [as_number(width) / _EM for width in widths]


def _note_widths(font: Font, first: int, widths: list[float]) -> None:
    font.widths.update((first + place, width) for place, width in enumerate(widths))


def _note_lists(font: Font, items: list[bytes]) -> None:
    before: list[bytes] = []
    begin = -1  # of the list in which an item stands
    for item in items:
        if item == b"[":
            begin = len(before)
        elif item == b"]" and begin > 0:
            _note_widths(font, int(as_number(before[begin - 1])), _sizes(before[begin:]))
            before, begin = [], -1
        else:
            before.append(item)
        if begin < 0 and len(before) == 3:
            first, last, width = [as_number(word) for word in before]
            codes = range(int(first), min(int(last) + 1, int(first) + _MAX_RANGE))
            font.widths.update(dict.fromkeys(codes, width / _EM))
            before = []


def _code(digits: bytes) -> int:
    return int.from_bytes(hexadecimal(digits)[:4], "big")


def _characters(digits: bytes) -> str:
    return hexadecimal(digits)[:64].decode("utf-16-be", "replace")


def _read_differences(says: bytes, shown: dict[int, str]) -> None:
    """Names of drawings from the codes on that stand before them."""
    found = _DIFFERENCES.search(says)
    code = 0
    words = found[1][:MAX_ARRAY].replace(b"/", b" /").split(None, _MAX_WORDS) if found else []
    for word in words[:_MAX_WORDS]:
        if word.isdigit() and len(word) < 4:
            code = int(word)
        elif word.startswith(b"/") and code < _CODES:
            name = word[1:].decode("latin-1").partition(".")[0]  # behind it stands how they look
            shown[code] = "".join(map(_named, name.split("_")))
            code += 1


def _named(name: str) -> str:
    """The character of a part of a name, letters are their own; or the characters by their numbers."""
    if len(name) == 1:
        return name
    if name.startswith("uni") and len(name) % 4 == 3:
        return _characters(name[3:].encode("latin-1"))
    return _NAMES.get(name) or (name[0] + _ACCENTS[name[1:]] if name[1:] in _ACCENTS else "")
