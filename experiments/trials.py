"""What each mechanism of the default model gains: the program with it and without it, on two sources.

    make experiment-trials                 all mechanisms
    python -m experiments.trials NAME...   those whose name contains one of the words

A mechanism is taken out in one of three ways: its tokens are dropped, a setting is changed, or functions of
the program are replaced before worker processes are forked.  The differences of log loss (absent less
present: positive if the mechanism helps) have a 95 % interval of the means of 50 messages in a row, because
judgements that follow each other depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from experiments.corpora import corpus_folder
from nbspam.engine.accumulator import select_rows
from nbspam.engine.corpus import used_columns, without_columns
from nbspam.engine.executor import run_shards
from nbspam.engine.reading import asked_by
from nbspam.engine.texts import split_texts
from nbspam.evaluation.metrics import log_loss_terms, mean_one_minus_roca, rankings
from nbspam.evaluation.outcomes import Evaluation
from nbspam.evaluation.replay import Feedback
from nbspam.settings import Settings
from nbspam.sources import open_labelled
from nbspam.workflow.corpus import Corpus, read_corpus
from nbspam.workflow.evaluating import Plan, evaluate_folds, evaluate_holdout
from nbspam.workflow.replaying import evaluate_replay

JOBS = 2
IN_A_ROW = 50  # messages whose mean difference is one observation
SETTINGS = ("SpamAssassin, 10 folds", "SpamAssassin, replay", "trec06p_late, replay", "trec06p_late, halves")


class Trial(NamedTuple):
    """A mechanism, and how it is taken out.

    lines    : of code, that it costs
    drop     : whether a token is one of its own
    settings : that are changed
    patches  : dotted name -> what takes its place
    """

    name: str
    lines: int
    drop: Callable[[str], bool] | None = None
    settings: dict[str, Any] = {}
    patches: dict[str, Any] = {}


class Judged(NamedTuple):
    """The log loss of each message in the order judged, nats, and (1-ROCA)%."""

    losses: Any
    ranking: float


@contextmanager
def absent(trial: Trial) -> Iterator[None]:
    """The program without what a trial replaces."""
    with ExitStack() as stack:
        for name, other in trial.patches.items():
            stack.enter_context(mock.patch(name, other))
        yield


def read(trial: Trial) -> tuple[Corpus, Corpus]:
    """Both sources, read by the program as it is now: SpamAssassin by date, trec06p_late."""
    folders = (corpus_folder("spamassassin", "sa") / "index.bydate",
               corpus_folder("trec06p_late", "trec06p_late") / "index")  # fmt: skip
    found = []
    for index in folders:
        source = open_labelled([str(index)])
        found.append(read_corpus(source.items(), source.classes, JOBS, True, None, asked_by(Settings())))
    return found[0], found[1]


def without(corpus: Corpus, trial: Trial) -> Corpus:
    """The messages without the tokens of a mechanism."""
    if trial.drop is None:
        return corpus
    texts = split_texts(corpus.block.texts, len(corpus.block.keys))
    kept = np.array([not trial.drop(text.decode()) for text in texts])
    return corpus._replace(block=used_columns(without_columns(corpus.block, kept)))


def training_part(corpus: Corpus) -> Corpus:
    """The messages of SpamAssassin's train.index."""
    folder = corpus_folder("spamassassin", "sa")
    names = {str(folder / line.split()[1]) for line in (folder / "train.index").read_text().splitlines()}
    rows = np.array([row for row, name in enumerate(corpus.block.names) if name in names])
    identities = [corpus.identities[row] for row in rows.tolist()]
    return corpus._replace(block=used_columns(select_rows(corpus.block, rows)), identities=identities)


def judged(trial: Trial, sources: tuple[Corpus, Corpus]) -> list[Judged]:
    """What comes of each of SETTINGS."""
    plan = Plan(Settings().replaced(**trial.settings))
    by_date, late = (without(corpus, trial).seen_by(plan.settings) for corpus in sources)
    ways: tuple[Callable[[], Evaluation], ...] = (
        lambda: evaluate_folds(training_part(by_date), plan, 10),
        lambda: evaluate_replay(by_date, plan, Feedback()),
        lambda: evaluate_replay(late, plan, Feedback()),
        lambda: evaluate_holdout(late, plan, 0.5, by_time=True),
    )

    def figures(number: int) -> Judged:
        columns = ways[number]().columns
        return Judged(log_loss_terms(columns), 100 * mean_one_minus_roca(rankings(columns)))

    found = dict(zip(order := (2, 0, 1, 3), run_shards(figures, order, JOBS), strict=True))  # longest first
    return [found[number] for number in range(len(SETTINGS))]


def difference(absent_: Judged, present: Judged) -> str:
    """Thousandths of a nat with its interval, and (1-ROCA)% present -> absent."""
    gained = 1000 * (absent_.losses - present.losses)
    means = [part.mean() for part in np.array_split(gained, len(gained) // IN_A_ROW)]
    half = 1.96 * np.std(means, ddof=1) / len(means) ** 0.5
    middle = gained.mean()
    return (f"{middle:+.2f} ({middle - half:+.2f} to {middle + half:+.2f}); "
            f"{present.ranking:.4f} -> {absent_.ranking:.4f}")  # fmt: skip


def begins(*marks: str) -> Callable[[str], bool]:
    """Tells the tokens that begin with one of some marks."""
    return lambda text: text.startswith(marks)


def main(asked: list[str]) -> None:
    """Prints the table."""
    present_sources = read(Trial("", 0))
    present = judged(Trial("", 0), present_sources)
    print("| taken out | lines |", *(f"{name} |" for name in SETTINGS))
    print("|---|---:|" + "---|" * len(SETTINGS), flush=True)
    for trial in TRIALS:
        if asked and not any(word in trial.name for word in asked):
            continue
        with absent(trial):
            changed = judged(trial, read(trial) if trial.patches else present_sources)
        cells = [difference(*pair) for pair in zip(changed, present, strict=True)]
        print(f"| {trial.name} | {trial.lines} |", *(f"{cell} |" for cell in cells), flush=True)
