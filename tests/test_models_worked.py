"""Examples small enough for pencil and paper, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import sparse

from nbspam.model import bulk_words as word_models
from nbspam.model import word_models as events
from nbspam.model.priors import log_priors

# 2. Manning, Raghavan and Schuetze 2008, example 13.1.  Vocabulary without a NOTAWORD, as in the book.
CHINESE = ["Chinese", "Beijing", "Shanghai", "Macao", "Tokyo", "Japan"]
BOOK = [
    ("Chinese Beijing Chinese", 1),
    ("Chinese Chinese Shanghai", 1),
    ("Chinese Macao", 1),
    ("Tokyo Japan Chinese", 0),
]
D5 = "Chinese Chinese Chinese Tokyo Japan"


def matrix_of(*texts: str) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.array([[text.split().count(word) for word in CHINESE] for text in texts]))


def book_counts() -> word_models.WordCounts:
    counts = word_models.WordCounts(2, len(CHINESE))
    counts.add(matrix_of(*[text for text, _ in BOOK]), np.array([label for _, label in BOOK]))
    return counts


def scores_of(event_model: str, alpha: float, text: str = D5) -> list[float]:
    counts = book_counts()
    scorer = events.make_word_scorer(event_model, counts.totals(), alpha)
    tokens = [
        (counts.documents[:, j].tolist(), counts.occurrences[:, j].tolist(), text.split().count(word))
        for j, word in enumerate(CHINESE)
        if word in text.split()
    ]
    return events.log_joint(scorer, log_priors("empirical", counts.messages.tolist()), tokens)


def test_manning_parameters_are_the_fractions_of_the_book() -> None:
    table = np.exp(word_models.smooth("multinomial", book_counts(), 1.0).table)
    chinese, tokyo = CHINESE.index("Chinese"), CHINESE.index("Tokyo")
    assert table[1, chinese] == pytest.approx((5 + 1) / (8 + 6))
    assert table[1, tokyo] == pytest.approx((0 + 1) / (8 + 6))
    assert table[0, chinese] == pytest.approx((1 + 1) / (3 + 6))
    assert table[0, tokyo] == pytest.approx((1 + 1) / (3 + 6))


def test_manning_d5_is_chinese_under_multinomial() -> None:
    chinese = F(3, 4) * F(3, 7) ** 3 * F(1, 14) * F(1, 14)
    other = F(1, 4) * F(2, 9) ** 3 * F(2, 9) * F(2, 9)
    assert [math.exp(v) for v in scores_of("multinomial", 1.0)] == pytest.approx(
        [float(other), float(chinese)]
    )
    assert chinese > other


def test_manning_d5_is_not_chinese_under_bernoulli() -> None:
    """Example 13.2 of the book: the absent words Beijing, Shanghai and Macao decide."""
    chinese = F(3, 4) * F(4, 5) * F(1, 5) * F(1, 5) * (1 - F(2, 5)) ** 3
    other = F(1, 4) * F(2, 3) * F(2, 3) * F(2, 3) * (1 - F(1, 3)) ** 3
    assert [math.exp(v) for v in scores_of("bernoulli", 1.0)] == pytest.approx([float(other), float(chinese)])
    assert other > chinese


def test_manning_d5_on_presence_counts_chinese_once() -> None:
    chinese = F(3, 4) * F(3 + 1, 6 + 6) * F(1, 12) * F(1, 12)
    other = F(1, 4) * F(1 + 1, 3 + 6) * F(2, 9) * F(2, 9)
    assert [math.exp(v) for v in scores_of("presence", 1.0)] == pytest.approx([float(other), float(chinese)])


def test_manning_d5_under_complement_takes_the_counts_of_the_other_class() -> None:
    # The complement of class c is "not c" and the other way round; no prior (Rennie et al. 2003, WCNB).
    of_chinese = -(3 * math.log(F(2, 9)) + 2 * math.log(F(2, 9)))
    of_other = -(3 * math.log(F(6, 14)) + 2 * math.log(F(1, 14)))
    assert scores_of("complement", 1.0) == pytest.approx([of_other, of_chinese])


def test_manning_without_smoothing_tokyo_rules_chinese_out() -> None:
    assert scores_of("multinomial", 0.0)[1] == -math.inf
    assert math.exp(scores_of("multinomial", 0.0)[0]) == pytest.approx(float(F(1, 4) * F(1, 3) ** 5))


def test_without_smoothing_a_word_of_one_class_rules_the_others_out_of_complement() -> None:
    assert scores_of("complement", 0.0, "Macao Chinese")[0] == -math.inf
    assert scores_of("complement", 0.0, "Macao Chinese")[1] > -math.inf
    assert scores_of("complement", 0.0, "Macao Tokyo") == [-math.inf, -math.inf]


# 3. The same word twice.
@pytest.mark.parametrize(("event_model", "times"), [("bernoulli", 1), ("presence", 1), ("multinomial", 2)])
def test_invoice_twice_counts(event_model: str, times: int) -> None:
    counts = word_models.WordCounts(2, 2)
    counts.add(sparse.csr_matrix(np.array([[0, 2], [1, 0]])), np.array([1, 0]))  # NOTAWORD, invoice
    scorer = events.make_word_scorer(event_model, counts.totals(), 1.0)
    stored = (counts.documents[:, 1].tolist(), counts.occurrences[:, 1].tolist())
    once, twice = scorer.token(*stored, 1), scorer.token(*stored, 2)
    assert twice == pytest.approx([times * value for value in once])
    assert counts.documents[1, 1] == 1
    assert counts.occurrences[1, 1] == 2
