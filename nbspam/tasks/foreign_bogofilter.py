"""bogofilter's word list as text: `bogoutil -d wordlist.db`.

Lines `WORD SPAM HAM DATE`.  SPAM and HAM are messages: a word counts once a message, in each of its
spellings.  `.MSG_COUNT` has the messages of the classes, other words that begin with a full stop are notes.
A word of a header has the mark of its field before it; `to:` is of To and Cc, and `head:` of all fields that
have no mark of their own, their names among the words.  The words of a text are those of its HTML tags, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from nbspam.tasks.foreign_counterparts import Counterpart, body_word, field_named, header_word
from nbspam.tasks.foreign_word_list import WordList

REMEDY = "write it anew: bogoutil -d wordlist.db"
_MESSAGES = ".MSG_COUNT"
_FIELDS = {"subj": "subject", "from": "from", "to": "to", "rtrn": "return-path", "rcvd": "received"}


def read(lines: Iterable[bytes], where: str) -> WordList:
    """The word list; BadDataError with the number of the line that is wrong."""
    found = WordList(where, REMEDY, counterpart)
    messages = None
    for number, line in found.lines(lines):
        fields = line.split(" ")
        if len(fields) not in (3, 4) or not fields[0]:  # the date may be missing
            raise found.error(number, f"here belongs WORD SPAM HAM DATE, not {line[:40]!a}")
        spam, ham = found.counts(number, fields[1:3])
        if fields[0] == _MESSAGES:
            messages = [ham, spam]
        elif not fields[0].startswith("."):
            found.add(number, fields[0], [ham, spam])
    if messages is None:
        raise found.error(number, f"the text ends without {_MESSAGES}, the messages counted")
    return found.finish(messages)


def counterpart(word: str) -> Counterpart | None:
    """Our token of the same meaning; None where there is none."""
    prefix, colon, text = word.partition(":")
    if not colon:
        return body_word(word)
    if prefix == "head":
        return field_named(text) if _names_a_field(text) else None
    return header_word(_FIELDS[prefix], text) if prefix in _FIELDS else None


def _names_a_field(text: str) -> bool:
    """Whether it is written as the name of a field: X-Mailer; other words of a header hardly ever are."""
    parts = text.split("-")
    return len(parts) > 1 and all(part[:1].isupper() for part in parts)
