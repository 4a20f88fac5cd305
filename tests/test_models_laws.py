"""Laws that hold for every event model: one body, all models, scalar and batch."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nbspam.errors import UsageError
from nbspam.model import bulk_words as word_models
from nbspam.model import leave_one_out as loo
from nbspam.model import word_models as events
from nbspam.model.posterior import log_posteriors
from nbspam.model.priors import log_priors

WORDS = 12
FEATURES = 4


@dataclass
class Mail:
    """Some messages: word counts (n, WORDS), features (n, FEATURES) with NaN for missing, classes (n,)."""

    words: np.ndarray
    features: np.ndarray
    labels: np.ndarray

    def __getitem__(self, rows: Any) -> Mail:
        return Mail(self.words[rows], self.features[rows], self.labels[rows])


def some_mail(count: int, n_classes: int, seed: int = 0) -> Mail:
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=count)
    rates = rng.gamma(0.6, 1.0, size=(n_classes, WORDS))
    rates[:, 0] = 0.0  # a word that is never there, as NOTAWORD before it is met
    rates[0, 1] = 0.0  # a word that class 0 never uses
    words = rng.poisson(rates[labels])
    features = rng.normal(labels[:, None] * 1.5, 1.0 + np.arange(FEATURES), size=(count, FEATURES)) * 1000
    features[:, 1] = rng.poisson(labels * 2.0)
    features[rng.random(features.shape) < 0.15] = np.nan
    return Mail(words, features, labels)


class WordModel:
    """Adapter of a word model to the laws."""

    uses_features = False

    def __init__(self, event_model: str, normalise: bool = False) -> None:
        self.event_model, self.normalise = event_model, normalise

    def count(self, mail: Mail, n_classes: int) -> Any:
        counts = word_models.WordCounts(n_classes, WORDS)
        counts.add(sparse.csr_matrix(mail.words), mail.labels)
        return counts

    def merge(self, into: Any, other: Any) -> None:
        into.merge(other)

    def remove(self, counts: Any, mail: Mail) -> None:
        counts.remove(sparse.csr_matrix(mail.words), mail.labels)

    def state(self, counts: Any) -> Any:
        return counts.messages.tolist(), counts.documents.tolist(), counts.occurrences.tolist()

    def scaled(self, counts: Any, factor: int) -> Any:
        for _ in range(factor.bit_length() - 1):
            counts.merge(counts)
        return counts

    def batch(self, counts: Any, mail: Mail, alpha: float, log_prior: list[float]) -> np.ndarray:
        matrix = sparse.csr_matrix(mail.words)
        return word_models.score(
            word_models.smooth(self.event_model, counts, alpha, self.normalise), matrix, log_prior
        )

    def scalar(self, counts: Any, mail: Mail, alpha: float, log_prior: list[float]) -> np.ndarray:
        scorer = events.make_word_scorer(self.event_model, counts.totals(), alpha, self.normalise)
        rows = [events.log_joint(scorer, log_prior, word_tokens(counts, row)) for row in mail.words]
        return np.array(rows).reshape(len(rows), len(counts.messages))


def word_tokens(counts: Any, row: np.ndarray) -> Iterator[tuple[list[int], list[int], int]]:
    for j in np.flatnonzero(row):
        yield counts.documents[:, j].tolist(), counts.occurrences[:, j].tolist(), int(row[j])


MODELS = {
    "presence": WordModel("presence"),
    "multinomial": WordModel("multinomial"),
    "bernoulli": WordModel("bernoulli"),
    "complement": WordModel("complement"),
    "complement-normalised": WordModel("complement", normalise=True),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
word_model = pytest.mark.parametrize("model", list(MODELS.values())[:5], ids=list(MODELS)[:5])
ALPHAS = [0.0, 1e-300, 0.01, 1.0, 7.5, 1e12, 1e308]


def prior_of(mail: Mail, n_classes: int, prior: str = "smoothed") -> list[float]:
    return log_priors(prior, np.bincount(mail.labels, minlength=n_classes).tolist())


def fit_and_query(model: Any, n_classes: int) -> tuple[Any, Mail, list[float]]:
    mail = some_mail(60, n_classes, seed=n_classes)
    return model.count(mail, n_classes), some_mail(25, n_classes, seed=50), prior_of(mail, n_classes)


@every_model
def test_parts_merged_count_as_all_at_once(model: Any) -> None:
    mail = some_mail(60, 3)
    merged = model.count(mail[:17], 3)
    for part in (mail[17:18], mail[18:18], mail[18:]):
        model.merge(merged, model.count(part, 3))
    assert model.state(merged) == model.state(model.count(mail, 3))


@every_model
def test_the_order_of_messages_leaves_the_counts_alone(model: Any) -> None:
    mail = some_mail(60, 3)
    shuffled = mail[np.random.default_rng(5).permutation(60)]
    assert model.state(model.count(shuffled, 3)) == model.state(model.count(mail, 3))


@every_model
def test_unlearning_restores_every_bit(model: Any) -> None:
    mail = some_mail(60, 3)
    totals = model.count(mail, 3)
    model.remove(totals, mail[20:])
    assert model.state(totals) == model.state(model.count(mail[:20], 3))


@every_model
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5])
def test_scalar_and_batch_scores_agree(model: Any, alpha: float, n_classes: int) -> None:
    totals, query, prior = fit_and_query(model, n_classes)
    batch = model.batch(totals, query, alpha, prior)
    scalar = model.scalar(totals, query, alpha, prior)
    assert batch.shape == (25, n_classes)
    np.testing.assert_allclose(batch, scalar, rtol=1e-12, atol=1e-9)


@every_model
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_score_is_never_nan_nor_plus_infinite(model: Any, alpha: float) -> None:
    totals, query, prior = fit_and_query(model, 3)
    joint = model.scalar(totals, query, alpha, prior)
    assert not np.isnan(joint).any()
    assert not np.isposinf(joint).any()
    if alpha > 0:
        assert np.isfinite(joint).all()


@every_model
@pytest.mark.parametrize("alpha", ALPHAS)
def test_posteriors_sum_to_one_or_are_undefined(model: Any, alpha: float) -> None:
    totals, query, prior = fit_and_query(model, 4)
    for joint in model.scalar(totals, query, alpha, prior).tolist():
        posteriors = log_posteriors(joint)
        if posteriors is None:
            assert alpha == 0.0
            assert joint == [-math.inf] * 4
        else:
            assert sum(map(math.exp, posteriors)) == pytest.approx(1.0, abs=1e-12)


@every_model
def test_a_message_that_says_nothing_leaves_a_finite_score(model: Any) -> None:
    totals, _, prior = fit_and_query(model, 3)
    nothing = Mail(np.zeros((1, WORDS), dtype=int), np.full((1, FEATURES), np.nan), np.zeros(1, dtype=int))
    joint = model.scalar(totals, nothing, 1.0, prior)
    assert np.isfinite(joint).all()
    np.testing.assert_allclose(model.batch(totals, nothing, 1.0, prior), joint, atol=1e-9)


@pytest.mark.parametrize("name", ["presence", "multinomial"])
def test_a_message_that_says_nothing_is_judged_by_the_prior_alone(name: str) -> None:
    model = MODELS[name]
    totals, _, prior = fit_and_query(model, 3)
    nothing = Mail(np.zeros((1, WORDS), dtype=int), np.full((1, FEATURES), np.nan), np.zeros(1, dtype=int))
    assert model.scalar(totals, nothing, 1.0, prior)[0].tolist() == pytest.approx(prior)


@every_model
@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
def test_a_class_without_messages_is_scored_and_scalar_agrees(model: Any, alpha: float) -> None:
    mail, query = some_mail(60, 2, seed=4), some_mail(25, 2, seed=5)
    totals = model.count(mail, 3)
    prior = prior_of(mail, 3)
    joint = model.scalar(totals, query, alpha, prior)
    assert not np.isnan(joint).any()
    np.testing.assert_allclose(model.batch(totals, query, alpha, prior), joint, rtol=1e-12, atol=1e-9)
    if alpha:
        assert np.isfinite(joint).all()


@pytest.mark.parametrize("name", [name for name in MODELS if "complement" not in name])
def test_a_class_without_messages_loses_under_the_empirical_prior(name: str) -> None:
    mail, query = some_mail(60, 2, seed=4), some_mail(25, 2, seed=5)
    totals = MODELS[name].count(mail, 3)
    joint = MODELS[name].scalar(totals, query, 1.0, prior_of(mail, 3, "empirical"))
    assert np.isneginf(joint[:, 2]).all()
    assert np.isfinite(joint[:, :2]).all()


@every_model
def test_a_model_without_any_mail_scores_all_classes_alike(model: Any) -> None:
    totals = model.count(some_mail(0, 2), 3)
    joint = model.scalar(totals, some_mail(10, 3), 1.0, log_priors("uniform", [0, 0, 0]))
    np.testing.assert_allclose(joint, np.repeat(joint[:, :1], 3, axis=1), atol=1e-9)


@every_model
def test_mail_and_lambda_times_four_score_the_same(model: Any) -> None:
    totals, query, prior = fit_and_query(model, 3)
    before = model.batch(totals, query, 0.5, prior)
    np.testing.assert_allclose(model.batch(model.scaled(totals, 4), query, 2.0, prior), before, atol=1e-9)


@pytest.mark.parametrize("name", ["presence", "multinomial", "bernoulli"])
def test_a_huge_lambda_tends_to_the_prior(name: str) -> None:
    model = MODELS[name]
    totals, query, prior = fit_and_query(model, 3)
    joint = model.scalar(totals, query, 1e15, prior)
    np.testing.assert_allclose(joint - joint[:, :1], np.tile(np.array(prior) - prior[0], (25, 1)), atol=1e-9)


@every_model
def test_renaming_the_classes_permutes_the_scores(model: Any) -> None:
    mail, query = some_mail(60, 3), some_mail(25, 3, seed=50)
    order = np.array([2, 0, 1])  # class k becomes order[k]
    renamed = Mail(mail.words, mail.features, order[mail.labels])
    before = model.batch(model.count(mail, 3), query, 1.0, prior_of(mail, 3))
    after = model.batch(model.count(renamed, 3), query, 1.0, prior_of(renamed, 3))
    np.testing.assert_allclose(after[:, order], before, atol=1e-9)


@word_model
def test_the_order_of_words_leaves_every_bit_of_the_score(model: Any) -> None:
    totals, query, prior = fit_and_query(model, 3)
    scorer = events.make_word_scorer(model.event_model, totals.totals(), 0.1, model.normalise)
    for row in query.words:
        tokens = list(word_tokens(totals, row))
        shuffled = random.Random(3).sample(tokens, len(tokens))
        assert events.log_joint(scorer, prior, shuffled) == events.log_joint(scorer, prior, tokens)


@pytest.mark.parametrize("name", ["presence", "multinomial", "bernoulli", "complement"])
def test_prior_base_and_contributions_add_up_to_the_score(name: str) -> None:
    totals, query, prior = fit_and_query(MODELS[name], 3)
    scorer = events.make_word_scorer(name, totals.totals(), 0.1)
    for row in query.words:
        sums = [
            base + (pi if scorer.uses_prior else 0.0) for base, pi in zip(scorer.base, prior, strict=True)
        ]
        for token in word_tokens(totals, row):
            sums = [a + b for a, b in zip(sums, scorer.token(*token), strict=True)]
        assert sums == pytest.approx(events.log_joint(scorer, prior, word_tokens(totals, row)), abs=1e-9)


@pytest.mark.parametrize("name", ["presence", "multinomial", "bernoulli"])
def test_an_impossible_word_shows_the_zero_probability_problem(name: str) -> None:
    mail = some_mail(60, 2)
    totals = MODELS[name].count(mail, 2)
    query = Mail(
        np.eye(WORDS, dtype=int)[[1]], mail.features[:1], mail.labels[:1]
    )  # word 1: never in class 0
    assert MODELS[name].scalar(totals, query, 0.0, [0.0, 0.0])[0, 0] == -math.inf
    unseen = Mail(np.eye(WORDS, dtype=int)[[0]], mail.features[:1], mail.labels[:1])  # word 0: never at all
    assert log_posteriors(MODELS[name].scalar(totals, unseen, 0.0, [0.0, 0.0])[0].tolist()) is None


def test_bernoulli_without_smoothing_misses_a_word_that_was_always_there() -> None:
    words = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    mail = Mail(words, np.zeros((4, FEATURES)), np.array([0, 0, 1, 1]))  # word 0 in all of class 0, none of 1
    counts = word_models.WordCounts(2, 2)
    counts.add(sparse.csr_matrix(words), mail.labels)
    model = MODELS["bernoulli"]
    joint = model.scalar(counts, mail, 0.0, [0.0, 0.0])
    half = math.log(0.5)
    expected = [[half, -math.inf], [half, -math.inf], [-math.inf, half], [-math.inf, half]]
    assert joint.tolist() == [pytest.approx(row) for row in expected]
    np.testing.assert_allclose(model.batch(counts, mail, 0.0, [0.0, 0.0]), joint)


@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf])
@word_model
def test_a_lambda_that_is_no_number_from_zero_up_is_refused(model: Any, alpha: float) -> None:
    totals, query, prior = fit_and_query(model, 2)
    with pytest.raises(UsageError, match="smoothing constant"):
        model.scalar(totals, query, alpha, prior)
    with pytest.raises(UsageError, match="smoothing constant"):
        model.batch(totals, query, alpha, prior)


def test_an_unknown_event_model_is_refused() -> None:
    counts = word_models.WordCounts(2, 3)
    with pytest.raises(UsageError, match="does not score words"):
        word_models.smooth("gaussian", counts, 1.0)


@word_model
def test_stored_zeros_and_split_entries_change_nothing(model: Any) -> None:
    mail = some_mail(30, 2)
    counts = model.count(mail, 2)
    odd = sparse.csr_matrix(([0, 2, 1, 0], [0, 3, 3, 1], [0, 4]), shape=(1, WORDS))  # word 3 twice and once
    plain = sparse.csr_matrix(([3], [3], [0, 1]), shape=(1, WORDS))
    for alpha in (0.0, 1.0):
        got, expected = (
            word_models.score(
                word_models.smooth(model.event_model, counts, alpha, model.normalise), matrix, [0.0, 0.0]
            )
            for matrix in (odd, plain)
        )
        assert got.tolist() == expected.tolist()
    before = model.state(counts)
    counts.add(odd, np.array([0]))
    counts.remove(plain, np.array([0]))
    assert model.state(counts) == before


@word_model
@pytest.mark.parametrize("alpha", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_left_out_is_removed_scored_and_added_again(model: Any, alpha: float, n_classes: int) -> None:
    mail = some_mail(20, n_classes)
    mail.words[:, 2] += 1  # a word of every message
    matrix = sparse.csr_matrix(mail.words)
    counts = model.count(mail, n_classes)
    entries = loo.Entries(counts, matrix, mail.labels, fixed=True)
    left = loo.leave_one_out(model.event_model, entries, alpha, normalise=model.normalise)
    for i in range(20):
        model.remove(counts, mail[i : i + 1])
        prior = log_priors("smoothed", counts.messages.tolist(), (), alpha)
        expected = model.batch(counts, mail[i : i + 1], alpha, prior)
        np.testing.assert_allclose(left[i : i + 1], expected, atol=1e-9)
        counts.add(matrix[i : i + 1], mail.labels[i : i + 1])


def test_the_loss_of_scaled_scores_does_not_depend_on_their_unit() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=200)
    joint = np.column_stack([np.zeros(200), rng.normal(labels * 2 - 1, 1.5)])
    assert loo.scaled_log_loss(joint * 30, labels) == pytest.approx(
        loo.scaled_log_loss(joint, labels), abs=1e-9
    )


def test_classes_weigh_as_the_prior_says_they_will_come() -> None:
    labels = np.array([0, 0, 0, 1])
    for of_mail in ("empirical", "smoothed"):
        assert loo.prior_weights(of_mail, labels, ("ham", "spam")).tolist() == [1, 1, 1, 1]
    weights = loo.prior_weights({"spam": 0.5, "ham": 0.5}, labels, ("ham", "spam"))
    assert weights == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    joint = np.log([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]])
    twice = np.array([0, 1, 2, 3, 3, 3])  # spam three times is as many as ham
    assert loo.scaled_log_loss(joint, labels, weights) == pytest.approx(
        loo.scaled_log_loss(joint[twice], labels[twice])
    )


def test_a_message_whose_class_is_ruled_out_says_nothing_of_lambda() -> None:
    joint, labels = np.log([[0.6, 0.4], [0.3, 0.7]]), np.array([0, 1])
    ruled_out = np.vstack([joint, [0.0, -np.inf]])
    assert loo.scaled_log_loss(ruled_out, np.array([0, 1, 1])) == loo.scaled_log_loss(joint, labels)


def test_leaving_out_without_smoothing_is_refused() -> None:
    mail = some_mail(5, 2)
    counts = MODELS["presence"].count(mail, 2)
    with pytest.raises(UsageError, match="without smoothing"):
        loo.leave_one_out("presence", loo.Entries(counts, sparse.csr_matrix(mail.words), mail.labels), 0.0)


@pytest.mark.parametrize("event_model", ["presence", "multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("normalise", [False, True])
def test_the_only_message_with_words_is_left_out_as_any_other(event_model: str, normalise: bool) -> None:
    """NOTAWORD is then the whole vocabulary, and the logarithm of its share, 0, has no share of its own."""
    matrix, labels = sparse.csr_matrix([[0, 0, 0], [0, 0, 0], [1, 2, 0]]), np.array([0, 1, 1])
    counts = word_models.WordCounts(2, 3)
    counts.add(matrix, labels)
    left = loo.leave_one_out(event_model, loo.Entries(counts, matrix, labels), 0.5, normalise=normalise)
    others = word_models.WordCounts(2, 1)
    others.add(sparse.csr_matrix([[0], [0]]), labels[:2])
    prior = log_priors("smoothed", [1, 1], ("ham", "spam"), 0.5)
    own = word_models.score(
        word_models.smooth(event_model, others, 0.5, normalise), sparse.csr_matrix([[3]]), prior
    )
    assert np.isfinite(left).all()
    assert left[2, 1] - left[2, 0] == pytest.approx(own[0, 1] - own[0, 0])


def test_a_prior_model_of_weight_zero_changes_nothing() -> None:
    assert events.power_factor(0, [3, 4]) == 0.0
    assert events.power_factor(14, [3, 4]) == 2.0
    assert events.power_factor(5, [0, 0]) == 0.0
    with pytest.raises(UsageError, match="weight"):
        events.power_factor(-1, [3, 4])


small_mail = st.integers(0, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 3), min_size=WORDS, max_size=WORDS), min_size=n, max_size=n),
        st.lists(
            st.lists(
                st.one_of(st.floats(), st.sampled_from([0.0, 1.0, -1e300, 2.0**31, 1e-7])),
                min_size=FEATURES,
                max_size=FEATURES,
            ),
            min_size=n,
            max_size=n,
        ),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


def mail_from(drawn: tuple[list[list[int]], list[list[float]], list[int]]) -> Mail:
    words, features, labels = drawn
    return Mail(
        np.array(words, dtype=int).reshape(-1, WORDS),
        np.array(features, dtype=float).reshape(-1, FEATURES),
        np.array(labels, dtype=int),
    )


@every_model
@settings(max_examples=40, deadline=None)
@given(drawn=small_mail, asked=small_mail, alpha=st.one_of(st.just(0.0), st.floats(0, 1e6)))
def test_any_mail_is_scored_alike_and_without_nan(model: Any, drawn: Any, asked: Any, alpha: float) -> None:
    mail, query = mail_from(drawn), mail_from(asked)
    totals = model.count(mail, 3)
    prior = log_priors("smoothed", np.bincount(mail.labels, minlength=3).tolist())
    scalar = model.scalar(totals, query, alpha, prior) if len(query.labels) else np.zeros((0, 3))
    assert not np.isnan(scalar).any()
    assert not np.isposinf(scalar).any()
    batch = model.batch(totals, query, alpha, prior)
    np.testing.assert_allclose(batch, scalar, rtol=1e-9, atol=1e-9)


@every_model
@settings(max_examples=25, deadline=None)
@given(drawn=small_mail, cut=st.integers(0, 12))
def test_any_mail_is_merged_and_unlearned_exactly(model: Any, drawn: Any, cut: int) -> None:
    mail = mail_from(drawn)
    first, second = model.count(mail[:cut], 3), model.count(mail[cut:], 3)
    before = repr(model.state(first))
    model.merge(first, second)
    assert model.state(first) == model.state(model.count(mail, 3))
    model.remove(first, mail[cut:])
    assert sorted(repr(model.state(first))) == sorted(before)  # dictionaries may come in another order
    assert model.state(first) == model.state(model.count(mail[:cut], 3))
