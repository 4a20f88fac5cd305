"""The rules of the style sheets of a page that hide or colour text: Sheet.

Hides the cascade: which rules concern an element, and which of them is the strongest.  What a rule asks of
the element alone is found once for all elements that are alike; what it asks of those around, once for all
that stand in alike ones, but anew each time where rules ask for siblings.  Loaded when a mail has a sheet.
"""

from __future__ import annotations

from nbspam.mail.html.blocks import UNLAYERED, Block, Blocks
from nbspam.mail.html.css import flattened
from nbspam.mail.html.entities import decode
from nbspam.mail.html.hiding import rule_effect
from nbspam.mail.html.selectors import LINK, MAX_SELECTORS, Asked, Family, Selector, read_selectors
from nbspam.mail.html.state import Effect

MAX_RULES = 10_000  # selectors of rules that do something; rules that do nothing are free
MAX_SHEET = 1 << 20  # characters
MAX_SELECTORS_READ = 1 << 19  # characters; a block in a block has those around it again
SELECTOR = 64  # characters that each selector counts for beside its own: a short one takes time, too
MAX_ATTRIBUTES = 20  # that are asked for, beside class and id
MAX_KNOWN = 1_000  # elements of a name, class and id
MAX_LINE = 100  # elements around one, of which it is kept what holds inside of them
LOOKS = 16  # rules, or elements around, that are only looked at for their marks in the time of one comparison
_ANY = "*"


class Rule:
    """What a selector does to an element: `!important` and not.

    rank     : of its layer
    siblings : whether it asks for elder siblings
    """

    __slots__ = ("normal", "order", "rank", "selector", "siblings", "strong")

    def __init__(self, selector: Selector, rank: tuple[float, ...], strong: Effect, normal: Effect) -> None:
        self.selector = selector
        self.rank = rank
        self.order = 0
        self.siblings = selector.asks_siblings()
        self.strong = strong
        self.normal = normal


class Ruled:
    """What rules do to an element together: `!important`, if any is, and not.

    known : the effect of a tag without style, by that of its attributes
    """

    __slots__ = ("known", "normal", "strong")

    def __init__(self, strong: Effect, normal: Effect) -> None:
        self.strong = strong if strong.changes() else None
        self.normal = normal
        self.known: dict[Effect | None, Effect | None] = {}


class Match(Asked):
    """An element, and what a sheet has to say of it.

    plain   : the rules that concern it wherever it stands
    ruled   : what these rules do together; None without rules
    asking  : rules that ask what is around it, by a mark that must stand there; "" if there is none
    known   : what rules do together with those of them that were found to hold
    """

    __slots__ = ("asking", "known", "plain", "ruled")

    def __init__(self, name: str, marks: frozenset[str], attributes: dict[str, str]) -> None:
        super().__init__(name, marks, attributes)
        self.plain: list[Rule] = []
        self.ruled: Ruled | None = None
        self.known: dict[tuple[Rule, ...], Ruled | None] = {}
        self.asking: list[dict[str, list[Rule]]] = []


