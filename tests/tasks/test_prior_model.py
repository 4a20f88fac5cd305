"""A model that begins with the counts of another at a weight: `train --prior-model`."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from nbspam.corpus import open_labelled
from nbspam.errors import BadDataError, UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.scorer import make_words
from nbspam.settings import Settings, from_text
from nbspam.store.prior import on_prior, units
from nbspam.store.reader import open_model
from nbspam.store.writer import new_model
from nbspam.tasks.prior_model import PriorModel
from nbspam.tasks.train import Choices, train
from nbspam.tasks.update import update
from nbspam.tokens.bag import VIEWS, token_key
from tests.mail_samples import make_corpus
from tests.tiny_mail import error, mail, run, write_folders

WEIGHT = 7.3  # messages: a count of the prior is worth 7.3 / 40


@pytest.fixture(scope="module")
def prior(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of 40 messages."""
    folder = tmp_path_factory.mktemp("prior")
    source = open_labelled([str(make_corpus(folder / "mail", {"ham": 24, "spam": 16}, seed=1))])
    train(source.items(), source.classes, str(folder / "model"), Settings())
    return str(folder / "model")


def train_on(prior: str, source: str, path: Path, settings: Settings | None = None) -> str:
    """Train a model of the source on the prior."""
    mail = open_labelled([source])
    with PriorModel(prior, WEIGHT, mail.classes) as model:
        train(mail.items(), mail.classes, str(path), settings or Settings(), choices=Choices(prior=model))
    return str(path)


def test_counts_are_own_plus_weighted_prior(prior: str, tmp_path: Path) -> None:
    source = write_folders(tmp_path / "mail", {"ham": [mail("garden fence garden")], "spam": [mail("pills")]})
    run("train", "-q", source, "-m", tmp_path / "own")
    model = on_prior(open_model(train_on(prior, str(source), tmp_path / "model")))
    parts = open_model(str(tmp_path / "own")), open_model(prior)
    keys = list(map(token_key, ("garden", "fence", "pills", "meeting", "viagra", "field:from")))
    nothing = (0,) * 4
    for key, found in model.counts(keys).items():
        own, before = (part.counts(keys).get(key, nothing) for part in parts)
        assert found == pytest.approx([a + WEIGHT / 40 * b for a, b in zip(own, before, strict=True)])
    assert model.messages == pytest.approx([1 + 24 * WEIGHT / 40, 1 + 16 * WEIGHT / 40])


@pytest.mark.parametrize(
    ("weight", "messages", "expected"),
    [(7.3, 40, (400, 73)), (40.0, 40, (1, 1)), (1e9, 1, (1, 10**9)), (0.0, 7, (1, 0)), (5.0, 0, (1, 0))],
)
def test_weight_is_a_fraction_of_whole_numbers(
    weight: float, messages: int, expected: tuple[int, int]
) -> None:
    assert units(weight, messages) == expected


@pytest.mark.parametrize("with_bigrams", [True, False])
def test_bigrams_are_read_only_if_the_prior_counted_them(tmp_path: Path, with_bigrams: bool) -> None:
    mail = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 6, "spam": 6}, seed=4))])
    train(mail.items(), mail.classes, str(tmp_path / "prior"), Settings(bigrams=with_bigrams))
    opened = open_model(train_on(str(tmp_path / "prior"), str(tmp_path / "mail"), tmp_path / "model"))
    assert from_text(opened.settings).bigrams == with_bigrams
    assert bool(opened.words[VIEWS.index("bigrams")]) == with_bigrams


@pytest.mark.parametrize("way", ["update", "prior"])
def test_numeric_features_of_another_version_are_refused(tmp_path: Path, way: str) -> None:
    """Counts are stored by the number of a feature, which may be another feature's now."""
    source = open_labelled([str(make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12}, seed=4))])
    items, path = list(source.items()), str(tmp_path / "model")
    train(items, source.classes, path, Settings(features="both"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE numeric_feature SET name = 'older' WHERE number = 0")
    before = Path(path).read_bytes()
    with pytest.raises((BadDataError, UsageError), match="other numeric features"):
        if way == "update":
            update(items, source.classes, path)
        else:
            train_on(path, str(tmp_path / "mail"), tmp_path / "new", Settings(features="both"))
    assert Path(path).read_bytes() == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("mail", [[], ["--spam", "spam"]])
def test_alpha_auto_needs_mail_of_two_classes(prior: str, mail: list[str], tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 5, "spam": 5})
    named = [str(folder / name) if name == "spam" else name for name in mail]
    command = ["train", "--prior-model", prior, *named, "-m", tmp_path / "model"]
    assert "[alpha-auto-mail]" in error(*command, "--alpha", "auto", status=64)
    assert not (tmp_path / "model").exists()


def test_word_of_all_messages_is_certain_without_smoothing(tmp_path: Path) -> None:
    """Its count must equal the number of messages, however the weight is rounded."""
    row = (token_key("the"), VIEWS.index("body"), "the", 3, 3, 3, 3)
    with new_model(str(tmp_path / "model"), HAM_AND_SPAM, [3, 3]) as file:
        file.settings(Settings("bernoulli", alpha=0.0, averaged=False).as_text() | {"vocabulary": "open"})
        file.tokens([row])
        file.prior(100.0, [4121, 4122], [(*row[:3], 4121, 4121, 4122, 4122)], [])
    model = on_prior(open_model(str(tmp_path / "model")))
    assert list(model.counts([row[0]])[row[0]][::2]) == model.messages
    assert make_words(model, from_text(model.settings)).certain == [1, 1]
