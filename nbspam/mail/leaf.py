"""One leaf of the MIME tree: its header fields and raw bytes to a Part.

Decodes in this order: transfer encoding, uuencoded files, charset.  Text is what mail programs show as text:
text/*, the plain kinds of message/*, and HTML under another name.  Other files are read by
attachments, if it knows their kind.
"""

import re

from nbspam.limits import Allowance, Stage
from nbspam.mail.charset import decode, find_utf_16, is_mostly_utf_8, is_utf_8, look_up_codec
from nbspam.mail.headers import parse_parameters
from nbspam.mail.message import Document, Part, normalise_filename
from nbspam.tables import read_pairs, read_table

IDENTITY = frozenset(("", "7bit", "8bit", "binary"))  # transfer encodings that change nothing
_KINDS = read_table("kinds")
MESSAGES = frozenset(_KINDS["messages"])
SIGNED = frozenset(_KINDS["signed"])
CARD_TYPES = frozenset(_KINDS["cards"])
_NAMED = read_pairs(_KINDS["named"])
_HTML_STARTS = ("<html", "<!doctype html", "<head", "<body", "<table", "<div", "<center", "<font", "<meta")
_UNSHOWN = (("<!--", "-->"), ("<style", "</style"), ("<script", "</script"))
_HTML_FILE_STARTS = (b"<html", b"<!doctype html", b"<head", b"<body", b"<script", b"<meta", b"<svg")
# How files begin that are no text, by their kind.
MAGIC = {kind: bytes.fromhex(digits) for kind, digits in read_pairs(_KINDS["magic"]).items()}
_ZIP, _PDF, _OLE, _RTF = [MAGIC[kind] for kind in ("zip", "pdf", "ole", "rtf")]
_FILE_STARTS = tuple([start for kind, start in MAGIC.items() if kind != "rtf"])
_TNEF = b"\x78\x9f\x3e\x22"
_MARK = 8  # bytes, as many as the longest one has
_HEAD = 64  # bytes of a file, one of which no text has
_NO_TEXT = bytes(set(range(32)) - set(b"\a\b\t\n\v\f\r\x0e\x0f\x1b"))  # text may be ISO-2022, or coloured
_CONTROLS = _NO_TEXT[1:]  # without NUL, which may fill a text up
_LEAST_CONTROLS = 8  # of a file of another kind, and one in 25 of its first bytes
_FOLDED = re.compile(rb"([\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])")  # inside a character of UTF-8
_PROSE = re.compile(
    rb"(?<![A-Za-z\x80-\xff.])(?:[A-Za-z\x80-\xff]{2,}[.,:;!?]?[ \t\r\n]+){2,}[A-Za-z\x80-\xff]{2,}"
    rb"|(?:[\xe3-\xed][\x80-\xbf]{2}){8,}"
)  # three words, or eight characters of East Asia in UTF-8
_PROSE_SHARE = 8  # prose is at least one in so many bytes of a text that begins as a file
_MUCH_PROSE = 2_048  # bytes that make a text of anything: spammers may add as many others as they like
_PROSE_BYTES = 256_000  # that are looked at
_MARKUP = re.compile(rb"<[^<>]*>|\b(?:end)?(?:obj|stream)\b")  # of HTML, and words that every PDF has
_BEFORE_PDF = 1_024  # bytes of anything before it that viewers skip
_PAGE_ENDINGS = tuple(_KINDS["pages"])  # of files that browsers open as a page
_PAGES = frozenset(("application/xhtml+xml", "image/svg+xml"))


def begin_part(content: dict[str, str], default_type: str, allowance: Allowance) -> Part:
    """A part of which only the header fields are known.

    content : see HeaderBlock;  default_type : of a part without a Content-Type
    """
    part = Part(default_type)
    value = content.get("content-type")
    if value is not None:
        _read_type(part, value, allowance)
    if value := content.get("content-transfer-encoding"):
        part.encoding = value.lower()
        if part.encoding not in IDENTITY:
            from nbspam.mail.transfer import normalise_encoding  # plain mail needs no decoding

            part.encoding = normalise_encoding(value)
    if value := content.get("content-disposition"):
        kind, parameters = parse_parameters(value, allowance)
        part.disposition = "inline" if kind == "inline" else "attachment"
        part.filename = _decode_filename(parameters.get("filename", ""), allowance)
    if not part.filename:
        part.filename = _decode_filename(part.parameters.get("name", ""), allowance)
    if part.filename:
        part.content_type = _guess_type(part.content_type, part.filename, part.disposition)
    return part


