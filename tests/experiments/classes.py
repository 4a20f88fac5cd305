"""More than two classes: how good the filter is, and what the weights between the classes are worth.

make experiment-classes
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.special import log_softmax

from nbspam.engine.accumulator import select_rows
from nbspam.engine.block import Block
from nbspam.engine.corpus import only_views
from nbspam.engine.reading import asked_by
from nbspam.evaluation.folds import fold_splits, stratified_folds
from nbspam.scoring import calibration
from nbspam.settings import Settings
from nbspam.workflow.filters.bulk import BulkFilter, count_rows
from nbspam.workflow.fixed_words import views_read
from tests.experiments.lab import DRAWS, FOLDS, JUDGED, corpus_folder
from tests.peers import scikit_learn
from tests.peers.common import Messages, read_messages

FEW = (100, 400)  # messages that train
LEAST = 1e-12  # a probability of nought would make the log loss infinite
Rows = tuple[Any, Any]  # that train, that are judged
Judge = Callable[[Any, Any], Any]  # -> log P(class | message), float64 (n_judged, n_classes)


def collection(path: Path) -> str:
    """easy_ham, easy_ham_2, hard_ham, spam or spam_2: which of SpamAssassin's collections a message is of."""
    return path.name.partition("-")[0]


def owner(path: Path) -> str:
    """Whose mailbox a message of enron is from; spam is spam."""
    return "spam" if path.parent.name == "spam" else path.name.split(".")[2]


def corpus_and_label(path: Path) -> str:
    """Where a message is from and what it is, such as sms-ham."""
    return f"{path.parent.parent.name}-{path.parent.name}"


SETS: dict[str, tuple[Callable[[Path], str], list[tuple[str, str, int]]]] = {
    "spamassassin by collection": (collection, [("spamassassin", "sa", 1)]),
    "enron by owner": (owner, [("enron", "enron", 3)]),
    "three corpora, ham and spam": (
        corpus_and_label,
        [("ccert_zh", "ccert_zh", 6), ("enron", "enron", 12), ("sms", "sms", 3)],
    ),
}
WAYS: dict[str, Settings] = {
    "multinomial, λ = 1": Settings(event_model="multinomial"),
    "complement, λ = 1": Settings(event_model="complement"),
}


def paths(folder: Path, step: int) -> Iterator[Path]:
    """Every step-th message of a corpus; of one with a training half, those of that."""
    index = folder / "train.index"
    if index.exists():
        found = [folder / line.split()[1] for line in index.read_text().splitlines()]
        yield from found[::step]
        return
    for label in ("ham", "spam"):
        yield from sorted((folder / label).iterdir())[::step]


def read(name: str) -> Messages:
    """The messages of a set."""
    label, corpora = SETS[name]
    with tempfile.TemporaryDirectory() as made:
        index = Path(made) / "index"
        lines = []
        for archive, top, step in corpora:
            folder = corpus_folder(archive, top)
            lines += [f"{label(path)} {path.absolute()}\n" for path in paths(folder, step)]
        index.write_text("".join(lines))
        return read_messages(str(index), asked_by(Settings()))


def ours(block: Block, classes: tuple[str, ...], settings: Settings) -> Judge:
    """nbspam, one way of scoring."""
    block = only_views(block, views_read(settings))

    def judge(train: Any, rows: Any) -> Any:
        counts = count_rows(select_rows(block, train), len(classes))
        return log_softmax(BulkFilter(block, train, counts, settings, classes).scores(rows), axis=1)

    return judge


def apart(judge: Judge) -> Judge:
    """nbspam without the weights between the classes."""

    def alone(train: Any, rows: Any) -> Any:
        with mock.patch.object(calibration, "MAX_ALIKE", 2):
            return judge(train, rows)

    return alone


def theirs(messages: Messages, event_model: str) -> Judge:
    """scikit-learn's naive Bayes over the words of the files."""
    batch = scikit_learn.Batch(event_model, messages)

    def judge(train: Any, rows: Any) -> Any:
        found = batch(train.tolist(), rows.tolist())
        return np.log(np.maximum([one[2] for one in found], LEAST))

    return judge


def row(name: str, judge: Judge, splits: list[Rows], labels: Any) -> str:
    """A line of the table: name, share of right ones in per cent, log loss in thousandths of a nat."""
    right, losses = [], []
    for train, rows in splits:
        logs = judge(train, rows)
        right.append(logs.argmax(axis=1) == labels[rows])
        losses.append(-np.maximum(logs[np.arange(len(rows)), labels[rows]], np.log(LEAST)))
    return (
        f"| {name} | {100 * np.concatenate(right).mean():.1f} | {1000 * np.concatenate(losses).mean():.0f} |"
    )


def drawn(labels: Any, few: int, times: int) -> list[Rows]:
    """Some messages drawn at random train, others are judged."""
    orders = [np.random.default_rng(seed).permutation(len(labels)) for seed in range(times)]
    return [(np.sort(order[:few]), order[few : few + JUDGED]) for order in orders]


def of_all_classes(labels: Any, few: int) -> list[Rows]:
    """Draws; one that trains without a message of some class is left out."""
    n_classes = labels.max() + 1
    return [one for one in drawn(labels, few, DRAWS) if len(np.unique(labels[one[0]])) == n_classes]


def main() -> None:
    """Prints the tables."""
    for name in SETS:
        messages = read(name)
        labels = np.asarray(messages.corpus.truth())
        read_as = partial(ours, messages.corpus.block, messages.corpus.classes)
        kept = read_as(Settings())
        judges = {"kept": kept, "each class by its own evidence": apart(kept)}
        judges |= {way: read_as(settings) for way, settings in WAYS.items()}
        judges |= {f"scikit-learn's {model}": theirs(messages, model) for model in scikit_learn.MODELS}
        splits = {f"{FOLDS} folds": [*fold_splits(stratified_folds(labels, FOLDS, 0))]}
        splits |= {f"{few} messages train, {JUDGED:,} are judged": of_all_classes(labels, few) for few in FEW}
        for how, of_way in splits.items():
            size = f"{len(messages.corpus.classes)} classes, {len(labels):,} messages"
            print(f"\n{name}: {size}, {how}\n\n| | right, % | log loss, 1/1000 |\n|---|---|---|", flush=True)
            for title, judge in judges.items():
                print(row(title, judge, of_way, labels), flush=True)


if __name__ == "__main__":
    main()
