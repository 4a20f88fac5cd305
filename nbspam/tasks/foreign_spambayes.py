"""SpamBayes' database as text: `sb_dbexpimp -e`.

CSV.  The first row is HAM,SPAM, the messages counted; the others are WORD,HAM,SPAM, the messages that hold
the word.  Words of a text are lower case, of 3 to 12 characters with the signs around them, and bare; others
say before a colon where they were found.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable

from nbspam.tasks.foreign_counterparts import (
    Counterpart,
    body_word,
    declared,
    field_named,
    header_word,
    scheme,
)
from nbspam.tasks.foreign_word_list import WordList

REMEDY = "write it anew: sb_dbexpimp -e -d hammie.db -f words.csv"


def read(lines: Iterable[bytes], where: str) -> WordList:
    """The word list; BadDataError with the number of the line that is wrong."""
    found = WordList(where, REMEDY, counterpart)
    messages = None
    rows = csv.reader((line + "\n" for _, line in found.lines(lines)), strict=True)
    try:
        for row in rows:
            if messages is None:
                messages = _messages(found, row)
            elif len(row) != 3 or not row[0]:
                raise found.error(rows.line_num, f"here belongs WORD,HAM,SPAM, not {','.join(row)[:40]!a}")
            else:
                found.add(rows.line_num, row[0], found.counts(rows.line_num, row[1:]))
    except csv.Error as error:
        raise found.error(rows.line_num, f"this is no row of a CSV file ({error})") from None
    return found.finish(messages or [0, 0])


def _messages(found: WordList, row: list[str]) -> list[int]:
    if len(row) != 2:
        raise found.error(1, f"here belongs HAM,SPAM, the messages counted, not {','.join(row)[:40]!a}")
    return found.counts(1, row)


def _address(field: str, text: str) -> Counterpart | None:
    """`addr:` and one side of an address, or `name:` and the whole of a name."""
    kind, _, rest = text.partition(":")
    if kind == "name":
        return header_word(field, rest)
    if kind != "addr":
        return None
    return header_word(field, rest if "." in rest else rest + "@")  # a host, or what stands before the @


def _message_id(text: str) -> Counterpart | None:
    return header_word("message-id", text, text[1:].casefold()) if text[:1] == "@" else None


def _mailer(text: str) -> Counterpart | None:
    """The whole field in lower case; `none` is that there is no such field."""
    return header_word("x-mailer", text) if text != "none" else None


def _field(text: str) -> Counterpart | None:
    """`NAME:TIMES`; a message has one number of times, so the sum over them is exact."""
    name, _, times = text.rpartition(":")
    return field_named(name) if times.isdigit() else None


_READERS: dict[str, Callable[[str], Counterpart | None]] = {
    "subject": lambda text: header_word("subject", text),
    "received": lambda text: header_word("received", text),
    "x-mailer": _mailer,
    "message-id": _message_id,
    "header": _field,
    "email addr": body_word,  # the host of an address in the text
    "proto": scheme,
    "content-type": lambda text: declared("type", text, 60),
    "charset": lambda text: declared("charset", text, 30),
}
_ADDRESSES = frozenset(("from", "to", "cc", "sender", "reply-to"))


def counterpart(word: str) -> Counterpart | None:
    """Our token of the same meaning; None where there is none."""
    mark, colon, text = word.partition(":")
    if not colon:
        return body_word(word)
    if mark in _ADDRESSES:
        return _address(mark, text)
    return _READERS[mark](text) if mark in _READERS else None
