"""What each element of HTML is: Element, by the name of a start or an end tag.

Hides the tables of elements: inline or block, what closes what, which show nothing.  They follow the
tree construction of browsers (HTML, 13.2.6) as far as it decides where a style ends.
"""

from __future__ import annotations

# Kinds of tags, in the order the reader asks for them.  INVISIBLE are comments and elements without content
# that show nothing; OPEN_UNKNOWN and CLOSE_UNKNOWN are tags no browser knows, which show nothing either.
# OPEN_SINGLE cannot stand in another of its name, or is a block that its style puts into the line; OPEN_APART
# is what its style makes a block, OPEN_AWAY what it takes out of the line, so that the words around stand
# together; OPEN_TURNED is read from its end; OPEN_SHADOW is a template that may be shown.  ASKING is a start
# tag that becomes another by where it stands.
OPEN, OPEN_BLOCK, CLOSE, CLOSE_BLOCK, BREAK, OPEN_SINGLE, OPEN_FORM, CLOSE_FORM, RULE, ASKING = range(10)
OPEN_APART, OPEN_TURNED, EMPTY, INVISIBLE, OPEN_AWAY, OPEN_TABLE, OPEN_SUMMARY = range(10, 17)
OPEN_UNKNOWN, CLOSE_UNKNOWN, RAW, BODY, LOST, OPEN_SHADOW = range(17, 23)


def word_set(words: str) -> frozenset[str]:
    """The words of a text, for lists of names that are long."""
    return frozenset(words.split())


_FORMATTING = word_set("a b big code em font i nobr s small strike strong tt u")
_INLINE = word_set(
    "abbr acronym applet audio bdi bdo blink button canvas cite data del dfn datalist ins kbd label "
    "map mark marquee math meter noscript object output picture progress q rb rp rt ruby samp span sub sup "
    "svg template time tspan var video"
)
_EMPTY = word_set("area bgsound embed image img spacer")
_BREAK = word_set("br frame hr input keygen")
_HEADINGS = word_set("h1 h2 h3 h4 h5 h6")
_CHOICE = word_set("select optgroup option")
_SINGLE = word_set("nobr button")
_SHOWING_NOTHING = word_set("base basefont col colgroup head link meta param source track wbr")
_VOID = _EMPTY | _BREAK | _SHOWING_NOTHING
_CELL = word_set("td th caption")
_ROWS = word_set("tr thead tbody tfoot")
_BLOCK = word_set(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form frameset h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu nav ol p pre search "
    "section summary table ul"
)
# Elements whose content is no markup; what becomes of the text is the reader's to say.
_RAW = word_set("iframe noembed noframes plaintext script style textarea title xmp")

# Only these take a size from attributes; `<td width=0 height=0>` is shown all the same.
_SIZED = word_set("marquee object applet")
_FOLDS = word_set("details summary")
# Only these take a colour of the ground, or a picture as ground, from attributes.
_GROUNDED = word_set("body table td th tr thead tbody tfoot marquee")
# Those of Outlook's drawings (VML) begin with `v:`.
_LINKS = word_set("a area form v:oval v:rect v:roundrect v:shape")
_SOURCES = word_set("img image bgsound iframe embed script input frame video source link v:fill v:imagedata")
# Attributes that mean something on these only.
_MORE = {
    **dict.fromkeys(_LINKS, "href action xlink:href"),
    **dict.fromkeys(_SOURCES, "src"),
    **dict.fromkeys(_SIZED, "width height"),
    "animatetransform": "onbegin",
    **dict.fromkeys(("animate", "set"), "onbegin attributename to values"),
    "base": "href",
    "bdo": "dir",
    "body": "text link onpageshow",
    "button": "formaction",
    "details": "open ontoggle",
    "dialog": "open",
    "font": "size",
    "form": "href action xlink:href onsubmit",
    "iframe": "src srcdoc",
    "image": "src href xlink:href",
    "img": "src srcset alt",
    "input": "alt src type value placeholder formaction onfocus",
    "link": "rel href",
    "meta": "http-equiv content",
    "object": "width height data",
    "optgroup": "label",
    "script": "src href xlink:href",
    "source": "src srcset",
    "style": "media type",
    "template": "shadowrootmode",
    "video": "src poster",
}
_BOXES = word_set("html body video img input")
# What stands in these is for programs that do not know them, or is shown only after a click.
_NEVER_SHOWN = word_set("template datalist rp video audio meter progress dialog")
# These are not shown inside of an element; elsewhere they are unknown elements like any other.
_FOREIGN = {
    **dict.fromkeys(
        ("desc", "metadata", "defs", "symbol", "clippath", "mask", "marker", "pattern"), word_set("svg")
    ),
    **dict.fromkeys(("annotation", "annotation-xml", "mphantom"), word_set("math")),
}

