"""What a spammer gains by disguising a spam.

    make experiment-hostile

Every second message of SpamAssassin's train.index trains; the spam among the others is judged as it is, and
after each of the disguises, also by a filter without the cap on evidence for ham.  Nothing here looks at a
message of test.index.  Words that only a browser hides (by a calculated size, a scale, a variable) are no
disguise here: Gmail and Outlook show them.
"""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Callable
from html import escape
from math import inf
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from experiments.corpora import corpus_folder
from nbspam.corpus import Item, open_labelled
from nbspam.filter import open_filter
from nbspam.labels import HAM, SPAM
from nbspam.mail import header_lines, parse
from nbspam.mail.html import read_html
from nbspam.settings import HAM_CAP, Settings
from nbspam.store.reader import open_model
from nbspam.tasks.train import train
from nbspam.tokens import VIEWS
from peers.bogofilter import SPAM_CUTOFF, Bogofilter

PEER_CUTS = {"bogofilter, above 0.5": 0.5, "bogofilter, not unsure": SPAM_CUTOFF}
MIME = ("content-type", "content-transfer-encoding", "mime-version", "")
GOOD = 100  # words of a ham that are added
BEST = 200  # words that say most for ham
MAX_TEXT = 20_000  # characters of a text that is written anew
HTML = "text/html; charset=utf-8"
_WORD = re.compile(r"[A-Za-z]{4,}")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"'<>]+")
_LEET = str.maketrans("aioeslt", "@103$1+")
_CYRILLIC = str.maketrans("aeopcxyiACEHOPTXKMB", "аеорсхуіАСЕНОРТХКМВ")
_draw = random.Random(5)


class Spam(NamedTuple):
    """What a disguise starts from.

    header : raw fields, without those of MIME
    text   : what a reader sees
    """

    header: bytes
    text: str


Disguise = Callable[[Spam, list[Spam]], bytes]  # the spam, ham to take from -> a mail


def split_mail(data: bytes) -> Spam:
    """The fields and the visible text of a mail."""
    fields = b"".join(data[start:stop] for start, stop, name in header_lines(data) if name not in MIME)
    parts = [part for part in parse(data).parts if part.text and not part.is_replaced]
    texts = [read_html(part.text).visible if part.is_html else part.text for part in parts]
    return Spam(fields.rstrip(b"\r\n") + b"\n", "\n".join(texts)[:MAX_TEXT])


def mail(header: bytes, body: str, kind: str = "text/plain; charset=utf-8") -> bytes:
    fields = f"MIME-Version: 1.0\nContent-Type: {kind}\nContent-Transfer-Encoding: 8bit\n\n"
    return header + (fields + body).encode("utf-8", "replace")


def page(body: str) -> str:
    return f"<html><body>{body}</body></html>"


def two_parts(header: bytes, kind: str, *parts: tuple[str, str]) -> bytes:
    """A multipart mail of (subtype of text, content)."""
    texts = [f"--b\nContent-Type: text/{subtype}; charset=utf-8\n\n{text}\n" for subtype, text in parts]
    return mail(header, "".join(texts) + "--b--\n", f"multipart/{kind}; boundary=b")


def good(ham: list[Spam]) -> str:
    """The first words of a ham that has as many."""
    while True:
        words = _draw.choice(ham).text.split()[:GOOD]
        if len(words) == GOOD:
            return " ".join(words)


def each_word(change: Callable[[str], str]) -> Disguise:
    """Every word of four letters and more is changed."""
    return lambda spam, _: mail(spam.header, _WORD.sub(lambda found: change(found.group()), spam.text))


def as_html(change: Callable[[str], str]) -> Disguise:
    """The text as a page."""
    return lambda spam, _: mail(spam.header, page(change(spam.text)), HTML)


def comments(text: str) -> str:
    return _WORD.sub(lambda found: found.group()[:2] + "<!-- x -->" + found.group()[2:], escape(text))


def hidden(place: str) -> Disguise:
    """Words of ham in a page, where a reader does not see them."""
    return lambda spam, ham: mail(spam.header, page(escape(spam.text) + place % good(ham)), HTML)


def spam_page(spam: Spam) -> tuple[str, str]:
    return "html", page(escape(spam.text))


def picture(spam: Spam, ham: list[Spam]) -> bytes:
    """The spam as a picture that is loaded; a text of ham for readers that show no pages."""
    shown = page("<a href='http://lake.example/'><img src='http://lake.example/1.png'></a>")
    return two_parts(spam.header, "alternative", ("plain", good(ham)), ("html", shown))


def apart(text: str) -> str:
    """F R E E   P I L L S."""
    return "   ".join([" ".join(word) for word in text.split()])


