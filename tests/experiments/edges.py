"""Where a text begins and ends: pairs of its words there, how many, and in which view."""

from collections.abc import Callable
from itertools import pairwise

from nbspam.engine.block import Block
from nbspam.mail import Message
from nbspam.tokens import Bag
from nbspam.tokens.structure import FIRST_WORDS, LAST_WORDS
from tests.experiments.lab import (
    CORPORA,
    FEW,
    JUDGED,
    LATER,
    Mail,
    Variant,
    Way,
    counted,
    few_row,
    heading,
    judged,
    later_row,
    learn,
    mail,
    row,
)
from tests.experiments.views import FOURTH, moved

MARK = "edge="
WHOLE = 20_000  # words: the whole text
Tokens = Callable[[list[str]], list[str]]


def pairs(edge: list[str]) -> list[str]:
    return [f"{first}+{second}" for first, second in pairwise(edge)]


def triples(edge: list[str]) -> list[str]:
    return [*pairs(edge), *("+".join(three) for three in zip(edge, edge[1:], edge[2:], strict=False))]


def read(first: int, last: int, tokens: Tokens = pairs) -> Variant:
    """The bag with other tokens of the first and the last words."""

    def change(_: Message, bag: Bag) -> Bag:
        edges = (bag.body[:first], bag.body[max(first, len(bag.body) - last) :])
        others = [token for token in bag.structure if not token.startswith(MARK)]
        found = [MARK + token for edge in edges for token in tokens(edge)]
        return Bag(bag.header, bag.body, [*others, *found], bag.measures)

    return change


VARIANTS = {
    f"kept: pairs of the first {FIRST_WORDS} and the last {LAST_WORDS} words": None,
    "none": read(0, 0),
    "pairs of the first 10 and the last 20": read(10, 20),
    "pairs of the first 20 and the last 20": read(20, 20),
    "pairs of the first 30": read(30, 0),
    "pairs of the last 30": read(0, 30),
    "pairs of all words": read(WHOLE, 0),
    "triples too": read(FIRST_WORDS, LAST_WORDS, triples),
    "words, not pairs": read(FIRST_WORDS, LAST_WORDS, list),
}
ALL_NEW = "new pairs are part of the share of unknown tokens, too"
PLACES = {"in the header view": 0, "in the body view": 1, "in a view of their own": FOURTH}


def table(messages: list[Mail], a_row: Callable[[str, Block, Way], str]) -> None:
    """A row a variant."""
    kept, way = counted(messages), Way()
    for name, variant in VARIANTS.items():
        print(a_row(name, counted(messages, variant) if variant else kept, way), flush=True)
    print(a_row(ALL_NEW, kept, Way(new_edges=True)), flush=True)
    for name, view in PLACES.items():
        all_new = Way(new_edges=view == FOURTH)  # a view of their own has a share of its own
        print(a_row(name, moved(kept, {MARK: view}), all_new), flush=True)


def judged_row(name: str, block: Block, way: Way) -> str:
    return row(name, judged(block, way), block.labels)


def later(name: str, block: Block, way: Way) -> str:
    return later_row(name, block, lambda past, future: learn(past, future, way))


if __name__ == "__main__":
    everything = {corpus: mail(corpus) for corpus in CORPORA}
    for corpus, messages in everything.items():
        heading(corpus, len(messages))
        table(messages, judged_row)
    heading(LATER, len(everything["spamassassin"]))
    table(everything["spamassassin"], later)
    for corpus in ("spamassassin", "enron"):
        heading(f"{corpus}, {FEW} messages train, {JUDGED:,} are judged", len(everything[corpus]))
        table(everything[corpus], few_row)
