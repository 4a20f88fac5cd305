"""The Bayes decision: risks, least risk, ties, the reject action, cut-offs, and refused matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nbspam.decision import (
    UNDECIDED,
    Cutoffs,
    Loss,
    cutoffs,
    decide,
    risks,
    zero_one_loss,
)
from nbspam.errors import BadDataError, NbspamError, NoInputError, UsageError
from nbspam.losses import matrix_from_text, parse_loss, read_loss_matrix

NAMES = ("ham", "spam")


def sigmoid_pair(log_odds: float) -> tuple[float, float]:
    """(P(ham), P(spam)), both small ones kept."""
    return 1 / (1 + math.exp(min(log_odds, 700))), 1 / (1 + math.exp(min(-log_odds, 700)))


def decide_by_cutoffs(log_odds: float, at: Cutoffs) -> int:
    """What Cutoffs says: 0 (ham), 1 (spam) or UNDECIDED; both edges belong to the safer side."""
    if log_odds <= at.ham_below:
        return 0
    return 1 if log_odds > at.spam_above else UNDECIDED


def test_risks_by_hand() -> None:
    loss = parse_loss("FP=10,FN=1,unsure=0.2")
    assert risks([0.25, 0.75], loss) == pytest.approx([0.75, 2.5, 0.2])
    assert decide([0.25, 0.75], loss) == UNDECIDED
    assert decide([0.01, 0.99], loss) == 1
    assert decide([0.9, 0.1], loss) == 0


def test_zero_one_loss_decides_the_most_probable_class() -> None:
    loss = zero_one_loss(3)
    assert decide([0.3, 0.3, 0.4], loss) == 2
    assert decide([0.3, 0.4, 0.3], loss) == 1
    assert risks([0.3, 0.4, 0.3], loss) == pytest.approx([0.7, 0.6, 0.7])


def test_an_undefined_posterior_is_unsure_even_where_unsure_is_not_offered() -> None:
    assert decide(None, zero_one_loss(2)) == UNDECIDED


@pytest.mark.parametrize(
    ("probabilities", "unsure", "action"),
    [
        ((0.5, 0.5), None, 0),  # ham before spam
        ((0.5, 0.5), 0.5, 0),  # ham before unsure, all three equal
        ((0.75, 0.25), 0.25, 0),  # ham before unsure
        ((0.25, 0.75), 0.25, UNDECIDED),  # unsure before spam
        ((0.25, 0.25, 0.5), None, 2),
        ((0.25, 0.375, 0.375), None, 1),  # class order
    ],
)
def test_ties_go_to_the_safer_side(
    probabilities: tuple[float, ...], unsure: float | None, action: int
) -> None:
    assert decide(probabilities, zero_one_loss(len(probabilities), unsure)) == action


def test_cutoffs_by_hand() -> None:
    at = cutoffs(parse_loss("FP=9,FN=1"))
    assert at.ham_below == at.spam_above == math.log(9)
    at = cutoffs(parse_loss("FP=10,FN=1,unsure=0.2"))
    assert at.ham_below == pytest.approx(math.log(0.2 / 0.8))  # unsure below risk of ham: 0.8 P(s) > 0.2 P(h)
    assert at.spam_above == pytest.approx(math.log(9.8 / 0.2))


# Losses whose edges are probabilities that a float holds exactly, so that the matrix sees the tie too.
EXACT_EDGES = [
    ("FP=1,FN=1", 0.5, 0.5),
    ("FP=3,FN=1", 0.75, 0.75),
    ("FP=7,FN=1", 0.875, 0.875),
    ("FP=1,FN=3", 0.25, 0.25),
    ("FP=1,FN=1,unsure=0.25", 0.25, 0.75),
    ("FP=2,FN=2,unsure=0.25", 0.125, 0.875),
]


@pytest.mark.parametrize(("text", "ham_edge", "spam_edge"), EXACT_EDGES)
def test_matrix_and_cutoffs_agree_on_both_edges_and_one_step_beside_them(
    text: str, ham_edge: float, spam_edge: float
) -> None:
    loss = parse_loss(text)
    at = cutoffs(loss)
    beyond_ham = 1 if loss.unsure is None else UNDECIDED
    before_spam = 0 if loss.unsure is None else UNDECIDED
    assert at.ham_below == math.log(ham_edge / (1 - ham_edge))
    assert at.spam_above == math.log(spam_edge / (1 - spam_edge))
    # exactly on the edge the safer side
    assert decide((1 - ham_edge, ham_edge), loss) == decide_by_cutoffs(at.ham_below, at) == 0
    assert decide((1 - spam_edge, spam_edge), loss) == decide_by_cutoffs(at.spam_above, at) == before_spam
    # the next float beyond it the other one
    assert decide_by_cutoffs(math.nextafter(at.ham_below, math.inf), at) == beyond_ham
    assert decide_by_cutoffs(math.nextafter(at.spam_above, math.inf), at) == 1
    step = 2.0**-50
    assert decide((1 - ham_edge - step, ham_edge + step), loss) == beyond_ham
    assert decide((1 - spam_edge - step, spam_edge + step), loss) == 1
    assert decide((1 - spam_edge + step, spam_edge - step), loss) == before_spam


costs = st.one_of(st.just(0.0), st.floats(0.001, 1000), st.floats(1e6, 1e12))


@given(costs, costs, costs, costs, st.none() | st.tuples(costs, costs), st.floats(-60, 60))
def test_any_matrix_decides_as_its_cutoffs(
    right_ham: float,
    more_fp: float,
    right_spam: float,
    more_fn: float,
    more_unsure: tuple[float, float] | None,
    log_odds: float,
) -> None:
    unsure = None
    if more_unsure is not None:
        unsure = (right_ham + more_unsure[0], right_spam + more_unsure[1])
    loss = Loss(((right_ham, right_spam + more_fn), (right_ham + more_fp, right_spam)), unsure)
    by_action = risks(sigmoid_pair(log_odds), loss)
    close = sorted(by_action)
    assume(close[1] - close[0] > 1e-9 * close[1])  # off the edges, where rounding may tip
    at = cutoffs(loss)
    assert at.ham_below <= at.spam_above or at.ham_below == pytest.approx(at.spam_above, rel=1e-9)
    assert decide_by_cutoffs(log_odds, at) == decide(sigmoid_pair(log_odds), loss)


@pytest.mark.parametrize("log_odds", [-math.inf, math.inf, -800.0, 800.0])
def test_certain_messages_are_decided(log_odds: float) -> None:
    loss = parse_loss("FP=10,FN=1,unsure=0.2")
    assert decide(sigmoid_pair(log_odds), loss) == (1 if log_odds > 0 else 0)
    assert decide_by_cutoffs(log_odds, cutoffs(loss)) == (1 if log_odds > 0 else 0)


def test_an_error_that_costs_nothing_is_never_avoided() -> None:
    loss = parse_loss("FP=1,FN=0")
    assert cutoffs(loss).spam_above == math.inf
    assert decide((1e-30, 1 - 1e-30), loss) == 0
    loss = parse_loss("FP=0,FN=1")
    assert cutoffs(loss).ham_below == -math.inf
    assert decide((0.99, 0.01), loss) == 1


def test_a_free_reject_action_is_always_taken_unless_the_class_is_certain() -> None:
    loss = parse_loss("unsure=0")
    assert decide((0.001, 0.999), loss) == UNDECIDED
    assert decide((1.0, 0.0), loss) == 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.floats(0, 2))
def test_the_decided_action_has_the_least_risk(weights: list[float], unsure: float) -> None:
    total = sum(weights)
    assume(total > 1e-3)
    probabilities = [weight / total for weight in weights]
    loss = zero_one_loss(len(weights), unsure)
    by_action = risks(probabilities, loss)
    assert by_action[decide(probabilities, loss)] == min(by_action)  # index -1 is the reject action


def test_a_loss_for_other_classes_than_the_model_has_is_refused() -> None:
    with pytest.raises(UsageError, match="for 2 classes and the model has 3"):
        decide([0.2, 0.3, 0.5], zero_one_loss(2))


def test_parse_loss_reads_any_order_and_case() -> None:
    assert parse_loss(" unsure=0.2, fn=1,FP=10 ") == Loss(((0, 1), (10, 0)), 0.2)
    assert parse_loss("FP=10") == Loss(((0, 1), (10, 0)))
    assert hash(parse_loss("FP=10")) == hash(parse_loss("FP=10,FN=1"))


@pytest.mark.parametrize(
    "text", ["", "FP", "FP=", "FP=x", "FP=-1", "FP=nan", "FN=inf", "TP=1", "FP=1,FP=2", "FP=1,,FN=1"]
)
def test_a_loss_that_makes_no_sense_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_loss(text)
    assert caught.value.slug == "loss"
    assert "--loss FP=10" in caught.value.remedy


def test_fp_and_fn_are_refused_for_other_classes_and_the_remedy_is_a_file() -> None:
    with pytest.raises(UsageError, match="private, work") as caught:
        parse_loss("FP=10", ("private", "work"))
    assert "FILE" in caught.value.remedy


MATRIX = """\
# rows: decided; columns: true
          spam  ham  work
