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
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nbspam.labels import HAM, SPAM
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.store.reader import open_model
from nbspam.tokens import VIEWS
from nbspam.workflow.classifying import open_classifier
from nbspam.workflow.training import train
from tests.conftest import unpacked
from tests.peers.bogofilter import SPAM_CUTOFF, Bogofilter

ADDED = (0, 5, 20, 50, 200)
GOOD = 200  # words to draw from
WAYS: dict[str, tuple[Settings, dict[str, str]]] = {  # how trained, how judged
    "nbspam": (Settings(), {}),
    "without the strongest words": (Settings(strongest_alpha=0.0), {}),
    "the textbook: presence, one sum, λ = 1": (Settings(), {"textbook": "1"}),
}
PEER_CUTS = {"bogofilter, above 0.5": 0.5, "bogofilter, not unsure": SPAM_CUTOFF}
IsSpam = Callable[[bytes], bool]


def good_words(model: str) -> list[str]:
    """Words of the body that the most ham have and no spam."""
    rows = open_model(model).connection.execute(
        "SELECT text FROM token WHERE view = ? AND documents_1 = 0 ORDER BY documents_0 DESC, text LIMIT ?",
        (VIEWS.index("body"), 2 * GOOD),
    )
    return [text for (text,) in rows if text.isalpha()][:GOOD]


def row(name: str, is_spam: IsSpam, spam: list[bytes], words: list[str]) -> str:
    """A line of the table: how many of the spam are missed after so many words were added."""
    cells = []
    for n in ADDED:
        draw = random.Random(1)
        attacked = [data + b"\n" + " ".join(draw.sample(words, n)).encode() + b"\n" for data in spam]
        cells.append(str(sum(not is_spam(data) for data in attacked)))
    return f"| {name} | " + " | ".join(cells) + " |"


def nbspam_judge(model: str, change: dict[str, str]) -> IsSpam:
    """The verdict of a model file."""
    classifier = open_classifier(model, change)
    return lambda data: classifier.judge(classifier.counted(data), "").label == SPAM


def bogofilter(items: list[Item], folder: Path) -> Bogofilter | None:
    """bogofilter trained on the same items; None if it is not installed."""
    program = shutil.which("bogofilter")
    if program is None:
        return None
    subject = Bogofilter(program, folder)
    for label in (HAM, SPAM):
        subject.learn_files([Path(item.name) for item in items if item.label == label], label)
    return subject


def above(peer: Bogofilter, cut: float, data: bytes) -> bool:
    """Whether bogofilter's score is over a cut-off."""
    return peer.score(data) >= cut


def main() -> None:
    """Prints the table."""
    folder = unpacked("spamassassin", "sa")
    if folder is None:
        raise SystemExit("spamassassin.tar.xz: set NBSPAM_CORPORA to the folder of the archives")
    items = list(open_labelled([str(folder / "train.index")]).items())
    past, spam = items[::2], [item.read() for item in items[1::2] if item.label == SPAM]
    print(f"SpamAssassin train.index, every second message trains; {len(spam)} spam judged\n")
    print("| words added | " + " | ".join(map(str, ADDED)) + " |")
    print("|---|" + "---:|" * len(ADDED))
    with tempfile.TemporaryDirectory() as scratch:
        for name, (settings, change) in WAYS.items():
            model = f"{scratch}/{name[:7]}"
            train(past, (HAM, SPAM), model, settings)
            print(row(name, nbspam_judge(model, change), spam, good_words(model)), flush=True)
        peer = bogofilter(past, Path(scratch) / "bogofilter")
        for name, cut in PEER_CUTS.items() if peer else ():
            is_spam = partial(above, peer, cut)
            print(row(name, is_spam, spam, good_words(f"{scratch}/nbspam")), flush=True)


if __name__ == "__main__":
    main()
