"""Declarations of CSS that can hide a text, and the sheets they are in.

Only what Gmail and Outlook honour is read; what is not understood hides nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Properties = dict[str, Any]  # numbers and words by property; a colour is 0xRRGGBB

MAX_RULES = 1_000  # selectors of a page whose rules can hide something
MAX_ASKED = 100  # marks that these want around an element
MAX_LOOKS = 100_000  # comparisons of an element with a rule, in a page; honest mail needs 10,000
MOST = 1e6  # pixels
NORMAL = 16.0  # pixels: the size of letters where nothing is said
TINY = 2.0  # pixels: letters that nobody can read, and a box that shows no line
UNKNOWN_COLOUR, TRANSPARENT = (
    -1,
    -2,
)  # colours that are no number; text in or on an unknown one counts as seen
FAINT_OPACITY = 0.1  # opacity that nobody can read
# The sixteen of HTML 4, and those near white; any other name is UNKNOWN_COLOUR.
_COLOURS = {
    "black": 0, "silver": 0xC0C0C0, "gray": 0x808080, "grey": 0x808080, "white": 0xFFFFFF, "maroon": 0x800000,
    "red": 0xFF0000, "purple": 0x800080, "fuchsia": 0xFF00FF, "green": 0x8000, "lime": 0xFF00,
    "olive": 0x808000, "yellow": 0xFFFF00, "navy": 0x80, "blue": 0xFF, "teal": 0x8080, "aqua": 0xFFFF,
    "azure": 0xF0FFFF, "floralwhite": 0xFFFAF0, "ghostwhite": 0xF8F8FF, "ivory": 0xFFFFF0,
    "snow": 0xFFFAFA, "whitesmoke": 0xF5F5F5, "transparent": TRANSPARENT, "none": TRANSPARENT,
}  # fmt: skip
_HEX = frozenset("0123456789abcdef")
_PIXELS = {
    "px": 1.0, "": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 6.0, "in": 96.0, "cm": 37.8,
    "pc": 16.0, "mm": 3.8, "ex": 8.0, "ch": 8.0, "vw": 10.0, "vh": 8.0,
}  # fmt: skip


def parse_length(value: str) -> float | None:
    """Pixels, or a number without unit; None for anything else."""
    if value in ("auto", "none"):
        return MOST
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz%")
    unit = _PIXELS.get(value[len(digits) :])
    try:
        return None if unit is None else max(-MOST, min(float(digits) * unit, MOST))
    except ValueError:
        return None


class Size:
    """The size of letters: pixels, or a multiple of the size around."""

    def __init__(self, value: float, relative: bool = False) -> None:
        self.value = value
        self.relative = relative


def parse_letter_size(value: str) -> Size | None:
    """The size of letters; None for anything else, and for less than nothing."""
    if value.endswith(("small", "medium", "large", "initial", ")")):
        return Size(NORMAL)
    pixels = parse_length(value)
    if pixels is None or pixels < 0:
        return None
    if value.endswith("%"):
        return Size(pixels / (_PIXELS["%"] * 100), relative=True)
    if value.endswith("em") and not value.endswith("rem"):
        return Size(pixels / _PIXELS["em"], relative=True)
    return Size(pixels)


def _parse_font(value: str) -> Size | None:
    """The size of letters in `bold 12px/1.5 Arial`; a number without a unit is their weight."""
    sizes = [word.partition("/")[0] for word in value.split()[:6] if word[0] in "0123456789."]
    return next((parse_letter_size(size) for size in sizes if size == "0" or not size.isdigit()), None)


def parse_colour(value: str) -> int:
    """The colour of a value in lower case."""
    if value in _COLOURS:
        return _COLOURS[value]
    if value[:1] == "#":
        digits = value[1:] if len(value) > 5 else "".join([digit * 2 for digit in value[1:]])
        if len(digits) not in (6, 8) or not _HEX.issuperset(digits):
            return UNKNOWN_COLOUR
        is_faint = len(digits) == 8 and int(digits[6:], 16) <= 255 * FAINT_OPACITY
        return TRANSPARENT if is_faint else int(digits[:6], 16)
    words = value[:40].partition("(")[2].replace(",", " ").replace("/", " ").strip(") ").split()
    if not value.startswith("rgb") or len(words) < 3 or not all(map(str.isdecimal, words[:3])):
        return UNKNOWN_COLOUR
    is_faint = len(words) > 3 and (parse_length(words[3]) or 0) <= FAINT_OPACITY
    red, green, blue = [min(int(word), 255) for word in words[:3]]
    return TRANSPARENT if is_faint else (red << 16) | (green << 8) | blue


def _parse_background(value: str) -> int:
    """The colour of a background; UNKNOWN_COLOUR if it is a picture."""
    words = [value[value.find("rgb") :].partition(")")[0]] if "rgb" in value else value.split()[:20]
    found = [each for each in map(parse_colour, words) if each != UNKNOWN_COLOUR]
    return found[0] if found and "gradient(" not in value else UNKNOWN_COLOUR


_LENGTHS = ("opacity", "height", "max-height", "width", "max-width", "left", "top")
# Property -> the name under which it is kept, and what reads its value.
_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "color": ("colour", parse_colour),
    **dict.fromkeys(("background", "background-color"), ("background", _parse_background)),
    "background-image": ("background", lambda value: UNKNOWN_COLOUR if "(" in value else None),
    "font-size": ("size", parse_letter_size),
    "font": ("size", _parse_font),
    **dict.fromkeys(("overflow", "overflow-y"), ("overflow", str)),
    **dict.fromkeys(("text-indent", "margin-left"), ("indent", parse_length)),
    **{name: (name, str) for name in ("display", "visibility", "position")},
    **{name: (name, parse_length) for name in _LENGTHS},
}


class Style:
    """What declarations say that may hide something; what is `!important` is stronger than all else."""

    def __init__(self, declarations: str) -> None:
        self.plain: Properties = {}
        self.important: Properties = {}
        for declaration in remove_comments(declarations).lower().split(";"):
            name, _, value = declaration.partition(":")
            known = _READ.get(name.strip())
            if known is not None:
                kept_as, read = known
                value, mark, word = value.partition("!")
                found = read(value.strip())
                if found is not None and (not mark or word.strip() == "important"):
                    kept = self.important if mark else self.plain
                    kept[kept_as] = found


def remove_comments(css: str) -> str:
    first, *pieces = css.split("/*")
    return first + "".join([piece.partition("*/")[2] for piece in pieces])


class Rule:
    """What a selector does to an element that has these marks: its name, `.class`, `#id`, or `*`.

    around : marks that elements around it must have;  weight: the heaviest rule is the strongest
    """

    def __init__(self, words: list[str], number: int, style: Style) -> None:
        *outer, own = [word.replace(".", " .").replace("#", " #").split() for word in words]
        around = [mark for marks in outer for mark in marks]
        self.around = frozenset(around)
        self.marks = frozenset(own)
        self.style = style
        kinds = [mark[0] for mark in (*around, *own)]
        self.weight = (kinds.count("#"), kinds.count("."), len(kinds), number)


class Sheet:
    """The rules of a page's style elements, by one of their marks;  asked: marks that they want around."""

    def __init__(self) -> None:
        self.rules: dict[str, list[Rule]] = {}
        self.asked: set[str] = set()
        self._size = 0
        self._looks = MAX_LOOKS

    def read(self, css: str) -> None:
        """Add the rules of a style element that hold on a wide screen."""
        held = [True]  # for the sheet, and for each @-block that is open
        for chunk in remove_comments(css).replace("<!--", "").replace("-->", "").lower().split("}"):
            *heads, body = chunk.split("{")
            if not heads and len(held) > 1:
                held.pop()
            for head in heads[:-1]:
                held.append(held[-1] and is_screen(head.partition("@")[2]))
            head = heads[-1].rpartition(";")[2] if heads else "@"
            style = Style(body if held[-1] and "@" not in head else "")
            if style.plain or style.important:
                for selector in head.replace(">", " ").split(","):
                    self._add(selector, style)

    def _add(self, selector: str, style: Style) -> None:
        """Add a rule, unless its selector asks for more than elements and those around them."""
        words = selector.split()
        is_plain = 0 < len(words) <= MAX_ASKED and not any(mark in selector for mark in ":[+~\\(&")
        if not is_plain or self._size >= MAX_RULES:
            return
        self._size += 1
        rule = Rule(words, self._size, style)
        if len(rule.around) + len(self.asked) <= MAX_ASKED:
            self.asked |= rule.around
            self.rules.setdefault(min(rule.marks), []).append(rule)  # an id or class, not a name

    def find_rules(self, marks: frozenset[str], around: frozenset[str]) -> list[Rule]:
        """The rules for an element, weakest first."""
        found = [rule for mark in marks for rule in self.rules.get(mark, ())] if self._looks > 0 else []
        self._looks -= len(found)
        found = [rule for rule in found if rule.marks <= marks and rule.around <= around]
        return sorted(found, key=lambda rule: rule.weight)


def is_screen(media: str) -> bool:
    """True if a list of media, or an @-block without its @, holds on a wide, light screen; in lower case."""
    others = ("print", "max-width", "max-device-width", "dark", "not ", "supports", "keyframes", "layer")
    return any(not any(other in medium for other in others) for medium in media.split(","))
