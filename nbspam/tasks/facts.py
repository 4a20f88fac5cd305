"""What is in a model: classes, counts, settings, calibration and numeric features, as one object."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from nbspam.decision import cutoffs, describe_loss, load_loss
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names
from nbspam.model.credible_intervals import mean_interval, variance_interval
from nbspam.model.features import load_counts
from nbspam.model.numeric import CategoricalLaw, GaussianLaw, normal_posterior
from nbspam.model.words import vocabulary_size
from nbspam.settings import Settings, parse_settings
from nbspam.store.autolearned import count_autolearned
from nbspam.store.check import count_learned
from nbspam.store.connection import FORMAT
from nbspam.store.digest import check_rows
from nbspam.store.reader import Model
from nbspam.store.snapshot import open_snapshot
from nbspam.tokens.bag import VIEW_NAMES

Facts = dict[str, Any]  # the JSON of `model info`, or a part of it


def collect_facts(path: str) -> Facts:
    """Everything that `model info` says; what is told by class is class -> value."""
    with open_snapshot(path) as model:
        check_rows(model.connection, "learned", "autolearned", "numeric_feature", "numeric_count")
        settings = parse_settings(model.settings, model.path).of(model.classes)
        loss = load_loss(model.settings, model.classes, path)
        is_plain, ends = model.classes == HAM_AND_SPAM, ("ham_below", "spam_above")
        return {
            "path": path,
            "size_bytes": os.path.getsize(path),
            "format": FORMAT,
            "base": model.base_path,
            "classes": list(model.classes),
            "messages": _by_class(model, model.messages),
            "different_messages": count_learned(model),
            "autolearned": _by_class(model, count_autolearned(model)),
            "vocabulary": model.settings.get("vocabulary", "open"),
            "vocabulary_size": vocabulary_size(model.words),
            "views": {name: _view(model, number) for number, name in enumerate(VIEW_NAMES)},
            "settings": model.settings,
            "calibration": _calibration(model, settings),
            "costs": describe_loss(loss, model.classes),
            "cutoffs": dict(zip(ends, cutoffs(loss), strict=True)) if is_plain else None,
            "features": _features(model, settings.alpha),
        }


def _by_class(model: Model, values: Iterable[object]) -> Facts:
    return dict(zip(model.classes, values, strict=True))


def _view(model: Model, number: int) -> Facts:
    return {
        "words": model.words[number],
        "documents": _by_class(model, model.documents[number]),
        "occurrences": _by_class(model, model.occurrences[number]),
    }


def _features(model: Model, alpha: float) -> list[Facts]:
    """The numeric features: parameters, with 95 % intervals of mean and variance, and shares of the bins."""
    features = model.numeric_features()
    if not features:
        return []
    counts = load_counts(model)
    gaussian, posterior = GaussianLaw(counts), normal_posterior(counts)
    means = np.stack(mean_interval(posterior), axis=2)
    variances = np.stack(variance_interval(posterior), axis=2)
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
            # The classes whose variance is the least allowed.
            "variance_floor": [c for k, c in enumerate(model.classes) if gaussian.floored[k, f]],
            "phi": _by_class(model, phi[:, counts.feature_of_cell == f].tolist()),  # of each bin, smoothed
        }
        for f, (name, edges) in enumerate(features)
    ]


def _calibration(model: Model, settings: Settings) -> list[Facts]:
    """The weights of the calibration: feature, class, weight and its standard deviation."""
    covariance = model.covariance()
    names = feature_names(len(model.classes), settings.kinds)
    return [
        {
            "feature": name,
            "class": None if k is None else model.classes[k],
            "weight": weight,
            "deviation": covariance[i][i] ** 0.5 if i < len(covariance) and covariance[i][i] > 0 else None,
        }
        for i, ((name, k), weight) in enumerate(zip(names, model.calibration(), strict=False))
    ]
