"""The scores of one message, what they are made of, and the posteriors that follow: log-sum-exp.

Subtracting the maximum keeps sums of exponentials from overflow.
"""

from __future__ import annotations

from math import exp, fsum, inf, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ScorePart:
    """What one thing adds to the scores.

    kind   : 'token', 'feature', 'unknown', 'base' or 'prior'
    text   : the token or the name of the thing
    view   : number of the view, -1 where there is none
    values : nats by class
    counts : of a token, its stored counts documents_0, occurrences_0, documents_1, ...
    times  : of a token, how often the message has it
    scale  : of a token in averaged views, what its log-likelihood ratios are multiplied by
    """

    __slots__ = ("counts", "kind", "scale", "text", "times", "values", "view")

    def __init__(
        self,
        kind: str,
        text: str,
        view: int,
        values: list[float],
        counts: tuple[int, ...] = (),
        times: int = 1,
    ) -> None:
        self.kind = kind
        self.text = text
        self.view = view
        self.values = values
        self.counts = counts
        self.times = times
        self.scale = 0.0


class Scored:
    """The scores of one message.

    scores     : nats by class, up to a constant
    posteriors : log P(class | message), or None where it is undefined (every class ruled out at alpha = 0)
    parts      : they add up to the scores, class by class
    evidence, common : what the calibration learns from (nbspam.model.calibration.design); empty in
                       textbook scoring
    features   : the values of the numeric features, where these are scored
    """

    __slots__ = ("common", "evidence", "features", "parts", "posteriors", "scores")

    def __init__(self, scores: list[float], parts: list[ScorePart]) -> None:
        self.scores = scores
        self.parts = parts
        self.posteriors = log_posteriors(scores)
        self.evidence: list[list[float]] = []
        self.common: list[float] = []
        self.features: Sequence[float | None] = ()

    def log_odds(self, positive: int) -> float | None:
        """log P(positive | message) - log P(any other class | message), nats; None if undefined."""
        return log_odds(self.scores, positive)

    def contributions(self, positive: int) -> list[tuple[ScorePart, float | None]]:
        """Each part, and the nats that it adds to the log-odds; None where it rules out both sides.

        With K > 2 classes, log-odds = score - log sum exp(other scores), and that logarithm is the mean of
        the other scores under their own posterior plus the entropy of that posterior.  So the contributions
        and minus that entropy add up to the log-odds.
        """
        weights = rest_weights(self.scores, positive)
        return [(part, _difference(part.values, positive, weights)) for part in self.parts]


def _difference(values: list[float], positive: int, weights: list[float]) -> float | None:
    """One value less the weighted sum of the others; None where both are -inf."""
    rest = [weight * value for weight, value in zip(weights, values, strict=True) if weight]
    other = -inf if -inf in rest else fsum(rest)
    own = values[positive]
    return None if own == other == -inf else own - other


def log_posteriors(log_joint: Sequence[float]) -> list[float] | None:
    """log P(class | message), nats, from log joints by log-sum-exp; None if every class is -inf.

    A log posterior may be -inf (lambda = 0), never NaN; their exponentials sum to 1 for any length of mail.
    """
    below = _below_the_best(log_joint)
    if not below:
        return None
    total = log_sum_exp(below)
    return [value - total for value in below]


def log_odds(log_joint: Sequence[float], positive: int) -> float | None:
    """log P(positive | x) - log P(not positive | x), nats, unrounded; None if the posterior is undefined.

    Finite wherever the joints are, however large: it is a difference of logs, not the logit of a
    probability that has rounded to 1.  +-inf only where lambda = 0 (or a prior of 0) rules a side out.
    """
    below = _below_the_best(log_joint)
    if not below:
        return None
    return below[positive] - log_sum_exp([value for k, value in enumerate(below) if k != positive])


def _below_the_best(log_joint: Sequence[float]) -> list[float]:
    """Each less the largest of them; empty if every one is -inf.

    Near the best the difference is exact.  The log of a sum added to joints of -1e17 would be lost in them.
    """
    top = max(log_joint, default=-inf)
    return [] if top == -inf else [value - top for value in log_joint]


def rest_weights(log_joint: Sequence[float], positive: int) -> list[float]:
    """Each other class's share of their common probability, by class; 0 for the class `positive`.

    Where every other class is -inf no share is defined, and each weighs 1.
    """
    shares = log_posteriors([value for k, value in enumerate(log_joint) if k != positive])
    others = [exp(share) for share in shares] if shares else [1.0] * (len(log_joint) - 1)
    return [*others[:positive], 0.0, *others[positive:]]


def log_sum_exp(values: Sequence[float]) -> float:
    """log of the sum of exponentials without overflow; -inf for none or only -inf."""
    top = max(values, default=-inf)
    if top == -inf:
        return -inf
    if len(values) == 1:
        return top
    return top + log(fsum([exp(value - top) for value in values]))
