"""How people recognise a message: its date, sender and subject, and its text as a mail program shows it."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from nbspam.corpus.walk import MailFile, Notes
from nbspam.mail import parse
from nbspam.mail.dates import find_date
from nbspam.mail.html.reader import read_html

HEADER_BYTES = 1 << 16  # enough of a message for these fields


def read_head(data: bytes) -> str:
    """`2002-08-23  Ann <ann@example.org>  Lunch?`, as far as a message has these fields."""
    message = parse(data[:HEADER_BYTES])
    seconds = find_date(message)
    date = "" if seconds is None else time.strftime("%Y-%m-%d", time.gmtime(seconds))
    fields = (date, message.get("from") or "", message.get("subject") or "")
    return "  ".join(filter(None, (" ".join(field.split()) for field in fields)))


def extract_text(data: bytes) -> str:
    """The texts that a mail program shows, one after another; of attached files their names."""
    message = parse(data)
    shown = [part for part in message.parts if not part.is_replaced] or message.parts
    texts = [read_html(part.text).visible if part.is_html else part.text for part in shown]
    names = [f"[{part.filename or part.content_type}]" for part in shown if not part.text]
    return "\n\n".join([text.strip() for text in texts if text.strip()] + names)


def heads(names: Iterable[str]) -> dict[str, str]:
    """read_head() each message by the name of its Item; a file that is gone or cannot be read has none."""
    wanted, found = set(names), {}
    paths = {name if os.path.lexists(name) else name.rpartition("#")[0] for name in wanted}
    for path in sorted(filter(os.path.isfile, paths)):
        for item in MailFile("", path).items(Notes()):
            if item.name in wanted:
                with suppress(OSError):
                    found[item.name] = read_head(item.read(HEADER_BYTES))
    return found
