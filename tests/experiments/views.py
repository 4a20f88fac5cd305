"""How tokens are shared out to views."""

from copy import copy

import numpy as np

from nbspam.engine.block import Block
from nbspam.tokens.bag import MEASURES_VIEW
from tests.experiments.lab import Way, counted, folds_row, heading, mail

HEADER, BODY, STRUCTURE, BIGRAMS, ONE_MORE = range(5)
APART = {
    "kept: header, body, structure, bigrams": {},
    "Received apart": {"received:": ONE_MORE},
    "URLs apart": {"url=": ONE_MORE},
    "From and its kin apart": dict.fromkeys(("from:", "reply-to:", "return-path:", "sender:"), ONE_MORE),
    "Subject apart": {"subject:": ONE_MORE},
    "Subject in the body": {"subject:": BODY},
    "URLs in the body": {"url=": BODY},
    "names of fields apart": {"field:": ONE_MORE},
}


def moved(block: Block, places: dict[str, int]) -> Block:
    """The block with the tokens of some prefixes in other views."""
    new = copy(block)
    new.views = block.views.copy()
    for column, text in enumerate(block.texts.split(b"\n")):
        for mark, view in places.items():
            if text.startswith(mark.encode()):
                new.views[column] = view
    return new


def all_in(block: Block, views: list[int]) -> Block:
    """The block with view v of each token replaced by views[v], but for bigrams and measures."""
    new = moved(block, {})
    new.views = np.array([*views, BIGRAMS, ONE_MORE, MEASURES_VIEW], np.uint8)[block.views]
    return new


if __name__ == "__main__":
    block = counted(mail("spamassassin"))
    heading("spamassassin", len(block))
    for name, places in APART.items():
        print(folds_row(name, moved(block, places), Way()), flush=True)
    whole = Way(strong=(1, 1, 1, 1), weak=(1, 1, 1, 1), at_least=(0, 0, 0, 0))
    for name, views in (
        ("structure in the header", [0, 1, 0]),
        ("structure in the body", [0, 1, 1]),
        ("one bag", [0, 0, 0]),
    ):
        way = whole if views == [0, 0, 0] else Way()
        print(folds_row(name, all_in(block, views), way), flush=True)
