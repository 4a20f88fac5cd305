"""Where the messages of an mbox begin and end.

The mbox formats leave it open (RFC 4155 names one of many).  Here a message begins after a line that
  1. begins with `From `,
  2. is the first of the file or follows an empty line, and
  3. ends with a date: day, month, four-digit year and clock in any order, perhaps with a day of the
     week, a time zone or `remote from HOST`; or has only a sender (an address, `-`, MAILER-DAEMON or
     none, as Thunderbird writes it) and a header line follows.
The third rule keeps a sentence that begins with `From ` in its message.  Content-Length is ignored: it is
often wrong.  The `From ` line, and the empty line before the next one, are no part of a message.
An mbox is read in chunks, so memory is bounded whatever its size.
"""

from __future__ import annotations

import re
from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FROM = b"\nFrom "
_MAX_FROM_BYTES = 1000  # a longer line begins no message
_LOOK_AHEAD_BYTES = 1200  # a `From ` line and the beginning of the next line
_HELD_BACK_BYTES = 8  # the end of a line, an empty line (CRLF) and the beginning of "\nFrom "
_DATE_PARTS = {"day", "month", "year", "clock"}
# Compiled at their first use: `nbspam learn` of one plain message needs none of them.
_DATE_WORD = (
    rb"(?P<day>0?[1-9]|[12]\d|3[01])"
    rb"|(?P<month>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))"
    rb"|(?P<year>19[7-9]\d|2[01]\d\d)"
    rb"|(?P<clock>\d\d?(:\d\d?){1,2})"
    rb"|(?i:mon|tue|wed|thu|fri|sat|sun)|[A-Z]{1,5}|[+-]\d{4}"
)
_SENDER_ALONE = rb"From\s*(-|\S*@\S*|(?i:mailer-daemon))?\s*"
_HEADER_LINE = rb"[^\s:]+:"


def begins_mbox(head: bytes) -> bool:
    """True if a file that begins with `head` (1 KiB is enough) is an mbox."""
    return head.startswith(b"From ") and _begins_message(head, 0, head.find(b"\n"))


def unquoted(data: bytes) -> bytes:
    """A message of an mbox with the quoting of its `From ` lines undone (mboxrd: one `>` less)."""
    return re.sub(rb"\n>(>*From )", rb"\n\1", b"\n" + data)[1:] if b">From " in data else data


def _begins_message(buffer: bytes, at: int, line_end: int) -> bool:
    """True if the line at `at`, which begins with `From `, begins a message."""
    if not 0 <= line_end - at <= _MAX_FROM_BYTES:
        return False
    line = buffer[at:line_end]
    has_header = re.match(_HEADER_LINE, buffer[line_end + 1 : line_end + 81])
    return is_dated(line) or bool(has_header and re.fullmatch(_SENDER_ALONE, line))


def is_dated(line: bytes) -> bool:
    """True if a `From ` line ends with a date."""
    words = line[-200:].split()
    if words[-3:-1] == [b"remote", b"from"]:
        del words[-3:]
    seen = set()
    for word in reversed(words):
        found = re.fullmatch(_DATE_WORD, word.strip(b",()"))
        if not found:
            return False
        seen.add(found.lastgroup)
        if seen >= _DATE_PARTS:
            return True
    return False


def fragments(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """The messages of an mbox in pieces: (offset in the file, bytes, True if the message ends here).

    Every message has at least one piece.  Text before the first `From ` line is dropped.
    """
    buffer, base = b"\n\n", -2  # as if an empty line came before the file
    begin = search = 0
    started = False
    for chunk in chain(filter(None, chunks), (b"",)):
        buffer += chunk
        decided = len(buffer) - (_LOOK_AHEAD_BYTES if chunk else 0)
        while 0 <= (at := buffer.find(_FROM, search)) < decided:
            line_end = buffer.find(b"\n", at + len(_FROM))
            search = max(line_end, at + 1)
            if _after_empty_line(buffer, at) and _begins_message(buffer, at + 1, line_end):
                if started:
                    yield base + begin, buffer[begin : at - (buffer[at - 1] == 13)], True
                started, begin = True, line_end + 1
        safe = max(begin, min(len(buffer) - _HELD_BACK_BYTES, at - 2 if at >= 0 else len(buffer)))
        if started and not chunk:
            yield base + begin, buffer[begin : len(buffer) - _last_empty_line(buffer[begin - 1 :])], True
        elif started and safe > begin:
            yield base + begin, buffer[begin:safe], False
        begin = safe
        cut = max(0, begin - 2)
        buffer, base, begin, search = buffer[cut:], base + cut, begin - cut, max(0, begin - cut - 1)


def _after_empty_line(buffer: bytes, at: int) -> bool:
    before = buffer[max(0, at - 2) : at]
    return before[-1:] == b"\n" or before == b"\n\r"


def _last_empty_line(data: bytes) -> int:
    """The length of the empty line at the end of an mbox, 0 if there is none."""
    if data.endswith(b"\n\n"):
        return 1
    return 2 if data.endswith(b"\n\r\n") else 0
