"""Laws of the event models of words, worked examples, and scikit-learn: one message and many."""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction as F
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from nbspam.errors import UsageError
from nbspam.model.block import Block, Lexicon
from nbspam.model.counts import Counts, MemoryModel
from nbspam.model.posterior import log_posteriors, log_priors
from nbspam.model.scorer import make_words
from nbspam.model.textbook import score_words
from nbspam.model.words import WordLaw
from nbspam.settings import Settings
from nbspam.tokens.bag import FORM_BITS, NOTAWORD_KEY, NOTAWORD_VIEW

Matrix = NDArray[Any]  # (n_messages, n_words): how often each word occurs in each message
WORDS = 12


class Model(NamedTuple):
    """A word model."""

    event_model: str
    normalise: bool = False

    def law(self, counts: Counts, alpha: float) -> WordLaw:
        way = Settings(self.event_model, alpha=alpha, averaged=False, normalise=self.normalise)
        return make_words(MemoryModel(classes_of(counts), counts), way)

    def single(self, counts: Counts, words: Matrix, alpha: float, log_prior: list[float]) -> Matrix:
        """Log joints, each message scored alone."""
        law = self.law(counts, alpha)
        rows = [log_joint(law, log_prior, tokens(counts, row)) for row in words]
        return np.array(rows).reshape(len(rows), len(counts.messages))

    def batch(self, counts: Counts, words: Matrix, alpha: float, log_prior: list[float]) -> Matrix:
        """Log joints, all messages at once."""
        law = self.law(counts, alpha)
        joint = score_words(law, counts, block_of(words))
        return joint + log_prior if law.uses_prior else joint


MODELS = {name: Model(name) for name in ("presence", "multinomial", "bernoulli", "complement")}
MODELS["complement-normalised"] = Model("complement", normalise=True)
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
every_alpha = pytest.mark.parametrize("alpha", [0.0, 1e-100, 0.01, 1.0, 7.5, 1e12])


def classes_of(counts: Counts) -> tuple[str, ...]:
    return tuple(f"class {k}" for k in range(len(counts.messages)))


def block_of(words: Matrix, labels: Matrix | None = None) -> Block:
    """Messages over words with ascending keys; the first is NOTAWORD."""
    rows, columns = np.nonzero(words)
    n_messages, n_words = words.shape
    views = np.ones(n_words, np.uint8)
    views[0] = NOTAWORD_VIEW
    return Block(
        Lexicon(np.arange(n_words) + NOTAWORD_KEY, views, b"\n".join(b"w%d" % j for j in range(n_words))),
        starts=np.searchsorted(rows, np.arange(n_messages + 1)),
        columns=columns.astype(np.int32),
        counts=words[rows, columns].astype(np.int32),
        labels=np.full(n_messages, -1, np.int16) if labels is None else labels.astype(np.int16),
        dates=np.full(n_messages, np.nan),
        names=[""] * n_messages,
        has_words=np.ones(n_messages, np.bool_),
        identities=np.unique(words, axis=0, return_inverse=True)[1].ravel() << FORM_BITS,
        forms=np.full(n_messages, -1),
        features=np.zeros((n_messages, 0)),
    )


def count(words: Matrix, labels: Matrix, n_classes: int) -> Counts:
    """Counts over a fixed vocabulary: that of the columns."""
    counts = block_of(words, labels).count(n_classes)
    counts.is_fixed = True
    return counts


def tokens(counts: Counts, row: Matrix) -> Iterator[tuple[list[int], list[int], int]]:
    for j in np.flatnonzero(row):
        yield counts.documents[:, j].tolist(), counts.occurrences[:, j].tolist(), int(row[j])


def log_joint(law: WordLaw, log_prior: list[float], found: Iterable[tuple[Any, Any, int]]) -> list[float]:
    """Log joints of one message of these tokens, nats by class."""
    found = list(found)
    rows = [law.base, *(law.token(*token) for token in found)]
    if law.uses_prior:
        rows.append(log_prior)
    ruled_out = law.ruled_out(documents for documents, _, _ in found)
    sums = [math.fsum(column) for column in zip(*rows, strict=True)]
    return [-math.inf if out else value for value, out in zip(sums, ruled_out, strict=True)]


