"""What the declarations of an element do to its box, all of them together: settle.

They come from its style and from any number of rules, and hide only together: `overflow` stands in one, a
height of nought in another, and a third makes it visible again.  So none of them is judged before all are
known.  Hides from which size and place on nobody can read a text.
"""

from __future__ import annotations

from nbspam.mail.html.css import number_of, pixels_of
from nbspam.mail.html.elements import BODY, OPEN_APART, OPEN_AWAY, OPEN_SINGLE, OPEN_TURNED, Element, word_set
from nbspam.mail.html.state import (
    AWAY,
    CARRIED,
    CLIPS,
    CLIPS_IN_QUIRKS,
    FAINT,
    FAR,
    HELD,
    LINING,
    SHORT,
    TINY,
    Effect,
)
from nbspam.mail.html.style import INHERITED, is_invalid, style_effect

_FEW = 200.0  # pixels that something is moved: no matter
_WIDE = 1_000.0  # pixels: no box of a mail is as wide
_LINE = 12.0  # pixels: a box with so much padding shows a line
_HEAPED = -8.0  # pixels between letters: they stand one on the other

_RARE = word_set(
    "clip clip-path contain filter font-size-adjust inset inset-inline-start margin-inline mask "
    "margin-inline-start mask-image mix-blend-mode rotate scale transform translate "
    "unicode-bidi -webkit-mask -webkit-mask-image -webkit-text-security"
)
# Without one of these, or a margin below nought, there is no box and no place that hides.
_HIDING = _RARE | word_set(
    "display content-visibility zoom overflow overflow-x overflow-y float position margin-left margin-top "
    "text-indent letter-spacing"
)
# A style or rule that has one of these may hide with others, or undo what they do.
_OF_BOX = _HIDING | word_set(
    "height max-height min-height block-size min-block-size width max-width min-width inline-size "
    "min-inline-size left right top bottom line-height direction white-space padding padding-top "
    "padding-right padding-bottom padding-left margin margin-right margin-bottom"
)
_SMALL = word_set("height max-height block-size width max-width inline-size")
_IN_LINE = word_set("inline-block inline-flex inline-grid inline-table")
_CUTTING = word_set("hidden auto scroll overlay")
_ON_LINES = word_set(
    "block flex grid table flow-root list-item table-row table-row-group table-header-group "
    "table-footer-group table-caption -webkit-box"
)
_BOXES = word_set(
    "block inline-block flex inline-flex grid inline-grid table inline-table flow-root list-item"
)


def _of_box(rules: dict[str, str]) -> dict[str, str]:
    """The valid declarations that are settled together, margin and padding by sides."""
    box: dict[str, str] = {}
    for name in rules:
        value = rules[name]
        if name not in _OF_BOX or is_invalid(name, value):
            continue
        if name in ("margin", "padding"):
            box.update(_sides(name, value))
        else:
            if name in SHORT:
                box = {other: box[other] for other in box if not other.startswith(name + "-")}
            box[name] = value
    return box


def _sides(name: str, value: str) -> dict[str, str]:
    words = value.split()[:4]
    right = words[1] if len(words) > 1 else words[0]
    bottom = words[2] if len(words) > 2 else words[0]
    sides = words[0], right, bottom, words[3] if len(words) > 3 else right
    return {
        f"{name}-{side}": size for side, size in zip(("top", "right", "bottom", "left"), sides, strict=True)
    }


def rule_effect(
    style: str, colours: list[str], important: bool = False, variables: dict[str, str] | None = None
) -> Effect:
    """style_effect of a style or rule that others stand above or below."""
    effect = style_effect(style, colours, important, variables)
    effect.box = _of_box(effect.box or {}) or None
    return effect


