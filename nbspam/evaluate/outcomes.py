"""What a filter decided about each message, and one evaluation made of many such outcomes.

Hides the columns (numpy arrays) that every figure is computed from, and what orders the
messages: the log-odds where there are log-odds, else the logit of the probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbspam import labels
from nbspam.decision import UNDECIDED
from nbspam.errors import BadDataError

METHODS = ("folds", "replay", "holdout", "model")
# A token as `explain` shows it, and its nats for spam, or else for the class decided.
ShortClue = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One message judged.

    name          : how the message is shown, and what pairs it with another evaluation
    truth         : number of the true class
    decided       : number of the class decided for, -1 unsure
    log_odds      : nats for spam (against all other classes together), None if infinite or undefined
    probabilities : one a class, or () where the filter gives only a score
    time          : seconds since 1970, None if undated
    index         : place in the order in which the messages were judged
    """

    name: str
    truth: int
    decided: int
    log_odds: float | None
    probabilities: tuple[float, ...]
    time: float | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class Columns:
    """The outcomes as arrays; a row is a message.

    truth, decided : int64 (n,), class numbers, decided -1 = unsure
    score          : float64 (n,), larger = more like the positive class; all nan without one; may be infinite
    probabilities  : float64 (n, n_classes), or (n, 0) if the filter gives only scores
    positive       : number of the class spam, None where there is no such class
    n_classes      : number of classes
    """

    truth: NDArray[np.int64]
    decided: NDArray[np.int64]
    score: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    positive: int | None
    n_classes: int

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """bool (n,): the messages whose true class is the positive one."""
        if self.positive is None:
            return np.zeros(len(self.truth), dtype=np.bool_)
        return np.equal(self.truth, self.positive)


@dataclass(frozen=True)
class Evaluation:
    """A filter judged on one corpus.

    classes  : class names in class order
    outcomes : one a message
    method   : how training and judged messages were kept apart, one of METHODS
    digest   : what identifies the set of the messages, "" where they are unknown
    settings : what the filter and the evaluation were told; JSON values only
    folds    : the fold each outcome was judged in, or () if there were none
    trained  : how many messages the filter learned (replay), None if that says nothing
    clues    : why, by message name, for the worst mistakes only
    """

    classes: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    method: str
    digest: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    folds: tuple[int, ...] = ()
    trained: int | None = None
    clues: Mapping[str, tuple[ShortClue, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadDataError(
                "evaluation", f"{self.method!r} is no method of evaluation", slug="evaluation-method"
            )
        if len(self.classes) < 2:
            raise BadDataError(
                "evaluation",
                f"{len(self.classes)} class; nothing can be told apart",
                "name mail of at least two classes",
                "one-class",
            )
        if self.folds and len(self.folds) != len(self.outcomes):
            raise BadDataError("evaluation", "as many folds as outcomes are needed", slug="evaluation-folds")

    @cached_property
    def columns(self) -> Columns:
        """The outcomes as arrays, made once."""
        return _columns(self.classes, self.outcomes)


def _columns(classes: tuple[str, ...], outcomes: tuple[Outcome, ...]) -> Columns:
    if not outcomes:
        raise BadDataError(
            "evaluation", "no message was judged", "name a SOURCE with mail in it", "no-outcomes"
        )
    n_classes = len(classes)
    truth = np.fromiter((outcome.truth for outcome in outcomes), np.int64, len(outcomes))
    decided = np.fromiter((outcome.decided for outcome in outcomes), np.int64, len(outcomes))
    if truth.min() < 0 or max(truth.max(), decided.max()) >= n_classes or decided.min() < UNDECIDED:
        raise BadDataError(
            "evaluation", f"a class number outside 0 to {n_classes - 1}", slug="evaluation-class"
        )
    probabilities = _probabilities(outcomes, n_classes)
    positive = labels.positive(classes)
    score = np.full(len(outcomes), np.nan)
    if positive is not None:
        score = _score(outcomes, probabilities, positive)
    return Columns(truth, decided, score, probabilities, positive, n_classes)


def _probabilities(outcomes: tuple[Outcome, ...], n_classes: int) -> NDArray[np.float64]:
    """float64 (n, n_classes); (n, 0) as soon as one message has none: a mean over some would mislead."""
    widths = {len(outcome.probabilities) for outcome in outcomes}
    if 0 in widths:
        return np.empty((len(outcomes), 0))
    if widths != {n_classes}:
        raise BadDataError(
            "evaluation", f"each message needs {n_classes} probabilities", slug="evaluation-class"
        )
    table = np.array([outcome.probabilities for outcome in outcomes], dtype=np.float64)
    if not (np.all(table >= 0) and np.all(table <= 1)):
        raise BadDataError("evaluation", "a probability outside 0 to 1", slug="evaluation-probability")
    return table


def _score(
    outcomes: tuple[Outcome, ...], probabilities: NDArray[np.float64], positive: int
) -> NDArray[np.float64]:
    """What orders the messages: their log-odds, where these are None the logit of the probability."""
    score = np.array([outcome.log_odds for outcome in outcomes], dtype=np.float64)  # None becomes nan
    missing = np.isnan(score)
    if missing.any():
        if not probabilities.shape[1]:
            name = outcomes[int(np.argmax(missing))].name
            raise BadDataError(name, "neither log-odds nor probabilities were given", slug="evaluation-score")
        score[missing] = log_odds_of(probabilities[missing])[:, positive]
    return score


def log_odds_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-odds of each class against all others together, float64 (n, n_classes), nats.

    Near 1 the others are added up, not taken from 1, so that 1 - 1e-200 and 1 - 1e-300 stay apart.
    Elsewhere equal probabilities give equal log-odds, however the others share the rest.
    """
    none = np.zeros((len(probabilities), 1))
    before = np.hstack([none, np.cumsum(probabilities, axis=1)[:, :-1]])
    after = np.hstack([np.cumsum(probabilities[:, ::-1], axis=1)[:, -2::-1], none])
    others = np.where(probabilities > 0.999, before + after, 1 - probabilities)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities) - np.log(others))


def worst_mistakes(evaluation: Evaluation, limit: int = 10) -> list[Outcome]:
    """The messages decided wrongly with most conviction, at most `limit` a true class, in class order.

    Conviction: how far the score lies on the wrong side; without a positive class, how
    small a probability the true class was given.  Unsure is no mistake.
    """
    columns = evaluation.columns
    if columns.positive is not None:
        conviction = np.where(columns.is_positive, -columns.score, columns.score)
    elif columns.probabilities.shape[1]:
        conviction = -columns.probabilities[np.arange(len(columns.truth)), columns.truth]
    else:
        conviction = np.zeros(len(columns.truth))
    wrong = (columns.decided != columns.truth) & (columns.decided != UNDECIDED)
    worst: list[Outcome] = []
    for number in range(columns.n_classes):
        rows = np.flatnonzero(wrong & (columns.truth == number))
        order = np.argsort(-conviction[rows], kind="stable")[:limit]
        worst.extend(evaluation.outcomes[row] for row in rows[order])
    return worst
