"""The facts of a model for `model info`: plain values, from which its JSON and its text are made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np

from nbspam.decision import Loss, cutoffs, stored_loss, zero_one_loss
from nbspam.errors import UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.credible_intervals import normal_posterior, word_share_interval
from nbspam.model.features import stored_counts
from nbspam.model.numeric import CategoricalLaw, GaussianLaw
from nbspam.model.words import vocabulary_size
from nbspam.settings import Settings, from_text
from nbspam.store.check import TokenRow, find_token, learned_messages, telling_token
from nbspam.store.connection import FORMAT
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import autolearned_messages
from nbspam.tasks.formulas import calibration_rows, sections
from nbspam.tokens.bag import VIEW_NAMES

Info = dict[str, Any]


def info_of(path: str, word: str | None = None) -> Info:
    """Everything that `model info` says.

    word : the word to work out; None for one that tells the classes apart
    """
    with open_model(path, snapshot=True) as model:
        settings = from_text(model.settings, model.path).of(model.classes)
        loss = stored_loss(model.settings, model.classes, path) or zero_one_loss(len(model.classes))
        found, features = _word(model, word), _features(model, settings.alpha)
        return {
            "path": path,
            "size_bytes": os.path.getsize(path),
            "format": FORMAT,
            "classes": list(model.classes),
            "messages": _by_class(model, model.messages),
            "different_messages": learned_messages(model),
            "autolearned": _by_class(model, autolearned_messages(model)),
            "vocabulary": model.settings.get("vocabulary", "open"),
            "vocabulary_size": vocabulary_size(model.words),
            "views": {
                name: {
                    "words": model.words[view],
                    "documents": _by_class(model, model.documents[view]),
                    "occurrences": _by_class(model, model.occurrences[view]),
                }
                for view, name in enumerate(VIEW_NAMES)
            },
            "settings": model.settings,
            "calibration": calibration_rows(model, settings),
            "cutoffs": _cutoffs(loss) if model.classes == HAM_AND_SPAM else None,
            "features": features,
            "word": found and _word_facts(model, settings, found),
            "formulas": sections(model, settings, loss, found, features),
        }


def _by_class(model: Model, values: Iterable[Any]) -> Info:
    return dict(zip(model.classes, values, strict=True))


def _word(model: Model, text: str | None) -> TokenRow | None:
    if text is None:
        return telling_token(model)
    found = find_token(model, text) or find_token(model, text.casefold())
    if found is None:
        why, remedy = f"{model.path} does not count this word", "try another; nbspam model dump lists all"
        raise UsageError(text, why, remedy, "no-such-word", option="word")
    return found


def _cutoffs(loss: Loss) -> Info:
    values = dict(zip(("ham_below", "spam_above"), cutoffs(loss), strict=True))
    return {name: value if isfinite(value) else None for name, value in values.items()}


def _features(model: Model, alpha: float) -> list[Info]:
    """Numeric features: their parameters by class, with 95 % intervals of mean and variance.

    phi : share of each bin, smoothed by `alpha`
    """
    features = model.numeric_features()
    if not features:
        return []
    counts = stored_counts(model)
    gaussian, posterior = GaussianLaw(counts), normal_posterior(counts)
    means = np.stack(posterior.mean_interval(), axis=2)
    variances = np.stack(posterior.variance_interval(), axis=2)
    phi = np.exp(CategoricalLaw(counts, alpha).log_phi.T)
    return [
        {
            "name": name,
            "edges": edges,
            "measured": _by_class(model, map(int, counts.moments[:, f, 0])),
            "mean": _by_class(model, gaussian.means[:, f].tolist()),
            "mean_interval": _by_class(model, means[:, f].tolist()),
            "variance": _by_class(model, gaussian.variances[:, f].tolist()),
            "variance_interval": _by_class(model, variances[:, f].tolist()),
            "variance_floor": [c for k, c in enumerate(model.classes) if gaussian.floored[k, f]],
            "phi": _by_class(model, phi[:, counts.feature_of_cell == f].tolist()),
        }
        for f, (name, edges) in enumerate(features)
    ]


def _word_facts(model: Model, settings: Settings, word: TokenRow) -> Info:
    intervals = [list(word_share_interval(word.documents, k, settings)) for k in range(len(model.classes))]
    return {
        "text": word.text,
        "view": VIEW_NAMES[word.view],
        "documents": _by_class(model, word.documents),
        "occurrences": _by_class(model, word.occurrences),
        "share_interval": _by_class(model, intervals),
    }
