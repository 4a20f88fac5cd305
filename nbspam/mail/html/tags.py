"""One tag of HTML by its text: what it begins or ends, where it leads, what it does to the text inside.

Nothing here depends on the tags before it, so that a tag may be remembered by its text: most repeat.
"""

from __future__ import annotations

from nbspam.mail.charset import look_up_codec
from nbspam.mail.html import styles
from nbspam.mail.html.entities import decode_references
from nbspam.tables import read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nbspam.mail.html.styles import Properties, Rule

MAX_ADDRESS = 4_096  # characters of one that are kept
# Kinds of tags: in a line, of blocks, of ends, line breaks; without content, or unknown; without markup.
OPEN, BLOCK, CLOSE, BREAK, VOID, RAW = range(6)
_ELEMENTS = read_table("html")
_PARTS = {"open": OPEN, "block": BLOCK, "break": BREAK, "raw": RAW}
_KIND_OF = {name: kind for part, kind in _PARTS.items() for name in _ELEMENTS[part]}
_NEVER_SHOWN = frozenset(("datalist", "rp", "template"))
# How drawings show elements of theirs; one that has a place begins a text of its own.
_DRAWN = dict.fromkeys(("title", "desc", "metadata", "defs", "symbol"), "none")
_DRAWN |= {"text": "block", "tspan": "inline", "g": "inline"}
_PRESENTED = ("display", "visibility", "opacity", "font-size")  # what attributes of drawings say as styles do
_PLACES = frozenset(("x", "y", "dy"))
_WITH_BACKGROUND = frozenset(_ELEMENTS["background"])
# Attributes that are a colour: what of the text has it, in which elements.
_COLOURED = (
    ("bgcolor", "background", _WITH_BACKGROUND),
    ("text", "colour", ("body",)),
    ("color", "colour", ("font",)),
)
# The elements that a start tag ends; that of any other block ends a paragraph, and a drawing.
_ENDS = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("tr",), "li": ("li",), "table": ("svg",)}
# An end tag ends nothing outside of these; that of a part of a table, nothing outside of the table.
_WALLS = frozenset(_ELEMENTS["walls"])
_INHERITED = ("quoted", "visibility", "size", "colour", "background", "leftward", "override")
_WITHOUT_TEXT = ("hidden", "checkbox", "radio", "password", "image", "file")
_WEB = frozenset(("http:", "https:", "ftp:", ""))
_FAR = -400.0  # pixels: an indent off the screen
_BLANKS = dict.fromkeys(map(ord, "\t\r\n\f"), " ")


