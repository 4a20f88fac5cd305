"""How evidence for one class counts for the others: the weights between three to twelve classes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from nbspam.model import calibration
from nbspam.model.alike import Alike
from nbspam.model.calibrate import bulk_scores, fit
from nbspam.model.views import Evidence
from nbspam.settings import Settings
from nbspam.tokens import VIEWS
from nbspam.tokens.measures import MEASURES
from tests.tiny_mail import error, mail, run, write_folders

KINDS = ("evidence", "cautious")
N_WORDS = len(KINDS) * len(VIEWS)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 13, 40])
def test_three_to_twelve_classes_have_weights_between_them(n_classes: int) -> None:
    names = calibration.feature_names(n_classes, KINDS)
    between = [(name, k) for name, k in names if name.startswith("alike:")]
    others = range(1, n_classes)
    expected = [(f"alike:{j}", k) for k in others for j in others] if 3 <= n_classes <= 12 else []
    assert between == expected
    assert len(calibration.first_weights(n_classes, KINDS)[0]) == len(names)


@pytest.mark.parametrize("n_classes", [2, 3, 12, 13])
def test_the_weights_of_a_class_stand_where_their_names_do(n_classes: int) -> None:
    kinds = Settings().kinds
    names = calibration.feature_names(n_classes, kinds)
    alike = [f"alike:{j}" for j in range(1, n_classes)] if 3 <= n_classes <= 12 else []
    own = calibration.own_weights_of(n_classes, kinds)
    assert names[: own.start] == [(name, None) for name in calibration.evidence_rows(kinds)]
    of_a_class = ["constant", *("unknown:" + view for view in VIEWS), *alike]
    for k, begin in enumerate(own, 1):
        assert names[begin : begin + own.step] == [(name, k) for name in of_a_class]
    assert own.stop == len(names)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_are_the_design_times_the_weights_for_one_message_and_for_many(n_classes: int) -> None:
    random = np.random.default_rng(n_classes)
    common = random.random((4, len(VIEWS) + (n_classes - 1) * (n_classes > 2)))
    evidence = random.normal(size=(4, N_WORDS, n_classes))
    evidence[:, :, 0] = 0.0
    weights = random.normal(size=len(calibration.feature_names(n_classes, KINDS)))
    many = bulk_scores(weights, Evidence(evidence, common, KINDS))
    for one, shared, expected in zip(evidence.tolist(), common.tolist(), many.tolist(), strict=True):
        rows = [calibration.design(one, shared, k) for k in range(n_classes)]
        assert (np.array(rows) @ weights).tolist() == pytest.approx(expected, abs=1e-12)
        assert calibration.scores(weights.tolist(), one, shared) == pytest.approx(expected, abs=1e-12)


def test_learning_goes_on_for_twelve_classes() -> None:
    names = calibration.feature_names(calibration.MAX_ALIKE, Settings().kinds)
    assert len(names) <= calibration.MAX_COVARIANCE


def test_rough_scores_are_those_of_the_first_weights() -> None:
    """By hand: 1.0 · 3 + 0.6 · 2 + 0.4 · 1 + 0.4 · 5 of the bold averages; the cautious begin at 0."""
    rough = calibration.rough_weights(3, KINDS)
    evidence = [[0.0, 3.0, -1.0], [0.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 5.0, 0.0]]
    evidence += [[0.0, 4.0, 2.0], [0.0] * 3, [0.0] * 3, [0.0] * 3]
    assert calibration.rough_scores(rough, evidence) == pytest.approx([3.0 + 1.2 + 0.4 + 2.0, -1.0])


def test_two_classes_have_no_rough_scores() -> None:
    assert calibration.rough_weights(2, KINDS) == []
    assert calibration.rough_scores([], [[0.0, 1.0]] * N_WORDS) == []


def test_evidence_for_one_class_adds_to_another_by_its_weight() -> None:
    names = calibration.feature_names(3, KINDS)
    weights = [0.0] * len(names)
    weights[names.index(("alike:2", 1))] = 0.5
    alike = Alike(weights, 3, KINDS)
    # The structure view's average is weighed by 0.4: 0.5 · 0.4 · 10 for class 1.
    assert alike.adds(2, [0.0, 7.0, 10.0]) == pytest.approx([0.0, 2.0, 0.0])
    evidence = [[0.0] * 3 for _ in range(N_WORDS)]
    evidence[2] = [0.0, 7.0, 10.0]
    common = [0.0] * len(VIEWS) + alike.scores(evidence)
    assert calibration.scores(weights, evidence, common) == pytest.approx([0.0, 2.0, 0.0])


def test_a_model_of_more_classes_goes_without() -> None:
    n_classes = calibration.MAX_ALIKE + 1
    weights = calibration.first_weights(n_classes, KINDS)[0]
    alike = Alike(weights, n_classes, KINDS)
    evidence = [[1.0] * n_classes] * N_WORDS
    assert alike.scores(evidence) == []
    assert alike.adds(0, evidence[0]) == [0.0] * n_classes


def test_a_class_that_shares_its_words_with_another_is_told_from_it() -> None:
    """Of class 2 the words speak for class 1 twice as loud; only a weight between the two can say so."""
    rng = np.random.default_rng(1)
    labels = np.arange(600) % 3
    says = np.array([[0.0, -2.0, -2.0], [0.0, 2.0, 0.0], [0.0, 4.0, 2.0]])[labels]
    evidence = np.zeros((600, N_WORDS, 3))
    evidence[:, 0, 1:] = says[:, 1:] + rng.normal(0, 0.3, (600, 2))
    unknown = np.zeros((600, len(VIEWS)))
    rough = np.array(calibration.rough_weights(3, KINDS))
    common = np.hstack([unknown, rough @ evidence[:, :, 1:]])
    weights, _ = fit(Evidence(evidence, common, KINDS), labels)
    decided = [
        int(np.argmax(calibration.scores(weights, rows.tolist(), shared.tolist())))
        for rows, shared in zip(evidence, common, strict=True)
    ]
    assert np.mean(np.array(decided) == labels) > 0.95


def test_a_design_read_in_slices_gives_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    evidence = np.concatenate([np.zeros((50, N_WORDS, 1)), rng.normal(size=(50, N_WORDS, 2))], axis=2)
    rough = np.array(calibration.rough_weights(3, KINDS))
    common = np.hstack([rng.random((50, len(VIEWS))), rough @ evidence[:, :, 1:]])
    sample, labels = Evidence(evidence, common, KINDS), np.arange(50) % 3
    whole = fit(sample, labels)
    monkeypatch.setattr("nbspam.model.calibrate.SLICE_CELLS", 7 * 3 * whole[0].size)
    for one, other in zip(whole, fit(sample, labels), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_a_calibration_without_the_weights_between_classes_is_refused(tmp_path: Path) -> None:
    folders = {
        name: [mail(f"{name} word{n} {name}s") for n in range(8)] for name in ("work", "lists", "home")
    }
    source, model = write_folders(tmp_path / "mail", folders), tmp_path / "model"
    run("train", source, "-m", model)
    run("model", "check", "-m", model)
    with closing(sqlite3.connect(model)) as database, database:
        database.execute("DELETE FROM calibration WHERE feature LIKE 'alike:%'")
        database.execute("DELETE FROM calibration_covariance")
    message = mail("work word9 works")
    left = f"{2 * len(VIEWS) + len(MEASURES) + 2 * (1 + len(VIEWS))} weights"
    assert left + ", for 3 classes" in error("classify", "-m", model, "-", status=65, stdin=message)
    write_folders(source, {"work": [message]})
    assert left + ", for 3 classes" in error("train", source, "--update", "-m", model, status=65)
    assert left in run("model", "check", "-m", model, status=65)
