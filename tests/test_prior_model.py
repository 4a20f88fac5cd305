"""A model that stands on another: calibration and sums are those of the counts that it scores with."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from nbspam.corpus import open_labelled
from nbspam.errors import BadDataError, UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.scorer import make_words
from nbspam.settings import Settings, from_text
from nbspam.store.check import check_model
from nbspam.store.learn import learn, unlearn
from nbspam.store.prior import on_prior, write_prior
from nbspam.store.reader import open_model
from nbspam.store.writer import new_model
from nbspam.tasks.prior_model import PriorModel
from nbspam.tasks.train import Choices, train
from nbspam.tasks.update import update
from nbspam.tokens.bag import VIEWS
from nbspam.tokens.keys import token_key
from tests.mail_samples import make_corpus
from tests.tiny_mail import error

WEIGHT = 7.3  # messages: a count of the prior is worth 7.3 / 40


@pytest.fixture(scope="module")
def prior(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of 40 messages."""
    folder = tmp_path_factory.mktemp("prior")
    source = open_labelled([str(make_corpus(folder / "mail", {"ham": 24, "spam": 16}, seed=1))])
    train(source.items(), source.classes, str(folder / "model"), Settings())
    return str(folder / "model")


def train_on(prior: str, source: str, path: Path) -> str:
    """Trains a model of the source on the prior."""
    mail = open_labelled([source])
    with PriorModel(prior, WEIGHT, mail.classes) as model:
        train(mail.items(), mail.classes, str(path), Settings(), choices=Choices(prior=model))
    return str(path)


def test_the_sums_of_a_model_on_a_prior_are_those_of_its_rows(prior: str, tmp_path: Path) -> None:
    source = make_corpus(tmp_path / "mail", {"ham": 5, "spam": 4}, seed=3)
    path = train_on(prior, str(source), tmp_path / "model")
    assert check_model(path) == []
    data = next((source / "ham").iterdir()).read_bytes()
    assert (learn(path, "spam", data), unlearn(path, data)) == ("moved", "forgotten")
    assert check_model(path) == []


@pytest.mark.parametrize("with_bigrams", [True, False])
def test_bigrams_that_the_prior_has_not_counted_are_not_read(tmp_path: Path, with_bigrams: bool) -> None:
    mail = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 6, "spam": 6}, seed=4))])
    train(mail.items(), mail.classes, str(tmp_path / "prior"), Settings(bigrams=with_bigrams))
    opened = open_model(train_on(str(tmp_path / "prior"), str(tmp_path / "mail"), tmp_path / "model"))
    assert from_text(opened.settings).bigrams == with_bigrams
    assert bool(opened.words[VIEWS.index("bigrams")]) == with_bigrams


def test_a_prior_model_gives_its_file_back(prior: str) -> None:
    def opened() -> list[str]:
        names = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return [name for name in names if os.path.exists(name) and os.path.realpath(name) == prior]

    before = len(opened())
    with PriorModel(prior, WEIGHT, ("ham", "spam")):
        assert len(opened()) == before + 1
    assert len(opened()) == before


@pytest.mark.parametrize("what", ["update", "prior"])
def test_features_of_another_version_are_not_added_up(tmp_path: Path, what: str) -> None:
    """Counts are kept by the number of a feature: under another name it would be another one's."""
    source = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12}, seed=4))])
    items, path = list(source.items()), str(tmp_path / "model")
    train(items, source.classes, path, Settings(features="both"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE numeric_feature SET name = 'older' WHERE number = 0")
    before = Path(path).read_bytes()
    if what == "update":
        with pytest.raises(BadDataError, match="other numeric features"):
            update(items, source.classes, path)
    else:
        with (
            PriorModel(path, WEIGHT, source.classes) as prior,
            pytest.raises(UsageError, match="other numeric"),
        ):
            choices = Choices(prior=prior)
            train(items, source.classes, str(tmp_path / "new"), Settings(features="both"), choices=choices)
    assert Path(path).read_bytes() == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("mail", [[], ["--spam", "spam"]])
def test_lambda_is_not_chosen_where_no_mail_tells_classes_apart(
    prior: str, mail: list[str], tmp_path: Path
) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 5, "spam": 5})
    named = [str(folder / name) if name == "spam" else name for name in mail]
    command = ["train", "--prior-model", prior, *named, "-m", tmp_path / "model"]
    assert "[alpha-auto-mail]" in error(*command, "--alpha", "auto", status=64)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("messages", [8_242, 8_243, 16_486, 18_391])  # of these but one the database rounds
def test_a_word_of_all_messages_has_as_many_as_there_are(tmp_path: Path, messages: int) -> None:
    counts = [messages // 2, messages - messages // 2]
    row = (token_key("the"), VIEWS.index("body"), "the", 3, 3, 3, 3)
    before = (*row[:3], counts[0], counts[0], counts[1], counts[1])
    settings = Settings("bernoulli", alpha=0.0, averaged=False).as_text()
    with new_model(str(tmp_path / "model"), HAM_AND_SPAM, [3, 3]) as file:
        file.settings({**settings, "vocabulary": "open"})
        file.tokens([row])
        write_prior(file, 100.0, counts, [before], [])
    model = on_prior(open_model(str(tmp_path / "model")))
    assert list(model.counts([row[0]])[row[0]][::2]) == model.messages
    words = make_words(model, from_text(model.settings))
    assert words.certain == [1, 1]
    assert not any(words.ruled_out([tuple(model.messages)]))
