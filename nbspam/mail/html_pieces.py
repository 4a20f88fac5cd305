"""The text of a page between one `<` and the next: Pieces.

Hides how what has no markup inside is passed over: comments, tags with a `<` in their quotes, scripts.
Every piece is looked at once, so that it stays linear.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Pieces:
    """A text cut at each `<`, and how far it has been read."""

    __slots__ = ("_index", "_offset", "_skipped", "_whole", "text", "walk")

    def __init__(self, text: str) -> None:
        self.text = text
        self._whole = text.split("<")
        self.walk = iter(self._whole)
        self._index = self._offset = 0  # a piece, and where it begins in the text
        self._skipped = 0  # pieces taken here and not by the loop that reads the tags

    def numbered(self, limit: int) -> Iterator[tuple[int, str]]:
        """The pieces from the second on with their numbers, fewer than the limit of them."""
        if len(self._whole) <= limit:
            return enumerate(self.walk, 1)
        return zip(range(1, limit), self.walk, strict=False)

    def locate(self, met: int) -> int:
        """Where a piece begins in the text, by how many the loop has met."""
        index = met + self._skipped
        between = self._whole[self._index : index]
        self._offset += sum(map(len, between)) + len(between)
        self._index = index
        return self._offset

    def _next(self) -> str | None:
        self._skipped += 1
        return next(self.walk, None)

    def rest(self) -> str:
        """All that has not been read."""
        return "".join(["<" + piece for piece in self.walk])

    def skip(self, piece: str, end: int) -> str:
        """The text behind the character `end`, counted from the begin of this piece."""
        while end >= len(piece):
            end -= len(piece) + 1
            following = self._next()
            if following is None:
                return ""
            piece = following
        return piece[end + 1 :]

    def behind(self, marker: str, piece: str) -> str:
        """The text behind a marker, in this piece or a later one."""
        found, tail = piece.partition(marker)[1:]
        while not found:
            following = self._next()
            if following is None:
                return ""
            found, tail = following.partition(marker)[1:]
        return tail

    def behind_comment(self, piece: str) -> str:
        """The text behind a comment, whose piece begins with `!--`."""
        for empty in ("!-->", "!--->"):
            if piece.startswith(empty):
                return piece[len(empty) :]
        following: str | None = piece[3:]
        while following is not None:
            inside, found, tail = following.partition("-->")
            if "--!>" in inside:
                return inside.partition("--!>")[2] + found + tail
            if found:
                return tail
            following = self._next()
        return ""

    def raw(self, name: str, content: str) -> tuple[str, str]:
        """The content of an element without markup, and the text behind its end tag."""
        kept = [content]
        size = len(name) + 1
        comment = nested = False  # a script may hold a comment, and only in that comment another script
        while (piece := self._next()) is not None:
            if piece[:1] == "/" and piece[1:size].lower() == name and piece[size : size + 1] in NAME_ENDS:
                if not nested:
                    return "<".join(kept), piece.partition(">")[2]
                nested = False
            elif name == "script":
                comment = comment or piece.startswith("!--")
                nested = nested or (comment and piece[:6].lower() == name and piece[6:7] in NAME_ENDS)
            if comment and "-->" in piece:
                comment = nested = False
            kept.append(piece)
        return "<".join(kept), ""


NAME_ENDS = ("", ">", " ", "/", "\t", "\n", "\r", "\f")
