"""The Bayes decision: risks, ties, the reject action, cut-offs, and losses as people write them."""

import math
from math import log
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nbspam.decision import (
    UNDECIDED,
    Loss,
    cutoffs,
    decide,
    default_loss,
    load_loss,
    parse_loss,
    parse_matrix,
    read_loss,
    risks,
    zero_one_loss,
)
from nbspam.errors import NbspamError

NAMES = ("ham", "spam")
THREE = ("ham", "work", "spam")
MATRIX = """\
# rows: decided; columns: true
          spam  ham  work
work      9     2    0
ham       1     0    3

spam      0     10   20
unsure    0.2   0.3  0.4
"""


def sigmoid_pair(log_odds: float) -> tuple[float, float]:
    """(P(ham), P(spam)), each exact when it is small."""
    return 1 / (1 + math.exp(min(log_odds, 700))), 1 / (1 + math.exp(min(-log_odds, 700)))


def decide_by_cutoffs(log_odds: float, at: tuple[float, float]) -> int:
    """The decision by cut-offs; both edges belong to the safer side."""
    if log_odds <= at[0]:
        return 0
    return 1 if log_odds > at[1] else UNDECIDED


def test_risks_are_those_by_hand() -> None:
    loss = parse_loss("FP=10,FN=1,unsure=0.2")
    assert risks([0.25, 0.75], loss) == pytest.approx([0.75, 2.5, 0.2])
    assert decide([0.25, 0.75], loss) == UNDECIDED
    assert decide([0.01, 0.99], loss) == 1
    assert decide([0.9, 0.1], loss) == 0
    assert risks([0.3, 0.4, 0.3], zero_one_loss(3)) == pytest.approx([0.7, 0.6, 0.7])
    assert decide(None, zero_one_loss(2)) == UNDECIDED, "also if unsure is not allowed"


def zero_one_or(unsure: float | None, n_classes: int) -> Loss:
    """Every error costs 1, and the reject action `unsure` if it is allowed."""
    rows = zero_one_loss(n_classes).rows
    return Loss(rows if unsure is None else (*rows, [unsure] * n_classes))


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
def test_ties_go_to_safer_side(probabilities: tuple[float, ...], unsure: float | None, action: int) -> None:
    assert decide(probabilities, zero_one_or(unsure, len(probabilities))) == action


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.floats(0, 2))
def test_the_decided_action_has_the_least_risk(weights: list[float], unsure: float) -> None:
    total = sum(weights)
    assume(total > 1e-3)
    loss = zero_one_or(unsure, len(weights))
    probabilities = [weight / total for weight in weights]
    by_action = risks(probabilities, loss)
    assert by_action[decide(probabilities, loss)] == min(by_action)  # index -1 is the reject action


def test_cutoffs_are_those_by_hand() -> None:
    at = cutoffs(parse_loss("FP=9,FN=1"))
    assert at[0] == at[1] == math.log(9)
    at = cutoffs(parse_loss("FP=10,FN=2,unsure=0.5"))  # the example of docs/models.md
    assert at[0] == pytest.approx(math.log(0.5 / (2 - 0.5)))
    assert at[1] == pytest.approx(math.log((10 - 0.5) / 0.5))


@pytest.mark.parametrize(
    ("text", "ham_edge", "spam_edge"),
    [  # the edges are probabilities that a float holds exactly, so that the matrix has the tie, too
        ("FP=1,FN=1", 0.5, 0.5),
        ("FP=7,FN=1", 0.875, 0.875),
        ("FP=1,FN=3", 0.25, 0.25),
        ("FP=1,FN=1,unsure=0.25", 0.25, 0.75),
        ("FP=2,FN=2,unsure=0.25", 0.125, 0.875),
    ],
)
def test_matrix_and_cutoffs_agree_on_both_edges_and_next_to_them(
    text: str, ham_edge: float, spam_edge: float
) -> None:
    loss = parse_loss(text)
    at = cutoffs(loss)
    beyond_ham, before_spam = (UNDECIDED, UNDECIDED) if loss.allows_unsure else (1, 0)
    for edge, found in ((ham_edge, at[0]), (spam_edge, at[1])):
        assert found == math.log(edge / (1 - edge))
    assert decide((1 - ham_edge, ham_edge), loss) == decide_by_cutoffs(at[0], at) == 0
    assert decide((1 - spam_edge, spam_edge), loss) == decide_by_cutoffs(at[1], at) == before_spam
    assert decide_by_cutoffs(math.nextafter(at[0], math.inf), at) == beyond_ham
    assert decide_by_cutoffs(math.nextafter(at[1], math.inf), at) == 1
    step = 2.0**-50
    assert decide((1 - ham_edge - step, ham_edge + step), loss) == beyond_ham
    assert decide((1 - spam_edge - step, spam_edge + step), loss) == 1


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
    rows = [(right_ham, right_spam + more_fn), (right_ham + more_fp, right_spam)]
    if more_unsure:
        rows.append((right_ham + more_unsure[0], right_spam + more_unsure[1]))
    loss = Loss(rows)
    least, second, *_ = sorted(risks(sigmoid_pair(log_odds), loss))
    assume(second - least > 1e-9 * second)  # not where rounding may decide
    at = cutoffs(loss)
    assert at[0] <= at[1] or at[0] == pytest.approx(at[1], rel=1e-9)
    assert decide_by_cutoffs(log_odds, at) == decide(sigmoid_pair(log_odds), loss)


def test_a_matrix_file_is_put_into_class_order_and_kept_in_a_model(tmp_path: Path) -> None:
    path = tmp_path / "loss.txt"
    path.write_text("\ufeff" + MATRIX, encoding="utf-8")
    loss = read_loss(str(path), THREE)
    assert loss == Loss(((0, 3, 1), (2, 0, 9), (10, 20, 0), (0.3, 0.4, 0.2)))
    assert load_loss(loss.stored, THREE, "model") == loss
    assert load_loss(parse_loss("FP=3").stored, NAMES, "model") == parse_loss("FP=3")


def test_without_other_costs_a_lost_ham_costs_nine_missed_spams_and_textbooks_count_errors() -> None:
    assert load_loss({}, NAMES, "model") == parse_loss("FP=9,FN=1")
    assert cutoffs(default_loss(NAMES))[1] == pytest.approx(log(9))  # P = 0.9
    assert default_loss(("lists", "work", "spam")).rows == ((0, 1, 1), (1, 0, 1), (9, 9, 0))
    assert default_loss(("lists", "work")) == zero_one_loss(2)
    assert read_loss(None, THREE, is_textbook=True) == zero_one_loss(3) == parse_loss("0-1", THREE)
    assert load_loss(zero_one_loss(3).stored, THREE, "model") == zero_one_loss(3)


def test_the_matrix_of_the_manual_is_read() -> None:
    manual = (Path(__file__).resolve().parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    blocks = [block for block in manual.split("```")[1::2] if "unsure" in block]
    loss = parse_matrix(blocks[0], THREE)
    assert loss == Loss(((0, 0.1, 1), (0.1, 0, 1), (10, 50, 0), (0.2, 0.2, 0.2)))


@given(st.text(alphabet="hamspunrecl 01.-\t\n#e", max_size=80))
def test_any_text_is_a_matrix_or_a_clear_error(text: str) -> None:
    try:
        loss = parse_matrix(text, NAMES)
    except NbspamError as error:
        assert error.why and error.remedy
    else:
        assert len(loss.rows[0]) == 2
