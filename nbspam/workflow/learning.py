"""Corrects a model by one message: learn it as a class, or forget it.

One transaction a message.  The same message twice counts once; one learned as another class
before moves.  The calibration learns from the score that the message had before it counted.
"""

from __future__ import annotations

from nbspam.errors import UsageError
from nbspam.mail import parse
from nbspam.mail.limits import MAX_SCORED_BYTES
from nbspam.scoring import calibration
from nbspam.scoring.calibration import MAX_COVARIANCE
from nbspam.scoring.scorer import ALL_VIEWS, Counted, Scorer
from nbspam.settings import from_text
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import Counted as Row
from nbspam.store.updater import Updater, updating
from nbspam.tokens import Tokenizer

LEARNED = "learned"
MOVED = "moved"
KNOWN = "already learned"
FORGOTTEN = "forgotten"
UNKNOWN = "was never learned"


def counted_message(data: bytes) -> Counted:
    """The tokens of a message as training counts them: of its first MAX_SCORED_BYTES."""
    return Counted(Tokenizer().bag(parse(data[:MAX_SCORED_BYTES])))


def check_class(path: str, label: str = "") -> None:
    """Raises what is wrong with the model, or that it has no such class, before any mail is read."""
    model = open_model(path)
    if label:
        class_number(model, label)
    model.close()


def _rows(counted: Counted, model: Model) -> list[Row]:
    counted.keep(model.settings.get("views", ALL_VIEWS))
    return [
        (key, view, text, n)
        for view, tokens in enumerate(counted.tokens)
        for key, (text, n) in tokens.items()
    ]


def learn(path: str, label: str, data: bytes) -> str:
    """Counts one message as `label`; returns LEARNED, MOVED or KNOWN."""
    counted = counted_message(data)
    with updating(path) as updater:
        model = Model(path, updater.connection)
        number = class_number(model, label)
        before = updater.learned(counted.digest)
        if number in before and len(before) == 1:
            return KNOWN
        if not before:
            _learn_calibration(updater, model, counted, number)
        rows = _rows(counted, model)
        for other, times in before.items():
            for _ in range(times if other != number else 0):
                updater.count(other, counted.digest, rows, -1)
        if number not in before:
            updater.count(number, counted.digest, rows, 1)
        return MOVED if before else LEARNED


def unlearn(path: str, data: bytes) -> str:
    """Takes one counting of a message out again; returns FORGOTTEN or UNKNOWN."""
    counted = counted_message(data)
    with updating(path) as updater:
        model = Model(path, updater.connection)
        before = updater.learned(counted.digest)
        for number in before:
            updater.count(number, counted.digest, _rows(counted, model), -1)
            return FORGOTTEN
        return UNKNOWN


def class_number(model: Model, label: str) -> int:
    """The number of a class; UsageError if the model has no such class."""
    if label not in model.classes:
        remedy = "its classes: " + ", ".join(model.classes)
        raise UsageError(label, f"{model.path} has no such class", remedy, "no-such-class")
    return model.classes.index(label)


def _learn_calibration(updater: Updater, model: Model, counted: Counted, number: int) -> None:
    features, weights, covariance = updater.calibration()
    settings = from_text(model.settings)
    if not weights or not settings.averaged or len(weights) > MAX_COVARIANCE:
        return
    scored = Scorer(model, settings).score(counted)
    calibration.learn(weights, covariance, scored.evidence, scored.unknown, number)
    updater.write_calibration(features, weights, covariance)
