"""What one tag of HTML means by itself: Tag, read from the text between `<` and `>`.

Hides the attribute syntax (quotes, entities, duplicates) and what each element is: inline or block,
what it closes, whether it can hide its content.  Nothing here knows what stands around a tag, so a tag
read once may be remembered by its text; most tags of a mail repeat.
"""

from __future__ import annotations

from nbspam.mail.html_entities import decode
from nbspam.mail.html_style import LINK, UNKNOWN, Effect, attribute_colour, canonical, style_effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.mail.html_sheet import Sheet

MAX_NAME = 40  # characters of an element's name that are kept
MAX_TARGET = 4_096  # characters of a link or image address that are kept

# Kinds of tags, in the order the reader asks for them.  INVISIBLE are comments and elements without content
# that show nothing; OPEN_UNKNOWN and CLOSE_UNKNOWN are tags no browser knows, which show nothing either.
OPEN, OPEN_BLOCK, CLOSE, CLOSE_BLOCK, BREAK, EMPTY = range(6)
INVISIBLE, OPEN_UNKNOWN, CLOSE_UNKNOWN, RAW, BODY, LOST = range(6, 12)


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_FORMATTING = _words("a b big code em font i nobr s small strike strong tt u")
_INLINE = _words(
    "abbr acronym applet audio bdi bdo blink button canvas cite data del dfn dialog datalist ins kbd label "
    "map mark marquee math meter noscript object output picture progress q rb rp rt ruby samp span sub sup "
    "svg template time tspan var video"
)
_EMPTY = _words("area bgsound embed image img spacer")
_BREAK = _words("br frame hr input keygen optgroup option select")
_SHOWING_NOTHING = _words("base basefont col colgroup head html link meta param source track wbr")
_VOID = _EMPTY | _BREAK | _SHOWING_NOTHING
_CELL = frozenset(("td", "th", "caption"))
_ROWS = frozenset(("tr", "thead", "tbody", "tfoot"))
_BLOCK = _words(
    "address article aside blockquote center dd details dir div dl dt fieldset figcaption figure footer form "
    "frameset h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu nav ol p pre search section "
    "summary table ul"
)
# Elements whose content is no markup; what becomes of the text is the reader's to say.
_RAW = _words("iframe noembed noframes plaintext script style textarea title xmp")
_NEVER_SHOWN = frozenset(("template", "datalist", "rp"))
# Only these take a size from attributes; `<td width=0 height=0>` is shown all the same.
_SIZED = frozenset(("marquee", "object", "applet"))
# Only these take a colour of the ground, or a picture as ground, from attributes.
_GROUNDED = frozenset(("body", "table", "td", "th", "tr", "thead", "tbody", "tfoot", "marquee"))
_LINKS = frozenset(("a", "area", "form"))
_IMAGES = frozenset(
    ("img", "image", "bgsound", "iframe", "embed", "script", "input", "frame", "video", "source")
)

# An end tag, or the start of a sibling, does not reach outside of these.
_WALLS = _CELL | {"table", "object", "marquee", "applet", "button"}
_TABLE = frozenset(("table",))
_SPECIAL = _BLOCK | _CELL | _ROWS
_CLOSES = {
    "li": (frozenset(("li", "p")), _WALLS | {"ul", "ol", "menu", "dir"}),
    "dt": (frozenset(("dt", "dd", "p")), _WALLS | {"dl"}),
    "dd": (frozenset(("dt", "dd", "p")), _WALLS | {"dl"}),
    "td": (_CELL, _TABLE | _ROWS),
    "th": (_CELL, _TABLE | _ROWS),
    "caption": (_CELL, _TABLE | _ROWS),
    "tr": (_CELL | {"tr"}, _TABLE),
    "tbody": (_CELL | _ROWS, _TABLE),
    "thead": (_CELL | _ROWS, _TABLE),
    "tfoot": (_CELL | _ROWS, _TABLE),
}
_CLOSES_PARAGRAPH = (frozenset(("p",)), _WALLS)
_NOTHING: frozenset[str] = frozenset()
# Inside of these a new element has nothing to close.
_ROOM = {
    "td": _ROWS,
    "th": _ROWS,
    "caption": _TABLE,
    "tr": _TABLE | {"tbody", "thead", "tfoot"},
    "tbody": _TABLE,
    "thead": _TABLE,
    "tfoot": _TABLE,
    "li": frozenset(("ul", "ol", "menu", "dir")),
}
_WANTED = _words("href src action background color bgcolor text link style hidden class id width height")


