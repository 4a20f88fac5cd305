"""Corrects a model by one message: learn it as a class, or forget it.

One transaction a message.  The same message twice counts once; one learned as another class
before moves.  The calibration learns from the score that the message had before it counted.
"""

from __future__ import annotations

from nbspam.errors import UsageError
from nbspam.mail import parse
from nbspam.scoring import calibration
from nbspam.scoring.calibration import MAX_COVARIANCE
from nbspam.scoring.scorer import Counted, Scorer
from nbspam.settings import from_text
from nbspam.store.reader import Model
from nbspam.store.updater import Counted as Row
from nbspam.store.updater import Updater, updating
from nbspam.tokens import Tokenizer

LEARNED = "learned"
MOVED = "moved"
KNOWN = "already learned"
FORGOTTEN = "forgotten"
UNKNOWN = "was never learned"


def _rows(counted: Counted) -> list[Row]:
    return [(key, view, text, n) for view, tokens in enumerate(counted.tokens) for key, (text, n) in tokens.items()]


def learn(path: str, label: str, data: bytes) -> str:
    """Counts one message as `label`; returns LEARNED, MOVED or KNOWN."""
    counted = Counted(Tokenizer().bag(parse(data)))
    with updating(path) as updater:
        model = Model(path, updater.connection)
        number = class_number(model, label)
        before = updater.learned(counted.digest)
        if number in before and len(before) == 1:
            return KNOWN
        if not before:
            _learn_calibration(updater, model, counted, number)
        for other, times in before.items():
            for _ in range(times if other != number else 0):
                updater.count(other, counted.digest, _rows(counted), -1)
        if number not in before:
            updater.count(number, counted.digest, _rows(counted), 1)
        return MOVED if before else LEARNED


def unlearn(path: str, data: bytes) -> str:
    """Takes one counting of a message out again; returns FORGOTTEN or UNKNOWN."""
    counted = Counted(Tokenizer().bag(parse(data)))
    with updating(path) as updater:
        before = updater.learned(counted.digest)
        for number in before:
            updater.count(number, counted.digest, _rows(counted), -1)
            return FORGOTTEN
        return UNKNOWN


def class_number(model: Model, label: str) -> int:
    """The number of a class; UsageError if the model has no such class."""
    if label not in model.classes:
        raise UsageError(label, f"{model.path} has no such class", "its classes: " + ", ".join(model.classes), "no-such-class")
    return model.classes.index(label)


def _learn_calibration(updater: Updater, model: Model, counted: Counted, number: int) -> None:
    features, weights, covariance = updater.calibration()
    settings = from_text(model.settings)
    if not weights or not settings.averaged or len(weights) > MAX_COVARIANCE:
        return
    scored = Scorer(model, settings).score(counted)
    calibration.learn(weights, covariance, scored.evidence, scored.unknown, number)
    updater.write_calibration(features, weights, covariance)