class Tag:
    """One start or end tag.

    ends, stops : names of the elements that it ends, and of those where the search for one stops
    look        : what it changes of what a text inherits; see reader.State
    marks       : what rules may ask for: its name, classes, id, and `*`
    shown       : text in its attributes that a reader sees
    noted       : whether there is any of what follows `marks`
    """

    def __init__(
        self, text: str, rules: Sequence[Rule] = (), asked: Set[str] = styles.DRAWING, is_drawn: bool = False
    ) -> None:
        """One tag by what is between < and >.

        rules    : those of a sheet that hold
        asked    : marks that are wanted around other elements
        is_drawn : whether it is in a drawing (SVG)
        """
        self.is_start = text[0] != "/"
        bare = text if self.is_start else text[1:]
        written_name = bare.partition("/")[0].split(None, 1)[0]
        name = self.name = written_name.lower()
        attributes = parse_attributes(text, len(written_name)) if self.is_start else {}
        self.kind = OPEN if is_drawn and name in _DRAWN else _KIND_OF.get(name, VOID)
        self.ends: tuple[str, ...] = _ENDS.get(name, ("p", "svg"))
        classes = ["." + each for each in attributes.get("class", "").split()]
        self.marks = frozenset([name, "*", "#" + attributes.get("id", " "), *classes])
        self.look: Properties = {}
        self.colours: list[str] = []
        self.pictures: list[str] = []
        if self.is_start:
            properties = self._find_properties(attributes, rules, is_drawn)
            if is_drawn and name in _DRAWN:
                properties.setdefault("display", _DRAWN[name] if _PLACES.isdisjoint(attributes) else "block")
            if properties:
                self._settle(properties)
            if around := styles.find_asked(self.marks, asked):
                self.look["around"] = around
        else:
            is_ended = self.kind in (OPEN, BLOCK) and name not in ("html", "body")
            self.kind = CLOSE if is_ended else BREAK if name == "br" else VOID
            self.ends = (name,)
        self.stops = ({"table"} if name in _WITH_BACKGROUND else _WALLS).union(self.ends)
        self.link = _find_target(name, attributes)
        self.alt = attributes.get("alt", "")
        is_css = "css" in attributes.get("type", "css").lower()
        self.media = attributes.get("media", "").lower() if is_css else "none"
        is_seen = name == "input" and attributes.get("type", "").lower() not in _WITHOUT_TEXT
        self.shown = attributes.get("value") or attributes.get("placeholder", "") if is_seen else ""
        known = self.link or self.pictures or self.alt or self.shown or self.colours
        self.noted = name in ("a", "base") or bool(known)

    def _find_properties(
        self, attributes: dict[str, str], rules: Sequence[Rule], is_drawn: bool
    ) -> Properties:
        """What attributes, rules and style say together, each stronger than the one before."""
        name = self.name
        values: Properties = {}
        if name in _NEVER_SHOWN:
            values["display"] = "none"
        if "dir" in attributes:
            values["leftward"] = attributes["dir"].strip().lower() == "rtl"
        if name == "bdo":
            values["override"] = True
        if name in ("button", "mark", "select") or (name == "a" and "href" in attributes):
            values["colour"] = styles.UNKNOWN_COLOUR  # its own one
        if name == "font" and attributes.get("size", "").strip("+- ")[:1].isdigit():
            values["size"] = styles.NORMAL
        if name == "blockquote" and any(mark in " ".join(attributes.values()) for mark in ("cite", "quote")):
            values["quoted"] = True
        if name in _WITH_BACKGROUND and "background" in attributes:
            values["background"] = styles.UNKNOWN_COLOUR
        for attribute, key, names in _COLOURED:
            if attribute in attributes and name in names:
                value = attributes[attribute].strip().lower()
                # Also without its `#`; a number is larger than UNKNOWN_COLOUR and TRANSPARENT.
                values[key] = max(styles.parse_colour(value), styles.parse_colour("#" + value))
        written = attributes.get("style", "")
        pieces = written.lower().split("url(")[1:]
        addresses = [piece.partition(")")[0].strip().strip("'\"") for piece in pieces]
        addresses += [attributes[key] for key in ("src", "background") if key in attributes]
        addresses += _list_candidates(attributes.get("srcset", ""))
        self.pictures = [address.strip()[:MAX_ADDRESS] for address in addresses]
        declared = [rule.style for rule in rules] + ([styles.Style(written)] if written else [])
        if is_drawn and not attributes.keys().isdisjoint(_PRESENTED):
            presented = [f"{key}:{attributes[key]}" for key in _PRESENTED if key in attributes]
            declared.insert(0, styles.Style(";".join(presented)))
        for properties in [style.plain for style in declared] + [style.important for style in declared]:
            values.update(properties)
        self.colours = [f"#{values[key]:06x}" for key in ("colour", "background") if values.get(key, -1) >= 0]
        return values

    def _settle(self, values: Properties) -> None:
        """Find what the values do to the element and the text in it."""
        get = values.get
        display = get("display", "block" if self.kind == BLOCK else "inline")
        if display == "inline" and self.kind == BLOCK:
            self.kind = OPEN
        elif display in ("block", "table", "flex") and self.kind == OPEN:
            self.kind, self.ends = BLOCK, ()
        outer = styles.OUTER_COLOUR
        self.look = {key: values[key] for key in _INHERITED if get(key, outer) != outer}
        is_box = get("overflow") == "hidden" and display != "inline" and self.name not in _WITH_BACKGROUND
        if (
            display == "none"
            or get("opacity", 1) <= styles.FAINT_OPACITY
            or (is_box and min([get(name, styles.NORMAL) for name in styles.SIZES]) <= styles.TINY)
            or get("indent", 0) <= _FAR
        ):
            self.look["gone"] = True


