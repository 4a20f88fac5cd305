"""A model trained elsewhere as the prior of a new one.

The new model begins with the counts and the calibration of the prior.  Its own messages teach the calibration
one by one, as `learn` would, so a model without mail of its own scores as its prior does.
"""

from __future__ import annotations

import numpy as np

from nbspam.corpus.vocabulary import Vocabulary
from nbspam.errors import UsageError
from nbspam.labels import ordered
from nbspam.model.block import Block
from nbspam.model.calibrate import Fitted, learn_sample, sample, ways_to_see
from nbspam.model.calibration import MAX_COVARIANCE, Learner, first_weights
from nbspam.model.counts import Ints
from nbspam.model.scorer import COUNTS_REPEATS, check_repeats
from nbspam.settings import Settings, from_text
from nbspam.store.check import vocabulary_keys
from nbspam.store.connection import OneState
from nbspam.store.merge import numeric_rows, token_rows
from nbspam.store.prior import WEIGHT, on_prior, units
from nbspam.store.reader import Model, open_model
from nbspam.store.writer import NewModel
from nbspam.tasks.update import counts_of
from nbspam.tokens.numeric import NAMES

DEFAULT_WEIGHT = 100.0  # messages


class PriorModel:
    """An open model, and what it is worth; a context that closes it.

    classes : of the new model, in class order: those of its mail and those of the prior model
    """

    def __init__(self, path: str, weight: float, classes: tuple[str, ...]) -> None:
        self._model = open_model(path)
        if WEIGHT in self._model.settings:
            why = "was itself trained with a prior model, which a prior cannot be"
            remedy = "merge what it learned into its prior, or train it without `prior_model`"
            raise UsageError(path, why, remedy, "prior-stacked")
        self.classes = ordered([*classes, *self._model.classes])
        self.weight = weight
        units(weight, sum(self._model.messages))  # raises for a wrong weight
        self._written: Model | None = None

    def __enter__(self) -> PriorModel:
        return self

    def __exit__(self, *error: object) -> None:
        self._model.close()

    def _messages(self) -> list[int]:
        known = dict(zip(self._model.classes, self._model.messages, strict=True))
        return [known.get(name, 0) for name in self.classes]

    def _unfit(self, why: str, remedy: str, slug: str) -> UsageError:
        return UsageError(self._model.path, why, remedy, slug, option="prior_model")

    def settings_on(self, settings: Settings) -> Settings:
        """A way of scoring on this prior: without bigrams, if it counted none.

        Those of the new messages would be all that is known, and do harm: docs/decisions.md.
        """
        counted = from_text(self._model.settings, self._model.path).bigrams
        return settings.replaced(bigrams=settings.bigrams and counted)

    def edges(self) -> list[list[float]]:
        """The edges at which the prior model cuts its numeric features, which the new one must share."""
        features = self._model.numeric_features()
        if not features:
            remedy = "train it again with `features=both` or `features=numeric`, or use `features=words`"
            raise self._unfit("was trained without numeric features", remedy, "model-no-numeric")
        if tuple(name for name, _ in features) != NAMES:
            why = "has other numeric features than this program measures"
            raise self._unfit(why, "train it again with this version", "prior-features")
        return [edges for _, edges in features]

    def check_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Raise unless the prior model has this vocabulary.

        A word outside it would be NOTAWORD in training and, known by the prior, a word when it is forgotten.
        """
        settings = self._model.settings
        has_views = settings.get("vocabulary") == "fixed" and settings.get("views") == vocabulary.views
        if not has_views or set(vocabulary_keys(self._model)) != set(vocabulary.keys()):
            why = "was not counted with the vocabulary of `vocab`"
            remedy = "train it again with the same `vocab`, or leave out one of them"
            raise self._unfit(why, remedy, "prior-vocabulary")

    def check_event_model(self, settings: Settings) -> None:
        """Raise unless the prior model counted what the event model asks for."""
        if settings.event_model in COUNTS_REPEATS and settings.features != "numeric":
            check_repeats(self._model, settings.event_model)

    def check_classes(self, path: str, messages: Ints) -> None:
        """Raise unless each class has mail of its own or in the prior model."""
        for name, own, before in zip(self.classes, messages, self._messages(), strict=True):
            if not own and not before:
                why = f"class {name} has no message, neither here nor in the prior model"
                raise UsageError(path, why, "a filter needs mail of each class", "class-empty")

    def write(self, file: NewModel, with_features: bool) -> None:
        """Add the prior's latest counts, all of one state, to a file that has the model's own counts."""
        model = self._model
        with OneState(model.connection):
            model.refresh()  # it may have learned while the mail was read
            if "imported" in model.settings:
                file.settings({"prior_imported": model.settings["imported"]})
            numeric = numeric_rows([model], self.classes) if with_features else ()
            file.prior(self.weight, self._messages(), token_rows(model, self.classes), numeric)
        self._written = on_prior(Model(model.path, file.connection))

    def calibrate(self, block: Block, settings: Settings) -> Fitted:
        """The prior model's calibration after the messages of a block; `write` has counted them."""
        first, prior, written = first_weights(len(self.classes), settings.kinds), self._model, self._written
        covariance = prior.covariance() if prior.classes == self.classes else []
        fits = len(covariance) == len(first[0])
        learner = Learner(first, (prior.calibration(), covariance) if fits else None)
        if written and len(block) and len(learner.weights) <= MAX_COVARIANCE:
            found = sample(ways_to_see(block)[-1], block, counts_of(written, block), settings)
            learn_sample(learner, found, sum(written.messages) - len(found.labels))
        return Fitted(np.array(learner.weights), np.array(learner.covariance))
