"""The event models on plain arrays, for notebooks: the same laws that judge mail.

X : numbers (n_rows, n_columns).  Counts of words (dense or scipy.sparse) for Presence, Multinomial, Bernoulli
    and Complement; real features, NaN where a value is missing, for Gaussian, Categorical and AODE
y : labels of any kind, (n_rows,)
The columns are the whole vocabulary: there is no NOTAWORD.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nbspam.errors import UsageError
from nbspam.model.counts import Floats
from nbspam.model.credible_intervals import NormalInverseGamma as NormalInverseGamma
from nbspam.model.credible_intervals import normal_posterior
from nbspam.model.numeric import (
    VARIANCE_FLOOR,
    AodeLaw,
    CategoricalLaw,
    Edges,
    FeatureStatistics,
    GaussianLaw,
    NumericLaw,
    learn_edges,
)
from nbspam.model.posterior import log_odds, log_priors
from nbspam.model.words import ClassSums, WordLaw, make_word_law

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.model.posterior import Prior


class ArrayModel:
    """Counts of labelled rows, and the scores that follow.

    alpha    : the smoothing constant lambda
    prior    : empirical, smoothed, uniform, or a probability for each class
    classes  : labels in the order of all results; None for those of the first rows
    messages : int64 (n_classes,), rows counted of each class
    """

    def __init__(self, alpha: float = 1.0, prior: Prior = "empirical", classes: Any = None) -> None:
        self.alpha, self.prior = alpha, prior
        self.classes: Any = None if classes is None else np.asarray(classes)
        self.messages: NDArray[Any] = np.zeros(0, np.int64)

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Counts these rows alone."""
        self.messages = np.zeros(0, np.int64)
        return self.add(X, y)

    def add(self, X: Any, y: ArrayLike, sign: int = 1) -> Self:
        """Counts more rows."""
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        y = np.asarray(y)
        self.classes = np.unique(y) if self.classes is None else self.classes
        strange = np.setdiff1d(y, self.classes).tolist()
        if strange:
            why, allowed = "is not one of the classes", map(str, self.classes)
            raise UsageError(str(strange[0]), why, slug="no-such-class", allowed=allowed)
        if not len(self.messages):
            self.messages = np.zeros(len(self.classes), np.int64)
            self._begin(X)
        numbers = np.argmax(y[:, None] == self.classes, axis=1)
        self.messages += sign * np.bincount(numbers, minlength=len(self.classes))
        self._count(X, numbers, sign)
        return self

    def remove(self, X: Any, y: ArrayLike) -> Self:
        """Takes out rows that were counted; exact."""
        return self.add(X, y, -1)

    def log_likelihood(self, X: Any) -> Floats:
        """log P(row | class), float64 (n_rows, n_classes), nats; -inf allowed, never NaN."""
        raise NotImplementedError

    def _begin(self, X: Any) -> None:
        raise NotImplementedError

    def _count(self, X: Any, numbers: NDArray[np.int64], sign: int) -> None:
        raise NotImplementedError

    def log_prior(self) -> Floats:
        """log pi_k, float64 (n_classes,)."""
        names = tuple(map(str, self.classes))
        return np.array(log_priors(self.prior, self.messages.tolist(), names, self.alpha))

    def log_joint(self, X: Any) -> Floats:
        """log P(class) + log P(row | class), float64 (n_rows, n_classes), nats."""
        return self.log_likelihood(X) + self.log_prior()

    def log_odds(self, X: Any, positive: Any = None) -> Floats:
        """log P(positive | row) - log P(another class | row), float64 (n_rows,), nats; NaN if undefined.

        positive : a class; None for the last one
        """
        k = len(self.classes) - 1 if positive is None else self.classes.tolist().index(positive)
        found = [log_odds(row, k) for row in self.log_joint(X).tolist()]
        return np.array([np.nan if value is None else value for value in found])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest posterior of each row, the first of those that are equal."""
        return np.asarray(self.classes[self.log_joint(X).argmax(axis=1)])

    def parameters(self) -> dict[str, Any]:
        """`prior` and the estimates of the model: arrays with a row for each class."""
        raise NotImplementedError


class WordModel(ArrayModel):
    """A model of words.  documents, occurrences : int64 (n_classes, n_words), n_jk and N_jk"""

    event_model, normalise = "presence", False

    def _begin(self, X: Any) -> None:
        self.documents = np.zeros((len(self.messages), X.shape[1]), np.int64)
        self.occurrences = np.zeros_like(self.documents)

    def _count(self, X: Any, numbers: NDArray[np.int64], sign: int) -> None:
        for k in range(len(self.messages)):
            rows = X[np.flatnonzero(numbers == k)]
            self.documents[k] += sign * np.asarray((rows > 0).sum(axis=0)).ravel()
            self.occurrences[k] += sign * np.asarray(rows.sum(axis=0)).ravel()

    def _histogram(self, kind: str) -> list[Counter[int]]:
        outside = self.occurrences.sum(axis=0) - self.occurrences
        return [Counter(row) for row in (self.documents if kind == "documents" else outside).tolist()]

    def _law(self) -> WordLaw:
        totals = ClassSums(
            self.messages.tolist(),
            self.documents.sum(axis=1).tolist(),
            self.occurrences.sum(axis=1).tolist(),
            self.documents.shape[1],
            self._histogram,
        )
        return make_word_law(self.event_model, totals, self.alpha, self.normalise)

    def log_likelihood(self, X: Any) -> Floats:
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        law = self._law()
        counts = (self.occurrences if law.repeats else self.documents).T.tolist()
        weights = np.array([law.weigh(row) for row in counts])
        is_certain = np.array([law.is_certain(row) for row in counts], np.int64)
        present = (X > 0).astype(np.int64)
        times = X if law.repeats else present
        found = times @ np.where(np.isfinite(weights), weights, 0.0) + law.base
        impossible = present @ np.isneginf(weights).astype(np.int64) > 0
        return np.where(impossible | (present @ is_certain < law.certain), -np.inf, found)

    def log_prior(self) -> Floats:
        """log pi_k, float64 (n_classes,); zeros under Complement, which has no prior."""
        return super().log_prior() if self._law().uses_prior else np.zeros(len(self.messages))

    def parameters(self) -> dict[str, Any]:
        law = self._law()
        name = "theta" if self.event_model == "complement" else "phi"
        columns = zip(self.documents.T.tolist(), self.occurrences.T.tolist(), strict=True)
        top = np.array([law.pseudo_counts(*counts) for counts in columns]).T
        with np.errstate(invalid="ignore"):
            return {"prior": np.exp(super().log_prior()), name: top / np.array(law.concentration)[:, None]}


class Presence(WordModel):
    """Multinomial on presence: each word of a row counts once.  parameters: phi"""


class Multinomial(WordModel):
    """Each word counts as often as it occurs.  parameters: phi"""

    event_model = "multinomial"


class Bernoulli(WordModel):
    """Each word of the vocabulary is present or absent.  parameters: phi, the probability of presence"""

    event_model = "bernoulli"


class Complement(WordModel):
    """Each class by the words of all others.  parameters: theta.  normalise : normalise the weights"""

    event_model = "complement"

    def __init__(self, alpha: float = 1.0, normalise: bool = False, **others: Any) -> None:
        super().__init__(alpha, **others)
        self.normalise = normalise


class Categorical(ArrayModel):
    """Each feature falls into a bin.  parameters: edges, and phi of each feature (n_classes, n_bins)

    edges         : inner edges of the bins of each feature; None to learn them from the first rows
    bins, binning : how they are learned, see nbspam.model.numeric.learn_edges
    """

    with_pairs = False

    def __init__(
        self,
        alpha: float = 1.0,
        edges: Edges | None = None,
        bins: int = 10,
        binning: str = "frequency",
        **others: Any,
    ) -> None:
        super().__init__(alpha, **others)
        self.edges, self.bins, self.binning = edges, bins, binning

    def _begin(self, X: Any) -> None:
        edges = learn_edges(X, self.bins, self.binning) if self.edges is None else self.edges
        self.counts = FeatureStatistics(len(self.messages), edges, self.with_pairs)

    def _count(self, X: Any, numbers: NDArray[np.int64], sign: int) -> None:
        self.counts.add(X, numbers, sign)

    def _law(self) -> NumericLaw:
        return CategoricalLaw(self.counts, self.alpha)

    def log_likelihood(self, X: Any) -> Floats:
        return self._law().log_likelihood(X)

    def parameters(self) -> dict[str, Any]:
        by_feature = np.split(np.exp(self._law().log_phi.T), self.counts.starts[1:], axis=1)
        return {"prior": np.exp(self.log_prior()), "edges": self.counts.edges, "phi": by_feature}


class AODE(Categorical):
    """Averaged one-dependence estimators: features may depend on one other.  parameters: as Categorical"""

    with_pairs = True

    def _law(self) -> NumericLaw:
        return AodeLaw(self.counts, self.alpha)


class Gaussian(Categorical):
    """Each feature has a normal distribution in each class.  parameters: mean, variance

    floor, added : what a variance is at least, see nbspam.model.numeric.GaussianLaw
    """

    def __init__(self, floor: float = VARIANCE_FLOOR, added: float = 0.0, **others: Any) -> None:
        super().__init__(**others)
        self.floor, self.added = floor, added

    def _law(self) -> GaussianLaw:
        return GaussianLaw(self.counts, self.floor, self.added)

    def parameters(self) -> dict[str, Any]:
        law = self._law()
        return {"prior": np.exp(self.log_prior()), "mean": law.means, "variance": law.variances}

    def posterior(self, prior: NormalInverseGamma | None = None) -> NormalInverseGamma:
        """Posterior of mean and variance, with their intervals.  prior : None for one worth a row"""
        return normal_posterior(self.counts, prior)
