"""How sure posteriors are: credible intervals of words, standard deviations of log-odds.

Hides the special functions (trigamma, inverse incomplete beta) behind two questions: where does a word's
rate lie, how far could more training move this message's log-odds.  Pure Python because `classify --json`
answers them and may not pay for scipy's import.
"""

from __future__ import annotations

from math import erfc, exp, fsum, inf, isinf, lgamma, log, log1p, sqrt

from nbspam.model.posterior import rest_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbspam.model.words import BernoulliLaw, Counts, WordLaw

    WeightedToken = tuple[Counts, Counts, float]  # documents, occurrences, coefficient in the score

LEVEL = 0.95  # of the credible intervals, where none is asked for
_BISECTIONS = 200  # more than the 64 bits of a float can need; a bound, not a setting
_FRACTION_TERMS = 20_000  # the continued fraction needs about sqrt(max(a, b)) terms


def word_share_interval(documents: Counts, positive: int, alpha: float) -> tuple[float, float]:
    """95 % credible interval of the share of class `positive` among the messages that contain the word.

    Beta(n_positive + lambda, n_rest + (K - 1) lambda): with K = 2 and lambda = 1/2 a word of one message of
    the class has (0.15, 1.00), a word of a thousand (0.997, 1.000).  It is the share in the mail trained on,
    so it carries that mail's class balance.
    """
    own = documents[positive]
    rest = sum(documents) - own
    return beta_interval(own + alpha, rest + alpha * (len(documents) - 1))


def beta_interval(a: float, b: float, level: float = LEVEL) -> tuple[float, float]:
    """Equal-tailed interval of Beta(a, b); a point where a or b is 0 (lambda = 0), (0, 1) where both are."""
    if a <= 0 and b <= 0:
        return 0.0, 1.0
    if a <= 0:
        return 0.0, 0.0
    if b <= 0:
        return 1.0, 1.0
    tail = (1 - level) / 2
    return beta_quantile(tail, a, b), 1.0 - beta_quantile(tail, b, a)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """x with I_x(a, b) = probability; 0.0 where x is below the smallest float."""
    if beta_cdf(0.5, a, b) < probability:
        return 1.0 - _lower_quantile(1.0 - probability, b, a)
    return _lower_quantile(probability, a, b)


def _lower_quantile(probability: float, a: float, b: float) -> float:
    """The quantile where it is at most 1/2: Newton on log x, kept inside a bracket by bisection."""
    low, high = -745.0, log(0.5)
    if beta_cdf(exp(low), a, b) >= probability:
        return 0.0
    norm = log_beta(a, b)
    at = min(max(log(a / (a + b)), low), high)
    for _ in range(_BISECTIONS):
        x = exp(at)
        reached = beta_cdf(x, a, b)
        if reached > probability:
            high = at
        else:
            low = at
        # log I is concave in log x, so that Newton's steps on it come from one side and are few.
        slope = exp(a * at + (b - 1) * log1p(-x) - norm)  # d I_x / d log x
        step = reached * log(reached / probability) / slope if reached > 0 and slope > 0 else inf
        if abs(step) <= 1e-10:  # the next would be its square
            break
        at = at - step if low < at - step < high else (low + high) / 2
    return exp(at)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b), a and b > 0.

    Source: the continued fraction of DLMF 8.17.22, evaluated by Lentz's method, on the side where it
    converges fast.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(a * log(x) + b * log1p(-x) - log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300  # stands for a partial denominator of 0
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, _FRACTION_TERMS):
        twice = a + 2 * m
        even = m * (b - m) * x / ((twice - 1) * twice)
        odd = -(a + m) * (a + b + m) * x / (twice * (twice + 1))
        d = 1 / ((1 + even * d) or tiny)
        c = (1 + even / c) or tiny
        value *= c * d
        d = 1 / ((1 + odd * d) or tiny)
        c = (1 + odd / c) or tiny
        step = c * d
        value *= step
        if abs(step - 1) < 1e-15:
            break
    return value


