"""What the declarations of an element do to its box, all of them together: settle.

They come from its style and from any number of rules, and hide only together: `overflow` stands in one, a
height of nought in another, and a third makes it visible again.  So none of them is judged before all are
known.  Hides from which size and place on nobody can read a text.
"""

from __future__ import annotations

from nbspam.mail.html.css import number_of, pixels_of
from nbspam.mail.html.elements import BODY, OPEN_APART, OPEN_AWAY, OPEN_SINGLE, OPEN_TURNED, Element, word_set
from nbspam.mail.html.state import FAINT, SHORT, TINY, Effect
from nbspam.mail.html.style import is_invalid, style_effect

_FAR = -400.0  # pixels: further left or up than that is off the screen
_FAR_RIGHT = 4_000.0  # pixels: nobody looks there
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
    "height max-height block-size width max-width inline-size left right top bottom line-height direction "
    "padding padding-top padding-right padding-bottom padding-left margin margin-right margin-bottom"
)
_CUTTING = word_set("hidden clip auto scroll overlay")
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
    if box is None or (_HIDING.isdisjoint(box) and "-" not in box.get("margin", "")):
        return
    box = _of_box(box)
    shown_as = _stand(box, effect)
    is_box = element.is_box() if shown_as is None else shown_as
    if _is_undrawn(box, is_box) or _is_cut_out(box) or _is_far_off(box, is_box):
        effect.gone = True
    if not _RARE.isdisjoint(box) or box.get("display", "").startswith("table-column"):
        from nbspam.mail.html.boxes import hide_rarely

        gone, shrunk = hide_rarely(box)
        if gone or (shrunk and (is_box or element.is_box())):
            effect.gone = True
    grows = element.kind == BODY or (not shown_as and (element.is_cell or element.holds_cells))
    if is_box and not grows and _is_clipped(box):
        effect.gone = True
    if "text-indent" in box:
        squeezed = pixels_of(box["text-indent"]) + max(_inset(box), 0) <= _FAR
        effect.squeezed = None if squeezed and not (is_box or element.is_cell) else squeezed


def _stand(box: dict[str, str], effect: Effect) -> bool | None:
    """Where the element stands among others; whether it is then a box, None as it is by itself."""
    shown_as = None
    if "display" in box:
        effect.gone = box["display"] == "none"
        shown_as = box["display"] in _BOXES
        effect.flow = _flow(box)
    if box.get("position") in ("absolute", "fixed") or box.get("float") in ("left", "right"):
        shown_as = True
        effect.flow = OPEN_AWAY
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
        or (_is_faint(get("zoom", "")) and box["zoom"].strip("0.%") != "")  # a zoom of nought is none
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


def _is_clipped(box: dict[str, str]) -> bool:
    """Whether what is inside is cut off, if the element is a box."""
    return any(
        box.get(name, "visible").partition(" ")[0] in _CUTTING
        for name in ("overflow", "overflow-x", "overflow-y")
    ) and _has_no_room(box)


# The padding in which a text is seen that has no room; that on the other side moves the text out of the box.
_ROOM = {
    **dict.fromkeys(("height", "max-height", "block-size"), "padding-bottom"),
    **dict.fromkeys(("width", "max-width", "inline-size"), "padding-right"),
}


def _has_no_room(box: dict[str, str]) -> bool:
    for name, padding in _ROOM.items():
        small = name in box and number_of(box[name]) is not None and pixels_of(box[name]) <= TINY
        if small and pixels_of(box.get(padding, "")) < _LINE:
            return True
    number = number_of(box.get("line-height", ""))
    return number is not None and number[0] <= 0


def _inset(box: dict[str, str]) -> float:
    """Pixels to the right."""
    return sum([pixels_of(box[name]) for name in ("padding-left", "margin-left") if name in box])


def _is_far_off(box: dict[str, str], is_box: bool) -> bool:
    """Whether what is inside stands off the screen, all moves together; fewer move what is in a line."""
    right = _inset(box)
    if box.get("position") in ("absolute", "fixed", "relative"):
        right += pixels_of(box.get("left", ""))
        for name in ("top", "right", "bottom"):
            place = pixels_of(box.get(name, ""))
            if place <= _FAR or (place >= _FAR_RIGHT and name == "top"):
                return True
    if is_box and "transform" in box:
        from nbspam.mail.html.boxes import moved  # rare

        right += moved(box["transform"])
    if right <= _FAR or right >= _FAR_RIGHT:
        return True
    return is_box and pixels_of(box.get("margin-top", "")) <= _FAR