def some_mail(n: int, n_classes: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Word counts (n, WORDS) and classes (n,) of some messages."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=n)
    rates = rng.gamma(0.6, 1.0, size=(n_classes, WORDS))
    rates[:, 0] = 0.0  # a word that is never there, as NOTAWORD before it is met
    rates[0, 1] = 0.0  # a word that class 0 never uses
    return rng.poisson(rates[labels]), labels


def fit_and_query(n_classes: int) -> tuple[Counts, Matrix, list[float]]:
    counts = count(*some_mail(60, n_classes, seed=n_classes), n_classes)
    return counts, some_mail(25, n_classes, seed=50)[0], log_priors("smoothed", counts.messages.tolist())


def state(counts: Counts) -> list[Any]:
    return [getattr(counts, name).tolist() for name in ("keys", "documents", "occurrences", "messages")]


def test_counts_add_and_subtract_exactly_in_any_order_and_parts() -> None:
    words, labels = some_mail(60, 3)
    whole = count(words, labels, 3)
    parts = [count(words[some], labels[some], 3) for some in (slice(17), slice(17, 18), slice(18, 60))]
    assert state(parts[2] + parts[0] + parts[1]) == state(whole)
    grown = count(words[:17], labels[:17], 3)
    for sign, expected in ((1, whole), (-1, parts[0]), (1, whole)):
        for row, label in zip(words[17:], labels[17:].tolist(), strict=True):
            places = np.flatnonzero(row)
            grown.add_message(places, row[places], label, sign)
        assert state(grown) == state(expected)
    assert [total.tolist() for total in grown.totals] == [total.tolist() for total in whole.totals]


@every_model
@every_alpha
@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_many_messages_score_as_each_alone(model: Model, alpha: float, n_classes: int) -> None:
    counts, query, prior = fit_and_query(n_classes)
    single = model.single(counts, query, alpha, prior)
    assert not np.isnan(single).any()
    assert not np.isposinf(single).any()
    if alpha > 0:
        assert np.isfinite(single).all()
    np.testing.assert_allclose(model.batch(counts, query, alpha, prior), single, rtol=1e-12, atol=1e-9)


@every_model
def test_model_without_mail_scores_all_classes_alike(model: Model) -> None:
    counts = count(*some_mail(0, 2), 3)
    joint = model.single(counts, some_mail(10, 3)[0], 1.0, log_priors("uniform", [0, 0, 0]))
    np.testing.assert_allclose(joint, np.repeat(joint[:, :1], 3, axis=1), atol=1e-9)


@pytest.mark.parametrize("name", ["presence", "multinomial", "bernoulli"])
def test_impossible_word_shows_the_zero_probability_problem(name: str) -> None:
    counts, one_word = count(*some_mail(60, 2), 2), np.eye(WORDS, dtype=int)
    never_in_class_0, never_at_all = one_word[[1]], one_word[[0]]
    assert MODELS[name].single(counts, never_in_class_0, 0.0, [0.0, 0.0])[0, 0] == -math.inf
    assert log_posteriors(MODELS[name].single(counts, never_at_all, 0.0, [0.0, 0.0])[0].tolist()) is None


@every_model
@pytest.mark.parametrize("alpha", [-1.0, 1e-300, 1e13, math.nan, math.inf])
def test_lambda_below_zero_or_infinite_is_refused(model: Model, alpha: float) -> None:
    with pytest.raises(UsageError, match="neither 0 nor a number"):
        model.law(fit_and_query(2)[0], alpha)


def test_all_words_outside_an_open_vocabulary_are_one_notaword() -> None:
    words, labels = some_mail(40, 2)
    words[:, 5:] = 0  # words that only later messages have
    known = block_of(words, labels).count(2)
    later = np.zeros((1, WORDS), int)
    later[0, [2, 6, 7, 8]] = [3, 1, 4, 1]
    for name, model in MODELS.items():
        law = model.law(known, 0.5)
        outside = 6 if law.repeats else 1
        expected = log_joint(
            law, [0.0, 0.0], [*tokens(known, later[0] * (np.arange(WORDS) < 5)), ([0, 0], [0, 0], outside)]
        )
        assert model.batch(known, later, 0.5, [0.0, 0.0])[0].tolist() == pytest.approx(expected), name


# Manning, Raghavan and Schuetze 2008, example 13.1.
CHINESE = ["Chinese", "Beijing", "Shanghai", "Macao", "Tokyo", "Japan"]
BOOK = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
D5 = "Chinese Chinese Chinese Tokyo Japan"


def joint_of(event_model: str, alpha: float = 1.0, text: str = D5) -> list[float]:
    """Log joints of (not China, China); the vocabulary has no NOTAWORD, as in the book."""
    rows = [[one.split().count(word) for word in CHINESE] for one in (*BOOK, text)]
    counts = count(np.array(rows[:4]), np.array([1, 1, 1, 0]), 2)
    found: list[float] = (
        MODELS[event_model]
        .single(counts, np.array(rows[4:]), alpha, log_priors("empirical", [1, 3]))[0]
        .tolist()
    )
    return found


@pytest.mark.parametrize(
    ("event_model", "other", "china"),
    [
        ("multinomial", F(1, 4) * F(2, 9) ** 5, F(3, 4) * F(3, 7) ** 3 * F(1, 14) ** 2),
        # Example 13.2: the absent words Beijing, Shanghai and Macao decide.
        (
            "bernoulli",
            F(1, 4) * F(2, 3) ** 3 * (1 - F(1, 3)) ** 3,
            F(3, 4) * F(4, 5) * F(1, 5) ** 2 * (1 - F(2, 5)) ** 3,
        ),
        ("presence", F(1, 4) * F(2, 9) ** 3, F(3, 4) * F(4, 12) * F(1, 12) ** 2),
        # The complement of class c is "not c"; no prior (Rennie et al. 2003, WCNB).
        ("complement", 1 / (F(6, 14) ** 3 * F(1, 14) ** 2), 1 / F(2, 9) ** 5),
    ],
)
def test_document_5_of_manning_has_the_fractions_of_the_book(event_model: str, other: F, china: F) -> None:
    assert [math.exp(value) for value in joint_of(event_model)] == pytest.approx([float(other), float(china)])


SCIKIT_LEARN = [
    pytest.param(MODELS["bernoulli"], BernoulliNB, {}, id="BernoulliNB"),
    pytest.param(MODELS["multinomial"], MultinomialNB, {}, id="MultinomialNB"),
    pytest.param(MODELS["presence"], MultinomialNB, {}, id="MultinomialNB-on-presence"),
    pytest.param(MODELS["complement"], ComplementNB, {"norm": False}, id="ComplementNB"),
    pytest.param(MODELS["complement-normalised"], ComplementNB, {"norm": True}, id="ComplementNB-norm"),
]


# Below 0.001 scikit-learn itself is off by more than 1e-9: it takes log(1 - exp(log phi)).
@pytest.mark.parametrize("alpha", [0.001, 0.01, 1.0, 5.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("model", "cls", "arguments"), SCIKIT_LEARN)
def test_word_models_equal_scikit_learn(
    model: Model, cls: Any, arguments: dict[str, Any], n_classes: int, alpha: float
) -> None:
    rng = np.random.default_rng(n_classes)
    labels = rng.permutation(90) % n_classes
    words = rng.poisson(rng.gamma(0.3, 2, (n_classes, 70))[labels])
    seen = (words > 0).astype(int) if model.event_model == "presence" else words
    theirs = cls(alpha=alpha, **arguments).fit(seen[:60], labels[:60])
    expected = theirs.predict_joint_log_proba(seen[60:])
    counts = count(words[:60], labels[:60], n_classes)
    prior = log_priors("empirical", counts.messages.tolist())
    for score in (model.batch, model.single):
        found = score(counts, words[60:], alpha, prior)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-9)
