"""A message with our header fields in it.

Hides where they go and how a clue is written in a header: first of all fields (after an mbox
`From ` line), in the message's own line ends, in ASCII, folded.  Fields of our names that the
message brought along are forged or stale, and are taken out; no other byte changes.
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
    start = header_start(data)
    end = b"\r\n" if _first_line_end(data, start) == b"\r\n" else b"\n"
    pieces = [data[:start]]
    if start and not data[:start].endswith((b"\n", b"\r")):
        pieces.append(end)  # an mbox line alone
    pieces.extend([own_fields(verdict, clues, spam_flag).replace("\n", end.decode()).encode("ascii")])
    at = start
    for first, last, name in header_lines(data):
        if name in names:
            pieces.append(data[at:first])
            at = last
    pieces.append(data[at:])
    return b"".join(pieces)


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
