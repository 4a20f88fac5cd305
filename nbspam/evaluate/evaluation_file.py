"""An evaluation as a JSON file: what `nbspam eval` keeps and `nbspam compare` reads.

Hides the layout (one array a field, so that 75,000 messages stay small) and tells a file
of another version or another program from one of ours.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nbspam.errors import BadDataError, NoInputError
from nbspam.evaluate.outcomes import Evaluation, Outcome
from nbspam.files import whole_file

FORMAT = "nbspam-evaluation"
VERSION = 1
_FIELDS = ("name", "truth", "decided", "log_odds", "probabilities", "time", "index")


def save(evaluation: Evaluation, path: str | Path) -> None:
    """Write the evaluation, whole or not at all."""
    with whole_file(str(path)) as file:
        file.write(as_json(evaluation))


def as_json(evaluation: Evaluation) -> bytes:
    """What load() reads.  Log-odds that are not finite are written as null."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "classes": evaluation.classes,
        "method": evaluation.method,
        "digest": evaluation.digest,
        "settings": dict(evaluation.settings),
        "trained": evaluation.trained,
        "folds": evaluation.folds,
        "clues": dict(evaluation.clues),
        "outcomes": {name: [_plain(getattr(one, name)) for one in evaluation.outcomes] for name in _FIELDS},
    }
    # ensure_ascii keeps file names that are not UTF-8 (lone surrogates) writable and readable.
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return (text + "\n").encode("ascii")


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def load(path: str | Path) -> Evaluation:
    """Read what save() wrote.

    NoInputError if it cannot be opened, BadDataError if it is not an evaluation of this version.
    """
    where = str(path)
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise NoInputError(
            where,
            f"cannot be read: {error.strerror}",
            "name a file that nbspam eval wrote",
            "evaluation-missing",
        ) from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_ours(where, "is not JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _not_ours(where, "is no evaluation by nbspam")
    if document.get("version") != VERSION:
        raise BadDataError(
            where,
            f"evaluation format {document.get('version')!r}; this program reads {VERSION}",
            "evaluate again with this version: nbspam eval --help",
            "evaluation-version",
        )
    try:
        evaluation = _evaluation(document)
        evaluation.columns  # noqa: B018  a wrong class number or probability is found now, not in a plot
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _not_ours(where, f"is damaged ({type(error).__name__})") from error
    except BadDataError as error:
        raise BadDataError(where, error.why, error.remedy, error.slug) from error
    return evaluation


def _not_ours(where: str, why: str) -> BadDataError:
    return BadDataError(where, why, "name a file that nbspam eval wrote", "evaluation-not-ours")


def _evaluation(document: dict[str, Any]) -> Evaluation:
    table = document["outcomes"]
    rows = zip(*(table[name] for name in _FIELDS), strict=True)
    return Evaluation(
        classes=tuple(_text(name) for name in document["classes"]),
        outcomes=tuple(_outcome(*row) for row in rows),
        method=_text(document["method"]),
        digest=_text(document["digest"]),
        settings=dict(document["settings"]),
        folds=tuple(_whole(fold) for fold in document["folds"]),
        trained=None if document["trained"] is None else _whole(document["trained"]),
        clues={
            _text(name): tuple((_text(token), float(weight)) for token, weight in clues)
            for name, clues in document["clues"].items()
        },
    )


def _outcome(
    name: Any, truth: Any, decided: Any, log_odds: Any, probabilities: Any, time: Any, index: Any
) -> Outcome:
    return Outcome(
        _text(name),
        _whole(truth),
        _whole(decided),
        None if log_odds is None else float(log_odds),
        tuple(map(float, probabilities)),
        None if time is None else float(time),
        _whole(index),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value
