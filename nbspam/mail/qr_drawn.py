"""QR codes that a text draws with blocks: its lines to a picture.

Hides that a character is as high as two modules: it shows two, or the half of one.
"""

from __future__ import annotations

from nbspam.mail.limits import Allowance
from nbspam.mail.message import Document
from nbspam.mail.qr_finder import codes

FULL_BLOCK = "\u2588"  # in every such drawing
_UPPER = {ord(" "): 0, ord("\u00a0"): 0, ord("\u2580"): 1, ord("\u2584"): 0, ord(FULL_BLOCK): 1}
_LOWER = {**_UPPER, ord("\u2580"): 0, ord("\u2584"): 1}
_LEAST_LINES = 11  # of the smallest code, without the light border
_MAX_WIDTH = 250  # characters; two are a module where no halves are used


def drawn(texts: list[str]) -> Document:
    """What the QR codes in the texts of a message say."""
    document = Document()
    allowance = Allowance()
    for text in texts:
        lines: list[str] = []
        for line in [*text.split("\n"), "."]:
            if _UPPER.keys() >= set(map(ord, line)):
                if (
                    not line.isspace() and line
                ):  # a page may have empty lines between, and no line of a code is
                    lines.append(line)
                continue
            if len(lines) >= _LEAST_LINES:
                for says in codes(_picture(lines), allowance):
                    document.shows_code(says)
            lines = []
    return document


def _picture(lines: list[str]) -> list[bytes]:
    width = min(max(map(len, lines)), _MAX_WIDTH)
    rows: list[bytes] = []
    for line in lines[:_MAX_WIDTH]:
        shown = line[:width].ljust(width)
        rows += [bytes(map(half.__getitem__, map(ord, shown))) for half in (_UPPER, _LOWER)]
    return rows
