"""Bigrams: pairs of neighbouring words in a view of their own.  Of which words, and what they are worth.

make experiment-bigrams
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

from nbspam.engine.block import Block
from nbspam.engine.corpus import only_views
from nbspam.mail import Message
from nbspam.mail.limits import MAX_TOKENS
from nbspam.tokens import Bag
from nbspam.tokens.bag import BIGRAMS_VIEW, EDGE, READ_NUMBERS, bigram_tokens, neighbours
from tests.experiments.borrowed import hidden
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
from tests.experiments.replayed import REPLAY, Maker, replay_row, whole

KEPT, NONE = "kept: pairs of the first 50 words and the last 50", "none"


def none(messages: list[Mail]) -> Block:
    """The block without bigrams."""
    return only_views(counted(messages), [view for view in READ_NUMBERS if view != BIGRAMS_VIEW])


def of(first: int, last: int) -> Variant:
    """The bag with pairs of so many words."""
    return lambda _, bag: with_bigrams(bag, bigram_tokens(bag.body, first, last))


def every_second(message: Message, bag: Bag) -> Bag:
    """Half of all pairs, the same of any text."""
    return with_bigrams(
        bag, [pair for pair in neighbours(bag.body) if crc32(pair.encode("utf-8", "replace")) & 1]
    )


def with_gaps(message: Message, bag: Bag) -> Bag:
    """As orthogonal sparse bigrams have them: words with one between them are a pair, too."""
    apart = [f"{first}++{second}" for first, second in zip(bag.body, bag.body[2:], strict=False)]
    return with_bigrams(bag, [*neighbours(bag.body), *apart])


def new_are_no_news(message: Message, bag: Bag) -> Bag:
    """All pairs marked as those at the edges are, which are no part of the share of unknown tokens."""
    return with_bigrams(bag, neighbours(bag.body, EDGE + "~"))


def with_bigrams(bag: Bag, bigrams: list[str]) -> Bag:
    return Bag(bag.header, bag.body, bag.structure, bag.measures, bigrams)


MAKERS: dict[str, Maker] = {
    KEPT: counted,
    NONE: none,
    "the first 30 and the last 30": partial(counted, variant=of(30, 30)),
    "the first 100": partial(counted, variant=of(100, 0)),
    "the first 100 and the last 50": partial(counted, variant=of(100, 50)),
    "the first 400": partial(counted, variant=of(400, 0)),
    "all": partial(counted, variant=of(MAX_TOKENS, 0)),
    "all, but every second pair": partial(counted, variant=every_second),
    "all, and those with one word between them": partial(counted, variant=with_gaps),
    "all, new ones are no part of the share of unknown tokens": partial(counted, variant=new_are_no_news),
}


def tables(corpus: str) -> None:
    """What each row is worth in folds, of few messages, and where mail is dated later and in a replay."""
    messages = mail(corpus)
    blocks = {name: maker(messages) for name, maker in MAKERS.items()}
    heading(corpus, len(messages))
    for name, block in blocks.items():
        tokens = f"{len(block.columns) / len(block):.0f} tokens a message, {len(block.keys):,} in all"
        print(folds_row(f"{name} ({tokens})", block, Way()), flush=True)
    few_heading(corpus, len(messages))
    for name, block in blocks.items():
        print(few_row(name, block, Way()), flush=True)
    if corpus == "spamassassin":
        for title, a_row in ((LATER, future_row), (REPLAY, replay_row)):
            heading(title, len(messages))
            for name, block in blocks.items():
                print(a_row(name, block, Way()), flush=True)


if __name__ == "__main__":
    hidden({name: (maker, Way()) for name, maker in MAKERS.items()})
    for corpus in CORPORA:
        tables(corpus)
    whole({name: (MAKERS[name], Way()) for name in (KEPT, NONE)})
