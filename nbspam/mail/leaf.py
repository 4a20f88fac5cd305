"""One leaf of the MIME tree: its header fields and raw bytes to a Part.

Hides in which order things are undone (transfer encoding, uuencoded files, charset) and what
readers show as text: text/*, the plain kinds of message/*, and HTML under another name, if it shows
most of itself as such.  Of other files what is in them, where that is known.
"""

from __future__ import annotations

from nbspam.mail.charset import canonical, charset_of_page, decode
from nbspam.mail.message import PAGE_ENDINGS, Part, name_on_windows
from nbspam.mail.parameters import parse_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance

# Kinds that hold a message, or the header of one, which is read as such.
MESSAGES = frozenset(
    (
        "message/rfc822",
        "message/global",
        "message/news",
        "message/partial",
        "message/external-body",
        "text/rfc822-headers",
    )
)
_CARDS = frozenset(
    ("text/calendar", "text/x-vcalendar", "application/ics", "text/vcard", "text/x-vcard", "text/directory")
)
# What mail programs open a file as whose type says less than its ending: messages and cards,
_NAMED = {
    **dict.fromkeys(("eml", "mht", "mhtml"), "message/rfc822"),
    **dict.fromkeys(("ics", "vcs"), "text/calendar"),
    "vcf": "text/vcard",
}
# and, of one that is said to be bytes, others (RFC 8551, 3.2.1).
_OCTETS = {**_NAMED, "txt": "text/plain", "p7m": "application/pkcs7-mime"}
_IDENTITY = frozenset(("", "7bit", "8bit", "binary"))
_HTML_STARTS = ("<html", "<!doctype html", "<head", "<body", "<table", "<div", "<center", "<font", "<meta")
_UNSHOWN = (("<!--", "-->"), ("<style", "</style"), ("<script", "</script"))
_HTML_FILE_STARTS = (b"<html", b"<!doctype html", b"<head", b"<body", b"<script", b"<meta", b"<svg")
_RTF = b"{\\rtf"
_PDF = b"%PDF"
_BEFORE_PDF = 1_024  # bytes of anything before it that viewers skip
_DOCUMENTS = (b"PK\x03\x04", _PDF, b"\xd0\xcf\x11\xe0")
_PAGES = frozenset(("application/xhtml+xml", "image/svg+xml"))


class Entity:
    """What the header fields of a part say about its body."""

    __slots__ = ("charset", "content_type", "disposition", "encoding", "filename", "parameters")

    def __init__(self, content: dict[str, str], default_type: str, allowance: Allowance) -> None:
        self.content_type = default_type
        self.parameters: dict[str, str] = {}
        self.encoding = ""
        self.disposition = ""
        self.filename = ""
        self.charset = ""
        if not content:
            return
        value = content.get("content-type")
        if value is not None:
            self._read_type(value, allowance)
        value = content.get("content-transfer-encoding")
        if value:
            self.encoding = value.lower()
            if self.encoding not in _IDENTITY:  # with binascii, 0.5 ms that plain mail need not pay
                from nbspam.mail.transfer import encoding_name

                self.encoding = encoding_name(value)
        value = content.get("content-disposition")
        if value:
            self._read_disposition(value, allowance)
        if not self.filename and "name" in self.parameters:
            self.filename = _filename(self.parameters["name"], allowance)
        if self.filename:
            self.content_type = _opened_as(self.content_type, self.filename, self.disposition)

    def _read_type(self, value: str, allowance: Allowance) -> None:
        name, self.parameters = parse_parameters(value, allowance)
        self.charset = self.parameters.get("charset", "").lower()
        main, _, sub = name.partition("/")
        if main and sub and "/" not in sub:
            self.content_type = name
        elif main == "multipart" and "boundary" in self.parameters:
            self.content_type = "multipart/mixed"
        else:
            allowance.note("bad-content-type")
            self.content_type = "text/plain"

    def _read_disposition(self, value: str, allowance: Allowance) -> None:
        kind, parameters = parse_parameters(value, allowance)
        self.disposition = "inline" if kind == "inline" else "attachment"
        if "filename" in parameters:
            self.filename = _filename(parameters["filename"], allowance)


def _opened_as(kind: str, filename: str, disposition: str) -> str:
    """The type that mail programs take a file for: by its name where what is declared says too little."""
    main, _, sub = kind.partition("/")
    ending = name_on_windows(filename).rpartition(".")[2]
    if main == "application" and sub.removeprefix("x-") in ("octet-stream", "mimearchive", ending):
        return _OCTETS.get(ending, kind)
    is_attached_text = kind == "text/plain" and disposition == "attachment"
    return _NAMED.get(ending, kind) if is_attached_text or kind.startswith("application/x-") else kind


def _filename(text: str, allowance: Allowance) -> str:
    """The name in a parameter, str of Latin-1 code points, as a reader sees it."""
    if "=?" in text:
        from nbspam.mail.words import decode_words

        return decode_words(text, allowance)
    if text.isascii():
        return text
    from nbspam.mail.charset import decode_raw

    return decode_raw(text.encode("latin-1"), allowance)


