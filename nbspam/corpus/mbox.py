"""Where the messages of an mbox begin and end.

Hides the rule, as the mbox formats leave it open (RFC 4155 names one of many).  A message begins
after a line that
  1. begins with `From `,
  2. stands at the start of the file or after an empty line, and
  3. ends with a date: day, month, four-digit year and clock, in any order, perhaps with a day of
     the week, a time zone, `remote from HOST`, and nothing after it; or else has only a sender (an
     address, `-`, MAILER-DAEMON, or none: Thunderbird) and a header line follows.
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
_LOOK_AHEAD_BYTES = 1200  # a `From ` line and the beginning of the next; longer lines are no `From ` lines
_HELD_BACK = 8  # an end of line, an empty line (CRLF) and an unfinished "\nFrom "
_MONTHS = frozenset(b"jan feb mar apr may jun jul aug sep oct nov dec".split())
_WEEKDAYS = frozenset(b"mon tue wed thu fri sat sun".split())
_WHOLE_DATE = 15  # day, month, year, clock: one bit each
_NO_DATE = -1


def begins_mbox(head: bytes) -> bool:
    """Whether a file that begins with `head` (1 KiB is enough) is an mbox."""
    return head.startswith(b"From ") and _begins_message(head, 0, head.find(b"\n"))


def only_message(data: bytes) -> tuple[int, int] | None:
    """(start, stop) of the message of a whole mbox, if it is plain that there is but one."""
    if FROM in data:
        return None
    return data.find(b"\n") + 1, len(data) - _last_empty_line(data)


def _begins_message(buffer: bytes, at: int, line_end: int) -> bool:
    """Whether the line at `at`, which begins with `From `, is one that begins a message."""
    if not 0 <= line_end - at <= 1000:
        return False
    line = buffer[at:line_end]
    return is_dated(line) or (_has_only_sender(line) and _is_header(buffer[line_end + 1 : line_end + 80]))


def _has_only_sender(line: bytes) -> bool:
    words = line.split()
    return len(words) == 1 or (
        len(words) == 2 and (words[1] == b"-" or b"@" in words[1] or words[1].upper() == b"MAILER-DAEMON")
    )


def _is_header(line: bytes) -> bool:
    name, colon, _ = line.partition(b":")
    return bool(colon) and name.split() == [name]


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
        decided = len(buffer) - (_LOOK_AHEAD_BYTES if chunk else 0)
        while 0 <= (at := buffer.find(FROM, search)) < decided:
            line_end = buffer.find(b"\n", at + len(FROM))
            search = max(line_end, at + 1)
            if _after_empty_line(buffer, at) and _begins_message(buffer, at + 1, line_end):
                if started:
                    yield base + begin, buffer[begin : at - (buffer[at - 1] == 13)], True
                started, begin = True, line_end + 1
        safe = max(begin, min(len(buffer) - _HELD_BACK, at - 2 if at >= 0 else len(buffer)))
        if started and not chunk:
            yield base + begin, buffer[begin : len(buffer) - _last_empty_line(buffer[begin - 1 :])], True
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


def _after_empty_line(buffer: bytes, at: int) -> bool:
    before = buffer[max(0, at - 2) : at]
    return before[-1:] == b"\n" or before == b"\n\r"


def _last_empty_line(data: bytes) -> int:
    """The length of the empty line at the end of an mbox, 0 if there is none."""
    if data.endswith(b"\n\n"):
        return 1
    return 2 if data.endswith(b"\n\r\n") else 0
