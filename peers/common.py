"""What every peer needs: the messages of a source, the same splits as nbspam, the same summary.

Order, folds, feedback and figures are those of nbspam.  A peer gives bytes a score.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np

from nbspam.cli.evaluate import show_evaluation
from nbspam.cli.progress import steps
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.reading import WORDS
from nbspam.evaluation import folds as splitting
from nbspam.evaluation.figures import summarise
from nbspam.evaluation.formats import encode_evaluation, format_result_lines
from nbspam.evaluation.outcomes import Evaluation, Ints, Outcome
from nbspam.evaluation.replay import ReplayFilter, parse_feedback
from nbspam.files import open_whole_file
from nbspam.model.block import merge_blocks
from nbspam.tasks.evaluate import evaluate_rows, replay_corpus

MEMORY = "/dev/shm"
Judge = Callable[[list[int], list[int]], Sequence[Outcome]]  # of rows to train on, and rows to judge


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


def make_parser(doing: str) -> argparse.ArgumentParser:
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


class OneByOne(Protocol):
    """A filter of bytes."""

    def learn(self, data: bytes, label: str) -> None:
        """Learn one message."""

    def score(self, data: bytes) -> float:
        """The filter's score of spam, 0 to 1; 0.5 if it cannot tell."""


class InReplay:
    """A filter of bytes as evaluation.replay drives it.

    decide : from its score to the class, or UNDECIDED
    """

    def __init__(self, subject: OneByOne, messages: Messages, decide: Callable[[float], int]) -> None:
        self._subject, self._decide = subject, decide
        self._contents, self._classes = messages.contents, messages.corpus.classes

    def score(self, message: int) -> Outcome:
        score = self._subject.score(self._contents[message])
        return make_outcome(score, self._decide(score))

    def learn(self, message: int, label: int) -> None:
        self._subject.learn(self._contents[message], self._classes[label])


def make_outcome(score: float, decided: int) -> Outcome:
    """The score serves as probability; at 0 and 1 there are no log-odds."""
    odds = log(score) - log(1 - score) if 0 < score < 1 else None
    return Outcome(decided, odds, (1 - score, score))


def make_scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder, in memory if that is possible: a data base there costs no disk."""
    return tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None)


def evaluate(
    options: argparse.Namespace,
    settings: dict[str, Any],
    make_judge: Callable[[Messages], Judge],
    make_replayed: Callable[[Messages], ReplayFilter],
    read: Callable[[str], Messages] = read_messages,
) -> Evaluation:
    """The evaluation that the options ask for.

    make_judge    : makes what judges folds, or the second of two sources
    make_replayed : makes what a replay drives
    """
    messages = read(options.source)
    if options.replay:
        feedback, settings = parse_feedback(options.feedback), settings | {"seed": options.seed}
        with steps("Replay", len(messages.contents)) as advance:
            return replay_corpus(
                messages.corpus, make_replayed(messages), feedback, settings, progress=advance
            )
    if options.test:
        both, train, rows = join_messages(messages, read(options.test))
        outcomes = make_judge(both)(train.tolist(), rows.tolist())
        return evaluate_rows(both.corpus, rows, "holdout", outcomes, settings=settings, trained=len(train))
    return evaluate_folds(messages, options.folds, options.seed, make_judge(messages), settings)


def evaluate_folds(
    messages: Messages, n_folds: int, seed: int, judge: Judge, settings: dict[str, Any]
) -> Evaluation:
    """The folds that `nbspam eval --folds` makes."""
    corpus = messages.corpus
    fold = splitting.draw_folds(corpus.truth(), n_folds, seed)
    outcomes: dict[int, Outcome] = {}
    for train, rows in splitting.split_by_fold(fold):
        outcomes |= zip(rows.tolist(), judge(train.tolist(), rows.tolist()), strict=True)
    every = np.arange(len(fold))
    in_order = [outcomes[row] for row in every.tolist()]
    more = {"digest": corpus.digest(), "settings": settings | {"folds": n_folds}, "folds": fold}
    return evaluate_rows(corpus, every, "folds", in_order, **more)


def finish(evaluation: Evaluation, options: argparse.Namespace) -> None:
    """Writes what was asked for and shows the figures."""
    if options.results:
        with open_whole_file(options.results) as file:
            file.writelines(f"{line}\n".encode() for line in format_result_lines(evaluation))
    if options.save:
        with open_whole_file(options.save) as file:
            file.write(encode_evaluation(evaluation))
    found = summarise(evaluation)
    if options.json:
        print(json.dumps(found))
    else:
        show_evaluation(evaluation, found, False)


def join_messages(first: Messages, second: Messages) -> tuple[Messages, Ints, Ints]:
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
    return Messages(both, first.contents + second.contents), train, rows
