"""A page of HTML -> Html: what a person sees of it, what is there and not seen, where it leads.

One walk over the pieces between one `<` and the next.  Its time is linear, because each search among the open
elements and among the rules of sheets is bounded.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, islice

from nbspam.mail.html.entities import decode_references
from nbspam.mail.html.styles import MOST, NORMAL, TINY, TRANSPARENT, Sheet, find_asked, is_screen
from nbspam.mail.html.tags import BLOCK, BREAK, CLOSE, OPEN, RAW, Tag, resolve
from nbspam.mail.message import Html, pin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html.styles import Properties

MAX_TAGS = 12_000  # what follows the last one is taken for text; honest mail has a third
MAX_REACH = 100  # open elements that are looked at in search of one to end
MAX_SHEETS = 100  # style elements that are read
MAX_REMEMBERED_TAGS = 2_000  # tags known by their text
MAX_REMEMBERED_TAG = 300  # characters
MAX_RESOLVED = 300  # links, and pictures, that are resolved by the base of the page; no more are counted
NEAR = 20  # of a channel: #eeeeee on white cannot be read, #cccccc is a common footer that can

# Tags without regard to sheets: sharing them changes no result.
_remember_tag = lru_cache(MAX_REMEMBERED_TAGS)(Tag)
_NOTHING = Tag("/wbr")  # markup that is no element
# `size`: pixels;  `around`: marks that rules want around others.
_ROOT: Properties = {"gone": False, "quoted": False, "visibility": "visible", "size": NORMAL}
_ROOT |= {"colour": 0, "background": 0xFFFFFF, "around": frozenset(), "leftward": False, "override": False}
_FALLBACKS = frozenset(("iframe", "noembed", "noframes"))
_FOREIGN = frozenset(("svg", "math", "select"))  # in these no fallback is known
_TURN, _TURN_BACK = "\u202e", "\u202c"  # what is between them, of one line, is shown from right to left


class State:
    """What a text inherits.

    values : by name, as in _ROOT
    hidden : nobody sees it;  gone : it does not even take a place
    turned : its letters are shown from right to left, whatever they are
    parent : the element around has marks that only its children may ask for
    inside : the state inside each tag that changes it
    """

    __slots__ = ("gone", "hidden", "inside", "parent", "turned", "values")

    def __init__(self, values: Properties) -> None:
        self.values = values
        self.gone = values["gone"]
        is_seen = values["visibility"] not in ("hidden", "collapse") and values["size"] > TINY
        self.hidden = self.gone or not is_seen or is_invisible(values["colour"], values["background"])
        self.turned = values["override"] and values["leftward"]
        self.parent = any(mark[0] == ">" for mark in values["around"])
        self.inside: dict[Tag, State] = {}


def is_invisible(colour: int, background: int) -> bool:
    """True if letters of this colour cannot be told from their background."""
    if colour < 0 or background < 0:  # UNKNOWN_COLOUR or TRANSPARENT
        return colour == TRANSPARENT
    channels = zip(colour.to_bytes(3, "big"), background.to_bytes(3, "big"), strict=True)
    return all(abs(one - other) <= NEAR for one, other in channels)


def read_html(text: str) -> Html:
    """Read an HTML text; never raises, whatever it is."""
    return _Reader(text.replace("\0", "")).read()


class _Reader:
    """One reading: the pieces of the text, the open elements, and what was found."""

    def __init__(self, text: str) -> None:
        self.walk = iter(text.split("<"))
        self.text = text  # in which <body> is looked for, "" if it has one
        self.html = Html()
        self.visible = [decode_references(next(self.walk))]
        self.hidden: list[str] = []
        self.opened: list[tuple[Tag, State]] = []  # elements, and the state outside of each
        self.known: dict[tuple[frozenset[str], str], Tag] = {}  # by what is around, and their text
        self.root = State(_ROOT)  # outside of all elements
        self.sheet = Sheet()
        self.sheets = 0  # style elements that were read
        self.link: str | None = None  # the target of the link that is open
        self.start = 0  # where its text begins
        self.base: str | None = None

    def read(self) -> Html:
        """Walk over the tags.  The loop is long because it is the one place where time is spent."""
        visible, opened, html, known = self.visible, self.opened, self.html, self.known
        state = self.root
        mark = -1  # how much was visible where a word may have been split
        for piece in islice(self.walk, MAX_TAGS):
            text, ended, rest = piece.partition(">")
            tag = known.get((state.values["around"], text))
            if tag is None or not ended:
                tag, rest = self._read_tag(piece, state)
            html.tags += tag.is_start
            if tag.kind == OPEN:
                opened.append((tag, state))
                state = self._enter(state, tag)
                mark = len(visible) if not rest or state.hidden else -1
            elif tag.kind == CLOSE:
                state = self._end(tag, state)
            elif tag.kind == BLOCK:
                state = self._begin_block(tag, state)
                mark = len(visible) if state.gone else mark
            elif tag.kind == BREAK:
                self._separate(state)
            else:
                if tag.kind == RAW:
                    rest = self._take_raw(tag, rest, state)
                    state = self._imply_body(state) if tag.name == "style" else state
                mark = len(visible)
            if tag.noted:
                self._note(tag, state)
            if rest:
                rest = decode_references(rest) if "&" in rest else rest
                if state.hidden:
                    self.hidden.append(rest)
                    continue
                html.joined += (
                    mark == len(visible) and pin(rest[0]).isalnum() and pin(visible[-1][-1:]).isalnum()
                )
                html.quoted += rest.count("\n") if state.values["quoted"] else 0
                visible.append(rest if not state.turned else _TURN + rest.replace("\n", " ") + _TURN_BACK)
        return self._finish()

    def _begin_block(self, tag: Tag, state: State) -> State:
        """The state inside a block, which begins a new line."""
        state = self._end(tag, state)
        self.opened.append((tag, state))
        state = self._enter(state, tag)
        self._separate(state)
        return state

    def _imply_body(self, state: State) -> State:
        """The state after a sheet: its rules for <body> hold in a page without one, too (HTML, 13.1.2.4)."""
        rules = self.sheet.find_rules(frozenset(("body",)), frozenset(("html",)))
        if rules and self.root.values is _ROOT and "<body" in self.text.lower():
            self.text = ""
        if not rules or not self.text:
            return state
        root = self.root
        self.root = self._enter(root, Tag("body", rules, self.sheet.asked))
        self.opened[:] = [(tag, self.root if outer is root else outer) for tag, outer in self.opened]
        return self.root if state is root else state

    def _finish(self) -> Html:
        """What was found, with all after the last tag that counts as text."""
        self.visible.extend(["<" + piece for piece in self.walk])
        self._end_link()
        html, base = self.html, self.base
        html.visible = "".join(self.visible)
        html.hidden = "".join(self.hidden)
        if base:
            html.links = [(resolve(base, target), text) for target, text in html.links[:MAX_RESOLVED]]
            html.images = [resolve(base, source) for source in html.images[:MAX_RESOLVED]]
        return html

    def _enter(self, state: State, tag: Tag) -> State:
        """The state inside an element."""
        if not tag.look and not state.parent:
            return state
        if tag not in state.inside:
            outer, look = state.values, tag.look
            values = outer | look
            inherited = [mark for mark in outer["around"] if mark[0] != ">"]
            if values["size"] < 0:
                values["size"] = min(-values["size"] * outer["size"], MOST)
            values["around"] = look.get("around", frozenset()).union(inherited)
            state.inside[tag] = State(values)
        return state.inside[tag]

    def _end(self, tag: Tag, state: State) -> State:
        """End the innermost element that a tag ends, with all inside it; the state after it."""
        inside = state
        for index in reversed(range(len(self.opened))[-MAX_REACH:] if tag.ends else ()):
            each, outside = self.opened[index]
            if each.name not in tag.stops:
                inside = outside
                continue
            if each.name not in tag.ends:
                break
            if each.kind == BLOCK:
                self._separate(inside)
            del self.opened[index:]
            return outside
        if tag.name == "p" and not tag.is_start:  # that makes an empty paragraph
            self._separate(state)
        return state

    def _separate(self, state: State) -> None:
        """Begin a new line; not in the visible text where nothing takes any place."""
        if state.hidden:
            self.hidden.append("\n")
        if not state.gone:
            self.visible.append("\n")
            self.html.quoted += state.values["quoted"]

    def _note(self, tag: Tag, state: State) -> None:
        """Note what a tag says in addition to its effect on text."""
        self.html.colours.update(tag.colours)
        self.html.images.extend(tag.pictures)
        if tag.alt:
            self.html.alts.append(tag.alt)
        if tag.shown:
            self._add_inside(tag, state, f" {tag.shown}\n")
        if tag.name == "a":
            self._end_link()
            self.link = tag.link
            self.start = len(self.visible)
        elif tag.name == "base":
            self.base = tag.link if self.base is None else self.base  # the first one counts
        elif tag.link is not None:
            self.html.links.append((tag.link, ""))

    def _add_inside(self, tag: Tag, state: State, text: str) -> None:
        """Add a text that an element shows by itself."""
        (self.hidden if self._enter(state, tag).hidden else self.visible).append(text)

    def _end_link(self) -> None:
        if self.link is not None:
            self.html.links.append((self.link, "".join(self.visible[self.start :]).strip()))
            self.link = None

    def _read_tag(self, piece: str, state: State) -> tuple[Tag, str]:
        """The tag that a piece begins with, and the text after it."""
        first = piece[:1]
        if first == "!":
            is_comment = piece.startswith("!--")
            self.html.comments += is_comment or piece[1:8].lower() != "doctype"
            inside = piece[1:4].replace("!", " ") + piece[4:]  # <!--!> is no end
            rest = self._skip_past("-->", inside) if is_comment else self._skip_past(">", piece)
            return _NOTHING, rest
        letter = piece[1:2] if first == "/" else first
        if not (letter.isascii() and letter.isalpha()):
            rest = self._skip_past(">", piece) if first in ("?", "/") else "<" + piece
            return _NOTHING, rest
        text, rest = self._read_whole_tag(piece)
        if not text:
            return _NOTHING, ""
        around, sheet = state.values["around"], self.sheet
        is_drawn = "svg" in around
        is_short = len(text) <= MAX_REMEMBERED_TAG and not is_drawn
        tag = _remember_tag(text) if is_short else Tag(text, is_drawn=is_drawn)
        rules = sheet.find_rules(tag.marks, around) if tag.is_start and sheet.rules else []
        asked = find_asked(tag.marks, sheet.asked)
        if rules or state.parent or not asked <= around:
            tag = Tag(text, rules, sheet.asked, is_drawn)
        self.known[around, text] = tag
        return tag, rest

    def _read_whole_tag(self, piece: str) -> tuple[str, str]:
        """The text of a tag and what follows; a `>` in quotes is no end, and without an end all is lost."""
        text, ended, rest = piece.partition(">")
        if ended and not (text.count('"') & 1 or text.count("'") & 1):
            return text, rest
        kept: list[str] = []
        quote = last = ""
        for part in chain((piece,), self.walk):
            for place, char in enumerate(part):
                if quote:
                    quote = "" if char == quote else quote
                elif char == ">":
                    return "<".join([*kept, part[:place]]), part[place + 1 :]
                elif last == "=" and char in "\"'":
                    quote = char
                last = char if char > " " else last
            kept.append(part)
        return "", ""

    def _skip_past(self, marker: str, piece: str) -> str:
        """The text after a marker, in this piece or a later one; `--!>` ends a comment, too."""
        while marker not in (piece := piece.replace("--!>", "-->", 1)):
            piece = next(self.walk, marker)
        return piece.partition(marker)[2]

    def _take_raw(self, tag: Tag, rest: str, state: State) -> str:
        """Take the content of an element without markup; the text after it."""
        if tag.name in _FALLBACKS and any(each.name in _FOREIGN for each, _ in self.opened[-MAX_REACH:]):
            return rest  # an element as any other one
        name, kept, rest = tag.name, [rest], ""
        for piece in self.walk:
            if piece[:1] == "/" and piece[1 : len(name) + 2].lower().rstrip(" \t\r\n\f/>") == name:
                rest = piece.partition(">")[2]
                break
            kept.append(piece)
        content = "<".join(kept)
        if name == "title":
            self.html.title = self.html.title or decode_references(content).strip()
        elif name == "style" and self.sheets < MAX_SHEETS and is_screen(tag.media):
            self.sheets += 1
            self.sheet.read(content)
            self.known.clear()  # tags mean something else from here on
        elif name in ("textarea", "xmp", "plaintext"):
            self._add_inside(tag, state, f"\n{decode_references(content)}\n")
        return rest
