"""Evaluations kept as JSON and as TREC result lines."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbspam.errors import BadDataError, CannotCreateError, NoInputError
from nbspam.evaluate import evaluation_file, trec
from nbspam.evaluate.outcomes import Evaluation, Outcome, worst_mistakes

LAW = settings(deadline=None, max_examples=50)  # a busy machine is no failure


def sample():
    outcomes = (
        Outcome("inbox/1", 0, 0, -3.25, (0.96, 0.04), 1041379200.0, 1),
        Outcome("inbox/a b", 1, -1, None, (0.0, 1.0), None, 0),
        Outcome("not utf-8 \udcff", 1, 0, -0.1, (0.525, 0.475), 5.5, 2),
    )
    clues = {"not utf-8 \udcff": (("subject:hello", -1.5), ("body:free", 2.0))}
    return Evaluation(("ham", "spam"), outcomes, "folds", "ab", {"alpha": 0.01}, (0, 1, 1), 17, clues)


def test_an_evaluation_is_read_back_as_it_was_written(tmp_path):
    evaluation_file.save(sample(), tmp_path / "e.json")
    assert evaluation_file.load(tmp_path / "e.json") == sample()
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]


def test_infinite_log_odds_are_written_as_null(tmp_path):
    outcomes = (Outcome("a", 0, 0, -math.inf, (1.0, 0.0)), Outcome("b", 1, 1, math.inf, (0.0, 1.0)))
    evaluation_file.save(Evaluation(("ham", "spam"), outcomes, "model"), tmp_path / "e.json")
    read = evaluation_file.load(tmp_path / "e.json")
    assert [outcome.log_odds for outcome in read.outcomes] == [None, None]
    assert read.columns.score.tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("", "evaluation-not-ours"),
        ("From me Mon Jan  1", "evaluation-not-ours"),
        ("[1, 2]", "evaluation-not-ours"),
        ('{"format": "other"}', "evaluation-not-ours"),
        ("[" * 100_000, "evaluation-not-ours"),
        ('{"format": "nbspam-evaluation", "version": 2}', "evaluation-version"),
        ('{"format": "nbspam-evaluation", "version": 1}', "evaluation-not-ours"),
    ],
)
def test_another_file_is_refused(tmp_path, text, slug):
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(BadDataError) as caught:
        evaluation_file.load(tmp_path / "e.json")
    assert caught.value.slug == slug
    assert caught.value.where == str(tmp_path / "e.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("classes", ["ham"]),
        ("method", "guess"),
        ("folds", [1]),
        ("outcomes", {}),
        ("clues", {"a": [["b"]]}),
        ("classes", [1, 2]),
        ("trained", "many"),
    ],
)
def test_a_damaged_evaluation_is_refused(tmp_path, key, value):
    evaluation_file.save(sample(), tmp_path / "e.json")
    document = json.loads((tmp_path / "e.json").read_text())
    (tmp_path / "e.json").write_text(json.dumps(document | {key: value}))
    with pytest.raises(BadDataError, match=r"e\.json"):
        evaluation_file.load(tmp_path / "e.json")


@pytest.mark.parametrize(
    ("column", "value"), [("truth", 2), ("decided", -2), ("truth", 0.5), ("probabilities", [1.5, -0.5])]
)
def test_an_outcome_out_of_range_is_refused(tmp_path, column, value):
    evaluation_file.save(sample(), tmp_path / "e.json")
    document = json.loads((tmp_path / "e.json").read_text())
    document["outcomes"][column][0] = value
    (tmp_path / "e.json").write_text(json.dumps(document))
    with pytest.raises(BadDataError):
        evaluation_file.load(tmp_path / "e.json")


def test_a_missing_file_and_a_missing_folder_are_errors(tmp_path):
    with pytest.raises(NoInputError):
        evaluation_file.load(tmp_path / "none.json")
    with pytest.raises(NoInputError):
        trec.read_results(tmp_path / "none.txt")
    with pytest.raises(CannotCreateError):
        evaluation_file.save(sample(), tmp_path / "no" / "e.json")


def test_an_evaluation_needs_two_classes_and_a_message():
    with pytest.raises(BadDataError):
        Evaluation(("ham",), (), "model")
    with pytest.raises(BadDataError):
        _ = Evaluation(("ham", "spam"), (), "model").columns


def test_result_lines_stand_in_the_order_judged_and_keep_a_path_one_field():
    assert list(trec.result_lines(sample())) == [
        "file=inbox/a%20b judge=spam class=unsure score=inf",
        "file=inbox/1 judge=ham class=ham score=-3.25",
        "file=not%20utf-8%20%FF judge=spam class=ham score=-0.1",
    ]


def test_result_lines_of_two_other_classes_have_the_log_odds_of_the_second():
    outcomes = (Outcome("1", 0, 0, 1.0, (0.75, 0.25)), Outcome("2", 1, 1, 2.0, (0.0, 1.0), index=1))
    lines = list(trec.result_lines(Evaluation(("lists", "work"), outcomes, "model")))
    first, second = (float(line.rpartition("score=")[2]) for line in lines)
    assert first == pytest.approx(-math.log(3))
    assert second == math.inf


def test_result_lines_are_read_back(tmp_path):
    (tmp_path / "r.txt").write_text("".join(f"{line}\n" for line in trec.result_lines(sample())))
    read = trec.read_results(tmp_path / "r.txt")
    assert [outcome.name for outcome in read.outcomes] == ["inbox/a b", "inbox/1", "not utf-8 \udcff"]
    assert [outcome.decided for outcome in read.outcomes] == [-1, 0, 0]
    assert [outcome.log_odds for outcome in read.outcomes] == [math.inf, -3.25, -0.1]
    assert read.classes == ("ham", "spam")


def test_lines_of_other_programs_are_read(tmp_path):
    first = "file=../data/000/001 judge=Spam class=spam score=0.99 user= genre= runid=x"
    (tmp_path / "r.txt").write_text(f"{first}\n\nfile=a b judge=ham class=ham score=1e-3\n")
    read = trec.read_results(tmp_path / "r.txt")
    assert [(one.name, one.truth, one.log_odds) for one in read.outcomes] == [
        ("../data/000/001", 1, 0.99),
        ("a b", 0, 0.001),
    ]
    assert read.columns.probabilities.shape == (2, 0)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ham 1 2",
        "file=a judge=ham class=ham",
        "file=a judge=ham class=ham score=x",
        "file=a judge=ham class=ham score=nan",
    ],
)
def test_what_is_no_result_line_is_refused_with_its_number(tmp_path, line):
    good = "file=a judge=ham class=ham score=1\n" if line else ""
    (tmp_path / "r.txt").write_text(f"{good}{line}\n")
    with pytest.raises(BadDataError, match=r"r\.txt:2" if line else r"r\.txt"):
        trec.read_results(tmp_path / "r.txt")


@LAW
@given(st.text(st.characters(codec="utf-8") | st.sampled_from("% \t\n\udc80\udcff"), min_size=1))
def test_any_path_survives_in_one_field_of_a_result_line(name):
    outcomes = (Outcome(name, 0, 1, 0.5, ()), Outcome("b", 1, 1, 1.5, (), None, 1))
    line = next(trec.result_lines(Evaluation(("ham", "spam"), outcomes, "model")))
    assert len(line.split()) == 4
    assert trec._parsed(line, "")[0] == name


def test_the_worst_mistakes_are_the_surest_ones_and_unsure_is_none():
    rows = [(0, 1, 2.0), (0, 1, 9.0), (0, -1, 0.0), (0, 0, -5.0), (1, 0, -4.0), (1, 0, -1.0), (1, 1, 3.0)]
    outcomes = tuple(Outcome(f"m{n}", *row, (), None, n) for n, row in enumerate(rows))
    evaluation = Evaluation(("ham", "spam"), outcomes, "model")
    assert [one.name for one in worst_mistakes(evaluation)] == ["m1", "m0", "m4", "m5"]
    assert [one.name for one in worst_mistakes(evaluation, limit=1)] == ["m1", "m4"]


def test_the_worst_mistakes_among_more_classes_gave_the_truth_the_least_probability():
    rows = [(0, 1, (0.3, 0.4, 0.3)), (0, 1, (0.1, 0.8, 0.1)), (2, 2, (0.1, 0.1, 0.8))]
    outcomes = tuple(Outcome(f"m{n}", t, d, None, p, None, n) for n, (t, d, p) in enumerate(rows))
    assert [one.name for one in worst_mistakes(Evaluation(("a", "b", "c"), outcomes, "model"))] == [
        "m1",
        "m0",
    ]
