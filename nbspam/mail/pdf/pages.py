"""Pages of a PDF: the text that they show, in the order in which it is drawn.

Hides what a page is: operators that move a pen and draw strings of codes.  Where the pen goes to another
line, or leaves a gap in one, a word ends; a hyphen at the end of a line joins two.
Source: ISO 32000-1, 8.3, 8.4.4, 9.3 and 9.4.
"""

from __future__ import annotations

import re
from math import hypot

from nbspam.mail.charset import with_halves_joined
from nbspam.mail.message import MAX_TEXT
from nbspam.mail.pdf.filters import hexadecimal
from nbspam.mail.pdf.fonts import Font, read_font
from nbspam.mail.pdf.objects import STRING
from nbspam.mail.pdf.reader import PdfFile, as_number, literal, references

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

MAX_PAGES = 50  # of a document, and as many forms
MAX_DRAWN = 1_000_000  # bytes that draw; pages may share them, so there can be far more than in the file
SMALLEST = 1.0  # size of a font, in units of 1/72 inch, that a reader sees
MAX_FONTS = 100  # of a document
_GAP = -150.0  # thousandths of the size of a font by which a word ends; TeX has no other space
_GUESS = 0.25  # of a guessed width that it may be wrong by
_SPACE = 0.15  # sizes of a font by which a word ends, where the next string is put there
_PICTURE_ENDS = re.compile(rb"EI\s")
_Matrix = tuple[float, float, float, float, float, float]
_UNMOVED: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_ITEM = re.compile(
    STRING + rb"|<[0-9A-Fa-f\s]*+>"
    rb"|/[^\s()<>\[\]{}/%]*+"
    rb"|[-+.0-9]++"
    rb"|[A-Za-z'\"*]++"
    rb"|%[^\r\n]*+",  # a remark
    re.DOTALL,
)
_FONT_NAME = re.compile(rb"/([^\s/<>\[\]()]+)\s+(\d{1,9})\s+\d+\s+R")


def shown(file: PdfFile, allowance: Allowance) -> str:
    """The text of the pages in the order of the file, and of forms; at most about MAX_TEXT characters."""
    writer = _Writer(_Fonts(file), allowance)
    pages: list[tuple[bytes, list[int]]] = []
    forms: list[tuple[bytes, list[int]]] = []
    for place in file.objects:
        says = file.dictionary(place)
        if b"/Contents" in says and b"/Page" in says and len(pages) < MAX_PAGES:
            pages.append((says, file.listed(says, b"/Contents")))
        elif b"/Form" in says and b"/BBox" in says and len(forms) < MAX_PAGES:
            forms.append((says, [place]))
    room = MAX_DRAWN
    for says, contents in pages + forms:
        drawn: list[bytes] = []
        for content in contents:
            if writer.length < MAX_TEXT and room > 0:
                drawn.append(file.stream(content))
                room -= len(drawn[-1]) + 1  # and a line end between two
        writer.read(says, b"\n".join(drawn))
    return with_halves_joined("".join(writer.found).replace("-\n", ""))


class _Fonts:
    """The fonts of a file, each read once, by the names that they have on a page."""

    __slots__ = ("_anywhere", "_file", "_names", "_read")

    def __init__(self, file: PdfFile) -> None:
        self._file = file
        self._read: dict[int, Font] = {}
        self._names: dict[bytes, bytes] = {}
        self._anywhere: dict[bytes, bytes] | None = None

    def turn_to(self, page: bytes) -> None:
        """Goes to another page, or to a form."""
        resources = references(page, b"/Resources")
        scope = self._file.dictionary(resources[0]) if resources else page
        listed = references(scope, b"/Font")
        here = scope.partition(b"/Font")[2].partition(b">>")[0]
        scope = self._file.dictionary(listed[0]) if listed else here
        self._names = dict(_FONT_NAME.findall(scope)) or self._names_anywhere()

    def _names_anywhere(self) -> dict[bytes, bytes]:
        """Those of all pages: a page may have inherited them."""
        if self._anywhere is None:
            says = [self._file.dictionary(place) for place in reversed(self._file.objects)]
            fonts = [piece for each in says if b"/Font" in each for piece in _FONT_NAME.findall(each)]
            self._anywhere = dict(fonts)
        return self._anywhere

    def named(self, name: bytes) -> Font:
        """The font of that name; one that every viewer has, where nothing is said of it."""
        place = int(self._names.get(name, b"-1"))
        if place not in self._read:
            if len(self._read) >= MAX_FONTS:
                return Font()
            self._read[place] = read_font(self._file, place)
        return self._read[place]


