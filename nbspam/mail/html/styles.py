"""Declarations of CSS that can hide a text, and the sheets they are in.

Only what Gmail and Outlook honour is read; what is not understood hides nothing.
"""

from __future__ import annotations

from nbspam.tables import read_pairs, read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set
    from typing import Any

    Properties = dict[str, Any]  # numbers and words by property; a colour is 0xRRGGBB

MAX_RULES = 1_000  # selectors of a page whose rules can hide something
MAX_SELECTORS = 20_000  # of a page that are read; honest mail has a tenth
MAX_ASKED = 100  # marks that these want around an element
DRAWING = frozenset(("svg",))  # marks that are always asked for: see Tag.is_drawn
MAX_LOOKS = 100_000  # comparisons of an element with a rule, in a page; honest mail needs 10,000
MOST = 1e6  # pixels
NORMAL = 16.0  # pixels: the size of letters where nothing is said
TINY = 2.0  # pixels: letters that nobody can read, and a box that shows no line
# Text in or on an unknown colour counts as seen; the outer one is that around the element.
UNKNOWN_COLOUR, TRANSPARENT, OUTER_COLOUR = -1, -2, -int(2 * MOST)  # no size of letters is below -MOST
FAINT_OPACITY = 0.1  # opacity that nobody can read
_WORDS = read_table("html")
_COLOURS = {name: int(digits, 16) for name, digits in read_pairs(_WORDS["colours"]).items()}
_COLOURS |= {"transparent": TRANSPARENT, "none": TRANSPARENT, "initial": UNKNOWN_COLOUR}
_COLOURS |= {"inherit": OUTER_COLOUR, "unset": OUTER_COLOUR, "currentcolor": OUTER_COLOUR}
_HEX = frozenset("0123456789abcdef")
_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.#"  # of ASCII, in selectors
# Units -> what one of them is: pixels, degrees, percent of full, steps of a channel, a share of one.
_PIXELS = {unit: float(size) for unit, size in read_pairs(_WORDS["lengths"]).items()}
_RELATIVE = {"em": -1.0, "%": -0.01, "ex": -0.5, "ch": -0.5}  # to the size of letters around
_LETTERS = _PIXELS | _RELATIVE
_DEGREES = {"": 1.0, "deg": 1.0, "grad": 0.9, "rad": 57.3, "turn": 360.0}
_PERCENT = {"%": 1.0, "": 1.0}
_CHANNEL = {"": 1.0, "%": 2.55}
_SHARE = {"": 1.0, "%": 0.01}
# Of a screen: what the narrowest has, and the widest, on which mail is read; and units.
_WIDTHS = (800.0, 2_000.0, {unit: size for unit, size in _PIXELS.items() if unit != "%"})
_SCREEN = {
    "width": _WIDTHS,
    "device-width": _WIDTHS,
    "resolution": (1.0, 4.0, {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96}),
}
_COLOUR_UNITS = {"rgb": (_CHANNEL, _CHANNEL, _CHANNEL, _SHARE), "hsl": (_DEGREES, _PERCENT, _PERCENT, _SHARE)}


def parse_number(value: str, units: dict[str, float]) -> float | None:
    """A number, within MOST, times what its unit is, which 0 does not need; None for anything else."""
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz%")
    unit = units.get(value[len(digits) :], None if value.strip("+-.0") else 0.0)
    if unit is None or not value.isascii() or not digits[-1:].isdigit() or "_" in digits:
        return None
    try:
        return max(-MOST, min(float(digits) * unit, MOST))
    except ValueError:
        return None


def parse_length(value: str) -> float | None:
    """Pixels; None for anything else."""
    return MOST if value in ("auto", "none") else parse_number(value, _PIXELS)


def parse_letter_size(value: str) -> float | None:
    """Pixels, or less than 0: minus a share of the size around.  None for anything else."""
    if value.endswith(("small", "medium", "large", "initial", ")")):
        return NORMAL
    return None if value[:1] == "-" else parse_number(value, _LETTERS)


def _parse_font(value: str) -> float | None:
    """The size of letters in `bold 12px/1.5 Arial`; a number without a unit is their weight.

    Without a name of letters after it, or with a sign that no font has, browsers ignore it.
    """
    words = () if ":" in value or "}" in value else value.split()[:-1][:6]
    sizes = [word.partition("/")[0] for word in words if word[0] in "0123456789."]
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
    return _parse_colour_function(value)


def _read_colour(value: str) -> float | None:
    """The colour of a value; None for a word that names none."""
    is_word = value.isascii() and (value.isalpha() or not value)
    return _COLOURS.get(value) if is_word else parse_colour(value)


