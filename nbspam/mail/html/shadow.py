"""Templates that are shown: the declared shadow of an element, in the place of all else in it.

Hides which elements may have one, and that what else is in them is shown in a slot, or not at all (HTML,
13.2.6.4.4).  Loaded when a page has one.
"""

from __future__ import annotations

from nbspam.mail.html.elements import word_set
from nbspam.mail.html.state import GONE, State
from nbspam.mail.html.tags import Tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html.stack import OpenElements

# Beside these it is elements with a hyphen in their name.
_HOSTS = word_set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span")


class _Shadow(Tag):
    """A template that is shown; slots: how many had been met before it."""

    __slots__ = ("slots",)

    def __init__(self, tag: Tag, slots: int) -> None:
        super().__init__(tag.element)
        self.kind, self.ender, self.effect, self.match = tag.kind, "", tag.effect, tag.match
        self.slots = slots


class _Host(Tag):
    """An element that has a shadow, and what that makes of the rest in it."""

    __slots__ = ()

    def __init__(self, tag: Tag) -> None:
        super().__init__(tag.element)
        self.kind, self.ender, self.effect, self.match = tag.kind, tag.ender, tag.effect, tag.match


def open_shadow(opened: OpenElements, tag: Tag, state: State) -> State:
    """Open a template that would be shown: in an element that may have one, and has none."""
    host = opened.tags[-1] if opened.tags else None
    if host is None or ((host.name in _HOSTS or "-" in host.name) and not isinstance(host, _Host)):
        return opened.push(_Shadow(tag, opened.slots), state)
    plain = Tag(tag.element)
    plain.effect, plain.match = GONE, tag.match
    return opened.push(plain, state)


def end_shadow(opened: OpenElements, tag: Tag, state: State) -> State:
    """The state behind such a template: without a slot in it nothing else of the element is shown."""
    hides = isinstance(tag, _Shadow) and tag.slots == opened.slots
    if opened.tags:
        host = opened.tags[-1] = _Host(opened.tags[-1])
        host.effect = GONE if hides else host.effect
    return state.then(GONE) if hides else state
