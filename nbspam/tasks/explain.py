"""One message -> why: what each clue, view, share and prior adds to the log-odds, and what would flip it.

Hides how scores of K classes become contributions to one number.  With two classes each part adds its
difference.  With more, log-odds = score - log sum exp(other scores), and that logarithm is the mean of
the other scores under their own posterior plus the entropy of that posterior: so the parts add up again,
with the entropy as one of them.
"""

from __future__ import annotations

import copy
from math import fsum, inf, isfinite, log
from typing import NamedTuple

from nbspam.filter import CLUE_KINDS, Classifier, Verdict, clue_parts, contribution
from nbspam.model.credibility import log_odds_interval, word_share_interval
from nbspam.model.posterior import ScorePart, rest_weights
from nbspam.model.scorer import Counted
from nbspam.model.uncertainty import belief, log_odds_deviation
from nbspam.tokens.bag import NOTAWORD_VIEW, VIEW_NAMES
from nbspam.tokens.keys import NOTAWORD, token_key

FLIP_CLUES = 60  # removed at most; a verdict that stands on more is not flipped by clues
Interval = tuple[float, float]
Contributions = list[tuple[ScorePart, float | None]]  # parts of the scores, and the nats that each adds


class Clue(NamedTuple):
    """A token or numeric feature and what it says.

    nats        : what it adds to the log-odds of the class shown; None where it rules out both sides
    documents   : n_jk, messages of each class that hold it (with a prior model's share); empty for a feature
    occurrences : N_jk
    share       : 95 % credible interval of the share of the class shown among messages that hold it
    times       : how often it is in the message
    """

    text: str
    kind: str
    view: str
    nats: float | None
    times: int
    documents: tuple[float, ...]
    occurrences: tuple[float, ...]
    share: Interval | None

    def counts(self) -> list[str]:
        """`documents` as people read them: `1,234`; `6.5` or `0.067` where a prior model has its share."""
        return [f"{n:,.0f}" if n == int(n) else f"{n:,.1f}" if n >= 1 else f"{n:.2g}" for n in self.documents]


class Sum(NamedTuple):
    """Contributions of one kind, added up: a view, the unknown words of a view, base, prior, rest."""

    kind: str
    name: str
    nats: float | None
    clues: int


class Explanation(NamedTuple):
    """Why a message got its verdict.

    sums     : they add up to the log-odds; residual is what rounding left (None where infinite)
    clues    : the loudest first
    interval : 95 % credible interval of the log-odds; None where none is defined
    flip     : the clues whose removal changes the verdict, and to what; None if no few clues do
    """

    verdict: Verdict
    sums: list[Sum]
    residual: float | None
    clues: list[Clue]
    interval: Interval | None
    flip: tuple[list[str], str] | None


def explain(classifier: Classifier, data: bytes, name: str) -> Explanation:
    """Explains the verdict on one message; never raises on what a mail may hold."""
    counted = classifier.counted(data, name)
    verdict = classifier.judge(counted, name)
    shown = verdict.shown
    weights = rest_weights(verdict.scored.scores, shown)
    found = [(part, contribution(part, shown, weights)) for part in verdict.scored.parts]
    sums = _sums(found, weights)
    total = verdict.scored.log_odds(shown)
    residual = None
    if total is not None and isfinite(total):
        residual = fsum([total, *(-one.nats for one in sums if one.nats is not None)])
    return Explanation(
        verdict,
        sums,
        residual,
        _loudest(classifier, [one for one in found if one[0].kind in CLUE_KINDS], shown),
        interval(classifier, verdict),
        _flip(classifier, counted, verdict),
    )


def loudest_clues(classifier: Classifier, verdict: Verdict, top: int) -> list[Clue]:
    """So many of the clues of a verdict, the loudest first."""
    return _loudest(classifier, clue_parts(verdict.scored, verdict.shown), verdict.shown, top)


def interval(classifier: Classifier, verdict: Verdict) -> Interval | None:
    """95 % credible interval of the log-odds, nats; None where it is not defined."""
    if verdict.log_odds is None or not has_evidence(classifier, verdict):
        return None
    deviation = log_odds_deviation(
        classifier.scorer, verdict.scored, verdict.shown, classifier.model.covariance()
    )
    return None if deviation is None else log_odds_interval(verdict.log_odds, deviation)


def has_evidence(classifier: Classifier, verdict: Verdict) -> bool:
    """Whether mail told, and not the prior alone; the sums of the textbook always have some."""
    return bool(verdict.scored.evidence) or not classifier.settings.averaged


def share_interval(classifier: Classifier, documents: tuple[float, ...], shown: int) -> Interval:
    """95 % credible interval of the share of the class among the messages that hold a word."""
    settings = classifier.settings
    return word_share_interval(documents, shown, belief(settings.alpha, settings.averaged))