def settle(effect: Effect, element: Element) -> None:
    """Make it that of this element: what hides a box hides none in a line, a cell grows, a row has cells."""
    if element.is_cell:
        effect.cell = True
    elif element.holds_cells and effect.ground is not None:
        effect.cell_ground, effect.ground = effect.ground, None
    box, effect.box = effect.box, None
    if box is None:
        return
    if box.get("line-height", "").strip("0pxemrt% ") and box["line-height"] not in INHERITED:
        effect.heaped = False
    if effect.ground is not None and not element.is_box():
        effect.lining = CARRIED if element.carried else LINING
    paints_little = effect.ground is not None and not _SMALL.isdisjoint(box)
    if _HIDING.isdisjoint(box) and "-" not in box.get("margin", "") and not paints_little:
        return
    box = _of_box(box)
    if box.get("display") == "contents":  # there is no box at all
        effect.gone, effect.flow = False, _flow(box)
        effect.faint = effect.ground = effect.cell_ground = None
        return
    shown_as = _stand(box, effect)
    is_box = element.is_box() if shown_as is None else shown_as
    if _is_undrawn(box, is_box) or _is_cut_out(box) or _is_thrown(box):
        effect.gone = True
    if not _RARE.isdisjoint(box) or box.get("display", "").startswith("table-column"):
        from nbspam.mail.html.boxes import hide_rarely

        gone, shrunk = hide_rarely(box)
        if gone or (shrunk and (is_box or element.is_box())):
            effect.gone = True
    effect.shift, effect.scale = _shift(box, is_box), _scale(box, is_box or element.is_box())
    if is_box or box.get("display", "inline") not in ("inline", "initial", "unset"):
        effect.lining = None
    if is_box and not _grows(box, element, shown_as):
        _clip(box, effect)
    if "text-indent" in box and box["text-indent"] not in INHERITED:
        squeezed = pixels_of(box["text-indent"]) + max(_inset(box), 0) <= FAR or _is_indented_away(box)
        effect.squeezed = None if squeezed and not (is_box or element.is_cell) else squeezed


def _grows(box: dict[str, str], element: Element, shown_as: bool | None) -> bool:
    """Whether it is as large as its text, whatever is said: a page, a table, a cell."""
    if element.kind == BODY or box.get("display") in ("table", "inline-table"):
        return True
    return not shown_as and (element.is_cell or element.holds_cells)


def _is_indented_away(box: dict[str, str]) -> bool:
    """Whether its only line begins behind its right side."""
    number = number_of(box["text-indent"]) or (0.0, "")
    far = number[0] >= 100 if number[1] == "%" else pixels_of(box["text-indent"]) >= _WIDE
    return far and box.get("white-space") in ("nowrap", "pre") and _cuts(box)[0]


def _stand(box: dict[str, str], effect: Effect) -> bool | None:
    """Where the element stands among others; whether it is then a box, None as it is by itself."""
    shown_as = None
    if "display" in box:
        effect.gone = box["display"] == "none"
        shown_as = None if box["display"].startswith("revert") else box["display"] in _BOXES
        effect.flow = _flow(box)
        effect.in_line = True if box["display"] in _IN_LINE else None
    position = box.get("position")
    if position in ("absolute", "fixed") or box.get("float") in ("left", "right"):
        shown_as = True
        effect.flow = OPEN_AWAY
    if position in ("absolute", "fixed"):
        effect.place = AWAY
    elif position in ("relative", "sticky") or "transform" in box:
        effect.place = HELD
    if box.get("direction") == "rtl" and "override" in box.get("unicode-bidi", ""):
        effect.flow = OPEN_TURNED
    return shown_as


def _flow(box: dict[str, str]) -> int | None:
    """What its display makes of an element: it stands on lines of its own, or close to its neighbours."""
    if box["display"] in _ON_LINES:
        return OPEN_APART
    if box["display"] not in ("inline", "contents"):
        return None
    apart = [name for name in box if name.startswith(("margin", "padding")) and box[name].strip("0pxemrt% ")]
    return None if apart else OPEN_SINGLE


def _is_undrawn(box: dict[str, str], is_box: bool) -> bool:
    """Whether what is inside is not drawn, too faintly, or all letters on one place."""
    get = box.get
    return (
        _is_faint(get("filter", "").partition("opacity(")[2].partition(")")[0])
        or (is_box and get("content-visibility") == "hidden")
        or pixels_of(get("letter-spacing", "")) <= _HEAPED
    )


def _is_faint(value: str) -> bool:
    number = number_of(value)
    return number is not None and number[0] <= (100 * FAINT if number[1] == "%" else FAINT)


