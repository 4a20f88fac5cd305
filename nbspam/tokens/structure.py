"""How a message is made -> tokens of the structure view.

Content types, encodings, character sets, attachments and documents; of a page what its form is.
"""

from __future__ import annotations

from nbspam.mail.message import name_on_windows
from nbspam.tokens.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Document, Html, Message, Part

MAX_ALT_WORDS = 100
MAX_TITLE_WORDS = 100
MAX_NAME_WORDS = 20
_MAGIC = (
    (b"MZ", "exe"),
    (b"PK\x03\x04", "zip"),
    (b"%PDF", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"\xd0\xcf\x11\xe0", "ole"),
    (b"Rar!", "rar"),
    (b"7z\xbc\xaf", "7z"),
    (b"{\\rtf", "rtf"),
)


def atom(text: str, limit: int) -> str:
    """What a mail declares, as one short token: no white space, for a token never holds any."""
    return "".join(text[: 4 * limit].split())[:limit]


def message_tokens(message: Message, size_bytes: int) -> list[str]:
    """Content types in order, defects, the size of the message as a power of two, and the number of parts.

    size_bytes : headers.size_in_bytes of the message
    """
    found = ["type=" + atom(kind, 60) for kind in message.structure]
    found.extend(["defect=" + defect for defect in message.defects])
    found.append(f"size={size_bytes.bit_length()}")
    found.append(f"parts={min(len(message.parts), 9)}")
    return found


def part_tokens(part: Part) -> list[str]:
    """Encoding, character set, disposition, and for an attachment its name, ending and true kind."""
    found: list[str] = []
    if part.encoding:
        found.append("encoding=" + atom(part.encoding, 20))
    if part.declared_charset:
        found.append("charset=" + atom(part.declared_charset, 30))
    if part.disposition:
        found.append("disposition=" + atom(part.disposition, 20))
    if part.filename:
        found.extend(_file_tokens(part.filename))
    if not part.text and part.size_bytes:
        found.append(f"attached={atom(part.content_type, 60)}:{part.size_bytes.bit_length()}")
        found.extend(["magic=" + kind for start, kind in _MAGIC if part.payload_magic.startswith(start)])
    if part.document is not None:
        found.extend(_document_tokens(part.document))
    return found


def _file_tokens(filename: str) -> list[str]:
    """The ending of a file's name, a double one as well (pdf.exe), and the words of the rest."""
    found: list[str] = []
    name = name_on_windows(" ".join(filename.split()))[-200:]
    stem, dot, ending = name.rpartition(".")
    if dot:
        found.append("ending=" + atom(ending, 10))
        second = stem.rstrip().rpartition(".")
        if second[1] and 1 < len(second[2]) <= 4:
            found.append("ending=" + atom(second[2] + "." + ending, 14))
    found.extend(["file=" + word for word in words(stem or name, MAX_NAME_WORDS)])
    if not name.isascii():
        from nbspam.tokens.unicode_words import has_zero_width  # ASCII mail does not pay for it

        if has_zero_width(filename):
            found.append("file=#zero-width")
    return found


def _document_tokens(document: Document) -> list[str]:
    """What a document says of itself and does, and what an archive holds."""
    found = ["document=#" + mark for mark in document.marks]
    for name in document.names:
        stem, dot, ending = name[-200:].lower().rpartition(".")
        if dot:
            found.append("inside=." + atom(ending, 10))
        found.extend(["inside=" + word for word in words(stem or ending, MAX_NAME_WORDS)])
    for text in document.says:
        found.extend(["document=" + word for word in words(text, MAX_NAME_WORDS)])
    return found


def page_tokens(html: Html) -> list[str]:
    """Words of the title and of what is shown for images; how much is split or in comments."""
    found = ["title=" + word for word in words(html.title, MAX_TITLE_WORDS)]
    found.extend(["alt=" + word for word in words(" ".join(html.alts), MAX_ALT_WORDS)])
    if html.comments:
        found.append(f"comments={html.comments.bit_length()}")
    if html.joined:
        found.append(f"joined={html.joined.bit_length()}")
    return found
