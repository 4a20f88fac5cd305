"""An evaluation's columns, and the two kinds of files that hold them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.errors import BadDataError
from nbspam.evaluation import formats
from nbspam.evaluation.outcomes import compute_log_odds, find_worst_mistakes
from tests.judged_mail import judged

ODD_NAME = "not utf-8 \udcff"


def sample():
    rows = [(0, 0, -3.25, (0.96, 0.04)), (1, -1, None, (0.0, 1.0)), (1, 0, -0.1, (0.525, 0.475))]
    return judged(
        rows,
        method="folds",
        names=["inbox/1", "inbox/a b", ODD_NAME],
        times=[1041379200.0, math.nan, 5.5],
        digest="ab",
        settings={"alpha": 0.01},
        folds=np.array([0, 1, 1]),
        trained=17,
        clues={ODD_NAME: (("subject:hello", -1.5), ("body:free", 2.0))},
    )


def saved(path, **changes):
    """The sample as a file, with some of the document or of the columns replaced."""
    document = json.loads(formats.encode_evaluation(sample()))
    for key, value in changes.items():
        (document["outcomes"] if key in document["outcomes"] else document)[key] = value
    path.write_text(json.dumps(document))
    return path


def test_an_evaluation_is_read_as_it_was_written(tmp_path):
    (tmp_path / "e.json").write_bytes(formats.encode_evaluation(sample()))
    read = formats.read_evaluation(tmp_path / "e.json")
    assert formats.encode_evaluation(read) == formats.encode_evaluation(sample())
    assert read.score.tolist() == [-3.25, math.inf, -0.1]


def test_another_file_is_refused(tmp_path):
    for text, slug in (
        *((text, "evaluation-not-ours") for text in ("", '{"format": "other"}', "[" * 100_000)),
        ('{"format": "nbspam-evaluation", "version": 1}', "evaluation-version"),
    ):
        (tmp_path / "e.json").write_text(text)
        with pytest.raises(BadDataError) as caught:
            formats.read_evaluation(tmp_path / "e.json")
        assert (caught.value.slug, caught.value.where) == (slug, str(tmp_path / "e.json"))


@pytest.mark.parametrize(
    "change",
    [
        {"classes": ["ham"]},
        {"outcomes": {}},
        {"clues": {"a": [["b"]]}},
        {"classes": ["ham", ["spam"]]},
        {"folds": [10**20]},
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change):
    with pytest.raises(BadDataError, match=r"e\.json"):
        formats.read_evaluation(saved(tmp_path / "e.json", **change))


def test_result_lines_are_read_as_they_were_written(tmp_path):
    (tmp_path / "r.txt").write_text("".join(f"{line}\n" for line in formats.format_result_lines(sample())))
    read = formats.read_evaluation(tmp_path / "r.txt")
    assert read.names.tolist() == sample().names.tolist()
    assert read.decided.tolist() == [0, -1, 0]
    assert read.log_odds.tolist() == [-3.25, math.inf, -0.1]
    assert read.classes == ("ham", "spam")
    assert not read.has_probabilities


def test_result_lines_of_other_programs_are_read(tmp_path):
    first = "file=../data/000/001 judge=Spam class=spam score=0.99 user= genre= runid=x"
    (tmp_path / "r.txt").write_text(f"{first}\n\nfile=a b judge=ham class=ham score=1e-3\n")
    read = formats.read_evaluation(tmp_path / "r.txt")
    assert read.names.tolist() == ["../data/000/001", "a b"]
    assert (read.truth.tolist(), read.log_odds.tolist()) == ([1, 0], [0.99, 0.001])


def test_a_line_of_another_form_is_refused_with_its_number(tmp_path):
    for line in ("ham 1 2", "file=a judge=ham class=ham", "file=a judge=ham class=ham score=nan"):
        (tmp_path / "r.txt").write_text(f"file=a judge=ham class=ham score=1\n{line}\n")
        with pytest.raises(BadDataError, match=r"r\.txt:2"):
            formats.read_evaluation(tmp_path / "r.txt")


@given(name=st.text(st.characters(codec="utf-8") | st.sampled_from("% \t\n\udc80\udcff"), min_size=1))
def test_any_path_is_one_field_of_a_result_line(tmp_path_factory, name):
    path = tmp_path_factory.getbasetemp() / "one-line.txt"
    line = next(formats.format_result_lines(judged([(0, 1, 0.5), (1, 1, 1.5)], names=[name, "b"])))
    path.write_text(line)
    assert len(line.split()) == 4
    assert formats.read_evaluation(path).names.tolist() == [name]


def test_the_worst_mistakes_are_the_surest_ones_and_unsure_is_no_mistake():
    rows = [(0, 1, 2.0), (0, 1, 9.0), (0, -1, 0.0), (0, 0, -5.0), (1, 0, -4.0), (1, 0, -1.0), (1, 1, 3.0)]
    assert find_worst_mistakes(judged(rows)).tolist() == [1, 0, 4, 5]
    assert find_worst_mistakes(judged(rows), limit=1).tolist() == [1, 4]


def test_probabilities_next_to_a_sure_one_keep_their_order():
    table = np.array([[1.0, 1e-300, 0.0], [1.0, 1e-200, 1e-250], [0.0, 1.0, 0.0]])
    odds = compute_log_odds(table)
    assert odds[:, 1].tolist() == pytest.approx([math.log(1e-300), math.log(1e-200), math.inf])
    assert odds[:, 0].tolist() == pytest.approx([-math.log(1e-300), -math.log(1e-200), -math.inf])
    assert odds[0, 2] == odds[2, 0] == -math.inf
