"""Numeric features of all mail, kept until the edges of the bins are known."""

from __future__ import annotations

import numpy as np
import pytest

from nbspam.corpus.feature_rows import FeatureRows


def test_rows_come_back_as_they_were_added_whatever_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbspam.corpus.feature_rows.CHUNK_MESSAGES", 7)
    features, labels = np.random.default_rng(0).random((50, 3)), np.arange(50, dtype=np.int16) % 3
    features[3, 1] = np.nan
    rows = FeatureRows()
    for start, stop in ((0, 3), (3, 20), (20, 50)):
        rows.add(features[start:stop], labels[start:stop])
    chunks = list(rows.chunks())
    assert len(chunks) == 8
    np.testing.assert_array_equal(np.concatenate([part for part, _ in chunks]), features)
    np.testing.assert_array_equal(np.concatenate([part for _, part in chunks]), labels)
    sample, its_labels = rows.sample(10)
    np.testing.assert_array_equal(sample, features[::5])
    np.testing.assert_array_equal(its_labels, labels[::5])


def test_no_mail_gives_no_rows() -> None:
    assert list(FeatureRows().chunks()) == []
    assert FeatureRows().sample()[0].shape == (0, 0)
