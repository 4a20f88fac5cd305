"""The rules of a `<style>` element that hide or colour text: Sheet.

Hides the cascade, as far as it is followed: selectors of one element by its name, classes and id, media
that hold for every reader.  Of a selector with ancestors the last part counts, if it is a class or an id
and the ancestors are elements that stand around everything (`div .x`); what asks for more (`.light .x`,
`td a`, `a:hover`) is passed over.
Loaded when a mail has a sheet.
"""

from __future__ import annotations

from nbspam.mail.html_css import flattened, number_of, pixels_of
from nbspam.mail.html_entities import decode
from nbspam.mail.html_state import Effect
from nbspam.mail.html_style import style_effect

MAX_RULES = 1_000
MAX_SELECTORS = 100  # of one rule
MAX_COMPOUNDS = 50  # selectors of several classes that share the last of them
MAX_SHEET = 1 << 17  # characters
MAX_KNOWN = 1_000  # elements of a name, class and id
MAX_PARTS = 10  # of a selector

_AROUND = frozenset(["html", "body", "div", "table", "tbody", "tr", "td", "center", "*"])
_NARROW, _WIDE = 320.0, 2_000.0  # pixels: every screen is wider than the one, none wider than the other
# A simple selector is letters and digits once these are taken out: no `:hover`, no `[href]`.
_NAME_SIGNS = dict.fromkeys(map(ord, "-_"))


class Sheet:
    """The rules of all sheets of a page."""

    __slots__ = ("_compounds", "_folded", "_known", "_rules")

    def __init__(self, folded: bool) -> None:
        self._folded = folded  # without doctype, `.A` is `.a`
        # Effects by what they ask for: of one rule, `!important` and not.
        self._rules: dict[frozenset[str], tuple[Effect, Effect]] = {}
        # What was worked out, by name, class and id; many elements of a page have the same.
        self._known: dict[tuple[str, str | None, str | None], tuple[Effect | None, Effect] | None] = {}
        self._compounds: dict[str, list[frozenset[str]]] = {}

    def read(self, text: str, colours: list[str]) -> bool:
        """Add the rules of a sheet, and its colours; whether there is any rule that matters."""
        self._known.clear()
        text = flattened(text[:MAX_SHEET].replace("<!--", " ").replace("-->", " "))
        applies: list[bool] = []  # for each block that is open
        for chunk in text.split("}", MAX_RULES)[:MAX_RULES]:
            *heads, body = chunk.split("{")
            if not heads:
                del applies[-1:]  # the end of an at-rule
                continue
            for head in heads[:-1]:
                head = head.rpartition(";")[2]
                applies.append((not applies or applies[-1]) and _applies(head.strip().lower()))
            if not applies or applies[-1]:
                self._add(heads[-1].rpartition(";")[2], body, colours)
        return bool(self._rules)

    def _add(self, selectors: str, body: str, colours: list[str]) -> None:
        normal = style_effect(body, colours)
        strong = style_effect(body, [], True) if "!" in body else Effect()
        if not normal.changes() and not strong.changes():
            return
        for selector in selectors.split(",", MAX_SELECTORS)[:MAX_SELECTORS]:
            asked = self._asked(selector)
            if not asked:
                continue
            if asked not in self._rules:
                last = min(asked)
                if len(asked) > 1:
                    known = self._compounds.setdefault(last, [])
                    if len(known) >= MAX_COMPOUNDS:
                        continue
                    known.append(asked)
                self._rules[asked] = Effect(), Effect()
            before = self._rules[asked]
            self._rules[asked] = _over(strong, before[0]), _over(normal, before[1])

    def _asked(self, selector: str) -> frozenset[str]:
        """What a selector asks of an element: its name, `.class`, `#id`; nothing if it asks for more."""
        *outer, last = selector.replace(">", " ").split(None, MAX_PARTS) or [""]
        if outer and (last.isalnum() or not all(part.lower() in _AROUND for part in outer)):
            return frozenset()
        if "[" in last:
            last = last.replace("[class=", ".").replace("[class~=", ".").replace("[id=", "#").replace("]", "")
        if last.startswith("*") and len(last) > 1:
            last = last[1:]
        name, *words = last.replace("#", " #").replace(".", " .").split(" ")
        name = name.lower()
        parts = [name, *words] if name else words
        if self._folded:
            parts = [part.lower() for part in parts]
        simple = all(part.lstrip(".#").translate(_NAME_SIGNS).isalnum() or part == "*" for part in parts)
        return frozenset(parts) if simple else frozenset()

    def is_silent_about(self, name: str, text: str) -> bool:
        """Whether no rule can concern a tag with this name and text."""
        lower = text.lower()
        if "class" in lower or "id" in lower:
            return False
        return frozenset((name,)) not in self._rules and _ANY not in self._rules

    def effects(self, name: str, attributes: dict[str, str]) -> tuple[Effect | None, Effect] | None:
        """What the rules do to an element, `!important` and not: id above class above name."""
        key = name, attributes.get("class"), attributes.get("id")
        if key not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._merged(name, attributes)
        return self._known[key]

    def _merged(self, name: str, attributes: dict[str, str]) -> tuple[Effect | None, Effect] | None:
        marks = [name, "*"]
        for attribute, sign in (("class", "."), ("id", "#")):
            if attribute in attributes:
                value = decode(attributes[attribute], True)
                words = (value.lower() if self._folded else value).split()
                marks += [sign + word for word in words]
        found = [asked for mark in marks if (asked := frozenset((mark,))) in self._rules]
        if self._compounds:
            has = frozenset(marks)
            found += [asked for mark in has for asked in self._compounds.get(mark, ()) if asked <= has]
        if not found:
            return None
        strong, normal = Effect(), Effect()
        for asked in sorted(found, key=_weight, reverse=True):
            strong.over(self._rules[asked][0])
            normal.over(self._rules[asked][1])
        return strong if strong.changes() else None, normal


