"""What every peer needs: the messages of a source, the same splits as nbspam, the same summary.

Order, folds, feedback and figures are those of nbspam.  A peer gives bytes a score.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nbspam.cli.evaluate import show_evaluation
from nbspam.corpus.corpus import Corpus, in_time, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.reading import WORDS
from nbspam.evaluation import folds as splitting
from nbspam.evaluation.figures import summary
from nbspam.evaluation.formats import result_lines, to_json
from nbspam.evaluation.outcomes import Evaluation, Outcome, evaluation_of
from nbspam.evaluation.replay import Filter, Replay, parse_feedback, replay
from nbspam.files import whole_file
from nbspam.model.block import merge_blocks


class Messages(NamedTuple):
    """A corpus as nbspam reads it, and the bytes of each of its rows."""

    corpus: Corpus
    contents: list[bytes]


def read_messages(path: str, wanted: frozenset[str] = WORDS) -> Messages:
    """All messages of a labelled source; the corpus holds what is asked for besides words."""
    source = open_labelled([path])
    items = list(source.items())
    corpus = read_corpus(items, source.classes, 2, source.ordered_by_index, wanted=wanted)
    lost = {name for name, _ in corpus.skipped}
    return Messages(corpus, [item.read() for item in items if item.name not in lost])


def arguments(doing: str) -> argparse.ArgumentParser:
    """The options that all peers have."""
    parser = argparse.ArgumentParser(description=doing)
    parser.add_argument("source")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--folds", type=int, default=10)
    how.add_argument("--replay", action="store_true")
    how.add_argument("--test", metavar="SOURCE", help="train on the first source, judge this one")
    parser.add_argument("--feedback", default="immediate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", metavar="FILE")
    parser.add_argument("--save", metavar="FILE.json")
    parser.add_argument("--json", action="store_true")
    return parser


def judged(
    messages: Messages, rows: list[int], outcomes: list[Outcome], method: str, **more: Any
) -> Evaluation:
    """The evaluation of the outcomes of some rows, in the order judged."""
    corpus = messages.corpus
    names = [corpus.block.names[row] for row in rows]
    return evaluation_of(corpus.classes, method, names, corpus.truth()[rows], outcomes, **more)


def by_folds(
    messages: Messages,
    n_folds: int,
    seed: int,
    judge: Callable[[list[int], list[int]], Sequence[Outcome]],
    settings: dict[str, str],
) -> Evaluation:
    """judge(rows to train on, rows to judge) for the folds that `nbspam eval --folds` makes."""
    fold = splitting.stratified_folds(messages.corpus.truth(), n_folds, seed)
    outcomes: dict[int, Outcome] = {}
    for train, rows in splitting.fold_splits(fold):
        outcomes |= zip(rows.tolist(), judge(train.tolist(), rows.tolist()), strict=True)
    every = list(range(len(fold)))
    more = {"digest": messages.corpus.digest(), "settings": settings | {"folds": n_folds}, "folds": fold}
    return judged(messages, every, [outcomes[row] for row in every], "folds", **more)


def by_replay(
    messages: Messages,
    make: Callable[[list[int]], Filter],
    feedback: str,
    seed: int,
    settings: dict[str, str],
) -> Evaluation:
    """The replay of `nbspam eval --replay`: make(order) gives the filter to drive."""
    order, reason = in_time(messages.corpus)
    truth = messages.corpus.truth()[order].tolist()
    watched = sys.stderr.isatty()

    def progress(_: int, done: list[int] = [0]) -> None:  # noqa: B006  a counter
        done[0] += 1
        if watched and done[0] % 100 == 0:
            sys.stderr.write(f"\r{done[0]:,} of {len(truth):,}")

    run: Replay = replay(truth, make(order.tolist()), parse_feedback(feedback), seed, progress=progress)
    more = {"settings": settings | {"feedback": feedback, "order": reason}, "trained": len(run.learned)}
    digest = messages.corpus.digest()
    return judged(messages, order.tolist(), run.outcomes, "replay", digest=digest, **more)


def by_split(
    first: Messages,
    second: Messages,
    judge: Callable[[Messages, list[int], list[int]], list[Outcome]],
    settings: dict[str, str],
) -> Evaluation:
    """judge(both sources as one, rows of the first, rows of the second): a split that others made."""
    both, train, rows = joined(first, second)
    return judged(both, rows, judge(both, train, rows), "holdout", settings=settings, trained=len(train))


def finish(evaluation: Evaluation, options: argparse.Namespace) -> None:
    """Writes what was asked for and shows the figures."""
    if options.results:
        with whole_file(options.results) as file:
            file.writelines(f"{line}\n".encode() for line in result_lines(evaluation))
    if options.save:
        with whole_file(options.save) as file:
            file.write(to_json(evaluation))
    found = summary(evaluation)
    if options.json:
        print(json.dumps(found))
    else:
        show_evaluation(evaluation, found, False)


def joined(first: Messages, second: Messages) -> tuple[Messages, list[int], list[int]]:
    """Two sources as one, and the rows of each."""
    if first.corpus.classes != second.corpus.classes:
        raise SystemExit("the classes of both sources differ")
    both = Corpus(
        merge_blocks([first.corpus.block, second.corpus.block]),
        first.corpus.classes,
        first.corpus.identities + second.corpus.identities,
        [],
        False,
    )
    train = np.arange(len(first.contents))
    rows = np.arange(len(second.contents)) + len(train)
    return Messages(both, first.contents + second.contents), train.tolist(), rows.tolist()
