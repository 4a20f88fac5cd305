"""Where the messages of an mbox begin and end.

Hides the rule, as the mbox formats leave it open (RFC 4155 names one of many).  A message begins
after a line that
  1. begins with `From `,
  2. stands at the start of the file or after an empty line, and
  3. ends with a date: day, month, four-digit year and clock, in any order, perhaps with a day of
     the week, a time zone, `remote from HOST`; nothing else after the sender.
The third keeps apart the sentence that begins with `From ` in mail written without quoting.
Content-Length is not looked at: it is often wrong, and then swallows or cuts messages.  The `From `
line and the empty line before the next one belong to the mbox, not to the message.
Works on chunks: memory is bounded whatever the size of the mbox.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FROM = b"\nFrom "
MAX_FROM_LINE_BYTES = 1024
_HELD_BACK = 8  # an end of line, an empty line (CRLF) and an unfinished "\nFrom "
_MONTHS = frozenset(b"jan feb mar apr may jun jul aug sep oct nov dec".split())
_WEEKDAYS = frozenset(b"mon tue wed thu fri sat sun".split())
_WHOLE_DATE = 15  # day, month, year, clock: one bit each
_NO_DATE = -1


def begins_mbox(head: bytes) -> bool:
    """Whether a file that begins with `head` (1 KiB is enough) is an mbox."""
    if not head.startswith(b"From "):
        return False
    line, newline, _ = head.partition(b"\n")
    return bool(newline) and is_dated(line)


def is_dated(line: bytes) -> bool:
    """Whether a `From ` line ends with a date and nothing after it."""
    words = line[-200:].split()
    if words[-3:-1] == [b"remote", b"from"]:
        del words[-3:]
    seen = 0
    for word in reversed(words):
        bit = _date_bit(word.strip(b",()"))
        if bit == _NO_DATE:
            return False
        seen |= bit
        if seen == _WHOLE_DATE:
            return True
    return False


def _date_bit(word: bytes) -> int:
    """Which part of a date `word` is: 1 day, 2 month, 4 year, 8 clock, 0 a mere ornament."""
    if word.isdigit():
        if len(word) <= 2:
            return 1 if 1 <= int(word) <= 31 else _NO_DATE
        return 4 if len(word) == 4 and b"1970" <= word <= b"2199" else _NO_DATE
    lowered = word.lower()
    if lowered in _MONTHS:
        return 2
    if b":" in word:
        clock = word.split(b":")
        return 8 if 2 <= len(clock) <= 3 and all(len(p) <= 2 and p.isdigit() for p in clock) else _NO_DATE
    if lowered in _WEEKDAYS or (word.isalpha() and word.isupper() and len(word) <= 5):
        return 0
    return 0 if word[:1] in (b"+", b"-") and len(word) == 5 and word[1:].isdigit() else _NO_DATE


def fragments(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """The messages of an mbox in pieces: (offset in the file, bytes, whether the message ends here).

    Every message gives at least one piece, its last one marked.  What stands before the first
    `From ` line is nobody's and is dropped.
    """
    buffer, base = b"\n\n", -2  # as if an empty line stood before the file
    begin = search = 0
    started = False
    for chunk in _with_end(chunks):
        buffer += chunk
        while True:
            at, line_end = _next_from_line(buffer, search)
            if line_end < 0:
                break
            search = line_end
            if not _after_empty_line(buffer, at) or not is_dated(buffer[at + 1 : line_end]):
                continue
            if started:
                yield base + begin, buffer[begin : at - (buffer[at - 1] == 13)], True
            started, begin = True, line_end + 1
        safe = max(begin, min(len(buffer) - _HELD_BACK, at - 2 if at >= 0 else len(buffer)))
        if started and not chunk:
            yield base + begin, _without_last_empty_line(buffer[begin:]), True
        elif started and safe > begin:
            yield base + begin, buffer[begin:safe], False
        begin = safe
        cut = max(0, begin - 2)
        buffer, base, begin, search = buffer[cut:], base + cut, begin - cut, max(0, begin - cut - 1)


def _with_end(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks, then an empty one: the end."""
    for chunk in chunks:
        if chunk:
            yield chunk
    yield b""


def _next_from_line(buffer: bytes, search: int) -> tuple[int, int]:
    """(newline before, newline after) of the next line with `From `, -1 for what is not (yet) there."""
    while (at := buffer.find(FROM, search)) >= 0:
        line_end = buffer.find(b"\n", at + len(FROM))
        if line_end >= 0 or len(buffer) - at <= MAX_FROM_LINE_BYTES:
            return at, line_end
        search = at + len(FROM)
    return -1, -1


def _after_empty_line(buffer: bytes, at: int) -> bool:
    before = buffer[max(0, at - 2) : at]
    return before[-1:] == b"\n" or before == b"\n\r"


def _without_last_empty_line(data: bytes) -> bytes:
    if data.endswith(b"\n\n"):
        return data[:-1]
    if data.endswith(b"\n\r\n"):
        return data[:-2]
    return data
