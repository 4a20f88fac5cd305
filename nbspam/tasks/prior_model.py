"""A model trained elsewhere as the prior of a new one: `train --prior-model`.

Hides how the calibration starts.  It begins where the prior model's stands and goes on with the new
model's own messages, one by one, as `learn` would; so a model without any mail of its own
scores as its prior does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nbspam.errors import UsageError
from nbspam.labels import ordered
from nbspam.model.block import Block
from nbspam.model.calibrate import Fitted, learn_sample, sample, ways_to_see
from nbspam.model.calibration import MAX_COVARIANCE, Learner, first_weights
from nbspam.model.counts import Counts, Ints
from nbspam.model.scorer import COUNTS_REPEATS, check_repeats
from nbspam.model.words import power_factor
from nbspam.settings import Settings, from_text
from nbspam.store.reader import OneState, open_model
from nbspam.store.with_prior import PriorTables
from nbspam.store.writer import NewModel
from nbspam.tokens.keys import NOTAWORD_KEY
from nbspam.tokens.numeric import NAMES

if TYPE_CHECKING:
    from nbspam.corpus.vocabulary import Vocabulary
    from nbspam.model.feature_counts import Edges

DEFAULT_WEIGHT = 100.0  # messages that a prior model is worth where nobody says


class PriorModel:
    """An open model, and what it is worth; a context that closes it.

    classes : of the new model, in class order: those of its mail and those of the prior model
    """

    def __init__(self, path: str, weight: float, classes: tuple[str, ...]) -> None:
        self._model = open_model(path)
        self.classes = ordered([*classes, *self._model.classes])
        self.weight = weight
        self._take()

    def _take(self) -> None:
        """Takes up what the prior model has counted by now."""
        self._tables = PriorTables(self._model, self.classes)
        self.factor = power_factor(self.weight, self._tables.messages)
        self.messages = np.array(self._tables.messages, np.int64)

    def __enter__(self) -> PriorModel:
        return self

    def __exit__(self, *error: object) -> None:
        self._model.close()

    def settings_on(self, settings: Settings) -> Settings:
        """A way of scoring on this prior: without bigrams, if it counted none.

        Those of the new messages would be all that is known, and do harm: docs/decisions.md.
        """
        counted = from_text(self._model.settings, self._model.path).bigrams
        return settings.replaced(bigrams=settings.bigrams and counted)

    def edges(self) -> Edges:
        """The edges at which the prior model cuts its numeric features, which the new one must share."""
        features = self._tables.numeric_features()
        if not features:
            raise UsageError(
                f"--prior-model {self._model.path}",
                "was trained without numeric features",
                "train it again with --features numeric or both, or use --features words",
                "model-no-numeric",
            )
        if tuple(name for name, _ in features) != NAMES:
            raise UsageError(
                f"--prior-model {self._model.path}",
                "has other numeric features than this program measures",
                "train it again with this version",
                "prior-features",
            )
        return [edges for _, edges in features]

    def check_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Raises unless the prior model has this vocabulary: what else it knows would seem to be of it.

        A word outside would be NOTAWORD in training and, known by the prior, a word when it is forgotten.
        """
        known = {row[0] for row in self._tables.tokens()} - {NOTAWORD_KEY}
        settings = self._model.settings
        if (
            settings.get("vocabulary") != "fixed"
            or settings.get("views") != vocabulary.views
            or known != set(vocabulary.keys())
        ):
            raise UsageError(
                f"--vocab --prior-model {self._model.path}",
                "the prior model was not counted with this vocabulary",
                "train it again with the same --vocab, or leave out one of them",
                "prior-vocabulary",
            )

    def check_event_model(self, settings: Settings) -> None:
        """Raises unless the prior model counted what the event model asks for."""
        if settings.event_model in COUNTS_REPEATS and settings.features != "numeric":
            check_repeats(self._model, settings.event_model)

    def check_classes(self, path: str, messages: Ints) -> None:
        """Raises unless each class has mail of its own or in the prior model."""
        for name, own, before in zip(self.classes, messages, self.messages, strict=True):
            if not own and not before:
                raise UsageError(
                    path,
                    f"class {name} has no message, neither here nor in the prior model",
                    "a filter needs mail of each class",
                    "class-empty",
                )

    def write(self, file: NewModel, with_features: bool) -> None:
        """Adds the prior's counts to a file under construction: all of one state, the latest.

        It may have learned while the mail was read.
        """
        with OneState(self._model.connection):
            if self._model.refresh():
                self._take()
            file.settings({"prior_weight": repr(self.weight)})
            if "imported" in self._model.settings:
                file.settings({"prior_imported": self._model.settings["imported"]})
            file.prior(self._tables.messages, self._tables.tokens())
            if with_features:
                file.numeric_counts(self._tables.numeric_rows())

    def calibrate(self, block: Block, counts: Counts, settings: Settings) -> Fitted:
        """The prior model's calibration after the messages of a block, all among the counted.

        settings : those of averaged views
        """
        learner = self._learner(settings.kinds)
        if not len(block) or len(learner.weights) > MAX_COVARIANCE:
            return _fitted(learner, 0)
        found = sample(ways_to_see(block)[-1], block, counts + self._counts().scale(self.factor), settings)
        counted = self.factor * sum(self._tables.messages) + len(block) - len(found.labels)
        learn_sample(learner, found, counted)
        return _fitted(learner, len(found.labels))

    def _learner(self, kinds: Sequence[str]) -> Learner:
        weights, covariance = self._tables.calibration()
        first = first_weights(len(self.classes), kinds)
        return Learner(first, (weights, covariance) if len(covariance) == len(first[0]) else None)

    def _counts(self) -> Counts:
        rows = np.array([(row[0], row[1], *row[3:]) for row in self._tables.tokens()], np.int64)
        rows = rows.reshape(-1, 2 + 2 * len(self.classes)).T
        arrays = (np.ascontiguousarray(rows[2::2]), np.ascontiguousarray(rows[3::2]), self.messages)
        return Counts(rows[0], rows[1].astype(np.uint8), b"", *arrays)


def _fitted(learner: Learner, messages: int) -> Fitted:
    return Fitted(np.array(learner.weights), np.array(learner.covariance), messages)
