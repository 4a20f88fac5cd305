"""What one tag of HTML means by itself: Tag, read from the text between `<` and `>`.

Hides the attributes: which of them say something about links, images, colours and visibility.  Nothing here
knows what stands around a tag, so a tag read once may be remembered by its text; most tags of a mail repeat.
"""

from __future__ import annotations

from nbspam.mail.html.elements import (
    ASKING,
    BREAK,
    HANDLERS,
    INVISIBLE,
    LOST,
    OPEN,
    OPEN_APART,
    OPEN_AWAY,
    OPEN_BLOCK,
    OPEN_SHADOW,
    OPEN_SINGLE,
    OPEN_TURNED,
    RAW,
    Element,
    end_element,
    start_element,
)
from nbspam.mail.html.entities import decode
from nbspam.mail.html.hiding import rule_effect, settle
from nbspam.mail.html.state import CELL, GONE, LINK, NORMAL, OPENS, OWN, SHUT, SIZED, UNKNOWN, Effect
from nbspam.mail.html.style import attribute_colour, canonical, style_effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html.selectors import Asked
    from nbspam.mail.html.sheet import Match, Ruled, Sheet

MAX_NAME = 40  # characters of an element's name that are kept
MAX_TARGET = 4_096  # characters of a link or image address that are kept
MAX_SHARED = 1_000  # elements, and effects of a colour, that are kept for all tags

_CONTROLS = "".join(map(chr, range(33)))  # which browsers take from both ends of an address
_NO_BREAKS = dict.fromkeys(map(ord, "\t\r\n"))
_ACTING = HANDLERS | {"srcdoc"}
_CONTENT = frozenset(("data", "java", "vbsc"))  # begin an address that is no place
_SIZE = ("width", "height")
_TELLING = frozenset(("animate", "base", "input", "meta", "optgroup", "set", "template"))
_WITHOUT_TEXT = frozenset(("hidden", "checkbox", "radio", "password", "image", "file", "range", "color"))
# What a style may make of an element that is in the line, or a block.
_FLOWS = {OPEN: (OPEN_APART, OPEN_AWAY, OPEN_TURNED), OPEN_BLOCK: (OPEN_SINGLE, OPEN_TURNED)}
# Evidence of a tag: none; an image or a colour; the begin or end of a link.
_PLAIN, NOTED, _LINKS = range(3)


class Tag:
    """One start or end tag: its element, and what its attributes say."""

    __slots__ = (
        *("acts", "alt", "asking", "colours", "effect", "element", "ender", "evidence", "images", "kind"),
        *("link", "link_colour", "match", "medium", "name", "room", "shown"),
    )

    def __init__(self, element: Element) -> None:
        self.element = element
        self.name = self.ender = element.name  # ender: of the end tag that does no more than to end it
        self.kind = element.kind
        self.room = element.room
        self.effect: Effect | None = None
        self.link: str | None = None
        self.link_colour: int | None = None
        self.images: tuple[str, ...] = ()
        self.acts = ""  # scripts and pages in its attributes
        self.alt = ""  # what stands for the picture where it is not loaded
        self.colours: tuple[str, ...] = ()
        self.evidence = _PLAIN
        self.medium = ""  # of a sheet of styles: for whom it is
        self.shown = ""  # text in its attributes that a reader sees
        self.match: Match | None = None  # what the sheet of the page says of it, if there is one
        self.asking: Asking | None = None  # of kind ASKING: what it is depends on where it stands


class Asking:
    """A start tag for which rules ask what is around it.

    plain      : the tag, if none of them holds
    attributes : of the tag
    known      : the tag by what rules do to it
    """

    __slots__ = ("attributes", "known", "plain")

    def __init__(self, plain: Tag, attributes: dict[str, str]) -> None:
        self.plain = plain
        self.attributes = attributes
        self.known: dict[Ruled | None, Tag] = {}


# Markup without a name: a comment, a `<` that begins no tag, a tag that never ends.
NOTHING = Tag(Element("", INVISIBLE))
UNENDED = Tag(Element("", LOST))

# Tags without attributes by their name, with the slash of an end tag.
_bare: dict[str, Tag] = {}