# An end tag, or the start of a sibling, does not reach outside of these.
WALLS = _CELL | word_set("table object marquee applet button")
TABLE_NAME = word_set("table")
_SPECIAL = _BLOCK | _CELL | _ROWS | _CHOICE
_NOTHING: frozenset[str] = frozenset()

# What a start tag closes, and where the search for it stops; every other block closes a paragraph.
_PARAGRAPH = (word_set("p"), WALLS)
_CELL_CLOSES = (_CELL, TABLE_NAME | _ROWS)
_ROWS_CLOSE = (_CELL | _ROWS, TABLE_NAME)
_ITEM_STOPS = WALLS | (_SPECIAL - word_set("address div p"))
_CLOSES = {
    "li": (word_set("li p"), _ITEM_STOPS),
    "dt": (word_set("dt dd p"), _ITEM_STOPS),
    "dd": (word_set("dt dd p"), _ITEM_STOPS),
    "legend": (frozenset(), WALLS),
    "select": (word_set("select"), WALLS),
    "optgroup": (word_set("optgroup option"), WALLS | word_set("select")),
    "option": (word_set("option"), WALLS | word_set("select optgroup")),
    "nobr": (word_set("nobr"), WALLS),
    "button": (word_set("button"), WALLS),
    "td": _CELL_CLOSES,
    "th": _CELL_CLOSES,
    "caption": _CELL_CLOSES,
    "tr": (_CELL | word_set("tr"), TABLE_NAME),
    "tbody": _ROWS_CLOSE,
    "thead": _ROWS_CLOSE,
    "tfoot": _ROWS_CLOSE,
}
# Parents in which a start tag has nothing to close, so that nothing need be searched.
_ROOM = {
    "td": _ROWS,
    "th": _ROWS,
    "caption": TABLE_NAME,
    "tr": TABLE_NAME | word_set("tbody thead tfoot"),
    "tbody": TABLE_NAME,
    "thead": TABLE_NAME,
    "tfoot": TABLE_NAME,
    "li": word_set("ul ol menu dir"),
}


