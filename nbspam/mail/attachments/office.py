"""Office documents in ZIP (.docx, .odt and their relatives): the text that they show and their links.

The XML is cut at its tags.  Styles, fields, formulas and numbers of sheets are not interpreted.
Source: ECMA-376, 11.3 and 17.3, part 3, 10.2 (alternate content); OpenDocument 1.3, 6.
"""

import re

from nbspam.limits import Allowance
from nbspam.mail.html.entities import decode_references
from nbspam.mail.message import MAX_DOCUMENT_TEXT, Document
from nbspam.tables import read_table

OFFICE_FILES = frozenset(("[content_types].xml", "mimetype"))  # an archive with one is an office document
_PARTS = tuple(read_table("kinds")["office"])  # begin names that each document has
_OPEN_DOCUMENT = "content.xml"
_NOTES = ("word/header", "word/footer", "word/footnotes", "word/endnotes")
_SHEETS = ("xl/sharedstrings.xml", "xl/worksheets/sheet")
_TEXTS = ("word/document", *_NOTES, "ppt/slides/slide", *_SHEETS, _OPEN_DOCUMENT)
_BREAKS = frozenset(("p", "h", "si", "is", "br", "cr", "tab", "line-break", "s"))  # elements that end a word
_OFF = ('"0"', '"false"', '"off"', "'0'", "'false'", "'off'")  # values of a setting
# Targets of lists of relations, links of OpenDocument, fields of Word; the quote may be an entity.
_ADDRESS = re.compile(
    rb"(?:\bTarget\s*+=|\bhref\s*+=|\bHYPERLINK\(?)\s*+(?:[\"']|&quot;)([^\"'<>&]*+(?:&(?!quot;)[^\"'<>&]*+){0,2000})"
)
_MAX_ADDRESS = 2_000  # bytes


def is_of_office(name: str) -> bool:
    """True if every office document may have a file of that lower-case name."""
    return name in OFFICE_FILES or name.startswith(_PARTS)


def is_shown(name: str) -> bool:
    """True if the file of that lower-case name holds text, or lists what another file links to."""
    return name.endswith(".rels") or name.startswith(_TEXTS)


def read_xml(name: str, xml: bytes, document: Document, allowance: Allowance) -> None:
    """Note the links of a file of an office document, and its text.

    name : lower-case, inside the archive
    xml  : perhaps cut off, or not XML at all
    """
    if xml.startswith((b"\xff\xfe", b"\xfe\xff")):
        xml = xml.decode("utf-16", "replace").encode()
    for match in _ADDRESS.finditer(xml):
        document.add_address(decode_references(match[1][:_MAX_ADDRESS].decode("utf-8", "replace")))
    if not name.endswith(".rels") and len(document.text) < MAX_DOCUMENT_TEXT:
        document.text += _collect_text(xml, name == _OPEN_DOCUMENT, allowance) + "\n"
        document.text = document.text[:MAX_DOCUMENT_TEXT]


def _collect_text(xml: bytes, is_open_document: bool, allowance: Allowance) -> str:
    """The text between the tags: of the elements `t`, or of all elements of an OpenDocument."""
    most = max(allowance.document_items, 0)
    pieces = xml.decode("utf-8", "replace").split("<", most)[1:most]
    allowance.document_items -= len(pieces)
    shown: list[str] = []
    run = _Run()
    for piece in pieces:
        tag, _, text = piece.partition(">")
        name = "".join(tag.lstrip("/").split(None, 1)[:1]).rstrip("/").rpartition(":")[2]
        if name in _BREAKS:
            shown.append(" ")
        if is_open_document:
            shown.append(text)
        elif name != "t":
            run.notice(name, tag)
        elif not tag.startswith("/") and not run.is_hidden and not run.skipped:
            run.texts += 1
            shown.append(text)
    return decode_references("".join(shown)[: 2 * MAX_DOCUMENT_TEXT])


class _Run:
    """What the tags before a text say of it.

    texts     : how many are shown; before : as many were before the last choice of alternate content
    is_hidden : the run is set not to be shown; is_old : its settings before a tracked change follow
    skipped   : open fallbacks of a choice that shows a text, as older programs need for a text box
    """

    def __init__(self) -> None:
        self.texts = self.before = self.skipped = 0
        self.is_hidden = self.is_old = False

    def notice(self, name: str, tag: str) -> None:
        is_start = tag[:1] != "/"
        if name == "r":
            self.is_hidden = self.is_old = False
        elif name == "rPrChange":
            self.is_old = is_start
        elif name == "vanish" and not self.is_old:
            self.is_hidden = not any(off in tag for off in _OFF)
        elif name == "Choice" and is_start:
            self.before = self.texts
        elif name == "Fallback" and tag[-1:] != "/":
            is_more = is_start and (self.skipped or self.texts > self.before)
            self.skipped = max(self.skipped + (1 if is_more else -1), 0)
