"""The event models on plain arrays: laws of all, scikit-learn, and the examples of docs/models.md."""

import doctest
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbspam.model import AODE, Bernoulli, Categorical, Complement, Gaussian, Multinomial, Presence

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
EDGES = [[1.0, 2.0, 4.0]] * 8
MODELS = {
    "presence": Presence,
    "multinomial": Multinomial,
    "bernoulli": Bernoulli,
    "complement": Complement,
    "normalised": lambda alpha=1.0: Complement(alpha, normalise=True),
    "gaussian": lambda alpha=1.0: Gaussian(alpha=alpha),
    "categorical": lambda alpha=1.0: Categorical(alpha, EDGES),
    "aode": lambda alpha=1.0: AODE(alpha, EDGES),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def some_rows(n: int, n_classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rates = np.random.default_rng(9).gamma(1.0, 2.0, (n_classes, 8))
    labels = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    return rng.poisson(rates[labels]), labels


def test_the_examples_of_the_manual_give_what_they_show() -> None:
    blocks = re.findall(r"```python\n(.*?)```\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) >= 15
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert said == []


@every_model
def test_rows_added_and_removed_leave_the_counts_of_the_others(make: Any) -> None:
    (X, y), query = some_rows(40), some_rows(20, seed=1)[0]
    expected = make().fit(X[:25], y[:25]).log_joint(query)
    changed = make().fit(X[:10], y[:10]).add(X[10:], y[10:]).remove(X[25:], y[25:])
    np.testing.assert_array_equal(changed.log_joint(query), expected)


@every_model
@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0, 1e12])
def test_one_row_and_a_batch_are_scored_alike_and_never_nan(make: Any, alpha: float) -> None:
    (X, y), query = some_rows(40), some_rows(20, seed=1)[0]
    model = make(alpha).fit(X, y)
    joint = model.log_joint(query)
    assert not np.isnan(joint).any()
    assert not np.isposinf(joint).any()
    rows = np.concatenate([model.log_joint(query[[i]]) for i in range(len(query))])
    np.testing.assert_allclose(rows, joint, rtol=1e-12, atol=1e-12)


@every_model
def test_predictions_follow_the_log_odds_whatever_the_labels(make: Any) -> None:
    X, y = some_rows(60, 2)
    names = np.array(["ham", "spam"])[y]
    model, query = make().fit(X, names), some_rows(30, 2, seed=1)[0]
    assert model.classes.tolist() == ["ham", "spam"]
    odds = model.log_odds(query, "spam")
    assert ((odds > 0) == (model.predict(query) == "spam")).all()
    np.testing.assert_array_equal(odds, model.log_odds(query))
    np.testing.assert_allclose(odds, -model.log_odds(query, "ham"))