def _parse_colour_function(value: str) -> int:
    """The colour of `rgb(255 0 0 / 50%)` or `hsl(120, 100%, 50%)`; CSS Color 4, sections 4 and 7."""
    name, _, inside = value[:80].replace("none", "0").partition("(")
    words = inside.partition(")")[0].replace(",", " ").replace("/", " ").split()
    units = _COLOUR_UNITS.get(name.strip().removesuffix("a"))
    if units is None or not 3 <= len(words) <= 4:
        return UNKNOWN_COLOUR
    first, second, third, opacity = map(parse_number, [*words, "1"][:4], units)
    if first is None or second is None or third is None:
        return UNKNOWN_COLOUR
    if (opacity or 0) <= FAINT_OPACITY:
        return TRANSPARENT
    if name[0] == "h":
        from colorsys import hls_to_rgb  # rare

        lightness = max(0.0, min(third, 100.0)) / 100
        shares = hls_to_rgb(first / 360, lightness, max(0.0, min(second, 100.0)) / 100)
        first, second, third = [255 * share for share in shares]
    return int.from_bytes([max(0, min(round(channel), 255)) for channel in (first, second, third)], "big")


def _parse_background(value: str) -> int:
    """The colour of a background; UNKNOWN_COLOUR if it is a picture."""
    start = max(value.find("rgb"), value.find("hsl"))
    words = [value[start:]] if start >= 0 else value.split()[:20]
    colours = [each for each in map(parse_colour, words) if each != UNKNOWN_COLOUR]
    colour = colours[0] if colours and "gradient(" not in value else UNKNOWN_COLOUR
    return OUTER_COLOUR if colour == TRANSPARENT else colour


def _keep_words(part: str) -> Callable[[str], str | None]:
    """What keeps a value of these words, and of no other: browsers ignore a value that they do not know."""
    known = frozenset(_WORDS[part] + _WORDS["any"])
    return lambda value: value if value and known.issuperset(value.split()) else None


SIZES = ("height", "max-height", "width", "max-width")
# Property -> the name under which it is kept, and what reads its value.
_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "color": ("colour", _read_colour),
    **dict.fromkeys(("background", "background-color"), ("background", _parse_background)),
    "background-image": ("background", lambda value: UNKNOWN_COLOUR if "(" in value else None),
    "font-size": ("size", parse_letter_size),
    "font": ("size", _parse_font),
    **dict.fromkeys(("overflow", "overflow-y"), ("overflow", _keep_words("overflow"))),
    "text-indent": ("indent", parse_length),
    "opacity": ("opacity", lambda value: parse_number(value, _SHARE)),
    "unicode-bidi": ("override", lambda value: value.endswith("override")),
    "direction": ("leftward", lambda value: value == "rtl"),
    "display": ("display", _keep_words("display")),
    "visibility": ("visibility", _keep_words("visibility")),
    **{name: (name, parse_length) for name in SIZES},
}


class Style:
    """What declarations say that may hide something; what is `!important` is stronger than all else."""

    def __init__(self, declarations: str) -> None:
        self.plain: Properties = {}
        self.important: Properties = {}
        for declaration in remove_comments(declarations).lower().split(";"):
            name, _, value = declaration.partition(":")
            if known := _READ.get(name.strip()):
                kept_as, read = known
                value, mark, word = value.partition("!")
                read_value = read(value.strip())
                if read_value is not None and (not mark or word.strip() == "important"):
                    (self.important if mark else self.plain)[kept_as] = read_value


def remove_comments(text: str, begin: str = "/*", end: str = "*/") -> str:
    """The text with a blank in place of each comment, which ends a word of CSS (CSS Syntax 3, 4.3.2)."""
    first, *pieces = text.split(begin)
    return " ".join([first, *[piece.partition(end)[2] for piece in pieces]])


class Rule:
    """What a selector does to an element that has these marks: its name, `.class`, `#id`, or `*`.

    around : marks that elements around it must have, `>` before those of the next one around
    weight : the heaviest rule is the strongest
    """

    def __init__(self, words: list[str], is_child: bool, number: int, style: Style) -> None:
        *outer, own = map(_split_marks, words)
        parent = [">" + mark for mark in outer.pop()] if is_child else []
        around = [mark for marks in outer for mark in marks] + parent
        self.around = frozenset(around) - {"*", ">*"}
        self.marks = frozenset(own)
        self.style = style
        kinds = [mark.lstrip(">")[0] for mark in (*around, *own)]
        self.weight = (kinds.count("#"), kinds.count("."), len(kinds), number)


