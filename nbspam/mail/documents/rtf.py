"""Rich text (RTF): the text that it shows, and where its links lead to.

Hides how the format is written: groups in braces, words behind backslashes, most of which are about looks.
Source: Microsoft, Rich Text Format Specification 1.9.1.
"""

from __future__ import annotations

import re

from nbspam.mail.charset import canonical, decode_with, with_halves_joined
from nbspam.mail.message import MAX_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.limits import Allowance
    from nbspam.mail.message import Document

_ITEM = re.compile(
    rb"\\'([0-9A-Fa-f]{2})|\\([a-z]{1,32})(-?\d{1,9})? ?|\\(.)|([{}])|([^\\{}\r\n]+)", re.DOTALL
)
# Groups that show nothing themselves; so does what begins with \* and is not known.
_NOT_SHOWN = frozenset(
    b"fonttbl colortbl stylesheet info pict objdata fldinst themedata colorschememapping datastore xmlnstbl "
    b"latentstyles listtable listoverridetable rsidtbl filetbl revtbl generator nonshppict".split()
)
_BREAKS = frozenset(b"par line tab cell row sect page column nestcell nestrow".split())
_CHARACTERS = {
    b"emdash": "\u2014",
    b"endash": "\u2013",
    b"lquote": "\u2018",
    b"rquote": "\u2019",
    b"ldblquote": "\u201c",
    b"rdblquote": "\u201d",
    b"bullet": "\u2022",
    **dict.fromkeys((b"emspace", b"enspace", b"qmspace"), " "),
}
# What the bytes of a font are, by the number of its alphabet in Windows.
_ALPHABETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}


def read_rtf(payload: bytes, document: Document, allowance: Allowance) -> None:
    """Fills the document with the text of the file and the targets of its links."""
    reader = _Reader()
    item = _ITEM.search(payload)
    while item and reader.length < MAX_TEXT and allowance.document_items > 0:
        allowance.document_items -= 1
        reader.take(item)
        binary = int(item[3] or 0) if item[2] == b"bin" else 0  # bytes behind it
        item = _ITEM.search(payload, item.end() + max(binary, 0))
    reader.flush()
    document.text = with_halves_joined("".join(reader.found))
    document.follows(b"".join(reader.instructions).decode("utf-8", "replace"))


class _Group:
    """What holds to the end of a group.

    hidden      : it shows nothing
    invisible   : nor does its text from here on
    instruction : it tells what a field does, as to lead somewhere
    fallback    : bytes behind a character by number, for readers that know only bytes
    font        : its number
    """

    __slots__ = ("fallback", "font", "hidden", "instruction", "invisible")

    def __init__(self, outer: _Group | None = None) -> None:
        self.hidden: bool = outer.hidden if outer else False
        self.invisible: bool = outer.invisible if outer else False
        self.instruction: bool = outer.instruction if outer else False
        self.fallback: int = outer.fallback if outer else 1
        self.font: int = outer.font if outer else 0


class _Reader:
    """The items of a file one after the other to text.

    found, length : what is shown, and its characters
    instructions  : of fields
    """

    __slots__ = (
        *("_codec", "_codecs", "_group", "_outer", "_raw", "_skip", "_starred"),
        *("found", "instructions", "length"),
    )

    def __init__(self) -> None:
        self.found: list[str] = []
        self.length = 0
        self.instructions: list[bytes] = []
        self._group = _Group()
        self._outer: list[_Group] = []
        self._codec = "cp1252"
        self._codecs: dict[int, str] = {}  # of fonts that have one of their own
        self._raw = bytearray()  # bytes of shown text whose characters are not complete
        self._skip = 0  # bytes that a character by number stands for
        self._starred = False  # whether an unknown word hides the group

    def take(self, item: re.Match[bytes]) -> None:
        """One item of _ITEM."""
        digits, word, amount, symbol, brace, text = item.groups()
        if text is not None:
            self._add(text)
        elif digits:
            self._add(bytes.fromhex(digits.decode()))
        elif word:
            self._follow(word, int(amount) if amount else None)
        elif brace:
            self.flush()
            self._skip = 0
            if brace == b"{":
                self._outer.append(self._group)
                self._group = _Group(self._group)
            elif self._outer:
                self._group = self._outer.pop()
        elif symbol == b"*":
            self._starred = True
        elif symbol in b"\\{}":
            self._add(symbol)
        elif symbol == b"_":  # a hyphen at which no line ends
            self._add(b"-")
        elif symbol in b"~\r\n":
            self._show(" ")

    def _add(self, raw: bytes) -> None:
        raw, self._skip = raw[self._skip :], max(self._skip - len(raw), 0)
        if self._group.instruction:
            self.instructions.append(raw)
        elif not (self._group.hidden or self._group.invisible):
            self._raw += raw

    def _show(self, text: str) -> None:
        self.flush()
        if not (self._group.hidden or self._group.invisible):
            self.found.append(text)
            self.length += len(text)

    def flush(self) -> None:
        """Decodes the bytes that wait."""
        if self._raw:
            codec = self._codecs.get(self._group.font, self._codec)
            text = decode_with(codec, bytes(self._raw))
            self._raw.clear()
            self.found.append(text)
            self.length += len(text)

    def _follow(self, word: bytes, amount: int | None) -> None:
        if word == b"fldinst":
            self._group.instruction = self._group.hidden = True
        elif word in _NOT_SHOWN or self._starred:
            self._group.hidden = True
        elif word in (b"v", b"plain"):
            self._group.invisible = word == b"v" and amount != 0
        elif word == b"shptxt":  # in a shape, which is not shown itself
            self._group.hidden = False
        elif word == b"f" and amount is not None:
            self.flush()
            self._group.font = amount
        elif word == b"fcharset" and amount in _ALPHABETS:
            self._codecs[self._group.font] = _ALPHABETS[amount]
        elif word in _BREAKS:
            self._show("\n")
        elif word in _CHARACTERS:
            self._show(_CHARACTERS[word])
        elif word == b"u" and amount is not None:
            self._show(chr(amount & 0xFFFF))
            self._skip = self._group.fallback
        elif word == b"uc":
            self._group.fallback = max(amount or 0, 0)
        elif word == b"ansicpg":
            self._codec = canonical(f"cp{amount}") or self._codec
        self._starred = False
