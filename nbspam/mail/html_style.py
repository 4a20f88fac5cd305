"""CSS and colours of HTML -> Effect: style_effect for a style, attribute_colour for `color=` and `bgcolor=`.

Hides the syntax of declarations, lengths and colours, and from which size, place or opacity on nobody
can read a text.
"""

from __future__ import annotations

from nbspam.mail.html_state import TRANSPARENT, UNKNOWN, WHITE, Effect

# The largest size at which nobody can read, a unit.
_TINY = {"px": 2.0, "pt": 1.5, "em": 0.2, "rem": 0.2, "ex": 0.4, "%": 20.0, "": 0.0, "mm": 0.5, "cm": 0.05}
_FAR = -400.0  # pixels, or any unit: further left or up than that is off the screen
_FAINT = 0.1  # opacity

_BASIC = {
    "black": 0,
    "silver": 0xC0C0C0,
    "gray": 0x808080,
    "grey": 0x808080,
    "white": WHITE,
    "maroon": 0x800000,
    "red": 0xFF0000,
    "purple": 0x800080,
    "fuchsia": 0xFF00FF,
    "green": 0x8000,
    "lime": 0xFF00,
    "olive": 0x808000,
    "yellow": 0xFFFF00,
    "navy": 0x80,
    "blue": 0xFF,
    "teal": 0x8080,
    "aqua": 0xFFFF,
    "transparent": TRANSPARENT,
}


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
    if len(digits) == 6:
        try:
            return int(digits, 16)
        except ValueError:
            pass
    named = _named(value)
    if named is not None:
        return named
    return _legacy(digits, value.startswith("#"))


def _legacy(digits: str, hashed: bool) -> int:
    if hashed and len(digits) == 3:
        digits = "".join([digit * 2 for digit in digits])
    digits = "".join([digit if digit in "0123456789abcdef" else "0" for digit in digits])
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
        try:
            number = int(digits, 16)
        except ValueError:
            return None
        if len(digits) == 8:
            return TRANSPARENT if number & 255 <= 255 * _FAINT else number >> 8
        return number if len(digits) == 6 else None
    if value.startswith("rgb"):
        return _rgb(value)
    return _named(value)


def _rgb(value: str) -> int | None:
    inside = value.partition("(")[2].partition(")")[0].replace(",", " ").replace("/", " ").split()
    numbers: list[float] = []
    for word in inside[:4]:
        try:
            number = float(word.rstrip("%"))
        except ValueError:
            return None
        share = 0.01 if len(numbers) == 3 else 2.55
        numbers.append(number * share if word.endswith("%") else number)
    if len(numbers) < 3 or any(number != number for number in numbers):
        return None
    if len(numbers) == 4 and numbers[3] <= _FAINT:
        return TRANSPARENT
    red, green, blue = [round(min(max(number, 0), 255)) for number in numbers[:3]]
    return red << 16 | green << 8 | blue


def _named(value: str) -> int | None:
    if not value.isalpha() or len(value) > 20:
        return None
    # A table of 140 names, wanted in few mails.
    from nbspam.mail.html_colours import NAMED

    return NAMED.get(value)


def declarations(style: str) -> dict[str, str]:
    """Property to value, lower case, the last one winning; comments and `!important` taken off."""
    style = style.lower()
    if "/*" in style:
        style = "".join(
            [part.partition("*/")[2] if index else part for index, part in enumerate(style.split("/*"))]
        )
    found = {}
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            found[name.strip()] = value.partition("!")[0].strip()
    return found


def style_effect(style: str, colours: list[str]) -> Effect:
    """What the declarations of a style do; the colours they name are added to `colours`."""
    effect = Effect()
    rules = declarations(style)
    _box(rules, effect)
    _letters(rules, effect)
    if "color" in rules:
        effect.colour = css_colour(rules["color"])
        if effect.colour is not None:
            colours.append(canonical(effect.colour))
    for name in ("background", "background-color"):
        if name in rules:
            effect.ground = _ground(rules[name], effect.ground, colours)
    return effect


def _ground(value: str, ground: int | None, colours: list[str]) -> int | None:
    if "rgb" in value:
        words = ["rgb" + value.partition("rgb")[2].partition(")")[0] + ")"]
    else:
        words = value.split()[:20]
    for word in words:
        colour = css_colour(word)
        if colour is not None:
            colours.append(canonical(colour))
            return ground if colour == TRANSPARENT else colour
    return UNKNOWN if "url(" in value or "gradient(" in value else ground


def _box(rules: dict[str, str], effect: Effect) -> None:
    """display, opacity, clipping and places off the screen: whatever is inside, it is gone."""
    get = rules.get
    if "display" in rules:
        effect.gone = rules["display"] == "none"
    if "opacity" in rules and _at_most(get("opacity", ""), {"": _FAINT, "%": 100 * _FAINT}):
        effect.gone = True
    if get("overflow", get("overflow-y", "")) in ("hidden", "clip"):
        for name in ("height", "max-height", "width", "max-width"):
            if name in rules and _at_most(rules[name], _TINY):
                effect.gone = True
    if get("position") in ("absolute", "fixed"):
        clip = get("clip", "")
        if clip.startswith("rect(") and not clip.strip("rect(0px1, )"):
            effect.gone = True
        for name in ("left", "top", "right", "bottom"):
            if name in rules and _far(rules[name]):
                effect.gone = True
    for name in ("margin-left", "margin-top"):
        if name in rules and _far(rules[name]):
            effect.gone = True
    if "scale(0)" in get("transform", ""):
        effect.gone = True


def _letters(rules: dict[str, str], effect: Effect) -> None:
    """What is inherited and may be undone inside: visibility, size, line height, indent."""
    if "visibility" in rules:
        effect.invisible = rules["visibility"] in ("hidden", "collapse")
    if "font-size" in rules:
        effect.tiny = _at_most(rules["font-size"], _TINY)
    elif "font" in rules:
        for word in rules["font"].split()[:8]:
            if word[:1].isdigit() or word[:1] == ".":
                effect.tiny = _at_most(word.partition("/")[0], _TINY)
                break
    if "text-indent" in rules:
        effect.squeezed = _far(rules["text-indent"])
    if "line-height" in rules and not effect.squeezed:
        effect.squeezed = _at_most(rules["line-height"], _TINY)


def _number(value: str) -> tuple[float, str]:
    """Number and unit; a word that is no length gives (1000, "")."""
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz%")
    try:
        return float(digits), value[len(digits) :]
    except ValueError:
        return 1000.0, ""


def _at_most(value: str, limits: dict[str, float]) -> bool:
    number, unit = _number(value)
    return number <= limits.get(unit, 0.0)


def _far(value: str) -> bool:
    return _number(value)[0] <= _FAR
