"""Class priors and posteriors, and the scores between them, with what each part adds.

Priors are empirical, smoothed, uniform, or given.  Posteriors come by log-sum-exp, without overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum, inf, log

from nbspam.errors import UsageError
from nbspam.settings import Settings

Prior = str | Mapping[str, float]

NAMED_PRIORS = ("empirical", "smoothed", "uniform")
OF_MAIL = ("empirical", "smoothed")  # that follow the messages counted
CLUE_KINDS = ("token", "feature")
SUM_TOLERANCE = 1e-6  # three thirds written with seven digits still sum to 1
_REMEDY = "use empirical, smoothed, uniform, or one probability a class: spam=0.4,ham=0.6"


class ScorePart:
    """What one thing adds to the scores.

    kind   : 'token', 'feature', 'unknown', 'base', 'strange' or 'prior'
    text   : the token or the name of the thing
    view   : number of the view, -1 for what has no view
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
    """

    __slots__ = ("common", "evidence", "parts", "posteriors", "scores")

    def __init__(self, scores: list[float], parts: list[ScorePart]) -> None:
        self.scores = scores
        self.parts = parts
        self.posteriors = log_posteriors(scores)
        self.evidence: list[list[float]] = []
        self.common: list[float] = []

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
        return [(part, _subtract_rest(part.values, positive, weights)) for part in self.parts]

    def clues(self, positive: int) -> list[tuple[ScorePart, float | None]]:
        """The contributions of tokens and numeric features, the largest first.

        The other parts are the same for many messages.
        """
        clues = [clue for clue in self.contributions(positive) if clue[0].kind in CLUE_KINDS]
        return sorted(clues, key=lambda clue: (-abs(inf if clue[1] is None else clue[1]), clue[0].text))


def _subtract_rest(values: list[float], positive: int, weights: list[float]) -> float | None:
    """One value minus the weighted sum of the others; None where both are -inf."""
    rest = [weight * value for weight, value in zip(weights, values, strict=True) if weight]
    other = -inf if -inf in rest else fsum(rest)
    target = values[positive]
    return None if target == other == -inf else target - other


def log_posteriors(log_joint: Sequence[float]) -> list[float] | None:
    """log P(class | message), nats, from log joints by log-sum-exp; None if every class is -inf.

    A log posterior may be -inf (lambda = 0), never NaN; their exponentials sum to 1 for any length of mail.
    """
    below = _subtract_best(log_joint)
    if not below:
        return None
    total = log_sum_exp(below)
    return [value - total for value in below]


def log_odds(log_joint: Sequence[float], positive: int) -> float | None:
    """log P(positive | x) - log P(not positive | x), nats, unrounded; None if the posterior is undefined.

    Finite wherever the joints are, however large: it is a difference of logs, not the logit of a
    probability that has rounded to 1.  +-inf only where lambda = 0 (or a prior of 0) rules a side out.
    """
    below = _subtract_best(log_joint)
    if not below:
        return None
    return below[positive] - log_sum_exp([value for k, value in enumerate(below) if k != positive])


def _subtract_best(log_joint: Sequence[float]) -> list[float]:
    """Subtract the maximum; [] if all are -inf.

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
    return top + log(fsum([exp(value - top) for value in values]))


def parse_prior(text: str) -> Prior:
    """A prior as people write it: one of the names, or a mapping from class name to probability."""
    text = text.strip()
    if text.lower() in NAMED_PRIORS:
        return text.lower()
    pairs = [item.rpartition("=") for item in text.split(",")]
    try:
        shares = {name.strip(): float(number) for name, _, number in pairs}
    except ValueError:
        shares = {}
    if not shares or "" in shares or not all(0 <= number <= 1 for number in shares.values()):
        raise _error(text, "it is neither a named prior nor a probability from 0 to 1 for each class")
    total = sum(shares.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise _error(text, f"the probabilities sum to {total:.6g}, not to 1")
    return shares


def log_priors(
    prior: Prior, messages: Sequence[float], names: Sequence[str] = (), alpha: float = 1.0
) -> list[float]:
    """log pi_k per class, nats; -inf for probability 0.

    prior    : 'empirical' m_k / m, 'smoothed' (m_k + alpha) / (m + K alpha), 'uniform' 1 / K, or a mapping
    messages : m_k;  names : the class names in class order, needed with a mapping
    Without any message 'empirical' (and 'smoothed' with alpha = 0) is undefined: every class -inf.
    """
    if not isinstance(prior, str):
        if {*prior} != {*names}:
            text = ",".join(f"{name}={value:g}" for name, value in prior.items())
            raise _error(text, f"it names other classes than the model: {', '.join(names)}")
        every = sum(prior.values())
        return [log(prior[name] / every) if prior[name] > 0 else -inf for name in names]
    if prior == "uniform":
        return [-log(len(messages))] * len(messages)
    pseudo = alpha if prior == "smoothed" else 0.0
    counts = [m + pseudo for m in messages]
    total = sum(counts)
    return [log(count) - log(total) if count > 0 else -inf for count in counts]


def log_priors_of(settings: Settings, messages: Sequence[float], names: Sequence[str]) -> list[float]:
    """The same for the prior and the lambda of a way of scoring."""
    return log_priors(parse_prior(settings.prior), messages, names, settings.alpha)


def can_judge(averaged: bool, messages: Sequence[float]) -> bool:
    """True if there is mail to judge by: averaged views need messages of two classes.

    The calibration remains when all mail of a class is unlearned, and would weigh counts of one class alone.
    """
    return not averaged or sum(map(bool, messages)) > 1


def prior_scores(settings: Settings, messages: Sequence[float], names: Sequence[str]) -> list[float]:
    """The scores of a message without words, or without mail to judge by: the log prior, nats by class.

    Undefined, all -inf, if the prior is that of the mail and no mail was counted.
    """
    if settings.prior in OF_MAIL and not can_judge(settings.averaged, messages):
        return [-inf] * len(messages)
    return log_priors_of(settings, messages, names)


def prior_shift(settings: Settings, messages: Sequence[float], names: Sequence[str]) -> list[float]:
    """What the prior of a way of scoring adds to scores calibrated under the empirical one, nats by class."""
    asked, trained = log_priors_of(settings, messages, names), log_priors("empirical", messages)
    return [a - t if a != t and t > -inf else 0.0 for a, t in zip(asked, trained, strict=True)]


def _error(text: str, why: str) -> UsageError:
    return UsageError(text, why, _REMEDY, "prior", option="prior")
