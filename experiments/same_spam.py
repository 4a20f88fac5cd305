"""How often a spam is caught when it comes again in another form, after its first form was learned.

    make experiment-same_spam

The first half of a source trains.  Each spam of the second half that is missed at the default costs is
learned once, alone, and then its variants are judged.  A variant keeps most of the text, as the mails of one
campaign do.  SEED draws what is new in it.
"""

from __future__ import annotations

import email
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from email.message import Message

from experiments.corpora import corpus_folder
from nbspam.corpus.labelled import open_labelled
from nbspam.filter import open_filter
from nbspam.labels import HAM, SPAM
from nbspam.learning.learn import learn_message
from nbspam.mail import find_header_fields
from nbspam.settings import Settings
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model

SEED = 5
SOURCES = ("trec06p_late", "household")
CHANGED_WORDS = 0.2  # share that is replaced
CHANGED_PARAGRAPH = 0.25  # share of the words, one after another
_MIME = ("content-type", "content-transfer-encoding", "mime-version", "")
_WORD = re.compile(r"<[^>]*>|https?://\S+|[A-Za-z]{3,}")
_LINK = re.compile(r"(https?://|www\.)[^\s\"'<>]+")
_GREETING = re.compile(r"\b(?:dear|hello|hi|attn:?|greetings)\b[^\n<]{0,40}", re.IGNORECASE)
Change = Callable[[str, random.Random], str]


def _invent_word(draw: random.Random) -> str:
    return "".join(draw.choice("bcdfghklmnprst") + draw.choice("aeiou") for _ in range(draw.randint(2, 4)))


def _greet_anew(text: str, draw: random.Random) -> str:
    greeting = f"Good morning {_invent_word(draw).title()} {_invent_word(draw).title()},"
    changed, n = _GREETING.subn(greeting, text, count=1)
    return changed if n else f"{greeting}\n{text}"


def _link_anew(text: str, draw: random.Random) -> str:
    host, path = _invent_word(draw), _invent_word(draw)
    return _LINK.sub(rf"\1{host}.example/{path}", text)


def _replace_words(text: str, draw: random.Random, is_replaced: Callable[[int], bool]) -> str:
    """The text with other words in some places.  is_replaced : by the number of a word"""
    number = -1

    def replace(found: re.Match[str]) -> str:
        nonlocal number
        if not found[0].isalpha():
            return found[0]
        number += 1
        return _invent_word(draw) if is_replaced(number) else found[0]

    return _WORD.sub(replace, text)


def _change_paragraph(text: str, draw: random.Random) -> str:
    words = sum(word.isalpha() for word in _WORD.findall(text))
    length = int(CHANGED_PARAGRAPH * words)
    start = draw.randint(0, words - length)
    return _replace_words(text, draw, lambda number: start <= number < start + length)


CHANGES: dict[str, Change] = {
    "the same": lambda text, _: text,
    "other greeting and names": _greet_anew,
    "other links": _link_anew,
    "a changed paragraph": _change_paragraph,
    "20 % random words": lambda text, draw: _replace_words(
        text, draw, lambda _: draw.random() < CHANGED_WORDS
    ),
}


def change_texts(data: bytes, change: Change, draw: random.Random) -> bytes:
    """The mail with each of its texts changed, not encoded."""
    message = email.message_from_bytes(data)
    for part in message.walk():
        if part.get_content_maintype() == "text" and not part.is_multipart():
            _write_text(part, change(_read_text(part), draw))
    return message.as_bytes()


def _read_text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    return payload.decode("latin-1") if isinstance(payload, bytes) else ""


def _write_text(part: Message, text: str) -> None:
    del part["Content-Transfer-Encoding"]
    part["Content-Transfer-Encoding"] = "8bit"
    part.set_payload(text.encode("latin-1").decode("ascii", "surrogateescape"))


def give_header(data: bytes, other: bytes) -> bytes:
    """The mail with the fields of another one, except those of MIME."""
    fields = find_header_fields(data)
    own = [data[start:stop] for start, stop, name in fields if name in _MIME]
    theirs = [other[start:stop] for start, stop, name in find_header_fields(other) if name not in _MIME]
    return b"".join([*theirs, *own, data[fields[-1][1] if fields else 0 :]])


def count_caught(archive: str, scratch: str) -> tuple[int, dict[str, list[int]]]:
    """How many spam are missed, and of their variants, under their own and another header, are caught."""
    items = [*open_labelled([str(corpus_folder(archive, archive) / "index")]).items()]
    model, taught = f"{scratch}/{archive}", f"{scratch}/taught"
    train_model(items[: len(items) // 2], (HAM, SPAM), model, Plan(Settings()))
    judge = open_filter(model)
    later = [item.read() for item in items[len(items) // 2 :] if item.label == SPAM]
    missed = [data for data in later if judge.classify(data).label != SPAM]
    caught = {name: [0, 0] for name in CHANGES}
    for number, data in enumerate(missed):
        shutil.copy(model, taught)
        learn_message(taught, SPAM, data)
        with_lesson, draw = open_filter(taught), random.Random(SEED + number)
        other = draw.choice([one for one in missed if one is not data])
        for name, change in CHANGES.items():
            variant = data if name == "the same" else change_texts(data, change, draw)
            for column, mail in enumerate((variant, give_header(variant, other))):
                caught[name][column] += with_lesson.classify(mail).label == SPAM
        with_lesson.close()
    return len(missed), caught


def main() -> None:
    """Prints a table for each source."""
    for archive in SOURCES:
        with tempfile.TemporaryDirectory() as scratch:
            n_missed, caught = count_caught(archive, scratch)
        print(f"\n{archive}: {n_missed} missed spam, each learned once; caught again:\n")
        print("| text | own header | the header of another missed spam |\n|---|---:|---:|")
        for name, (own, other) in caught.items():
            print(f"| {name} | {own} | {other} |")


if __name__ == "__main__":
    main()