work      9     2    0
ham       1     0    3

spam      0     10   20
unsure    0.2   0.3  0.4
"""


def test_a_matrix_file_is_put_into_class_order(tmp_path: Path) -> None:
    path = tmp_path / "loss.txt"
    path.write_text("\ufeff" + MATRIX, encoding="utf-8")
    loss = read_loss_matrix(str(path), ("ham", "work", "spam"))
    assert loss.matrix == ((0, 3, 1), (2, 0, 9), (10, 20, 0))
    assert loss.unsure == (0.3, 0.4, 0.2)


def test_the_matrix_of_the_manual_is_read() -> None:
    manual = (Path(__file__).resolve().parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    loss = matrix_from_text(manual.partition("```\n")[2].partition("```")[0], ("ham", "work", "spam"))
    assert loss.matrix == ((0, 0.1, 1), (0.1, 0, 1), (10, 50, 0))
    assert loss.unsure == (0.2, 0.2, 0.2)


def test_the_cutoffs_of_the_manual_are_those_of_the_program() -> None:
    fp, fn, unsure = 10.0, 2.0, 0.5
    at = cutoffs(Loss(((0, fn), (fp, 0)), unsure))
    assert at.spam_above == pytest.approx(math.log((fp - unsure) / unsure))
    assert at.ham_below == pytest.approx(math.log(unsure / (fn - unsure)))


def test_tabs_allow_class_names_with_spaces() -> None:
    text = "\tham\tnews letters\nham\t0\t1\nnews letters\t4\t0\n"
    loss = matrix_from_text(text, ("ham", "news letters"))
    assert loss.matrix == ((0, 1), (4, 0))
    assert loss.unsure is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("ham spam\nham 0 1\n", "not square: there is no row for class 'spam'"),
        ("ham spam\nham 0 1\nspam 1\n", "not square: row 'spam' has 1 costs for 2 classes"),
        ("ham spam\nham 0 1\nspam 1 0 3\n", "not square: row 'spam' has 3"),
        ("ham\nham 0\nspam 1\n", "no column for class 'spam'"),
        ("ham spam spam\nham 0 1 1\nspam 1 0 0\n", "column 'spam' comes twice"),
        ("ham spam\nham 0 1\nham 0 1\n", "row 'ham' comes twice"),
        ("ham junk\nham 0 1\njunk 1 0\n", "column 'junk' is no class; the classes are: ham, spam"),
        ("ham spam\nham 0 1\njunk 1 0\n", "row 'junk' is no class"),
        ("ham spam\nham 0 -1\nspam 1 0\n", "finite number >= 0, not -1"),
        ("ham spam\nham 0 nan\nspam 1 0\n", "finite number >= 0, not nan"),
        ("ham spam\nham 0 inf\nspam 1 0\n", "finite number >= 0, not inf"),
        ("ham spam\nham 0 one\nspam 1 0\n", "'one' is not a number"),
        ("ham spam\nham 5 1\nspam 1 0\n", "a wrong decision costs less than the right one"),
        ("ham spam\nham 1 1\nspam 1 0\nunsure 0.5 0.5\n", "a wrong decision costs less than the right one"),
    ],
)
def test_each_fault_of_a_matrix_file_is_named(text: str, why: str) -> None:
    with pytest.raises(BadDataError) as caught:
        matrix_from_text(text, NAMES, "loss.txt")
    assert why in caught.value.why
    assert (caught.value.where, caught.value.slug) == ("loss.txt", "loss-matrix")
    assert caught.value.remedy


def test_a_matrix_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        read_loss_matrix(str(tmp_path / "none"), NAMES)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadDataError, match="UTF-8"):
        read_loss_matrix(str(tmp_path / "binary"), NAMES)
    (tmp_path / "huge").write_bytes(b"#" * (1 << 20 | 1))
    with pytest.raises(BadDataError, match="too large"):
        read_loss_matrix(str(tmp_path / "huge"), NAMES)


@given(st.text(alphabet="hamspunrecl 01.-\t\n#e", max_size=80))
def test_any_text_is_a_matrix_or_a_clear_error(text: str) -> None:
    try:
        loss = matrix_from_text(text, NAMES)
    except NbspamError as error:
        assert error.why and error.remedy
    else:
        assert len(loss.matrix) == 2


@pytest.mark.parametrize("matrix", [[], [[0.0, 1.0]], [[0.0], [1.0, 0.0]]])
def test_a_matrix_that_is_not_square_is_refused(matrix: Sequence[Sequence[float]]) -> None:
    with pytest.raises(BadDataError, match="not square"):
        Loss(matrix)
