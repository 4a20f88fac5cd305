"""The recipes of the manual, what a test adds to them, our header field, and what a terminal shows."""

import os
import re
import select
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANUAL = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md")))
PATIENCE = 60  # seconds
OWN_FIELD = re.compile(rb"X-Nbspam: (ham|newsletter|spam|unsure); [^\r\n]*\r?\n(?:\t[^\r\n]*\r?\n)*")

BROKEN = {
    "empty": b"",
    "newline": b"\n",
    "newlines": b"\n" * 1000,
    "headers-only": b"Subject: no body and no end of line",
    "empty-body": b"From: a@example.org\nSubject: nothing in it\n\n",
    "no-header": b"\n\na body without a header",
    "no-last-newline": b"Subject: cut\n\nthe last line has no end",
    "nul": b"Subject: nul \0 here\n\nbytes \0\0\0 in the body\n\0",
    "eight-bit": b"Subject: \xff\xfe\xe9t\xe9\n\n\x80\x81\xfe\xff caf\xe9\n",
    "crlf": b"From: a@example.org\r\nSubject: crlf\r\n\r\nline\r\nline\r\n",
    "mixed-ends": b"Subject: mixed\r\nTo: b@example.org\n\r\none\rtwo\nthree\r\n",
    "bare-cr": b"Subject: old\rTo: b@example.org\r\rbody\r",
    "from-line": b"From a@example.org Sat Jan  3 01:05:34 2026\nSubject: mbox\n\nFrom here\n>From quoted\n",
    "from-crlf": b"From a@example.org Sat Jan  3 01:05:34 2026\r\nSubject: mbox\r\n\r\nbody\r\n",
    "from-only": b"From a@example.org Sat Jan  3 01:05:34 2026\n",
    "forged": b"X-Nbspam-Not: ours\nSubject: forged\n\nX-Nbspam: spam; in the body\n",
    "long-line": b"Subject: long\n\n" + b"x" * 300_000 + b"\n",
    "control": b"Subject: \x1b[31mred\x07\n\n\x1b]0;title\x07\n",
}


def recipe(name: str) -> str:
    """The block of the manual that is marked so."""
    found = re.search(rf"<!-- recipe: {name} -->\n```\w+\n(.*?)```\n", MANUAL, re.DOTALL)
    assert found, name
    return found[1]


def adapted(text: str, changes: Mapping[str, object]) -> str:
    """A recipe with the places of a test; each old one is in it once."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, str(new))
    return text


def configuration(name: str, **places: object) -> str:
    """A file of conf/, with these in the places of their @names@."""
    text = Path(__file__).with_name("conf").joinpath(name).read_text()
    return re.sub(r"@(\w+)@", lambda place: str(places[place[1]]), text)


def without_own_field(message: bytes) -> bytes:
    """The message without our header field, which must be there."""
    rest, count = OWN_FIELD.subn(b"", message, count=1)
    assert count == 1, message[:200]
    return rest


def read_until(terminal: int, is_done: Callable[[bytes], object]) -> bytes:
    """What a program writes to its terminal until it is done."""
    shown, until = b"", time.monotonic() + PATIENCE
    while not is_done(shown) and time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 4096)
    assert is_done(shown), shown[-2000:]
    return shown