_UNSHOWN = frozenset(("hidden", "popover"))  # attributes that hide an element, unless a `display` shows it

# Many tags have the same colour; the same Effect lets a State remember where it leads.
_of_colour: dict[int, Effect] = {}
_of_sized_colour: dict[int, Effect] = {}
_of_ground: dict[int, Effect] = {}
_of_cell_ground: dict[int, Effect] = {}


def name_of(text: str) -> str:
    """The element's name of a tag's text without slash, lower case."""
    name = text if text.isalnum() else text.partition("/")[0].split(None, 1)[0]
    return name[:MAX_NAME].lower()


def bare_tag(text: str) -> Tag:
    """The Tag of a tag's text (with its slash, if an end tag) without regard to attributes."""
    name = "/" + name_of(text[1:]) if text[0] == "/" else name_of(text)
    tag = _bare.get(name)
    if tag is None:
        if name[0] == "/":
            tag = Tag(end_element(name[1:]))
        else:
            tag = Tag(start_element(name))
            if tag.element.never_shown:
                tag.effect = GONE
            elif tag.element.folds:
                tag.effect = OPENS if tag.name == "summary" else SHUT
            else:
                tag.effect = _own_effect(tag.element)
        tag.evidence = _LINKS if tag.name == "a" else _PLAIN
        if len(_bare) >= MAX_SHARED:
            _bare.clear()
        _bare[name] = tag
    return tag


def attributed_tag(tag: Tag, attributes: dict[str, str], sheet: Sheet | None) -> Tag:
    """A bare tag with its attributes; the rules of a sheet count behind its own style."""
    if sheet is None:
        return _ruled_tag(tag.element, attributes, None, None) if attributes else tag
    match = sheet.match(tag.name, attributes)
    if attributes or match.plain:
        tag = _ruled_tag(tag.element, attributes, match.ruled, sheet.variables)
        tag.match = match
    if not (match.asking or sheet.siblings) or tag.kind == RAW or not tag.name:
        return tag
    asking = Tag(tag.element)
    asking.kind, asking.asking, asking.match = ASKING, Asking(tag, attributes), match
    asking.link, asking.images, asking.colours = tag.link, tag.images, tag.colours
    asking.acts, asking.alt = tag.acts, tag.alt
    asking.shown, asking.evidence = tag.shown, tag.evidence
    return asking


def resolved_tag(tag: Tag, sheet: Sheet, line: list[Asked]) -> Tag:
    """A tag of kind ASKING as it is inside of these elements."""
    asking, match = tag.asking, tag.match
    if asking is None or match is None:
        return tag
    ruled = sheet.ruled(match, line)
    if ruled is match.ruled:
        return asking.plain
    found = asking.known.get(ruled)
    if found is None:
        found = _ruled_tag(tag.element, asking.attributes, ruled, sheet.variables)
        asking.known[ruled] = found
        found.match = match
    return found


def _ruled_tag(
    element: Element,
    attributes: dict[str, str],
    ruled: Ruled | None,
    variables: dict[str, str] | None,
) -> Tag:
    """A start tag with attributes and what rules say of it."""
    tag = Tag(element)
    tag.link = _target(element, attributes)
    tag.evidence = _PLAIN if tag.link is None and element.name != "a" else _LINKS
    if element.source:
        tag.images = _sources(element, attributes)
        tag.alt = decode(attributes.get("alt", ""), True) if "src" in attributes else ""
    if "background" in attributes:
        tag.images = (*tag.images, _address(attributes["background"]))
    if "(" in attributes.get("style", "") and "url(" in attributes["style"].lower():
        from nbspam.mail.html.pictures import pictures  # few pages have one

        tag.images = (*tag.images, *map(_address, pictures(decode(attributes["style"], True))))
    if element.name == "style":
        kind = decode(attributes.get("type", ""), True).strip().lower()
        tag.medium = decode(attributes.get("media", ""), True) if kind in ("", "text/css") else "none"
    elif element.name in _TELLING and attributes:
        _tell(tag, attributes)
    tag.acts = _acts(tag, attributes)
    tag.effect = _effect(tag, attributes, ruled, variables)
    if tag.kind == BREAK and tag.effect is not None and tag.effect.gone:
        tag.kind = INVISIBLE
    flow = tag.effect.flow if tag.effect is not None else None
    if flow is not None and flow in _FLOWS.get(tag.kind, ()):
        tag.kind = flow
        tag.ender = tag.name if flow == OPEN_SINGLE else ""
    if tag.evidence == _PLAIN and (tag.images or tag.colours or tag.shown or tag.acts):
        tag.evidence = NOTED
    return tag


