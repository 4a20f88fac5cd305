"""Any event model over many messages, in one sum: the textbook.

A word model is its law (nbspam.model.words) at the distinct tuples of counts, added up over the words of each
message; all words outside the vocabulary are one NOTAWORD.  Numeric features add their part to it.  The
scores are those of nbspam.model.scorer for the same counts.

`alpha=auto` is the lambda of least log loss on messages as if they were new.  Averaged views: the calibrated
probabilities of each message by counts that do not hold it.  Other event models: each fold of the messages
scored by the counts of all others, which subtraction gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.model.block import Block, limit_to_words, select_rows
from nbspam.model.calibrate import choose_ways, fit, join_evidence, score_evidence
from nbspam.model.counts import Counts, Floats, Ints, MemoryModel, take_columns
from nbspam.model.numeric import FeatureStatistics, count_features, learn_edges, make_numeric_law
from nbspam.model.posterior import log_priors_of, prior_shift
from nbspam.model.scorer import make_words
from nbspam.model.views import ScoredRows, compute_evidence
from nbspam.model.words import WordLaw
from nbspam.settings import Settings
from nbspam.tokens.bag import NOTAWORD_KEY
from nbspam.tokens.numeric import NAMES

ALPHA_GRID = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
FOLDS = 5
# A sum over words is over-sure, so its raw log loss would be a story of its few worst mistakes.  The scores
# are scaled by the one of these factors that suits them best (temperature scaling; Guo et al. 2017, section
# 4.2), and what remains is how well they tell the classes apart.
TEMPERATURES = tuple(np.geomspace(1e-5, 1e2, 71).tolist())


class TextbookModel(NamedTuple):
    """What was counted of words and numeric features (None if they are not scored), and how it scores."""

    settings: Settings
    classes: tuple[str, ...]
    counts: Counts
    features: FeatureStatistics | None

    def log_joint(self, block: Block, words: WordRows | None = None) -> Floats:
        """float64 (n_messages, n_classes), nats; -inf where lambda = 0 rules a class out, never NaN.

        words : of the block, if at hand
        """
        settings, joint = self.settings, np.zeros((len(block), len(self.classes)))
        uses_prior = self.features is not None
        if settings.features != "numeric":
            law = make_words(MemoryModel(self.classes, self.counts), settings)
            uses_prior |= law.uses_prior
            joint = (words or WordRows(self.counts, block)).score(law)
        if self.features is not None:
            numeric = make_numeric_law(settings.numeric_model, self.features, settings.alpha)
            joint = joint + numeric.log_likelihood(block.features)
        prior = np.asarray(log_priors_of(settings, self.counts.messages.tolist(), self.classes))
        return joint + prior if uses_prior else joint


def learn_features(
    features: Floats,
    labels: NDArray[Any],
    n_classes: int,
    settings: Settings,
    edges: Mapping[str, list[float]] = MappingProxyType({}),
) -> FeatureStatistics:
    """The counts of numeric features.

    features : float64 (n_messages, n_features);  labels : class numbers
    edges    : inner edges of the bins of some features, by name; all others are learned
    """
    learned = dict(zip(NAMES, learn_edges(features, settings.bins, settings.binning), strict=True))
    bins = [edges.get(name, learned[name]) for name in NAMES]
    return count_features(features, labels, n_classes, bins, settings.numeric_model == "aode")


class WordRows:
    """Messages over the words of some counts, to be scored under the laws of one event model.

    All words outside are one NOTAWORD.
    """

    def __init__(self, counts: Counts, block: Block) -> None:
        used, columns = np.unique(block.columns, return_inverse=True)
        places = counts.places(np.append(block.keys[used], NOTAWORD_KEY))
        known = take_columns(counts.known(), places)
        rows = block.rows()
        times = block.counts.astype(np.float64)
        inside = known[columns]
        outside = np.bincount(rows[~inside], times[~inside], len(block))
        without = np.flatnonzero(outside)  # rows that have a NOTAWORD
        self._n_rows = len(block)
        self._rows = np.concatenate([rows[inside], without])
        self._columns = np.concatenate([columns[inside], np.full(len(without), len(used))])
        self._times = np.concatenate([times[inside], outside[without]])
        self._counts, self._places = counts, places
        self._tuples: tuple[list[list[int]], Ints] = ([], places)  # of find_distinct, for the first law

    def score(self, law: WordLaw) -> Floats:
        """Log-likelihoods, float64 (n_rows, n_classes), nats; -inf allowed, never NaN."""
        if not self._tuples[0]:
            counts = self._counts.occurrences if law.repeats else self._counts.documents
            self._tuples = find_distinct(take_columns(counts, self._places))
        joint = self._sums(law.weigh, self._times if law.repeats else 1.0) + law.base
        if any(law.certain):
            certain = self._sums(law.is_certain, 1.0)
            joint[certain < law.certain] = -np.inf
        return joint

    def _sums(self, law: Callable[[list[int]], Sequence[float]], times: Floats | float) -> Floats:
        """float64 (n_rows, n_classes): of each row the sum of a law of one tuple of counts at its words."""
        tuples, places = self._tuples
        table = np.array([law(counts) for counts in tuples], np.float64)
        at_words = places[self._columns]
        weights = [of_class[at_words] * times for of_class in table.T]
        return np.stack([np.bincount(self._rows, of_class, self._n_rows) for of_class in weights], axis=1)


def find_distinct(counts: Ints) -> tuple[list[list[int]], Ints]:
    """(tuples, place): the distinct columns of counts, and which of them each column is.

    counts : int64 (n_classes, n), n >= 1
    By codes: numpy's unique of columns takes ten times as long.
    """
    place = np.zeros(counts.shape[1], np.int64)
    first = place
    for row in counts:
        values, numbers = np.unique(row, return_inverse=True)
        codes = place * len(values) + numbers
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return counts[:, first].T.tolist(), place


def choose_alpha(model: TextbookModel, sample: Block) -> float:
    """The lambda of ALPHA_GRID with least log loss; the larger one of two that are equal.

    model  : the counts and the way of scoring, which may average views
    sample : labelled messages, all of them among the counted
    """
    if model.settings.averaged:
        seen = [way(sample, model.counts) for way in choose_ways(sample)]
        score = partial(_judge_averaged, model, seen)
    else:
        score = partial(_judge_textbook, _folds(model, sample))
    return -min((score(alpha), -alpha) for alpha in ALPHA_GRID)[1]


def _judge_averaged(model: TextbookModel, seen: list[ScoredRows], alpha: float) -> float:
    settings = model.settings.replaced(alpha=alpha)
    evidence = join_evidence([compute_evidence(rows, settings) for rows in seen])
    shift = prior_shift(settings, model.counts.messages.tolist(), model.classes)
    joint = score_evidence(fit(evidence)[0], evidence) + shift
    return log_loss(joint, evidence.labels)


Fold = tuple[TextbookModel, Block, WordRows]  # the model of all others, and the messages


def _folds(model: TextbookModel, sample: Block) -> list[Fold]:
    """The messages of a sample in parts; copies of a message are in one part."""
    folds = []
    part = np.unique(sample.digests(), return_inverse=True)[1] % FOLDS
    for number in range(FOLDS):
        judged = select_rows(sample, np.flatnonzero(part == number))
        counted = limit_to_words(judged, model.counts.keys) if model.counts.is_fixed else judged
        counts = model.counts - counted.count(len(model.classes))
        features = deepcopy(model.features)
        if features:
            features.add(judged.features, judged.labels, -1)
        others = model._replace(counts=counts, features=features)
        folds.append((others, judged, WordRows(counts, judged)))
    return folds


def _judge_textbook(folds: list[Fold], alpha: float) -> float:
    joints = []
    for model, judged, words in folds:
        smoothed = model._replace(settings=model.settings.replaced(alpha=alpha))
        joints.append(smoothed.log_joint(judged, words))
    labels = np.concatenate([judged.labels for _, judged, _ in folds])
    return scaled_log_loss(np.concatenate(joints), labels)


def log_loss(joint: Floats, labels: NDArray[Any]) -> float:
    """Mean of -log P(true class | message), nats; 0 for no messages.

    joint : float64 (n_messages, n_classes)
    A message whose class is ruled out does not count: no lambda could help it.
    """
    true_joint = joint[np.arange(len(labels)), labels]
    possible = np.isfinite(true_joint)
    losses = np.logaddexp.reduce(joint[possible], axis=1) - true_joint[possible]
    return float(losses.sum() / max(len(losses), 1))


def scaled_log_loss(joint: Floats, labels: NDArray[Any]) -> float:
    """The least log loss of the joints times one of TEMPERATURES."""
    possible = np.isfinite(joint[np.arange(len(labels)), labels])
    joint, labels = joint[possible], labels[possible]
    centred = joint - joint.max(axis=1, keepdims=True)
    return min(log_loss(scale * centred, labels) for scale in TEMPERATURES)
