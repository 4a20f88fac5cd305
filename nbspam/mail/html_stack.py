"""The elements open at one place of a page: OpenElements.

Hides how far an element reaches when end tags are missing, crossed or wrong: a paragraph ends at the next
block, a cell at the next cell, and with it every style inside; formatting goes on behind a block that
cut it off (HTML, 13.2.6.4.7, in short).
"""

from __future__ import annotations

from nbspam.mail.html_elements import OPEN_TABLE, WALLS
from nbspam.mail.html_state import TABLE, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html_tags import Tag

MAX_STEPS = 1 << 18  # elements looked at in search of one to close, in a whole text; honest mail needs 1,000
NEAREST = 64  # elements looked at in any case, when all these steps are used up
MAX_CARRIED = 8  # formatting elements opened again after a block cut them off


class OpenElements:
    """The open start tags, innermost last, and the state outside of each."""

    __slots__ = ("_steps", "before", "tags")

    def __init__(self) -> None:
        self.tags: list[Tag] = []
        self.before: list[State] = []
        self._steps = MAX_STEPS

    def push(self, tag: Tag, state: State) -> State:
        """Open an element; the state inside it."""
        self.tags.append(tag)
        self.before.append(state)
        return _inside(tag, state)

    def make_room(self, tag: Tag, state: State) -> State:
        """Close what a new block cannot stand in: a paragraph in a paragraph, a cell in a cell."""
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
        return self.push(inner, outside if index < 0 else self._cut(index))

    def take_out(self, tag: Tag, state: State) -> State:
        """Close the element of an end tag, but nothing inside it."""
        index = self._find(tag, first=True)
        if index < 0:
            return state
        state = self.before[index]
        del self.tags[index]
        return self.rebuild(index, state)

    def close(self, tag: Tag, state: State) -> State:
        """Close the element of an end tag; one that is not open changes nothing."""
        index = self._find(tag, first=True)
        if index < 0:
            return state
        if tag.element.carried and any(inner.element.special for inner in self.tags[index + 1 :]):
            # Formatting that ends inside a block: take it out from around the block.
            state = self.before[index]
            del self.tags[index]
            return self.rebuild(index, state)
        return self._cut(index)

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
        found = -1
        steps = self._steps
        for index in range(len(tags) - 1, -1, -1):
            steps -= 1
            name = tags[index].name
            if steps < 0 and index < len(tags) - NEAREST:
                break
            if name in closes:
                found = index
                if first:
                    break
            if name in stops:
                break
        self._steps = max(steps, 0)
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


def _inside(tag: Tag, state: State) -> State:
    if tag.kind == OPEN_TABLE:
        state = state.then(TABLE)
    return state if tag.effect is None else state.then(tag.effect)
