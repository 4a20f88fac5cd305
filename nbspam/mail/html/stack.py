"""The elements open at one place of a page: OpenElements; and outside of all of them the Page with its sheet.

Quotes is beside them: how much of the page repeats another message.

Hides how far an element reaches when end tags are missing, crossed or wrong: a paragraph ends at the next
block, a cell at the next cell, and with it every style inside; formatting goes on behind a block that
cut it off (HTML, 13.2.6.4.7, in short); and where a sheet of styles comes in.
"""

from __future__ import annotations

from nbspam.mail.html.elements import (
    OPEN_APART,
    OPEN_AWAY,
    OPEN_BLOCK,
    OPEN_SHADOW,
    OPEN_TABLE,
    TABLE_NAME,
    WALLS,
)
from nbspam.mail.html.entities import decode
from nbspam.mail.html.state import GONE, INHERIT, TABLE, State
from nbspam.mail.html.tags import NOTHING, Tag, attributed_tag, bare_tag, resolved_tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html.selectors import Asked
    from nbspam.mail.html.sheet import Sheet

MAX_STEPS = 1 << 18  # elements looked at in search of one to close, in a whole text; honest mail needs 1,000
NEAREST = 64  # elements looked at in any case, when all these steps are used up
MAX_SHEETS = 1_000  # style elements that are read
MAX_QUOTES = 1 << 30  # end tags, more than a page has
# What Outlook and Yahoo write before the message that is answered.
_ANSWERED = ("divrplyfwdmsg", "yahoo_quoted", "top:solid #e1e1e1 1.0pt", "top:solid #b5c4df 1.0pt")
# Doctypes whose pages browsers read as if they had none: always, and where no address is beside them
# (HTML, 13.2.6.4.1; the common ones).
_OLD = (
    *("-//ietf//dtd html", "-//w3c//dtd html 3", "-//w3c//dtd html 4.0 transitional//"),
    *("-//w3c//dtd html 4.0 frameset//", "-//w3c//dtd w3 html", "-//microsoft//", "-//softquad"),
)
_OLD_ALONE = ("-//w3c//dtd html 4.01 transitional//", "-//w3c//dtd html 4.01 frameset//")
_IMPLIED = frozenset(("dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt"))  # HTML, 13.2.6.3
_BLOCKS = (OPEN_TABLE, OPEN_BLOCK, OPEN_APART, OPEN_AWAY)
FOREIGN = frozenset(("svg", "math"))  # a drawing, a formula: HTML, 13.2.6.5
MAX_CARRIED = 8  # formatting elements opened again after a block cut them off


