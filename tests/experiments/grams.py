"""Pieces of words: runs of characters of the text, in a view of their own."""

from nbspam.engine.block import Block
from nbspam.mail import Message
from nbspam.tokens import Bag
from nbspam.tokens.bag import EDGE
from tests.experiments.lab import (
    CORPORA,
    LATER,
    Mail,
    Variant,
    Way,
    counted,
    folds_row,
    future_row,
    heading,
    mail,
)
from tests.experiments.replayed import REPLAY, replay_row
from tests.experiments.views import ONE_MORE, moved

NEW_COUNT, NEW_DO_NOT = "gram=", EDGE + "gram="  # whether new ones are part of the share of unknown tokens


def grams(size: int, characters: int, mark: str) -> Variant:
    """Runs of `size` characters among the first of the visible words."""

    def change(_: Message, bag: Bag) -> Bag:
        text = "_".join(bag.body)[:characters]
        found = [mark + text[i : i + size] for i in range(len(text) - size + 1)]
        return Bag(bag.header, bag.body, [*bag.structure, *found], bag.measures)

    return change


VARIANTS: dict[str, Variant | None] = {
    "kept: none": None,
    "5 of the first 500": grams(5, 500, NEW_DO_NOT),
    "5 of the first 500, new ones are unknown tokens, too": grams(5, 500, NEW_COUNT),
    "4 of the first 1,500": grams(4, 1500, NEW_DO_NOT),
}


def variant_of(messages: list[Mail], variant: Variant | None) -> Block:
    """The block of the messages, the runs of characters in a fourth view."""
    block = counted(messages, variant)
    return moved(block, {NEW_COUNT: ONE_MORE, NEW_DO_NOT: ONE_MORE}) if variant else block


if __name__ == "__main__":
    for corpus in CORPORA:
        messages = mail(corpus)
        heading(corpus, len(messages))
        for name, variant in VARIANTS.items():
            block = variant_of(messages, variant)
            print(folds_row(f"{name} ({len(block.keys):,} tokens)", block, Way()), flush=True)
    messages = mail("spamassassin")
    heading(LATER, len(messages))
    for name, variant in VARIANTS.items():
        print(future_row(name, variant_of(messages, variant), Way()), flush=True)
    heading(REPLAY, len(messages))
    for name, variant in VARIANTS.items():
        print(replay_row(name, variant_of(messages, variant), Way()), flush=True)
