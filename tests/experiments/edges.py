"""Where a text begins and ends: pairs of its words there, how many, and in which view."""

from collections.abc import Callable

from nbspam.engine.block import Block
from nbspam.mail import Message
from nbspam.tokens import Bag
from nbspam.tokens.bag import EDGE, neighbours
from nbspam.tokens.structure import FIRST_WORDS, LAST_WORDS
from tests.experiments.lab import (
    CORPORA,
    LATER,
    Mail,
    Variant,
    Way,
    counted,
    few_heading,
    few_row,
    folds_row,
    future_row,
    heading,
    mail,
)
from tests.experiments.views import ONE_MORE, moved

WHOLE = 20_000  # words: the whole text
Tokens = Callable[[list[str]], list[str]]


def triples(edge: list[str]) -> list[str]:
    return [*neighbours(edge), *("+".join(three) for three in zip(edge, edge[1:], edge[2:], strict=False))]


def read(first: int, last: int, tokens: Tokens = neighbours) -> Variant:
    """The bag with other tokens of the first and the last words."""

    def change(_: Message, bag: Bag) -> Bag:
        edges = (bag.body[:first], bag.body[max(first, len(bag.body) - last) :])
        others = [token for token in bag.structure if not token.startswith(EDGE)]
        found = [EDGE + token for edge in edges for token in tokens(edge)]
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
PLACES = {"in the header view": 0, "in the body view": 1, "in a view of their own": ONE_MORE}


def changed(messages: list[Mail]) -> dict[str, tuple[Block, Way]]:
    """What each row of a table is of."""
    kept, way = counted(messages), Way()
    rows = {name: (counted(messages, change) if change else kept, way) for name, change in VARIANTS.items()}
    rows[ALL_NEW] = (kept, Way(new_edges=True))
    for name, view in PLACES.items():  # a view of their own has a share of its own
        rows[name] = (moved(kept, {EDGE: view}), Way(new_edges=view == ONE_MORE))
    return rows


def table(rows: dict[str, tuple[Block, Way]], a_row: Callable[[str, Block, Way], str]) -> None:
    for name, (block, way) in rows.items():
        print(a_row(name, block, way), flush=True)


if __name__ == "__main__":
    everything = {corpus: mail(corpus) for corpus in CORPORA}
    rows = {corpus: changed(messages) for corpus, messages in everything.items()}
    for corpus, messages in everything.items():
        heading(corpus, len(messages))
        table(rows[corpus], folds_row)
    heading(LATER, len(everything["spamassassin"]))
    table(rows["spamassassin"], future_row)
    for corpus in ("spamassassin", "enron"):
        few_heading(corpus, len(everything[corpus]))
        table(rows[corpus], few_row)
