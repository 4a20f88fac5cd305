"""Numeric features of a whole corpus: edges, counts in any order, and messages left out of them."""

from __future__ import annotations

import numpy as np
import pytest

from nbspam.corpus.feature_rows import FeatureRows
from nbspam.model import bulk_numeric as bulk
from nbspam.model.bulk_numeric import pair_matrix
from nbspam.model.feature_counts import FeatureCounts, count_features
from nbspam.model.features import feature_order, message_rows
from nbspam.model.numeric_leave_one_out import numeric_leave_one_out
from nbspam.tokens.numeric import NAMES

WIDTH = len(NAMES)


def some_features(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    features = rng.gamma(1.0 + labels[:, None], 50.0, size=(n, WIDTH)).round(3)
    features[:, 3] = 7.0  # never varies
    features[rng.random(features.shape) < 0.1] = np.nan
    return features, labels


def counted(features: np.ndarray, labels: np.ndarray, edges: list[list[float]]) -> FeatureCounts:
    return count_features([(features, labels)], 3, edges, True)


@pytest.mark.parametrize("binning", ["frequency", "width"])
@pytest.mark.parametrize("event_model", ["categorical", "aode"])
def test_leaving_a_message_out_equals_counting_all_others(event_model: str, binning: str) -> None:
    features, labels = some_features(40)
    edges = bulk.learn_edges(features, 4, binning)
    left_out = numeric_leave_one_out(counted(features, labels, edges), event_model, features, labels, 0.3)
    for row in range(len(labels)):
        others = np.arange(len(labels)) != row
        scorer = counted(features[others], labels[others], edges).scorer(event_model, 0.3)
        expected = bulk.log_likelihood(scorer, features[row : row + 1])[0]
        assert left_out[row] == pytest.approx(expected, abs=1e-9)


def test_a_message_counted_alone_adds_what_the_corpus_counts_for_it() -> None:
    features, labels = some_features(1)
    edges = bulk.learn_edges(some_features(60)[0], 5, "frequency")
    corpus = {
        (kind, place): row
        for kind, k, place, row in counted(features, labels, edges).rows()
        if k == labels[0] and any(row)
    }
    values = [None if np.isnan(value) else float(value) for value in features[0]]
    assert message_rows(list(zip(NAMES, edges, strict=True)), values, True) == corpus


def test_pairs_are_symmetric_and_hold_each_cell_with_itself() -> None:
    features, labels = some_features(50)
    totals = counted(features, labels, bulk.learn_edges(features, 4, "frequency")).bins
    matrix = pair_matrix(totals, 1)
    assert (matrix == matrix.T).all()
    assert matrix.diagonal().tolist() == [n for row in totals.counts[1] for n in row]


def test_a_feature_of_another_version_counts_as_missing() -> None:
    assert feature_order(["words", "no-such-feature", "size"]) == [NAMES.index("words"), None, 0]


def test_rows_come_back_as_they_were_added_whatever_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbspam.corpus.feature_rows.CHUNK_MESSAGES", 7)
    features, labels = some_features(50)
    rows = FeatureRows()
    for start in (0, 3, 20):
        stop = {0: 3, 3: 20, 20: 50}[start]
        rows.add(features[start:stop], labels[start:stop].astype(np.int16))
    chunks = list(rows.chunks())
    assert len(chunks) == 8
    np.testing.assert_array_equal(np.concatenate([part for part, _ in chunks]), features)
    np.testing.assert_array_equal(np.concatenate([part for _, part in chunks]), labels)
    sample, its_labels = rows.sample(10)
    np.testing.assert_array_equal(sample, features[::5])
    np.testing.assert_array_equal(its_labels, labels[::5])


def test_no_mail_gives_no_rows() -> None:
    rows = FeatureRows()
    assert list(rows.chunks()) == []
    assert rows.sample()[0].shape == (0, 0)
