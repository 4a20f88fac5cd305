"""CSS and colours of HTML -> Effect: style_effect for a style, attribute_colour for `color=` and `bgcolor=`.

Hides the syntax of declarations, lengths and colours.  What the declarations of a box do is known only when
all of them are: see html_hiding.
"""

from __future__ import annotations

from nbspam.mail.html.css import flattened, number_of, pixels_of, split_outside, unnested
from nbspam.mail.html.elements import word_set
from nbspam.mail.html.state import (
    CURRENT,
    FAINT,
    INHERIT,
    NORMAL,
    TRANSPARENT,
    UNKNOWN,
    WHITE,
    Effect,
    vanishes,
)

_READABLE = 6.0, 32.0  # pixels: all between is taken for NORMAL, so that few states are told apart
_RELATIVE = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5}
_SIZES = word_set("xx-small x-small small medium large x-large xx-large xxx-large initial math")
_STEPS = {"smaller": -1 / 1.2, "larger": -1.2}
INHERITED = word_set("inherit unset revert revert-layer")
CSS_WIDE = INHERITED | {"initial"}  # that any property may have
_VISIBILITY = word_set("visible hidden collapse initial")
_POSITIONS = ("static", "relative", "absolute", "fixed", "sticky", "initial")
_FLOATS = ("left", "right", "none", "inline-start", "inline-end", "initial")
# Lengths that may be below nought, and those that may not.
_PLACES = word_set("text-indent letter-spacing left top right bottom margin-left margin-top")
_EXTENTS = word_set(
    "opacity zoom line-height height max-height min-height block-size min-block-size width max-width "
    "min-width inline-size min-inline-size padding-top padding-right padding-bottom padding-left"
)
_NO_NUMBER = ("auto", "none", "normal", "initial", "min-content", "max-content", "fit-content")
_DISPLAYS = INHERITED | word_set(
    "none block inline inline-block flex inline-flex grid inline-grid table inline-table table-row "
    "table-cell table-row-group table-header-group table-footer-group table-column table-column-group "
    "table-caption list-item contents flow-root ruby initial math -webkit-box -webkit-inline-box"
)
_PAIRED = word_set("block inline flow flow-root table flex grid ruby list-item math run-in")  # `block flow`
# What a shorthand sets although it need not name it.
_RESET = {"font": ("font-size",), "background": ("background-color", "background-image")}
_BACKGROUND = word_set(
    "none repeat no-repeat repeat-x repeat-y space round scroll fixed local top left right bottom center "
    "border-box padding-box content-box text cover contain auto initial currentcolor"
)

# What lays another ground under letters, or lets them or their ground be seen in another colour.
_PAINTING = word_set("border-image border-image-source filter backdrop-filter mix-blend-mode")
_STROKES = ("-webkit-text-stroke", "-webkit-text-stroke-width", "-webkit-text-stroke-color")

_DIGITS = frozenset("0123456789abcdef")  # int() takes signs, underscores and digits of other scripts, too
_BASIC = {
    "black": 0, "silver": 0xC0C0C0, "gray": 0x808080, "grey": 0x808080, "white": WHITE, "maroon": 0x800000,
    "red": 0xFF0000, "purple": 0x800080, "fuchsia": 0xFF00FF, "green": 0x8000, "lime": 0xFF00,
    "olive": 0x808000, "yellow": 0xFFFF00, "navy": 0x80, "blue": 0xFF, "teal": 0x8080, "aqua": 0xFFFF,
    "transparent": TRANSPARENT,
}  # fmt: skip


def canonical(colour: int) -> str:
    return "transparent" if colour < 0 else f"#{colour:06x}"


def attribute_colour(value: str) -> int | None:
    """The colour of `color=` or `bgcolor=`, as forgiving as HTML, 2.3.6 ("legacy colour value")."""
    value = value.strip().lower()[:128]
    if not value or value == "transparent":
        return None
    if value in _BASIC:
        return _BASIC[value]
    digits = value[1:] if value.startswith("#") else value
    if len(digits) == 6 and _DIGITS.issuperset(digits):
        return int(digits, 16)
    named = _named(value)
    if named is not None:
        return named
    return _legacy(digits, value.startswith("#"))


