"""HTML text -> Html: what a reader sees of it, what he does not, and where it leads.

Hides how a browser builds a page out of broken markup.  The reader goes over the tags once, keeps the
open elements on a stack, and knows for each piece of text whether the styles, colours and sizes around
it leave it visible.  Linear in time, without recursion, never raises.
"""

from __future__ import annotations

from nbspam.mail.html.elements import (
    ASKING,
    BODY,
    BREAK,
    CLOSE,
    CLOSE_BLOCK,
    CLOSE_FORM,
    CLOSE_UNKNOWN,
    EMPTY,
    LOST,
    OPEN,
    OPEN_APART,
    OPEN_AWAY,
    OPEN_BLOCK,
    OPEN_FORM,
    OPEN_SHADOW,
    OPEN_SINGLE,
    OPEN_SUMMARY,
    OPEN_TABLE,
    OPEN_TURNED,
    OPEN_UNKNOWN,
    RAW,
    RULE,
    TABLE_NAME,
)
from nbspam.mail.html.entities import decode
from nbspam.mail.html.pieces import CONDITION, Pieces
from nbspam.mail.html.stack import FOREIGN, OpenElements, Page, Quotes
from nbspam.mail.html.state import GONE, State
from nbspam.mail.html.tags import NOTED, NOTHING, UNENDED, Tag, attributed_tag, bare_tag
from nbspam.mail.message import Html

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html.foreign import Foreign

MAX_TAGS = 100_000  # what follows the last one is taken for text; a tag every ten characters of 1 MiB
MAX_ANCHOR = 1_000  # characters of a link's text
MAX_REMEMBERED = 8_192  # tags known by their text
MAX_REMEMBERED_TAG = 200  # characters
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")  # that begin the name of a tag

# Tags read before, by their text: pure, so sharing it between texts changes no result.
_remembered: dict[str, Tag] = {}


def read_html(text: str) -> Html:
    """Read an HTML text; never raises, whatever it is."""
    if "\0" in text:
        text = text.replace("\0", "")
    if "<!ENTITY" in text:
        from nbspam.mail.html.declared import with_entities  # a few drawings have one

        text = with_entities(text)
    reader = _Reader(text)
    html = reader.read()
    if reader.late:
        # A sheet stands behind text it may hide: read again with all sheets known.
        html = _Reader(text, Page(reader.page)).read()
    return html


