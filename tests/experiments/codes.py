"""What it is worth to read the QR codes of pictures.

    make experiment-codes

Every second message of SpamAssassin's train.index trains.  Of each of the others that has a link, a line that
asks to scan a code and a picture of the code are judged, instead of its text.  No message of the corpus has
such a picture, so these are made.  Nothing here looks at a message of test.index.
"""

from __future__ import annotations

import random
import tempfile
from base64 import encodebytes
from collections.abc import Callable, Iterator
from math import exp, log1p
from pathlib import Path
from statistics import mean
from unittest import mock

from nbspam.labels import HAM, SPAM
from nbspam.mail import parse
from nbspam.mail.codes import png
from nbspam.mail.html.reader import read_html
from nbspam.settings import Settings
from nbspam.sources import Item, open_labelled
from nbspam.tokens.urls import cut_urls
from nbspam.workflow.classifying import Classifier, open_classifier
from nbspam.workflow.training import train
from tests.codes_made import code_of, grey, png_of, scaled
from tests.conftest import unpacked
from tests.experiments.attached import labelled
from tests.experiments.hostile import mail, taken_apart

COVER = "Please scan the code below with your telephone.\n"
MAX_ADDRESS = 300  # characters; with more a code is too large to scan


def address(data: bytes) -> str:
    """The first link of a mail, "" if it has none."""
    for part in parse(data).parts:
        if part.text and not part.is_replaced:
            found = (
                [target for target, _ in read_html(part.text).links]
                if part.is_html
                else cut_urls(part.text)[1]
            )
            for target in found:
                if target.startswith("http") and target.isascii() and len(target) <= MAX_ADDRESS:
                    return target
    return ""


def in_a_code(header: bytes, target: str) -> bytes:
    picture = png_of(grey(scaled(code_of(target), 4)), filters=(0,))
    fields = "Content-Type: image/png; name=code.png\nContent-Transfer-Encoding: base64\n\n"
    part = fields + encodebytes(picture).decode()
    text = f"Content-Type: text/plain; charset=utf-8\n\n{COVER}"
    return mail(header, f"--b\n{text}\n--b\n{part}--b--\n", "multipart/mixed; boundary=b")


def in_the_text(header: bytes, target: str) -> bytes:
    return mail(header, f"{COVER}\n{target}\n")


def without(header: bytes, _: str) -> bytes:
    return mail(header, COVER)


ROWS: dict[
    str, tuple[Callable[[bytes, str], bytes], bool]
] = {  # how the address is sent, whether codes are read
    "kept: in a code that is read": (in_a_code, True),
    "in a code that is not read": (in_a_code, False),
    "in the text": (in_the_text, True),
    "not at all": (without, True),
}


def judged(classifier: Classifier, mails: list[bytes], label: str) -> str:
    """How many are called otherwise, and the log loss in thousandths of a nat."""
    verdicts = [classifier.judge(classifier.counted(data), "") for data in mails]
    wrong = sum(verdict.label != label for verdict in verdicts)
    against = [-each.log_odds if label == SPAM else each.log_odds for each in verdicts]
    return f"{wrong} | {1000 * mean(max(each, 0) + log1p(exp(-abs(each))) for each in against):.0f}"


def with_codes(items: list[Item]) -> Iterator[tuple[str, bytes]]:
    """The same messages with their labels, every third that has a link with it in a code."""
    linked = 0
    for item in items:
        data = item.read()
        target = address(data)
        linked += bool(target)
        if target and linked % 3 == 0:
            data = in_a_code(taken_apart(data).header, target)
        yield item.label, data


def mails_to_judge(items: list[Item]) -> dict[str, tuple[list[tuple[bytes, str]], str]]:
    """Headers and addresses, and the class, by what they are."""
    found: dict[str, list[tuple[bytes, str]]] = {SPAM: [], HAM: []}
    for item in items:
        target = address(item.read())
        if target:
            found[item.label].append((taken_apart(item.read()).header, target))
    draw = random.Random(6)
    borrowed = [(draw.choice(found[HAM])[0], target) for _, target in found[SPAM]]
    return {"spam": (found[SPAM], SPAM), "spam, header of a ham": (borrowed, SPAM), "ham": (found[HAM], HAM)}


def main() -> None:
    """Prints the table."""
    folder = unpacked("spamassassin", "sa")
    if folder is None:
        raise SystemExit("spamassassin.tar.xz: set NBSPAM_CORPORA to the folder of the archives")
    items = list(open_labelled([str(folder / "train.index")]).items())
    past, tried = items[::2], mails_to_judge(items[1::2])
    numbers = ", ".join(f"{len(mails)} {name}" for name, (mails, _) in tried.items())
    print(f"SpamAssassin train.index, every second message trains; judged: {numbers}\n")
    print("| |", " | ".join(f"{name}: wrong | log loss, 1/1000" for name in tried), "|")
    print("|---|" + "---:|" * 2 * len(tried))
    read_codes = png.read_codes
    with tempfile.TemporaryDirectory() as scratch:
        trained = {"no codes": past, "a third in codes": labelled(with_codes(past), Path(scratch))}
        for told, messages in trained.items():
            for name, (make, is_read) in ROWS.items():
                with mock.patch.object(png, "read_codes", read_codes if is_read else lambda *_: None):
                    train(messages, (HAM, SPAM), f"{scratch}/{told}-{name}", Settings())
                    classifier = open_classifier(f"{scratch}/{told}-{name}")
                    cells = [
                        judged(classifier, [make(*each) for each in mails], label)
                        for mails, label in tried.values()
                    ]
                print(f"| {told}; {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
