"""How many wrong labels `nbspam doctor SOURCE` finds, and what else it lists; docs/experiments/doctor.md.

    make experiment-doctor

Labels drawn at random are swapped.  Nothing here looks at a message of SpamAssassin's test.index.
"""

from __future__ import annotations

import numpy as np

from nbspam.engine.block import Ints
from nbspam.engine.executor import default_jobs
from nbspam.engine.reading import asked_by
from nbspam.settings import Settings
from nbspam.sources import open_labelled
from nbspam.workflow.corpus import Corpus, read_corpus
from nbspam.workflow.doctor.labels_in_doubt import check_labels
from nbspam.workflow.evaluating import duplicate_groups, trained_on
from nbspam.workflow.filters.bulk import count_rows
from tests.experiments.lab import corpus_folder

DRAWS = 5
SWAPPED = (0, 20, 0.05, 0.1)  # messages, or the share of them
CAMPAIGNS = 20  # of at least CAMPAIGN messages, all of each swapped
CAMPAIGN = 3
TAUGHT = (5, 10, 20, 50, 100, 200)  # messages of each class
CORPORA = {
    "SpamAssassin train.index": ("spamassassin", "sa", "train.index", 1),
    "enron": ("enron", "enron", "", 10),
}
ALSO = {"sms": ("sms", "sms", "index", 1)}  # chose nothing


def read(archive: str, top: str, index: str, step: int) -> Corpus:
    """The messages of a corpus, or every step-th."""
    folder = corpus_folder(archive, top)
    source = open_labelled([str(folder / index)])
    items = (item for number, item in enumerate(source.items()) if number % step == 0)
    return read_corpus(items, source.classes, default_jobs(), asked=asked_by(Settings()))


def found_of(corpus: Corpus, truth: Ints, rows: Ints) -> tuple[int, int]:
    """How many of the rows are listed when their labels are swapped, and how many others."""
    labels = truth.copy()
    labels[rows] = 1 - labels[rows]
    corpus.block.labels = labels.astype(np.int16)
    checked = check_labels(corpus)
    assert checked.doubts is not None
    listed = {doubt.name for doubt in checked.doubts}
    listed |= {one.name for group in checked.same for one in group}  # told as contradictions
    swapped = {corpus.block.names[row] for row in rows.tolist()}
    corpus.block.labels = truth.astype(np.int16)
    return len(listed & swapped), len({doubt.name for doubt in checked.doubts} - swapped)


def line(corpus: Corpus, title: str, draws: list[Ints]) -> str:
    """A row of the table: means over the draws."""
    found = [found_of(corpus, corpus.truth().copy(), rows) for rows in draws]
    hits, others = np.mean(found, axis=0)
    swapped = float(np.mean([len(rows) for rows in draws]))
    return f"| {title} | {swapped:,.0f} | {hits:,.1f} | {others:,.1f} |"


def swaps(corpus: Corpus) -> None:
    """Labels swapped one by one, and campaign by campaign."""
    n = len(corpus.block)
    for many in SWAPPED:
        size = many if isinstance(many, int) else round(many * n)
        title = f"{many} labels" if isinstance(many, int) else f"{100 * many:.0f} % of the labels"
        draws = [
            np.random.default_rng(seed).choice(n, size, replace=False) for seed in range(DRAWS if size else 1)
        ]
        print(line(corpus, title, draws), flush=True)
    groups = duplicate_groups(corpus)
    sizes = np.bincount(groups)
    large = np.flatnonzero(sizes >= CAMPAIGN)
    drawn = [
        np.random.default_rng(seed).choice(large, min(CAMPAIGNS, len(large)), replace=False)
        for seed in range(DRAWS)
    ]
    title = f"{CAMPAIGNS} whole campaigns"
    print(line(corpus, title, [np.flatnonzero(np.isin(groups, some)) for some in drawn]), flush=True)


def few(corpus: Corpus) -> None:
    """Mistakes of filters that were taught few messages."""
    truth, whole = corpus.truth(), count_rows(corpus.block, 2)
    for taught in TAUGHT:
        rates = []
        for seed in range(DRAWS):
            random = np.random.default_rng(seed)
            some = [random.choice(np.flatnonzero(truth == k), taught, replace=False) for k in (0, 1)]
            train = np.sort(np.concatenate(some))
            rows = np.setdiff1d(np.arange(len(truth)), train)
            decided = trained_on(corpus, whole, train, Settings()).scores(rows).argmax(axis=1)
            wrong = decided != truth[rows]
            rates.append([100 * wrong[truth[rows] == k].mean() for k in (0, 1)])
        lost, missed = np.mean(rates, axis=0)
        print(f"| {taught} | {lost:.1f} | {missed:.1f} |", flush=True)


def main() -> None:
    """Prints the tables."""
    for name, where in (CORPORA | ALSO).items():
        corpus = read(*where)
        print(f"\n{name}, {len(corpus.block):,} messages\n")
        print("| swapped | messages | of these listed | others listed |\n|---|---:|---:|---:|")
        swaps(corpus)
        if name in CORPORA:
            print("\n| messages of each class | ham lost, % | spam missed, % |\n|---|---:|---:|")
            few(corpus)


if __name__ == "__main__":
    main()
