"""Evaluations as files: our own JSON, and result lines of the TREC spam track.

JSON has one array a column, so that 75,000 messages stay small.  A result line reads
`file=PATH judge=LABEL class=LABEL score=LOG_ODDS`.  TREC's programs cut a line at white space, so white
space, control characters, `%` and bytes that are not UTF-8 are written as %XX.
"""

import json
import re
from collections.abc import Iterator
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes

import numpy as np

from nbspam import labels
from nbspam.decision import UNDECIDED, Loss
from nbspam.errors import BadDataError, NoInputError
from nbspam.evaluation.outcomes import Evaluation, Floats, Outcome, ShortClue, make_evaluation

EVALUATION_FORMAT = "nbspam-evaluation"
EVALUATION_VERSION = 2
_TOO_MUCH = (OverflowError, RecursionError)  # a number, or brackets
REMEDY = "name a file that nbspam eval wrote"
# A path of another program may hold spaces: everything up to " judge=" is the path.
_LINE = re.compile(r"file=(.+?)[ \t]judge=(\S+)\s+class=(\S+)\s+score=(\S+)(?:\s.*)?$")


def encode_evaluation(evaluation: Evaluation) -> bytes:
    """The evaluation as read_evaluation() reads it.  Log-odds and times that are not finite are null."""
    document = {
        "format": EVALUATION_FORMAT,
        "version": EVALUATION_VERSION,
        "classes": evaluation.classes,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "settings": dict(evaluation.settings),
        "costs": evaluation.loss and evaluation.loss.rows,
        "trained": evaluation.trained,
        "folds": evaluation.folds.tolist(),
        "clues": dict(evaluation.clues),
        "outcomes": {
            "name": evaluation.names.tolist(),
            "truth": evaluation.truth.tolist(),
            "decided": evaluation.decided.tolist(),
            "log_odds": replace_infinite(evaluation.log_odds),
            "probabilities": evaluation.probabilities.tolist(),
            "time": replace_infinite(evaluation.times),
            "index": list(range(len(evaluation))),
        },
    }
    # ensure_ascii keeps file names that are not UTF-8 (lone surrogates) writable and readable.
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return (text + "\n").encode("ascii")


def replace_infinite(values: Floats) -> list[float | None]:
    """The values as JSON has them: None in place of nan and infinity."""
    return [value if isfinite(value) else None for value in values.tolist()]


def read_evaluation(path: str | Path) -> Evaluation:
    """Read an evaluation from either kind of file.

    NoInputError if it cannot be opened, BadDataError if it is not an evaluation of this version.
    """
    where = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise NoInputError(where, why, REMEDY, "evaluation-missing") from error
    if content.startswith(b"file="):
        return _from_result_lines(content.decode("utf-8", "surrogateescape"), where)
    try:
        document = json.loads(content)
        version = document["version"]
        if version == EVALUATION_VERSION:
            return _from_document(document)
    except (BadDataError, LookupError, TypeError, ValueError, AttributeError, *_TOO_MUCH) as error:
        why = "is not an evaluation by nbspam, or it is damaged"
        raise BadDataError(where, why, REMEDY, "evaluation-not-ours") from error
    why = f"evaluation format {version!r}; this program reads {EVALUATION_VERSION}"
    raise BadDataError(where, why, "evaluate again with this version of nbspam", "evaluation-version")


def _from_document(document: dict[str, Any]) -> Evaluation:
    """The evaluation; BadDataError, or the errors of a wrong key or type."""
    table = document["outcomes"]
    "".join([*document["classes"], *table["name"]])  # TypeError if one is not a text
    columns = (table["decided"], table["log_odds"], table["probabilities"])
    return make_evaluation(
        tuple(document["classes"]),
        document["method"],
        table["name"],
        table["truth"],
        list(map(Outcome, *columns)),
        table["time"],
        folds=np.array(document["folds"], np.int64),
        digest=document["digest"],
        settings=document["settings"],
        trained=document["trained"],
        loss=Loss(document["costs"]) if document["costs"] else None,
        clues={
            name: tuple([ShortClue(*pair) for pair in pairs]) for name, pairs in document["clues"].items()
        },
    )


def format_result_lines(evaluation: Evaluation) -> Iterator[str]:
    """One result line a message, without line end, in the order judged.

    score is the log-odds of spam with all digits, `inf` or `-inf` if they are infinite, 0.0 if undefined.
    class is `unsure` if the filter did not decide.
    """
    score = np.where(np.isnan(evaluation.score), 0.0, evaluation.score)
    words = [_quote(name) for name in (*evaluation.classes, labels.UNSURE)]  # unsure is -1, the last
    columns = (evaluation.names, evaluation.truth, evaluation.decided, score)
    for name, truth, decided, value in zip(*(column.tolist() for column in columns), strict=True):
        yield f"file={_quote(name)} judge={words[truth]} class={words[decided]} score={value!r}"


def _from_result_lines(text: str, where: str) -> Evaluation:
    """The evaluation of result lines by this or any other filter.

    Scores order the messages but need not be log-odds, so there are no probabilities, and calibration is not
    judged.  Further fields of a line are ignored.
    """
    lines = enumerate(text.split("\n"), 1)
    rows = [_parse_line(line.strip(), f"{where}:{number}") for number, line in lines if line.strip()]
    names, judges, decisions, scores = zip(*rows, strict=True)
    found = {*judges, *decisions} - {labels.UNSURE}
    plain = set(labels.HAM_AND_SPAM)
    classes = labels.sort_classes(plain if found <= plain else found)  # a file of ham alone is about both
    number = {name: place for place, name in enumerate(classes)} | {labels.UNSURE: UNDECIDED}
    outcomes = [Outcome(number[one], score, ()) for one, score in zip(decisions, scores, strict=True)]
    truth = [number[name] for name in judges]
    # No digest: the lines do not say what the messages hold.  A comparison pairs them by name.
    return make_evaluation(classes, "model", names, truth, outcomes, settings={"results": where})


class ResultLine(NamedTuple):
    """What a result line says: path, true class, decided class and score."""

    name: str
    judge: str
    decided: str
    score: float


def _parse_line(line: str, where: str) -> ResultLine:
    match = _LINE.match(line)
    if match is None:
        remedy = "a line reads: file=PATH judge=ham class=spam score=1.5"
        raise BadDataError(where, f"not a result line: {line[:60]!r}", remedy, "results-line")
    name, judge, decided, shown = map(_unquote, match.groups())
    try:
        score = float(shown)
    except ValueError:
        score = nan
    if isnan(score):
        raise BadDataError(where, f"{shown[:30]!r} is not a score", "scores are numbers", "results-score")
    if decided != labels.UNSURE:
        decided = labels.parse_class_name(decided, where)
    return ResultLine(name, labels.parse_class_name(judge, where), decided, score)


def _quote(text: str) -> str:
    return "".join(
        char if char.isprintable() and char not in "% " else quote(char, "", errors="surrogateescape")
        for char in text
    )


def _unquote(text: str) -> str:
    return unquote_to_bytes(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
