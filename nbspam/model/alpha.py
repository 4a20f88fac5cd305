"""The choice of `alpha=auto`: the lambda of least log loss on messages as if they were new.

Averaged views: the calibrated probabilities of each message by counts that do not hold it.  Other event
models: each fold of the messages scored by the counts of all others, which subtraction gives.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial

import numpy as np

from nbspam.model.block import Block, select_rows
from nbspam.model.calibrate import bulk_scores, fit, join_evidence, ways_to_see
from nbspam.model.counts import Floats, Ints
from nbspam.model.posterior import prior_shift
from nbspam.model.textbook import TextbookModel, WordRows
from nbspam.model.views import Seen, view_evidence

ALPHA_GRID = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
FOLDS = 5
# A sum over words is over-sure, so its raw log loss would be a story of its few worst mistakes.  The scores
# are scaled by the one of these factors that suits them best (temperature scaling; Guo et al. 2017, section
# 4.2), and what remains is how well they tell the classes apart.
SCALES = tuple(np.geomspace(1e-5, 1e2, 71).tolist())


def best_alpha(model: TextbookModel, sample: Block) -> float:
    """The lambda of ALPHA_GRID with least log loss; the larger one of two that are equal.

    model  : the counts and the way of scoring, which may average views
    sample : labelled messages, all of them among the counted
    A model without lambda (Gaussian alone) keeps the one it has.
    """
    settings, labels = model.settings, sample.labels.astype(np.int64)
    if settings.features == "numeric" and settings.numeric_model == "gaussian":
        return settings.alpha
    if settings.averaged:
        seen = [way(sample, model.counts) for way in ways_to_see(sample)]
        score = partial(_averaged_loss, model, seen)
    else:
        score = partial(_textbook_loss, _folds(model, sample), labels)
    return -min((score(alpha), -alpha) for alpha in ALPHA_GRID)[1]


def _averaged_loss(model: TextbookModel, seen: list[Seen], alpha: float) -> float:
    settings = model.settings.replaced(alpha=alpha)
    found = join_evidence([view_evidence(one, settings) for one in seen])
    shift = prior_shift(settings, model.counts.messages.tolist(), model.classes)
    joint = bulk_scores(fit(found)[0], found) + shift
    return log_loss(joint, found.labels)


Fold = tuple[TextbookModel, Block, WordRows, Ints]  # the model of all others; messages; which they are


def _folds(model: TextbookModel, sample: Block) -> list[Fold]:
    """The messages of a sample in parts; copies of a message are in one part."""
    found = []
    part = np.unique(sample.digests(), return_inverse=True)[1] % FOLDS
    for number in range(FOLDS):
        rows = np.flatnonzero(part == number)
        judged = select_rows(sample, rows)
        counts, features = model.counts - model.count(judged), deepcopy(model.features)
        if features:
            features.add(judged.features, judged.labels, -1)
        others = TextbookModel(model.settings, model.classes, counts, features)
        found.append((others, judged, WordRows(counts, judged), rows))
    return found


def _textbook_loss(folds: list[Fold], labels: Ints, alpha: float) -> float:
    joints = []
    for model, judged, words, _ in folds:
        model.settings = model.settings.replaced(alpha=alpha)
        joints.append(model.log_joint(judged, words))
    rows = np.concatenate([fold[-1] for fold in folds])
    return scaled_log_loss(np.concatenate(joints), labels[rows])


def log_loss(joint: Floats, labels: Ints) -> float:
    """Mean of -log P(true class | message), nats; 0 for no messages.

    joint : float64 (n_messages, n_classes)
    A message whose class is ruled out does not count: no lambda could help it.
    """
    own = joint[np.arange(len(labels)), labels]
    some = np.isfinite(own)
    losses = np.logaddexp.reduce(joint[some], axis=1) - own[some]
    return float(losses.sum() / max(len(losses), 1))


def scaled_log_loss(joint: Floats, labels: Ints) -> float:
    """The least log loss of the joints times one of SCALES."""
    possible = np.isfinite(joint[np.arange(len(labels)), labels])
    joint, labels = joint[possible], labels[possible]
    centred = joint - joint.max(axis=1, keepdims=True)
    return min(log_loss(scale * centred, labels) for scale in SCALES)
