"""The calibration goes on learning: the same steps whatever way mail comes."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus.item import Item
from nbspam.corpus.labelled import open_labelled
from nbspam.learning.learn import learn_message
from nbspam.model.calibrate import WARM_UP_SHARE
from nbspam.model.calibration import Learner, first_weights
from nbspam.model.scorer import Scorer
from nbspam.settings import Settings, parse_settings
from nbspam.store.reader import open_model
from nbspam.tasks import update as bulk
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from nbspam.tasks.update import update
from nbspam.tokens import key_tokens, read
from tests.mail_samples import make_corpus

CLASSES = ("ham", "spam")
Calibration = tuple[list[float], list[list[float]]]  # weights and their covariance


class ByHand(Learner):
    """The calibration of a model, taught in memory by messages that the model has not counted yet."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(first_weights(2, Settings().kinds), stored(path))

    def be_taught(self, item: Item) -> None:
        model = open_model(self.path)
        settings = parse_settings(model.settings)
        scored = Scorer(model, settings).score(key_tokens(read(item.read(), settings.wanted)))
        self.learn(scored.evidence, scored.common, CLASSES.index(item.label), sum(model.messages))
        model.close()


def stored(path: str) -> Calibration:
    model = open_model(path)
    found = model.calibration(), model.covariance()
    model.close()
    return found


def check_equal(
    one: tuple[list[float], list[list[float]]], other: tuple[list[float], list[list[float]]]
) -> None:
    np.testing.assert_allclose(one[0], other[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(one[1], other[1], rtol=0, atol=1e-9)


def items_of(folder: Path, sizes: dict[str, int], seed: int, dated: bool = True) -> list[Item]:
    """Made-up mail; dated mail in the order of its dates."""
    items = list(open_labelled([str(make_corpus(folder, sizes, seed, dated))]).items())
    return sorted(items, key=lambda item: Path(item.path).name)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose calibration has learned from 50 messages."""
    folder = tmp_path_factory.mktemp("trained")
    train_model(
        items_of(folder / "mail", {"ham": 26, "spam": 24}, 1), CLASSES, str(folder / "m"), Plan(Settings())
    )
    return folder / "m"


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> str:
    return shutil.copy(trained, str(tmp_path / "model"))


def test_learned_message_teaches_by_the_verdict_before_it_was_counted(model: str, tmp_path: Path) -> None:
    for item in items_of(tmp_path / "new", {"ham": 2, "spam": 2}, 2):
        by_hand = ByHand(model)
        by_hand.be_taught(item)
        assert by_hand.weights != stored(model)[0]
        assert learn_message(model, item.label, item.read()) == "learned"
        check_equal(stored(model), (by_hand.weights, by_hand.covariance))


@pytest.mark.parametrize("steps", [1000, 5])
def test_dated_mail_added_in_bulk_teaches_as_if_it_came_one_by_one(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    items = items_of(tmp_path / "new", {"ham": 10, "spam": 10}, 4)
    single = shutil.copy(model, str(tmp_path / "single"))
    monkeypatch.setattr(bulk, "STEP_BUDGET", steps * len(stored(model)[0]) ** 2)
    first = max(int(len(items) * WARM_UP_SHARE), len(items) - steps)
    by_hand = ByHand(single)
    for number, item in enumerate(items):
        if number >= first:
            by_hand.be_taught(item)
        learn_message(single, item.label, item.read())
    update(items, CLASSES, model)
    check_equal(stored(model), (by_hand.weights, by_hand.covariance))