def _legacy(digits: str, hashed: bool) -> int:
    if hashed and len(digits) == 3:
        digits = "".join([digit * 2 for digit in digits])
    digits = "".join([digit if digit in _DIGITS else "0" for digit in digits])
    third = -(-len(digits) // 3) or 1
    digits = digits.ljust(3 * third, "0")
    channels = [digits[start : start + third][-8:] for start in (0, third, 2 * third)]
    while len(channels[0]) > 2 and all(channel[0] == "0" for channel in channels):
        channels = [channel[1:] for channel in channels]
    return int("".join([channel[:2].rjust(2, "0") for channel in channels]), 16)


def css_colour(value: str) -> int | None:
    """The colour of a CSS value already in lower case; None if it is none."""
    if value in _BASIC:
        return _BASIC[value]
    if value.startswith("#"):
        digits = value[1:]
        if len(digits) in (3, 4):
            digits = "".join([digit * 2 for digit in digits])
        if len(digits) not in (6, 8) or not _DIGITS.issuperset(digits):
            return None
        number = int(digits, 16)
        if len(digits) == 8:
            return TRANSPARENT if number & 255 <= 255 * FAINT else number >> 8
        return number
    if value.startswith("rgb"):
        return _rgb(value)
    if value[-1:] == ")":
        from nbspam.mail.html.colours import function_colour  # rare

        return function_colour(value)
    return _named(value, of_system=True)


def _rgb(value: str) -> int | None:
    text = value.partition("(")[2].removesuffix(")")
    if "(" in text:
        from nbspam.mail.html.values import worked_out  # rare

        text = worked_out(text)
    inside = text.replace(",", " ").replace("/", " ").split()
    numbers: list[float] = []
    for word in inside[:4]:
        number = number_of("0" if word == "none" else word)
        if number is None or number[1] not in ("", "%"):
            return None
        share = 0.01 if len(numbers) == 3 else 2.55
        numbers.append(number[0] * share if number[1] == "%" else number[0])
    if len(numbers) < 3:
        return None
    if len(numbers) == 4 and numbers[3] <= FAINT:
        return TRANSPARENT
    red, green, blue = [round(min(max(number, 0), 255)) for number in numbers[:3]]
    return red << 16 | green << 8 | blue


def _named(value: str, of_system: bool = False) -> int | None:
    if not value.isalpha() or len(value) > 20:
        return None
    # A table of 140 names, wanted in few mails.
    from nbspam.mail.html.colours import NAMED, SYSTEM

    return NAMED.get(value, SYSTEM.get(value) if of_system else None)


def declarations(
    style: str, important: bool = False, variables: dict[str, str] | None = None
) -> dict[str, str]:
    """Property to value, lower case: the last that is valid, an `!important` one before any other.

    important : only those that are
    variables : values of `--names`, beside those of this style
    """
    style = style.lower()
    if "'" in style or '"' in style or "\\" in style or "/*" in style:
        style = flattened(style)
    found: dict[str, str] = {}
    above: dict[str, str] = {}
    for declaration in unnested(style).split(";"):
        name, colon, value = declaration.partition(":")
        if not colon:
            continue
        rules, name, value = found, name.strip(), value.strip()
        if "!" in value:
            value, _, word = value.partition("!")
            rules, value = above if word.strip() == "important" else {}, value.strip()
        if name == "all" and (value in INHERITED or value == "initial"):
            from nbspam.mail.html.values import reset_by_all  # rare

            reset_by_all(rules, value)
        elif name not in rules or not is_invalid(name, value):
            rules[name] = value
            if name in _RESET and not is_invalid(name, value):
                for other in _RESET[name]:
                    rules.pop(other, None)
    if "var(" in style:
        from nbspam.mail.html.values import with_variables  # rare

        found, above = [with_variables(rules, found, variables or {}) for rules in (found, above)]
    if important or not above:
        return above if important else found
    return {**found, **{name: value for name, value in above.items() if not is_invalid(name, value)}}


def is_invalid(name: str, value: str) -> bool:
    """Whether a browser passes over a declaration as if it were not there."""
    if not value:
        return not name.startswith("--")
    if value in INHERITED or "var(" in value:
        return False
    if name in _RESET:
        return not (_size_in_font(value) if name == "font" else _is_background(value))
    if name == "display":
        return value not in _DISPLAYS and not _PAIRED.issuperset(value.split())
    if name == "visibility":
        return value not in _VISIBILITY
    if name in ("position", "float"):
        return value not in (_FLOATS if name == "float" else _POSITIONS)
    if name in _EXTENTS or name in _PLACES:
        return "(" not in value and value not in _NO_NUMBER and not _is_length(name, value)
    if name in ("color", "background-color", "-webkit-text-fill-color"):
        unknown = "(" in value and "gradient(" not in value and "url(" not in value
        return css_colour(value) is None and value not in ("currentcolor", "initial") and not unknown
    if name == "font-size":
        is_word = "(" in value or value in _SIZES or value in _STEPS
        return not (is_word or _is_length(name, value))
    return False


def _is_length(name: str, value: str) -> bool:
    number = number_of(value)
    if number is None or (number[0] < 0 and name not in _PLACES and name != "opacity"):
        return False
    return name not in ("opacity", "zoom") or number[1] in ("", "%")


def _is_background(value: str) -> bool:
    """Whether `background` may have this value: it has words of its own, places, and one colour."""
    if "(" in value:
        return True
    words = [word for word in value.replace(",", " ").replace("/", " ").split() if word not in _BACKGROUND]
    colours = [word for word in words if number_of(word) is None]
    return len(colours) < 2 and all(css_colour(word) is not None for word in colours)


def style_effect(
    style: str, colours: list[str], important: bool = False, variables: dict[str, str] | None = None
) -> Effect:
    """What the declarations of a style do; the colours they name are added to `colours`."""
    effect = Effect()
    rules = declarations(style, important, variables)
    effect.box = rules
    opacity = number_of(rules.get("opacity", ""))
    if opacity is not None and opacity[1] in ("", "%"):
        effect.faint = max(0.0, min(opacity[0] * (0.01 if opacity[1] == "%" else 1), 1.0))
    elif rules.get("opacity") in CSS_WIDE:
        effect.faint = 1.0
    _letters(rules, effect)
    for name in ("color", "-webkit-text-fill-color"):
        if name in rules:
            colour = css_colour(rules[name])
            if colour is not None:
                effect.colour = colour
                colours.append(canonical(colour))
            elif name == "color" and (rules[name] in CSS_WIDE or rules[name] == "currentcolor"):
                effect.colour = 0 if rules[name] == "initial" else INHERIT
    size = rules.get("background-size", "")
    for name in ("background", "background-color"):
        if name in rules and not is_invalid(name, rules[name]):
            ground = _ground(rules[name], colours, size)
            if ground != TRANSPARENT or "(" not in rules.get("background", ""):
                effect.ground = ground
    picture = rules.get("background-image", "")
    if "gradient(" in picture or (effect.ground in (None, TRANSPARENT) and "url(" in picture):
        effect.ground = _ground(picture, colours, size)
    if not _PAINTING.isdisjoint(rules) or "inset" in rules.get("box-shadow", ""):
        from nbspam.mail.html.colours import painted  # rare

        painting = painted(rules, effect.ground)
        effect.ground = effect.ground if painting is None else painting
    if effect.colour not in (None, INHERIT) and _is_drawn_otherwise(rules, effect.colour):
        effect.colour = UNKNOWN
    return effect


def _is_drawn_otherwise(rules: dict[str, str], colour: int) -> bool:
    """Whether letters are seen by their shadow, or as holes in which the ground shows."""
    if colour == TRANSPARENT and "text" in (
        rules.get("-webkit-background-clip", "") + rules.get("background-clip", "")
    ):
        return True
    stroke = split_outside(" ".join([rules[name] for name in _STROKES if name in rules]), " ")
    if any(pixels_of(word) > 0 for word in stroke):
        found = [css_colour(word) for word in (*stroke, rules.get("color", ""))]
        stroke_colour = next((word for word in found if word is not None), UNKNOWN)
        return not vanishes(stroke_colour, WHITE if colour == TRANSPARENT else colour)
    for word in rules.get("text-shadow", "").split()[:8]:
        shadow = css_colour(word)
        if shadow is not None:
            return not vanishes(shadow, WHITE if colour == TRANSPARENT else colour)
    return False


def _ground(value: str, colours: list[str], size: str = "") -> int | None:
    """The colour of a ground; TRANSPARENT where it says none, None where nobody knows."""
    if "gradient(" in value and "url(" not in value:
        from nbspam.mail.html.colours import gradient_colour  # rare

        return gradient_colour(value, size)
    function = "rgb" if "rgb" in value else "hsl"
    if function in value:
        words = [function + value.partition(function)[2].partition(")")[0] + ")"]
    elif "(" in value and "url(" not in value:
        words = [value]
    else:
        words = value.split()[:20]
    ground = None if "(" in value else TRANSPARENT
    for word in words:
        if word == "currentcolor":
            return CURRENT
        colour = css_colour(word)
        if colour is not None:
            colours.append(canonical(colour))
            ground = colour
            break
    return UNKNOWN if "url(" in value and ground in (None, TRANSPARENT) else ground


def _letters(rules: dict[str, str], effect: Effect) -> None:
    """What is inherited and may be undone inside: visibility and size."""
    if rules.get("visibility") in _VISIBILITY:
        effect.invisible = rules["visibility"] in ("hidden", "collapse")
    elif rules.get("visibility") in INHERITED:
        effect.invisible = INHERIT
    if "font-size" in rules:
        effect.size = _letter_size(rules["font-size"])
    elif "font" in rules:
        effect.size = _letter_size(_size_in_font(rules["font"]))


def _size_in_font(value: str) -> str:
    """The size in `font`; none if no name of a font is behind it, since a browser passes over that."""
    if value in CSS_WIDE:
        return value
    for word in value.split()[:8][:-1]:
        size = word.partition("/")[0]
        number = number_of(size)
        if size in _SIZES or (number is not None and (number[1] or number[0] < 1)):  # 400 is a weight
            return size
    return ""


def _letter_size(value: str) -> float | None:
    """Pixels; below nought, how many times the size around, the other way round; None as around."""
    number = number_of(value)
    if number is None:
        return NORMAL if value in _SIZES else -1.0 if value in INHERITED else _STEPS.get(value)
    if number[1] in _RELATIVE:
        return -number[0] * _RELATIVE[number[1]] if number[0] >= 0 else None
    if number[0] < 0 or (number[0] and not number[1]):
        return None
    pixels = pixels_of(value)
    return NORMAL if _READABLE[0] <= pixels <= _READABLE[1] else pixels
