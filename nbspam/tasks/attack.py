"""Spam in disguise: what of it a filter still catches, and what helps against the rest (`nbspam attack`).

A disguise makes another mail of a spam that a reader understands as before.  Words that only a browser does
not show (by a calculated size, a scale, a variable) are no disguise here: Gmail and Outlook show them.
Letters are disguised in the Latin alphabet only.  The table of docs/decisions.md comes from the same code.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from html import escape
from typing import NamedTuple

from nbspam.corpus.item import Item, Skipped, read_items
from nbspam.corpus.source import Source
from nbspam.decision import read_loss
from nbspam.errors import BadDataError, NoInputError, UsageError
from nbspam.filter import Filter, open_filter
from nbspam.labels import HAM, HAM_AND_SPAM, SPAM, UNSURE
from nbspam.learning.learn import learn_messages
from nbspam.mail import header_lines, parse
from nbspam.mail.html.reader import read_html
from nbspam.model.scorer import Counted
from nbspam.store.check import find_ham_words
from nbspam.store.writer import copy_model

LESSONS = 10  # disguised spam that is learned, then the others are judged again
ADDED = 100  # words of ham that a disguise adds
BEST = 200  # words that say most for ham
MAX_TEXT = 20_000  # characters of a text that is written anew
SEED = 5
PLAIN, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"
FLOWED = f"{PLAIN}; format=flowed; delsp=yes"
BOTH = "multipart/alternative; boundary=1"
PICTURE = "<a href='http://lake.example/'><img src='http://lake.example/1.png'></a>"
_MIME = ("content-type", "content-transfer-encoding", "mime-version", "")
_WORD = re.compile(r"([A-Za-z]{2})([A-Za-z]{2,})")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"'<>]+")
_LEET = str.maketrans("aioeslt", "@103$1+")
_CYRILLIC = str.maketrans("aeopcxyiACEHOPTXKMB", "аеорсхуіАСЕНОРТХКМВ")


class Original(NamedTuple):
    """What is known of a mail.

    header : raw fields, without those of MIME
    text   : what a reader sees
    """

    header: bytes
    text: str


class Loot:
    """What spammers may know of the ham of a reader: some messages, and words that no spam has."""

    def __init__(self, ham: Iterable[bytes], words: Sequence[str]) -> None:
        """ham : messages;  words : see find_ham_words.  Both may be empty."""
        self.ham = [mail for mail in map(original, ham) if mail.text.split()]
        self.words = " ".join(words)
        self._draw = random.Random(SEED)

    def header(self) -> bytes:
        """The fields of a ham."""
        return self._draw.choice(self.ham).header

    def text(self) -> str:
        """The first ADDED words of a ham; short ones are joined."""
        words: list[str] = []
        while len(words) < ADDED:
            words += self._draw.choice(self.ham).text.split()
        return " ".join(words[:ADDED])


def original(data: bytes) -> Original:
    """The fields and the visible text of a mail."""
    fields = b"".join(data[start:stop] for start, stop, name in header_lines(data) if name not in _MIME)
    parts = [part for part in parse(data).parts if part.text and not part.is_replaced]
    texts = [read_html(part.text).visible if part.is_html else part.text for part in parts]
    return Original(fields and fields.rstrip(b"\r\n") + b"\n", "\n".join(texts)[:MAX_TEXT])


def _mail(header: bytes, kind: str, body: str) -> bytes:
    fields = f"MIME-Version: 1.0\nContent-Type: {kind}\nContent-Transfer-Encoding: 8bit\n\n"
    return header + (fields + body).encode("utf-8", "replace")


def _space_out(text: str) -> str:
    """F R E E   P I L L S."""
    return "   ".join([" ".join(word) for word in text.split()])


def _find_address(text: str) -> str:
    found = _ADDRESS.search(text)
    return found.group() if found else text[:60]


def _page(body: str) -> str:
    return f"<html><body>{body}</body></html>"


def _alternatives(plain: str, page: str) -> str:
    """A plain text, and the page that mail programs show instead."""
    parts = ((PLAIN, plain), (HTML, _page(page)))
    return "".join(f"--1\nContent-Type: {kind}\n\n{content}\n" for kind, content in parts) + "--1--\n"


def _header_of_ham(own: bytes, other: bytes) -> bytes:
    """The header of a ham, with the subject of the spam."""
    kept = [other[start:stop] for start, stop, name in header_lines(other) if name != "subject"]
    kept += [own[start:stop] for start, stop, name in header_lines(own) if name == "subject"]
    return b"".join(kept)


# name -> (type of the content, what makes it from the text of the spam)
OWN_WORDS: dict[str, tuple[str, Callable[[str], str]]] = {
    "written anew as plain text": (PLAIN, lambda text: text),
    "letters as digits and marks": (
        PLAIN,
        lambda text: _WORD.sub(lambda word: word[0][0] + word[0][1:].translate(_LEET), text),
    ),
    "Cyrillic letters that look alike": (
        PLAIN,
        lambda text: _WORD.sub(lambda word: word[0].translate(_CYRILLIC), text),
    ),
    "zero-width spaces between letters": (
        PLAIN,
        lambda text: _WORD.sub(lambda word: "\u200b".join(word[0]), text),
    ),
    "spaces between letters": (PLAIN, lambda text: _WORD.sub(lambda word: " ".join(word[0]), text)),
    "lines that cut words": (FLOWED, lambda text: _WORD.sub(r"\1 \n\2", text)),
    "a page, a comment in each word": (
        HTML,
        lambda text: _WORD.sub(r"\1<!-- x -->\2", escape(text, quote=False)),
    ),
    "the first address only": (PLAIN, lambda text: _find_address(text)),
}
# The same, from the text of the spam and words of ham.
WORDS_OF_HAM: dict[str, tuple[str, Callable[[str, str], str]]] = {
    f"{ADDED} words of a ham before it": (PLAIN, lambda text, ham: f"{ham}\n\n{text}"),
    "all letters apart, the same after it": (PLAIN, lambda text, ham: f"{_space_out(text)}\n\n{ham}"),
    "the same in a page, white": (
        HTML,
        lambda text, ham: _page(f'{escape(text)}<font color="#fffffe">{escape(ham)}</font>'),
    ),
    "the same in a page, not displayed": (
        HTML,
        lambda text, ham: _page(f'{escape(text)}<div style="display:none">{escape(ham)}</div>'),
    ),
    "the same as the text of a page": (BOTH, lambda text, ham: _alternatives(ham, escape(text))),
    "a picture, the same as its text": (BOTH, lambda _, ham: _alternatives(ham, PICTURE)),
}
HEADER_OF_HAM = "the header of a ham, except Subject"
BEST_WORDS = f"the {BEST} best words for ham after it"
N_DISGUISES = len([*OWN_WORDS, *WORDS_OF_HAM, HEADER_OF_HAM, BEST_WORDS])


def disguise_all(spam: Sequence[bytes], loot: Loot) -> Iterator[tuple[str, list[bytes]]]:
    """(name, the spam in this disguise) of each disguise that the loot allows."""
    known = [original(data) for data in spam]
    for name, (kind, write) in OWN_WORDS.items():
        yield name, [_mail(one.header, kind, write(one.text)) for one in known]
    if loot.ham:
        for name, (kind, mix) in WORDS_OF_HAM.items():
            yield name, [_mail(one.header, kind, mix(one.text, loot.text())) for one in known]
        others = [(_header_of_ham(one.header, loot.header()), one.text) for one in known]
        yield HEADER_OF_HAM, [_mail(header, PLAIN, text) for header, text in others]
    if loot.words:
        yield BEST_WORDS, [_mail(one.header, PLAIN, f"{one.text}\n\n{loot.words}") for one in known]


class Judged(NamedTuple):
    """What a filter judges wrongly: spam that it calls ham or unsure, and ham that it calls spam."""

    ham: int
    unsure: int
    lost_ham: int

    @property
    def through(self) -> int:
        """Spam that is not called spam."""
        return self.ham + self.unsure


class Row(NamedTuple):
    """A disguise: judged by the filter as it is, under other costs, and after it has learned some."""

    disguise: str
    now: Judged
    loss: Judged
    learned: Judged

    @property
    def best(self) -> str:
        """The field with the fewest mistakes; `now` if no defence makes fewer, or if nothing gets through."""
        names = ("now", "learned", "loss") if self.now.through else ("now",)
        return min(names, key=lambda name: sum(getattr(self, name)))


class Attack(NamedTuple):
    """What came of the disguises.

    spam, caught : messages, and those of them that the filter calls spam as they come
    lessons, judged : of those caught, learned in each disguise, and judged in it
    ham     : judged, none of it ham that words or a header were taken from
    skipped : mail that could not be read
    """

    spam: int
    caught: int
    lessons: int
    judged: int
    ham: int
    rows: list[Row]
    skipped: Skipped


def attack(path: str, source: Source, loss: str, limit: int, progress: Callable[[int], None]) -> Attack:
    """Disguise spam that the model at `path` catches, and judge it again.

    loss  : the costs to try as a defence
    limit : spam that is read, ham to take words from, and ham that is judged; drawn from the source
    progress : called with 1 after each disguise
    Raises a child of NbspamError for a model of other classes, and if too little spam is caught.
    """
    with closing(open_filter(path)) as now:
        if now.classes != HAM_AND_SPAM:
            why = "disguises are of spam among ham; the classes of this model are: " + ", ".join(now.classes)
            raise UsageError(path, why, "name a model of ham and spam", "attack-classes")
        strict = Filter(now.model, now.settings, read_loss(loss, now.classes))
        mail, skipped = _draw_mail(source, {SPAM: limit, HAM: 2 * limit})
        taken, ham = mail[HAM][::2], [*map(now.count, mail[HAM][1::2])]
        caught = [data for data in mail[SPAM] if now.classify(data).label == SPAM]
        if len(caught) < 2:
            why = f"{len(caught)} of {len(mail[SPAM])} spam are caught as they come; an attack needs 2"
            raise BadDataError(path, why, "name more spam: `spam=PATH`", "attack-spam")
        n = min(LESSONS, len(caught) // 2)
        lost, lost_by_loss = _count_labels(now, ham)[SPAM], _count_labels(strict, ham)[SPAM]
        rows = []
        for name, mails in disguise_all(caught, Loot(taken, find_ham_words(now.model, BEST))):
            spam = [*map(now.count, mails[n:])]
            learned = _after_learning(path, mails[:n], spam, ham)
            rows.append(Row(name, _judge(now, spam, lost), _judge(strict, spam, lost_by_loss), learned))
            progress(1)
        return Attack(len(mail[SPAM]), len(caught), n, len(caught) - n, len(ham), rows, skipped)


def _draw_mail(source: Source, limits: dict[str, int]) -> tuple[dict[str, list[bytes]], Skipped]:
    """Up to so many messages of each class, drawn at random and always the same, and what was not read."""
    items: dict[str, list[Item]] = {label: [] for label in limits}
    for item in source.items():
        if item.label in items:
            items[item.label].append(item)
    draw, skipped, mail = random.Random(SEED), list(source.skipped), {}
    for label, limit in limits.items():
        chosen = draw.sample(items[label], min(limit, len(items[label])))
        mail[label] = [data for _, data in read_items(chosen, skipped)]
    if not mail[SPAM]:
        raise NoInputError("SOURCE", "there is no spam", "name some: `spam=PATH`", "attack-no-spam")
    return mail, skipped


def _count_labels(judge: Filter, messages: list[Counted]) -> Counter[str]:
    return Counter(judge.judge(message).label for message in messages)


def _judge(judge: Filter, spam: list[Counted], lost_ham: int) -> Judged:
    called = _count_labels(judge, spam)
    return Judged(called[HAM], called[UNSURE], lost_ham)


def _after_learning(path: str, lessons: list[bytes], spam: list[Counted], ham: list[Counted]) -> Judged:
    """By a copy of the model that has learned these spam."""
    with tempfile.TemporaryDirectory(prefix="nbspam-") as folder:
        copy = os.path.join(folder, "model.nbspam")
        copy_model(path, copy)
        learn_messages(copy, SPAM, [("", lesson) for lesson in lessons])
        with closing(open_filter(copy)) as judge:
            return _judge(judge, spam, _count_labels(judge, ham)[SPAM])