class _Writer:
    """A pen that moves over pages.

    found, length : what it has written, and how many characters that is

    The matrices are those of the standard: of the text and of the page, six numbers each.
    """

    __slots__ = (
        "_allowance",
        "_at",
        "_between_characters",
        "_between_words",
        "_end",
        "_font",
        "_fonts",
        "_leading",
        "_page",
        "_saved",
        "_size",
        "_space",
        "_stretch",
        "_text",
        "found",
        "length",
    )

    def __init__(self, fonts: _Fonts, allowance: Allowance) -> None:
        self._fonts = fonts
        self._allowance = allowance
        self.found: list[str] = []
        self.length = 0
        self._begin_page()

    def _begin_page(self) -> None:
        """Puts the pen where every page has it at first: nothing is left of what another page set."""
        self._font = Font()
        self._size = 1.0
        self._leading = self._between_characters = self._between_words = 0.0
        self._stretch = 1.0
        self._text = self._page = _UNMOVED
        self._saved: list[tuple[_Matrix, Font, float, float, float, float, float]] = []
        self._at = (0.0, 0.0)  # where the last string was drawn, in the units of the page,
        self._end = (0.0, 0.0)  # where it ended,
        self._space = 0.0  # and how much farther it may have ended

    def read(self, page: bytes, content: bytes) -> None:
        """Writes what a page or a form shows."""
        self._fonts.turn_to(page)
        self._begin_page()
        self._write(" ")
        operands: list[bytes] = []
        at = 0
        while self.length < MAX_TEXT and self._allowance.document_items > 0:
            item = _ITEM.search(content, at)
            if item is None:
                return
            self._allowance.document_items -= 1
            at = item.end()
            word = item[0]
            if word[:1] in b"(</+-.0123456789":
                operands.append(word)
                continue
            if word[:1] == b"%":
                continue
            if word == b"ID":  # behind it stand the bytes of a picture
                end = _PICTURE_ENDS.search(content, at)
                if end is None:
                    return
                at = end.end()
            elif word in _OPERATORS:
                _OPERATORS[word](self, operands)
            operands = []

    def _write(self, text: str) -> None:
        self.found.append(text)
        self.length += len(text)

    def _save(self, _: list[bytes]) -> None:
        style = self._font, self._size, self._leading, self._between_characters, self._between_words
        self._saved.append((self._page, *style, self._stretch))

    def _restore(self, _: list[bytes]) -> None:
        if self._saved:
            self._page, self._font, self._size, self._leading, *spaces = self._saved.pop()
            self._between_characters, self._between_words, self._stretch = spaces

    def _transform(self, operands: list[bytes]) -> None:
        self._page = _times(_matrix(operands), self._page)

    def _begin_text(self, _: list[bytes]) -> None:
        self._text = _UNMOVED

    def _place(self, operands: list[bytes]) -> None:
        self._text = _matrix(operands)

    def _move(self, operands: list[bytes]) -> None:
        self._text = _times(_matrix([b"1", b"0", b"0", b"1", *operands]), self._text)

    def _move_and_lead(self, operands: list[bytes]) -> None:
        self._leading = -_last(operands)
        self._move(operands)

    def _lead(self, operands: list[bytes]) -> None:
        self._leading = _last(operands)

    def _next_line(self, _: list[bytes]) -> None:
        self._text = _times((1.0, 0.0, 0.0, 1.0, 0.0, -self._leading), self._text)

    def _space_characters(self, operands: list[bytes]) -> None:
        self._between_characters = _last(operands)

    def _space_words(self, operands: list[bytes]) -> None:
        self._between_words = _last(operands)

    def _stretch_characters(self, operands: list[bytes]) -> None:
        self._stretch = _last(operands) / 100

    def _choose_font(self, operands: list[bytes]) -> None:
        if len(operands) > 1:
            self._font = self._fonts.named(operands[-2][1:])
            self._size = as_number(operands[-1])

    def _show_on_next_line(self, operands: list[bytes]) -> None:
        self._next_line(operands)
        self._show(operands[-1:])

    def _show(self, operands: list[bytes]) -> None:
        """Draws strings; numbers between them move the pen."""
        matrix = _times(self._text, self._page)
        scale = hypot(matrix[0], matrix[1])
        size = abs(self._size) * scale * self._font.height
        if not size * _shrunk(matrix, scale, self._stretch) >= SMALLEST:  # or is no number
            return
        found, width = "", 0.0
        for operand in operands:
            if operand[:1] in b"(<":
                string = _string(operand)
                text, advance = self._font.read(string)
                found += text
                width += advance * self._size + self._spaced(string)
            else:
                kerning = as_number(operand)
                width -= kerning / 1000 * self._size
                found += " " * (kerning < _GAP)
        self._write(self._between(matrix, size) + found)
        width *= self._stretch
        self._end = self._end[0] + width * matrix[0], self._end[1] + width * matrix[1]
        if not self._font.widths:  # guessed, so only a larger gap is one
            self._space += abs(width) * scale * _GUESS

    def _spaced(self, string: bytes) -> float:
        """What is added behind its characters, and behind its spaces."""
        characters = len(string) // self._font.code_bytes
        spaces = string.count(b" ") if self._font.code_bytes == 1 else 0
        return characters * self._between_characters + spaces * self._between_words

    def _between(self, matrix: _Matrix, size: float) -> str:
        """What stands between the last string and one that is drawn here, in whichever direction."""
        place = matrix[4], matrix[5]
        if place == self._at:
            return ""
        forth, up = (-matrix[0], -matrix[1]) if self._size < 0 else matrix[:2]
        scale = hypot(forth, up)
        forth, up = forth / scale, up / scale
        back = (self._at[0] - place[0]) * forth + (self._at[1] - place[1]) * up
        x, y = place[0] - self._end[0], place[1] - self._end[1]
        line_is_another = abs(y * forth - x * up) > size / 2 or back > size
        gap = x * forth + y * up > size * _SPACE + self._space
        self._at = self._end = place
        self._space = 0.0
        return "\n" if line_is_another else " " if gap else ""


