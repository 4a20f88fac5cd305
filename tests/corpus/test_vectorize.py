"""Mail as matrices and code sequences."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from nbspam.corpus.vocabulary import read_vocabulary
from tests.tiny_mail import error, mail, run, write_folders


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Two messages a class."""
    classes = {
        "ham": [mail("bread apple bread"), mail("cedar")],
        "spam": [mail("apple xenon apple apple"), mail("")],
    }
    return write_folders(tmp_path / "mail", classes)


@pytest.fixture
def vocabulary(tiny: Path, tmp_path: Path) -> Path:
    """NOTAWORD 0, apple 1, bread 2."""
    (tmp_path / "words").write_text("apple\nbread\n")
    run("vocab", "build", tiny, "--word-list", tmp_path / "words", "-o", tmp_path / "v.tsv", "-q")
    return tmp_path / "v.tsv"


def vectors(source: Path, vocabulary: Path, event_model: str, form: str, output: Path) -> Path:
    run(
        "vectorize", source, "--vocab", vocabulary, "--event-model", event_model,
        "--format", form, "-o", output, "-q",
    )  # fmt: skip
    return output


def test_the_sequence_keeps_the_order_and_the_repeats(tiny: Path, vocabulary: Path, tmp_path: Path) -> None:
    path = vectors(tiny, vocabulary, "multinomial", "jsonl", tmp_path / "x")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one["codes"] for one in found] == [[2, 1, 2], [0], [1, 0, 1, 1], []]
    assert [one["label"] for one in found] == ["ham", "ham", "spam", "spam"]
    assert found[0]["name"] == os.fspath(tiny / "ham" / "000.eml")


def test_bernoulli_has_ones_and_multinomial_has_counts(tiny: Path, vocabulary: Path, tmp_path: Path) -> None:
    for event_model, twice, three_times in (("bernoulli", 1, 1), ("multinomial", 2, 3)):
        matrix = sparse.load_npz(vectors(tiny, vocabulary, event_model, "npz", tmp_path / "x.npz"))
        assert matrix.toarray().tolist() == [[0, 1, twice], [1, 0, 0], [1, three_times, 0], [0, 0, 0]]


def test_npz_holds_labels_and_names_without_pickle(tiny: Path, vocabulary: Path, tmp_path: Path) -> None:
    path = vectors(tiny, vocabulary, "bernoulli", "npz", tmp_path / "x.npz")
    with np.load(path, allow_pickle=False) as file:
        assert file["labels"].tolist() == [0, 0, 1, 1]
        assert file["classes"].tolist() == ["ham", "spam"]
        assert file["words"].tolist() == ["NOTAWORD", "apple", "bread"]
        assert [Path(name).name for name in file["names"].tolist()] == ["000.eml", "001.eml"] * 2
        assert file["event_model"] == "bernoulli"


@pytest.mark.parametrize("event_model", ["bernoulli", "multinomial"])
def test_both_forms_hold_the_same_matrix(data: Path, tmp_path: Path, event_model: str) -> None:
    run("vocab", "build", data, "--size", "400", "-o", tmp_path / "v", "-q")
    matrix = sparse.load_npz(vectors(data, tmp_path / "v", event_model, "npz", tmp_path / "x.npz"))
    lines = vectors(data, tmp_path / "v", event_model, "jsonl", tmp_path / "x.jsonl").read_text().splitlines()
    sequences = [json.loads(line)["codes"] for line in lines]
    counted = np.array([np.bincount(codes, minlength=matrix.shape[1]) for codes in sequences])
    assert (counted == matrix.toarray()).all()


def test_columns_add_up_to_the_counts_of_the_vocabulary(data: Path, tmp_path: Path) -> None:
    run("vocab", "build", data, "--size", "400", "-o", tmp_path / "v", "-q")
    matrix = sparse.load_npz(vectors(data, tmp_path / "v", "multinomial", "npz", tmp_path / "x.npz"))
    labels = np.load(tmp_path / "x.npz")["labels"]
    words = read_vocabulary(str(tmp_path / "v")).words
    for k in range(2):
        some = matrix[labels == k]
        assert np.asarray(some.sum(axis=0))[0].tolist() == [word.occurrences[k] for word in words]
        assert np.asarray((some > 0).sum(axis=0))[0].tolist() == [word.documents[k] for word in words]


def test_a_class_that_the_vocabulary_lacks_is_refused(vocabulary: Path, tmp_path: Path) -> None:
    folder = write_folders(tmp_path / "more", {"ham": [mail("apple")], "work": [mail("bread")]})
    options = ["--vocab", vocabulary, "--event-model", "bernoulli", "-o", tmp_path / "x"]
    assert "work" in error("vectorize", folder, *options, status=65)
    assert not (tmp_path / "x").exists()


def numeric(source: Path, form: str, output: Path) -> Path:
    run("vectorize", source, "--features", "numeric", "--format", form, "-o", output, "-q")
    return output


def test_numeric_features_are_a_matrix_with_named_columns(tiny: Path, tmp_path: Path) -> None:
    with np.load(numeric(tiny, "npz", tmp_path / "x.npz"), allow_pickle=False) as file:
        columns = file["columns"].tolist()
        assert file["features"].shape == (4, len(columns))
        assert file["features"][:, columns.index("words")].tolist() == [3, 1, 4, 0]
        assert np.isnan(file["features"][3, columns.index("longest_word")])
        assert file["labels"].tolist() == [0, 0, 1, 1]
        assert file["classes"].tolist() == ["ham", "spam"]


def test_both_forms_hold_the_same_numeric_features(data: Path, tmp_path: Path) -> None:
    with np.load(numeric(data, "npz", tmp_path / "x.npz")) as file:
        matrix, columns = file["features"], file["columns"].tolist()
    lines = numeric(data, "jsonl", tmp_path / "x.jsonl").read_text().splitlines()
    objects = [json.loads(line)["features"] for line in lines]
    assert [list(one) for one in objects] == [columns] * len(matrix)
    np.testing.assert_array_equal(np.array([[*one.values()] for one in objects], float), matrix)
