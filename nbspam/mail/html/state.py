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
INHERIT = -5  # said to be as around, whatever a weaker rule says

FAINT = 0.1  # opacity: nobody can read what is fainter
LARGEST = 1e6  # times: that no product overflows
NORMAL = 16.0  # pixels: the size of letters where nothing is said
TINY = 2.0  # pixels: the largest size at which nobody can read, and the largest box without text

# Pixels: further left than that is off the screen, and so is what is moved so far to the right or down.
# Up, what stands above may be so high that a negative margin leads into it: a banner, but no more.
FAR = -400.0
FAR_UP = -1_000.0
FAR_RIGHT = 4_000.0

# What cuts off all that is in a box: always, and where a height of `0%` is none but without doctype.
CLIPS, CLIPS_IN_QUIRKS = 1, 2
# Whose ground it is, if not that of a block: of an element in the line; of one that is carried on into other
# blocks, as `font` is, where it does lie under the text; of such a one around a block, where nobody knows.
LINING, CARRIED, CARRIED_OUT = 1, 2, 3
# Places: out of a box that clips; and in it, as is then all inside of this element.
AWAY, HELD = 1, 2

# Two colours are the same to the eye when no channel differs by more: #eeeeee on white is unreadable
# (contrast 1.16), #cccccc is a common, readable footer.
NEAR = 20

MAX_STATES = 500  # that are kept for all pages
MAX_AFTER = 200  # states that one of them remembers to follow

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Hiding = tuple[bool, bool, bool, float, bool, float, float, bool, bool, tuple[float, float]]
    _Standing = tuple[int, int, int, int | None]
    _Key = tuple[_Hiding, int, _Standing, int, int, bool]


class Effect:
    """What one element changes; None leaves a property as inherited."""

    __slots__ = (
        *("box", "cell", "cell_ground", "clips", "colour", "faint", "flow", "gone", "ground", "heaped"),
        *("in_line", "invisible", "lining", "opens", "place", "scale", "shift", "shut", "size", "squeezed"),
    )

    def __init__(self) -> None:
        self.gone: bool | None = None  # takes no space, whatever stands inside
        self.invisible: int | None = None  # visibility: takes space, may be undone inside; or INHERIT
        self.size: float | None = None  # of letters, pixels; below nought, times that of the text around
        self.squeezed: bool | None = None  # indent
        self.heaped: bool | None = None  # lines without height that are cut off
        self.scale: float | None = None  # times that all inside is larger, with that of the elements inside
        self.shift: tuple[float, float] | None = None  # pixels to the right and down, with those inside
        self.clips: int | None = None
        self.place: int | None = None
        self.faint: float | None = None  # opacity, which that of the elements inside is multiplied with
        # Declarations that decide together, until they are settled; see html_hiding.
        self.box: dict[str, str] | None = None
        self.flow: int | None = None  # the kind of a start tag that it makes of any
        self.shut: bool | None = None  # shows only a child that opens it: `details` and its `summary`
        self.opens: bool | None = None
        self.colour: int | None = None
        self.ground: int | None = None
        self.lining: int | None = None  # of the ground
        self.in_line: bool | None = None  # a box in the line
        self.cell_ground: int | None = None  # of a table or row: only its cells stand on it
        self.cell: bool | None = None

    def changes(self) -> bool:
        hides = not (self.gone is self.invisible is self.size is self.squeezed is self.faint is None)
        folds = not (self.shut is self.opens is self.flow is None and self.box is None)
        moves = self.shift is not None or not (self.heaped is self.scale is self.clips is self.place is None)
        colours = not (self.colour is self.ground is self.cell_ground is self.cell is None)
        return hides or folds or moves or colours or self.in_line is not None

    def over(self, other: Effect) -> None:
        """Take from other what this one leaves open; the colour of links gives way to any other."""
        for name in _PROPERTIES:
            value = getattr(other, name)
            if value is not None and (
                getattr(self, name) is None or (name == "colour" and self.colour == LINK)
            ):
                setattr(self, name, value)
        if other.box is not None:
            self.box = other.box if self.box is None else _over(self.box, other.box)


