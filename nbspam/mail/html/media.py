"""Whether an at-rule or a medium of a style sheet holds: for a reader at an ordinary screen.

Hides the syntax of media queries (Media Queries 4), as far as sheets of mail use it.  One screen stands
for all: a light one, wider than it is high; what only a phone, a printer or a dark screen shows is not asked.
"""

from __future__ import annotations

from nbspam.mail.html.css import number_of, pixels_of

_SCREEN = {"width": 1_000.0, "height": 700.0, "device-width": 1_000.0, "device-height": 700.0}  # pixels
_DENSITY = {"resolution": 1.0, "-webkit-device-pixel-ratio": 1.0, "device-pixel-ratio": 1.0, "color": 8.0}
_WORDS = {
    "prefers-color-scheme": "light",
    "orientation": "landscape",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "forced-colors": "none",
    "inverted-colors": "none",
    "display-mode": "browser",
    "update": "fast",
    "scripting": "none",
    "grid": "0",
}
_DOTS = {"dpi": 1 / 96, "dpcm": 2.54 / 96, "dppx": 1.0, "x": 1.0, "": 1.0}


def applies(at_rule: str) -> bool:
    """Whether the block of an at-rule holds, in lower case."""
    kind = at_rule.partition(" ")[0].partition("(")[0]
    if kind == "@supports":
        from nbspam.mail.html.supports import holds as is_supported  # few sheets ask

        return is_supported(at_rule[len("@supports") :])
    if kind == "@layer":
        return True
    return kind == "@media" and holds(at_rule[len("@media") :])


def holds(media: str) -> bool:
    """Whether one of the media asked for is a reader's screen: `screen`, but no `(max-width: 600px)`."""
    return not media.strip() or any(_is_ours(query) for query in media.lower().split(","))


def _is_ours(query: str) -> bool:
    words = query.replace("(", " (").split()
    kind = words[0] if words else ""
    negated = kind == "not"
    if kind in ("not", "only"):
        words = words[1:]
    medium = words[0] if words and words[0][0] != "(" else "all"
    features = [feature.partition(")")[0] for feature in query.split("(")[1:]]
    found = [_has(feature.strip()) for feature in features]
    ours = (any if " or " in query else all)(found) if found else True
    return (medium in ("screen", "all") and ours) != negated


def _has(feature: str) -> bool:
    """Whether our screen has a feature, `min-width: 300px`, `width >= 300px` or `color`."""
    if ":" not in feature and any(sign in feature for sign in "<>="):
        return _compares(feature)
    name, colon, value = [part.strip() for part in feature.partition(":")]
    bound = name.removeprefix("-webkit-").removeprefix("-moz-").removeprefix("-o-")
    for prefix in ("min-", "max-"):
        if bound.startswith(prefix):
            ours, wanted = _size(bound.removeprefix(prefix)), _length(value)
            if ours is None or wanted is None:
                return False
            return ours >= wanted if prefix == "min-" else ours <= wanted
    if not colon:
        return name in _SCREEN or name in ("color", "hover", "pointer", "any-hover", "any-pointer")
    if _size(bound) is not None:
        return _size(bound) == _length(value)
    return _WORDS.get(name) == value


def _compares(feature: str) -> bool:
    """Whether `200px <= width < 900px` holds for our screen."""
    spaced = feature.replace("<", " < ").replace(">", " > ").replace("=", " = ")
    words = spaced.replace("<  = ", "<= ").replace(">  = ", ">= ").split()
    signs = words[1::2]
    numbers = [_length(word) if _size(word) is None else _size(word) for word in words[::2]]
    if len(numbers) != len(signs) + 1 or None in numbers:
        return False
    for left, sign, right in zip(numbers, signs, numbers[1:], strict=False):
        if left is None or right is None or not _ordered(left, sign, right):
            return False
    return True


def _ordered(left: float, sign: str, right: float) -> bool:
    if sign[:1] == "<":
        return left < right or (sign == "<=" and left == right)
    if sign[:1] == ">":
        return left > right or (sign == ">=" and left == right)
    return left == right


def _size(name: str) -> float | None:
    return _SCREEN.get(name, _DENSITY.get(name))


def _length(value: str) -> float | None:
    """A length in pixels, or a density in dots per pixel."""
    number = number_of(value)
    if number is None:
        return None
    return number[0] * _DOTS[number[1]] if number[1] in _DOTS and number[1] else pixels_of(value)
