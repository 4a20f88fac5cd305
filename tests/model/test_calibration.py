"""The calibration: where its weights are, its scores, its fit, and one step of learning by the book."""

import copy

import numpy as np
import pytest

from nbspam.model import calibration
from nbspam.model.calibrate import score_evidence
from nbspam.model.calibration import FIRST_CREDIT, Learner, feature_names, first_weights
from nbspam.model.views import Evidence
from nbspam.settings import Settings
from nbspam.tokens.bag import VIEWS

KINDS = Settings().kinds
WORDS = ("evidence", "cautious")
CONSTANT = len(calibration.evidence_rows(KINDS))  # its place among the weights
NOTHING = ([[0.0, 0.0]] * CONSTANT, [0.0] * len(VIEWS))  # evidence of a message that has none


def random_evidence(n: int, n_classes: int) -> Evidence:
    rng = np.random.default_rng(n_classes)
    evidence = rng.normal(size=(n, 2 * len(VIEWS), n_classes))
    evidence[:, :, 0] = 0.0
    same_text = np.zeros((n, n_classes))
    return Evidence(evidence, rng.random((n, len(VIEWS))), same_text, np.arange(n) % n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_are_the_design_times_the_weights_for_one_message_and_for_many(n_classes: int) -> None:
    found = random_evidence(4, n_classes)
    weights = np.random.default_rng(0).normal(size=len(feature_names(n_classes, WORDS)))
    many = score_evidence(weights, found)
    for row, expected in enumerate(many.tolist()):
        one, common = found.evidence[row].tolist(), found.common[row].tolist()
        rows = [calibration.design(one, common, k) for k in range(n_classes)]
        assert (np.array(rows) @ weights).tolist() == pytest.approx(expected, abs=1e-12)
        assert calibration.scores(weights.tolist(), one, common) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_step_is_the_gaussian_posterior_of_one_message(n_classes: int) -> None:
    """Precision and mean by the book: P + t p(1-p) x x', w + t (1-p) S x, p the odds of class against rival.

    t is the power of the likelihood: one half after 200 messages.
    """
    random = np.random.default_rng(n_classes)
    kinds = ("evidence", "cautious")
    for label in range(n_classes):
        prior, prior_covariance = first_weights(n_classes, kinds)
        learner = Learner((prior, prior_covariance))
        evidence = random.normal(size=(2 * len(VIEWS), n_classes))
        evidence[:, 0] = 0.0
        common = random.random(len(VIEWS)).tolist()
        rows = [calibration.design(evidence.tolist(), common, k) for k in range(n_classes)]
        design = np.array(rows)
        design[0] = 0.0
        z = design @ prior
        rival = max((k for k in range(n_classes) if k != label), key=lambda k: z[k])
        x = design[label] - design[rival]
        right = 1 / (1 + np.exp(z[rival] - z[label]))
        precision = np.linalg.inv(prior_covariance) + 0.5 * right * (1 - right) * np.outer(x, x)
        mean = prior + np.linalg.inv(precision) @ x * 0.5 * (1 - right)
        learner.learn(evidence.tolist(), common, label, 200)  # from the prior nothing can be lost
        np.testing.assert_allclose(learner.weights, mean, atol=1e-9)
        np.testing.assert_allclose(learner.covariance, np.linalg.inv(precision), atol=1e-9)


def headers(odds: float) -> list[list[float]]:
    """Evidence of the header alone, whose weight begins at 1."""
    return [[0.0, odds], *NOTHING[0][1:]]


def test_mistake_teaches_only_with_credit_of_a_message_judged_rightly() -> None:
    learner = Learner(first_weights(2, KINDS), credit=0)
    mistake = [NOTHING[0][0], [0.0, 9.0], *NOTHING[0][2:]]  # of the body
    for evidence, label, teaches in (
        (mistake, 0, False),
        (mistake, 0, False),
        (headers(3.0), 1, True),
        (headers(-9.0), 1, True),
        (mistake, 0, False),
    ):
        before = copy.deepcopy((learner.weights, learner.covariance))
        learner.learn(evidence, NOTHING[1], label, 1_000)
        assert ((learner.weights, learner.covariance) != before) == teaches


@pytest.mark.parametrize(("credit", "lowest", "highest"), [(1_000_000, -9, 0.1), (FIRST_CREDIT, 0.4, 9)])
def test_mistakes_alone_do_not_teach_that_evidence_lies(credit: int, lowest: float, highest: float) -> None:
    """Of messages whose probabilities were right at first, those that were then judged wrongly."""
    random = np.random.default_rng(1)
    learner = Learner(first_weights(2, KINDS), credit=credit)
    for counted in range(1_000, 4_000):
        evidence = headers(float(random.normal(0, 4)))
        label = int(random.random() < 1 / (1 + np.exp(-evidence[0][1])))
        judged = int(calibration.scores(learner.weights, evidence, NOTHING[1])[1] > 0)
        if judged != label:
            learner.learn(evidence, NOTHING[1], label, counted)
    assert lowest < learner.weights[0] < highest
