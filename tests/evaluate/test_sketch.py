"""The ROC curve in a terminal."""

import pytest

from nbspam.evaluate.sketch import roc_sketch
from tests.judged_mail import judged

# 10 ham at 0 .. 9, 10 spam at 8.5 .. 17.5: the best ham outscores one spam.
OVERLAP = judged([(0, 0, float(n)) for n in range(10)] + [(1, 0, n + 8.5) for n in range(10)])


def test_the_sketch_of_one_wrong_pair_in_ascii():
    assert roc_sketch(OVERLAP, 20, 4, unicode=False) == [
        "spam missed %",
        "100 +*",
        " 10 +***********",
        "    |          *",
        "  1 +          **********",
        "    ++---------+--------+",
        "     1        10       100  ham lost %",
    ]


def test_the_braille_sketch_has_the_size_asked_for():
    lines = roc_sketch(OVERLAP, 30, 6)
    assert len(lines) == 6 + 3
    assert all(len(line) <= 30 + 5 for line in lines[:-1])
    assert any("\u2801" <= char <= "\u28ff" for char in "".join(lines))


@pytest.mark.parametrize("unicode", [True, False])
def test_the_axes_reach_below_a_single_message(unicode):
    many = judged([(0, 0, 0.0)] * 4000 + [(1, 0, 1.0)] * 30)
    lines = roc_sketch(many, 50, 10, unicode=unicode)
    assert lines[-1].split()[:5] == ["0.01", "0.1", "1", "10", "100"]
    assert [line.split()[0] for line in lines[1:11] if line.strip()[0].isdigit()] == ["100", "10", "1"]


def test_without_ham_spam_or_a_class_spam_there_is_no_sketch():
    assert roc_sketch(judged([(0, 0, 1.0), (0, 0, 2.0)])) == []
    assert roc_sketch(judged([(n, n, None, (0.2, 0.3, 0.5)) for n in range(3)], ("a", "b", "c"))) == []
