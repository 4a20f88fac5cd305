"""What is in a model: facts for `model info`, its text form.

Hides where each number comes from.  `info_of` gathers plain values, which are the JSON; the texts for
people (nbspam.cli.model_text) are made of nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from nbspam.decision import cutoffs, zero_one_loss
from nbspam.errors import BadDataError, UsageError
from nbspam.filter import stored_loss
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names, shown_name
from nbspam.model.credibility import word_share_interval
from nbspam.model.uncertainty import belief
from nbspam.model.words import vocabulary_size
from nbspam.settings import Settings, from_text
from nbspam.store.check import TokenRow, find_token, learned_messages, telling_token
from nbspam.store.connection import FORMAT
from nbspam.store.prior import on_prior, stored_units
from nbspam.store.reader import Model, Snapshot
from nbspam.store.text import dump, load
from nbspam.store.updater import autolearned_messages
from nbspam.tasks.formulas import sections
from nbspam.tokens.bag import VIEW_NAMES

Info = dict[str, Any]


def dump_lines(path: str) -> Iterator[str]:
    """The text form of a model."""
    with Snapshot(path) as model:
        yield from dump(model)


def load_lines(lines: Iterable[bytes], where: str, path: str, replaces: bool = True) -> None:
    """Makes the model of a text form.

    replaces : whether a model gives way that is there when this one is made; else that is an error
    """
    load(_decoded(lines, where), where, path, replaces)


def _decoded(lines: Iterable[bytes], where: str) -> Iterator[str]:
    for place, line in enumerate(lines, 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            remedy = "name the output of nbspam model dump"
            raise BadDataError(
                f"{where}: line {place}", "this is not UTF-8 text", remedy, "dump-foreign"
            ) from None


def info_of(path: str, word: str | None = None) -> Info:
    """Everything that `model info` says, as plain values.

    word : the word to work out; None for one that tells the classes apart
    """
    with Snapshot(path) as stored:
        settings = from_text(stored.settings, stored.path).of(stored.classes)
        model = on_prior(stored)
        loss = stored_loss(stored) or zero_one_loss(len(stored.classes))
        found = _word(model, word)
        own = autolearned_messages(stored)
        info: Info = {
            "path": path,
            "size_bytes": os.path.getsize(path),
            "format": FORMAT,
            "classes": list(stored.classes),
            "messages": dict(zip(stored.classes, stored.messages, strict=True)),
            "different_messages": learned_messages(stored),
            "autolearned": dict(zip(stored.classes, own, strict=True)),
            "vocabulary": stored.settings.get("vocabulary", "open"),
            "vocabulary_size": vocabulary_size(stored.words),
            "views": _views(model),
            "settings": stored.settings,
            "calibration": _calibration(stored, settings),
            "cutoffs": _cutoffs(stored, loss),
            "features": _features(model, stored_units(stored)[0]),
            "word": _word_facts(model, settings, found),
        }
        info["formulas"] = [
            {"title": section.title, "lines": [list(line) for line in section.lines]}
            for section in sections(model, settings, loss, found)
        ]
        return info


def _word(model: Model, text: str | None) -> TokenRow | None:
    if text is None:
        return telling_token(model)
    found = find_token(model, text) or find_token(model, text.casefold())
    if found is None:
        remedy = "try another; nbspam model dump lists all"
        raise UsageError(f"--word {text}", f"{model.path} does not count this word", remedy, "no-such-word")
    return found


def _views(model: Model) -> Info:
    return {
        name: {
            "words": model.words[view],
            "documents": dict(zip(model.classes, model.documents[view], strict=True)),
            "occurrences": dict(zip(model.classes, model.occurrences[view], strict=True)),
        }
        for view, name in enumerate(VIEW_NAMES)
    }


def _calibration(model: Model, settings: Settings) -> list[Info]:
    covariance = model.covariance()
    names = feature_names(len(model.classes), settings.kinds)
    return [
        {
            "feature": shown_name(name, model.classes),
            "class": None if k is None else model.classes[k],
            "weight": weight,
            "deviation": covariance[i][i] ** 0.5 if i < len(covariance) and covariance[i][i] > 0 else None,
        }
        for i, ((name, k), weight) in enumerate(zip(names, model.calibration(), strict=False))
    ]


def _cutoffs(model: Model, loss: Any) -> Info | None:
    if model.classes != HAM_AND_SPAM:
        return None
    at = cutoffs(loss)
    return {
        "ham_below": at.ham_below if isfinite(at.ham_below) else None,
        "spam_above": at.spam_above if isfinite(at.spam_above) else None,
    }


def _features(model: Model, unit: int) -> list[Info]:
    """Numeric features: by class how often measured, mean and deviation, and whether the floor was needed."""
    features = model.numeric_features()
    if not features:
        return []
    from nbspam.model.features import stored_counts
    from nbspam.model.numeric import Gaussian

    counts = stored_counts(model)
    gaussian = Gaussian(counts)
    return [
        {
            "name": name,
            "bins": len(edges) + 1,
            "measured": {c: counts.moments[k, f, 0] // unit for k, c in enumerate(model.classes)},
            "mean": {c: float(gaussian.means[k, f]) for k, c in enumerate(model.classes)},
            "deviation": {c: float(gaussian.variances[k, f] ** 0.5) for k, c in enumerate(model.classes)},
            "variance_floor": [c for k, c in enumerate(model.classes) if gaussian.floored[k, f]],
        }
        for f, (name, edges) in enumerate(features)
    ]


def _word_facts(model: Model, settings: Settings, word: TokenRow | None) -> Info | None:
    if word is None:
        return None
    pseudo = belief(settings.alpha, settings.averaged)
    return {
        "text": word.text,
        "view": VIEW_NAMES[word.view],
        "documents": dict(zip(model.classes, word.documents, strict=True)),
        "occurrences": dict(zip(model.classes, word.occurrences, strict=True)),
        "share_interval": {
            name: list(word_share_interval(word.documents, k, pseudo)) for k, name in enumerate(model.classes)
        },
    }