class OpenElements:
    """The open start tags, innermost last, and the state outside of each."""

    __slots__ = ("_steps", "before", "in_form", "slots", "tags")

    def __init__(self) -> None:
        self.tags: list[Tag] = []
        self.before: list[State] = []
        self.in_form = False
        self.slots = 0  # that were met, open or not
        self._steps = MAX_STEPS

    def push(self, tag: Tag, state: State) -> State:
        """Open an element; the state inside it."""
        self.tags.append(tag)
        self.before.append(state)
        return _inside(tag, state)

    def make_room(self, tag: Tag, state: State) -> State:
        """Close what a new block cannot stand in: a paragraph in a paragraph, a cell in a cell.

        Without doctype a table can stand in a paragraph.
        """
        if state.quirks and tag.name == "table":
            return state
        index = self._find(tag, first=False)
        if index >= 0:
            state = self._cut(index)
        if self.tags and self.tags[-1].name in tag.element.ends:
            state = self._cut(len(self.tags) - 1)
        return state

    def is_in(self, names: frozenset[str]) -> bool:
        """Whether an element of one of these names is open."""
        return self._search(names, names, True) >= 0

    def end_outer(self, tag: Tag, state: State) -> State:
        """A link in a link ends the outer one; the inner one has just been opened."""
        inner = self.tags.pop()
        outside = self.before.pop()
        index = self._search(frozenset((tag.name,)), WALLS, True)
        return self.push(inner, outside if index < 0 else self._end(index))

    def push_summary(self, tag: Tag, state: State) -> State:
        """Open a `summary`: the first that is a child of `details` is shown, where these are shut."""
        around = self.tags[-1] if self.tags else tag
        is_shut = around.effect is not None and around.effect.shut
        if is_shut and around.name == "details" and not isinstance(around, _Summarised):
            self.tags[-1] = _Summarised(around)
        elif state.shut:
            tag = Tag(tag.element)
            tag.effect = GONE
        return self.push(tag, state)

    def turn_form(self, tag: Tag, state: State, ends: bool) -> State | None:
        """A form begins or ends; None if that is nothing: of one in another, or one between cells."""
        if ends != self.in_form:
            return None
        self.in_form = not ends
        if ends:
            return self.take_out(tag, state)
        is_empty = self.tags and self.tags[-1].element.holds_cells
        return None if is_empty else self.push(tag, self.make_room(tag, state))

    def take_out(self, tag: Tag, state: State) -> State:
        """Close the element of an end tag, but nothing inside it: that stays in it, and as it is."""
        index = self._find(tag, first=True)
        if index < 0:
            return state
        while self.tags[-1].name in _IMPLIED:
            state = self._cut(len(self.tags) - 1)
        if index == len(self.tags) - 1:
            return self._cut(index)
        del self.tags[index], self.before[index + 1]
        return state

    def close(self, tag: Tag, state: State) -> State:
        """Close the element of an end tag; one that is not open changes nothing."""
        index = self._find(tag, first=True)
        if index < 0:
            return state
        closed = self.tags[index]
        state = self._end(index) if tag.element.carried else self._cut(index)
        if closed.kind == OPEN_SHADOW:
            from nbspam.mail.html.shadow import end_shadow  # rare

            return end_shadow(self, closed, state)
        return state

    def end_all(self, index: int) -> State:
        """End an element and all inside it, formatting too."""
        state = self.before[index]
        del self.tags[index:], self.before[index:]
        return state

    def passes_over(self, tag: Tag) -> bool:
        """Whether the end tag of a block that is not open does nothing; that of a `p` makes an empty one.

        In a table it may end a row that is not written.
        """
        return tag.name != "p" and not (tag.element.in_table and self.is_in(TABLE_NAME))

    def _end(self, index: int) -> State:
        """End a formatting element; if a block was begun inside it, that stays open."""
        holds_block = any(inner.element.special for inner in self.tags[index + 1 :])
        return self._take_out(index) if holds_block else self._cut(index)

    def _take_out(self, index: int) -> State:
        """End an element around those inside it, which stay open."""
        state = self.before[index]
        del self.tags[index]
        return self.rebuild(index, state)

    def rebuild(self, index: int, state: State) -> State:
        """Find the states from an index on again, the state outside of it being this one."""
        before = self.before
        del before[index:]
        for tag in self.tags[index:]:
            before.append(state)
            state = _inside(tag, state)
        return state

    def _find(self, tag: Tag, first: bool) -> int:
        """Where the innermost (or, unless first, the outermost) element is that the tag closes; -1: none."""
        return self._search(tag.element.closes, tag.element.stops, first)

    def _search(self, closes: frozenset[str], stops: frozenset[str], first: bool) -> int:
        tags = self.tags
        found, size, steps = -1, len(tags), self._steps
        reach = steps if steps > NEAREST else NEAREST
        index = size
        for index in range(size - 1, size - reach - 1 if size > reach else -1, -1):
            name = tags[index].name
            if name in closes:
                found = index
                if first:
                    break
            if name in stops:
                break
        steps -= size - index
        self._steps = steps if steps > 0 else 0
        return found

    def _cut(self, index: int) -> State:
        """End an element and all inside it; formatting is carried on, unless out of a cell or a table."""
        tags, before = self.tags, self.before
        state = before[index]
        cuts = tags[index].element.cuts
        carried = [] if cuts else [inner for inner in tags[index + 1 :] if inner.element.carried]
        del tags[index:]
        del before[index:]
        for tag in carried[-MAX_CARRIED:]:
            state = self.push(tag, state)
        return state


class _Summarised(Tag):
    """The `details` whose summary has been met."""

    __slots__ = ()

    def __init__(self, tag: Tag) -> None:
        super().__init__(tag.element)
        self.effect, self.match = tag.effect, tag.match


def _inside(tag: Tag, state: State) -> State:
    if tag.kind == OPEN_TABLE:
        state = state.then(TABLE)
    if state.lining and tag.kind in _BLOCKS:
        return state.enter(tag.effect)
    return state if tag.effect is None else state.then(tag.effect)


class Quotes:
    """How many lines of a page repeat the message that it answers, by the marks of mail programs.

    A quotation ends with its `blockquote`; behind the rule of Outlook, or in the box of Yahoo, it goes on to
    the end of the page.
    """

    __slots__ = ("_depth", "_lines", "_start")

    def __init__(self) -> None:
        self._depth = self._lines = self._start = 0

    def meet(self, text: str, visible: list[str]) -> bool:
        """Note a tag by its text, if it may begin or end a quotation; whether it may."""
        text = text.lower()
        if text.startswith("/blockquote"):
            self._depth -= self._depth > 0
            if not self._depth:
                self._end(visible)
            return True
        if any(mark in text for mark in _ANSWERED):
            self._begin(MAX_QUOTES, visible)
            return True
        if not text.startswith("blockquote"):
            return False
        if self._depth or "cite" in text or "quote" in text[len("blockquote") :]:
            self._begin(1, visible)
        return True

    def lines(self, visible: list[str]) -> int:
        """At the end of the page: the lines quoted, without those that begin with `>`."""
        self._end(visible)
        return self._lines

    def _begin(self, depth: int, visible: list[str]) -> None:
        if not self._depth:
            self._start = len(visible)
        self._depth += depth

    def _end(self, visible: list[str]) -> None:
        text = "".join(visible[self._start :]) if self._start else ""
        self._lines += text.count("\n") - text.count("\n>")
        self._start = 0