class Element:
    """What the name of a tag says.

    closes, stops : which open elements it ends, and the elements at which the search for them stops
    room          : parents in which there is nothing to search for
    carried       : a formatting element, opened again by browsers when a block cuts it off
    special       : ends inline elements inside it when it ends
    ends          : elements it ends when they are the innermost
    in_table      : nothing at all outside of a table
    foreign       : elements inside of which it is not shown
    folds         : `details`, or its `summary`
    cuts          : a cell, row or table; nothing is carried out of it
    wanted        : attributes that mean something on it, beside those in GENERAL
    hints         : without one of these in its lower-case text a tag has no attribute of meaning
    """

    __slots__ = (
        *("carried", "closes", "cuts", "ends", "foreign", "grounded", "hints", "holds_cells", "in_table"),
        *("folds", "is_cell", "kind", "link"),
        *("name", "never_shown", "room", "sized", "source", "special", "stops", "wanted"),
    )

    def __init__(self, name: str, kind: int) -> None:
        self.name = name
        self.kind = kind
        self.closes = self.stops = self.room = self.ends = _NOTHING
        self.in_table = name in _CELL or name in _ROWS
        self.foreign = _FOREIGN.get(name, _NOTHING)
        self.carried = name in _FORMATTING
        self.special = name in _SPECIAL
        self.cuts = name in WALLS or name in _ROWS
        self.never_shown = name in _NEVER_SHOWN
        self.sized = name in _SIZED
        self.grounded = name in _GROUNDED
        self.is_cell = name in _CELL
        self.folds = name in _FOLDS
        self.holds_cells = name in _ROWS or name == "table"
        self.link = name in _LINKS
        self.source = name in _SOURCES or name == "object"
        self.wanted = GENERAL
        self.hints: tuple[str, ...] = ("style", "color", "hidden", "popover", "background", *_HANDLERS)

    def is_box(self) -> bool:
        """Whether it has a size of its own, and is no part of a line of text."""
        return self.special or self.name in WALLS or self.name in _BOXES


# Attributes that are scripts: on any element, and on some only.
_HANDLERS = ("onload", "onerror", "onclick", "onmouseover")
HANDLERS = word_set("onbegin onfocus onpageshow onsubmit ontoggle").union(_HANDLERS)
# Attributes that may stand on any element; the colours are kept as evidence wherever they are.
# By class and id a sheet finds its elements.
GENERAL = word_set("style hidden popover color bgcolor background class id").union(_HANDLERS)


def start_element(name: str) -> Element:
    element = Element(name, _kind(name))
    if element.special:
        element.closes, element.stops = _CLOSES.get(name, _PARAGRAPH)
        element.room = _ROOM.get(name, _CELL)
        element.ends = _HEADINGS if name in _HEADINGS else _NOTHING
    elif name == "hr":
        element.closes, element.stops = _PARAGRAPH
    elif name in _SINGLE:
        element.closes, element.stops = _CLOSES[name]
    more = _MORE.get(name)
    if more:
        element.wanted = GENERAL | word_set(more)
        element.hints = (*more.split(), *element.hints)
    if name == "meta":  # every page has some; one may lead away from it
        element.hints = ("refresh", "&")
    return element


def _kind(name: str) -> int:
    if name in _SINGLE:
        return OPEN_SINGLE
    if name in _FORMATTING or name in _INLINE:
        return OPEN
    if name in _SPECIAL:
        return {"table": OPEN_TABLE, "form": OPEN_FORM, "summary": OPEN_SUMMARY}.get(name, OPEN_BLOCK)
    if name == "hr":
        return RULE
    for names, kind in ((_EMPTY, EMPTY), (_BREAK, BREAK), (_SHOWING_NOTHING, INVISIBLE), (_RAW, RAW)):
        if name in names:
            return kind
    if name in ("html", "body"):
        return BODY
    # Names with a colon are those of word processors, `o:p`; they are no disguise.
    return OPEN if ":" in name else OPEN_UNKNOWN


def end_element(name: str) -> Element:
    """The element an end tag closes; without a name if there is nothing to close."""
    if name == "br":
        return Element(name, BREAK)
    if name in _VOID or name in _RAW or name in ("html", "body"):
        return Element("", INVISIBLE)
    if name in _SPECIAL:
        element = Element(name, CLOSE_FORM if name == "form" else CLOSE_BLOCK)
        element.stops = TABLE_NAME if name in _CELL or name in _ROWS else WALLS
        if name == "table":
            element.stops = _NOTHING
    elif name in _FORMATTING:
        element = Element(name, CLOSE)
        element.stops = WALLS
    else:
        element = Element(name, CLOSE if name in _INLINE or ":" in name else CLOSE_UNKNOWN)
        element.stops = WALLS if name in WALLS else _NOTHING if name == "template" else _SPECIAL
    element.closes = _HEADINGS if name in _HEADINGS else frozenset((name,))
    return element
