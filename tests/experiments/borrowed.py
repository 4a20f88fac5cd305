"""A bound on what the header may say for ham: what it costs, and what the header of a ham buys then.

    make experiment-borrowed

Every second message of SpamAssassin's train.index trains; the spam among the others is judged with the header
of a ham, and with words of one.  What a bound costs is measured in folds, on later mail and in a replay.
"""

from __future__ import annotations

import numpy as np

from nbspam.engine.accumulator import select_rows
from nbspam.labels import HAM, SPAM
from tests.experiments.good_words import halves
from tests.experiments.hostile import (
    GOOD,
    Disguise,
    alone,
    taken_apart,
    with_header_of_ham,
    with_words_behind,
)
from tests.experiments.lab import LATER, Way, as_mail, counted, folds_row, future_row, heading, learn, mail
from tests.experiments.replayed import REPLAY, replay_row

NO = np.inf
BOUNDS = {
    "kept: none": (NO, NO, NO),
    "header 4 nats": (4.0, NO, NO),
    "header 2.5": (2.5, NO, NO),
    "header 1.8": (1.8, NO, NO),
    "header 1.2": (1.2, NO, NO),
    "each view 2.5": (2.5, 2.5, 2.5),
}
DISGUISES: dict[str, Disguise] = {
    "as plain text": alone,
    "header of a ham": with_header_of_ham,
    f"{GOOD} words of a ham": with_words_behind,
}


def hidden(ways: dict[str, Way]) -> None:
    """Prints how many spam are missed."""
    past, spam = halves()
    own = [as_mail(item.name, item.label, item.read()) for item in past]
    ham = [taken_apart(item.read()) for item in past if item.label == HAM]
    apart = [taken_apart(data) for data in spam]
    changed = {name: [change(one, ham) for one in apart] for name, change in DISGUISES.items()}
    made = [as_mail(name, SPAM, data) for name, mails in changed.items() for data in mails]
    block = counted([*own, *made])
    train, ends = select_rows(block, np.arange(len(own))), len(own) + len(spam) * np.arange(len(changed) + 1)
    print(
        f"\nspam missed of {len(spam)}\n\n| | " + " | ".join(changed) + " |\n|---|" + "---:|" * len(changed)
    )
    for name, way in ways.items():
        scores = learn(train, select_rows(block, np.arange(len(own), len(block))), way)
        missed = [int((part <= 0).sum()) for part in np.split(scores, ends[1:-1] - len(own))]
        print(f"| {name} | " + " | ".join(map(str, missed)) + " |", flush=True)


def main() -> None:
    """Prints the tables."""
    ways = {name: Way(for_ham=bound) for name, bound in BOUNDS.items()}
    hidden(ways)
    block = counted(mail("spamassassin"))
    tables = {"spamassassin": folds_row, LATER: future_row, REPLAY: replay_row}
    for title, row_of in tables.items():
        heading(title, len(block))
        for name, way in ways.items():
            print(row_of(name, block, way), flush=True)


if __name__ == "__main__":
    main()
