"""A message with our header fields in it.

Hides where they go and how a clue is written in a header: first of all fields (after an mbox
`From ` line), in the message's own line ends, in ASCII, folded.  Fields of our names that the
message brought along are forged or stale, and are taken out; no other byte changes.  A first line
that is indented (broken mail) stays before ours: behind it, it would be a folded part of our field.
"""

from __future__ import annotations

from nbspam.labels import SPAM
from nbspam.mail import header_lines
from nbspam.mail.headers import header_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.workflow.classifying import Verdict

OWN = "x-nbspam"
FLAGS = ("x-spam-flag", "x-spam-status")
MAX_CLUE = 60


def marked(data: bytes, verdict: Verdict, clues: list[tuple[str, float]], spam_flag: bool) -> bytes:
    """The message with the verdict in its header."""
    names = (OWN, *FLAGS) if spam_flag else (OWN,)
    lines = header_lines(data)
    start = _place(data, lines)
    end = b"\r\n" if _first_line_end(data, start) == b"\r\n" else b"\n"
    own = own_fields(verdict, clues, spam_flag).encode("ascii").replace(b"\n", end)
    before = _without(data, lines, names, 0, start)
    if start and not data[:start].endswith((b"\n", b"\r")):
        before += end  # an mbox line alone
    return before + own + _without(data, lines, names, start, len(data))


def _place(data: bytes, lines: list[tuple[int, int, str]]) -> int:
    """Where our fields go: first, but behind an indented first field: it would become a part of ours."""
    start = header_start(data)
    if lines and data[start : start + 1] in (b" ", b"\t") and data[: lines[0][1]].endswith(b"\n"):
        return lines[0][1]
    return start


def _without(
    data: bytes, lines: list[tuple[int, int, str]], names: tuple[str, ...], start: int, stop: int
) -> bytes:
    """data[start:stop] without the fields of these names."""
    pieces = []
    for first, last, name in lines:
        if name in names and start <= first < stop:
            pieces.append(data[start:first])
            start = last
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