def _sums(found: Contributions, weights: list[float]) -> list[Sum]:
    """The parts by kind, those of words by view.  weights : those of rest_weights"""
    groups: dict[tuple[str, str], list[float | None]] = {}
    for part, value in found:
        if part.kind == "token":
            key = ("view", VIEW_NAMES[part.view])
        elif part.kind == "feature":
            key = ("features", "features")
        else:
            key = (part.kind, part.text)
        groups.setdefault(key, []).append(value)
    sums = [Sum(kind, name, _total(values), len(values)) for (kind, name), values in groups.items()]
    if len(weights) > 2:
        sums.append(Sum("rest", "choice among the other classes", _minus_entropy(weights), 0))
    return sums


def _total(values: list[float | None]) -> float | None:
    """The sum; None where it has no meaning (a side ruled out and ruled in, or both ruled out)."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or (inf in known and -inf in known):
        return None
    return inf if inf in known else -inf if -inf in known else fsum(known)


def _minus_entropy(weights: list[float]) -> float:
    return fsum(weight * log(weight) for weight in weights if weight > 0)


def _loudest(classifier: Classifier, found: Contributions, shown: int, top: int | None = None) -> list[Clue]:
    order = sorted(found, key=lambda one: (-abs(inf if one[1] is None else one[1]), one[0].text))
    return [_clue(classifier, part, nats, shown) for part, nats in order[:top]]


def _clue(classifier: Classifier, part: ScorePart, nats: float | None, shown: int) -> Clue:
    documents, occurrences = part.counts[::2], part.counts[1::2]
    share = share_interval(classifier, documents, shown) if documents else None
    view = VIEW_NAMES[part.view] if part.view >= 0 else ""
    return Clue(part.text, part.kind, view, nats, part.times, documents, occurrences, share)


def _flip(classifier: Classifier, counted: Counted, verdict: Verdict) -> tuple[list[str], str] | None:
    """The fewest clues found without which the verdict is another, and which.

    What holds a class is what speaks for it, against its strongest rival.  What holds an unsure verdict
    speaks against a class that could win, so both of the two best are tried.
    """
    scores, classes = verdict.scored.scores, classifier.model.classes
    if verdict.label in classes:
        held = [_Held(classes.index(verdict.label), is_decided=True)]
    else:
        best = sorted(range(len(scores)), key=lambda k: -scores[k])[:2]
        held = [_Held(number, is_decided=False) for number in best]
    found = [flip for one in held if (flip := _walk(classifier, counted, verdict, one))]
    return min(found, key=lambda flip: len(flip[0])) if found else None


class _Held(NamedTuple):
    """What holds a verdict: that a class is above its strongest rival, or where it is not decided, below."""

    number: int
    is_decided: bool

    def pair(self, scores: list[float]) -> tuple[int, int]:
        """(the class above, the class below) of which the difference is what holds."""
        rival = max((k for k in range(len(scores)) if k != self.number), key=lambda k: scores[k])
        return (self.number, rival) if self.is_decided else (rival, self.number)


def _walk(
    classifier: Classifier, counted: Counted, verdict: Verdict, held: _Held
) -> tuple[list[str], str] | None:
    """Takes clues away, the one that holds the verdict most first, until it changes.

    At each step the strongest clue of each view is tried and the best of them goes, for in an average the
    strongest need not matter most.  In the sums of the textbook the result is the smallest set there is.
    """
    left = copy.copy(counted)
    left.tokens = [dict(view) for view in counted.tokens]
    removed: list[str] = []
    current = verdict
    while len(removed) < FLIP_CLUES:
        best: tuple[float, str, Counted, Verdict] | None = None
        for text, view in _strongest(current, held):
            trial = _without(classifier, left, text, view)
            judged = classifier.judge(trial, verdict.name)
            support = _support(judged.scored.scores, held)
            if best is None or support < best[0]:
                best = (support, text, trial, judged)
        if best is None:
            return None
        _, text, left, current = best
        removed.append(text)
        if current.label != verdict.label:
            return removed, current.label
    return None


def _support(scores: list[float], held: _Held) -> float:
    """By how much the verdict holds, nats; 0 where both classes are ruled out."""
    above, below = held.pair(scores)
    return 0.0 if scores[above] == scores[below] == -inf else scores[above] - scores[below]


def _strongest(verdict: Verdict, held: _Held) -> list[tuple[str, int]]:
    """Of each view the token that holds the verdict most."""
    above, below = held.pair(verdict.scored.scores)
    best: dict[int, tuple[float, str]] = {}
    for part in verdict.scored.parts:
        a, b = part.values[above], part.values[below]
        if part.kind != "token" or a <= b:
            continue
        if part.view not in best or a - b > best[part.view][0]:
            best[part.view] = (a - b, part.text)
    return [(text, view) for view, (_, text) in best.items()]


def _without(classifier: Classifier, counted: Counted, text: str, view: int) -> Counted:
    """The message without one of its tokens; NOTAWORD stands for all that the model does not know."""
    less = copy.copy(counted)
    less.tokens = list(counted.tokens)
    if text == NOTAWORD and view == NOTAWORD_VIEW:
        known = classifier.model.counts(counted.keys())
        less.tokens = [
            {key: value for key, value in tokens.items() if key in known} for tokens in counted.tokens
        ]
        return less
    less.tokens[view] = {key: value for key, value in counted.tokens[view].items() if key != token_key(text)}
    return less