class Sheet:
    """The rules of all sheets of a page.

    attributes : what selectors ask for, beside class and id
    hints      : a tag without any of these in its lower-case text is asked for its name only
    siblings   : whether one of them asks for elder siblings
    family     : what is around the element that is asked for
    variables  : values of `--names`, wherever on the page they are set
    """

    __slots__ = (
        "_asking",
        "_bare",
        "_blocks",
        "_folded",
        "_index",
        "_inside",
        "_known",
        "_room",
        "_rules",
        "_simple",
        "_tests",
        "attributes",
        "family",
        "hints",
        "siblings",
        "variables",
    )

    def __init__(self, folded: bool) -> None:
        self._folded = folded  # without doctype, `.A` is `.a`
        self._blocks = Blocks(folded)
        self._rules: dict[tuple[object, ...], Rule] = {}  # by the text of the selector, layer and scopes
        self._simple: dict[str, Rule] = {}  # those that ask for one mark only
        self._index: dict[str, list[Rule]] = {}  # others, by a mark that they ask for
        # Those that ask what is around, by a mark of the element, and by one of those around it.
        self._asking: dict[str, dict[str, list[Rule]]] = {}
        # What was worked out, by the name and the attributes asked for; many elements of a page are alike.
        self._known: dict[tuple[str | None, ...], Match] = {}
        self._bare: dict[str, Match] = {}  # elements without attributes, by their name
        # By an element and those around it: rules that hold, and those that may, by their siblings.
        self._inside: dict[tuple[Asked, ...], tuple[tuple[Rule, ...], tuple[Rule, ...]]] = {}
        self.attributes: frozenset[str] = frozenset()
        self.hints: frozenset[str] = frozenset()
        self._room = MAX_SELECTORS_READ
        self._tests = False  # whether any selector asks for attributes, `[class]` too
        self.siblings = False
        self.family = Family()
        self.variables: dict[str, str] = {}

    def read(self, text: str, colours: list[str]) -> bool:
        """Add the rules of a sheet, and its colours; whether there is any rule that matters."""
        for worked_out in (self._known, self._bare, self._inside):
            worked_out.clear()
        text = flattened(text[:MAX_SHEET].replace("<!--", " ").replace("-->", " "))
        if "--" in text:
            self.set_variables(text)
        for block, declarations in self._blocks.rules(text):
            self._add(block, declarations, colours)
        return bool(self._rules or self.variables)

    def set_variables(self, css: str) -> bool:
        """Note the variables that a style or a sheet sets; whether one of them has another value now."""
        from nbspam.mail.html.values import MAX_VARIABLES, variables_of  # rare

        found = variables_of(css) if len(self.variables) < MAX_VARIABLES else {}
        changed = any(self.variables.get(name) != value for name, value in found.items())
        self.variables.update(found)
        return changed

    def _add(self, block: Block, body: str, colours: list[str]) -> None:
        selectors = block.selectors
        normal = rule_effect(body, colours, variables=self.variables)
        strong = rule_effect(body, [], True, self.variables) if "!" in body else Effect()
        if not normal.changes() and not strong.changes():
            return
        self._room -= len(selectors) + SELECTOR * min(selectors.count(",") + 1, MAX_SELECTORS)
        if self._room < 0:
            return
        for selector in read_selectors(selectors, self._folded):
            if block.scopes:
                from nbspam.mail.html.scope import Scoped  # rare

                selector = Scoped(selector, block.scopes)
            known = selector.text, block.rank, block.scopes
            rule = self._rules.get(known)
            if rule is not None:
                rule.strong, rule.normal = _over(strong, rule.strong), _over(normal, rule.normal)
            else:
                rule = self._enter(Rule(selector, block.rank, strong, normal), known)
            if rule is not None:
                rule.order = len(self._rules)

    def _enter(self, rule: Rule, known: tuple[object, ...]) -> Rule | None:
        """A new rule, if there is room for it."""
        selector = rule.selector
        if len(self._rules) >= MAX_RULES:
            return None
        if not selector.is_simple:
            asked = selector.attributes()
            attributes = self.attributes | (asked - {"class", "id"})
            if len(attributes) > MAX_ATTRIBUTES:
                return None
            self.attributes = attributes
            self._tests = self._tests or bool(asked)
            self.siblings = self.siblings or rule.siblings
        self.hints = self.hints.union(selector.hints())
        self._rules[known] = rule
        if selector.is_simple and rule.rank == UNLAYERED:
            self._simple[selector.mark()] = rule
        elif selector.is_plain:
            self._index.setdefault(selector.mark(), []).append(rule)
        else:
            by_mark = self._asking.setdefault(selector.mark(), {})
            by_mark.setdefault(min(selector.around, default=""), []).append(rule)
        return rule

    def is_silent_about(self, name: str, text: str) -> bool:
        """Whether no rule can concern a tag with this name and text."""
        if self.siblings:
            return False
        for rules in (self._simple, self._index, self._asking):
            if name in rules or _ANY in rules:
                return False
        lower = text.lower()
        if self.variables and ("var(" in lower or "&" in lower or "\\" in lower or "/*" in lower):
            return False
        for hint in self.hints:  # noqa: SIM110 (any() takes twice the time)
            if hint in lower:
                return False
        return True

    def match(self, name: str, attributes: dict[str, str]) -> Match:
        """The rules for an element, wherever it stands, and those that have to ask."""
        is_link = LINK if "href" in attributes else None
        key: tuple[str | None, ...] = name, attributes.get("class"), attributes.get("id"), is_link
        if self.attributes:
            key = *key, *[attributes.get(attribute) for attribute in self.attributes]
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            found = self._known[key] = self._matched(name, attributes)
        return found

    def bare_match(self, name: str) -> Match:
        """The rules for an element of which nothing but its name is asked."""
        found = self._bare.get(name)
        if found is None:
            if len(self._bare) >= MAX_KNOWN:
                self._bare.clear()
            found = self._bare[name] = self.match(name, {})
        return found

    def _matched(self, name: str, attributes: dict[str, str]) -> Match:
        marks = [name, LINK] if "href" in attributes else [name]
        for attribute, sign in (("class", "."), ("id", "#")):
            if attribute in attributes:
                value = decode(attributes[attribute], True)
                words = (value.lower() if self._folded else value).split()
                marks += [sign + word for word in words]
        if self._tests:
            asked = ("class", "id", *self.attributes)
            marks += ["[" + attribute for attribute in asked if attribute in attributes]
            attributes = {name: decode(value, True) for name, value in attributes.items()}
        match = Match(name, frozenset(marks), attributes)
        for mark in dict.fromkeys([*marks, _ANY]):
            if mark in self._simple:
                match.plain.append(self._simple[mark])
            rules = self._index.get(mark, ())
            self.family.steps -= len(rules) // LOOKS
            for rule in rules:
                if self.family.steps < 0:
                    break
                first = rule.selector.parts[0][1]
                if first.marks <= match.marks and first.fits(match, self.family, 0, 0):
                    match.plain.append(rule)
            if mark in self._asking:
                match.asking.append(self._asking[mark])
        match.ruled = match.known[()] = self.merged(match.plain)
        return match

    def ruled(self, match: Match, line: list[Asked]) -> Ruled | None:
        """What all rules do to an element inside of these others; it is kept as a sibling."""
        family = self.family
        family.steps -= len(line) // LOOKS + 1
        if family.steps < 0:
            return match.ruled
        family.line = line
        around = match, *line
        found = self._inside.get(around)
        if found is None:
            found = self._asked(match)
            if len(line) <= MAX_LINE:
                if len(self._inside) >= MAX_KNOWN:
                    self._inside.clear()
                self._inside[around] = found
        held, open_ones = found
        if self.siblings:
            held += tuple([rule for rule in open_ones if rule.selector.holds(match, family)])
            family.admit(match)
        if held not in match.known:
            match.known[held] = self.merged([*match.plain, *held])
        return match.known[held]

    def _asked(self, match: Match) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
        """The rules that hold for an element in its family, and apart those that may, by their siblings."""
        family = self.family
        marks = frozenset([""]).union(*[one.marks for one in family.line])
        asked = [rule for rules in match.asking for mark in marks & rules.keys() for rule in rules[mark]]
        family.steps -= (len(family.line) + len(asked)) // LOOKS
        asked = [rule for rule in asked if rule.selector.around <= marks]
        held = [rule for rule in asked if not rule.siblings and rule.selector.holds(match, family)]
        return tuple(held), tuple([rule for rule in asked if rule.siblings])

    def merged(self, rules: list[Rule]) -> Ruled | None:
        """What rules do together: id above class above name, the later above the earlier.

        The first layer is below the others, but with `!important` above them.
        """
        if not rules:
            return None
        if len(rules) == 1:
            return Ruled(rules[0].strong, rules[0].normal)
        self.family.steps -= len(rules)
        strong, normal = Effect(), Effect()
        rules = sorted(rules, key=lambda rule: (rule.rank, rule.selector.weight, rule.order), reverse=True)
        for rule in rules:
            normal.over(rule.normal)
        for rule in sorted(rules, key=lambda rule: rule.rank):
            strong.over(rule.strong)
        return Ruled(strong, normal)


def _over(effect: Effect, other: Effect) -> Effect:
    result = Effect()
    result.over(effect)
    result.over(other)
    return result