def _find_target(name: str, attributes: dict[str, str]) -> str | None:
    """Where a link, form, button or refresh leads to, or a base."""
    has_target = name in ("a", "area", "base") or ":" in name
    # Drawings have the second one.
    target = attributes.get("href", attributes.get("xlink:href")) if has_target else None
    if name in ("form", "button", "input"):
        target = attributes.get("formaction") or attributes.get("action") or None
    if name == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
        target = attributes.get("content", "").lstrip(" 0123456789.,;")  # HTML, 4.2.5.3
        target = target[3:].lstrip(" =") if target[:3].lower() == "url" else target
        target = target.strip("'\" ") or None
    return None if target is None else target.strip()[:MAX_ADDRESS]


def _list_candidates(srcset: str) -> list[str]:
    """The addresses of `a.png 1x, b.png 2x` (HTML, 4.8.4.2.1)."""
    addresses: list[str] = []
    is_address = True
    for word in srcset.split():
        if not is_address:
            _, comma, word = word.partition(",")
            is_address = bool(comma)
        address = word.strip(",")
        if is_address and address:
            addresses.append(address)
            is_address = word.endswith(",")
    return addresses


def find_page_charset(payload: bytes) -> str:
    """The charset that a page names for itself, "" if none; UTF-16 counts as UTF-8.

    Source: HTML, 13.2.3.2, for the first 2,048 bytes.
    """
    head = payload[:2_048].decode("latin-1").lower().replace("<?xml", "<meta")
    for piece in styles.remove_comments(head, "<!--", "-->").split("<meta")[1:]:
        attributes = parse_attributes(piece.partition(">")[0], 0)
        pragma = attributes.get("content", "").partition("charset")[2] if "http-equiv" in attributes else ""
        name = attributes.get("charset") or attributes.get("encoding") or pragma.lstrip(" =")
        if name:
            return "utf-8" if look_up_codec(name).startswith("utf_16") else name
    return ""


def resolve(base: str, address: str) -> str:
    """An address as a browser reads it by the `base` of a page (RFC 3986, 5.2.2), but `..` stays.

    A base that is no address of the web changes nothing.
    """
    scheme, slashes, place = base.replace("\\", "/").partition("?")[0].partition("#")[0].partition("//")
    before, colon, _ = address.partition(":")
    if scheme.lower() not in _WEB or not slashes or (colon and before.isalpha()):
        return address
    address = address.replace("\\", "/")
    if address[:2] == "//":
        return scheme + address
    host, _, path = place.lstrip("/").partition("/")
    if address[:1] not in ("", "?", "#"):
        path = path[: path.rfind("/") + 1]
    return f"{scheme}//{host}{address if address[:1] == '/' else f'/{path}{address}'}"


def parse_attributes(text: str, place: int) -> dict[str, str]:
    """The attributes of a tag, decoded, by lower-case name: the first counts;  place: where its name ends."""
    spaced = text if text.isprintable() else text.translate(_BLANKS)
    is_plain = "&" not in text
    attributes: dict[str, str] = {}
    while place < len(text):
        equals = text.find("=", place)
        equals = equals if equals >= 0 else len(text)
        words = text[place:equals].replace("/", " ").split()
        place = equals + 1
        while spaced[place : place + 1] == " ":
            place += 1
        quote = text[place] if text[place : place + 1] in ("'", '"') else " "
        place += quote != " "
        end = spaced.find(quote, place)
        end = end if end >= 0 else len(text)
        value = text[place:end] if is_plain else decode_references(text[place:end], True)
        for number, word in enumerate(words, 1):
            attributes.setdefault(word.lower(), value if number == len(words) else "")
        place = end + 1
    return attributes
