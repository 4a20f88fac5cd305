"""Answers of the SPAMD protocol: a verdict in, bytes out.

Hides what each version of the protocol is told, as spamd 4.0.1 does it (Exim speaks 1.2 and reads no other
form), and the score.  Scores are log-odds of spam in nats, thresholds the cut-off of the decision; rounded
to three digits a score is below its threshold unless the decision is spam, whatever rounding or a model of
many classes make of it.  So unsure is not spam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbspam.decision import cutoffs
from nbspam.labels import SPAM
from nbspam.mail.headers import header_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.decision import Loss
    from nbspam.errors import NbspamError
    from nbspam.filter import Verdict
    from nbspam.model.explain import Clue
    from nbspam.serve.request import Request

VERSION = "SPAMD/1.5"
OK = f"{VERSION} 0 EX_OK\r\n"
PONG = f"{VERSION} 0 PONG\r\n".encode()
STEP = 0.001  # of a score
MAX_SCORE = 99_999_999.0  # spamc reads twenty characters and no exponent
MAX_REASON = 200  # characters
# What the first line says of a status; EX_TIMEOUT is no status of sysexits.h but of spamd.
_NAMES = {
    64: "EX_USAGE",
    65: "EX_DATAERR",
    69: "Service Unavailable",
    70: "EX_SOFTWARE",
    75: "EX_TEMPFAIL",
    76: "Bad header line",
    79: "Timeout",
}


class Score:
    """The score of a message and the threshold that it stands against.

    Prints as spamd does: `7.301 / 0.000`.
    """

    __slots__ = ("is_spam", "score", "threshold")

    def __init__(self, verdict: Verdict, loss: Loss) -> None:
        # With more classes than two no cut-off on the log-odds decides; even odds are shown.
        cut = cutoffs(loss).spam_above if len(loss.matrix) == 2 else 0.0
        odds = verdict.scored.log_odds(verdict.number)
        self.is_spam = verdict.label == SPAM
        self.threshold = _rounded(cut)
        score = self.threshold if odds is None else _rounded(odds)
        self.score = (
            max(score, self.threshold) if self.is_spam else min(score, round(self.threshold - STEP, 3))
        )

    def __str__(self) -> str:
        return f"{self.score:.3f} / {self.threshold:.3f}"


def _rounded(nats: float) -> float:
    return round(max(-MAX_SCORE, min(MAX_SCORE, nats)), 3)


def answer(request: Request, score: Score, content: bytes = b"") -> bytes:
    """The whole answer to a request that was judged."""
    spam = f"Spam: {score.is_spam} ; {score}\r\n"
    length = f"Content-length: {len(content)}\r\n"
    new = request.version >= (1, 3)
    if request.command == "CHECK":
        return f"{OK}{spam}\r\n".encode()
    if request.command not in ("PROCESS", "HEADERS"):
        # Before 1.3 the end of the stream ended a report, and symbols had a line end.
        ending = b"" if new or request.command != "SYMBOLS" else b"\r\n"
        return f"{OK}{length if new else ''}{spam}\r\n".encode() + content + ending
    if new:
        return f"{OK}{length}{spam}\r\n".encode() + content
    return (f"{OK}{length}\r\n" if request.version >= (1, 2) else OK).encode() + content


def told(did_set: bool, did_remove: bool) -> bytes:
    """The answer to TELL: what was changed."""
    text = ("DidSet: local\r\n" if did_set else "") + ("DidRemove: local\r\n" if did_remove else "")
    return f"{OK}{text}\r\n".encode()


def refusal(error: NbspamError) -> bytes:
    """What a client is told that gets no verdict: one line and no more, as the protocol has it.

    An empty line behind it would make spamc -x end with 76, which every mail server takes for a lasting
    failure; so it ends with 74, which sendmail tries again.  No answer makes it end with 75.
    """
    reason = dotted(error.why)[:MAX_REASON]
    return f"{VERSION} {error.status} {_NAMES.get(error.status, 'EX_SOFTWARE')}: {reason}\r\n".encode()


def dotted(text: str) -> str:
    """The text with a dot for each character that is not printable: one line, whatever a mail put into it."""
    return "".join(character if character.isprintable() else "." for character in text)


def symbols(clues: Sequence[tuple[str, float]]) -> bytes:
    """The clues as names parted by commas."""
    return ",".join(dotted(text).replace(",", ".").replace(" ", ".") for text, _ in clues).encode(
        "utf-8", "replace"
    )


def report(verdict: Verdict, score: Score, classes: Sequence[str], clues: Sequence[Clue]) -> bytes:
    """The verdict and its clues, with the messages of each class that hold them, as people read it."""
    probability = "undefined" if verdict.probability is None else f"{verdict.probability:.4f}"
    lines = [
        f"{verdict.label}: P({classes[verdict.number]}) {probability}, score {score.score:.3f}, "
        f"spam from {score.threshold:.3f}",
        "",
        "  ".join(["   nats", *(f"{name:>6}" for name in classes), f"{'where':9}", "clue"]),
    ]
    for clue in clues:
        nats = "both" if clue.log_odds is None else f"{clue.log_odds:+.2f}"
        counts = clue.count_texts() or [""] * len(classes)
        width = [max(6, len(name)) for name in classes]
        cells = [f"{count:>{size}}" for count, size in zip(counts, width, strict=True)]
        lines.append("  ".join([f"{nats:>7}", *cells, f"{clue.view or clue.kind:9}", dotted(clue.token)]))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def header_as_spamc(data: bytes) -> bytes:
    """The header as spamc finds it, who puts its own copy of the body behind the answer to HEADERS."""
    ends = [(data.find(blank), len(blank)) for blank in (b"\r\n\r\n", b"\n\n")]
    found = [at + size for at, size in sorted(ends) if at >= 0]
    return data[: found[0]] if found else data


def message_id(data: bytes) -> str:
    """The Message-ID of a mail for a log, "-" where there is none."""
    for start, stop, name in header_lines(data):
        if name == "message-id":
            value = data[start:stop].partition(b":")[2].decode("latin-1")
            return dotted("".join(value.split()))[:MAX_REASON] or "-"
    return "-"
