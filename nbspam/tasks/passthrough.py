"""A message with our header fields in it.

They are the first of all fields (after an mbox `From ` line), in the message's own line ends, in ASCII,
folded.  Fields of our names that the
message brought along are forged or stale, and are taken out; no other byte changes.  A first field
that is indented (broken mail) stays before ours: behind it, it would be a folded part of our field.
Where an indented line is text (broken mail without a header), an empty line goes between.
"""

from __future__ import annotations

from itertools import chain

from nbspam.labels import SPAM
from nbspam.mail import header_lines
from nbspam.mail.headers import BYTE_ORDER_MARK, header_start
from nbspam.mail.limits import MAX_FIELD_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbspam.filter import Verdict

MBOX = b"From "  # how mailboxes begin, and many a message on its way
MBOX_HEAD_BYTES = 1024
OWN = "x-nbspam"
FLAGS = ("x-spam-flag", "x-spam-status")
MAX_CLUE = 60
# Of each byte whether it is a line end, a blank or anything else: "\n." is before a line that is not folded.
_LINE_STARTS = b"." * 9 + b" \n" + b"." * 21 + b" " + b"." * 223


def marked(data: bytes, verdict: Verdict, clues: list[tuple[str, float]], spam_flag: bool) -> bytes:
    """The message with the verdict in its header."""
    names = (OWN, *FLAGS) if spam_flag else (OWN,)
    lines = header_lines(data)
    start = _place(data, lines)
    end = b"\r\n" if _first_line_end(data, start) == b"\r\n" else b"\n"
    own = own_fields(verdict, clues, spam_flag).encode("ascii").replace(b"\n", end)
    if not lines and data[start : start + 1] in (b" ", b"\t"):
        own += end  # no header, and text that is indented: an empty line keeps it from being part of ours
    spans = {first: behind for first, behind, name in lines if name in names}
    cuts = sorted((spans | _beyond_bound(data, lines, names)).items())
    before = _without(data, cuts, 0, start)
    if start and not data[:start].endswith((b"\n", b"\r", BYTE_ORDER_MARK)):
        before += end  # an mbox line alone
    return before + own + _without(data, cuts, start, len(data))


def _place(data: bytes, lines: list[tuple[int, int, str]]) -> int:
    """Where our fields go: first, but behind an indented first field: it would become a part of ours."""
    start = header_start(data)
    if lines and data[start : start + 1] in (b" ", b"\t") and data[: lines[0][1]].endswith((b"\n", b"\r")):
        return lines[0][1]
    return start


def _beyond_bound(data: bytes, lines: list[tuple[int, int, str]], names: tuple[str, ...]) -> dict[int, int]:
    """Start -> stop of the fields of these names in what is beyond MAX_HEADER_BYTES, the last of the lines.

    Searched, not walked: a header of 50 MB costs a second.  The line that went before is looked at
    again, because its folded lines may go on behind the bound.
    """
    if len(lines) < 2 or lines[-1][2]:
        return {}
    start, stop = lines[-2][0], lines[-1][1]
    text = b"\n" + data[start:stop].lower().replace(b"\r", b"\n")
    starts = text.translate(_LINE_STARTS)
    found = {}
    for name in names:
        field = b"\n" + name.encode("ascii")
        at = text.find(field)
        while at >= 0:
            behind = at + len(field)
            following = starts.find(b"\n.", behind)
            if text[behind : at + MAX_FIELD_NAME].lstrip(b" \t").startswith(b":"):
                found[start + at] = start + following if following >= 0 else stop
            at = text.find(field, following) if following >= 0 else -1
    return found


def _without(data: bytes, cuts: list[tuple[int, int]], start: int, stop: int) -> bytes:
    """data[start:stop] without these spans; a CR before one and a line end behind it stay apart."""
    pieces = []
    last = b""
    for first, behind in cuts:
        if start <= first < stop:
            pieces.append(data[start:first])
            last = pieces[-1][-1:] or last
            start = behind
            if last == b"\r" and data[behind : behind + 1] in (b"\r", b"\n"):
                cut = data[first:behind]
                pieces.append(cut[len(cut.rstrip(b"\r\n")) :])
                last = b"\n"
    return b"".join([*pieces, data[start:stop]])


def _first_line_end(data: bytes, start: int) -> bytes:
    feed = data.find(b"\n", start if start < len(data) else 0)
    return b"\r\n" if feed > 0 and data[feed - 1 : feed] == b"\r" else b"\n"


def own_fields(verdict: Verdict, clues: list[tuple[str, float]], spam_flag: bool) -> str:
    """X-Nbspam, and with spam_flag the two fields that SpamAssassin's users filter on."""
    shown = "undefined" if verdict.probability is None else f"{verdict.probability:.4f}"
    odds = "undefined" if verdict.log_odds is None else f"{verdict.log_odds:.1f}"
    label = verdict.label.encode("ascii", "backslashreplace").decode("ascii")
    written = ",\n\t".join(f"{_clue(text)} {nats:+.1f}" for text, nats in clues)
    fields = f'X-Nbspam: {label}; probability={shown}; log-odds={odds};\n\tclues="{written}"\n'
    if spam_flag:
        yes = verdict.label == SPAM
        fields += "X-Spam-Flag: YES\n" if yes else ""
        fields += f"X-Spam-Status: {'Yes' if yes else 'No'}, score={odds}, probability={shown}\n"
    return fields


def _clue(text: str) -> str:
    safe = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if " " < c <= "~" and c not in '"\\,' else "." for c in safe)[:MAX_CLUE]


def unboxed(head: bytes, rest: Iterable[bytes] = ()) -> bytes | None:
    """The message of an mbox that holds but one, as training reads it; None for an mbox of many.

    head, rest : what begins with `From `, in chunks; of an mbox of many only its first message is read
    The message comes without the `From ` line, the quoting of such lines and the empty line at the end.
    """
    from nbspam.corpus.mbox import begins_mbox, fragments, unquoted  # only for what begins with `From `

    if not begins_mbox(head[:MBOX_HEAD_BYTES]):
        return b"".join([head, *rest])
    pieces: list[bytes] = []
    whole = False
    for _, piece, ended in fragments(chain((head,), rest)):
        if whole:
            return None  # a second message begins
        pieces.append(piece)
        whole = ended
    return unquoted(b"".join(pieces))


def piped_message(data: bytes) -> bytes:
    """What is read of bytes that are one message whatever they look like: those on stdin, or of a client.

    The parser leaves out the `From ` line by itself: procmail writes one before every mail, and a module
    more for each would cost 1 ms.
    """
    found = unboxed(data) if data.startswith(MBOX) and b">From " in data else data
    return data if found is None else found
