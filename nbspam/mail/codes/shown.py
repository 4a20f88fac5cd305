"""QR codes that a text shows: drawn with blocks, or in pictures that its addresses hold.

Hides that a block is as high as two modules: it shows two, or the half of one.
"""

from __future__ import annotations

from nbspam.mail.codes.finder import codes
from nbspam.mail.codes.png import read_png
from nbspam.mail.limits import Allowance
from nbspam.mail.message import Document
from nbspam.mail.transfer import base64_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL_BLOCK = "\u2588"  # in every such drawing
_UPPER = {ord(" "): 0, ord("\u00a0"): 0, ord("\u2580"): 1, ord("\u2584"): 0, ord(_FULL_BLOCK): 1}
_LOWER = {**_UPPER, ord("\u2580"): 0, ord("\u2584"): 1}
_LEAST_LINES = 11  # of the smallest code, without the light border
_MAX_WIDTH = 250  # characters; two are a module where no halves are used


def shown_codes(texts: list[str], pictures: list[str]) -> Document:
    """What the QR codes say that the texts of a message draw, and those in addresses `data:image/png`."""
    document = Document()
    allowance = Allowance()
    for text in texts:
        for lines in _drawings(text):
            for says in codes(_rows(lines), allowance):
                document.shows_code(says)
    for address in pictures:
        read_png(base64_run(address.partition(",")[2].encode("ascii", "ignore")), document, allowance)
    return document


def _drawings(text: str) -> Iterator[list[str]]:
    """The runs of lines that are blocks alone, and enough for a code."""
    lines: list[str] = []
    for line in [*text.split("\n"), "."]:
        if not _UPPER.keys() >= set(map(ord, line)):
            if len(lines) >= _LEAST_LINES:
                yield lines
            lines = []
        elif line and not line.isspace():  # a page may have empty lines between; no line of a code is empty
            lines.append(line)


def _rows(lines: list[str]) -> list[bytes]:
    width = min(max(map(len, lines)), _MAX_WIDTH)
    rows: list[bytes] = []
    for line in lines[:_MAX_WIDTH]:
        shown = line[:width].ljust(width)
        rows += [bytes(map(half.__getitem__, map(ord, shown))) for half in (_UPPER, _LOWER)]
    return rows