def _target(element: Element, attributes: dict[str, str]) -> str | None:
    """Where the link, form or button leads to; None if it is none."""
    if element.link and ("href" in attributes or "xlink:href" in attributes or element.name == "form"):
        target = attributes.get("href") or attributes.get("xlink:href") or attributes.get("action")
        return _address(target or "")
    return _address(attributes["formaction"]) if "formaction" in attributes else None


def _sources(element: Element, attributes: dict[str, str]) -> tuple[str, ...]:
    """Where the picture, frame, file or sheet is that an element shows or uses."""
    source = attributes.get("src")
    if element.name == "link":
        source = attributes.get("href") if "stylesheet" in attributes.get("rel", "").lower() else None
    elif source is None and element.name in ("image", "script"):  # of an SVG
        source = attributes.get("href", attributes.get("xlink:href"))
    elif source is None:
        several = attributes.get("srcset", "").split(None, 1)
        source = several[0].rstrip(",") if several else attributes.get("data")
    return tuple([_address(place) for place in (source, attributes.get("poster")) if place is not None])


def _acts(tag: Tag, attributes: dict[str, str]) -> str:
    """What a tag does in a browser: most do nothing."""
    addresses = tag.images if tag.link is None else (tag.link, *tag.images)
    if _ACTING.isdisjoint(attributes):
        for address in addresses:
            if address[:4].lower() in _CONTENT:
                break
        else:
            return ""
    from nbspam.mail.html.acts import acts

    return acts(attributes, addresses)


def _tell(tag: Tag, attributes: dict[str, str]) -> None:
    """What attributes of these elements show to a reader, or where they lead him."""
    name = tag.name
    if name == "input":
        kind = decode(attributes.get("type", ""), True).strip().lower()
        text = attributes.get("value") or attributes.get("placeholder") or ""
        tag.shown = "" if kind in _WITHOUT_TEXT else decode(text, True)
        tag.kind = INVISIBLE if kind == "hidden" else tag.kind
    elif name == "optgroup":
        tag.shown = decode(attributes.get("label", ""), True)
    elif name == "base":
        tag.link = _address(attributes.get("href", ""))
    elif name == "template" and attributes.get("shadowrootmode", "").lower() in ("open", "closed"):
        tag.kind = OPEN_SHADOW
    elif name in ("animate", "set") and attributes.get("attributename", "").lower().endswith("href"):
        values = decode(attributes.get("values", ""), True).split(";")
        tag.link = _address(next(filter(str.strip, values), attributes.get("to", ""))) or None
    elif decode(attributes.get("http-equiv", ""), True).strip().lower() == "refresh":
        target = _address(attributes.get("content", "")).replace(",", ";", 1).partition(";")[2].strip()
        if target[:3].lower() == "url":
            target = target[3:].lstrip(" =")
        tag.link = target.strip("'\" ") or None
    if tag.link is not None:
        tag.evidence = _LINKS


def _effect(
    tag: Tag,
    attributes: dict[str, str],
    ruled: Ruled | None,
    variables: dict[str, str] | None,
) -> Effect | None:
    """What a tag does to what it contains, from the strongest to the weakest: style, sheet, attributes."""
    element = tag.element
    weakest = _attribute_effect(tag, attributes)
    special = element.sized or element.never_shown or element.folds or element.name == "bdo"
    if special or "style" in attributes or not _UNSHOWN.isdisjoint(attributes):
        style = decode(attributes["style"], True) if "style" in attributes else ""
        colours: list[str] = []
        read = style_effect if ruled is None else rule_effect
        effect = read(style, colours, variables=variables) if style else Effect()
        tag.colours = (*colours, *tag.colours)
        return _settled(_over_rules(effect, style, ruled, weakest), tag, attributes)
    if ruled is None:
        return weakest
    if weakest not in ruled.known:
        ruled.known[weakest] = _settled(_over_rules(Effect(), "", ruled, weakest), tag, attributes)
    return ruled.known[weakest]


