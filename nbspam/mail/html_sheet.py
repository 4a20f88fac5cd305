"""The rules of a `<style>` element that hide or colour text: Sheet.

Hides the cascade, as far as it is followed: selectors of one element, class or id, no combinators, no
media query that asks for a size.  Loaded when a mail has a sheet.
"""

from __future__ import annotations

from nbspam.mail.html_state import Effect
from nbspam.mail.html_style import style_effect

MAX_RULES = 1_000
MAX_SELECTORS = 100  # of one rule
MAX_CLASSES = 20  # of one element
MAX_SHEET = 1 << 17  # characters


# A simple selector is letters and digits once these are taken out: no `:hover`, no `a>b`, no `[href]`.
_NAME_SIGNS = dict.fromkeys(map(ord, ".#-_"))


class Sheet:
    """The rules of all sheets of a page."""

    __slots__ = ("_effects",)

    def __init__(self) -> None:
        self._effects: dict[str, Effect] = {}

    def read(self, text: str, colours: list[str]) -> bool:
        """Add the rules of a sheet, and its colours; whether there is any rule that matters."""
        text = _uncommented(text[:MAX_SHEET])
        skipping = False
        for chunk in text.split("}", MAX_RULES)[:MAX_RULES]:
            head, brace, body = chunk.rpartition("{")
            if not brace:
                skipping = False  # the end of an at-rule
                continue
            at_rule, nested, selectors = head.rpartition("{")
            if nested:
                skipping = not _applies(at_rule)
            if not skipping:
                self._add(selectors, body, colours)
        return bool(self._effects)

    def _add(self, selectors: str, body: str, colours: list[str]) -> None:
        effect = style_effect(body, colours)
        if not effect.changes():
            return
        for selector in selectors.split(",", MAX_SELECTORS)[:MAX_SELECTORS]:
            words = selector.lower().split()
            if len(words) != 1 or not words[0].translate(_NAME_SIGNS).isalnum():
                continue
            merged = Effect()
            merged.over(effect)
            if words[0] in self._effects:
                merged.over(self._effects[words[0]])
            self._effects[words[0]] = merged

    def is_silent_about(self, name: str, text: str) -> bool:
        """Whether no rule can concern a tag with this name and text."""
        lower = text.lower()
        return name not in self._effects and "class" not in lower and "id" not in lower

    def effect(self, name: str, attributes: dict[str, str]) -> Effect | None:
        """What the rules do to an element: id above class above name."""
        keys = []
        if "id" in attributes:
            key = "#" + attributes["id"].strip().lower()
            keys += [name + key, key]
        for word in attributes.get("class", "").lower().split()[:MAX_CLASSES]:
            keys += [name + "." + word, "." + word]
        keys.append(name)
        found = [self._effects[key] for key in keys if key in self._effects]
        if not found:
            return None
        merged = Effect()
        for effect in found:
            merged.over(effect)
        return merged


def _uncommented(text: str) -> str:
    text = text.replace("<!--", " ").replace("-->", " ")
    pieces = text.split("/*")
    return "".join([piece.partition("*/")[2] if index else piece for index, piece in enumerate(pieces)])


def _applies(at_rule: str) -> bool:
    """Whether a block holds for every reader: `@media screen`, but no `@media (max-width: 600px)`."""
    media = at_rule.lower()
    return "@media" in media and "(" not in media and ("screen" in media or "all" in media)
