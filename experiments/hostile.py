"""What a spammer gains by disguising a spam.

    make experiment-hostile

Every second message of SpamAssassin's train.index trains; the spam among the others is judged as it is, and
after each disguise, also by a filter without the cap on evidence for ham.  Nothing here looks at a message of
test.index.
"""

from __future__ import annotations

import shutil
import tempfile
from math import inf
from pathlib import Path
from unittest import mock

from experiments.corpora import corpus_folder
from experiments.disguises import Loot, disguise_all, find_ham_words
from nbspam.corpus.item import Item
from nbspam.corpus.labelled import open_labelled
from nbspam.filter import open_filter
from nbspam.labels import HAM, SPAM
from nbspam.settings import HAM_CAP, Settings
from nbspam.store.reader import open_model
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from peers.bogofilter import SPAM_CUTOFF, Bogofilter

PEER_CUTS = {"bogofilter, above 0.5": 0.5, "bogofilter, not unsure": SPAM_CUTOFF}


def missed(past: list[Item], mails: list[list[bytes]], cap_nats: float, model: str) -> list[int]:
    """How many messages of each list a model of the past does not call spam, under a cap on ham evidence."""
    with mock.patch("nbspam.settings.HAM_CAP", cap_nats):
        train_model(past, (HAM, SPAM), model, Plan(Settings()))
        classifier = open_filter(model)
        return [
            sum(classifier.judge(classifier.count(data), "").label != SPAM for data in some) for some in mails
        ]


def bogofilter(items: list[Item], folder: Path) -> Bogofilter | None:
    """bogofilter trained on the same items; None if it is not installed."""
    program = shutil.which("bogofilter")
    if program is None:
        return None
    subject = Bogofilter(program, folder)
    for label in (HAM, SPAM):
        subject.learn_files([Path(item.name) for item in items if item.label == label], label)
    return subject


def main() -> None:
    """Prints the table."""
    items = list(open_labelled([str(corpus_folder("spamassassin", "sa") / "train.index")]).items())
    past, spam = items[::2], [item.read() for item in items[1::2] if item.label == SPAM]
    with tempfile.TemporaryDirectory() as scratch:
        train_model(past, (HAM, SPAM), f"{scratch}/model", Plan(Settings()))
        with open_model(f"{scratch}/model") as model:
            ham = (item.read() for item in past if item.label == HAM)
            loot = Loot(ham, find_ham_words(model))
        mails = {"as it came": spam} | dict(disguise_all(spam, loot))
        columns = {
            name: missed(past, [*mails.values()], cap_nats, f"{scratch}/{name}")
            for name, cap_nats in (("nbspam", HAM_CAP), ("without the cap", inf))
        }
        peer = bogofilter(past, Path(scratch) / "bogofilter")
        if peer is not None:
            scores = [[peer.score(data) for data in some] for some in mails.values()]
            for name, cut in PEER_CUTS.items():
                columns[name] = [sum(score < cut for score in of_mails) for of_mails in scores]
    print(f"SpamAssassin train.index, every second message trains; {len(spam)} spam judged\n")
    print("| spam missed |", *(f"{name} |" for name in columns))
    print("|---|" + "---:|" * len(columns))
    for name, *numbers in zip(mails, *columns.values(), strict=True):
        print("|", name, "|", *(f"{number} |" for number in numbers))


if __name__ == "__main__":
    main()
