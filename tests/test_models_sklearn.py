"""Each model equals scikit-learn's class of the same name to 1e-9, on random data and on real mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from nbspam.model import bulk_words as word_models
from nbspam.model import word_models as events
from nbspam.model.priors import log_priors

ROOT = Path(__file__).resolve().parent.parent
WORD_MODELS = [
    pytest.param("bernoulli", False, BernoulliNB, {}, id="BernoulliNB"),
    pytest.param("multinomial", False, MultinomialNB, {}, id="MultinomialNB"),
    pytest.param("presence", False, MultinomialNB, {}, id="MultinomialNB-on-presence"),
    pytest.param("complement", False, ComplementNB, {"norm": False}, id="ComplementNB"),
    pytest.param("complement", True, ComplementNB, {"norm": True}, id="ComplementNB-norm"),
]


@pytest.fixture(scope="module")
def mail() -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Word counts, seven features and classes of the messages in data/ (a crude tokenizer will do here)."""
    paths = sorted((ROOT / "data").glob("*am/*.eml"))
    assert len(paths) >= 20
    texts = [path.read_bytes().decode("latin-1").lower() for path in paths]
    numbers: dict[str, int] = {}
    rows, columns, features = [], [], []
    for row, text in enumerate(texts):
        words = text.split()
        rows += [row] * len(words)
        columns += [numbers.setdefault(word, len(numbers)) for word in words]
        lengths = [len(word) for word in words]
        features.append(
            [len(text), text.count("\n"), text.count("<"), text.count("http"), sum(map(str.isdigit, text)),
             max(lengths), round(sum(lengths) / len(words) * 1024) / 1024]
        )  # fmt: skip
    matrix = sparse.csr_matrix((np.ones(len(rows), dtype=int), (rows, columns)))
    labels = np.array([path.parent.name == "spam" for path in paths], dtype=int)
    return matrix, np.array(features, dtype=float), labels


def random_words(n_classes: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    labels = rng.permutation(90) % n_classes
    return sparse.csr_matrix(rng.poisson(rng.gamma(0.3, 2, (n_classes, 70))[labels])), labels


def check_words(
    matrix: sparse.csr_matrix,
    labels: np.ndarray,
    alpha: float,
    event_model: str,
    normalise: bool,
    theirs: Any,
) -> None:
    train, test = np.flatnonzero(np.arange(len(labels)) % 3), np.flatnonzero(np.arange(len(labels)) % 3 == 0)
    n_classes = int(labels.max()) + 1
    counts = word_models.WordCounts(n_classes, matrix.shape[1])
    counts.add(matrix[train], labels[train])
    seen = (lambda m: (m > 0).astype(int)) if event_model == "presence" else (lambda m: m)
    theirs.fit(seen(matrix[train]), labels[train])
    expected = theirs.predict_joint_log_proba(seen(matrix[test]))
    prior = log_priors("empirical", counts.messages.tolist())
    batch = word_models.score(word_models.smooth(event_model, counts, alpha, normalise), matrix[test], prior)
    np.testing.assert_allclose(batch, expected, rtol=1e-11, atol=1e-9)
    scorer = events.make_word_scorer(event_model, counts.totals(), alpha, normalise)
    for i, row in zip(test[:10], expected[:10].tolist(), strict=True):
        message = matrix[i]
        tokens = [
            (counts.documents[:, j].tolist(), counts.occurrences[:, j].tolist(), int(n))
            for j, n in zip(message.indices, message.data, strict=True)
        ]
        assert events.log_joint(scorer, prior, tokens) == pytest.approx(row, rel=1e-11, abs=1e-9)


# Below 0.001 scikit-learn itself is off by more than 1e-9: it takes log(1 - exp(log phi)).
@pytest.mark.parametrize("alpha", [0.001, 0.01, 1.0, 5.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("event_model", "normalise", "cls", "arguments"), WORD_MODELS)
def test_word_models_equal_scikit_learn_on_random_counts(
    event_model: str, normalise: bool, cls: Any, arguments: dict[str, Any], n_classes: int, alpha: float
) -> None:
    matrix, labels = random_words(n_classes)
    check_words(matrix, labels, alpha, event_model, normalise, cls(alpha=alpha, **arguments))


@pytest.mark.parametrize("alpha", [0.001, 1.0])
@pytest.mark.parametrize(("event_model", "normalise", "cls", "arguments"), WORD_MODELS)
def test_word_models_equal_scikit_learn_on_real_mail(
    event_model: str, normalise: bool, cls: Any, arguments: dict[str, Any], alpha: float, mail: Any
) -> None:
    check_words(mail[0], mail[2], alpha, event_model, normalise, cls(alpha=alpha, **arguments))


@pytest.mark.parametrize("cls", [MultinomialNB, BernoulliNB])
def test_given_and_uniform_priors_equal_scikit_learn(cls: Any) -> None:
    matrix, labels = random_words(2)
    event_model = "multinomial" if cls is MultinomialNB else "bernoulli"
    counts = word_models.WordCounts(2, matrix.shape[1])
    counts.add(matrix, labels)
    for prior, arguments in (
        (log_priors({"spam": 0.3, "ham": 0.7}, [45, 45], ("ham", "spam")), {"class_prior": [0.7, 0.3]}),
        (log_priors("uniform", [45, 45]), {"fit_prior": False}),
    ):
        expected = cls(**arguments).fit(matrix, labels).predict_joint_log_proba(matrix)
        got = word_models.score(word_models.smooth(event_model, counts, 1.0), matrix, prior)
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-9)
