"""The facts of a model for `model info`, and its formulas with its numbers in them.

All are plain values, from which the command makes JSON and text.  The notation is that of docs/models.md, and
every number comes from the code that scores; a test compares them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from math import exp, isfinite
from typing import Any

import numpy as np

from nbspam.decision import Loss, cutoffs, load_loss, zero_one_loss
from nbspam.errors import UsageError
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.calibration import feature_names, format_feature
from nbspam.model.credible_intervals import beta_interval, normal_posterior, word_share_interval
from nbspam.model.features import bin_text, load_counts, make_bins
from nbspam.model.numeric import CategoricalLaw, GaussianLaw
from nbspam.model.posterior import log_priors_of
from nbspam.model.scorer import ViewEvidence, make_words
from nbspam.model.words import vocabulary_size, word_totals
from nbspam.settings import (
    DILUTION,
    HAM_CAP,
    MEASURE_ALPHA,
    MOST_TIMES,
    SHRINKAGE,
    STRONG,
    Settings,
    parse_settings,
)
from nbspam.store.autolearned import count_autolearned
from nbspam.store.check import TokenRow, count_learned, find_token, telling_token
from nbspam.store.connection import FORMAT
from nbspam.store.covariance import read_covariance
from nbspam.store.reader import Model, open_model
from nbspam.tokens.bag import VIEW_NAMES, VIEWS

Info = dict[str, Any]
Line = tuple[str, str]  # what, and its formula or number
# The estimate of each event model, and the score of class k; docs/models.md has them in words.
ESTIMATES = {
    "presence": "φ_jk = (n_jk + λ) / (Σ_j n_jk + λ |V|)",
    "multinomial": "φ_jk = (N_jk + λ) / (N_k + λ |V|)",
    "bernoulli": "φ_jk = (n_jk + λ) / (m_k + 2 λ)",
    "complement": "θ_jk = (Σ_i≠k N_ji + λ) / (Σ_i≠k N_i + λ |V|)",
    "gaussian": "μ_jk = Σ x / n,  σ²_jk = Σ (x - μ_jk)² / n, not below a floor",
    "categorical": "φ_jtk = (n_jtk + λ) / (n_jk + k_j λ), t the bin of feature j, k_j its bins",
    "aode": "P(x_i | k) and P(x_j | k, x_i) from counts of bins and of pairs of them, smoothed by λ",
}
SCORES = {
    "presence": "log π_k + Σ over the distinct words of log φ_jk",
    "multinomial": "log π_k + Σ_j x_j log φ_jk, x_j how often word j occurs",
    "bernoulli": "log π_k + Σ over the whole vocabulary of x_j log φ_jk + (1 - x_j) log(1 - φ_jk)",
    "complement": "-Σ_j x_j log θ_jk, without the prior",
    "gaussian": "log π_k - ½ Σ_j [(x_j - μ_jk)² / σ²_jk + log(2π σ²_jk)]",
    "categorical": "log π_k + Σ_j log φ_jtk",
    "aode": "log π_k + log of the mean over i of P(x_i | k) Π_j≠i P(x_j | k, x_i), x_i met in mail",
}
NORMALISED = "Σ_j x_j log θ_jk / Σ_i log θ_ik, without the prior"
SYMBOLS = {"evidence": "a", "cautious": "d", "measure": "g", "constant": "b", "unknown": "c", "alike": "m"}
PRIORS = {"empirical": "π_k = m_k / m", "smoothed": "π_k = (m_k + λ) / (m + K λ)", "uniform": "π_k = 1 / K"}


def collect_info(path: str, word: str | None = None) -> Info:
    """Everything that `model info` says.

    word : the word to work out; None for one that tells the classes apart
    """
    with open_model(path, snapshot=True) as model:
        settings = parse_settings(model.settings, model.path).of(model.classes)
        loss = load_loss(model.settings, model.classes, path) or zero_one_loss(len(model.classes))
        found = _word(model, word)
        info: Info = {
            "path": path,
            "size_bytes": os.path.getsize(path),
            "format": FORMAT,
            "classes": list(model.classes),
            "messages": _by_class(model, model.messages),
            "different_messages": count_learned(model),
            "autolearned": _by_class(model, count_autolearned(model)),
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
            "calibration": _calibration(model, settings),
            "cutoffs": _cutoffs(loss) if model.classes == HAM_AND_SPAM else None,
            "features": _features(model, settings.alpha),
            "word": found and _describe_word(model, settings, found),
        }
        sections = _sections(model, settings, loss, found, info)
        info["formulas"] = [{"title": title, "lines": lines} for title, lines in sections.items()]
        return info


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


def _describe_word(model: Model, settings: Settings, word: TokenRow) -> Info:
    intervals = [list(word_share_interval(word.documents, k, settings)) for k in range(len(model.classes))]
    return {
        "text": word.text,
        "view": VIEW_NAMES[word.view],
        "documents": _by_class(model, word.documents),
        "occurrences": _by_class(model, word.occurrences),
        "share_interval": _by_class(model, intervals),
    }


def _sections(
    model: Model, settings: Settings, loss: Loss, word: TokenRow | None, info: Info
) -> dict[str, list[Line]]:
    """All formulas of a model: title -> lines."""
    if settings.averaged:
        score = _describe_averages(model, settings) + _weights(info["calibration"])
    else:
        score = _describe_sum(settings)
    logs = log_priors_of(settings, model.messages, model.classes)
    prior = [
        (settings.prior, PRIORS.get(settings.prior, "π_k as given")),
        ("π_k", by_class(model.classes, [exp(value) for value in logs])),
    ]
    found = {
        "Symbols": _symbols(model, settings),
        "Estimator": _estimator(settings),
        "Prior": prior,
        "Score": score,
        "Decision": _decision(model.classes, loss),
    }
    if settings.features != "words":
        found["Numeric features"] = _parameters(settings.numeric_model, info["features"])
    if word is not None and settings.features != "numeric":
        found[f"The word {word.text!r}"] = _work_out_word(model, settings, word)
    return found


def number(value: float) -> str:
    """Whole numbers whole, others with six digits, infinite ones as they are."""
    return f"{int(value):,}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def by_class(classes: Sequence[str], values: Sequence[float]) -> str:
    """`ham 133, spam 113`."""
    return ", ".join(f"{name} {number(value)}" for name, value in zip(classes, values, strict=True))


def _symbols(model: Model, settings: Settings) -> list[Line]:
    classes = model.classes
    lines = [
        ("K, classes", f"{len(classes)}: {', '.join(classes)}"),
        ("m, messages", number(sum(model.messages))),
        ("m_k, messages of class k", by_class(classes, model.messages)),
        ("λ, smoothing constant", f"{settings.alpha:g}"),
    ]
    if settings.features == "numeric":
        return lines
    return [
        *lines,
        ("|V|, codes with NOTAWORD", number(vocabulary_size(model.words))),
        ("Σ_j n_jk, words of messages, each once", by_class(classes, word_totals(model.documents))),
        ("N_k, occurrences of words", by_class(classes, word_totals(model.occurrences))),
    ]


def _estimator(settings: Settings) -> list[Line]:
    lines = []
    if settings.features != "numeric":
        prior = "Beta(λ, λ)" if settings.event_model == "bernoulli" else "Dirichlet(λ, ..., λ)"
        kind = f"the posterior mean under {prior}" if settings.alpha else "maximum likelihood"
        lines += [(settings.event_model, ESTIMATES[settings.event_model]), ("which is", kind)]
    if settings.features != "words":
        lines.append((settings.numeric_model, ESTIMATES[settings.numeric_model]))
    return lines


def _describe_sum(settings: Settings) -> list[Line]:
    complement = settings.event_model == "complement"
    score = NORMALISED if complement and settings.normalise else SCORES[settings.event_model]
    lines = [("score of class k", score)]
    if settings.features == "both":
        added = "added to it" if complement else "added to it, without log π_k"  # which is there once
        lines.append((added, SCORES[settings.numeric_model]))
    return [*lines, ("P(k | x)", "exp(score_k) / Σ_i exp(score_i)")]


def _describe_averages(model: Model, settings: Settings) -> list[Line]:
    first = model.classes[0]
    floors = by_class(VIEWS, [settings.threshold * strong for strong in STRONG])
    score = "Σ_v (a_v E_vk + d_v C_vk) + Σ_f g_f B_fk + b_k + Σ_v c_vk u_v + Σ_j m_jk R_j"
    powers = by_class(VIEWS, DILUTION)
    cap = f"E_v and C_v not below -{HAM_CAP:g} nats" if settings.capped else "none"
    return [
        ("weight of word j", f"w_jk = log(φ_jk / φ_j,{first})"),
        ("informative words", f"largest minus smallest w_jk over (nats): {floors}"),
        ("evidence of view v", f"E_vk = (1 - u_v^p_v) Σ t_j w_jk / (Σ t_j + {SHRINKAGE:g})"),
        ("u_v, p_v", f"the share of its words that the model never met; {powers}"),
        ("t_j", f"1 + log of how often the message has word j, at most {MOST_TIMES} times"),
        ("C_vk", f"E_vk with λ = {settings.second_alpha:g}: rare words weigh less"),
        ("bound for ham", cap),
        ("B_fk", f"log (n_bk + {MEASURE_ALPHA:g}) / (m_k + {MEASURE_ALPHA:g} · bins), less that of {first}"),
        ("all terms", "docs/models.md; those whose weights are not below are 0"),
        (f"score against {first}", f"z_k = {score} + log π_k - log(m_k / m)"),
        ("P(k | x)", "exp(z_k) / Σ_i exp(z_i)"),
    ]


def _weights(calibration: list[Info]) -> list[Line]:
    lines = []
    for one in calibration:
        kind, _, view = one["feature"].partition(":")
        of = ", ".join(filter(None, (view, one["class"])))
        lines.append((f"{SYMBOLS[kind]}({of})", f"{one['weight']:+.4f}"))
    return lines or [("calibration", "none learned yet")]


def _decision(classes: Sequence[str], loss: Loss) -> list[Line]:
    lines = [("rule", "the action i of least conditional risk R(i | x) = Σ_j λ_ij P(j | x)")]
    rows = [*zip(classes, loss.matrix, strict=True), *([("unsure", loss.unsure)] if loss.unsure else [])]
    lines += [(f"deciding {name} costs", "if " + by_class(classes, costs)) for name, costs in rows]
    if tuple(classes) == HAM_AND_SPAM:
        ham_below, spam_above = cutoffs(loss)
        lines.append(("so spam is", f"log-odds > {spam_above:g} nats"))
        if ham_below != spam_above:
            lines.append(("and ham is", f"log-odds <= {ham_below:g} nats; unsure between"))
    return lines


def _parameters(event_model: str, features: list[Info]) -> list[Line]:
    """Mean and variance of each feature with their 95 % intervals, or phi of each of its bins."""
    if event_model != "gaussian":
        return [
            (f"φ of {one['name']} {bin_text(*edges)}", by_class(list(one["phi"]), shares))
            for one in features
            for edges, *shares in zip(make_bins(one["edges"]), *one["phi"].values(), strict=True)
        ]
    lines = [("prior of the intervals", "worth one message, with the mean and variance of all mail")]
    for one in features:
        for symbol, key in (("μ", "mean"), ("σ²", "variance")):
            pairs = zip(one[key].items(), one[f"{key}_interval"].values(), strict=True)
            texts = [f"{c} {value:.6g} ({low:.4g} to {high:.4g})" for (c, value), (low, high) in pairs]
            lines.append((f"{symbol} of {one['name']} (95 %)", ", ".join(texts)))
    return lines


def _work_out_word(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    """From the counts of a word to what it adds to the scores."""
    classes = model.classes
    lines = [("n_jk", by_class(classes, word.documents)), ("N_jk", by_class(classes, word.occurrences))]
    if settings.averaged and not (word.view < len(VIEWS) and any(word.documents)):
        return lines  # it is no word of a view, or was never met
    symbol, intervals, a = "θ" if settings.event_model == "complement" else "φ", [], settings.alpha
    counts, totals, size = _fractions(model, settings, word)
    for name, count, total in zip(classes, counts, totals, strict=True):
        top, bottom = count + a, total + a * size
        fraction = f"({number(count)} + {a:g}) / ({number(total)} + {a:g} · {number(size)})"
        estimate = number(top / bottom) if bottom else "undefined"
        lines.append((f"{symbol}(j, {name})", f"{fraction} = {estimate}"))
        low, high = beta_interval(top, bottom - top)  # the marginal of a Dirichlet
        intervals.append(f"{name} {number(low)} to {number(high)}")
    lines.append((f"95 % interval of {symbol}", ", ".join(intervals)))
    return lines + (_work_out_weight if settings.averaged else _work_out_sum)(model, settings, word)


def _fractions(
    model: Model, settings: Settings, word: TokenRow
) -> tuple[Sequence[float], Sequence[float], float]:
    """(counts, totals, parameters) of the word's estimate, the first two by class."""
    if settings.averaged:
        return word.documents, model.documents[word.view], model.words[word.view] + 1
    law = make_words(model, settings.replaced(alpha=0.0, normalise=False))
    size = 2 if settings.event_model == "bernoulli" else vocabulary_size(model.words)
    return law.pseudo_counts(word.documents, word.occurrences), law.concentration, size


