"""Selectors of CSS: read_selectors makes them of text, Selector.holds asks an element and those around it.

Hides their syntax, and the walk over ancestors and elder siblings (Selectors 4).  A page is read from its
begin, so what only its rest can say (`:last-child`, `:has()`) holds nowhere; nor does what a reader must do
first (`:hover`).  Comparisons are counted by the Family that is asked, so that time stays linear.
"""

from __future__ import annotations

from nbspam.mail.html.attributes import SIGNS, agrees, identifier, read_test
from nbspam.mail.html.css import split_outside
from nbspam.mail.html.elements import word_set

MAX_SELECTORS = 100  # of one rule
MAX_PARTS = 20  # compounds and tests of a selector
MAX_NESTING = 4  # :not() in :is() in :not()
MAX_STEPS = 1 << 16  # elements compared with a compound, in a whole text; a long attribute counts for more
STEP = 64  # characters of an attribute that are looked through in one
_COMBINATORS = ">+~"
_ENDS = ".#[:"


# Pseudo-classes that hold nowhere, and those that hold for what they stand on.
_NEVER = word_set(
    "hover active focus focus-within focus-visible visited target checked empty has last-child only-child "
    "last-of-type only-of-type nth-last-of-type lang disabled placeholder-shown popover-open "
    "before after first-line first-letter"
)
_ALWAYS = word_set("defined enabled read-only")
_WEIGHTS = {"#": (1, 0, 0), ".": (0, 1, 0)}
LINK = ":link"  # what an element is that leads somewhere
# Signs in a selector, and the attributes that it may ask for by them.
_TELLING = {".": "class", "#": "id", ":": "href"}


class Asked:
    """An element as a selector sees it.

    marks      : its name, `.class`, `#id`, LINK, and `[name` of attributes if any are asked for
    attributes : decoded
    """

    __slots__ = ("attributes", "marks", "name")

    def __init__(self, name: str, marks: frozenset[str], attributes: dict[str, str]) -> None:
        self.name = name
        self.marks = marks
        self.attributes = attributes


class Family:
    """What stands around an element.

    line   : the elements around it, outermost first
    elders : of each depth, the elements of the same parent met so far; empty if no selector asks for them
    steps  : how many comparisons may still be made
    """

    __slots__ = ("elders", "line", "steps")

    def __init__(self) -> None:
        self.line: list[Asked] = []
        self.elders: list[list[Asked]] = []
        self.steps = MAX_STEPS

    def admit(self, element: Asked) -> None:
        """Note that an element opened, as a sibling of those after it."""
        depth = len(self.line)
        del self.elders[depth + 1 :]
        while len(self.elders) <= depth:
            self.elders.append([])
        self.elders[depth].append(element)

    def older(self, depth: int) -> int:
        """How many elder siblings an element has that is about to open, or the open one, at a depth."""
        if depth >= len(self.elders):
            return 0
        # A body that is not written was never admitted, so the list may lack the open element.
        return max(0, len(self.elders[depth]) - (depth < len(self.line)))


class Compound:
    """What is asked of one element.

    marks  : its name, `.class`, `#id`, `[name`: all of them
    tests  : of attributes (name, operator, value), and lists of which one must hold, or none (`is`, `not`)
    places : (step, first, of the same name) as in :nth-child(2n+1)
    """

    __slots__ = ("marks", "places", "tests")

    def __init__(self, marks: frozenset[str] = frozenset()) -> None:
        self.marks = marks
        self.tests: list[tuple[str, str, str] | tuple[bool, list[Compound]]] = []
        self.places: list[tuple[int, int, bool]] = []

    def fits(self, element: Asked, family: Family, depth: int, age: int) -> bool:
        """Whether an element is such a one; age: how many elder siblings it has."""
        family.steps -= 1
        if family.steps < 0 or not self.marks <= element.marks:
            return False
        for step, first, same in self.places:
            index = age + 1
            if same:
                elders = family.elders[depth][:age] if depth < len(family.elders) else []
                family.steps -= len(elders)
                index = 1 + sum(elder.name == element.name for elder in elders)
            steps, rest = divmod(index - first, step) if step else (0, index - first)
            if rest or steps < 0:
                return False
        for test in self.tests:
            if len(test) == 3:
                value = element.attributes.get(test[0])
                family.steps -= len(value or "") // STEP
                if not agrees(value, test[1], test[2]):
                    return False
            elif any(one.fits(element, family, depth, age) for one in test[1]) != test[0]:
                return False
        return True

    def asks_place(self) -> bool:
        """Whether it counts siblings."""
        inner = [one for test in self.tests if len(test) == 2 for one in test[1]]
        return bool(self.places) or any(one.asks_place() for one in inner)

    def attributes(self) -> list[str]:
        """The names of the attributes that it asks for."""
        found = []
        for test in self.tests:
            if len(test) == 3:
                found.append(test[0])
            else:
                found += [name for one in test[1] for name in one.attributes()]
        return found


