"""What a spammer gains by adding words of ham to the body of a spam.

    make experiment-good_words

Every second message of SpamAssassin's train.index trains; the spam among the others is judged, with words
added that most ham of the training half has and none of its spam.  That is the worst case: who writes spam
does not know them.  Nothing here looks at a message of test.index.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

from nbspam.labels import HAM, SPAM
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.store.reader import open_model
from nbspam.tokens import VIEWS
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.training import train
from tests.experiments.lab import corpus_folder
from tests.peers.bogofilter import SPAM_CUTOFF, Bogofilter

ADDED = (0, 5, 20, 50, 200)
GOOD = 200  # words to draw from
PEER_CUTS = {"bogofilter, above 0.5": 0.5, "bogofilter, not unsure": SPAM_CUTOFF}


def good_words(model: str) -> list[str]:
    """Words of the body that the most ham have and no spam."""
    rows = open_model(model).connection.execute(
        "SELECT text FROM token WHERE view = ? AND documents_1 = 0 ORDER BY documents_0 DESC, text LIMIT ?",
        (VIEWS.index("body"), 2 * GOOD),
    )
    return [text for (text,) in rows if text.isalpha()][:GOOD]


def attacked(spam: list[bytes], words: list[str], n: int, times: int = 1) -> list[bytes]:
    """The spam with n words added to each, so many times."""
    draw = random.Random(1)
    return [data + b"\n" + " ".join(draw.sample(words, n) * times).encode() + b"\n" for data in spam]


def row(name: str, missed: list[int]) -> str:
    """A line of the table: how many of the spam are missed after so many words were added."""
    return f"| {name} | " + " | ".join(map(str, missed)) + " |"


def missed_by_nbspam(model: str, change: dict[str, str], attacks: list[list[bytes]]) -> list[int]:
    """What a model file does not call spam."""
    classifier = open_classifier(model, change)
    return [
        sum(classifier.judge(classifier.counted(data), "").label != SPAM for data in mails)
        for mails in attacks
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


def halves() -> tuple[list[Item], list[bytes]]:
    """The messages that train, and the spam among the others."""
    folder = corpus_folder("spamassassin", "sa")
    items = list(open_labelled([str(folder / "train.index")]).items())
    return items[::2], [item.read() for item in items[1::2] if item.label == SPAM]


def main() -> None:
    """Prints the table."""
    past, spam = halves()
    print(f"SpamAssassin train.index, every second message trains; {len(spam)} spam judged\n")
    print("| words added | " + " | ".join(map(str, ADDED)) + " |")
    print("|---|" + "---:|" * len(ADDED))
    with tempfile.TemporaryDirectory() as scratch:
        model, plain = f"{scratch}/model", f"{scratch}/plain"
        train(past, (HAM, SPAM), model, Settings())
        train(past, (HAM, SPAM), plain, Settings(strongest_alpha=0.0))
        words = good_words(model)
        attacks = [attacked(spam, words, n) for n in ADDED]
        print(row("nbspam", missed_by_nbspam(model, {}, attacks)))
        print(row("without the strongest words", missed_by_nbspam(plain, {}, attacks)))
        missed = missed_by_nbspam(model, {"textbook": "1"}, attacks)
        print(row("the textbook: presence, one sum, λ = 1", missed))
        peer = bogofilter(past, Path(scratch) / "bogofilter")
        if peer:
            scores = [[peer.score(data) for data in mails] for mails in attacks]
            for name, cut in PEER_CUTS.items():
                print(row(name, [sum(score < cut for score in of_mails) for of_mails in scores]))


if __name__ == "__main__":
    main()