def _work_out_weight(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    documents, size = model.documents[word.view], model.words[word.view] + 1
    law = ViewEvidence(word.view, settings.alpha, settings.threshold, documents, size)
    spread, weights = law.weigh(tuple(word.documents))
    return [("w_jk", by_class(model.classes, weights)), ("largest minus smallest", f"{spread:.4f} nats")]


def _work_out_sum(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    words = make_words(model, settings)
    adds = by_class(model.classes, words.token(word.documents, word.occurrences, 1))
    if settings.event_model != "bernoulli":
        return [("once in a message it adds", adds)]
    return [
        ("present, it adds log φ - log(1 - φ)", adds),
        ("all words absent, log score", by_class(model.classes, words.base)),
    ]


def _calibration(model: Model, settings: Settings) -> list[Info]:
    """The weights of the calibration: feature, class, weight and its standard deviation."""
    covariance = read_covariance(model)
    names = feature_names(len(model.classes), settings.kinds)
    return [
        {
            "feature": format_feature(name, model.classes),
            "class": None if k is None else model.classes[k],
            "weight": weight,
            "deviation": covariance[i][i] ** 0.5 if i < len(covariance) and covariance[i][i] > 0 else None,
        }
        for i, ((name, k), weight) in enumerate(zip(names, model.calibration(), strict=False))
    ]
