"""Styles that few mails have and that leave nothing of a text to be seen: hide_rarely.

Hides the longer ways of CSS to move, turn, clip, mask and blur.  Loaded when a style has one of RARE.
"""

from __future__ import annotations

from nbspam.mail.html.css import number_of, pixels_of

_FAR = -400.0  # pixels: further left or up than that is off the screen
_FAR_DOWN = 4_000.0  # pixels: and further right or down
_BLURRED = 8.0  # pixels
_BLINDING = 10.0  # times as bright
_DRAWN_OVER = ("lighten", "screen", "color-dodge", "plus-lighter")
_UPRIGHT = (["90deg"], ["-90deg"], ["270deg"], [".25turn"])  # angles at which what is flat is a line
_BEGIN = ("inset-inline-start", "margin-inline-start", "margin-inline")


def hide_rarely(rules: dict[str, str]) -> tuple[bool, bool]:
    """Whether a text is hidden in any case, and whether it is where the element is a box."""
    gone = _is_wiped_out(rules) or _is_moved_off(rules) or _is_cut_out(rules.get("clip-path", ""))
    return gone, _is_clipped(rules) or _is_turned_away(rules)


def _is_wiped_out(rules: dict[str, str]) -> bool:
    get = rules.get
    if get("display", "").startswith("table-column"):
        return True
    if get("-webkit-text-security", "none") != "none" or get("mix-blend-mode") in _DRAWN_OVER:
        return True
    if get("font-size-adjust") == "0":
        return True
    mask = get("mask", "") + get("mask-image", "") + get("-webkit-mask-image", "") + get("-webkit-mask", "")
    if "gradient(" in mask:
        from nbspam.mail.html.colours import is_clear

        if is_clear(mask):
            return True
    return any(_blinds(*part.strip().partition("(")[::2]) for part in get("filter", "").split(")"))


def _blinds(function: str, value: str) -> bool:
    number = number_of(value.strip())
    if number is None:
        return False
    amount = number[0] * (0.01 if number[1] == "%" else 1)
    if function == "blur":
        return pixels_of(value.strip()) >= _BLURRED
    return (function == "contrast" and amount <= 0) or (function == "brightness" and amount >= _BLINDING)


def _is_moved_off(rules: dict[str, str]) -> bool:
    if "padding-left" in rules and pixels_of(rules["padding-left"]) >= _FAR_DOWN:
        return True
    for name in _BEGIN:
        if name in rules and pixels_of(rules[name]) <= _FAR:
            return True
    if rules.get("position") not in ("absolute", "fixed", "relative"):
        return False
    return any(pixels_of(side) <= _FAR for side in rules.get("inset", "").split()[:4])


def _is_clipped(rules: dict[str, str]) -> bool:
    if rules.get("contain") in ("strict", "size paint", "paint size") and "height" not in rules:
        return True
    clip = rules.get("clip", "")
    if clip.startswith("rect(") and rules.get("position") in ("absolute", "fixed"):
        sides = [pixels_of(side) for side in clip[5:].rstrip(")").replace(",", " ").split()[:4]]
        if len(sides) == 4 and "auto" not in clip and (sides[1] - sides[3] <= 2 or sides[2] - sides[0] <= 2):
            return True
    return False


def _is_cut_out(path: str) -> bool:
    """Whether nothing is left of an element, in a line too, by its `clip-path`."""
    shape, _, inside = path.partition("(")
    inside = inside.rpartition(")")[0].partition(" round ")[0]
    if shape == "inset":
        return _is_inset(inside.split()[:4])
    if shape == "ellipse":
        return any(pixels_of(word) <= 0 for word in inside.partition("at")[0].split()[:2])
    return shape == "polygon" and _area(inside) <= 1


def _is_inset(sides: list[str]) -> bool:
    """Whether two sides meet: they take 100 %, or more pixels than a mail is wide."""
    if not sides:
        return False
    top, right, bottom, left = (sides * 4)[:4] if len(sides) < 3 else [*sides, sides[1]][:4]
    for pair in ((top, bottom), (right, left)):
        numbers = [number_of(side) or (0.0, "") for side in pair]
        shares = sum(number for number, unit in numbers if unit == "%")
        if shares >= 100 or max(pixels_of(side) for side in pair) >= _FAR_DOWN:
            return True
    return False


def _area(points: str) -> float:
    """The area of a polygon, in whatever units it has (the shoelace formula)."""
    corners = []
    for point in points.split(",")[:100]:
        words = [word for word in point.split() if number_of(word) is not None]
        if len(words) == 2:
            corners.append((pixels_of(words[0]), pixels_of(words[1])))
    pairs = zip(corners, [*corners[1:], *corners[:1]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2


def moved(transform: str) -> float:
    """How many pixels a transformation moves to the right."""
    right = 0.0
    for function, words in _functions(transform):
        if function in ("translate", "translatex", "translate3d") and words:
            right += pixels_of(words[0])
    return right


def _functions(transform: str) -> list[tuple[str, list[str]]]:
    parts = [part.strip().partition("(") for part in transform.split(")")[:8]]
    return [(function, inside.replace(",", " ").split()[:6]) for function, _, inside in parts]


def _is_turned_away(rules: dict[str, str]) -> bool:
    """Whether an element is flat by a matrix, seen from its edge, or moved off by the newer properties."""
    if any(pixels_of(word) <= _FAR for word in rules.get("translate", "").split()[:2]):
        return True
    if "90deg" in rules.get("rotate", "").split() and len(rules["rotate"].split()) == 2:
        return rules["rotate"].split()[0] in ("x", "y")
    for function, words in _functions(rules.get("transform", "")):
        up = words[1:2] if function in ("translate", "translate3d") else words[:1]
        if function.startswith("translate") and function != "translatex" and up and pixels_of(up[0]) <= _FAR:
            return True
        if function == "rotate3d" and words[2:3] == ["0"] and words[:2] != ["0", "0"]:  # an axis in the page
            function = "rotatex"
        if function in ("rotatex", "rotatey") and words[-1:] in _UPRIGHT:
            return True
        if function == "matrix" and len(words) == 6:
            a, b, c, d, x, y = map(pixels_of, words)
            if abs(a * d - b * c) < 0.01 or x <= _FAR or y <= _FAR:
                return True
    return False


def scaled(rules: dict[str, str]) -> float:
    """How many times larger all inside an element is, by the side that grows less."""
    scale = _least(rules.get("scale", "").split()[:2])
    for function, words in _functions(rules.get("transform", "")):
        if function.startswith("scale"):
            scale *= _least(words[:1] if function in ("scalex", "scaley") else words[:2])
    return scale


def _least(words: list[str]) -> float:
    numbers = [number for number in map(number_of, words) if number is not None]
    return min([abs(number) * (0.01 if unit == "%" else 1) for number, unit in numbers], default=1.0)
