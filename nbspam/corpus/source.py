"""A source of mail: parts, one after another, each a stream of Items; and how people recognise a message.

Files come in a fixed order and messages in the order of their file, the same each time; nothing is read
ahead.  What is passed over is in the notes of the latest walk.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cached_property

from nbspam.corpus.item import Item, Skipped, read_items, unreadable
from nbspam.corpus.walk import MailFile, Notes, SourcePart
from nbspam.errors import NoInputError
from nbspam.labels import sort_classes
from nbspam.mail import parse
from nbspam.mail.dates import find_date
from nbspam.mail.html.reader import read_html

BARE = "without an attached message"
HEADER_BYTES = 1 << 16  # enough of a message for read_head


class Source:
    """Mail, labelled or not.

    classes : class names in class order; empty if unlabelled
    ordered_by_index : True if the order is that of an index file, which is time
    notes : of the latest walk
    attached : each message is a report, in place of which come the messages attached to it
    """

    attached = False

    def __init__(
        self, parts: Sequence[SourcePart], first_notes: Notes | None = None, ordered_by_index: bool = False
    ) -> None:
        """first_notes : what was passed over when the source was opened"""
        self.parts = tuple(parts)
        self.classes = sort_classes({label for part in parts for label in part.labels})
        self.ordered_by_index = ordered_by_index
        self.notes = self._first_notes = first_notes or Notes()
        self._counted: list[MailFile] | None = None

    @property
    def skipped(self) -> Skipped:
        """What the latest walk could not read."""
        return self.notes.skipped

    @property
    def left_out(self) -> Counter[str]:
        """What the latest walk left out on purpose."""
        return self.notes.left_out

    @cached_property
    def counts(self) -> list[tuple[SourcePart, Counter[str]]]:
        """How many messages each part has, by class name.

        The files that this walk finds are kept, 200 bytes a file: reading takes no second walk.
        """
        self.notes = deepcopy(self._first_notes)
        self._counted = counted = []
        counted_parts: list[tuple[SourcePart, Counter[str]]] = [(part, Counter()) for part in self.parts]
        for part, counts in counted_parts:
            for file in part.files(self.notes):
                known, found = file.examine(self.notes)
                counts.update({file.label: 0} | found)
                if known:
                    counted.append(known)
        return counted_parts

    def items(self) -> Iterator[Item]:
        """The messages, from the first, in the same order each time."""
        seen: set[int] = set()
        for file in self.files():
            notes = self.notes
            if self._counted is not None:  # what is left out is noted
                notes = Notes()
                notes.skipped, notes.seen = self.notes.skipped, seen
            mail = file.items(notes)
            yield from open_reports(mail, self.notes) if self.attached else mail

    def files(self) -> Iterator[MailFile]:
        """The files of the messages, likewise, which a cluster takes apart; a new walk has new notes."""
        if self._counted is not None:
            yield from self._counted
            return
        self.notes = deepcopy(self._first_notes)
        for part in self.parts:
            yield from part.files(self.notes)


def open_reports(reports: Iterable[Item], notes: Notes) -> Iterator[Item]:
    """The messages attached to these, each under the name of its report; a report without one is left out."""
    for report, data in read_items(reports, notes.skipped):
        from nbspam.corpus.reports import list_attached  # parsing with the standard library takes 16 ms

        attached = list_attached(data)
        if not attached:
            notes.left_out[BARE] += 1
        for message in attached:
            yield Item(report.name, report.label, report.path, data=message)


def stat_mode(path: str) -> int:
    """The st_mode of `path`; NoInputError if it cannot be had."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        raise NoInputError(path, "no such file or folder", "check the path", "no-such-source") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(path, getattr(error, "strerror", None) or str(error)) from None


def unread_error(skipped: Skipped) -> NoInputError:
    """The error that some mail could not be read.  skipped : not empty"""
    what = "1 file or folder" if len(skipped) == 1 else f"{len(skipped):,} files or folders"
    remedy = "check that all is there and whole, and the permissions"
    return NoInputError("SOURCE", f"{what} could not be read; all other mail is done", remedy, "no-input")


def read_fields(data: bytes) -> tuple[float | None, str, str]:
    """Date (unix time), sender and subject of a message; None and empty for what it lacks."""
    message = parse(data[:HEADER_BYTES])
    sender, subject = (" ".join((message.get(name) or "").split()) for name in ("from", "subject"))
    return find_date(message), sender, subject


def read_head(data: bytes) -> str:
    """`2002-08-23  Ann <ann@example.org>  Lunch?`, as far as a message has these fields."""
    seconds, *fields = read_fields(data)
    date = "" if seconds is None else time.strftime("%Y-%m-%d", time.gmtime(seconds))
    return "  ".join(filter(None, (date, *fields)))


def extract_text(data: bytes) -> str:
    """The texts that a mail program shows, one after another; of attached files their names."""
    message = parse(data)
    shown = [part for part in message.parts if not part.is_replaced] or message.parts
    texts = [read_html(part.text).visible if part.is_html else part.text for part in shown]
    names = [f"[{part.filename or part.content_type}]" for part in shown if not part.text]
    return "\n\n".join([text.strip() for text in texts if text.strip()] + names)


def read_heads(names: Iterable[str]) -> dict[str, str]:
    """read_head() each message by the name of its Item; a file that is gone or cannot be read has none."""
    wanted, heads = set(names), {}
    paths = {name if os.path.lexists(name) else name.rpartition("#")[0] for name in wanted}
    for path in sorted(filter(os.path.isfile, paths)):
        for item in MailFile("", path).items(Notes()):
            if item.name in wanted:
                with suppress(OSError):
                    heads[item.name] = read_head(item.read(HEADER_BYTES))
    return heads