_PROPERTIES = tuple(name for name in Effect.__slots__ if name != "box")
SHORT = ("inset", "mask", "overflow")  # each sets all that begin with it; see html_hiding


def _over(box: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """Declarations, with those of the other that they leave open."""
    short = [name + "-" for name in SHORT if name in box]
    if short:
        other = {name: other[name] for name in other if not name.startswith(tuple(short))}
    return {**other, **box}


# What all that is hidden does, closed details, their summary, a sized `font`, a cell, a `mark`, a block in a
# line, a table.
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
MARK = Effect()
MARK.colour, MARK.ground, MARK.lining = 0, 0xFFFF00, LINING
BLOCK = Effect()
TABLE = Effect()
# Fields and buttons have letters of their own.
FIELD, BUTTON = Effect(), Effect()
FIELD.colour, FIELD.size, FIELD.ground = 0, NORMAL, WHITE
BUTTON.colour, BUTTON.size, BUTTON.ground = 0, NORMAL, 0xEFEFEF
# By the name of an element, what it does to its text by itself.
OWN = {"mark": MARK, "button": BUTTON, "input": FIELD, "select": FIELD, "textarea": FIELD}


class State:
    """What a text inherits; `after` remembers the states that follow, since tags repeat.

    hidden  : nobody sees it
    gone    : it does not even take space
    lost    : gone, whatever stands inside; beside it there is what an element inside may undo:
    shut    : gone because the element just around is shut
    clipped : gone because it is cut off by a box, out of which an element may be placed
    """

    __slots__ = (
        *("after", "around", "cell_ground", "clipped", "colour", "gone", "ground", "heaped", "hidden"),
        *("invisible", "key", "lining", "link", "lost", "opacity", "page", "quirks", "scale", "shift"),
        *("shut", "size", "squeezed"),
    )

    def __init__(self) -> None:
        self.gone = self.lost = self.shut = self.clipped = self.hidden = False
        self.invisible = self.squeezed = self.heaped = False
        self.opacity = self.scale = 1.0
        self.size = NORMAL
        self.shift = 0.0, 0.0
        self.colour = self.page = 0  # page: the colour of the body
        self.ground = self.around = WHITE  # around: that of the block
        self.lining = 0
        self.cell_ground: int | None = None  # what the cells of the table around will stand on
        self.link = DEFAULT_LINK
        self.quirks = True  # no doctype: letters of a table inherit from the page, not from around it
        self.key: _Key | None = None  # what tells it from other states, once it is asked
        self.after: dict[Effect, State] = {}

    def then(self, effect: Effect) -> State:
        """The state inside an element with this effect."""
        known = self.after.get(effect)
        if known is None:
            if len(self.after) >= MAX_AFTER:
                self.after.clear()
            known = self.after[effect] = self._follow(effect)
        return known

    def _follow(self, effect: Effect) -> State:
        opacity = self.opacity if effect.faint is None else self.opacity * effect.faint
        invisible = self.invisible if effect.invisible in (None, INHERIT) else bool(effect.invisible)
        size, squeezed, colour = self.size, self.squeezed, self.colour
        if effect is TABLE and self.quirks:
            size, squeezed, colour = NORMAL, False, self.page
        if effect.size is not None:
            size = effect.size if effect.size > 0 else -effect.size * size
        if effect.squeezed is not None:
            squeezed = effect.squeezed
        heaped = self.heaped if effect.heaped is None else effect.heaped
        scale = self.scale if effect.scale is None else min(self.scale * effect.scale, LARGEST)
        right, down = self.shift
        if effect.shift is not None:
            right, down = right + effect.shift[0], down + effect.shift[1]
        if effect.colour is not None and effect.colour != INHERIT:
            colour = self.link if effect.colour == LINK else effect.colour
        missing = self._missing(effect, opacity)
        hiding = *missing, opacity, invisible, size, scale, squeezed, heaped, (right, down)
        standing = self._grounds(effect, colour, invisible)
        key = hiding, colour, standing, self.page, self.link, self.quirks
        if self.key is None:
            self.key = self._key()
        if key == self.key:
            return self
        known = _states.get(key)
        if known is None:
            if len(_states) >= MAX_STATES:
                _states.clear()
            known = _states[key] = _state(key)
        return known

    def _missing(self, effect: Effect, opacity: float) -> tuple[bool, bool, bool]:
        """Whether it is lost, shut and clipped."""
        lost = bool(effect.gone) or opacity <= FAINT or self.lost or (self.shut and not effect.opens)
        clips = effect.clips == CLIPS or (effect.clips is not None and self.quirks)
        clipped = clips or (self.clipped and effect.place != AWAY)
        lost = lost or (clipped and effect.place is not None)
        clipped = clipped and not lost
        return lost, effect.shut is True and not (lost or clipped), clipped

    def _grounds(self, effect: Effect, colour: int, invisible: bool) -> _Standing:
        """Its ground and what is around, and that of its cells.

        What is not visible has no ground.  Text of a table between its cells is shown outside of it.
        """
        ground, around, lining = self.ground, self.around, self.lining
        cell_ground = None if effect is TABLE else self.cell_ground
        found = effect.ground
        if found in (None, TRANSPARENT) and effect.cell:
            found = self.cell_ground
        if found not in (None, TRANSPARENT) and not invisible:
            ground = colour if found == CURRENT else found
            lining = effect.lining or 0
            around = around if lining else ground
        elif effect is BLOCK and lining == LINING:
            ground, lining = around, 0
        elif effect is BLOCK and lining:
            lining = CARRIED_OUT
        if effect.cell_ground not in (None, TRANSPARENT) and not invisible:
            cell_ground = effect.cell_ground
        return ground, around, lining, cell_ground

    def enter(self, effect: Effect | None) -> State:
        """The state inside a block: the ground of an element in the line around does not lie under it."""
        state = self.then(BLOCK) if self.lining and not (effect and effect.in_line) else self
        return state if effect is None else state.then(effect)

    def _key(self) -> _Key:
        missing = self.lost, self.shut, self.clipped
        letters = self.size, self.scale, self.squeezed, self.heaped, self.shift
        hiding = *missing, self.opacity, self.invisible, *letters
        standing = self.ground, self.around, self.lining, self.cell_ground
        return hiding, self.colour, standing, self.page, self.link, self.quirks


# The states of all pages by what tells them apart: pure, so sharing them changes no result.
_states: dict[_Key, State] = {}


def _state(key: _Key) -> State:
    state = State.__new__(State)
    state.after, state.key = {}, key
    hiding, state.colour, standing, state.page, state.link, state.quirks = key
    state.ground, state.around, state.lining, state.cell_ground = standing
    state.lost, state.shut, state.clipped, state.opacity, state.invisible = hiding[:5]
    state.size, state.scale, state.squeezed, state.heaped, state.shift = hiding[5:]
    right, down = state.shift
    is_off = right <= FAR or right >= FAR_RIGHT or down <= FAR_UP or down >= FAR_RIGHT
    is_shrunk = state.scale < 1 and state.size * state.scale <= TINY
    state.gone = state.lost or state.shut or state.clipped or is_off or is_shrunk
    state.hidden = (
        state.gone
        or state.invisible
        or state.squeezed
        or state.heaped
        or state.size * state.scale <= TINY
        or (
            vanishes(state.colour, state.ground)
            and (state.lining != CARRIED_OUT or vanishes(state.colour, state.around))
        )
    )
    return state


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