class Selector:
    """Compounds from the element outwards, each with how it is reached: `(" >+~", compound)`.

    weight    : specificity: ids; classes, attributes and pseudo-classes; names
    around    : marks of which each stands on one of the elements around, or it does not hold
    is_plain  : it asks the element only, and nothing around it
    is_simple : it asks for one name, class or id, or for nothing
    """

    __slots__ = ("around", "is_plain", "is_simple", "parts", "text", "weight")

    def __init__(self, text: str, parts: list[tuple[str, Compound]], weight: tuple[int, int, int]) -> None:
        self.text = text
        self.parts = parts
        self.weight = weight
        first = parts[0][1]
        self.around = frozenset().union(*[one.marks for reached, one in parts if reached in (" ", ">")])
        self.is_simple = len(parts) == 1 and len(first.marks) < 2 and not (first.tests or first.places)
        self.is_plain = self.is_simple or (len(parts) == 1 and not first.asks_place())

    def asks_siblings(self) -> bool:
        return any(reached in ("+", "~") or compound.asks_place() for reached, compound in self.parts)

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that are asked for."""
        return frozenset([name for _, compound in self.parts for name in compound.attributes()])

    def hints(self) -> list[str]:
        """Names of attributes without which, in its text, a tag is of no concern beyond its name."""
        found = [attribute for sign, attribute in _TELLING.items() if sign in self.text]
        return found if self.is_simple else [*found, *self.attributes()]

    def mark(self) -> str:
        """What the element must at least be; `*`: anything."""
        return min(self.parts[0][1].marks, default="*")

    def holds(self, element: Asked, family: Family) -> bool:
        """Whether an element in this family is selected."""
        depth = len(family.line)
        places = [(depth, family.older(depth))]
        if not self.parts[0][1].fits(element, family, *places[0]):
            return False
        for reached, compound in self.parts[1:]:
            places = [
                (depth, age)
                for depth, age in _reachable(places, reached, family)
                if compound.fits(_at(family, depth, age), family, depth, age)
            ]
            if not places:
                return False
        return True


def _at(family: Family, depth: int, age: int) -> Asked:
    if depth < len(family.elders) and age < family.older(depth):
        return family.elders[depth][age]
    return family.line[depth]


def _reachable(places: list[tuple[int, int]], reached: str, family: Family) -> list[tuple[int, int]]:
    """Where the elements may stand that a combinator leads to."""
    if reached == " ":
        return [(depth, family.older(depth)) for depth in range(max(places)[0])]
    if reached == ">":
        return [(depth - 1, family.older(depth - 1)) for depth in {depth for depth, _ in places} if depth]
    if reached == "+":
        return [(depth, age - 1) for depth, age in places if age]
    oldest = dict(sorted(places))
    return [(depth, age) for depth, most in oldest.items() for age in range(min(most, max(family.steps, 0)))]


def read_selectors(text: str, folded: bool) -> list[Selector]:
    """The selectors of a rule; none if one of them is none, as in browsers.

    text   : without comments, strings and escapes (html_css.flattened)
    folded : the page has no doctype, `.A` is `.a`
    """
    found = []
    for one in split_outside(text, ",")[:MAX_SELECTORS]:
        try:
            selector = _selector(" ".join(one.split()), folded)
        except ValueError:
            return []
        if selector is not None:
            found.append(selector)
    return found


def _selector(text: str, folded: bool) -> Selector | None:
    """One selector; None if it holds nowhere; ValueError if it is none."""
    mark = text[1:] if text[:1] in (".", "#") else text
    if mark.translate(SIGNS).isalnum() and not mark[0].isdigit():  # most selectors are one name
        mark = text.lower() if folded or text is mark else text
        return Selector(text, [("", Compound(frozenset((mark,))))], _WEIGHTS.get(text[0], (0, 0, 1)))
    parts: list[tuple[str, Compound]] = []
    weight = [0, 0, 0]
    reached = ""
    for word in split_outside(_spaced(text), " "):
        if word in _COMBINATORS:
            reached = word or reached
            continue
        compound = _compound(word, folded, weight, 0)
        if compound is None or len(parts) >= MAX_PARTS:
            return None
        parts.append((reached or " ", compound))
        reached = ""
    if not parts or reached:
        raise ValueError(text)
    # From the element outwards, each beside the combinator on its right.
    right = ["", *[reached for reached, _ in parts[:0:-1]]]
    outwards = [compound for _, compound in reversed(parts)]
    return Selector(text, list(zip(right, outwards, strict=True)), (weight[0], weight[1], weight[2]))


def _spaced(text: str) -> str:
    """Blanks around each combinator that stands in no brackets."""
    for sign in _COMBINATORS:
        if sign in text:
            text = f" {sign} ".join(split_outside(text, sign))
    return text


def _compound(text: str, folded: bool, weight: list[int], nested: int) -> Compound | None:
    found = Compound()
    marks: list[str] = []
    implied: list[str] = []
    for part in _simple_parts(text):
        sign = part[0]
        word = part[1:] if sign in _ENDS else part
        if sign == "[":
            test = read_test(word)
            found.tests.append(test)
            implied += _implied(test, folded)
            weight[1] += 1
        elif sign == ":":
            if not _pseudo(word.lower(), word, found, marks, folded, weight, nested):
                return None
        elif sign in ".#":
            marks.append(sign + identifier(word.lower() if folded else word))
            weight[sign == "."] += 1
        elif word != "*":
            marks.append(identifier(word.lstrip("*").lower()))
            weight[2] += 1
        if len(marks) + len(found.tests) > MAX_PARTS:
            return None
    found.marks = frozenset([*marks, *implied])
    return found


def _implied(test: tuple[str, str, str], folded: bool) -> list[str]:
    """The marks of every element that a test of an attribute holds for."""
    name, operator, value = test
    marks = ["[" + name]
    if operator in ("=", "~=") and name in ("class", "id") and value and not any(map(str.isspace, value)):
        marks.append((".#"[name == "id"]) + (value.lower() if folded else value))
    return marks


def _simple_parts(text: str) -> list[str]:
    """A compound cut into the simple selectors it is made of."""
    if not ("(" in text or "[" in text):
        for sign in ".#:":
            text = text.replace(sign, " " + sign)
        return text.split()
    found, start = [], 0
    while start < len(text):
        stop = _end(text, start)
        found.append(text[start:stop])
        start = stop
    return found


def _end(text: str, start: int) -> int:
    """Where the simple selector ends that begins at `start`."""
    if text[start] == "[":
        stop = text.find("]", start)
        return stop + 1 if stop >= 0 else len(text)
    stop, depth = start + 1, 0
    while stop < len(text) and (depth or text[stop] not in _ENDS):
        depth += (text[stop] == "(") - (text[stop] == ")")
        stop += 1
    return stop


def _pseudo(
    name: str, text: str, found: Compound, marks: list[str], folded: bool, weight: list[int], nested: int
) -> bool:
    """Add a pseudo-class to what is asked; False if it holds nowhere, ValueError if there is none such."""
    name, _, inside = name.partition("(")
    if not name or name in _NEVER:  # the first colon of a pseudo-element
        return False
    if name in ("is", "where", "not", "matches", "any", "-webkit-any", "-moz-any"):
        inner = [0, 0, 0]
        one_of = _one_of(text.partition("(")[2].removesuffix(")"), folded, inner, nested)
        found.tests.append((name != "not", one_of))
        if name != "where":
            weight[:] = [sum(pair) for pair in zip(weight, inner, strict=True)]
        return True
    weight[1] += 1
    if name in ("root", "scope"):
        marks.append("html")
    elif name in ("link", "any-link"):
        marks.append(LINK)
    elif name in ("first-child", "first-of-type"):
        found.places.append((0, 1, name == "first-of-type"))
    elif name in ("nth-child", "nth-of-type", "nth-last-child"):
        step, first = _places(inside.removesuffix(")"))
        if name == "nth-last-child":
            return step == 1 and first <= 1  # all of them
        found.places.append((step, first, name == "nth-of-type"))
    elif name not in _ALWAYS and not (name == "dir" and "ltr" in inside):
        raise ValueError(name)
    return True


def _one_of(text: str, folded: bool, weight: list[int], nested: int) -> list[Compound]:
    """The compounds of a list in brackets; those with ancestors are left out."""
    if nested >= MAX_NESTING:
        raise ValueError(text)
    found = []
    for one in split_outside(text, ",")[:MAX_SELECTORS]:
        one = one.strip()
        if " " in _spaced(one):
            continue
        compound = _compound(one, folded, weight, nested + 1)
        if compound is not None:
            found.append(compound)
    return found


def _places(text: str) -> tuple[int, int]:
    """Step and first place of `2n+1`, `odd`, `3`, `-n + 4`."""
    text = "".join(text.partition(" of ")[0].split())
    text = {"odd": "2n+1", "even": "2n"}.get(text, text)
    step, n, first = text.rpartition("n")
    if not n:
        return 0, int(first)
    return int(step + "1" if step in ("", "+", "-") else step), int(first or 0)
