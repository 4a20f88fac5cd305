"""What a spammer gains by disguising a spam.

    make experiment-hostile

Every second message of SpamAssassin's train.index trains; the spam among the others is judged as it is, and
after each of the disguises.  Nothing here looks at a message of test.index.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

from nbspam.labels import HAM, SPAM
from nbspam.mail import header_lines, parse
from nbspam.mail.html.reader import read_html
from nbspam.settings import Settings
from nbspam.workflow.training import train
from tests.experiments.good_words import PEER_CUTS, bogofilter, halves, missed_by_nbspam

MIME = ("content-type", "content-transfer-encoding", "mime-version", "")
GOOD = 100  # words of a ham that are added
MAX_TEXT = 20_000  # characters of a text that is written anew
_WORD = re.compile(r"[A-Za-z]{4,}")
_LEET = str.maketrans("aioeslt", "@103$1+")
_CYRILLIC = str.maketrans("aeopcxyiACEHOPTXKMB", "аеорсхуіАСЕНОРТХКМВ")
_draw = random.Random(5)


class Spam(NamedTuple):
    """What a disguise begins with.

    header : raw fields, without those of MIME
    text   : what a reader sees
    """

    header: bytes
    text: str


Disguise = Callable[[Spam, list[Spam]], bytes]  # the spam, ham to take from -> a mail


def taken_apart(data: bytes) -> Spam:
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


def good(ham: list[Spam]) -> str:
    """The first words of a ham that has as many."""
    while True:
        words = _draw.choice(ham).text.split()[:GOOD]
        if len(words) == GOOD:
            return " ".join(words)


def spelled(change: Callable[[str], str]) -> Disguise:
    """Every word of four letters and more is changed."""
    return lambda spam, _: mail(spam.header, _WORD.sub(lambda found: change(found.group()), spam.text))


def as_html(change: Callable[[str], str]) -> Disguise:
    """The text as a page."""
    return lambda spam, _: mail(spam.header, page(change(spam.text)), "text/html; charset=utf-8")


def in_comments(text: str) -> str:
    return _WORD.sub(lambda found: found.group()[:2] + "<!-- x -->" + found.group()[2:], escape(text))


def beside(place: str) -> Disguise:
    """Words of ham in a page, where a reader does not see them."""

    def disguise(spam: Spam, ham: list[Spam]) -> bytes:
        return mail(spam.header, page(escape(spam.text) + place % good(ham)), "text/html; charset=utf-8")

    return disguise


def alternative(spam: Spam, ham: list[Spam]) -> bytes:
    part = "--b\nContent-Type: text/{}; charset=utf-8\n\n{}\n"
    parts = part.format("plain", good(ham)) + part.format("html", page(escape(spam.text)))
    return mail(spam.header, parts + "--b--\n", "multipart/alternative; boundary=b")


def parts_of(kind: str, good_first: bool) -> Disguise:
    """Words of ham in a part that no reader shows: a page before the page, or a text behind it."""

    def disguise(spam: Spam, ham: list[Spam]) -> bytes:
        part = "--b\nContent-Type: text/{}; charset=utf-8\n\n{}\n"
        own = part.format("html", page(escape(spam.text)))
        other = (
            part.format("html", page(escape(good(ham)))) if good_first else part.format("plain", good(ham))
        )
        parts = other + own if good_first else own + other
        return mail(spam.header, parts + "--b--\n", f"multipart/{kind}; boundary=b")

    return disguise


def picture(spam: Spam, ham: list[Spam]) -> bytes:
    """The spam as a picture that is loaded, and a text of ham for who shows no pages."""
    part = "--b\nContent-Type: text/{}; charset=utf-8\n\n{}\n"
    shown = page("<a href='http://lake.example/'><img src='http://lake.example/1.png'></a>")
    parts = part.format("plain", good(ham)) + part.format("html", shown)
    return mail(spam.header, parts + "--b--\n", "multipart/alternative; boundary=b")


def apart(text: str) -> str:
    """F R E E   P I L L S."""
    return "   ".join([" ".join(word) for word in text.split()])


def flowed(spam: Spam, _: list[Spam]) -> bytes:
    text = _WORD.sub(lambda found: found.group()[:2] + " \n" + found.group()[2:], spam.text)
    return mail(spam.header, text, "text/plain; charset=utf-8; format=flowed; delsp=yes")


def with_header_of_ham(spam: Spam, ham: list[Spam]) -> bytes:
    """All fields of a ham but Subject."""
    own = b"".join(spam.header[a:b] for a, b, name in header_lines(spam.header) if name == "subject")
    other = _draw.choice(ham).header
    kept = b"".join(other[a:b] for a, b, name in header_lines(other) if name != "subject")
    return mail(kept + own, spam.text)


def with_words_behind(spam: Spam, ham: list[Spam]) -> bytes:
    return mail(spam.header, f"{spam.text}\n\n{good(ham)}")


def alone(spam: Spam, _: list[Spam]) -> bytes:
    """Its text and nothing else."""
    return mail(spam.header, spam.text)


def address_only(spam: Spam, _: list[Spam]) -> bytes:
    found = re.search(r"(?:https?://|www\.)[^\s\"'<>]+", spam.text)
    return mail(spam.header, found.group() if found else spam.text[:60])


DISGUISES: dict[str, Disguise] = {
    "written anew as plain text": alone,
    "letters as digits and signs": spelled(lambda word: word[0] + word[1:].translate(_LEET)),
    "dots between all letters": spelled(".".join),
    "spaces between all letters": spelled(" ".join),
    "zero-width spaces between all letters": spelled("\u200b".join),
    "Cyrillic letters that look alike": spelled(lambda word: word.translate(_CYRILLIC)),
    "as a page": as_html(escape),
    "as a page, a comment in each word": as_html(in_comments),
    "as a page, letters as references": as_html(lambda text: "".join(f"&#{ord(c)};" for c in text)),
    "the first address only": address_only,
    f"{GOOD} words of a ham behind it": with_words_behind,
    f"{GOOD} words of a ham before it": lambda spam, ham: mail(spam.header, f"{good(ham)}\n\n{spam.text}"),
    "the same in a page, white": beside('<font color="#fffffe">%s</font>'),
    "the same in a page, not displayed": beside('<div style="display:none">%s</div>'),
    "the same as the text beside a page": alternative,
    "the header of a ham, but for Subject": with_header_of_ham,
    "words of a ham in a page, by a sheet that asks for ancestors": beside(
        "<style>.a .b{display:none}</style><div class=a><p class=b>%s</div>"
    ),
    "words of a ham in a page, closed details": beside("<details><summary>more</summary>%s</details>"),
    "words of a ham in a page, calculated size": beside("<p style='font-size:calc(1px*0)'>%s</p>"),
    "words of a ham in a page, scaled to nothing": beside("<p style='scale:0'>%s</p>"),
    "words of a ham in a page, by a variable": beside(
        "<style>:root{--v:none}</style><p style='display:var(--v)'>%s</p>"
    ),
    "words of a ham as a page before the page": parts_of("alternative", good_first=True),
    "words of a ham as a text related to the page": parts_of("related", good_first=False),
    "a picture, words of a ham as the text beside it": picture,
    "letters from right to left": spelled(lambda word: f"\u202e{word[::-1]}\u202c"),
    "words cut by lines that are joined again": flowed,
    "all letters apart, words by more blanks": lambda spam, _: mail(spam.header, apart(spam.text)),
    f"all letters apart, {GOOD} words of a ham behind it": lambda spam, ham: mail(
        spam.header, f"{apart(spam.text)}\n\n{good(ham)}"
    ),
}


def main() -> None:
    """Prints the table."""
    past, spam = halves()
    ham = [taken_apart(item.read()) for item in past if item.label == HAM]
    taken = [taken_apart(data) for data in spam]
    mails = {"as it came": spam}
    mails |= {name: [change(one, ham) for one in taken] for name, change in DISGUISES.items()}
    with tempfile.TemporaryDirectory() as scratch:
        train(past, (HAM, SPAM), f"{scratch}/model", Settings())
        ours = missed_by_nbspam(f"{scratch}/model", {}, list(mails.values()))
        peer = bogofilter(past, Path(scratch) / "bogofilter")
        cuts = PEER_CUTS if peer else {}
        print(f"SpamAssassin train.index, every second message trains; {len(spam)} spam judged\n")
        print("| spam missed | nbspam |", *(f"{name} |" for name in cuts))
        print("|---|---:|" + "---:|" * len(cuts))
        for (name, changed), missed in zip(mails.items(), ours, strict=True):
            scores = [peer.score(data) for data in changed] if peer else []
            theirs = [sum(score < cut for score in scores) for cut in cuts.values()]
            print("|", name, "|", *(f"{number} |" for number in [missed, *theirs]), flush=True)


if __name__ == "__main__":
    main()
