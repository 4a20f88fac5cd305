"""The ROC curve in a terminal."""

from nbspam.evaluation.sketch import roc_sketch
from tests.judged_mail import judged


def test_the_sketch_of_one_wrong_pair() -> None:
    # 10 ham at 0 .. 9, 10 spam at 8.5 .. 17.5: the best ham outscores one spam.
    overlap = judged([(0, 0, float(n)) for n in range(10)] + [(1, 0, n + 8.5) for n in range(10)])
    assert roc_sketch(overlap, 20, 4) == [
        "spam missed %",
        "100 ┤⡇",
        " 10 ┤⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀⡀",
        "    │          ⡇",
        "  1 ┤          ⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀",
        "    └┬─────────┬────────┬",
        "     1        10       100  ham lost %",
    ]


def test_without_ham_spam_or_a_class_spam_there_is_no_sketch() -> None:
    assert roc_sketch(judged([(0, 0, 1.0), (0, 0, 2.0)])) == []
    assert roc_sketch(judged([(n, n, None, (0.2, 0.3, 0.5)) for n in range(3)], ("a", "b", "c"))) == []
