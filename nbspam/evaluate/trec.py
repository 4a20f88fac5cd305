"""Result lines as the TREC spam track writes them: file=PATH judge=LABEL class=LABEL score=LOG_ODDS.

Hides how a path with spaces stays one field: the track's own programs cut a line at
white space, so white space, control characters, `%` and bytes that are not UTF-8 are
written as %XX (the bytes of UTF-8), and read back so.  Paths without them are untouched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan, nan
from pathlib import Path
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from nbspam import labels
from nbspam.decision import UNDECIDED
from nbspam.errors import BadDataError, NoInputError
from nbspam.evaluate.outcomes import Columns, Evaluation, Outcome, log_odds_of

# A path written by others may hold spaces: everything up to " judge=" is the path.
_LINE = re.compile(
    r"file=(?P<file>.+?)[ \t]judge=(?P<judge>\S+)\s+class=(?P<klass>\S+)\s+score=(?P<score>\S+)(?:\s.*)?$"
)


def result_lines(evaluation: Evaluation) -> Iterator[str]:
    """One line a message, without line end, in the order judged.

    score is the log-odds with all digits; `inf` or `-inf` where they are infinite.  They are those of
    spam, of two other classes those of the second; of more classes without spam 0.0.  class is `unsure`
    where the filter did not decide.
    """
    names = (*evaluation.classes, labels.UNSURE)  # unsure is -1, the last
    score = np.nan_to_num(_score(evaluation.columns), nan=0.0, posinf=np.inf, neginf=-np.inf)
    order = sorted(range(len(score)), key=lambda row: evaluation.outcomes[row].index)
    for row in order:
        outcome = evaluation.outcomes[row]
        judge, decided = _quoted(names[outcome.truth]), _quoted(names[outcome.decided])
        yield f"file={_quoted(outcome.name)} judge={judge} class={decided} score={float(score[row])!r}"


def _score(columns: Columns) -> NDArray[np.float64]:
    if columns.positive is None and columns.n_classes == 2 and columns.probabilities.shape[1]:
        return log_odds_of(columns.probabilities)[:, 1]
    return columns.score


def read_results(path: str | Path) -> Evaluation:
    """The evaluation that a file of result lines holds, by this or any other filter.

    Scores order the messages but need not be log-odds, so outcomes carry no
    probabilities and calibration is not judged.  Further fields of a line are ignored.
    """
    where = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NoInputError(
            where, f"cannot be read: {error.strerror}", "name a file of TREC result lines", "results-missing"
        ) from error
    rows = [
        _parsed(line, f"{where}:{number}") for number, line in enumerate(text.split("\n"), 1) if line.strip()
    ]
    if not rows:
        raise BadDataError(where, "no result lines", "name a file of TREC result lines", "results-empty")
    decided = {row[2] for row in rows} - {labels.UNSURE}
    found = {row[1] for row in rows} | decided
    # A file of ham alone still is about ham and spam.
    classes = labels.ordered(
        found | {labels.HAM, labels.SPAM} if found <= {labels.HAM, labels.SPAM} else found
    )
    number = {name: place for place, name in enumerate(classes)} | {labels.UNSURE: UNDECIDED}
    outcomes = tuple(
        Outcome(file, number[judge], number[klass], score, (), None, place)
        for place, (file, judge, klass, score) in enumerate(rows)
    )
    # No digest: the lines do not say what the messages hold.  A comparison pairs them by name.
    return Evaluation(classes, outcomes, "model", "", {"results": where})


def _parsed(line: str, where: str) -> tuple[str, str, str, float]:
    match = _LINE.match(line.strip())
    if match is None:
        raise BadDataError(
            where,
            f"not a result line: {line.strip()[:60]!r}",
            "a line reads: file=PATH judge=ham class=spam score=1.5",
            "results-line",
        )
    try:
        score = float(match["score"])
    except ValueError:
        score = nan
    if isnan(score):
        raise BadDataError(
            where, f"{match['score'][:30]!r} is no score", "scores are numbers", "results-score"
        )
    judge = labels.checked_name(_unquoted(match["judge"]), where)
    klass = _unquoted(match["klass"])
    return (
        _unquoted(match["file"]),
        judge,
        klass if klass == labels.UNSURE else labels.checked_name(klass, where),
        score,
    )


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and " " not in text and "%" not in text:
        return text
    return "".join(
        char
        if char.isprintable() and not char.isspace() and char != "%"
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in text
    )


def _unquoted(text: str) -> str:
    return unquote_to_bytes(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
