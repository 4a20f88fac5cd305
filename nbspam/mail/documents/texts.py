"""Files of text that programs open by their names: what who opens them gets of them.

Hides which endings are of pages, scripts, shortcuts and tables.  Of a page that is its text, its scripts and
where it leads to; a script is run, not read; of a shortcut only the address counts; all else is text.
"""

from __future__ import annotations

from nbspam.mail.charset import UTF_16, charset_of_page, decode
from nbspam.mail.limits import MAX_DOCUMENT_ITEMS, MAX_UNPACKED_PIECES
from nbspam.mail.message import MAX_TEXT, PAGE_ENDINGS, Document, name_on_windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nbspam.mail.limits import Allowance

MAX_BYTES = 100_000  # of one file
MAX_FILES = 5  # of an archive, pages first
BYTES_AN_ITEM = 5  # of a file in an archive: few bytes there may be many when they are unpacked
# As much is left to documents that show a text.
_SPARE_PIECES, _SPARE_ITEMS = MAX_UNPACKED_PIECES // 2, MAX_DOCUMENT_ITEMS // 2
_SCRIPTS = frozenset(("bat", "cmd", "js", "jse", "mjs", "ps1", "sct", "vbe", "vbs", "wsc", "wsf", "xsl"))
_SHORTCUTS = frozenset(("desktop", "iqy", "rdp", "scf", "slk", "url", "webloc"))
_SHOWN = frozenset(("csv", "json", "log", "md", "txt", "xml"))
_KNOWN = _SCRIPTS | _SHORTCUTS | _SHOWN
_IN_ARCHIVES = _KNOWN - {"xml"}  # which is part of something there, as of an office document
_FOR_MACS = b"__macosx/"  # what the system notes of files, under their names
_ENDS = dict.fromkeys((*range(33), *map(ord, "<>\"'`{}|")), " ")  # of an address
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_SCHEME = 12
_MAX_ADDRESS = 2_000
_REMOTE = ("full address:s:", "gatewayhostname:s:")  # before the hosts of a remote desktop


def read_members(
    files: list[tuple[bytes, int]],
    content: Callable[[int], bytes],
    document: Document,
    allowance: Allowance,
) -> None:
    """Adds to the document what the first pages and other texts in an archive show.

    files   : names in lower case, and where they stand
    content : the first bytes of the file that stands somewhere
    """
    named = [(name.decode("utf-8", "replace"), at) for name, at in files if not name.startswith(_FOR_MACS)]
    pages = [file for file in named if _is_page(file[0])]
    others = [file for file in named if _ending(file[0]) in _IN_ARCHIVES]
    for name, at in (pages + others)[:MAX_FILES]:
        if allowance.unpacked_pieces <= _SPARE_PIECES or allowance.document_items <= _SPARE_ITEMS:
            return
        payload = content(at)[:MAX_BYTES]
        allowance.document_items -= len(payload) // BYTES_AN_ITEM
        if _is_page(name):
            _read_page(payload, document, allowance)
        elif not _has_zeros(payload):
            _read_text(_ending(name), payload, document, allowance)


def text_document(name: str, payload: bytes, allowance: Allowance) -> Document | None:
    """What an attached file of this name shows, does or leads to; None, if it is another than these.

    name : in lower case
    """
    if _ending(name) not in _KNOWN or _has_zeros(payload):
        return None
    document = Document()
    _read_text(_ending(name), payload, document, allowance)
    return document


def _read_text(ending: str, payload: bytes, document: Document, allowance: Allowance) -> None:
    text = decode(payload[:MAX_BYTES], "", allowance)[0]
    if ending in _SCRIPTS:
        document.scripts.append(text)
    elif ending in _SHORTCUTS:
        _follow(text, document)
    else:
        document.shows(text)
        _follow(text[MAX_TEXT:], document)


def _has_zeros(payload: bytes) -> bool:
    """Whether it is no text."""
    return b"\0" in payload and not payload.startswith(UTF_16)


def _is_page(name: str) -> bool:
    return name_on_windows(name).endswith(PAGE_ENDINGS)


def _ending(name: str) -> str:
    """Behind the last full stop of a name; "" if there is none."""
    _, dot, ending = name_on_windows(name).rpartition(".")
    return ending if dot else ""


def _read_page(page: bytes, document: Document, allowance: Allowance) -> None:
    from nbspam.mail.html import read_html

    if b"<" not in page:
        return
    label = "" if page.isascii() else charset_of_page(page)
    html = read_html(decode(page, label, allowance)[0])
    for address in [*[link for link, _ in html.links], *html.images]:
        document.leads_to("http:" + address if address.startswith("//") else address)
    document.scripts.extend(html.scripts)
    if html.title:
        document.says.append(html.title)
    document.shows(html.visible)


def _follow(text: str, document: Document) -> None:
    """Note the addresses in a text, and hosts that Windows is sent to without a scheme."""
    for word in text.translate(_ENDS).split():
        before, colon, behind = word[:_MAX_ADDRESS].partition("://")
        scheme = before[len(before.rstrip(_LETTERS)) :][-_MAX_SCHEME:]
        if scheme.lower() == "file":
            document.leads_to(_shared(behind))
        elif scheme and behind:
            document.leads_to(scheme + colon + behind.rstrip(".,;:!?)"))
        elif not colon and (word.startswith("\\\\") or "=\\\\" in word):
            document.leads_to(_shared(word[word.find("\\\\") + 2 :][:_MAX_ADDRESS]))
    for line in text.splitlines():
        if line.lower().startswith(_REMOTE):
            document.leads_to("rdp://" + line.partition(":s:")[2].strip()[:_MAX_ADDRESS])


def _shared(address: str) -> str:
    """The address of a file that a host shares; behind the name of this, `@` and by which port it does."""
    host, slash, path = address.replace("\\", "/").partition("/")
    return "file://" + host.partition("@")[0] + slash + path
