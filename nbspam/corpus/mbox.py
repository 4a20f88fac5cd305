"""Where the messages of an mbox begin and end.

The mbox formats leave it open (RFC 4155 names one of many).  Here a message begins after a line that
  1. begins with `From `,
  2. is the first of the file or follows an empty line, and
  3. comes before a header line, and ends with a date: day, month, four-digit year and clock in any order,
     perhaps with a day of the week, a time zone or `remote from HOST`; or has only a sender (an address,
     `-`, MAILER-DAEMON or none, as Thunderbird writes it); or has a clock (ISO 8601, or in another
     language) and comes before a well-known field.
The third rule keeps a sentence that begins with `From ` in its message.  Content-Length is ignored: it is
often wrong.  The `From ` line, and the empty line before the next one, are no part of a message.
A byte order mark or empty lines may come before the first.  If all lines end with a CR alone, so do these.
An mbox is read in chunks, so memory is bounded whatever its size.  `re` would cost a fresh process 3 ms.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import chain

_FROM = b"\nFrom "
_MAX_FROM_BYTES = 1000  # a longer line begins no message
_LOOK_AHEAD_BYTES = 1200  # a `From ` line and the beginning of the next line
_HELD_BACK_BYTES = 8  # the end of a line, an empty line (CRLF) and the beginning of "\nFrom "
_DATE_PARTS = {"day", "month", "year", "clock"}
_MONTHS = frozenset(b"jan feb mar apr may jun jul aug sep oct nov dec".split())
_WEEKDAYS = frozenset(b"mon tue wed thu fri sat sun".split())


def begins_mbox(head: bytes) -> bool:
    """True if a file that begins with `head` (1 KiB is enough) is an mbox."""
    head = head if b"\n" in head else head.replace(b"\r", b"\n")  # every line may end with a CR alone
    start = len(head) - len(head.removeprefix(BOM_UTF8).lstrip(b"\r\n"))
    return head.startswith(b"From ", start) and _begins_message(head, start, head.find(b"\n", start))


def unquote(data: bytes) -> bytes:
    """A message of an mbox with the quoting of its `From ` lines undone (mboxrd: one `>` less)."""
    if b">From " not in data:
        return data
    first, *rest = (b"\n" + data).split(b"\n>")
    lines = [(b"\n" if line.lstrip(b">").startswith(b"From ") else b"\n>") + line for line in rest]
    return b"".join([first, *lines])[1:]


def _begins_message(buffer: bytes, at: int, line_end: int) -> bool:
    """True if the line at `at`, which begins with `From `, begins a message."""
    if not 0 <= line_end - at <= _MAX_FROM_BYTES:
        return False
    line, follows = buffer[at:line_end], buffer[line_end + 1 : line_end + 81]
    name, colon, _ = follows.partition(b":")
    if not colon or name.split() != [name]:
        return not follows and has_date(line)
    if has_date(line):
        return True
    sender = line[len(_FROM) - 1 :].strip()
    if len(sender.split()) <= 1 and (b"@" in sender or sender.lower() in (b"", b"-", b"mailer-daemon")):
        return True
    from nbspam.mail.headers import is_known  # 4 ms, and nearly all lines have a date

    before, _, after = sender.rpartition(b":")
    has_clock = before[-1:].isdigit() and after[:1].isdigit()
    return has_clock and is_known(name.decode("latin-1").lower())


def has_date(line: bytes) -> bool:
    """True if a `From ` line ends with a date."""
    words = line[-200:].split()
    if words[-3:-1] == [b"remote", b"from"]:
        del words[-3:]
    seen = set()
    for word in reversed(words):
        part = _classify_word(word.strip(b",()"))
        if not part:
            return False
        seen.add(part)
        if seen >= _DATE_PARTS:
            return True
    return False


def _classify_word(word: bytes) -> str:
    """Which part of a date a word may be; "" if none."""
    lower = word.lower()
    if word.isdigit():
        if len(word) == 4:
            return "year" if b"1970" <= word < b"2200" else ""
        return "day" if len(word) <= 2 and 1 <= int(word) <= 31 else ""
    if lower in _MONTHS:
        return "month"
    if lower in _WEEKDAYS or (word.isalpha() and word.isupper() and len(word) <= 5):
        return "day of the week, or zone"
    if word[:1] in (b"+", b"-"):
        return "zone" if len(word) == 5 and word[1:].isdigit() else ""
    pieces = word.split(b":")
    return "clock" if len(pieces) in (2, 3) and all(len(p) <= 2 and p.isdigit() for p in pieces) else ""


def count_unsplit(message: bytes) -> int:
    """How many `From ` lines with a date, before header lines, a message holds that begin no message."""
    n_lines, at = 0, message.find(_FROM)
    while at >= 0:
        line_end = message.find(b"\n", at + 1)
        if line_end + 1 < len(message) and _begins_message(message, at + 1, line_end):
            n_lines += 1
        at = message.find(_FROM, at + 1)
    return n_lines


def split_messages(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """The messages of an mbox in pieces: (offset in the file, bytes, True if the message ends here).

    Every message has at least one piece.  Text before the first `From ` line is dropped.
    """
    buffer, base = b"\n\n", -2  # base: its offset; as if an empty line came before the file
    begin = search = 0  # in the buffer: of what was not given yet, and of where to look for a `From ` line
    started = False  # a message
    ends_by_cr = None  # every line, as old programs for the Mac write them
    for chunk in chain(filter(None, chunks), (b"",)):
        if ends_by_cr is None:
            ends_by_cr = b"\r" in chunk[:-1] and b"\n" not in chunk
            if chunk.startswith(BOM_UTF8):
                chunk = chunk.replace(BOM_UTF8, b"\n\n\n", 1)
        buffer += chunk.replace(b"\r", b"\n") if ends_by_cr else chunk
        decided = len(buffer) - (_LOOK_AHEAD_BYTES if chunk else 0)  # up to here all is known of a line
        while 0 <= (at := buffer.find(_FROM, search)) < decided:
            line_end = buffer.find(b"\n", at + len(_FROM))
            search = max(line_end, at + 1)
            is_after_empty = buffer.endswith((b"\n", b"\n\r"), max(0, at - 2), at)
            if is_after_empty and _begins_message(buffer, at + 1, line_end):
                if started:
                    yield base + begin, buffer[begin : at - (buffer[at - 1] == 13)], True
                started, begin = True, line_end + 1
        # Up to here nothing can belong to the end of the message.
        safe = max(begin, min(len(buffer) - _HELD_BACK_BYTES, at - 2 if at >= 0 else len(buffer)))
        if started and not chunk:
            yield base + begin, buffer[begin : len(buffer) - _measure_empty_line(buffer[begin - 1 :])], True
        elif started and safe > begin:
            yield base + begin, buffer[begin:safe], False
        begin = safe
        cut = max(0, begin - 2)
        buffer, base, begin, search = buffer[cut:], base + cut, begin - cut, max(0, begin - cut - 1)


def find_only_message(mbox: bytes) -> tuple[int, int] | None:
    """Where the message of a whole mbox begins and ends if it plainly has only one, as split_messages says.

    Mail that was saved from an mbox is in such files, one a message, and this takes a tenth of the time.
    """
    begin = mbox.find(b"\n") + 1
    if not begin or not mbox.startswith(b"From ") or _FROM in mbox:
        return None
    return begin, len(mbox) - _measure_empty_line(mbox[max(begin - 1, len(mbox) - 3) :])


def _measure_empty_line(data: bytes) -> int:
    """The length of the empty line at the end of an mbox, or 0."""
    if data.endswith(b"\n\n"):
        return 1
    return 2 if data.endswith(b"\n\r\n") else 0
