"""Numeric features as evidence: which, in which bins, under which λ, and how freely they are weighed."""

from collections.abc import Callable
from unittest import mock

from nbspam.engine.block import Block
from nbspam.mail import Message
from nbspam.mail.dates import received_date
from nbspam.scoring import calibration
from nbspam.tokens import Bag, tokenize
from nbspam.tokens.measures import BINS, MEASURES, Reading, measure_of
from nbspam.tokens.numeric import NAMES, numeric_features
from tests.experiments.lab import (
    CORPORA,
    LATER,
    Variant,
    Way,
    check_law,
    counted,
    few_heading,
    few_row,
    folds_row,
    future_row,
    heading,
    mail,
)

WAYS = {
    "kept: thirteen, λ = 1": Way(),
    "none": Way(measures=None),
    "λ = 0.3": Way(measures=0.3),
    "λ = 3": Way(measures=3.0),
}
FREEDOMS = {  # weight before any mail, variance; kept are 0.1 and 0.2
    "variance 0.05": (0.1, 0.05),
    "variance 1": (0.1, 1.0),
    "weights begin at 0": (0.0, 0.2),
    "weights begin at 0.3": (0.3, 0.2),
}


def with_others(names: tuple[str, ...]) -> Variant:
    """The bag with other numeric features among the measures, in bins like those of the kept ones."""
    places = [NAMES.index(name) for name in names]
    edges = [BINS["digit_share"] if "share" in name else _bins(name) for name in names]

    def change(message: Message, bag: Bag) -> Bag:
        readings: list[Reading] = []
        tokenize(message, readings)
        values = numeric_features(message, bag, readings, received_date(message))
        more = []
        for name, place, by in zip(names, places, edges, strict=True):
            value = values[place]
            number = "none" if value is None else str(sum(value >= edge for edge in by))
            more.append(f"{name}={number}")
        return Bag(bag.header, bag.body, bag.structure, [*bag.measures, *more])

    return change


def _bins(name: str) -> tuple[float, ...]:
    large = ("attachment_bytes", "text_characters", "words", "line_length")
    return BINS["size"] if name in large else BINS["subject_length"] if "length" in name else BINS["defects"]


def without(name: str) -> Variant:
    """The bag without one of the measures."""
    return lambda message, bag: Bag(
        bag.header, bag.body, bag.structure, [text for text in bag.measures if measure_of(text) != name]
    )


def as_words(message: Message, bag: Bag) -> Bag:
    """The measures among the words of the structure."""
    return Bag(bag.header, bag.body, [*bag.structure, *bag.measures])


OTHERS = tuple(name for name in NAMES if name not in MEASURES)
VARIANTS: dict[str, tuple[Variant, Way]] = {
    **{f"without {name}": (without(name), Way()) for name in MEASURES},
    "all 38 numeric features": (with_others(OTHERS), Way()),
    **{
        f"{name}, too": (with_others((name,)), Way())
        for name in ("capital_share", "line_length", "longest_word", "urls", "images", "hops", "delay")
    },
    "averaged with the words of the structure instead": (as_words, Way(measures=None)),
    "averaged with them, and weighed": (as_words, Way()),
}


def rows_of(block: Block, judge: Callable[[str, Block, Way], str]) -> None:
    """The table of the ways on one block, with the freedoms."""
    for name, way in WAYS.items():
        print(judge(name, block, way), flush=True)
    for name, (first, variance) in FREEDOMS.items():
        with (
            mock.patch.object(calibration, "_FIRST_MEASURE", first),
            mock.patch.dict(calibration._FIRST_VARIANCE, measure=variance),
        ):
            print(judge(name, block, Way()), flush=True)


if __name__ == "__main__":
    messages = {corpus: mail(corpus) for corpus in CORPORA}
    blocks = {corpus: counted(found) for corpus, found in messages.items()}
    check_law(counted(messages["spamassassin"][::10]))
    for corpus, block in blocks.items():
        heading(corpus, len(block))
        rows_of(block, folds_row)
    heading(LATER, len(blocks["spamassassin"]))
    rows_of(blocks["spamassassin"], future_row)
    for corpus, block in blocks.items():
        few_heading(corpus, len(block))
        for name in ("kept: thirteen, λ = 1", "none"):
            print(few_row(name, block, WAYS[name]), flush=True)
    for corpus in ("spamassassin", "sms", "ccert_zh"):
        changed = {name: (counted(messages[corpus], change), way) for name, (change, way) in VARIANTS.items()}
        tables = [(corpus, folds_row)] + [(LATER, future_row)] * (corpus == "spamassassin")
        for title, judge in tables:
            heading(title, len(blocks[corpus]))
            print(judge("kept", blocks[corpus], Way()), flush=True)
            for name, (block, way) in changed.items():
                print(judge(name, block, way), flush=True)
