"""What decides whether text is seen: Effect, what an element changes, and State, what a text inherits.

Hides how the properties combine: which of them an inner element can undo, on which ground a text
stands, from which distance on two colours are told apart.
"""

from __future__ import annotations

# Colours are numbers 0xRRGGBB; these three are none.
UNKNOWN = -1  # a picture, a gradient: nothing can be said to vanish on it
TRANSPARENT = -2
LINK = -3  # the link colour of the page, known only when the page is read

WHITE = 0xFFFFFF
DEFAULT_LINK = 0x0000EE
CURRENT = -4  # a ground in the colour of its letters

FAINT = 0.1  # opacity: nobody can read what is fainter
NORMAL = 16.0  # pixels: the size of letters where nothing is said
TINY = 2.0  # pixels: the largest size at which nobody can read, and the largest box without text

# Two colours are the same to the eye when no channel differs by more: #eeeeee on white is unreadable
# (contrast 1.16), #cccccc is a common, readable footer.
NEAR = 20


class Effect:
    """What one element changes; None leaves a property as inherited."""

    __slots__ = (
        *("colour", "gone", "size", "ground", "invisible", "cell", "cell_ground", "squeezed", "boxed"),
        *("clipped", "faint", "opens", "shrunk", "shut"),
    )

    def __init__(self) -> None:
        self.gone: bool | None = None  # takes no space, whatever stands inside
        self.invisible: bool | None = None  # visibility: takes space, may be undone inside
        self.size: float | None = (
            None  # of the letters, in pixels; below nought, times that of the text around
        )
        self.squeezed: bool | None = None  # indent
        self.faint: float | None = None  # opacity, which that of the elements inside is multiplied with
        # Hidden if the element is a box: cut off, or shrunk to nothing; and whether the style makes it one.
        self.clipped: bool | None = None
        self.shrunk: bool | None = None
        self.boxed: bool | None = None
        self.shut: bool | None = None  # shows only a child that opens it: `details` and its `summary`
        self.opens: bool | None = None
        self.colour: int | None = None
        self.ground: int | None = None
        self.cell_ground: int | None = None  # of a table or row: only its cells stand on it
        self.cell: bool | None = None

    def changes(self) -> bool:
        for name in self.__slots__:  # noqa: SIM110 (any() takes twice the time)
            if getattr(self, name) is not None:
                return True
        return False

    def over(self, other: Effect) -> None:
        """Take from other what this one leaves open; the colour of links gives way to any other."""
        for name in self.__slots__:
            value = getattr(other, name)
            if value is not None and (
                getattr(self, name) is None or (name == "colour" and self.colour == LINK)
            ):
                setattr(self, name, value)


# What all that is not shown does, closed details, their summary, a `font` with a size, a cell, a table.
GONE = Effect()
GONE.gone = True
SHUT = Effect()
SHUT.shut = True
OPENS = Effect()
OPENS.opens = True
SIZED = Effect()
SIZED.size = NORMAL
CELL = Effect()
CELL.cell = True
TABLE = Effect()


class State:
    """What a text inherits; `after` remembers the states that follow, since tags repeat."""

    __slots__ = (
        *("after", "cell_ground", "colour", "gone", "ground", "hidden"),
        *("invisible", "key", "link", "opacity", "page", "quirks", "shut", "size", "squeezed"),
    )

    def __init__(self) -> None:
        self.gone = self.invisible = self.squeezed = self.hidden = False
        self.shut = False  # gone only because the element just around is shut
        self.opacity = 1.0
        self.size = NORMAL
        self.colour = self.page = 0  # page: the colour of the body
        self.ground = WHITE
        self.cell_ground: int | None = None  # what the cells of the table around will stand on
        self.link = DEFAULT_LINK
        self.quirks = True  # no doctype: letters of a table inherit from the page, not from around it
        self.key: tuple[float | None, ...] | None = None  # what tells it from other states, once it is asked
        self.after: dict[Effect, State] = {}

    def then(self, effect: Effect) -> State:
        """The state inside an element with this effect."""
        known = self.after.get(effect)
        if known is None:
            known = self._follow(effect)
            self.after[effect] = known
        return known

    def _follow(self, effect: Effect) -> State:
        state = State.__new__(State)
        state.after = {}
        state.page, state.link, state.quirks = self.page, self.link, self.quirks
        state.opacity = self.opacity if effect.faint is None else self.opacity * effect.faint
        state.gone = bool(effect.gone) or state.opacity <= FAINT
        state.gone = state.gone or (self.gone and not (self.shut and effect.opens))
        state.shut = effect.shut is True and not state.gone
        state.gone = state.gone or state.shut
        state.invisible = self.invisible if effect.invisible is None else effect.invisible
        inherited = self
        if effect is TABLE and self.quirks:
            inherited = State()
            inherited.colour = self.page
        state.size = inherited.size
        if effect.size is not None:
            state.size = effect.size if effect.size > 0 else -effect.size * inherited.size
        state.squeezed = inherited.squeezed if effect.squeezed is None else effect.squeezed
        colour = inherited.colour if effect.colour is None else effect.colour
        state.colour = self.link if colour == LINK else colour
        state._stand_on(self, effect)
        unreadable = (
            state.invisible or state.size <= TINY or state.squeezed or vanishes(state.colour, state.ground)
        )
        state.hidden = state.gone or unreadable
        state.key = state._key()
        if self.key is None:
            self.key = self._key()
        return self if state.key == self.key else state

    def _stand_on(self, outer: State, effect: Effect) -> None:
        """Set the ground.  That of a table is its cells'; text between them is shown outside of it."""
        self.ground = outer.ground
        self.cell_ground = None if effect is TABLE else outer.cell_ground
        if effect.ground is not None:
            self.ground = self.colour if effect.ground == CURRENT else effect.ground
        elif effect.cell and outer.cell_ground is not None:
            self.ground = outer.cell_ground
        if effect.cell_ground is not None:
            self.cell_ground = effect.cell_ground

    def _key(self) -> tuple[float | None, ...]:
        hiding = (self.gone, self.shut, self.opacity, self.invisible, self.size, self.squeezed)
        return (*hiding, self.colour, self.ground, self.cell_ground, self.page, self.link)


def vanishes(colour: int, ground: int) -> bool:
    """Whether letters of this colour cannot be told from their ground."""
    if colour == TRANSPARENT or colour == ground >= 0:
        return True
    if colour < 0 or ground < 0:
        return False
    return (
        abs((colour >> 16) - (ground >> 16)) <= NEAR
        and abs((colour >> 8 & 255) - (ground >> 8 & 255)) <= NEAR
        and abs((colour & 255) - (ground & 255)) <= NEAR
    )