class Page:
    """The page that is being read.

    sheet   : the rules of its style elements, as far as they have been read
    is_whole: all of them are in the sheet
    quirks  : it has no doctype, or an old one
    """

    __slots__ = ("_blank", "_html", "_is_bare", "_met", "_sheets", "body", "is_whole", "quirks", "sheet")

    def __init__(self, first: Page | None = None) -> None:
        """first: this page as it was known after a first reading."""
        self.sheet: Sheet | None = first.sheet if first else None
        self.is_whole = first is not None
        self.quirks: bool = first.quirks if first else True
        self._sheets = 0
        self._blank = 0  # so many of the visible texts, from the first on, were seen to be blank
        self._met: set[str] = set()  # which of `html` and `body` were written
        self._html = self.body = NOTHING
        self._is_bare = True  # `html` is not written, or says nothing of meaning
        self._begin()

    def _begin(self) -> None:
        """`html` and `body` as they are by the sheet while they are not written, or bare."""
        if self.sheet is None:
            return
        if self._is_bare:
            self._html = attributed_tag(bare_tag("html"), {}, self.sheet)
        if "body" not in self._met:
            self.body = attributed_tag(bare_tag("body"), {}, self.sheet)

    def root(self) -> State:
        """What text inherits that stands in no other element."""
        root = State()
        root.quirks = self.quirks
        if self._html is self.body:
            return root
        effects = []
        for tag in (self._html, self.body):
            own = tag if tag.asking is None else self.resolved(tag, [])
            root.link = root.link if own.link_colour is None else own.link_colour
            if own.effect is not None:
                effects.append(own.effect)
                root.page = root.page if own.effect.colour in (None, INHERIT) else own.effect.colour
        for effect in effects:
            root = root.then(effect)
        return root

    def is_plain(self, tag: Tag) -> bool:
        """Whether text inherits nothing from the tag of `html` or `body`, since no sheet is known."""
        return self.sheet is None and tag.effect is None and tag.link_colour is None

    def meet_doctype(self, text: str, root: State) -> None:
        """Take a doctype before all else for what it is; texts outside of all elements have this root."""
        name, _, rest = text[8:].partition(">")[0].lower().strip().partition(" ")
        identifiers = rest.replace("'", '"').split('"')[1:]
        if name != "html" or (identifiers and identifiers[0].startswith(_OLD)):
            return
        if len(identifiers) < 3 and "".join(identifiers).startswith(_OLD_ALONE):
            return
        self.quirks = False
        if not self._met:
            root.quirks = False

    def has_begun(self, visible: list[str]) -> bool:
        """Whether the body is written, or a visible text is more than blanks; each is looked at once."""
        while self._blank < len(visible) and not visible[self._blank].strip():
            self._blank += 1
        return "body" in self._met or self._blank < len(visible)

    def end(self) -> None:
        """Nothing that follows can change it."""
        self._met.update(("html", "body"))

    def meet(self, tag: Tag) -> bool:
        """Note the tag of `html` or `body`; whether it is the first of it."""
        if tag.name in self._met:
            return False
        self._met.add(tag.name)
        if tag.name == "html":
            self._html = tag
            self._is_bare = tag.effect is None and tag.match is None
        else:
            self.body = tag
        return True

    def read_sheet(self, text: str, medium: str, colours: list[str]) -> bool:
        """Read the content of a style element; whether tags and texts mean something else from here on."""
        self._sheets += 1
        if self._sheets > MAX_SHEETS:
            return False
        # Few mails have a sheet that hides or colours anything.
        from nbspam.mail.html.media import holds
        from nbspam.mail.html.sheet import Sheet

        counts = not self.is_whole and holds(medium)  # else it is read for its colours only
        sheet = (self.sheet if counts else None) or Sheet(self.quirks)
        if not sheet.read(text, colours) or not counts:
            return False
        self.sheet = sheet
        self._begin()
        return True

    def take_variables(self, style: str) -> bool:
        """Note the variables that the style of an element sets; whether that changes any."""
        if "--" not in style:
            return False
        from nbspam.mail.html.sheet import Sheet  # rare

        sheet = self.sheet or Sheet(self.quirks)
        if not sheet.set_variables(decode(style, True)):
            return False
        if self.sheet is None:
            self.sheet = sheet
            self._begin()
        return True

    def resolved(self, tag: Tag, opened: list[Tag]) -> Tag:
        """A start tag as it is inside of these open elements: itself, unless rules ask where it stands."""
        if tag.asking is None or self.sheet is None:
            return tag
        if self.sheet.family.steps < len(opened):
            return tag.asking.plain
        if tag.name in ("html", "body"):
            around = [] if tag.name == "html" else [self._html]
        else:
            around = [self._html, self.body, *opened]
        bare = self.sheet.bare_match
        line: list[Asked] = [other.match or bare(other.name) for other in around]
        return resolved_tag(tag, self.sheet, line)