def flowed(spam: Spam, _: list[Spam]) -> bytes:
    text = _WORD.sub(lambda found: found.group()[:2] + " \n" + found.group()[2:], spam.text)
    return mail(spam.header, text, "text/plain; charset=utf-8; format=flowed; delsp=yes")


def with_header_of_ham(spam: Spam, ham: list[Spam]) -> bytes:
    """All fields of a ham except Subject."""
    own = b"".join(spam.header[a:b] for a, b, name in header_lines(spam.header) if name == "subject")
    other = _draw.choice(ham).header
    kept = b"".join(other[a:b] for a, b, name in header_lines(other) if name != "subject")
    return mail(kept + own, spam.text)


def address_only(spam: Spam, _: list[Spam]) -> bytes:
    found = _ADDRESS.search(spam.text)
    return mail(spam.header, found.group() if found else spam.text[:60])


DISGUISES: dict[str, Disguise] = {
    "written anew as plain text": lambda spam, _: mail(spam.header, spam.text),
    "letters as digits and marks": each_word(lambda word: word[0] + word[1:].translate(_LEET)),
    "dots between all letters": each_word(".".join),
    "spaces between all letters": each_word(" ".join),
    "zero-width spaces between all letters": each_word("\u200b".join),
    "Cyrillic letters that look alike": each_word(lambda word: word.translate(_CYRILLIC)),
    "letters from right to left": each_word(lambda word: f"\u202e{word[::-1]}\u202c"),
    "all letters apart, words by wider gaps": lambda spam, _: mail(spam.header, apart(spam.text)),
    f"all letters apart, {GOOD} words of a ham after it": lambda spam, ham: mail(
        spam.header, f"{apart(spam.text)}\n\n{good(ham)}"
    ),
    "words cut by lines that are joined again": flowed,
    "as a page": as_html(escape),
    "as a page, a comment in each word": as_html(comments),
    "as a page, letters as references": as_html(lambda text: "".join(f"&#{ord(c)};" for c in text)),
    "the first address only": address_only,
    f"{GOOD} words of a ham after it": lambda spam, ham: mail(spam.header, f"{spam.text}\n\n{good(ham)}"),
    f"{GOOD} words of a ham before it": lambda spam, ham: mail(spam.header, f"{good(ham)}\n\n{spam.text}"),
    "the same in a page, white": hidden('<font color="#fffffe">%s</font>'),
    "the same in a page, not displayed": hidden('<div style="display:none">%s</div>'),
    "the same in a page, not displayed by a sheet": hidden(
        "<style>.a .b{display:none}</style><div class=a><p class=b>%s</div>"
    ),
    "the same as the text of a page": lambda spam, ham: two_parts(
        spam.header, "alternative", ("plain", good(ham)), spam_page(spam)
    ),
    "the same as a page before the page": lambda spam, ham: two_parts(
        spam.header, "alternative", ("html", page(escape(good(ham)))), spam_page(spam)
    ),
    "the same as a text related to the page": lambda spam, ham: two_parts(
        spam.header, "related", spam_page(spam), ("plain", good(ham))
    ),
    "a picture, words of a ham as its text": picture,
    "the header of a ham, except Subject": with_header_of_ham,
}


def good_words(model: str) -> list[str]:
    """Words of the body that the most ham have and no spam: the worst case, for spammers do not know them."""
    rows = open_model(model).connection.execute(
        "SELECT text FROM token WHERE view = ? AND documents_1 = 0 ORDER BY documents_0 DESC, text LIMIT ?",
        (VIEWS.index("body"), 2 * BEST),
    )
    return [text for (text,) in rows if text.isalpha()][:BEST]


def missed(past: list[Item], mails: list[list[bytes]], cap_nats: float, model: str) -> list[int]:
    """How many messages of each list a model of the past does not call spam, under a cap on ham evidence."""
    with mock.patch("nbspam.settings.HAM_CAP", cap_nats):
        train(past, (HAM, SPAM), model, Settings())
        classifier = open_filter(model)
        return [
            sum(classifier.judge(classifier.count(data), "").label != SPAM for data in some) for some in mails
        ]


def disguised(past: list[Item], spam: list[bytes], model: str) -> dict[str, list[bytes]]:
    """The spam as it came, then after each disguise; the past and its model give the words of ham."""
    ham = [split_mail(item.read()) for item in past if item.label == HAM]
    taken = [split_mail(data) for data in spam]
    mails = {name: [change(one, ham) for one in taken] for name, change in DISGUISES.items()}
    words = good_words(model)
    for n in (50, BEST):
        mails[f"{n} of the {BEST} best words for ham after it"] = [
            data + b"\n" + " ".join(_draw.sample(words, min(n, len(words)))).encode() + b"\n" for data in spam
        ]
    return {"as it came": spam} | mails


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
        train(past, (HAM, SPAM), f"{scratch}/model", Settings())
        mails = disguised(past, spam, f"{scratch}/model")
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