def _is_cut_out(box: dict[str, str]) -> bool:
    """Whether nothing is left of the element by `clip` or `clip-path`."""
    clip = box.get("clip", "")
    if clip.startswith("rect(") and not clip.strip("rect(0px1, )"):
        return box.get("position") in ("absolute", "fixed")
    shape, _, sizes = box.get("clip-path", "").partition("(")
    number, unit = number_of(sizes.partition(")")[0].partition(" ")[0]) or (1.0, "")
    return (shape == "inset" and number >= 50 and unit == "%") or (shape == "circle" and number <= 0)


def _clip(box: dict[str, str], effect: Effect) -> None:
    """Say whether what is inside is cut off by a box, and whether it stands on its ground."""
    across, down = _cuts(box)
    is_share = effect.place != AWAY and "%" in "".join([box.get(name, "") for name in _ROOM["height"][0]])
    if _has_no_room(box, "width"):
        effect.clips = CLIPS if across else None
        effect.ground = None  # the text stands beside it
    if _has_no_room(box, "height"):
        if down and effect.clips is None:
            effect.clips = CLIPS_IN_QUIRKS if is_share else CLIPS
        effect.ground = effect.ground if is_share else None
    number = number_of(box.get("line-height", ""))
    if down and number is not None and number[0] <= 0:
        room = pixels_of(box.get("padding-top", "")) + pixels_of(box.get("padding-bottom", ""))
        effect.heaped = room < _LINE


def _cuts(box: dict[str, str]) -> tuple[bool, bool]:
    """Whether it cuts off what is too wide, and what is too high; what scrolls does both."""
    words = box.get("overflow", "visible").split()
    across, down = box.get("overflow-x", words[0]), box.get("overflow-y", words[-1])
    if across in _CUTTING or down in _CUTTING:
        return True, True
    return across == "clip", down == "clip"


# By side: the sizes that leave no room, those that give it, and the padding in which a text is seen
# nevertheless; that on the other side moves the text out of the box.
_ROOM = {
    "height": (("height", "max-height", "block-size"), ("min-height", "min-block-size"), "padding-bottom"),
    "width": (("width", "max-width", "inline-size"), ("min-width", "min-inline-size"), "padding-right"),
}


def _has_no_room(box: dict[str, str], side: str) -> bool:
    sizes, least, padding = _ROOM[side]
    for name in (*least, padding):
        size = box.get(name, "")
        if pixels_of(size) >= _LINE and not (name == "min-height" and "%" in size):
            return False
    for name in sizes:
        if name in box and number_of(box[name]) is not None and pixels_of(box[name]) <= TINY:
            return True
    return False


def _inset(box: dict[str, str]) -> float:
    """Pixels to the right."""
    return sum([pixels_of(box[name]) for name in ("padding-left", "margin-left") if name in box])


def _is_thrown(box: dict[str, str]) -> bool:
    """Whether it stands beyond another side of the screen than the left one, or high above its page."""
    position = box.get("position")
    if position not in ("absolute", "fixed", "relative"):
        return False
    if position != "relative" and pixels_of(box.get("top", "")) <= FAR:
        return True
    return pixels_of(box.get("right", "")) <= FAR or pixels_of(box.get("bottom", "")) <= FAR


def _shift(box: dict[str, str], is_box: bool) -> tuple[float, float] | None:
    """Pixels to the right and down, all moves together; None for few, which many have.

    Fewer move what is in a line.
    """
    right, down = _inset(box), 0.0
    if box.get("position") in ("absolute", "fixed", "relative"):
        right += pixels_of(box.get("left", ""))
        down += pixels_of(box.get("top", ""))
    if is_box and "transform" in box:
        from nbspam.mail.html.boxes import moved  # rare

        right += moved(box["transform"])
    if is_box:
        down += pixels_of(box.get("margin-top", ""))
    right, down = right if abs(right) >= _FEW else 0.0, down if abs(down) >= _FEW else 0.0
    return (right, down) if right or down else None


def _scale(box: dict[str, str], is_box: bool) -> float | None:
    """How many times larger all inside is."""
    scale = 1.0
    number = number_of(box.get("zoom", ""))
    if number is not None and number[0] > 0:  # a zoom of nought is none
        scale = number[0] * (0.01 if number[1] == "%" else 1)
    if is_box and ("transform" in box or "scale" in box):
        from nbspam.mail.html.boxes import scaled  # rare

        scale *= scaled(box)
    return None if scale == 1 else scale
