"""Documents that show a text, as small as the formats allow, and what tests of documents share."""

from __future__ import annotations

import io
import textwrap
import time
import zipfile
import zlib
from collections.abc import Mapping
from email.message import EmailMessage

from nbspam.mail import parse
from nbspam.mail.documents.reader import read_document
from nbspam.mail.limits import MAX_DOCUMENT_ITEMS, MAX_DOCUMENT_STRINGS, MAX_UNPACKED_PIECES, Allowance
from nbspam.mail.message import Document
from nbspam.tokens import Tokens, tokenize

LINE = 90  # characters of a line of a page
PAGE = 60  # lines of a page


def pdf_of(text: str) -> bytes:
    """A page for every sixty lines, packed, in a font that every viewer has; other letters become "?"."""
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, LINE) or [""]]
    pages = [lines[at : at + PAGE] for at in range(0, max(len(lines), 1), PAGE)]
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for page, shown in enumerate(pages):
        drawn = (
            "BT /F1 10 Tf 12 TL 50 780 Td " + " ".join(f"({_escaped(line)}) Tj T*" for line in shown) + " ET"
        )
        packed = zlib.compress(drawn.encode("cp1252", "replace"))
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {fonts} /Contents {5 + 2 * page} 0 R >>".encode())
        objects.append(
            b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed)
        )
    numbered = [b"%d 0 obj\n%s\nendobj\n" % (number, each) for number, each in enumerate(objects, 1)]
    return b"%PDF-1.4\n" + b"".join(numbered) + b"trailer << /Root 1 0 R >>\n%%EOF\n"


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def docx_of(text: str) -> bytes:
    """A paragraph for every line, each in two runs."""
    shown = text.replace("&", "&amp;").replace("<", "&lt;")
    run = "<w:r><w:t xml:space='preserve'>%s</w:t></w:r>"
    paragraphs = "".join(f"<w:p>{run % line[:7]}{run % line[7:]}</w:p>" for line in shown.splitlines())
    document = f"<w:document><w:body>{paragraphs}</w:body></w:document>"
    return archive({"[Content_Types].xml": "<Types/>", "word/document.xml": document})


def archive(files: Mapping[str, bytes | str], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return made.getvalue()


def rtf_of(text: str) -> bytes:
    """A paragraph for every line, letters beyond ASCII by their numbers."""
    shown = text.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}").replace("\n", "\\par ")
    units = shown.encode("utf-16-le")
    codes = [int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2)]
    body = "".join(chr(code) if code < 128 else f"\\u{code - (code >> 15 << 16)}?" for code in codes)
    return ("{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 " + body + "}").encode("ascii")


def read(payload: bytes) -> Document:
    """What is in a file, the first of its message."""
    return read_document(payload, Allowance())


def mailed(payload: bytes, name: str = "scan", kind: str = "octet-stream") -> Tokens:
    """The tokens of a mail with the file."""
    message = EmailMessage()
    message["Subject"] = "scan"
    message.set_content("See the file.")
    message.add_attachment(payload, "application", kind, filename=name)
    return tokenize(parse(message.as_bytes()), ("measures",))


def check_bounded(payload: bytes) -> None:
    """Three such files, as large as what is read of a mail, take no second, nor more than a message has."""
    payload = payload[: 1 << 20]
    allowance = Allowance()
    begun = time.process_time()
    for _ in range(3):
        read_document(payload, allowance)
    assert time.process_time() - begun < 1.0
    assert 0 <= allowance.unpacked_pieces <= MAX_UNPACKED_PIECES
    assert 0 <= allowance.document_strings <= MAX_DOCUMENT_STRINGS
    assert 0 <= allowance.document_items <= MAX_DOCUMENT_ITEMS
