"""What each mechanism of the default model gains: the program with it and without it, on two sources.

    make experiment-trials                 all mechanisms
    python -m experiments.trials NAME...   those whose name contains one of the words

A mechanism is taken out in one of three ways: its tokens are dropped, a setting is changed, or names of the
program are replaced before worker processes are forked.  The differences of log loss (absent less
present: positive if the mechanism helps) have a 95 % interval of the means of 50 messages in a row, because
judgements that follow each other depend on each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from experiments.corpora import corpus_folder
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.executor import run_shards
from nbspam.corpus.labelled import open_labelled
from nbspam.evaluation.figures import ranking_percent
from nbspam.evaluation.outcomes import Evaluation
from nbspam.evaluation.replay import Feedback
from nbspam.evaluation.samples import Judgement, take_all
from nbspam.model.block import drop_columns, merge_blocks, select_rows
from nbspam.model.counts import split_texts
from nbspam.settings import Settings
from nbspam.tasks.evaluate import evaluate_folds, evaluate_holdout, evaluate_replay
from nbspam.tasks.plan import Plan
from nbspam.tokens.bag import MEASURE_NAMES

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
    lines: int = 0
    drop: Callable[[str], bool] | None = None
    settings: Mapping[str, Any] = MappingProxyType({})
    patches: Mapping[str, Any] = MappingProxyType({})


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


def read() -> tuple[Corpus, Corpus]:
    """Both sources, read by the program as it is now: SpamAssassin by date, trec06p_late."""
    by_date = open_labelled([str(corpus_folder("spamassassin", "sa") / "index.bydate")])
    late = open_labelled([str(corpus_folder("trec06p_late", "trec06p_late") / "index")])
    one, other = (
        read_corpus(source.items(), source.classes, JOBS, True, None, Settings().wanted)
        for source in (by_date, late)
    )
    return one, other


def without(corpus: Corpus, trial: Trial) -> Corpus:
    """The messages without the tokens of a mechanism."""
    if trial.drop is None:
        return corpus
    texts = split_texts(corpus.block.texts, len(corpus.block.keys))
    kept = np.array([not trial.drop(text.decode()) for text in texts])
    return corpus._replace(block=merge_blocks([drop_columns(corpus.block, kept)]))


def training_part(corpus: Corpus) -> Corpus:
    """The messages of SpamAssassin's train.index."""
    folder = corpus_folder("spamassassin", "sa")
    names = {str(folder / line.split()[1]) for line in (folder / "train.index").read_text().splitlines()}
    rows = np.array([row for row, name in enumerate(corpus.block.names) if name in names])
    identities = [corpus.identities[row] for row in rows.tolist()]
    return corpus._replace(block=merge_blocks([select_rows(corpus.block, rows)]), identities=identities)


def judged(trial: Trial, sources: tuple[Corpus, Corpus]) -> list[Judged]:
    """What comes of each of SETTINGS."""
    plan = Plan(Settings().replaced(**trial.settings))
    by_date, late = (without(corpus, trial) for corpus in sources)
    ways: tuple[Callable[[], Evaluation], ...] = (
        lambda: evaluate_folds(training_part(by_date), plan, 10),
        lambda: evaluate_replay(by_date, plan, Feedback()),
        lambda: evaluate_replay(late, plan, Feedback()),
        lambda: evaluate_holdout(late, plan, 0.5, by_time=True),
    )

    def figures(number: int) -> Judged:
        evaluation = ways[number]()
        return Judged(Judgement(evaluation).log_losses, ranking_percent(take_all(evaluation)))

    return list(run_shards(figures, range(len(ways)), JOBS))


def difference(changed: Judged, present: Judged) -> str:
    """Thousandths of a nat with its interval, and (1-ROCA)% present -> absent."""
    gained = 1000 * (changed.losses - present.losses)
    means = [part.mean() for part in np.array_split(gained, len(gained) // IN_A_ROW)]
    half = 1.96 * np.std(means, ddof=1) / len(means) ** 0.5
    low, middle, high = (gained.mean() + side * half for side in (-1, 0, 1))
    return f"{middle:+.2f} ({low:+.2f} to {high:+.2f}); {present.ranking:.4f} -> {changed.ranking:.4f}"


def begins(*marks: str) -> Callable[[str], bool]:
    """Tells the tokens that begin with one of some marks."""
    return lambda text: text.startswith(marks)


def pair_in_subject(text: str) -> bool:
    """Tells the pairs of neighbouring words of a subject."""
    return text.startswith("subject:") and "+" in text


ONE_ALPHA = {
    "nbspam.settings.Settings.alphas": property(lambda settings: (settings.alpha,)),
    "nbspam.settings.Settings.kinds": property(lambda settings: ("evidence", "measure")),
}
TRIALS = (
    Trial("second λ", 10, patches=ONE_ALPHA),
    Trial("repeats", 8, patches={"nbspam.model.views.MOST_TIMES": 1}),
    Trial("dilution by unknown tokens", 6, settings={"diluted": False}),
    Trial("damping of strange mail", 60, settings={"damped": False}),
    Trial("cap on evidence for ham", 20, settings={"capped": False}),
    Trial("bigrams", 50, settings={"bigrams": False}),
    Trial("raw bytes", 80, settings={"raw": False}),
    Trial("pairs in the subject", 1, pair_in_subject),
    Trial("marks of the subject", 8, begins("subject:#", "subject:!", "subject:?")),
    Trial("names of fields", 2, begins("field:")),
    Trial("URLs", 160, begins("url=")),
    Trial("words in paths of URLs", 10, begins("url=/")),
    Trial("marks and ports of URLs", 8, begins("url=#", "url=port:")),
    Trial("order of fields", 20, begins("order=")),
    Trial("types and number of parts", 4, begins("type=", "parts=")),
    Trial("size", 2, begins("size=")),
    Trial("encoding, charset, disposition", 6, begins("encoding=", "charset=", "disposition=")),
    Trial("names of files", 15, begins("ending=", "file=")),
    Trial("attached types, true kinds", 15, begins("attached=", "magic=")),
    Trial("defects", 2, begins("defect=")),
    Trial("alternative that differs", 10, begins("alternative=")),
    Trial("words of titles", 2, begins("title=")),
    Trial("words of alt texts", 2, begins("alt=")),
    Trial("links that disagree", 10, begins("link=#")),
    Trial("schemes of images", 3, begins("image=")),
    Trial("comments, joined words", 4, begins("comments=", "joined=")),
    Trial("marks of zero width", 15, lambda text: text.endswith(("zero-width=#", "#zero-width"))),
    Trial("letters spelled one by one", 20, begins("spaced=")),
    Trial("all measures", 240, settings={"measures": False}),
    *(Trial(f"measure {name}", 5, begins(f"{name}<", f"{name}>=", f"{name}=none")) for name in MEASURE_NAMES),
)


def main(asked: list[str]) -> None:
    """Prints the table."""
    sources = read()
    present = judged(Trial("nothing"), sources)
    print("| taken out | lines |", *(f"{name} |" for name in SETTINGS))
    print("|---|---:|" + "---|" * len(SETTINGS), flush=True)
    for trial in TRIALS:
        if asked and not any(word in trial.name for word in asked):
            continue
        with absent(trial):
            found = judged(trial, sources)
        cells = [difference(*pair) for pair in zip(found, present, strict=True)]
        print(f"| {trial.name} | {trial.lines} |", *(f"{cell} |" for cell in cells), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
