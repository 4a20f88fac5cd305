"""Posteriors of classes from log joints, without overflow: log-sum-exp."""

from __future__ import annotations

from math import exp, fsum, inf, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def log_posteriors(log_joint: Sequence[float]) -> list[float] | None:
    """log P(class | message), nats, from log joints by log-sum-exp; None if every class is -inf.

    A log posterior may be -inf (lambda = 0), never NaN; their exponentials sum to 1 for any length of mail.
    """
    total = log_sum_exp(log_joint)
    if total == -inf:
        return None
    return [value - total for value in log_joint]


def log_odds(log_joint: Sequence[float], positive: int) -> float | None:
    """log P(positive | x) - log P(not positive | x), nats, unrounded; None if the posterior is undefined.

    Finite wherever the joints are, however large: it is a difference of logs, not the logit of a
    probability that has rounded to 1.  +-inf only where lambda = 0 (or a prior of 0) rules a side out.
    """
    rest = log_sum_exp([value for k, value in enumerate(log_joint) if k != positive])
    if rest == -inf and log_joint[positive] == -inf:
        return None
    return log_joint[positive] - rest


def log_sum_exp(values: Sequence[float]) -> float:
    """log of the sum of exponentials without overflow; -inf for none or only -inf."""
    top = max(values, default=-inf)
    if top == -inf:
        return -inf
    if len(values) == 1:
        return top
    return top + log(fsum([exp(value - top) for value in values]))