class Tag:
    """One start or end tag.

    closes, stops : which open elements it ends, and the elements at which the search for them stops
    room          : parents in which there is nothing to search for
    carried       : a formatting element, opened again by browsers when a block cuts it off
    """

    __slots__ = (
        *(
            "carried",
            "closes",
            "colours",
            "effect",
            "evidence",
            "images",
            "is_row",
            "is_wall",
            "kind",
            "link",
        ),
        *("link_colour", "name", "room", "special", "stops"),
    )

    def __init__(self, name: str, kind: int) -> None:
        self.name = name
        self.kind = kind
        self.effect: Effect | None = None
        self.closes = self.stops = self.room = _NOTHING
        self.carried = name in _FORMATTING
        self.special = name in _SPECIAL
        self.is_wall = name in _WALLS
        self.is_row = name in _ROWS
        self.link: str | None = None
        self.link_colour: int | None = None
        self.images: tuple[str, ...] = ()
        self.colours: tuple[str, ...] = ()
        self.evidence = False  # has a link, an image, a colour, or ends a link


# Markup without a name: a comment, a `<` that begins no tag, a tag that never ends.
NOTHING = Tag("", INVISIBLE)
UNENDED = Tag("", LOST)


def name_of(text: str) -> str:
    """The element's name of a tag's text without slash, lower case."""
    if text.isalnum():
        return text[:MAX_NAME].lower()
    name = text.partition("/")[0].split(None, 1)
    return name[0][:MAX_NAME].lower() if name else ""


def end_tag(text: str) -> Tag:
    """The Tag of `/name ...`."""
    name = name_of(text[1:])
    if name == "br":
        return Tag(name, BREAK)
    if name in _SPECIAL:
        tag = Tag(name, CLOSE_BLOCK)
        tag.stops = {"table": _NOTHING}.get(name, _TABLE if name in _CELL or name in _ROWS else _WALLS)
    elif name in _VOID or name in _RAW or name == "body":
        return NOTHING
    elif name in _FORMATTING or name in _INLINE or ":" in name:
        tag = Tag(name, CLOSE)
        tag.stops = _WALLS if name in _FORMATTING else _SPECIAL
        tag.evidence = name == "a"
    else:
        tag = Tag(name, CLOSE_UNKNOWN)
        tag.stops = _SPECIAL
    tag.closes = frozenset((name,))
    return tag


def start_tag(text: str, attributes: dict[str, str], sheet: Sheet | None = None) -> Tag:
    """The Tag of `name ...` with these attributes; a sheet's rules count before its own style."""
    name = name_of(text)
    tag = Tag(name, _kind(name))
    if tag.kind == OPEN_BLOCK:
        tag.closes, tag.stops = _CLOSES.get(name, _CLOSES_PARAGRAPH)
        tag.room = _ROOM.get(name, _CELL)
    if attributes or name in _NEVER_SHOWN:
        _read(tag, attributes)
    if sheet is not None:
        rules = sheet.effect(name, attributes)
        if rules is not None:
            if tag.effect is not None:
                tag.effect.over(rules)
            else:
                tag.effect = rules
    return tag


def _kind(name: str) -> int:
    if name in _FORMATTING or name in _INLINE:
        return OPEN
    if name in _SPECIAL:
        return OPEN_BLOCK
    for names, kind in ((_EMPTY, EMPTY), (_BREAK, BREAK), (_SHOWING_NOTHING, INVISIBLE), (_RAW, RAW)):
        if name in names:
            return kind
    if name == "body":
        return BODY
    return OPEN if ":" in name else OPEN_UNKNOWN