_ANY = frozenset("*")


def _over(effect: Effect, other: Effect) -> Effect:
    merged = Effect()
    merged.over(effect)
    merged.over(other)
    return merged


def _weight(asked: frozenset[str]) -> tuple[int, int, int]:
    """Specificity: ids, classes, and whether there is a name (Selectors 3, 9)."""
    ids = sum(mark[0] == "#" for mark in asked)
    classes = sum(mark[0] == "." for mark in asked)
    return ids, classes, len(asked) - ids - classes - ("*" in asked)


def _applies(at_rule: str) -> bool:
    """Whether the block of an at-rule holds for every reader."""
    kind = at_rule.partition(" ")[0]
    if kind == "@supports" or kind.startswith("@supports("):
        return "not" not in at_rule
    if kind in ("@layer", "@scope"):
        return True
    return kind.startswith("@media") and holds(at_rule[len("@media") :])


def holds(media: str) -> bool:
    """Whether one of the media asked for is every reader's: `screen`, but no `(max-width: 600px)`."""
    return not media.strip() or any(_is_everywhere(query) for query in media.lower().split(","))


def _is_everywhere(query: str) -> bool:
    words = query.replace("(", " (").split()
    kind = words[0] if words else ""
    if kind in ("not", "only"):
        words = words[1:]
    medium = words[0] if words and words[0][0] != "(" else "all"
    if kind == "not":
        return len(words) == 1 and medium not in ("screen", "all")
    features = query.split("(")[1:]
    return medium in ("screen", "all") and all(_is_usual(feature.partition(")")[0]) for feature in features)


def _is_usual(feature: str) -> bool:
    name, _, value = feature.partition(":")
    number = number_of(value.strip())
    if number is None:
        return False
    width = pixels_of(value.strip())
    name = name.strip()
    return (name == "min-width" and width <= _NARROW) or (name == "max-width" and width >= _WIDE)
