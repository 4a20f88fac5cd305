"""What another filter counted, under our tokens.

Hides how counts of several spellings become one, and what tells a damaged list from a sound one.  Others
count `Free` and `free` apart, and how many messages hold both is not known; the sum, at most all messages, is
nearer to the truth than the largest (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nbspam.errors import BadDataError
from nbspam.labels import HAM_AND_SPAM
from nbspam.store.text import natural
from nbspam.tasks.foreign_counterparts import Counterpart

MAX_COUNT = 1_000_000_000  # messages; sums over a word list stay far below 64 bits
MAX_LINE_BYTES = 1 << 16  # the words of others have some dozens


def together(known: list[int], counts: list[int]) -> list[int]:
    """Counts by class of two spellings as those of one word."""
    return [a + b for a, b in zip(known, counts, strict=True)]


class WordList:
    """Messages and words by class: of each of our tokens, how many messages hold it.

    messages : ham, spam
    tokens   : (view, text) -> [ham, spam], each at most the messages of its class
    words    : how many words the other filter has;  taken : those that are tokens of ours
    """

    def __init__(self, where: str, remedy: str, counterpart: Callable[[str], Counterpart | None]) -> None:
        """where : the file;  remedy : how to make it anew;  counterpart : word -> our token"""
        self.messages: tuple[int, ...] = ()
        self.tokens: dict[Counterpart, list[int]] = {}
        self.words = 0
        self.taken = 0
        self._where = where
        self._remedy = remedy
        self._counterpart = counterpart
        self._largest = [(0, 0), (0, 0)]  # by class: count, line

    def add(self, line: int, word: str, counts: list[int]) -> None:
        """Counts ham and spam of a word, whose bytes that are no UTF-8 are surrogates; none is no word."""
        if not any(counts):
            return
        self._largest = [max(old, (n, line)) for old, n in zip(self._largest, counts, strict=True)]
        self.words += 1
        # In which charset other bytes were is not known.
        token = self._counterpart(word) if word.isascii() or word.isprintable() else None
        if token:
            self.taken += 1
            known = self.tokens.setdefault(token, [0, 0])
            known[:] = together(known, counts)

    def finish(self, messages: list[int]) -> WordList:
        """Itself, when all words are there; raises what cannot be of the messages counted, ham and spam."""
        for k, (name, (count, line)) in enumerate(zip(HAM_AND_SPAM, self._largest, strict=True)):
            if not messages[k]:
                why, remedy = f"no message of class {name} was counted", "a filter needs mail of each class"
                raise BadDataError(self._where, why, remedy, "class-empty")
            if count > messages[k]:
                why = f"{count:,} messages with a word, and only {messages[k]:,} messages of class {name}"
                remedy = "take the line out, or mend the count of messages"
                raise BadDataError(f"{self._where}: line {line}", why, remedy, "import-count")
        if not self.taken:
            why = f"none of its {self.words:,} words is counted here"
            raise BadDataError(self._where, why, self._remedy, "import-empty")
        self.messages = tuple(messages)
        for counts in self.tokens.values():
            counts[:] = [min(n, m) for n, m in zip(counts, messages, strict=True)]
        return self

    def error(self, line: int, why: str) -> BadDataError:
        """What tells which line is wrong."""
        return BadDataError(f"{self._where}: line {line}", why, self._remedy, "import-damaged")

    def counts(self, line: int, fields: Iterable[str]) -> list[int]:
        """Whole numbers of a line."""
        return [self._count(line, field) for field in fields]

    def _count(self, line: int, text: str) -> int:
        try:
            count = natural(text)
        except ValueError:
            raise self.error(line, f"{text[:40]!a} cannot be a count of messages") from None
        if count > MAX_COUNT:
            raise self.error(line, f"a count of {count:,} messages is none that a filter can have")
        return count

    def lines(self, lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
        """Number and text of each whole line, its end taken off."""
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_LINE_BYTES:
                raise self.error(number, "the line is too long for one of a word list")
            if not line.endswith(b"\n"):
                raise self.error(number, "the text is cut short in this line")
            yield number, line.decode("utf-8", "surrogateescape").rstrip("\r\n")
