"""How a message is made -> tokens of the structure view.

Hides what counts as form: content types, encodings, character sets, attachments, HTML tags
and colours, where links and images point, what is hidden from the reader.
"""

from __future__ import annotations

from nbspam.mail.message import name_on_windows
from nbspam.tokens.bag import EDGE, neighbours
from nbspam.tokens.urls import MAX_LINKS, host_of, url_tokens
from nbspam.tokens.words import Memory, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.message import Document, Html, Message, Part

MAX_HIDDEN_WORDS = 2_000
MAX_ALT_WORDS = 100
MAX_TAGS = 3_000
MAX_NAMES = 2_000  # tags or colours whose tokens are remembered
MAX_NAME = 40  # characters of one that is remembered
MAX_NAME_WORDS = 20
FIRST_WORDS = 5  # of the text whose pairs are read, and
LAST_WORDS = 25  # so many of its last: docs/experiments/edges.md
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


def edge_tokens(body: list[str]) -> list[str]:
    """Pairs of neighbours where a text begins and where it ends: how it greets, who signs it, what closes it.

    body : the words of the text, in order
    """
    edges = (body[:FIRST_WORDS], body[max(FIRST_WORDS, len(body) - LAST_WORDS) :])
    return [pair for edge in edges for pair in neighbours(edge, EDGE)]


def atom(text: str, limit: int) -> str:
    """What a mail declares, as one short token: no white space, for a token never holds any."""
    return "".join(text[: 4 * limit].split())[:limit]


def _tag(name: str) -> str:
    return "tag=" + atom(name, 20)


def _colour(name: str) -> str:
    return "colour=" + atom(name, 20)


_tags = Memory(_tag, MAX_NAMES, MAX_NAME)  # a page has hundreds of the same few
_colours = Memory(_colour, MAX_NAMES, MAX_NAME)


def message_tokens(message: Message, size_bytes: int) -> list[str]:
    """Content types in order, defects, and the size of the message as a power of two.

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
        name = name_on_windows(" ".join(part.filename.split()))[-200:]
        stem, dot, ending = name.rpartition(".")
        if dot:
            found.append("ending=" + atom(ending, 10))
            second = stem.rstrip().rpartition(".")
            if second[1] and 1 < len(second[2]) <= 4:
                found.append("ending=" + atom(second[2] + "." + ending, 14))
        found.extend(["file=" + word for word in words(stem or name, MAX_NAME_WORDS)])
        if not name.isascii():
            from nbspam.tokens.unicode_words import has_zero_width  # not paid for by ASCII mail

            if has_zero_width(part.filename):
                found.append("file=#zero-width")
    if not part.text and part.size_bytes:
        found.append(f"attached={atom(part.content_type, 60)}:{part.size_bytes.bit_length()}")
        found.extend(["magic=" + kind for start, kind in _MAGIC if part.payload_magic.startswith(start)])
    if part.document is not None:
        found.extend(document_tokens(part.document))
    return found


def document_tokens(document: Document) -> list[str]:
    """What an archive holds; where a document leads to, what it says of itself and what it does."""
    found = ["document=#" + mark for mark in document.marks]
    for name in document.names:
        stem, dot, ending = name[-200:].lower().rpartition(".")
        if dot:
            found.append("inside=." + atom(ending, 10))
        found.extend(["inside=" + word for word in words(stem or ending, MAX_NAME_WORDS)])
    for text in document.says:
        found.extend(["document=" + word for word in words(text, MAX_NAME_WORDS)])
    for address in document.addresses:
        found.extend(url_tokens(address))
    return found


def html_tokens(html: Html) -> list[str]:
    """Tags and colours, link and image targets, and the words that a reader does not see."""
    found = list(map(_tags.__getitem__, html.tags[:MAX_TAGS]))
    found.extend(map(_colours.__getitem__, html.colours[:MAX_TAGS]))
    for target, text in html.links[:MAX_LINKS]:
        found.extend(url_tokens(target))
        if text and "." in text and "://" in target and disagrees(target, text):
            found.append("link=#disagrees")
    for source in html.images[:MAX_LINKS]:
        scheme = "//" if source.startswith("//") else source.partition(":")[0]  # that of the page
        found.append("image=" + atom(scheme.lower(), 6))
        found.extend(url_tokens(source))
    if any(html.alts):
        found.extend(["alt=" + word for word in words(" ".join(html.alts), MAX_ALT_WORDS)])
    if html.scripts:
        from nbspam.tokens.scripts import script_tokens  # few mails have one

        found.extend(script_tokens("\n".join(html.scripts)))
    if html.comments:
        found.append(f"comments={html.comments.bit_length()}")
    if html.joined:
        found.append(f"joined={html.joined.bit_length()}")
    if html.hidden:
        hidden = words(html.hidden, MAX_HIDDEN_WORDS)
        # Lines and cells of no height keep parts of a page apart, and hide nothing.
        found.append("hidden=#" if hidden else "hidden=#blank")
        found.extend(["hidden=" + word for word in hidden])
    return found


def disagrees(target: str, text: str) -> bool:
    """Whether a link's text names another host than the link goes to."""
    shown = host_of(text)
    if "@" in text or " " in shown or "." not in shown.strip("."):
        return False
    return host_of(target).split(".")[-2:] != shown.split(".")[-2:]