def _split_marks(word: str) -> list[str]:
    """`P.A#b` -> `p`, `.A`, `#b`: the case of classes and ids counts."""
    marks = word.replace(".", " .").replace("#", " #").split()
    return [mark if mark[0] in ".#" else mark.lower() for mark in marks]


def _is_plain(selector: list[str]) -> bool:
    """True if the words of a selector are names, classes, ids, and `>` between them."""
    marks = [mark for word in selector for mark in _split_marks(word) if mark not in ("*", ">")]
    odd = "".join(marks).encode("ascii", "ignore").translate(None, _NAME)
    is_named = not odd and all(mark.lstrip(".#-")[:1] not in "0123456789" for mark in marks)
    return is_named and [">"] not in (selector[:1], selector[-1:]) and bool(selector)


class Sheet:
    """The rules of a page's style elements, by one of their marks;  asked: marks that they want around."""

    def __init__(self) -> None:
        self.rules: dict[str, list[Rule]] = {}
        self.asked = DRAWING
        self._size = 0
        self._unread = MAX_SELECTORS
        self._looks = MAX_LOOKS

    def read(self, css: str) -> None:
        """Add the rules of a style element that hold on a wide screen."""
        held = [True]  # for the sheet, and for each block that is open
        for chunk in remove_comments(css).replace("<!--", "").replace("-->", "").split("}"):
            if "{" not in chunk:
                held = held[:-1] or [False]  # a brace that closes nothing spoils the next rule
                continue
            *heads, body = chunk.split("{")
            for head in heads[:-1]:
                block = head.rpartition(";")[2].strip().lower()
                held.append(held[-1] and block.startswith("@media") and is_screen(block[6:]))
            if held[-1] and ":" in body:
                self._add_rules(heads[-1].rpartition(";")[2] if "@" in heads[-1] else heads[-1], body)
            held[0] = True

    def _add_rules(self, head: str, body: str) -> None:
        """Add a rule for each selector of a list, if none asks for more than elements and those around."""
        self._unread -= 1 + head.count(",")
        style = Style(body if "@" not in head and self._unread >= 0 else "")
        if style.plain or style.important:
            selectors = [selector.split() for selector in head.replace(">", " > ").split(",")]
            for written in selectors if all(map(_is_plain, selectors)) else ():
                self._add(written, style)

    def _add(self, written: list[str], style: Style) -> None:
        words = [word for word in written if word != ">"]
        if len(words) > MAX_ASKED or self._size >= MAX_RULES:
            return
        self._size += 1
        rule = Rule(words, written[-2:-1] == [">"], self._size, style)
        if len(rule.around) + len(self.asked) <= MAX_ASKED:
            self.asked |= rule.around
            self.rules.setdefault(min(rule.marks), []).append(rule)  # an id or class, not a name

    def find_rules(self, marks: frozenset[str], around: frozenset[str]) -> list[Rule]:
        """The rules for an element, weakest first."""
        rules = [rule for mark in marks for rule in self.rules.get(mark, ())] if self._looks > 0 else []
        self._looks -= len(rules)
        rules = [rule for rule in rules if rule.marks <= marks and rule.around <= around]
        return sorted(rules, key=lambda rule: rule.weight)


def find_asked(marks: frozenset[str], asked: Set[str]) -> Set[str]:
    """The marks that an element puts around those inside: asked ones, with `>` for its children."""
    return asked & (marks if asked is DRAWING else marks.union([">" + mark for mark in marks]))


def is_screen(media: str) -> bool:
    """True if a list of media, in lower case, holds on every wide, light screen.

    A medium that mail programs do not know never holds.
    Source: Media Queries 3; what Gmail supports (developers.google.com/gmail/design/css).
    """
    return not media.strip() or any(map(_is_medium_met, media.split(",")))


def _is_medium_met(medium: str) -> bool:
    words = " ".join(medium.split()).removeprefix("only ")
    return all(each in ("all", "screen") or _is_condition_met(each) for each in words.split(" and "))


def _is_condition_met(condition: str) -> bool:
    """True if every wide screen meets a condition as `(min-width: 1em)`."""
    if not (condition.startswith("(") and condition.endswith(")")):
        return False
    name, _, value = condition[1:-1].partition(":")
    name, value = name.strip(), value.strip()
    if name == "orientation":
        return value == "landscape"
    bound, _, measure = name.partition("-")
    least, most, units = _SCREEN.get(measure, (0.0, 0.0, {}))
    number = parse_number("0px" if value == "0" else value, units)
    return number is not None and (
        (bound == "min" and number <= least) or (bound == "max" and number >= most)
    )
