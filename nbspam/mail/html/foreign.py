"""Drawings and formulas in a page, SVG and MathML: what is markup in them, and what ends them.

Hides in which language an element stands (HTML, 13.2.6.5): the parts of a drawing that hold HTML again, and
the tags of HTML that end a drawing wherever they stand.  Loaded when a page has one.
"""

from __future__ import annotations

from copy import copy

from nbspam.mail.html.elements import CLOSE_UNKNOWN, INVISIBLE, OPEN_UNKNOWN, Element, word_set
from nbspam.mail.html.entities import decode
from nbspam.mail.html.pieces import Pieces
from nbspam.mail.html.stack import FOREIGN, OpenElements
from nbspam.mail.html.state import GONE, State
from nbspam.mail.html.tags import Tag, name_of

# HTML's own: they end what is foreign around them.
_BREAKING = word_set(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing "
    "menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
_BREAKING_ENDS = ("p", "br")
_OF_FONT = ("color", "face", "size")  # with one of these it is HTML's
# Elements with HTML inside, by where they are such.
_HOLDING = {
    **dict.fromkeys(("foreignobject", "desc", "title"), "svg"),
    **dict.fromkeys(("mi", "mo", "mn", "ms", "mtext"), "math"),
}
_KEPT = ("style", "script")  # of a drawing, whose text means what it does in HTML
_CHARACTERS = "![CDATA["  # begins text without markup


_END_OF_TITLE = Tag(Element("title", CLOSE_UNKNOWN))
_END_OF_TITLE.element.closes, _END_OF_TITLE.element.stops = frozenset(("title",)), FOREIGN


class _Holding(Tag):
    """An annotation of a formula that says it is HTML."""

    __slots__ = ()


class Foreign:
    """What is foreign of the open elements."""

    __slots__ = ("_opened",)

    def __init__(self, opened: OpenElements) -> None:
        self._opened = opened

    def _root(self) -> int:
        """Where the drawing or formula is that a start tag would be a part of; -1: it is HTML."""
        if not self._opened.is_in(FOREIGN):  # which is counted
            return -1
        tags, holding = self._opened.tags, set()
        for index in range(len(tags) - 1, -1, -1):
            name = tags[index].name
            if name in FOREIGN:
                return -1 if name in holding else index
            holding.add("math" if isinstance(tags[index], _Holding) else _HOLDING.get(name, ""))
        return -1

    def read(self, tag: Tag, text: str) -> Tag:
        """A tag as it is here: without content, if a slash says so; or one that holds HTML."""
        if text[0] == "/":
            return _END_OF_TITLE if name_of(text[1:]) == "title" else tag
        ends = _closes_itself(text)
        if not (ends or tag.name in ("annotation-xml", "title")) or _breaks(tag, text):
            return tag
        if tag.name not in FOREIGN and self._root() < 0:
            return tag
        if ends:
            tag = copy(tag)
            tag.kind, tag.effect = INVISIBLE, None
        elif tag.name == "title":
            tag = copy(tag)
            tag.kind, tag.effect = OPEN_UNKNOWN, GONE
        elif "text/html" in text.lower() or "application/xhtml+xml" in text.lower():
            holding = _Holding(tag.element)
            holding.effect = tag.effect
            return holding
        return tag

    def left(self, tag: Tag, text: str, state: State) -> State:
        """The state in which a tag stands, once it has ended what it cannot stand in."""
        if _breaks(tag, text):
            while (root := self._root()) >= 0:
                state = self._opened.end_all(root)
        elif text[:1] == "/" and tag.name in FOREIGN:  # ends all in it, if that is no HTML
            tags, root = self._opened.tags, self._root()
            if 0 <= root < len(tags) - 1 and tags[root].name == tag.name:
                return self._opened.end_all(root + 1)
        return state

    def is_in(self, names: frozenset[str]) -> bool:
        """Whether what begins now is a part of one of these."""
        root = self._root() if names else -1
        return root >= 0 and self._opened.tags[root].name in names

    def content(self, tag: Tag, met: int, rest: str, pieces: Pieces) -> tuple[str, str]:
        """The content of an element that has no markup in HTML, and what follows: here, its next tag."""
        root = self._root()
        around = self._opened.tags[root].name if root >= 0 else ""
        if not around:
            return pieces.raw(tag.name, rest)
        kept = [decode(rest)]
        while following := pieces.declaration(met):
            inside, behind = self.characters(following, pieces)
            kept += inside, decode(behind)
        return "".join(kept) if around == "svg" and tag.name in _KEPT else "", ""

    def characters(self, piece: str, pieces: Pieces) -> tuple[str, str]:
        """The text without markup that a declaration is, and what follows; none, if it is a comment."""
        if piece.startswith(_CHARACTERS) and self._root() >= 0:
            inside, behind = pieces.parted("]]>", piece)
            return inside[len(_CHARACTERS) :], behind
        return "", pieces.behind_comment(piece) if piece.startswith("!--") else pieces.behind(">", piece)


def _breaks(tag: Tag, text: str) -> bool:
    if text[:1] == "/":
        return tag.name in _BREAKING_ENDS
    if tag.name == "font":
        return any(name in text.lower() for name in _OF_FONT)
    return tag.name in _BREAKING


def _closes_itself(text: str) -> bool:
    """Whether the slash at the end is one, and no part of a value without quotes."""
    head = text[:-1]
    return text[-1] == "/" and (head[-1] in "\"'/ \t\r\n\f" or "=" not in head)
