"""Spam in disguise: experiments/hostile.py judges it.

A disguise makes another mail of a spam, and a person understands it as before.  Words that only a browser
does not show (by a calculated size, a scale, a variable) are no disguise here: Gmail and Outlook show them.
Letters are disguised in the Latin alphabet only.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from nbspam.mail import find_header_fields, parse
from nbspam.mail.html.reader import read_html
from nbspam.store.reader import Model
from nbspam.tokens.bag import VIEWS

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
        """ham : messages, one of them with a text;  words : see find_ham_words"""
        self._ham = [mail for mail in map(read_original, ham) if mail.text.split()]
        self.words = " ".join(words)
        self._draw = random.Random(SEED)

    def header(self) -> bytes:
        """The fields of a ham."""
        return self._draw.choice(self._ham).header

    def text(self) -> str:
        """The first ADDED words of a ham; short ones are joined."""
        words: list[str] = []
        while len(words) < ADDED:
            words += self._draw.choice(self._ham).text.split()
        return " ".join(words[:ADDED])


def read_original(data: bytes) -> Original:
    """The fields and the visible text of a mail."""
    fields = b"".join(data[start:stop] for start, stop, name in find_header_fields(data) if name not in _MIME)
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
    kept = [other[start:stop] for start, stop, name in find_header_fields(other) if name != "subject"]
    kept += [own[start:stop] for start, stop, name in find_header_fields(own) if name == "subject"]
    return b"".join(kept)


def _stuff() -> bytes:
    """Header fields of words that no message has."""
    draw = random.Random(SEED)
    words = ["".join(draw.choices(string.ascii_lowercase, k=8)) for _ in range(ADDED)]
    fields = [f"X-{words[n]}: {' '.join(words[n + 1 : n + 5])}\n" for n in range(0, ADDED, 5)]
    return "".join(fields).encode()


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
    "the first address only": (PLAIN, _find_address),
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
STUFFED = f"{ADDED} words that nobody knows in fields of the header"
BEST_WORDS = f"the {BEST} best words for ham after it"


def disguise_all(spam: Sequence[bytes], loot: Loot) -> Iterator[tuple[str, list[bytes]]]:
    """(name, the spam in this disguise) of each disguise."""
    known = [read_original(data) for data in spam]
    for name, (kind, write) in OWN_WORDS.items():
        yield name, [_mail(one.header, kind, write(one.text)) for one in known]
    for name, (kind, mix) in WORDS_OF_HAM.items():
        yield name, [_mail(one.header, kind, mix(one.text, loot.text())) for one in known]
    headers = [_header_of_ham(one.header, loot.header()) for one in known]
    yield (
        HEADER_OF_HAM,
        [_mail(header, PLAIN, one.text) for header, one in zip(headers, known, strict=True)],
    )
    yield STUFFED, [_mail(_stuff() + one.header, PLAIN, one.text) for one in known]
    yield BEST_WORDS, [_mail(one.header, PLAIN, f"{one.text}\n\n{loot.words}") for one in known]


def find_ham_words(model: Model) -> list[str]:
    """The BEST words of the text that the most ham have and no spam; for a model of ham and spam."""
    query = (
        "SELECT text FROM token WHERE view = ? AND documents_1 = 0 ORDER BY documents_0 DESC, text LIMIT ?"
    )
    rows = model.connection.ask(query, (VIEWS.index("body"), 2 * BEST))
    return [text for (text,) in rows if text.isalpha()][:BEST]
