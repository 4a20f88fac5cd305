"""Files of a mail that are no text: archives, documents and pictures, what they show and where they lead to.

Hides the formats: ZIP and OLE.  The office documents that are made of them, texts in archives, RAR, PDF, RTF
and PNG have modules of their own.  Nothing is unpacked but what may name an address or be text, within
bounds; nothing raises.
Source: PKWARE's APPNOTE, 4.3.7; [MS-OVBA], 2.2.
"""

from __future__ import annotations

from nbspam.mail.message import MAX_NAMES, Document
from nbspam.mail.packed import MAX_PIECE, inflated, little_endian, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

MAX_NAME = 2_000  # bytes of one
_FILE = b"PK\x03\x04"
_NAME_AT = 30  # where the name begins, from the signature on
_STORED, _DEFLATED = 0, 8
_OFFICE = frozenset((b"[content_types].xml", b"mimetype"))  # what only office documents hold
# Where the files of one stand; each document has the same, so that their names say nothing.
_PARTS = tuple(
    b"word/ xl/ ppt/ visio/ docprops/ customxml/ _rels/ meta-inf/ pictures/ media/ object thumbnails/ "
    b"configurations2/ basic/ dialogs/ charts/ layout-cache oebps/ epub/ content.xml styles.xml meta.xml "
    b"settings.xml manifest.rdf".split()
)
_MACROS = "_VBA_PROJECT".encode("utf-16-le")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # an office document inside of OLE


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
    from nbspam.mail.documents.office import read_package

    files: list[tuple[bytes, int]] = []
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
            files.append((name.lower(), at))
        at = payload.find(_FILE, end)
    own = files
    is_office = not _OFFICE.isdisjoint([name for name, _ in files])
    if is_office:  # perhaps an archive with such a file in it, to seem one
        own = [(name, at) for name, at in files if not _is_of_office(name)]
        document.names[:] = [name for name in document.names if not _is_of_office(name.lower().encode())]

    def content(at: int) -> bytes:
        return _content(payload, at, allowance)

    read_package(files, content, document, allowance, is_office=is_office)
    if own and not (is_office and document.text.strip()):  # a document may hold a page, which is read by then
        from nbspam.mail.documents.texts import read_members

        read_members(own, content, document, allowance)


def _is_of_office(name: bytes) -> bool:
    """Whether a file with this name, in lower case, is one of those that office documents have."""
    return name in _OFFICE or name.startswith(_PARTS)


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