def _read(tag: Tag, attributes: dict[str, str]) -> None:
    """Fill a tag from its attributes."""
    name = tag.name
    get = attributes.get
    colours: list[str] = []
    effect = style_effect(decode(attributes["style"], True), colours) if "style" in attributes else Effect()
    if "hidden" in attributes or name in _NEVER_SHOWN:
        effect.gone = True
    if name in _SIZED and get("width", "").strip() == "0" and get("height", "").strip() == "0":
        effect.gone = True
    if name in _LINKS and ("href" in attributes or name == "form"):
        tag.link = _address(get("href") or get("action") or "")
        if name == "a" and effect.colour is None:
            effect.colour = LINK
    images = [get("src") if name in _IMAGES else None, get("background")]
    tag.images = tuple([_address(image) for image in images if image])
    _read_colours(tag, attributes, effect, colours)
    tag.colours = tuple(colours)
    tag.evidence = tag.link is not None or bool(tag.images or colours)
    if effect.changes():
        tag.effect = effect


def _read_colours(tag: Tag, attributes: dict[str, str], effect: Effect, colours: list[str]) -> None:
    """Colours of attributes; a style stands above them."""
    for attribute in ("color", "text", "bgcolor", "link"):
        if attribute not in attributes:
            continue
        colour = attribute_colour(decode(attributes[attribute], True))
        if colour is None:
            continue
        colours.append(canonical(colour))
        if attribute == "bgcolor":
            if effect.ground is None and tag.name in _GROUNDED:
                effect.ground = colour
        elif attribute == "link":
            tag.link_colour = colour
        elif effect.colour is None and tag.name == ("body" if attribute == "text" else "font"):
            effect.colour = colour
    if effect.ground is None and tag.name in _GROUNDED and attributes.get("background"):
        effect.ground = UNKNOWN


def _address(value: str) -> str:
    value = value[: 2 * MAX_TARGET]
    if "&" in value:
        value = decode(value, True)
    return value.strip()[:MAX_TARGET]


def regular_attributes(text: str) -> dict[str, str] | None:
    """The attributes of a tag whose syntax is plain; None if it takes the full reader to know.

    Plain is: double quotes only, each after a `=`, an even number of them.
    """
    if "'" in text:
        return None
    found: dict[str, str] = {}
    parts = text.split('"')
    last = len(parts) - 1
    if last & 1:
        return None
    for index in range(0, last + 1, 2):
        words = parts[index].split()
        if not index:
            del words[0]
        if index < last:
            quoted = words.pop() if words else ""
            if len(quoted) < 2 or quoted.find("=") != len(quoted) - 1:
                return None
            quoted = quoted[:-1].lower()
            if quoted in _WANTED and quoted not in found:
                found[quoted] = parts[index + 1]
        for word in words:
            name, equals, value = word.partition("=")
            if equals and not (name and value):
                return None
            name = name.lower().strip("/")
            if name in _WANTED and name not in found:
                found[name] = value
    return found


_SPACE = " \t\r\n\f"


def full_attributes(text: str, start: int) -> tuple[dict[str, str], int]:
    """The attributes from `start` on, and where the closing `>` stands (-1: nowhere) (HTML, 13.2.5.32)."""
    found: dict[str, str] = {}
    end = len(text)
    while True:
        while start < end and text[start] in " \t\r\n\f/":
            start += 1
        if start >= end:
            return found, -1
        if text[start] == ">":
            return found, start
        begin = start
        start += 1  # a `=` may begin a name
        while start < end and text[start] not in " \t\r\n\f/>=":
            start += 1
        name = text[begin : min(start, begin + MAX_NAME)].lower()
        while start < end and text[start] in _SPACE:
            start += 1
        value = ""
        if start < end and text[start] == "=":
            value, start = _value(text, start + 1)
            if start < 0:
                return found, -1
        if name in _WANTED and name not in found:
            found[name] = value


def _value(text: str, start: int) -> tuple[str, int]:
    end = len(text)
    while start < end and text[start] in _SPACE:
        start += 1
    quote = text[start : start + 1]
    if quote in ("'", '"'):
        stop = text.find(quote, start + 1)
        return text[start + 1 : stop], stop + 1 if stop >= 0 else -1
    stop = start
    while stop < end and text[stop] not in " \t\r\n\f>":
        stop += 1
    return text[start:stop], stop
