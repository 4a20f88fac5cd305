"""The text of a page between one `<` and the next: Pieces, and the attributes in it.

Hides how what has no markup inside is passed over: comments, tags with a `<` in their quotes, scripts;
and the syntax of attributes: quotes, slashes, duplicates.
Every piece is looked at once, so that it stays linear.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbspam.mail.html.elements import Element
    from nbspam.mail.html.sheet import Sheet

MAX_NAME = 40  # characters of an attribute's name that are kept
NAME_ENDS = ("", ">", " ", "/", "\t", "\n", "\r", "\f")
CONDITION = "<!--[if"  # begins a comment that is markup for Outlook
_DECLARING = ("!", "?")  # begin what is a comment, or is taken for one
_SPACE = " \t\r\n\f"


class Pieces:
    """A text cut at each `<`, and how far it has been read."""

    __slots__ = ("_index", "_offset", "_skipped", "_whole", "gave_up", "text", "walk")

    def __init__(self, text: str) -> None:
        self.text = text
        self._whole = text.split("<")
        self.walk = iter(self._whole)
        self._index = self._offset = 0  # a piece, and where it begins in the text
        self.gave_up = False  # a tag had no end; each one ends at the next `>` from there on
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

    def attributes(
        self, met: int, piece: str, element: Element, sheet: Sheet | None
    ) -> tuple[dict[str, str] | None, bool, str]:
        """The attributes of meaning of the tag that a piece begins with, and the text behind it.

        They are None if the tag never ends; between them, whether the tag ends at the first `>`.
        """
        text, ended, rest = piece.partition(">")
        found = plain_attributes(text, element, sheet) if ended else None
        if found is not None:
            return found, True, rest
        wanted = wanted_attributes(element, sheet)
        if self.gave_up:
            found, end = _attributes(text, _end_of_name(text), wanted)
            return found, ended != "" and end == len(text), rest
        found, end = self._full_attributes(met, text, wanted)
        if end < 0:
            self.gave_up = True
            return None, False, rest
        if ended and end == len(text):
            return found, True, rest
        return found, False, self.skip(piece, end)

    def _full_attributes(self, met: int, text: str, wanted: frozenset[str]) -> tuple[dict[str, str], int]:
        """Attributes of a tag, and its end counted from its begin (-1: never)."""
        offset = self.locate(met)
        if self.text.find(">", offset) < 0:
            return {}, -1
        begin = _end_of_name(text)
        attributes, end = _attributes(self.text, offset + begin, wanted)
        return attributes, end - offset if end >= 0 else -1

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

    def declaration(self, met: int) -> str:
        """The piece that follows, by how many the loop has met, if it is a comment or the like."""
        index = met + self._skipped + 1
        following = self._whole[index] if index < len(self._whole) else ""
        return self._next() or "" if following[:1] in _DECLARING else ""

    def behind(self, marker: str, piece: str) -> str:
        """The text behind a marker, in this piece or a later one."""
        return self.parted(marker, piece)[1]

    def parted(self, marker: str, piece: str) -> tuple[str, str]:
        """The text up to a marker, in this piece or a later one, and that behind it."""
        before, found, tail = piece.partition(marker)
        kept = [before]
        while not found:
            following = self._next()
            if following is None:
                break
            before, found, tail = following.partition(marker)
            kept.append(before)
        return "<".join(kept), tail

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


def wanted_attributes(element: Element, sheet: Sheet | None) -> frozenset[str]:
    """The names of the attributes that mean something on an element."""
    if sheet is None or not sheet.attributes:
        return element.wanted
    return element.wanted | sheet.attributes


def plain_attributes(text: str, element: Element, sheet: Sheet | None) -> dict[str, str] | None:
    """The attributes of meaning in a tag whose syntax is plain; None if it takes _attributes to know.

    Plain is: double quotes only, an even number, each opening one behind a `=`.
    """
    parts = text.split('"')
    last = len(parts) - 1
    if last & 1 or ("'" in text and any("'" in part for part in parts[::2])):
        return None
    for index in range(0, last, 2):
        if parts[index][-1:] != "=":
            return None
    lower = text.lower()
    for hint in element.hints if sheet is None else (*element.hints, *sheet.hints):
        if hint in lower:
            break
    else:
        return {}
    wanted = element.wanted if sheet is None else wanted_attributes(element, sheet)
    found: dict[str, str] = {}
    for index in range(0, last + 1, 2):
        words = parts[index].split()
        if not index and "/" in words.pop(0)[:-1]:
            return None
        quoted = words.pop() if index < last and words else "="
        if words and not _add_bare(words, wanted, found):
            return None
        if index < last:
            if quoted.find("=", 1) != len(quoted) - 1 or "/" in quoted:
                return None
            name = quoted[:-1].lower()
            if name in wanted and name not in found:
                found[name] = parts[index + 1]
    return found


def _add_bare(words: list[str], wanted: frozenset[str], found: dict[str, str]) -> bool:
    """Add attributes written without quotes; False if spaces around a `=` or a slash make them no words."""
    for word in words:
        name, equals, value = word.partition("=")
        if (equals and not (name and value)) or ("/" in name and len(word) > 1):
            return False
        name = name.lower()
        if name in wanted and name not in found:
            found[name] = value
    return True


def _end_of_name(text: str) -> int:
    end = 1
    while end < len(text) and text[end] not in " \t\r\n\f/":
        end += 1
    return end


def _attributes(text: str, start: int, wanted: frozenset[str]) -> tuple[dict[str, str], int]:
    """The attributes from `start` on, and where the closing `>` stands (-1: nowhere) (HTML, 13.2.5.32)."""
    found: dict[str, str] = {}
    end = len(text)
    while True:
        while start < end and text[start] in " \t\r\n\f/":
            start += 1
        if start >= end:
            return found, -1
        if text[start] == ">":
            return found, start
        begin = start
        start += 1  # a `=` may begin a name
        while start < end and text[start] not in " \t\r\n\f/>=":
            start += 1
        name = text[begin : min(start, begin + MAX_NAME)].lower()
        while start < end and text[start] in _SPACE:
            start += 1
        value = ""
        if start < end and text[start] == "=":
            value, start = _value(text, start + 1)
            if start < 0:
                return found, -1
        if name in wanted and name not in found:
            found[name] = value


def _value(text: str, start: int) -> tuple[str, int]:
    end = len(text)
    while start < end and text[start] in _SPACE:
        start += 1
    quote = text[start : start + 1]
    if quote in ("'", '"'):
        stop = text.find(quote, start + 1)
        return text[start + 1 : stop], stop + 1 if stop >= 0 else -1
    stop = start
    while stop < end and text[stop] not in " \t\r\n\f>":
        stop += 1
    return text[start:stop], stop
