"""An evaluation: what a filter decided about each message, held as columns.

A row is a message, in the order judged.  Every figure, curve and page is a function of these columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam import labels
from nbspam.decision import UNDECIDED, Loss, decide
from nbspam.errors import BadDataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLUMNS = ("names", "truth", "decided", "log_odds", "probabilities", "times")
WORST = 10  # mistakes of each class that are kept with their clues


class Outcome(NamedTuple):
    """What a filter says about one message.

    decided       : number of the class decided for, -1 unsure
    log_odds      : nats for spam (against all other classes together), None if infinite or undefined
    probabilities : one a class, or () if the filter gives only a score
    """

    decided: int
    log_odds: float | None
    probabilities: tuple[float, ...]


class ShortClue(NamedTuple):
    """A token as `explain` shows it, and its nats for spam, or for the decided class if no class is spam."""

    token: str
    nats: float


class Mistake(NamedTuple):
    """A message decided wrongly, as it is shown; the names are those of the JSON.

    label, decided : the true class and the decided one
    log_odds       : nats for spam; nan if undefined, may be infinite
    """

    name: str
    label: str
    decided: str
    log_odds: float
    clues: tuple[ShortClue, ...]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A filter judged on one corpus of n messages.

    classes        : class names in class order
    method         : how training and judged messages were kept apart: folds, replay, holdout or model
    names          : object (n,), how messages are shown, and what pairs them with another evaluation
    truth, decided : int64 (n,), class numbers, decided -1 = unsure
    log_odds       : float64 (n,), nats for spam; nan if undefined, may be infinite
    probabilities  : float64 (n, n_classes), or (n, 0) if the filter gives only scores
    times          : float64 (n,), seconds since 1970, nan if undated
    folds          : int64 (n,), the fold of each message, or (0,) without folds
    digest         : Corpus.digest() of the messages, "" if they are unknown
    settings       : settings of the filter and of the evaluation; JSON values only
    trained        : number of messages that the filter learned, None if there is no one number
    clues          : clues by message name, of the worst mistakes only
    loss           : the costs that decided, None if they are unknown
    """

    classes: tuple[str, ...]
    method: str
    names: NDArray[np.object_]
    truth: Ints
    decided: Ints
    log_odds: Floats
    probabilities: Floats
    times: Floats
    folds: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    digest: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    trained: int | None = None
    clues: Mapping[str, tuple[ShortClue, ...]] = field(default_factory=dict)
    loss: Loss | None = None

    def __post_init__(self) -> None:
        """Raises BadDataError for fewer than two classes, without a message, and for impossible values."""
        if self.n_classes < 2:
            why = f"{self.n_classes} class; at least two are needed"
            raise BadDataError("evaluation", why, "name mail of at least two classes", "one-class")
        if not len(self):
            why, remedy = "no message was judged", "name a SOURCE that has mail"
            raise BadDataError("evaluation", why, remedy, "no-outcomes")
        lengths = {len(getattr(self, name)) for name in COLUMNS} | {len(self.folds) or len(self)}
        is_possible = (
            lengths == {len(self)}
            and self.probabilities.shape[1] in (0, self.n_classes)
            and np.all((self.probabilities >= 0) & (self.probabilities <= 1))
            and np.all((self.truth >= 0) & (self.truth < self.n_classes))
            and np.all((self.decided >= UNDECIDED) & (self.decided < self.n_classes))
        )
        if not is_possible:
            raise BadDataError("evaluation", "its values do not fit together", slug="evaluation-values")

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def positive(self) -> int | None:
        """Number of the class spam, None without such a class."""
        return labels.find_spam(self.classes)

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """bool (n,): True for messages whose true class is spam."""
        return np.asarray(self.truth == (-1 if self.positive is None else self.positive))

    @property
    def is_mistake(self) -> NDArray[np.bool_]:
        """bool (n,): True for messages decided wrongly; unsure is no mistake."""
        return np.asarray((self.decided != self.truth) & (self.decided != UNDECIDED))

    @property
    def has_probabilities(self) -> bool:
        """True if every message has probabilities."""
        return bool(self.probabilities.shape[1])

    @property
    def given(self) -> Floats:
        """float64 (n,): the probability given to the true class."""
        return np.asarray(self.probabilities[np.arange(len(self)), self.truth])

    @cached_property
    def score(self) -> Floats:
        """float64 (n,): log-odds of spam, or the logit of the probability if they are undefined.

        All nan without a class spam; may be infinite.
        """
        if self.positive is None:
            return np.full(len(self), nan)
        if not self.has_probabilities:
            return self.log_odds
        odds = compute_log_odds(self.probabilities)[:, self.positive]
        return np.where(np.isnan(self.log_odds), odds, self.log_odds)

    def decided_by(self, loss: Loss) -> Evaluation:
        """The evaluation with the decisions that other costs make of the same probabilities.

        A message that is unsure although its costs never choose that has no words, and stays unsure.
        """
        decided = np.array([decide(shares, loss) for shares in self.probabilities.tolist()], np.int64)
        if self.loss is None or not self.loss.allows_unsure:
            decided[self.decided == UNDECIDED] = UNDECIDED
        return replace(self, decided=decided, loss=loss)

    def take(self, rows: Ints) -> Evaluation:
        """The evaluation of some messages, in the order of `rows`."""
        some: dict[str, Any] = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, folds=self.folds[rows] if len(self.folds) else self.folds, **some)