def _read_type(part: Part, value: str, allowance: Allowance) -> None:
    name, part.parameters = parse_parameters(value, allowance)
    part.declared_charset = part.parameters.get("charset", "").lower()
    main, _, sub = name.partition("/")
    if main and sub and "/" not in sub:
        part.content_type = name
    elif main == "multipart" and "boundary" in part.parameters:
        part.content_type = "multipart/mixed"
    else:
        allowance.note("bad-content-type")
        part.content_type = "text/plain"


def _guess_type(kind: str, filename: str, disposition: str) -> str:
    """The type that mail programs take a file for: by its name where its declared type is vague."""
    ending = normalise_filename(filename).rpartition(".")[2]
    main, _, sub = kind.partition("/")
    is_vague = main == "application" and (sub.startswith("x-") or sub in ("octet-stream", ending))
    is_attached_text = kind == "text/plain" and disposition == "attachment"
    return _NAMED.get(ending, kind) if is_vague or is_attached_text else kind


def _decode_filename(text: str, allowance: Allowance) -> str:
    """The name in a parameter (Latin-1 code points) as a reader sees it."""
    if text.isascii() and "=?" not in text:
        return text
    from nbspam.mail.encoded_words import decode_words  # few names need it

    return decode_words(text, allowance)


def read_leaf(part: Part, payload: bytes, allowance: Allowance) -> list[Part]:
    """The part of these bytes, and after it the files in it: uuencoded, or of TNEF.

    A fault of this program costs the contents of one part and nothing else.
    """
    pairs: list[tuple[Part, bytes]] = []
    with Stage(allowance, "part"):
        if part.encoding not in IDENTITY:
            from nbspam.mail.transfer import decode_transfer  # plain mail needs no decoding

            payload = decode_transfer(payload, part.encoding, allowance)
        if part.content_type == "text/plain" and (
            b"\nbegin " in payload or payload.startswith(b"begin ") or b"=ybegin " in payload
        ):
            from nbspam.mail.uuencode import take_out_files

            payload, files = take_out_files(payload, allowance)
            pairs = [(_make_attachment(name, "x-uuencode"), contents) for name, contents in files]
        elif payload.startswith(_TNEF):
            from nbspam.mail.attachments.tnef import read_tnef  # rare

            kind, text, enclosed = read_tnef(payload)
            pairs = [(Part(kind), text)] if text else []
            for name, contents in enclosed:
                pairs.append((_make_attachment(decode(name, "", allowance)[0], ""), contents))
    pairs.insert(0, (part, payload))
    for one, contents in pairs:
        with Stage(allowance, "part"):
            _read_payload(one, contents, allowance)
    return [one for one, _ in pairs]


def _make_attachment(filename: str, encoding: str) -> Part:
    """A file inside of a leaf as an attachment.  A message in it stays closed: it would not be a leaf."""
    part = Part("application/octet-stream")
    kind = _guess_type(part.content_type, filename, "attachment")
    if kind.startswith("text/"):
        part.content_type = kind
    part.encoding = encoding
    part.disposition = "attachment"
    part.filename = filename
    return part


def _read_payload(part: Part, payload: bytes, allowance: Allowance) -> None:
    """Read the payload of a part, which is no longer encoded."""
    kind = part.content_type
    part.size_bytes = len(payload)
    part.payload_magic = payload[:16]
    is_text = kind.startswith(("text/", "message/")) or kind in CARD_TYPES
    if is_text and _is_file(part, payload):
        part.document = read_document(payload, allowance)
        return
    is_page = kind == "text/html" or _is_hidden_page(part, payload)
    is_shown = is_page or (kind == "text/plain" and part.disposition != "attachment")
    if payload.startswith(_RTF) and not is_shown:
        return  # also where it is declared as text/rtf: its commands are no words
    if is_page or is_text:
        part.is_html = is_page
        _read_text(part, payload, allowance)
        if kind == "text/plain" and part.parameters.get("delsp", "").lower() == "yes":
            # Lines are joined that end in a blank (RFC 3676, 4, DelSp), as Google's mail needs it.
            text = part.text.replace("\r\n", "\n").replace("\n-- \n", "\n--\n")
            part.text = text.replace(" \n", "")
    else:
        part.document = read_document(payload, allowance)


