"""A message on its way through a pipe: what of it is read, and the same message with our header fields.

Our fields come first (after an mbox `From ` line), in the message's own line ends, in ASCII, folded.  Fields
of our names that the message brought along are removed, because they are forged or old.  In broken mail an
indented first field stays before ours, because an indented line after ours would continue our field.

Every other byte stays, and one line end is added in two cases: after an mbox `From ` line that has none, and
after our fields if indented text without a header follows, which would continue our last field.
"""

from codecs import BOM_UTF8

from nbspam.decision import Verdict, cutoffs
from nbspam.labels import SPAM, UNSURE
from nbspam.limits import MAX_FIELD_NAME, MAX_READ_BYTES
from nbspam.tokens import HeaderLines, find_fields

OWN = "x-nbspam"
# The fields of other filters that we write, too.
FORMATS = {"spamassassin": ("x-spam-flag", "x-spam-status"), "bogofilter": ("x-bogosity",)}
MAX_HEADER_CLUE = 60
SCORE_STEP = 0.001
MAX_SCORE = 99_999_999.0  # spamc reads twenty characters and no exponent


def unwrap_message(data: bytes) -> bytes:
    """The message in bytes that are one message by agreement: from stdin, or from a client.

    procmail writes a `From ` line before every mail; the parser skips it, and only quoted lines need work.
    Of an mbox of one message it is that message, as training reads it, of its bytes the first MAX_READ_BYTES.
    """
    if not data.startswith(b"From ") or b">From " not in data:
        return data
    from nbspam.corpus.mbox import begins_mbox, split_messages, unquote  # rare

    if not begins_mbox(data):
        return data
    message, is_complete = b"", False
    for _, piece, ended in split_messages([data]):
        if is_complete:  # a second message begins
            return data
        message += piece[: MAX_READ_BYTES - len(message)]
        is_complete = ended
    return unquote(message)


def mark_message(data: bytes, verdict: Verdict, also: str = "") -> bytes:
    """The message with the verdict in its header.  also : one of FORMATS, or empty"""
    names = (OWN, *FORMATS.get(also, ()))
    start, lines = find_fields(data)
    is_indented = data[start : start + 1] in (b" ", b"\t")
    if lines and is_indented and data[: lines[0][1]].endswith((b"\n", b"\r")):
        start = lines[0][1]  # after an indented first field
    feed = data.find(b"\n", start if start < len(data) else 0)
    end = b"\r\n" if feed > 0 and data[feed - 1 : feed] == b"\r" else b"\n"
    fields = format_fields(verdict, also).encode("ascii").replace(b"\n", end)
    if is_indented and not lines:
        fields += end  # indented text without a header
    spans = {first: stop for first, stop, name in lines if name in names}
    cuts = sorted((spans | _find_fields_in_rest(data, lines, names)).items())
    before = _cut_spans(data, cuts, 0, start)
    if start and not data[:start].endswith((b"\n", b"\r", BOM_UTF8)):
        before += end  # an mbox line alone
    return before + fields + _cut_spans(data, cuts, start, len(data))


def _find_fields_in_rest(data: bytes, lines: HeaderLines, names: tuple[str, ...]) -> dict[int, int]:
    """Start -> stop of the fields of these names beyond MAX_HEADER_BYTES, which are the last of the lines.

    A search, because splitting a header of 50 MB takes a second.  It begins one line earlier, because folded
    lines of that one may go on beyond the bound.
    """
    if len(lines) < 2 or lines[-1][2]:
        return {}
    import re  # few messages have so long a header

    start, stop = lines[-2][0], lines[-1][1]
    text = data[start:stop].lower().replace(b"\r", b"\n")
    ours = "|".join(names).encode("ascii")
    # Nothing is tried twice (`+` after a quantifier), so no header costs more than one pass.
    field = rb"(?m)^(?:%s)[ \t]{0,%d}+:[^\n]*+(?:\n++[ \t][^\n]*+)*+\n*+" % (ours, MAX_FIELD_NAME - len(OWN))
    return {start + match.start(): start + match.end() for match in re.finditer(field, text)}


def _cut_spans(data: bytes, cuts: list[tuple[int, int]], start: int, stop: int) -> bytes:
    """data[start:stop] without these spans; a CR before one and a line end after it stay two."""
    kept = bytearray()
    for first, after in cuts:
        if start <= first < stop:
            kept += data[start:first]
            if kept.endswith(b"\r") and data[after : after + 1] in (b"\r", b"\n"):
                cut = data[first:after]
                kept += cut[len(cut.rstrip(b"\r\n")) :]
            start = after
    return b"".join((kept, data[start:stop]))


def format_fields(verdict: Verdict, also: str = "") -> str:
    """X-Nbspam, then the fields of another filter.  also : one of FORMATS, or empty"""
    probability = "undefined" if verdict.probability is None else f"{verdict.probability:.4f}"
    odds = "undefined" if verdict.log_odds is None else f"{verdict.log_odds:.1f}"
    label = verdict.label.encode("ascii", "backslashreplace").decode("ascii")
    sender = f"; sender={verdict.sender}" if verdict.sender else ""
    written = ",\n\t".join(f"{_format_clue(token)} {nats:+.1f}" for token, nats in verdict.clues)
    fields = f'X-Nbspam: {label}; probability={probability}; log-odds={odds};\n\tclues="{written}"{sender}\n'
    is_spam = verdict.label == SPAM
    if also == "spamassassin":
        score, threshold = compute_spamassassin_score(verdict)
        fields += "X-Spam-Flag: YES\n" if is_spam else ""
        figures = f"score={score:.3f} required={threshold:.3f} tests=NBSPAM probability={probability}"
        fields += f"X-Spam-Status: {'Yes' if is_spam else 'No'}, {figures}\n"
    elif also == "bogofilter":
        name = "Spam" if is_spam else "Unsure" if verdict.label == UNSURE else "Ham"
        spamicity = 0.5 if verdict.probability is None else verdict.probability
        fields += f"X-Bogosity: {name}, tests=bogofilter, spamicity={spamicity:.6f}\n"
    return fields


def compute_spamassassin_score(verdict: Verdict) -> tuple[float, float]:
    """(score, threshold) in nats: the log-odds of spam, and the cut-off of the costs, or 0 with more classes.

    The score reaches the threshold only if the decision is spam, so unsure is not spam for a client.
    """
    threshold = _round_score(cutoffs(verdict.loss)[1] if len(verdict.classes) == 2 else 0.0)
    log_odds = verdict.scored.log_odds(verdict.number)
    score = threshold if log_odds is None else _round_score(log_odds)
    if verdict.label == SPAM:
        return max(score, threshold), threshold
    return min(score, round(threshold - SCORE_STEP, 3)), threshold


def _round_score(nats: float) -> float:
    return round(max(-MAX_SCORE, min(MAX_SCORE, nats)), 3)


def _format_clue(text: str) -> str:
    safe = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if " " < c <= "~" and c not in '"\\,' else "." for c in safe)[:MAX_HEADER_CLUE]
