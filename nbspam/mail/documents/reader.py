"""Files of a mail that are no text: archives, documents and pictures, what they show and where they lead to.

Hides the formats: ZIP, and the office documents, which are made of ZIP or OLE.  RAR, PDF, RTF, PNG and what
Word 97 wrote have modules of their own.  Nothing is unpacked but what may name an address or be text, within
bounds; nothing raises.
Source: PKWARE's APPNOTE, 4.3.7; ECMA-376, 17.3 (text of documents), 18.4 (sheets), 21.1.2 (slides);
OpenDocument 1.3, 6; [MS-OVBA], 2.2.
"""

from __future__ import annotations

from nbspam.mail.message import MAX_ADDRESSES, MAX_NAMES, MAX_TEXT, Document
from nbspam.mail.packed import MAX_PIECE, inflated, little_endian, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

MAX_BYTES = 4 * MAX_TEXT  # of the text of an office document
MAX_NAME = 2_000  # bytes of one, or of an address
_FILE = b"PK\x03\x04"
_NAME_AT = 30  # where the name begins, from the signature on
_STORED, _DEFLATED = 0, 8
_OFFICE = frozenset(("[Content_Types].xml", "mimetype"))  # what only office documents hold
_MACROS = "_VBA_PROJECT".encode("utf-16-le")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # an office document inside of OLE
# The texts; that of Word has a number in its name, too, when a server wrote it.
_TEXTS = (b"word/document", b"xl/sharedstrings.xml", b"ppt/slides/slide", b"content.xml")
_PICTURES = (b"word/media/", b"xl/media/", b"ppt/media/", b"pictures/")
_SHEETS = b"xl/worksheets/sheet"  # which have a text of their own where they share none
# Elements that part words; all others, as a change of fonts, may stand inside of one.
_BREAKS = frozenset((b"p", b"h", b"si", b"is", b"br", b"cr", b"tab", b"line-break", b"s"))
# Instructions of fields, what was deleted; numbers and formulas of sheets.
_NOT_SHOWN = frozenset((b"instrText", b"delText", b"v", b"f"))


def read_document(payload: bytes, allowance: Allowance) -> Document:
    """What is in a file of one of the formats; its first bytes tell which."""
    document = Document()
    if payload.startswith(_FILE):
        _read_archive(payload, document, allowance)
    elif payload.startswith(b"%PDF"):
        from nbspam.mail.pdf.reader import read_pdf  # with re: 5 ms

        read_pdf(payload, document, allowance)
    elif payload.startswith(b"Rar!"):
        from nbspam.mail.documents.rar import read_rar

        read_rar(payload, document)
    elif payload.startswith(b"{\\rtf"):
        from nbspam.mail.documents.rtf import read_rtf

        read_rtf(payload, document, allowance)
    elif payload.startswith(b"\x89PNG"):
        _read_picture(payload, document, allowance)
    else:
        _read_ole(payload, document)
    return document


def _read_picture(payload: bytes, document: Document, allowance: Allowance) -> None:
    from nbspam.mail.codes.png import read_png

    read_png(payload, document, allowance)


def _read_ole(payload: bytes, document: Document) -> None:
    from nbspam.mail.documents.word import read_word

    if _MACROS in payload:
        document.mark("macros")
    if _ENCRYPTED in payload:
        document.mark("encrypted")
    read_word(payload, document)


def _read_archive(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Names from the header of each file: a directory stands behind them all, and may be cut off."""
    at = payload.find(_FILE)
    while at >= 0 and len(document.names) < MAX_NAMES:
        begin = at + _NAME_AT
        end = begin + little_endian(payload, at + 26, 2)
        name = payload[begin : min(end, begin + MAX_NAME)]
        document.names.append(name.decode("utf-8", "replace"))
        flags = payload[at + 6 : at + 7]
        if flags and flags[0] & 1:
            document.mark("encrypted")
        else:
            _read_file(payload, at, name.lower(), document, allowance)
        at = payload.find(_FILE, end)
    if not _OFFICE.isdisjoint(document.names):
        document.names.clear()  # each document has the same


def _read_file(payload: bytes, at: int, name: bytes, document: Document, allowance: Allowance) -> None:
    """What a file in an archive, whose header stands at `at`, is to an office document."""
    if name.endswith(b".rels"):
        _read_targets(_content(payload, at, allowance), b"Target=", document)
    elif name.endswith(b"vbaproject.bin"):
        document.mark("macros")
    elif name.startswith(_PICTURES) and name.endswith(b".png"):
        _read_picture(_content(payload, at, allowance), document, allowance)
    elif name.startswith((*_TEXTS, _SHEETS)):
        content = _content(payload, at, allowance)
        if name.startswith(_SHEETS) and b"inlineStr" not in content:
            return
        _read_targets(content, b"xlink:href=", document)
        document.text = (document.text + _shown(content, allowance))[:MAX_TEXT]


def _content(payload: bytes, at: int, allowance: Allowance) -> bytes:
    """The first bytes of a file in an archive."""
    method = little_endian(payload, at + 8, 2)
    lengths = (
        little_endian(payload, at + 26, 2),
        little_endian(payload, at + 28, 2),
    )  # of the name, of the rest
    begin = at + _NAME_AT + sum(lengths)
    if method == _DEFLATED:
        return inflated(payload[begin : begin + MAX_PIECE], allowance)
    size = min(little_endian(payload, at + 18, 4), MAX_PIECE)
    return stored(payload[begin : begin + size], allowance) if method == _STORED else b""


def _read_targets(xml: bytes, attribute: bytes, document: Document) -> None:
    """The addresses outside of an office document that it has to do with."""
    for piece in xml.split(attribute, MAX_ADDRESSES)[1:]:
        quote = piece[:1]
        if quote in (b'"', b"'"):
            target = piece[1:MAX_NAME].partition(quote)[0].decode("utf-8", "replace")
            document.leads_to(target.replace("&amp;", "&"))


def _shown(xml: bytes, allowance: Allowance) -> str:
    """The text of an office document, as far as it is unpacked."""
    from nbspam.mail.html.entities import decode

    found: list[bytes] = []
    most = allowance.document_items
    pieces = xml.split(b"<", most)[:most]  # what is left is not taken apart, so it is no text
    allowance.document_items -= len(pieces)
    for piece in pieces:
        element, _, text = piece.partition(b">")
        name = element.partition(b" ")[0].strip(b"/").rpartition(b":")[2]
        if name in _BREAKS:
            found.append(b" ")
        if name not in _NOT_SHOWN:
            found.append(text)
    return decode(b"".join(found)[:MAX_BYTES].decode("utf-8", "replace")) + "\n"
