"""A bound on what a view may say for ham: what it costs, and what a ham's header or words buy then.

    make experiment-borrowed

Every second message of SpamAssassin's train.index trains; the spam among the others is judged with the header
of a ham, and with words of one.  What a bound costs is measured in folds, on later mail and in a replay.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nbspam.engine.accumulator import select_rows
from nbspam.engine.block import Block
from nbspam.engine.texts import split_texts, take_texts
from nbspam.labels import HAM, SPAM
from nbspam.settings import MOST_FOR_HAM
from nbspam.tokens import VIEWS
from tests.experiments.good_words import GOOD as MOST_GOOD
from tests.experiments.good_words import attacked, halves
from tests.experiments.hostile import (
    GOOD,
    Disguise,
    alone,
    taken_apart,
    with_header_of_ham,
    with_words_behind,
)
from tests.experiments.lab import (
    CORPORA,
    LATER,
    Way,
    as_mail,
    counted,
    few_heading,
    few_row,
    folds_row,
    future_row,
    heading,
    learn,
    mail,
)
from tests.experiments.replayed import REPLAY, Maker, replay_row, whole

ADDED = tuple((f"{n} good words", n, 1) for n in (20, 50, 200))  # name, how many, how often each
NO = np.inf
BOUNDS = {
    "kept: header 2.5 nats, others 3": MOST_FOR_HAM,
    "none": (NO,) * len(VIEWS),
    "header 2.5": (2.5, NO, NO, NO),
    "header 1.8": (1.8, NO, NO, NO),
    "each view 3": (3.0,) * len(VIEWS),
    "each view 2.5": (2.5,) * len(VIEWS),
    "each view 2": (2.0,) * len(VIEWS),
}
OF_ALL = tuple(BOUNDS)[:3]  # the rows of the tables of all messages
DISGUISES: dict[str, Disguise] = {
    "as plain text": alone,
    "header of a ham": with_header_of_ham,
    f"{GOOD} words of a ham": with_words_behind,
}


def hidden(rows: dict[str, tuple[Maker, Way]], added: Iterable[tuple[str, int, int]] = ADDED) -> None:
    """Prints how many spam are missed by each way of making a block and of scoring.

    added : as ADDED, the good words
    """
    past, spam = halves()
    own = [as_mail(item.name, item.label, item.read()) for item in past]
    ham = [taken_apart(item.read()) for item in past if item.label == HAM]
    apart = [taken_apart(data) for data in spam]
    changed = {name: [change(one, ham) for one in apart] for name, change in DISGUISES.items()}
    words = words_of_ham(counted(own))
    changed |= {name: attacked(spam, words, n, times) for name, n, times in added}
    made = [as_mail(name, SPAM, data) for name, mails in changed.items() for data in mails]
    print(
        f"\nspam missed of {len(spam)}\n\n| | " + " | ".join(changed) + " |\n|---|" + "---:|" * len(changed)
    )
    for name, (maker, way) in rows.items():
        block = maker([*own, *made])
        train, judged = (select_rows(block, part) for part in np.split(np.arange(len(block)), [len(own)]))
        missed = [int((part <= 0).sum()) for part in np.split(learn(train, judged, way), len(changed))]
        print(f"| {name} | " + " | ".join(map(str, missed)) + " |", flush=True)


def words_of_ham(block: Block) -> list[str]:
    """Words of the body that the most ham have and no spam."""
    documents, _ = block.totals(2)
    some = np.flatnonzero((block.views == VIEWS.index("body")) & (documents[1] == 0))
    first = some[np.argsort(-documents[0][some], kind="stable")][: 2 * MOST_GOOD]
    texts = [text.decode() for text in split_texts(take_texts(block.texts, first), len(first))]
    return [text for text in texts if text.isalpha()][:MOST_GOOD]


def on_a_sample(corpus: str, ways: dict[str, Way]) -> None:
    """Prints folds and few messages; of SpamAssassin, whose mail is dated, later mail and a replay, too."""
    block = counted(mail(corpus))
    tables = {corpus: folds_row}
    if corpus == "spamassassin":
        tables |= {LATER: future_row, REPLAY: replay_row}
    for title, row_of in tables.items():
        heading(title, len(block))
        for name, way in ways.items():
            print(row_of(name, block, way), flush=True)
    few_heading(corpus, len(block))
    for name, way in ways.items():
        print(few_row(name, block, way), flush=True)


def main() -> None:
    """Prints the tables."""
    ways = {name: Way(for_ham=bound) for name, bound in BOUNDS.items()}
    hidden({name: (counted, way) for name, way in ways.items()})
    for corpus in CORPORA:
        on_a_sample(corpus, ways)
    whole({name: (counted, ways[name]) for name in OF_ALL})


if __name__ == "__main__":
    main()