def _over_rules(effect: Effect, style: str, ruled: Ruled | None, weakest: Effect | None) -> Effect:
    """The effect of a style with what it leaves to rules and attributes."""
    if ruled is not None:
        if ruled.strong is not None:
            effect = _below_strong(effect, ruled.strong, style)
        effect.over(ruled.normal)
    if weakest is not None:
        effect.over(weakest)
    return effect


def _settled(effect: Effect, tag: Tag, attributes: dict[str, str]) -> Effect | None:
    """With what other attributes, and the element itself, do to it; None if nothing is left."""
    element = tag.element
    settle(effect, element)
    if element.name == "bdo" and decode(attributes.get("dir", ""), True).strip().lower() == "rtl":
        effect.flow = OPEN_TURNED
    if effect.gone is None and not _UNSHOWN.isdisjoint(attributes):
        effect.gone = True
    if (element.never_shown and "open" not in attributes and tag.kind != OPEN_SHADOW) or (
        element.sized and all(decode(attributes.get(size, ""), True).strip() == "0" for size in _SIZE)
    ):
        effect.gone = True
    if element.folds:
        if element.name == "summary":
            effect.opens = True
        elif "open" not in attributes:
            effect.shut = True
    return effect if effect.changes() else None


def _below_strong(effect: Effect, strong: Effect, style: str) -> Effect:
    """The effect of a style below the `!important` rules of a sheet, and these below its own."""
    merged = Effect()
    if "!" in style:
        merged.over(rule_effect(style, [], True))
    merged.over(strong)
    merged.over(effect)
    return merged


def _own_effect(element: Element) -> Effect | None:
    """What an element does to its text where no attribute says more."""
    return CELL if element.is_cell else OWN.get(element.name)


def _attribute_effect(tag: Tag, attributes: dict[str, str]) -> Effect | None:
    """The effect of colours in attributes; the colours are noted."""
    element = tag.element
    if tag.link is not None and element.name == "a":
        return _shared(_of_colour, "colour", LINK)
    found = {}
    for name in attributes:
        if name in ("color", "bgcolor", "text", "link"):
            colour = attribute_colour(decode(attributes[name], True))
            if colour is not None:
                found[name] = colour
                tag.colours = (*tag.colours, canonical(colour))
    ground = found.get("bgcolor") if element.grounded else None
    if ground is None and element.grounded and attributes.get("background"):
        ground = UNKNOWN
    if element.name == "font":
        return _font_effect(attributes, found.get("color"))
    if element.name == "body":
        tag.link_colour = found.get("link")
        effect = Effect()
        effect.colour, effect.ground = found.get("text"), ground
        return effect
    if ground is None:
        return _own_effect(element)
    if element.holds_cells:
        return _shared(_of_cell_ground, "cell_ground", ground)
    return _shared(_of_ground, "ground", ground)


def _font_effect(attributes: dict[str, str], colour: int | None) -> Effect | None:
    """Any `size` is one that can be read, whatever the size around."""
    if decode(attributes.get("size", ""), True).strip("+- ")[:1].isdigit():
        return SIZED if colour is None else _shared(_of_sized_colour, "colour", colour, NORMAL)
    return None if colour is None else _shared(_of_colour, "colour", colour)


def _shared(effects: dict[int, Effect], what: str, colour: int, size: float | None = None) -> Effect:
    effect = effects.get(colour)
    if effect is None:
        effect = Effect()
        effect.size = size
        setattr(effect, what, colour)
        if len(effects) >= MAX_SHARED:
            effects.clear()
        effects[colour] = effect
    return effect


def _address(value: str) -> str:
    value = value[: 2 * MAX_TARGET]
    if "&" in value:
        value = decode(value, True)
    value = value.strip().strip(_CONTROLS)
    # Browsers leave line breaks and tabs out of an address.
    if "\n" in value or "\t" in value or "\r" in value:
        value = value.translate(_NO_BREAKS)
    return value[:MAX_TARGET]
