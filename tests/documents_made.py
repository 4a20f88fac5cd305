"""Documents that show a text, as small as the formats allow: PDF, an office document, RTF."""

from __future__ import annotations

import io
import textwrap
import zipfile
import zlib

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
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("[Content_Types].xml", "<Types/>")
        target.writestr("word/document.xml", f"<w:document><w:body>{paragraphs}</w:body></w:document>")
    return made.getvalue()


def rtf_of(text: str) -> bytes:
    """A paragraph for every line, letters beyond ASCII by their numbers."""
    shown = text.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}").replace("\n", "\\par ")
    units = shown.encode("utf-16-le")
    codes = [int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2)]
    body = "".join(chr(code) if code < 128 else f"\\u{code - (code >> 15 << 16)}?" for code in codes)
    return ("{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 " + body + "}").encode("ascii")