def _is_file(part: Part, payload: bytes) -> bool:
    """True if a part that is declared as text is a file: `MZ` or `GIF89a` may begin a sentence."""
    head = payload[:_HEAD].lstrip()
    if head.startswith(_PDF):
        return b" obj" in payload and not is_prose(payload)
    if head.startswith(_FILE_STARTS) and len(head.translate(None, _NO_TEXT)) < len(head):
        return not is_prose(payload)
    sample = payload[:512]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls < max(_LEAST_CONTROLS, len(sample) // 25):
        return False
    return not find_utf_16(payload, look_up_codec(part.declared_charset)) and not is_prose(payload)


def is_prose(payload: bytes) -> bool:
    """True if bytes that begin as a file hold a text that people read.

    Mail programs show it after some strange characters, so spammers could hide a text behind those.
    """
    text = _MARKUP.sub(b" ", payload[_MARK:_PROSE_BYTES].translate(None, _NO_TEXT))
    prose = sum([len(match) for match in _PROSE.findall(text)])
    return prose >= max(min(len(payload) // _PROSE_SHARE, _MUCH_PROSE), 1)


def read_document(payload: bytes, allowance: Allowance) -> Document:
    """What is in a file; an empty Document if nothing is known about its kind."""
    document = Document()
    pdf = payload.find(_PDF, 0, _BEFORE_PDF)
    if payload.startswith(_ZIP):
        from nbspam.mail.attachments.archive import read_zip

        read_zip(payload, document, allowance)
    elif payload.startswith(_OLE):
        from nbspam.mail.attachments.archive import read_ole

        read_ole(payload, document)
    elif pdf >= 0:
        from nbspam.mail.attachments.pdf import read_pdf

        read_pdf(payload[pdf:], document, allowance)
    return document


def _is_hidden_page(part: Part, payload: bytes) -> bool:
    """True if a part of another type opens in a browser, as a page."""
    kind = part.content_type
    if kind in _PAGES:
        return True
    is_file = kind.startswith("application/")
    if not is_file and part.disposition != "attachment":
        return False
    head = payload.lstrip()[:1_000].lower()
    if is_file and (head.startswith(_HTML_FILE_STARTS) or (head.startswith(b"<?xml") and b"<svg" in head)):
        return True
    is_named = normalise_filename(part.filename).endswith(_PAGE_ENDINGS)
    return is_named and (b"<" in head or (b"\0" not in head and b"<" in payload))


def _read_text(part: Part, payload: bytes, allowance: Allowance) -> None:
    label = part.declared_charset
    if part.is_html and not payload.isascii():
        label = _choose_page_charset(label, payload, allowance)
    if part.content_type in CARD_TYPES:
        payload = _FOLDED.sub(rb"\1", payload)  # RFC 5545, 3.1
    part.text, part.charset = decode(payload, label, allowance)
    if part.content_type in CARD_TYPES and not part.is_html:
        from nbspam.mail.cards import read_card  # few mails have one

        part.text, part.is_html = read_card(part.text, allowance)
    if not part.is_html:
        start = part.text[:200].lstrip()
        begins_as_html = start[:1] == "<" and start.lower().startswith(_HTML_STARTS)
        part.is_html = begins_as_html and is_mostly_shown(part.text)


def _choose_page_charset(label: str, payload: bytes, allowance: Allowance) -> str:
    """The charset of a page: as declared, if that can be; UTF-8 if the page says so and it is UTF-8."""
    codec = look_up_codec(label)
    if codec.startswith("utf_16") and b"\0" not in payload:
        label = codec = ""  # markup in UTF-16 has zero bytes
    from nbspam.mail.html.tags import find_page_charset  # not needed for plain mail

    named = find_page_charset(payload)
    is_open = codec in ("", "ascii")
    is_other = codec == "utf-8" and not is_mostly_utf_8(payload)
    fits = is_utf_8(payload) if look_up_codec(named) == "utf-8" else is_other
    if not named or not (is_open or fits):
        return label
    if label and is_open:
        allowance.note("no-charset")
    return named


def is_mostly_shown(text: str) -> bool:
    """True if text that begins as HTML shows at least half of itself as HTML.

    Otherwise it is text, as declared: mail programs that believe the declaration show all of it.
    """
    shown = text.lower()
    for begin, end in _UNSHOWN:
        first, *pieces = shown.split(begin)
        if not all(end in piece for piece in pieces):
            return False
        shown = first + "".join([piece.partition(end)[2] for piece in pieces])
    return len(shown) * 2 >= len(text)
