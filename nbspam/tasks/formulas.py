"""The formulas of a model with its numbers in them, in the notation of docs/models.md.

Hides how each way of scoring is put in words: the symbols, the estimator, the prior, the score, the
decision rule, and one word worked out from its counts to its weight.  Every number comes from the code
that scores; a test compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from nbspam.decision import Loss, cutoffs
from nbspam.labels import HAM_AND_SPAM
from nbspam.model.credible_intervals import beta_interval
from nbspam.model.evidence import ViewEvidence, measure_evidence
from nbspam.model.priors import log_priors_of
from nbspam.model.scorer import make_words
from nbspam.model.words import vocabulary_size, word_totals
from nbspam.settings import (
    AT_LEAST,
    DILUTION,
    HAM_CAP,
    MEASURE_ALPHA,
    MOST_TIMES,
    SHRINKAGE,
    STRONG,
    WEAK,
    Settings,
)
from nbspam.store.check import TokenRow
from nbspam.store.reader import Model
from nbspam.tokens.bag import MEASURES_VIEW, NOTAWORD_VIEW, VIEWS
from nbspam.tokens.measures import N_BINS, measure_of, messages_measured

Line = tuple[str, str]  # what, and its formula or number


class Section(NamedTuple):
    """Some lines under a title."""

    title: str
    lines: list[Line]


_ESTIMATORS = {
    "presence": "φ_jk = (n_jk + λ) / (Σ_j n_jk + λ |V|)",
    "multinomial": "φ_jk = (N_jk + λ) / (N_k + λ |V|)",
    "bernoulli": "φ_jk = (n_jk + λ) / (m_k + 2 λ)",
    "complement": "θ_jk = (Σ_i≠k N_ji + λ) / (Σ_i≠k N_i + λ |V|)",
    "gaussian": "μ_jk = Σ x / n,  σ²_jk = Σ (x - μ_jk)² / n, not below a floor",
    "categorical": "φ_jtk = (n_jtk + λ) / (n_jk + k_j λ), t the bin of feature j, k_j its bins",
    "aode": "P(x_i | k) and P(x_j | k, x_i) from counts of bins and of pairs of them, smoothed by λ",
}
_SCORES = {
    "presence": "log π_k + Σ over the distinct words of log φ_jk",
    "multinomial": "log π_k + Σ_j x_j log φ_jk, x_j how often word j occurs",
    "bernoulli": "log π_k + Σ over the whole vocabulary of x_j log φ_jk + (1 - x_j) log(1 - φ_jk)",
    "complement": "-Σ_j x_j log θ_jk, without the prior",
    "gaussian": "log π_k - ½ Σ_j [(x_j - μ_jk)² / σ²_jk + log(2π σ²_jk)]",
    "categorical": "log π_k + Σ_j log φ_jtk",
    "aode": "log π_k + log of the mean over i of P(x_i | k) Π_j≠i P(x_j | k, x_i), x_i met in mail",
}
_NORMALISED = "Σ_j x_j log θ_jk / Σ_i log θ_ik, without the prior"
_STORIES = {
    "presence": "multinomial on presence: a message is the set of its words",
    "multinomial": "multinomial: a message is a sequence of words",
    "bernoulli": "Bernoulli: for each word of the vocabulary, present or absent",
    "complement": "complement: each class by the words of all others",
    "gaussian": "Gaussian: each numeric feature is drawn from a normal distribution",
    "categorical": "categorical: each numeric feature falls into one of its bins",
    "aode": "averaged one-dependence: each feature may depend on one other",
}

_SYMBOLS = {
    "evidence": "a",
    "cautious": "d",
    "measure": "g",
    "constant": "b",
    "unknown": "c",
    "alike": "m",
}


def sections(model: Model, settings: Settings, loss: Loss, word: TokenRow | None) -> list[Section]:
    """All formulas of a model, its prior model's counts among the numbers.

    model, word : as they are scored, the prior's share added
    """
    found = [Section("Symbols", _symbols(model, settings)), Section("Estimator", _estimator(settings))]
    found.append(Section("Prior", _prior(model, settings)))
    found.append(Section("Score", _score(model, settings)))
    found.append(Section("Decision", decision_lines(model.classes, loss)))
    if word is not None and settings.features != "numeric":
        found.append(Section(f"The word {word.text!r}", worked_word(model, settings, word)))
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
    lines.append(("|V|, codes with NOTAWORD", number(vocabulary_size(model.words))))
    lines.append(("Σ_j n_jk, words of messages, each once", by_class(classes, word_totals(model.documents))))
    lines.append(("N_k, occurrences of words", by_class(classes, word_totals(model.occurrences))))
    if settings.averaged:
        for view, name in enumerate(VIEWS):
            words = (
                f"|V| = {number(model.words[view] + 1)}, Σ_j n_jk: {by_class(classes, model.documents[view])}"
            )
            lines.append((f"of these in the {name}", words))
    return lines


def _estimator(settings: Settings) -> list[Line]:
    lines = []
    if settings.features != "numeric":
        lines.append(("event model", _STORIES[settings.event_model]))
        lines.append(("estimate", _ESTIMATORS[settings.event_model]))
        prior = "Beta(λ, λ)" if settings.event_model == "bernoulli" else "Dirichlet(λ, ..., λ)"
        kind = "maximum likelihood" if settings.alpha == 0 else f"the posterior mean under {prior}"
        lines.append(("which is", kind + (", Laplace's" if settings.alpha == 1 else "")))
    if settings.features != "words":
        lines.append(("numeric features", _STORIES[settings.numeric_model]))
        lines.append(("estimate", _ESTIMATORS[settings.numeric_model]))
    return lines


def _prior(model: Model, settings: Settings) -> list[Line]:
    formula = {
        "empirical": "π_k = m_k / m",
        "smoothed": "π_k = (m_k + λ) / (m + K λ)",
        "uniform": "π_k = 1 / K",
    }.get(settings.prior, "π_k as given")
    logs = log_priors_of(settings, model.messages, model.classes)
    return [
        (settings.prior, formula),
        ("π_k", by_class(model.classes, [exp(value) for value in logs])),
        ("log π_k", by_class(model.classes, logs)),
    ]


def _score(model: Model, settings: Settings) -> list[Line]:
    if not settings.averaged:
        lines = []
        complement = settings.event_model == "complement"
        if settings.features != "numeric":
            normalised = complement and settings.normalise
            lines.append(("score of class k", _NORMALISED if normalised else _SCORES[settings.event_model]))
        if settings.features != "words":
            added = "added to it" if complement else "added to it, without log π_k"  # which is there once
            joined = added if settings.features == "both" else "score of class k"
            lines.append((joined, _SCORES[settings.numeric_model]))
        return [*lines, ("P(k | x)", "exp(score_k) / Σ_i exp(score_i)")]
    return _averaged_score(model, settings)


def _averaged_score(model: Model, settings: Settings) -> list[Line]:
    first = model.classes[0]
    least = ", ".join(
        f"in the {name} the {n} strongest over {settings.threshold * weak:g}"
        for name, n, weak in zip(VIEWS, AT_LEAST, WEAK, strict=True)
        if n
    )
    floors = ", ".join(
        f"{name} {settings.threshold * strong:g}" for name, strong in zip(VIEWS, STRONG, strict=True)
    )
    factor = "(1 - u_v^p_v) " if settings.diluted else ""
    powers = ", ".join(f"{name} {power}" for name, power in zip(VIEWS, DILUTION, strict=True))
    of_words = [kind for kind in settings.kinds if kind != "measure"]
    terms = " + ".join(f"{_SYMBOLS[kind]}_v {kind[0].upper()}_vk" for kind in of_words)
    sums = f"Σ_v ({terms})" if len(of_words) > 1 else f"Σ_v {terms}"
    sums += " + Σ_f g_f B_fk" if settings.measures else ""
    rough = _rough_scores(model, settings)
    shared = "b_k + Σ_v c_vk u_v" + (" + Σ_j m_jk R_j" if rough else "")
    lines = [
        ("weight of word j", f"w_jk = log(φ_jk / φ_j,{first})"),
        ("informative words", f"largest minus smallest w_jk over (nats): {floors}; {least}"),
        ("unknown share of view v", f"u_v = share of its words that the model never met; p_v: {powers}"),
        (
            "how often word j counts",
            f"t_j = 1 + log of how often the message has it, at most {MOST_TIMES} times",
        ),
        (
            "evidence of view v",
            f"E_vk = {factor}Σ t_j w_jk over its informative words / (Σ t_j + {SHRINKAGE:g})",
        ),
        *_other_evidence(settings, first),
        *_bound(model, settings),
        *rough,
        (f"score against {first}", f"z_k = {sums} + {shared} + log π_k - log(m_k / m)"),
        ("P(k | x)", "exp(z_k) / Σ_i exp(z_i)"),
    ]
    return lines + _calibration(model, settings)


def _other_evidence(settings: Settings, first: str) -> list[Line]:
    lines = []
    if settings.second_alpha:
        cautious = f"C_vk, the same from φ with λ = {settings.second_alpha:g}: rare words weigh less"
        lines.append(("cautious evidence", cautious))
    if settings.measures:
        share = f"(n_bk + {MEASURE_ALPHA:g}) / (m_k + {MEASURE_ALPHA:g} · bins)"
        lines.append(("numeric feature f in bin b", f"B_fk = log of {share}, less that of {first}"))
    return lines


def _bound(model: Model, settings: Settings) -> list[Line]:
    if not settings.capped:
        return []
    words = [kind[0].upper() for kind in settings.kinds if kind != "measure"]
    of_spam = ", ".join(f"{letter}_v,{model.classes[1]}" for letter in words)
    return [("bound for ham", f"{of_spam} not below -{HAM_CAP:g} nats")]


def _rough_scores(model: Model, settings: Settings) -> list[Line]:
    from nbspam.model.calibration import rough_weights

    weights = rough_weights(len(model.classes), settings.kinds)
    words = [kind for kind in settings.kinds if kind != "measure"]
    names = [f"{kind[0].upper()}_{view},j" for kind in words for view in VIEWS]
    terms = [f"{weight:g} {name}" for weight, name in zip(weights, names, strict=False) if weight]
    return [("rough score of class j", f"R_j = {' + '.join(terms)}")] if terms else []


def _calibration(model: Model, settings: Settings) -> list[Line]:
    from nbspam.model.calibration import check_weights, feature_names, first_weights, shown_name

    learned = model.calibration()
    shape = (len(model.classes), settings.kinds)
    weights = learned or first_weights(*shape)[0]
    check_weights(model.path, weights, *shape)
    lines = [] if learned else [("calibration", "none learned yet: the weights that training starts from")]
    for (name, k), weight in zip(feature_names(*shape), weights, strict=True):
        kind, _, view = shown_name(name, model.classes).partition(":")
        of = ", ".join(part for part in (view, model.classes[k] if k is not None else "") if part)
        lines.append((f"{_SYMBOLS[kind]}({of})", f"{weight:+.4f}"))
    return lines


def decision_lines(classes: Sequence[str], loss: Loss) -> list[Line]:
    """The rule, the losses, and for ham and spam the cut-offs on the log-odds."""
    lines = [("rule", "the action i of least conditional risk R(i | x) = Σ_j λ_ij P(j | x)")]
    rows = [*zip(classes, loss.matrix, strict=True), *([("unsure", loss.unsure)] if loss.unsure else [])]
    for name, costs in rows:
        lines.append((f"deciding {name} costs", "if " + by_class(classes, costs)))
    if tuple(classes) == HAM_AND_SPAM:
        at = cutoffs(loss)
        lines.append(("so spam is", f"log-odds > {at.spam_above:g} nats"))
        if at.ham_below != at.spam_above:
            lines.append(("and ham is", f"log-odds <= {at.ham_below:g} nats; unsure between"))
    return lines


def worked_word(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    """From the counts of a word to what it adds to the scores."""
    classes = model.classes
    lines = [
        ("n_jk", by_class(classes, word.documents)),
        ("N_jk", by_class(classes, word.occurrences)),
    ]
    symbol = "θ" if settings.event_model == "complement" else "φ"
    intervals = []
    for k, name in enumerate(classes):
        top, bottom, fraction = _fraction(model, settings, word, k)
        value = number(top / bottom) if bottom else "undefined"
        lines.append((f"{symbol}(j, {name})", f"{fraction} = {value}"))
        low, high = beta_interval(top, bottom - top)  # the marginal of a Dirichlet
        intervals.append(f"{name} {number(low)} to {number(high)}")
    lines.append((f"95 % interval of {symbol}", ", ".join(intervals)))
    return lines + (
        _worked_weight(model, settings, word) if settings.averaged else _worked_sum(model, settings, word)
    )


def _fraction(model: Model, settings: Settings, word: TokenRow, k: int) -> tuple[float, float, str]:
    """Numerator, denominator and the fraction in figures of the word's estimate in class k."""
    a, size = settings.alpha, vocabulary_size(model.words)
    if settings.averaged and word.view == MEASURES_VIEW:
        a, size = MEASURE_ALPHA, N_BINS[measure_of(word.text)]
        count, total = word.documents[k], messages_measured(model.documents[MEASURES_VIEW])[k]
    elif settings.averaged:
        count, total = word.documents[k], model.documents[word.view][k]
        size = model.words[word.view] + 1
    elif settings.event_model == "presence":
        count, total = word.documents[k], word_totals(model.documents)[k]
    elif settings.event_model == "bernoulli":
        count, total, size = word.documents[k], model.messages[k], 2
    elif settings.event_model == "multinomial":
        count, total = word.occurrences[k], word_totals(model.occurrences)[k]
    else:
        everything = word_totals(model.occurrences)
        count, total = sum(word.occurrences) - word.occurrences[k], sum(everything) - everything[k]
    fraction = f"({number(count)} + {a:g}) / ({number(total)} + {a:g} · {number(size)})"
    return count + a, total + a * size, fraction


