"""Office documents in ZIP: the text that they show, and where their links lead to.

Hides which files of a package hold text, and how they write it.  The main texts are read first, with the
lists of what each file has to do with; then sheets, whatever these lists name, and each other file that
holds text.  What the text of a field or a formula does is followed; text that is set not to be shown is
left out.
Source: ECMA-376, 11.3 (files of documents), 17.3 (their text), 17.16 (fields), 17.17.2 (pages in them),
18.3 (sheets), 21.1.2 (slides); OpenDocument 1.3, 6.
"""

from __future__ import annotations

import re
from posixpath import join, normpath

from nbspam.mail.html.entities import decode
from nbspam.mail.limits import MAX_DOCUMENT_ITEMS, MAX_UNPACKED_PIECES
from nbspam.mail.message import MAX_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

    File = tuple[bytes, int]  # name in lower case, and where it stands

MAX_BYTES = 4 * MAX_TEXT  # of the text of a file
_MAX_ADDRESS = 1_999  # bytes
_MAX_TARGETS = 1_000  # of one file
PAGE_ITEMS = 20_000  # of those of a message that a page in a document takes
_MAX_PAGE = 100_000  # bytes of it
# Files that texts are seldom in leave as much to the main texts of other documents.
_SPARE_PIECES, _SPARE_ITEMS = MAX_UNPACKED_PIECES // 2, MAX_DOCUMENT_ITEMS // 2
# The texts; that of Word has a number in its name, too, when a server wrote it.
_TEXTS = (b"word/document", b"xl/sharedstrings.xml", b"ppt/slides/slide", b"content.xml")
_PICTURES = (b"word/media/", b"xl/media/", b"ppt/media/", b"pictures/")
_SHEETS = b"xl/worksheets/sheet"
_OPEN_DOCUMENT = (b"content.xml", b"styles.xml")
# Files of a package without text, or with one that is shown only to who writes: samples, notes.
_UNSHOWN = (
    *(b"[content_types]", b"docprops/", b"customxml/", b"meta.xml", b"settings.xml", b"meta-inf/"),
    *(b"word/glossary/", b"word/styles", b"word/settings", b"word/websettings", b"word/fonttable"),
    *(b"word/theme/", b"word/numbering", b"xl/styles", b"xl/theme/", b"xl/calcchain", b"xl/workbook"),
    *(b"ppt/slidelayouts/", b"ppt/slidemasters/", b"ppt/notes", b"ppt/handout", b"ppt/theme/"),
)
# What lists call the files that are shown whatever their name: the main text first.
_MAIN, _PAGE = b"officeDocument", b"aFChunk"
_NAMED = frozenset((_MAIN, _PAGE, b"header", b"footer"))
_HOLDS_TEXT = re.compile(rb"[<:]t[\s>]|text:p\b|inlineStr|[\"']str[\"']|HYPERLINK\b")
# Elements that part words; all others, as a change of fonts, may stand inside of one.
_BREAKS = frozenset((b"p", b"h", b"si", b"is", b"c", b"br", b"cr", b"tab", b"line-break", b"s"))
_NO_TEXT = b"text"  # of OpenDocument: between the digits of numbers
_COMMENT_OR_RAW = re.compile(rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_JOINED_STRINGS = re.compile(r'"\s*&\s*"')  # of a formula
_OFF = frozenset((b"0", b"false", b"off"))


def _attribute(name: bytes) -> re.Pattern[bytes]:
    most = b"{0,%d}" % _MAX_ADDRESS
    return re.compile(rb"[\s:]%s\s*=\s*(?:\"([^\"]%s)|'([^']%s))" % (name, most, most))


_TARGET, _LINK, _RELATION = _attribute(b"Target"), _attribute(b"href"), _attribute(b"Type")
_INSTRUCTION, _FORMULA = _attribute(b"instr"), _attribute(b"formula")
_VALUE, _CELL_TYPE = _attribute(b"val"), _attribute(b"t")


def read_package(
    files: list[File],
    content: Callable[[int], bytes],
    document: Document,
    allowance: Allowance,
    *,
    is_office: bool,
) -> None:
    """Fills the document with what its files show.

    content   : the first bytes of the file that stands somewhere
    is_office : that it is an office document, not an archive with a file of one
    """
    package = _Package(content, document, allowance)
    rest = [file for file in files if not package.reads_first(*file)]
    for name, at in sorted(rest, key=package.place):
        if is_office or name.startswith(_SHEETS):
            package.read_other(name, at)


class _Package:
    """The files of a document one after the other.

    named : what lists call files, by the names of these
    """

    __slots__ = ("_allowance", "_content", "_document", "named")

    def __init__(self, content: Callable[[int], bytes], document: Document, allowance: Allowance) -> None:
        self._content = content
        self._document = document
        self._allowance = allowance
        self.named: dict[bytes, bytes] = {}

    def reads_first(self, name: bytes, at: int) -> bool:
        """Reads a list, a picture or a main text; whether the file is one."""
        if name.endswith(b".rels"):
            self._read_relations(name, as_utf_8(self._content(at)))
        elif name.endswith(b"vbaproject.bin"):
            self._document.mark("macros")
        elif name.startswith(_PICTURES) and name.endswith(b".png"):
            from nbspam.mail.codes.png import read_png

            read_png(self._content(at), self._document, self._allowance)
        elif name.startswith(_TEXTS):
            self._read_text(name, as_utf_8(self._content(at)))
        else:
            return False
        return True

    def place(self, file: File) -> int:
        """Of files that are not read first, which come before others."""
        name, _ = file
        if name.startswith(_SHEETS) or self.named.get(name) == _MAIN:
            return 0
        return 1 if name in self.named else 2

    def read_other(self, name: bytes, at: int) -> None:
        """Any other file, as one of sheets, headers or drawings, if it holds text."""
        if self.place((name, at)) == 2 and (
            self._allowance.unpacked_pieces <= _SPARE_PIECES
            or self._allowance.document_items <= _SPARE_ITEMS
            or not name.endswith(b".xml")
            or name.startswith(_UNSHOWN)
        ):
            return
        content = self._content(at)
        if self.named.get(name) == _PAGE:
            self._read_page(content)
        else:
            xml = as_utf_8(content)
            if _HOLDS_TEXT.search(xml):
                self._read_text(name, xml)

    def _read_relations(self, name: bytes, xml: bytes) -> None:
        """Where a file leads to, and which others are its texts."""
        folder = b"/" + name.rpartition(b"_rels/")[0]
        for piece in xml.split(b"<", _MAX_TARGETS)[1:]:
            target = _value(_TARGET, piece)
            kind = _value(_RELATION, piece).rpartition(b"/")[2]
            self._document.leads_to(_decoded(target))
            if kind in _NAMED:
                self.named[normpath(join(folder, target.lower())).lstrip(b"/")] = kind

    def _read_text(self, name: bytes, xml: bytes) -> None:
        for number, found in enumerate(_LINK.finditer(xml)):
            if number == _MAX_TARGETS:
                break
            self._document.leads_to(_decoded(found[1] or found[2] or b""))
        text = _Text(shows_all=name.startswith(_OPEN_DOCUMENT))
        text.read(xml, self._allowance)
        text.follow(self._document)
        self._document.shows(_decoded(b"".join(text.found)[:MAX_BYTES]))

    def _read_page(self, page: bytes) -> None:
        """A page that stands in the document as a paragraph does."""
        from nbspam.mail import charset
        from nbspam.mail.html import read_html

        if self._allowance.document_items < PAGE_ITEMS or b"<" not in page:
            return
        self._allowance.document_items -= PAGE_ITEMS
        html = read_html(charset.decode(page[:_MAX_PAGE], "", self._allowance)[0])
        for address, _ in html.links:
            self._document.leads_to(address)
        self._document.shows(html.visible)


class _Text:
    """The elements of a file to its text.

    found        : what is shown, with references to characters
    instructions : of fields
    formulas     : of sheets
    """

    __slots__ = (
        *("_adds_to", "_is_hidden", "_is_old", "_is_string", "_shows_all"),
        *("formulas", "found", "instructions"),
    )

    def __init__(self, *, shows_all: bool) -> None:
        self.found: list[bytes] = []
        self.instructions: list[bytes] = []
        self.formulas: list[bytes] = []
        self._shows_all = shows_all  # elements need not say that they are text
        self._adds_to: list[bytes] | None = None  # what the text behind the element belongs to
        self._is_hidden = False  # text of the run
        self._is_old = False  # properties: those before a change
        self._is_string = False  # the value of the cell

    def read(self, xml: bytes, allowance: Allowance) -> None:
        """Goes over the elements, as many as a message may still have."""
        if allowance.document_items <= 0:
            return
        xml, replaced = _COMMENT_OR_RAW.subn(_plain, xml, allowance.document_items)
        allowance.document_items -= replaced
        most = allowance.document_items
        pieces = xml.split(b"<", most)[:most]  # what is left is not taken apart, so it is no text
        allowance.document_items -= len(pieces)
        for piece in pieces:
            element, _, text = piece.partition(b">")
            if not element.startswith(b"?"):  # that may stand inside of a text
                self._meet(element, piece)
            if self._adds_to is not None:
                self._adds_to.append(text)

    def _meet(self, element: bytes, piece: bytes) -> None:
        ends = element.startswith(b"/")
        is_empty = element.endswith(b"/")
        name = (element.strip(b"/").split(None, 1) or (b"",))[0].rpartition(b":")[2]
        if name in _BREAKS:
            self.found.append(b" ")
        self._adds_to = None
        if self._shows_all:
            self._adds_to = self.found if name != _NO_TEXT else None
            if b"HYPERLINK" in piece:
                self.formulas.append(_value(_FORMULA, piece))
        elif ends:
            self._is_old = self._is_old and name != b"rPrChange"
        elif name == b"t":
            self._adds_to = None if self._is_hidden or is_empty else self.found
        elif name == b"r":
            self._is_hidden = False
        elif name == b"rPrChange":
            self._is_old = True
        elif name == b"vanish" and not self._is_old:
            self._is_hidden = _value(_VALUE, piece).lower() not in _OFF
        elif name == b"c":
            self._is_string = _value(_CELL_TYPE, piece) == b"str"
        elif name == b"v" and self._is_string and not is_empty:
            self._adds_to = self.found
        elif name == b"f":
            self._adds_to = self.formulas
        elif name == b"instrText":
            self._adds_to = self.instructions
        elif name == b"fldChar":
            self.instructions.append(b" ")  # one ends, or another begins
        elif name == b"fldSimple":
            self.instructions.append(b" " + _value(_INSTRUCTION, piece) + b" ")

    def follow(self, document: Document) -> None:
        """Note where fields and formulas lead to."""
        document.follows(_decoded(b"".join(self.instructions)))
        document.follows(_JOINED_STRINGS.sub("", _decoded(b" ".join(self.formulas))))


def as_utf_8(xml: bytes) -> bytes:
    """XML in UTF-8, whichever of the two encodings that it may always have it is in (XML 1.0, appendix F)."""
    if xml.startswith((b"\xff\xfe", b"<\0")):
        return xml.decode("utf-16-le", "replace").encode()
    if xml.startswith((b"\xfe\xff", b"\0<")):
        return xml.decode("utf-16-be", "replace").encode()
    return xml


def _plain(found: re.Match[bytes]) -> bytes:
    """What stands raw in a file, as it would without; a comment is nothing."""
    return (found[1] or b"").replace(b"&", b"&amp;").replace(b"<", b"&lt;")


def _value(attribute: re.Pattern[bytes], piece: bytes) -> bytes:
    found = attribute.search(piece)
    return (found[1] or found[2] or b"") if found else b""


def _decoded(xml: bytes) -> str:
    return decode(xml.decode("utf-8", "replace"), in_attribute=True)
