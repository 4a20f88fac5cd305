"""A model that another program changes while many messages are read: each is judged by one state of it."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nbspam.errors import TryAgainError
from nbspam.filter import Filter, open_filter
from nbspam.learning.learn import learn_message
from nbspam.store import merge, updater
from nbspam.store.overlay import start_model
from nbspam.store.reader import open_model
from nbspam.store.text import dump_model
from nbspam.store.updater import open_updater
from nbspam.store.writer import copy_model
from tests.mail_samples import COMMON, make_corpus
from tests.tiny_mail import mail, run

WAYS: dict[str, dict[str, str]] = {"views": {}, "bernoulli": {"event_model": "bernoulli"}}
LETTER = mail(" ".join(COMMON) + " viagra")


@pytest.fixture
def model(tmp_path: Path) -> str:
    folder = make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12})
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model")
    return str(tmp_path / "model")


def scores(classifier: Filter) -> list[float]:
    return classifier.judge(classifier.count(LETTER), "-").scored.scores


@pytest.mark.parametrize("way", WAYS)
def test_message_is_judged_by_what_was_learned_before_it(model: str, way: str) -> None:
    classifier = open_filter(model, WAYS[way])
    first = scores(classifier)
    for number in range(3):
        assert learn_message(model, "spam", mail(f"viagra number{number}")) == "learned"
        verdict = classifier.classify(LETTER, "-")
        assert verdict.scored.scores == scores(open_filter(model, WAYS[way]))
        assert verdict.scored.scores != first


def test_mail_is_classified_while_a_large_change_is_uncommitted(model: str) -> None:
    first = scores(open_filter(model))
    with open_updater(model) as updater:
        updater.count(0, 1, [(key, 0, "x" * 4000, 1) for key in range(1, 3000)], 1)  # 12 MB
        reader = sqlite3.connect(model, timeout=0)
        assert reader.execute("SELECT count(*) FROM token WHERE key BETWEEN 1 AND 2999").fetchone() == (0,)
        reader.close()
        assert scores(open_filter(model)) == first
    assert open_model(model).messages == [13, 12]


@pytest.fixture
def learns(model: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Another program tries to learn into the model; it does not wait long for readers."""
    monkeypatch.setattr(updater, "BUSY_SECONDS", 0.05)

    def learned(*_: object) -> None:
        with pytest.raises(TryAgainError):
            learn_message(model, "spam", LETTER)

    return learned


def test_dump_is_of_one_state(model: str, learns: Callable[..., None], tmp_path: Path) -> None:
    expected, lines = list(dump_model(model)), []
    for line in dump_model(model):
        lines.append(line)
        if line.startswith("#token"):
            learns()
    assert lines == expected


@pytest.mark.parametrize("names", ["model model", "model copy", "overlay model", "model overlay"])
def test_merge_is_of_one_state(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    copy_model(model, str(tmp_path / "copy"))
    start_model(model, str(tmp_path / "overlay"))

    def write(*_: object) -> None:  # in another process, for SQLite keeps the locks inside of one itself
        code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], 0).execute('BEGIN EXCLUSIVE')"
        written = subprocess.run([sys.executable, "-c", code, model], stderr=subprocess.PIPE, check=False)
        assert b"database is locked" in written.stderr

    monkeypatch.setattr(merge, "check_mergeable", write)
    merge.merge([str(tmp_path / name) for name in names.split()], str(tmp_path / "sum"))
    assert open_model(str(tmp_path / "sum")).messages == [24, 24]