def _worked_weight(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    if word.view == NOTAWORD_VIEW:
        return [("in the average", "NOTAWORD is no evidence; its share is, as u_v")]
    if word.view == MEASURES_VIEW:
        return _worked_measure(model, word)
    documents = model.documents[word.view]
    law = ViewEvidence(word.view, settings.alpha, settings.threshold, documents, model.words[word.view] + 1)
    if not any(word.documents):
        return [("in the average", "never met, so it counts as unknown")]
    spread, weights = law.weigh(tuple(word.documents))
    verdict = (
        "informative"
        if spread > law.threshold
        else "informative in short texts"
        if spread > law.floor
        else "says nothing"
    )
    return [
        ("w_jk", by_class(model.classes, weights)),
        ("largest minus smallest", f"{spread:.4f} nats: {verdict}"),
    ]


def _worked_measure(model: Model, word: TokenRow) -> list[Line]:
    messages = messages_measured(model.documents[MEASURES_VIEW])
    values = measure_evidence(word.documents, messages, N_BINS[measure_of(word.text)])
    return [("B_fk", by_class(model.classes, values))]


def _worked_sum(model: Model, settings: Settings, word: TokenRow) -> list[Line]:
    words = make_words(model, settings)
    adds = words.token(word.documents, word.occurrences, 1)
    lines = [("once in a message it adds", by_class(model.classes, adds))]
    if settings.event_model == "bernoulli":
        lines[0] = ("present, it adds log φ - log(1 - φ)", lines[0][1])
        lines.append(("all words absent, log score", by_class(model.classes, words.base)))
    return lines
