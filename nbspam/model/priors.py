"""Class priors: empirical, smoothed, uniform, or given.

They are log-probabilities in class order.
"""

from __future__ import annotations

from math import inf, isfinite, log

from nbspam.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbspam.settings import Settings

    Prior = str | Mapping[str, float]

NAMED_PRIORS = ("empirical", "smoothed", "uniform")
OF_MAIL = ("empirical", "smoothed")  # that follow the messages counted
SUM_TOLERANCE = 1e-6  # three thirds written with seven digits still sum to 1
_REMEDY = "use empirical, smoothed, uniform, or one probability a class: spam=0.4,ham=0.6"


def parse_prior(text: str) -> Prior:
    """A prior as people write it: one of the names, or a mapping from class name to probability."""
    text = text.strip()
    if text.lower() in NAMED_PRIORS:
        return text.lower()
    if "=" not in text:
        raise _error(text, "it is neither a named prior nor a list of class=probability")
    given: dict[str, float] = {}
    for item in text.split(","):
        name, separator, number = item.rpartition("=")
        name = name.strip()
        if not separator or not name:
            raise _error(text, f"{item.strip()!r} is not class=probability")
        if name in given:
            raise _error(text, f"class {name} is given twice")
        given[name] = _probability(text, number.strip())
    _check_sum(text, given)
    return given


def log_priors(
    prior: Prior, messages: Sequence[float], names: Sequence[str] = (), alpha: float = 1.0
) -> list[float]:
    """log pi_k per class, nats; -inf for probability 0.

    prior    : 'empirical' m_k / m, 'smoothed' (m_k + alpha) / (m + K alpha), 'uniform' 1 / K, or a mapping
    messages : m_k;  names : the class names in class order, needed with a mapping
    Without any message 'empirical' (and 'smoothed' with alpha = 0) is undefined: every class -inf.
    """
    if not isinstance(prior, str):
        return _given(prior, names)
    if prior not in NAMED_PRIORS:
        raise _error(prior, "no such prior")
    if prior == "uniform":
        return [-log(len(messages))] * len(messages)
    pseudo = alpha if prior == "smoothed" else 0.0
    if pseudo > 1:  # dividing by it keeps sums finite up to the largest float
        counts = [m / pseudo + 1.0 for m in messages]
    else:
        counts = [m + pseudo for m in messages]
    total = sum(counts)
    return [log(count) - log(total) if count > 0 else -inf for count in counts]


def log_priors_of(settings: Settings, messages: Sequence[float], names: Sequence[str]) -> list[float]:
    """The same for the prior and the lambda of a way of scoring."""
    return log_priors(parse_prior(settings.prior), messages, names, settings.alpha)


def prior_shift(asked: Sequence[float], messages: Sequence[float]) -> list[float]:
    """What a prior asked for adds, by class, to scores that were calibrated under the empirical one, nats.

    asked : log pi_k
    """
    trained = log_priors("empirical", messages)
    return [a - t if a != t and t > -inf else 0.0 for a, t in zip(asked, trained, strict=True)]


def _given(prior: Mapping[str, float], names: Sequence[str]) -> list[float]:
    text = ",".join(f"{name}={value:g}" for name, value in prior.items())
    unknown = [name for name in prior if name not in names]
    if unknown:
        raise _error(text, f"the model has no class {unknown[0]}; its classes are: {', '.join(names)}")
    missing = [name for name in names if name not in prior]
    if missing:
        raise _error(text, f"class {missing[0]} has no probability")
    for value in prior.values():
        _probability(text, value)
    _check_sum(text, prior)
    total = sum(prior.values())
    return [log(prior[name] / total) if prior[name] > 0 else -inf for name in names]


def _probability(text: str, number: str | float) -> float:
    try:
        value = float(number)
    except ValueError:
        raise _error(text, f"{number!r} is not a number") from None
    if not (isfinite(value) and value >= 0):
        raise _error(text, f"{number} is not a probability")
    return value


def _check_sum(text: str, given: Mapping[str, float]) -> None:
    total = sum(given.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise _error(text, f"the probabilities sum to {total:.6g}, not to 1")


def _error(text: str, why: str) -> UsageError:
    return UsageError(text, why, _REMEDY, "prior", option="prior")