_OPERATORS = {
    b"q": _Writer._save,
    b"Q": _Writer._restore,
    b"cm": _Writer._transform,
    b"BT": _Writer._begin_text,
    b"Tm": _Writer._place,
    b"Td": _Writer._move,
    b"TD": _Writer._move_and_lead,
    b"TL": _Writer._lead,
    b"T*": _Writer._next_line,
    b"Tc": _Writer._space_characters,
    b"Tw": _Writer._space_words,
    b"Tz": _Writer._stretch_characters,
    b"Tf": _Writer._choose_font,
    b"Tj": _Writer._show,
    b"TJ": _Writer._show,
    b"'": _Writer._show_on_next_line,
    b'"': _Writer._show_on_next_line,
}


def _string(written: bytes) -> bytes:
    inner = written[1:-1]
    if written[:1] == b"<":
        return hexadecimal(inner)
    return literal(written) if b"\\" in inner else inner


def _last(operands: list[bytes]) -> float:
    return as_number(operands[-1]) if operands else 0.0


def _matrix(operands: list[bytes]) -> _Matrix:
    if len(operands) < 6:
        return _UNMOVED
    a, b, c, d, e, f = [as_number(word) for word in operands[-6:]]
    return a, b, c, d, e, f


def _shrunk(matrix: _Matrix, scale: float, stretch: float) -> float:
    """How much of their size letters have in the direction in which they have less of it.

    They may be flattened to a line, or narrowed to a bar.
    """
    a, b, c, d, _, _ = matrix
    height = abs(a * d - b * c) / scale / scale if scale else 0.0
    return min(height, abs(stretch))


def _times(first: _Matrix, second: _Matrix) -> _Matrix:
    """The matrix that does what the first does, then what the second does."""
    a, b, c, d, e, f = first
    k, l, m, n, o, p = second  # noqa: E741 - the letters that follow
    return (
        a * k + b * m,
        a * l + b * n,
        c * k + d * m,
        c * l + d * n,
        e * k + f * m + o,
        e * l + f * n + p,
    )