class _Reader:
    """One reading: the pieces of the text, the open elements, and what was found."""

    __slots__ = (
        *("base", "foreign", "hidden", "html", "in_link", "known", "late", "link"),
        *("link_text", "noted", "open", "page", "pieces", "quotes", "raw", "root", "start"),
        *("titles", "visible"),
    )

    def __init__(self, text: str, page: Page | None = None) -> None:
        self.pieces = Pieces(text)
        self.html = Html()
        self.visible: list[str] = []
        self.hidden: list[str] = []
        self.titles: list[str] = []
        self.open, self.quotes = OpenElements(), Quotes()
        self.page = page or Page()
        self.root = self.page.root()
        self.noted: list[Tag] = []  # tags with an image, a colour or a link, in order
        self.late = False  # a sheet came behind text, or inside of elements that it may concern
        self.known = _remembered if page is None else {}
        self.raw = self.base = ""  # base: what relative addresses begin with
        self.link: str | None = None  # the target of the link that is open
        self.link_text, self.start = self.visible, 0  # and where its text begins
        self.in_link = False
        self.foreign: Foreign | None = None  # while a drawing or formula is open

    def read(self) -> Html:
        """Walk over the tags.  The loop is long because it is the one place where time is spent."""
        visible, hidden, opened, before = self.visible, self.hidden, self.open.tags, self.open.before
        known, names, state = self.known, self.html.tags, self.root
        mark = -1  # how much was visible where a word may have been split
        visible.append(decode(next(self.pieces.walk)))
        for met, piece in self.pieces.numbered(MAX_TAGS):
            text, ended, rest = piece.partition(">")
            tag = known.get(text)
            if tag is None or not ended:
                (tag, rest), known = self._meet(met, piece), self.known  # a variable changes them, too
                state = self.foreign.left(tag, text, state) if self.foreign is not None else state
            kind = tag.kind
            if kind == OPEN:
                names.append(tag.name)
                opened.append(tag)
                before.append(state)
                if tag.effect is not None:
                    state = state.after.get(tag.effect) or state.then(tag.effect)
                mark = len(visible) if not rest or state.hidden else -1
            elif kind == CLOSE and opened and opened[-1].ender == tag.name:
                del opened[-1]
                state = before.pop()
            elif kind <= BREAK:
                state = self._part(tag, state)
            else:
                mark = len(visible) if kind > EMPTY else mark
                state = self._unusual(tag, state)
                known = self.known  # a sheet changes what tags mean
            if tag.evidence:
                state = self._note(tag, state)
            if rest:
                rest = decode(rest) if "&" in rest else rest
                if state.hidden:
                    hidden.append(rest)
                    continue
                if mark == len(visible) and rest[0].isalnum() and visible[-1][-1:].isalnum():
                    self.html.joined += 1
                visible.append(rest)
        return self._finish()

    def _part(self, tag: Tag, state: State) -> State:
        """A block begins, an element ends, or a line breaks."""
        opened, kind = self.open, tag.kind
        if kind == CLOSE:
            if opened.tags and opened.tags[-1].name == tag.name:
                self._end_styled(opened.tags[-1], state)
            after = opened.close(tag, state)
            if after.gone and not state.gone and opened.tags and opened.tags[-1].element.special:
                self.visible.append("\n")  # behind a template that is all that is shown of a block
            return after
        if kind != CLOSE_BLOCK:
            self.html.tags.append(tag.name)
            if kind == OPEN_BLOCK:
                if not opened.tags or opened.tags[-1].name not in tag.room:
                    if tag.element.in_table and not opened.is_in(TABLE_NAME):
                        return state  # a cell or row without table is nothing
                    state = opened.make_room(tag, state)
                opened.tags.append(tag)
                opened.before.append(state)
                if tag.effect is not None or state.lining:
                    state = state.enter(tag.effect)
        ended, after = None, state
        if kind == CLOSE_BLOCK:
            if opened.tags and opened.tags[-1].name == tag.name:
                ended, after = opened.tags.pop(), opened.before.pop()
            else:
                depth = len(opened.tags)
                after = opened.close(tag, state)
                if depth == len(opened.tags) and opened.passes_over(tag):
                    return state
        if ended is None or ended.kind != OPEN_SINGLE:  # that is a block in the line
            if state.hidden:
                self._separate(state)
            else:
                self.visible.append("\n")
        return after

    def _finish(self) -> Html:
        self._end_link()
        html = self.html
        for tag in self.noted:
            html.colours.extend(tag.colours)
            html.images.extend(tag.images)
            html.alts.append(tag.alt)
            if tag.acts:
                html.scripts.append(tag.acts)
        if html.scripts:
            from nbspam.mail.html.acts import kept_for_scripts  # few pages have one

            html.scripts.extend(kept_for_scripts(self.pieces.text))
        if self.base or CONDITION in self.pieces.text:
            from nbspam.mail.html.addresses import complete  # few pages have one

            complete(html, self.base, self.pieces.text)
        html.visible, html.hidden = "".join([*self.visible, self.pieces.rest()]), "".join(self.hidden)
        html.title, html.quoted = "".join(self.titles).strip(), self.quotes.lines(self.visible)
        return html

    def _separate(self, state: State, kind: int = OPEN_APART) -> None:
        """A new line; none in the visible text where the page has nothing at all, or has it elsewhere."""
        if state.hidden:
            self.hidden.append("\n")
        if not (state.gone or (state.hidden and kind == OPEN_AWAY)):
            self.visible.append("\n")

    def _open_in_line(self, tag: Tag, state: State) -> State:
        """An element begins that its style puts into the line, or turns round; or a button."""
        opened, depth = self.open, len(self.open.tags)
        state = opened.push(tag, opened.make_room(tag, state) if tag.element.closes else state)
        if tag.element.special and (tag.kind == OPEN_TURNED or len(opened.tags) <= depth):
            self._separate(state)  # a block, or it ended one
        if tag.kind == OPEN_TURNED:
            (self.hidden if state.hidden else self.visible).append("\u202e")
        return state

    def _end_styled(self, tag: Tag, state: State) -> None:
        """An element ends that its style took out of the line, or turned round in it."""
        if tag.kind in (OPEN_APART, OPEN_AWAY):
            self._separate(state, tag.kind)
        elif tag.kind == OPEN_TURNED:
            (self.hidden if state.hidden else self.visible).append("\u202c")

    def _unusual(self, tag: Tag, state: State) -> State:
        if tag.kind == ASKING:
            return self._ask(tag, state)
        if tag.kind in (OPEN_TABLE, OPEN_APART, OPEN_AWAY):
            state = self.open.push(tag, self.open.make_room(tag, state) if tag.element.closes else state)
            self._separate(state, tag.kind)
        elif tag.kind in (OPEN_SINGLE, OPEN_TURNED):
            state = self._open_in_line(tag, state)
        elif tag.kind == OPEN_SUMMARY:
            state = self.open.push_summary(tag, self.open.make_room(tag, state))
            self._separate(state)
        elif tag.kind in (OPEN_UNKNOWN, OPEN_SHADOW):
            state = self._open_unknown(tag, state)
        elif tag.kind == RULE:
            state = self.open.make_room(tag, state)
            self._separate(state)
        elif tag.kind in (OPEN_FORM, CLOSE_FORM):
            inside = self.open.turn_form(tag, state, tag.kind == CLOSE_FORM)
            if inside is not None:
                self._separate(inside)
                state = inside
        elif tag.kind == CLOSE_UNKNOWN:
            return self.open.close(tag, state)
        elif tag.kind == RAW:
            state = self._take_raw(tag, state)
        elif tag.kind == BODY and self.page.meet(tag) and (self.open.tags or not self.page.is_plain(tag)):
            state = self.open.rebuild(0, self.page.root())
            if not "".join(self.hidden).strip():
                self.hidden.clear()  # blanks before the body are nothing
        elif tag.kind == LOST:
            self.open.tags.clear()
            self.open.before.clear()
            self.page.end()
            return state.then(GONE)
        if tag.name and tag.kind != CLOSE_FORM:
            self.html.tags.append(tag.name)
        return state

    def _open_unknown(self, tag: Tag, state: State) -> State:
        """An element begins that is none of HTML's own, or is so in few places."""
        if tag.kind == OPEN_SHADOW:
            from nbspam.mail.html.shadow import open_shadow  # rare

            return open_shadow(self.open, tag, state)
        self.open.slots += tag.name == "slot"
        is_unseen = self.foreign is not None and self.foreign.is_in(tag.element.foreign)
        state = self.open.push(tag, state)
        return state.then(GONE) if is_unseen else state

    def _ask(self, tag: Tag, state: State) -> State:
        """An element begins for which it matters what stands around it."""
        opened, element = self.open, tag.element
        if element.in_table and not opened.is_in(TABLE_NAME):
            return state
        if element.special and not (element.name == "form" and opened.in_form):
            state = opened.make_room(tag, state)
        tag = self.page.resolved(tag, opened.tags)
        if tag.kind == OPEN:
            self.html.tags.append(tag.name)
            return opened.push(tag, state)
        return self._part(tag, state) if tag.kind <= BREAK else self._unusual(tag, state)

    def _take_raw(self, tag: Tag, state: State) -> State:
        """The content of an element without markup: text to show, a title, a sheet of styles, or nothing."""
        name, text, self.raw = tag.name, self.raw, ""
        if name == "title":
            self.titles.append(decode(text))
        elif name in ("textarea", "xmp", "plaintext"):
            inside = state if tag.effect is None else state.then(tag.effect)
            sink = self.hidden if inside.hidden else self.visible
            sink.append("\n" + (decode(text) if name == "textarea" else text) + "\n")
        elif name == "style":
            state = self._read_sheet(text, tag.medium, state)
        elif name == "script":
            self.html.scripts.append(text)
        return state

    def _read_sheet(self, text: str, medium: str, state: State) -> State:
        if "url(" in text.lower():
            from nbspam.mail.html.pictures import pictures  # few pages have one

            self.html.images.extend(pictures(text))
        if not self.page.read_sheet(text, medium, self.html.colours):
            return state
        self.known = {}  # tags mean something else from here on
        self.late = self.late or bool(self.open.tags) or self.page.has_begun(self.visible)
        return state if self.late or self.pieces.gave_up else self.page.root()

    def _note(self, tag: Tag, state: State) -> State:
        self.noted.append(tag)
        if tag.shown:
            own = state if tag.effect is None or tag.element.special else state.then(tag.effect)
            (self.hidden if own.hidden else self.visible).append(f" {tag.shown}\n")
        return self._turn_link(tag, state) if tag.evidence > NOTED else state

    def _turn_link(self, tag: Tag, state: State) -> State:
        """A link begins, or ends, or both."""
        if tag.name == "a":
            self._end_link()
            if tag.kind != CLOSE and self.in_link:
                state = self.open.end_outer(tag, state)
            self.in_link = tag.kind != CLOSE
            self.link = tag.link
            self.link_text = self.hidden if state.hidden else self.visible
            self.start = len(self.link_text)
        elif tag.name == "base":
            self.base = self.base or tag.link or ""
        elif tag.link is not None:
            self.html.links.append((tag.link, ""))
        return state

    def _end_link(self) -> None:
        if self.link is not None:
            text = "".join(self.link_text[self.start :]).strip()
            self.html.links.append((self.link, text[:MAX_ANCHOR]))
            self.link = None

    def _meet(self, met: int, piece: str) -> tuple[Tag, str]:
        """The tag a piece begins with, and the text behind it."""
        first = piece[:1]
        if first in _LETTERS or (first == "/" and piece[1:2] in _LETTERS):
            return self._read_tag(met, piece)
        if first == "!":
            return NOTHING, self._behind_declaration(piece)
        if first in ("/", "?"):
            return NOTHING, self.pieces.behind(">", piece)
        return NOTHING, "<" + piece

    def _read_tag(self, met: int, piece: str) -> tuple[Tag, str]:
        text, ended, rest = piece.partition(">")
        sheet = self.page.sheet
        if self.foreign is not None and not self.open.is_in(FOREIGN):
            self.foreign, self.known = None, {} if sheet else _remembered
        if sheet is not None and ended and text in _remembered and self.foreign is None:
            tag = _remembered[text]
            if text[0] == "/" or sheet.is_silent_about(tag.name, text):
                self.known[text] = tag
                return tag, rest
        tag = bare_tag(text)
        attributes, memorable, rest = self.pieces.attributes(met, piece, tag.element, sheet)
        if attributes is None:
            return UNENDED, rest
        if "--" in text and self.page.take_variables(attributes.get("style", "")):
            self.known, memorable = {}, False
        if self.quotes.meet(text, self.visible):
            memorable = False
        if text[0] != "/":
            tag = attributed_tag(tag, attributes, sheet)
            if tag.name in FOREIGN and self.foreign is None:
                from nbspam.mail.html.foreign import Foreign  # few pages have one

                self.foreign, self.known = Foreign(self.open), {}  # tags mean something else in it
        if self.foreign is not None:
            tag, memorable = self.foreign.read(tag, text), False
        if tag.kind == RAW and self.foreign is not None:
            self.raw, rest = self.foreign.content(tag, met, rest, self.pieces)
        elif tag.kind == RAW:
            self.raw, rest = self.pieces.raw(tag.name, rest)
        elif memorable and len(text) <= MAX_REMEMBERED_TAG:
            if len(self.known) >= MAX_REMEMBERED:
                self.known.clear()
            self.known[text] = tag
        return tag, rest

    def _behind_declaration(self, piece: str) -> str:
        """The text behind a comment, a doctype, or what a browser takes for a comment."""
        if piece.startswith("!--"):
            self.html.comments += 1
            return self.pieces.behind_comment(piece)
        if piece[1:8].lower() == "doctype":
            if not self.html.tags and not self.page.has_begun(self.visible):
                self.page.meet_doctype(piece, self.root)
        else:
            self.html.comments += 1
            if self.foreign is not None:
                characters, rest = self.foreign.characters(piece, self.pieces)
                return characters.replace("&", "&amp;") + rest
        return self.pieces.behind(">", piece)