def read_leaf(entity: Entity, payload: bytes, allowance: Allowance) -> list[Part]:
    """The part, and behind it the uuencoded files its text holds."""
    part = Part(entity.content_type)
    part.encoding = entity.encoding
    part.disposition = entity.disposition
    part.filename = entity.filename
    part.declared_charset = entity.charset
    if entity.encoding not in _IDENTITY:
        from nbspam.mail.transfer import decode_transfer

        payload = decode_transfer(payload, entity.encoding, allowance)
    parts = [part]
    kind = entity.content_type
    if kind == "text/plain" and (b"\nbegin " in payload or payload.startswith(b"begin ")):
        from nbspam.mail.uuencode import take_out_files

        payload, files = take_out_files(payload, allowance)
        parts.extend(_file_part(name, contents, allowance) for name, contents in files)
    _read_payload(part, entity, payload, allowance)
    return parts


def _read_payload(part: Part, entity: Entity, payload: bytes, allowance: Allowance) -> None:
    part.size_bytes = len(payload)
    part.payload_magic = payload[:16]
    kind = entity.content_type
    is_page = kind == "text/html" or _is_hidden_page(entity, payload)
    if payload.startswith(_RTF):
        return  # also where it is declared as text/rtf: its commands are no words
    if is_page or kind.startswith(("text/", "message/")) or kind in _CARDS:
        joins_lines = kind == "text/plain" and entity.parameters.get("delsp", "").lower() == "yes"
        part.is_html = is_page
        _read_text(part, payload, joins_lines, allowance)
    else:
        _read_file(part, payload, allowance)


def _read_file(part: Part, payload: bytes, allowance: Allowance) -> None:
    if _is_named_pdf(part.content_type, part.filename) or not payload.startswith(_DOCUMENTS):
        payload = payload[max(_pdf_at(payload), 0) :]
    if payload.startswith(_DOCUMENTS):
        from nbspam.mail.attachments import read_document

        part.document = read_document(payload, allowance)


def _is_named_pdf(kind: str, filename: str) -> bool:
    name = filename.lower()
    return name.endswith(".pdf") or (kind == "application/pdf" and not name.endswith(PAGE_ENDINGS))


def _pdf_at(payload: bytes) -> int:
    """Where viewers see a PDF begin; -1 if they see none."""
    return payload.find(_PDF, 0, _BEFORE_PDF + len(_PDF))


def _file_part(name: str, contents: bytes, allowance: Allowance) -> Part:
    """A uuencoded file, as if it were attached; a message stays closed in it, for it would not be a leaf."""
    entity = Entity({}, "application/octet-stream", allowance)
    entity.filename = name
    entity.disposition = "attachment"
    kind = _opened_as(entity.content_type, name, entity.disposition)
    entity.content_type = kind if kind.startswith("text/") else entity.content_type
    part = Part(entity.content_type)
    part.encoding = "x-uuencode"
    part.disposition = entity.disposition
    part.filename = name
    _read_payload(part, entity, contents, allowance)
    return part


def _is_hidden_page(entity: Entity, payload: bytes) -> bool:
    """Whether a part that is declared as something else is a page for who opens it: in a browser."""
    kind = entity.content_type
    if kind in _PAGES:
        return True
    is_file = kind.startswith("application/")
    if not is_file and entity.disposition != "attachment":
        return False
    if is_file and _is_named_pdf(kind, entity.filename) and _pdf_at(payload) >= 0:
        return False  # whatever stands before it
    head = payload.lstrip()[:1_000].lower()
    if is_file and (head.startswith(_HTML_FILE_STARTS) or (head.startswith(b"<?xml") and b"<svg" in head)):
        return True
    # Windows leaves out spaces and full stops at the end of a name; zeros are in nearly all that is no text.
    is_named = name_on_windows(entity.filename).endswith(PAGE_ENDINGS)
    return is_named and (b"<" in head or (b"\0" not in head and b"<" in payload))


def _read_text(part: Part, payload: bytes, joins_lines: bool, allowance: Allowance) -> None:
    label = part.declared_charset
    if part.is_html and not payload.isascii() and canonical(label) in ("", "ascii"):
        named = charset_of_page(payload)
        if named and label:
            allowance.note("no-charset")
        label = named or label
    part.text, part.charset = decode(payload, label, allowance)
    if joins_lines:
        from nbspam.mail.flowed import joined_lines  # Google's mail, and little else

        part.text = joined_lines(part.text)
    if part.content_type in _CARDS:
        from nbspam.mail import cards  # rare

        part.text = cards.unfolded(part.text, allowance)
    if not part.is_html:
        start = part.text[:200].lstrip()
        part.is_html = start[:1] == "<" and start.lower().startswith(_HTML_STARTS) and _shows_most(part.text)


def _shows_most(text: str) -> bool:
    """Whether text that only begins as HTML would show most of itself as such.

    Else it is text, as it is declared: readers that believe the declaration show all of it.
    """
    shown = text.lower()
    for begin, end in _UNSHOWN:
        first, *pieces = shown.split(begin)
        parted = [piece.partition(end) for piece in pieces]
        if not all(found for _, found, _ in parted):
            return False
        shown = first + "".join([behind for _, _, behind in parted])
    return len(shown) * 2 >= len(text)