def log_beta(a: float, b: float) -> float:
    """log of the beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def trigamma(x: float) -> float:
    """Second derivative of log gamma, x >= 0; inf at 0.

    Source: Abramowitz and Stegun 6.4.6 (recurrence up to 10) and 6.4.12 (asymptotic series).
    """
    if x <= 0:
        return inf
    total = 0.0
    while x < 10:
        total += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    series = 1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * (5 / 66 - y * 691 / 2730))))
    return total + 1 / x + y / 2 + y / x * series


def score_variances(scorer: WordLaw, tokens: Iterable[WeightedToken]) -> list[float]:
    """Per class, the posterior variance of sum_j c_j log phi_jk, nats squared.

    c_j is the token's coefficient in the score: 1 under presence, the count under multinomial, its
    ScorePart.scale in an averaged view.  Exact, correlations included: under Dirichlet(a),
    Cov(log phi_i, log phi_j) is trigamma(a_i) [i = j] - trigamma(sum of a), so the variance is
        sum_j c_j^2 trigamma(a_j) - (sum_j c_j)^2 trigamma(sum of a).
    Source: Minka, Estimating a Dirichlet distribution, 2000, section 1 (the family's log-normaliser).
    Under Bernoulli each word has its own Beta, and the words that are absent count too.
    inf where a parameter has no posterior (lambda = 0 and no data).  Under complement the weight of a class
    is taken for its complement, without normalisation.
    """
    if scorer.event_model == "bernoulli":
        return _bernoulli_variances(scorer, tokens)  # type: ignore[arg-type]
    squares = [0.0] * scorer.n_classes
    coefficients = 0.0
    for documents, occurrences, coefficient in tokens:
        if not coefficient:
            continue
        coefficients += coefficient
        for k, a in enumerate(scorer.pseudo_counts(documents, occurrences)):
            squares[k] += coefficient * coefficient * trigamma(a)
    return [
        inf if isinf(square) else max(0.0, square - coefficients * coefficients * _trigamma_or_zero(total))
        for square, total in zip(squares, scorer.concentration, strict=True)
    ]


def _trigamma_or_zero(x: float) -> float:
    return trigamma(x) if x > 0 else 0.0


def _bernoulli_variances(scorer: BernoulliLaw, tokens: Iterable[WeightedToken]) -> list[float]:
    """log(1 - phi) of every word, and c (log phi - log(1 - phi)) more for the words that are there."""
    terms: list[list[float]] = [[0.0] for _ in scorer.messages]
    for k, histogram in enumerate(scorer.histogram):
        both = trigamma(scorer.concentration[k])
        for count, words in histogram:
            absent = trigamma(scorer.messages[k] - count + scorer.alpha)
            terms[k].append(words * (absent - both) if absent < inf else inf)
    for documents, _, c in tokens:
        for k, count in enumerate(documents):
            present = trigamma(count + scorer.alpha)
            absent = trigamma(scorer.messages[k] - count + scorer.alpha)
            if present == inf or absent == inf:
                terms[k].append(inf)
            else:
                terms[k].append(c * c * present + ((c - 1) ** 2 - 1) * absent)
    return [inf if inf in column else max(0.0, fsum(column)) for column in terms]


def log_odds_standard_deviation(
    variances: Sequence[float], log_joint: Sequence[float], positive: int, prior_counts: Sequence[float] = ()
) -> float:
    """Posterior standard deviation of the log-odds, nats: large where there is too little data.

    variances    : per class, of the log-likelihood; add the variances of independent parts first
    prior_counts : m_k + lambda where the class prior is estimated, nothing where it is given
    For two classes exact; for more by the delta method, each other class by its share of the rest.
    inf where the variance of a class is that has a share.
    """
    gradient = rest_weights(log_joint, positive)  # of the log-odds; the signs do not matter
    gradient[positive] = 1.0
    total = 0.0
    for k, weight in enumerate(gradient):
        if weight:
            total += weight * weight * variances[k]
            total += weight * weight * trigamma(prior_counts[k]) if prior_counts else 0.0
    return sqrt(total)


def log_odds_interval(value: float, deviation: float) -> tuple[float, float]:
    """95 % credible interval of a message's log-odds, by the normal approximation, nats."""
    half = normal_quantile((1 + LEVEL) / 2) * deviation
    return value - half, value + half


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal, 0 < probability < 1.

    By bisection of erfc: the statistics module costs 10 ms to import.
    """
    low, high = -40.0, 40.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if erfc(-middle / sqrt(2)) / 2 < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
