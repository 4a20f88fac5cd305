"""Rules of a sheet that hold in parts of a page only, `@scope (.a) to (.b)`: Scope and Scoped.

Hides that a scope is asked as selectors are: of an element itself, and of those around it.  Loaded when a
sheet has one.
"""

from __future__ import annotations

from nbspam.mail.html.css import split_outside
from nbspam.mail.html.selectors import MAX_SELECTORS, Asked, Family, Selector, read_selectors


class Scope:
    """The elements in one of the roots, which are a part of it, and in none of the limits in these.

    root  : what stands for `&`, or before what does not name it; without weight, if it asks for no ancestors
    named : what stands for `:scope`
    """

    __slots__ = ("_limits", "_roots", "named", "root")

    def __init__(self, root: str, limit: str, folded: bool) -> None:
        has_ancestors = " " in root and "," not in root
        self.root = root if has_ancestors else f":where({root})"
        self.named = root if has_ancestors else f":is({root})"
        roots = split_outside(root, ",")[:MAX_SELECTORS]
        limits = [f"{one} :is({limit.replace(':scope', self.named)})" for one in roots] if limit else []
        self._roots = [selector for one in roots for selector in _around(one, folded)]
        self._limits = [selector for one in limits for selector in _around(one, folded)]

    def selectors(self) -> list[Selector]:
        """All that it asks."""
        return self._roots + self._limits

    def holds(self, element: Asked, family: Family) -> bool:
        """Whether an element in this family is in it."""
        inside = any(root.holds(element, family) for root in self._roots)
        return inside and not any(limit.holds(element, family) for limit in self._limits)


class Scoped(Selector):
    """A selector in scopes, all of which must hold, too."""

    __slots__ = ("_scopes",)

    def __init__(self, selector: Selector, scopes: tuple[Scope, ...]) -> None:
        super().__init__(selector.text, selector.parts, selector.weight)
        self.is_simple = self.is_plain = False
        self._scopes = scopes

    def _others(self) -> list[Selector]:
        return [selector for scope in self._scopes for selector in scope.selectors()]

    def asks_siblings(self) -> bool:
        return super().asks_siblings() or any(other.asks_siblings() for other in self._others())

    def attributes(self) -> frozenset[str]:
        return super().attributes().union(*[other.attributes() for other in self._others()])

    def hints(self) -> list[str]:
        return super().hints() + [hint for other in self._others() for hint in other.hints()]

    def holds(self, element: Asked, family: Family) -> bool:
        return super().holds(element, family) and all(scope.holds(element, family) for scope in self._scopes)


def read_scope(prelude: str, folded: bool) -> Scope | None:
    """What stands behind `@scope`; None without a root: that is the element around the sheet."""
    root, _, limit = prelude.strip().partition(" to ")
    if not (root.startswith("(") and root.endswith(")") and root[1:-1].strip()):
        return None
    return Scope(root[1:-1], limit.strip()[1:-1], folded)


def _around(selector: str, folded: bool) -> list[Selector]:
    """What holds for the elements selected, and what does for all in them."""
    return read_selectors(selector, folded) + read_selectors(f"{selector} *", folded)
