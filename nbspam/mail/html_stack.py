"""The elements open at one place of a page: OpenElements.

Hides how far an element reaches when end tags are missing, crossed or wrong: a paragraph ends at the next
block, a cell at the next cell, and with it every style inside; formatting goes on behind a block that
cut it off (HTML, 13.2.6.4.7, in short).
"""

from __future__ import annotations

from nbspam.mail.html_elements import OPEN_TABLE
from nbspam.mail.html_state import TABLE, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html_tags import Tag

MAX_STEPS = 1 << 18  # elements looked at in search of one to close, in a whole text; honest mail needs 1,000
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
        return self._cut(index) if index >= 0 else state

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
        tags, closes, stops = self.tags, tag.element.closes, tag.element.stops
        found = -1
        steps = self._steps
        for index in range(len(tags) - 1, -1, -1):
            steps -= 1
            name = tags[index].name
            if steps < 0:
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
