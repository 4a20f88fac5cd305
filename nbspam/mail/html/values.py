"""Values of CSS that are worked out: calculated, in rare units, and with the variables in them replaced.

Hides the arithmetic of `calc()` and its like, and what stands for `var()`.  Loaded when a style has one.
"""

from __future__ import annotations

from nbspam.mail.html.css import MOST, PIXELS, number_of, split_outside
from nbspam.mail.html.elements import word_set

MAX_CALCULATION = 200  # characters of one that is worked out
MAX_BRACKETS = 20  # of one: those in brackets are worked out by recursion
MAX_VARIABLE = 1_000  # characters of a value with its variables replaced
MAX_VARIABLES = 1_000  # that are known of a page
MAX_REPLACED = 20  # variables in one value
# Pixels of one of each rare unit; and units of what has none: turns and the density of a screen.
_RARE_PIXELS = {
    **dict.fromkeys(("dvw", "svw", "lvw", "vi", "cqw", "cqi"), 10.0),
    **dict.fromkeys(("dvh", "svh", "lvh", "vb", "cqh", "cqb"), 8.0),
    **dict.fromkeys(("lh", "rlh", "ic", "cap"), 16.0),
}
_NO_LENGTHS = frozenset(("deg", "rad", "grad", "turn", "dpi", "dpcm", "dppx", "x"))
_SIGNS = {"+": 1, "-": 1, "*": 2, "/": 2}

# What of a style is looked at and is reset by `all`; `direction` and `unicode-bidi` are not.  A shorthand
# stands for those that begin with it; the others are left out, for their first value is that of having none.
_RESET_BY_ALL = word_set(
    "display visibility opacity color font-size line-height text-indent letter-spacing zoom position float "
    "left top right bottom inset clip clip-path overflow height max-height min-height block-size "
    "min-block-size width max-width min-width inline-size min-inline-size margin-left margin-top "
    "margin-inline margin-inline-start padding-left padding-top padding-right padding-bottom white-space "
    "background-color background-image contain content-visibility filter mask -webkit-mask "
    "-webkit-mask-image mix-blend-mode rotate scale transform translate -webkit-text-fill-color"
)
_DROPPED_BY_ALL = word_set(
    "font background margin padding overflow-x overflow-y inset-inline-start mask-image text-shadow "
    "background-clip -webkit-background-clip background-size box-shadow border-image border-image-source "
    "border-image-slice backdrop-filter -webkit-text-stroke -webkit-text-stroke-width "
    "-webkit-text-stroke-color -webkit-text-security font-size-adjust"
)


def in_rare_unit(number: float, unit: str) -> tuple[float, str] | None:
    """Number and unit, pixels of a length; None if no browser knows the unit."""
    if unit in _RARE_PIXELS:
        return number * _RARE_PIXELS[unit], "px"
    return (number, unit) if unit in _NO_LENGTHS else None


def calculated(value: str) -> tuple[float, str] | None:
    """Number and unit of a calculation; pixels where units are mixed, None if it is none."""
    if len(value) > MAX_CALCULATION or value.count("(") > MAX_BRACKETS:
        return None
    for sign in "(),*/":
        value = value.replace(sign, f" {sign} ")
    units: set[str] = set()
    words = value.split()[::-1]  # taken from the end
    try:
        found = _sum(words, units, 0)
    except (ValueError, IndexError, ZeroDivisionError, OverflowError):
        return None
    if words:
        return None
    units.discard("")
    unit = units.pop() if len(units) == 1 else "px" if units else ""
    return max(-MOST, min(found / _unit(unit), MOST)), unit


def worked_out(values: str) -> str:
    """The same list of values, with the numbers of calculations in their place."""
    parts = [part for word in split_outside(values, " ") for part in split_outside(word, ",")]
    numbers = [number_of(part) if "(" in part else None for part in parts]
    return " ".join(
        [f"{number[0]:f}{number[1]}" if number else part for number, part in zip(numbers, parts, strict=True)]
    )


def _sum(words: list[str], units: set[str], least: int) -> float:
    """The value of what operators of this strength, or stronger ones, hold together; it is taken off."""
    value = _term(words, units)
    while words and _SIGNS.get(words[-1], -1) > least:
        sign = words.pop()
        other = _sum(words, units, _SIGNS[sign])
        if sign == "+":
            value += other
        elif sign == "-":
            value -= other
        elif sign == "*":
            value *= other
        else:
            value /= other or 1e-9
    return value


def _term(words: list[str], units: set[str]) -> float:
    word = words.pop()
    if word in ("calc", "min", "max", "clamp", "-webkit-calc"):
        words.pop()  # the bracket
        values = _list(words, units)
        if word == "clamp":
            return max(values[0], min(values[1], values[2]))
        return (max if word == "max" else min)(values)
    if word == "(":
        return _list(words, units)[0]
    number = number_of(word)
    if number is None:
        raise ValueError(word)
    units.add(number[1])
    return number[0] * _unit(number[1])


def _unit(name: str) -> float:
    return PIXELS.get(name) or 1.0


def _list(words: list[str], units: set[str]) -> list[float]:
    """The values up to the bracket that closes, which is taken off too."""
    values = [_sum(words, units, 0)]
    while words[-1] == ",":
        words.pop()
        values.append(_sum(words, units, 0))
    if words[-1] != ")":
        raise ValueError(words[-1])
    words.pop()
    return values


def replaced(value: str, own: dict[str, str], around: dict[str, str]) -> str | None:
    """A value with the variables in it replaced; None if one of them has no value.

    own, around : values of `--names` that the style sets itself, which come first, and those of the page
    """
    for _ in range(MAX_REPLACED):
        before, found, rest = value.rpartition("var(")
        if not found:
            return value
        inside, _, behind = rest.partition(")")
        name, comma, fallback = inside.partition(",")
        name = name.strip()
        known = own.get(name, around.get(name, fallback.strip() if comma else None))
        if known is None or len(before) + len(known) + len(behind) > MAX_VARIABLE:
            return None
        value = before + known + behind
    return None


def with_variables(rules: dict[str, str], own: dict[str, str], around: dict[str, str]) -> dict[str, str]:
    """Declarations with their variables replaced; one without value is as if it were unset."""
    return {
        name: (replaced(value, own, around) or "unset") if "var(" in value else value
        for name, value in rules.items()
        if not name.startswith("--")
    }


def variables_of(css: str) -> dict[str, str]:
    """The variables that a style or a sheet sets, whatever for: the last value of each name."""
    found = {}
    for declaration in css.lower().replace("{", ";").replace("}", ";").split(";"):
        name, colon, value = declaration.partition(":")
        if colon and name.strip().startswith("--"):
            found[name.strip()] = value.partition("!")[0].strip()
            if len(found) >= MAX_VARIABLES:
                break
    return found


def reset_by_all(rules: dict[str, str], value: str) -> None:
    """Let `all` be the value of what is looked at, whatever stood before it."""
    for name in _DROPPED_BY_ALL:
        rules.pop(name, None)
    rules.update(dict.fromkeys(_RESET_BY_ALL, value))