def make_evaluation(
    classes: tuple[str, ...],
    method: str,
    names: Sequence[str],
    truth: Sequence[int] | Ints,
    outcomes: Sequence[Outcome],
    times: Sequence[float] | Floats | None = None,
    **more: Any,
) -> Evaluation:
    """The evaluation of outcomes in the order judged; more: the optional fields of Evaluation."""
    return Evaluation(
        classes,
        method,
        np.array(names, dtype=object),
        np.asarray(truth, np.int64),
        np.array([one.decided for one in outcomes], np.int64),
        np.array([one.log_odds for one in outcomes], np.float64),  # None becomes nan
        np.array([one.probabilities for one in outcomes], np.float64, ndmin=2),
        np.full(len(outcomes), nan) if times is None else np.asarray(times, np.float64),
        **more,
    )


def join(parts: Sequence[Evaluation]) -> Evaluation:
    """The messages of several evaluations by the same classes, one after the other, with all clues."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS
    }
    clues = {name: clues for part in parts for name, clues in part.clues.items()}
    return replace(parts[0], clues=clues, **columns)


def compute_log_odds(probabilities: Floats) -> Floats:
    """Log-odds of each class against all others together, float64 (n, n_classes), nats.

    Near 1 the others are added up, not taken from 1, so that 1 - 1e-200 and 1 - 1e-300 differ.
    Elsewhere equal probabilities give equal log-odds, however the others share the rest.
    """
    zeros = np.zeros((len(probabilities), 1))
    before = np.hstack([zeros, np.cumsum(probabilities, axis=1)[:, :-1]])
    after = np.hstack([np.cumsum(probabilities[:, ::-1], axis=1)[:, -2::-1], zeros])
    others = np.where(probabilities > 0.999, before + after, 1 - probabilities)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities) - np.log(others))


def list_mistakes(evaluation: Evaluation, rows: Ints) -> list[Mistake]:
    """These messages, with the clues that are kept of them."""
    classes, found = evaluation.classes, []
    for row in rows.tolist():
        name, odds = evaluation.names[row], float(evaluation.log_odds[row])
        truth, decided = classes[evaluation.truth[row]], classes[evaluation.decided[row]]
        found.append(Mistake(name, truth, decided, odds, evaluation.clues.get(name, ())))
    return found


def find_worst_mistakes(evaluation: Evaluation, limit: int = WORST) -> Ints:
    """Rows of the messages decided wrongly with most conviction, at most `limit` a true class, by class.

    Conviction: how far the score is on the wrong side; without a class spam, how small the probability of
    the true class is.
    """
    if evaluation.positive is None:
        conviction = -evaluation.given
    else:
        conviction = np.where(evaluation.is_positive, -evaluation.score, evaluation.score)
    worst = []
    for number in range(evaluation.n_classes):
        rows = np.flatnonzero(evaluation.is_mistake & (evaluation.truth == number))
        worst.append(rows[np.argsort(-conviction[rows], kind="stable")[:limit]])
    return np.concatenate(worst)
