"""The facts of a model for `model info`, as plain values from which the command makes JSON and text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TypedDict, TypeVar

import numpy as np

from nbspam.decision import Loss, cutoffs, describe_loss, load_loss
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names
from nbspam.model.credible_intervals import normal_posterior
from nbspam.model.features import load_counts
from nbspam.model.numeric import CategoricalLaw, GaussianLaw
from nbspam.model.words import vocabulary_size
from nbspam.settings import Settings, parse_settings
from nbspam.store.autolearned import count_autolearned
from nbspam.store.check import count_learned
from nbspam.store.connection import FORMAT
from nbspam.store.reader import Model, open_model
from nbspam.store.rules import check_rows
from nbspam.tokens.bag import VIEW_NAMES

Fact = TypeVar("Fact")
PerClass = dict[str, Fact]


class ViewFacts(TypedDict):
    """Sizes of a view."""

    words: int
    documents: PerClass[int]
    occurrences: PerClass[int]


class LearnedFeature(TypedDict):
    """A numeric feature: its parameters by class, with 95 % intervals of mean and variance.

    phi : share of each bin, smoothed
    """

    name: str
    edges: Sequence[float]
    measured: PerClass[int]
    mean: PerClass[float]
    mean_interval: PerClass[list[float]]
    variance: PerClass[float]
    variance_interval: PerClass[list[float]]
    variance_floor: list[str]  # classes whose variance is the least allowed
    phi: PerClass[list[float]]


class ModelFacts(TypedDict):
    """The JSON of `model info`."""

    path: str
    size_bytes: int
    format: int
    base: str
    classes: list[str]
    messages: PerClass[int]
    different_messages: int
    autolearned: PerClass[int]
    vocabulary: str
    vocabulary_size: int
    views: dict[str, ViewFacts]
    settings: dict[str, str]
    calibration: list[dict[str, str | float | None]]
    costs: str
    cutoffs: dict[str, float | None] | None
    features: list[LearnedFeature]


def collect_facts(path: str) -> ModelFacts:
    """Everything that `model info` says."""
    with open_model(path, snapshot=True) as model:
        check_rows(model.connection, "learned", "autolearned", "numeric_feature", "numeric_count")
        settings = parse_settings(model.settings, model.path).of(model.classes)
        loss = load_loss(model.settings, model.classes, path)
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
            "cutoffs": _cutoffs(loss) if model.classes == HAM_AND_SPAM else None,
            "features": _features(model, settings.alpha),
        }


def _by_class(model: Model, values: Iterable[Fact]) -> PerClass[Fact]:
    return dict(zip(model.classes, values, strict=True))


def _view(model: Model, number: int) -> ViewFacts:
    return {
        "words": model.words[number],
        "documents": _by_class(model, model.documents[number]),
        "occurrences": _by_class(model, model.occurrences[number]),
    }


def _cutoffs(loss: Loss) -> dict[str, float | None]:
    values = dict(zip(("ham_below", "spam_above"), cutoffs(loss), strict=True))
    return {name: value if isfinite(value) else None for name, value in values.items()}


def _features(model: Model, alpha: float) -> list[LearnedFeature]:
    features = model.numeric_features()
    if not features:
        return []
    counts = load_counts(model)
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


def _calibration(model: Model, settings: Settings) -> list[dict[str, str | float | None]]:
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
