"""What a model that many share is worth to who has little mail; the tables of docs/experiments/shared.md.

make experiment-shared
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nbspam.labels import HAM_AND_SPAM
from nbspam.scoring.scorer import Counted
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.counting import counted_message
from nbspam.workflow.learning import learn_all
from nbspam.workflow.prior_model import PriorModel
from nbspam.workflow.training import Choices, train
from tests.experiments.lab import corpus_folder, heading, means, row

OTHERS = (500, 3_000)  # messages of each of the other mailboxes that make the shared model
OWN = (25, 100, 400)  # messages drawn from the mailbox that somebody has sorted
JUDGED = 800
WEIGHTS = (100, 500)  # messages that the shared model counts for where it is a prior


class Mailbox(NamedTuple):
    """Some mail of one of Enron's owners, in an order of chance."""

    items: list[Item]
    labels: Any
    counted: list[Counted]

    def learn(self, model: Path, rows: Any) -> None:
        """Learns these messages one after the other, as `nbspam learn` does."""
        for i in rows:
            learn_all(str(model), self.items[i].label, [self.items[i].read()])

    def log_odds(self, model: Path, rows: Any) -> Any:
        """What a model says of them."""
        classifier = open_classifier(str(model))
        found = [classifier.judge(self.counted[i], "").log_odds for i in rows]
        classifier.model.close()
        return np.array(found)


def mailboxes() -> dict[str, Mailbox]:
    """enron1 ... enron6."""
    found = corpus_folder("enron", "enron")
    by_owner: dict[str, list[Item]] = {}
    for item in open_labelled([str(found)]).items():
        by_owner.setdefault(Path(item.name).name.partition("-")[0], []).append(item)
    drawn = np.random.default_rng(0)
    return {
        owner: _mailbox([items[i] for i in drawn.permutation(len(items))])
        for owner, items in sorted(by_owner.items())
    }


def _mailbox(items: list[Item]) -> Mailbox:
    some = items[: max(OTHERS)]
    labels = np.array([HAM_AND_SPAM.index(item.label) for item in some])
    return Mailbox(some, labels, [counted_message(item.read(), Settings()) for item in some])


def trained(items: list[Item], path: Path, prior: Path | None = None, weight: float = 0) -> Path:
    """`nbspam train`, on a prior model if there is one."""
    if prior is None:
        train(items, HAM_AND_SPAM, str(path), Settings())
    else:
        with PriorModel(str(prior), weight, HAM_AND_SPAM) as model:
            train(items, HAM_AND_SPAM, str(path), Settings(), choices=Choices(prior=model))
    return path


def copied(model: Path, path: Path) -> Path:
    """A copy that may learn."""
    shutil.copy(model, path)
    return path


def ways(own: Mailbox, shared: Path, made: Path) -> Iterator[tuple[str, Any]]:
    """(name, log-odds of the judged) by each way to begin."""
    judged = range(max(OWN), max(OWN) + JUDGED)
    yield "shared, nothing of one's own", own.log_odds(shared, judged)
    for size in OWN:
        told, path = own.items[:size], made / "model"
        yield f"{size} of one's own alone", own.log_odds(trained(told, path), judged)
        model = copied(shared, path)
        own.learn(model, range(size))
        yield f"a copy of the shared one learns {size}", own.log_odds(model, judged)
        model = copied(shared, path)
        for i in range(size):
            if (own.log_odds(model, [i])[0] > 0) != own.labels[i]:
                own.learn(model, [i])
        yield f"a copy learns its mistakes among {size}", own.log_odds(model, judged)
        for weight in WEIGHTS:
            model = trained(told, path, shared, weight)
            yield f"{size} on the shared one as prior model, weight {weight}", own.log_odds(model, judged)


def table(found: dict[str, Mailbox], size: int, made: Path) -> None:
    """Each mailbox begins with what the others taught, `size` messages of each."""
    heading("enron, five mailboxes share a model and the sixth is judged: means over six", 5 * size)
    rows: dict[str, list[str]] = {}
    for owner, own in found.items():
        others = [item for other, box in found.items() if other != owner for item in box.items[:size]]
        for way, scores in ways(own, trained(others, made / "shared"), made):
            judged = own.labels[max(OWN) : max(OWN) + JUDGED]
            rows.setdefault(way, []).append(row("", scores, judged))
    for way, lines in rows.items():
        print(means(way, lines), flush=True)


def main() -> None:
    """Prints the tables."""
    found = mailboxes()
    with tempfile.TemporaryDirectory() as name:
        for size in OTHERS:
            table(found, size, Path(name))


if __name__ == "__main__":
    main()
