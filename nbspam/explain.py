"""Why a message gets its verdict: what each clue, view, unknown share and prior adds to the log-odds.

The contributions add up to the log-odds (see Scored.contributions), so an explanation can be checked with a
pencil.  It also has intervals, and the clues whose removal changes the verdict.
"""

from __future__ import annotations

import copy
from math import fsum, inf, isfinite, log
from typing import TYPE_CHECKING, NamedTuple

from nbspam.model.posterior import ScorePart, rest_weights
from nbspam.model.scorer import Counted
from nbspam.store.covariance import read_covariance
from nbspam.tokens.bag import NOTAWORD, NOTAWORD_VIEW, VIEW_NAMES, hash_token

if TYPE_CHECKING:
    from nbspam.filter import Filter, Verdict
    from nbspam.model.features import FeatureFacts

MAX_REMOVED = 60  # clues, in the search for those that decide
Interval = tuple[float, float]


class Clue(NamedTuple):
    """A token or numeric feature of a message and its evidence.

    log_odds       : nats that it adds to the log-odds of the verdict; None if it rules out both sides
    counts         : messages of each class that hold it; () for a feature
    occurrences    : how often it occurs in the mail of each class
    times          : how often it occurs in this message
    share_interval : 95 % credible interval of the share of the verdict's class in the messages that hold it
    kind           : 'token' or 'feature'
    """

    token: str
    view: str
    log_odds: float | None
    counts: tuple[int, ...]
    occurrences: tuple[int, ...]
    times: int
    share_interval: Interval | None
    kind: str


class Sum(NamedTuple):
    """The sum of the contributions of one kind: a view, its unknown words, the constant, the prior."""

    kind: str
    name: str
    log_odds: float | None
    clues: int


class Explanation(NamedTuple):
    """Why a message gets its verdict.

    sums     : they add up to the log-odds
    residual : what rounding left of that sum; None where the log-odds are infinite
    clues    : the largest contribution first
    interval : 95 % credible interval of the log-odds; None where it is undefined
    flip     : the clues whose removal changes the verdict, and the new label; None if no small set does
    features : the numeric features scored, with the nats that each adds (None under AODE, where only their
               sum is known), the largest contribution first
    """

    verdict: Verdict
    sums: list[Sum]
    residual: float | None
    clues: list[Clue]
    interval: Interval | None
    flip: tuple[list[str], str] | None
    features: list[tuple[FeatureFacts, float | None]]


def explanation(judge: Filter, message: Counted, verdict: Verdict) -> Explanation:
    """The explanation of the verdict of a filter on a message."""
    parts = verdict.scored.contributions(verdict.number)
    sums = _sums(verdict, parts)
    total = verdict.scored.log_odds(verdict.number)
    residual = None
    if total is not None and isfinite(total):
        residual = fsum([total, *(-one.log_odds for one in sums if one.log_odds is not None)])
    return Explanation(
        verdict=verdict,
        sums=sums,
        residual=residual,
        clues=clues(judge, verdict),
        interval=interval(judge, verdict),
        flip=_flip(judge, message, verdict),
        features=_features(judge, verdict, parts),
    )


def clues(judge: Filter, verdict: Verdict, top: int | None = None) -> list[Clue]:
    """The clues of a verdict, the largest contribution first; at most `top`."""
    from nbspam.model.credible_intervals import word_share_interval  # scipy: 0.2 s, 25 MB

    found = []
    for part, nats in verdict.scored.clues(verdict.number)[:top]:
        view = VIEW_NAMES[part.view] if part.view >= 0 else ""
        counts, occurrences = part.counts[::2], part.counts[1::2]
        share = word_share_interval(counts, verdict.number, judge.settings) if counts else None
        found.append(Clue(part.text, view, nats, counts, occurrences, part.times, share, part.kind))
    return found


def interval(judge: Filter, verdict: Verdict) -> Interval | None:
    """95 % credible interval of the log-odds, nats; None where it is undefined."""
    if verdict.log_odds is None or verdict.is_prior_alone:
        return None
    from nbspam.model.credible_intervals import log_odds_interval  # scipy

    return log_odds_interval(judge.scorer, verdict.scored, verdict.number, read_covariance(judge.model))


def _features(
    judge: Filter, verdict: Verdict, parts: list[tuple[ScorePart, float | None]]
) -> list[tuple[FeatureFacts, float | None]]:
    scorer, measured = judge.scorer.features, verdict.scored.features
    if scorer is None or not measured:  # none of an empty message
        return []
    nats = {part.text.partition("=")[0]: value for part, value in parts if part.kind == "feature"}
    found = [(facts, nats.get(facts.name)) for facts in scorer.facts(measured)]
    return sorted(found, key=lambda one: -abs(one[1] or 0.0))


def _sums(verdict: Verdict, parts: list[tuple[ScorePart, float | None]]) -> list[Sum]:
    """The contributions by kind, those of tokens by view."""
    groups: dict[tuple[str, str], list[float | None]] = {}
    for part, nats in parts:
        key = (part.kind, part.text)
        if part.kind == "token":
            key = ("view", VIEW_NAMES[part.view])
        elif part.kind == "feature":
            key = ("features", "features")
        groups.setdefault(key, []).append(nats)
    sums = [Sum(kind, name, _add_nats(values), len(values)) for (kind, name), values in groups.items()]
    weights = rest_weights(verdict.scored.scores, verdict.number)
    if len(weights) > 2:
        minus_entropy = fsum(weight * log(weight) for weight in weights if weight > 0)
        sums.append(Sum("rest", "choice among the other classes", minus_entropy, 0))
    return sums


def _add_nats(values: list[float | None]) -> float | None:
    """The sum; None if a side is both ruled out and ruled in, or both sides are ruled out."""
    try:
        return None if None in values else fsum(values)  # type: ignore[arg-type]
    except ValueError:  # inf - inf
        return None


def _flip(judge: Filter, message: Counted, verdict: Verdict) -> tuple[list[str], str] | None:
    """The smallest set found of clues without which the verdict changes, and the new label.

    An unsure verdict can change to each of the two best classes, so both are tried.
    """
    scores = verdict.scored.scores
    numbers = sorted(range(len(scores)), key=lambda k: -scores[k])[:2]
    if verdict.label in judge.classes:
        numbers = [judge.classes.index(verdict.label)]
    found = [flip for number in numbers if (flip := _remove_clues(judge, message, verdict, number))]
    return min(found, key=lambda flip: len(flip[0]), default=None)


def _remove_clues(
    judge: Filter, message: Counted, verdict: Verdict, number: int
) -> tuple[list[str], str] | None:
    """Remove the clue that supports the verdict most, again and again, until the verdict changes.

    number : the class that is decided, or that an unsure message may become
    Each step tries the strongest clue of every view, because the strongest of all need not matter most in an
    average.  In one sum the result is the smallest set there is.
    """

    def rivals(scores: list[float]) -> tuple[int, int]:
        """The class that is to lose, and the one that may win."""
        other = max((k for k in range(len(scores)) if k != number), key=lambda k: scores[k])
        return (number, other) if verdict.label in judge.classes else (other, number)

    def lead(found: Verdict) -> float:
        scores = found.scored.scores
        loser, winner = (scores[k] for k in rivals(scores))
        return 0.0 if loser == winner == -inf else loser - winner

    removed: list[str] = []
    now = verdict
    while len(removed) < MAX_REMOVED:
        tries = []
        for text, view in _find_strongest(now, *rivals(now.scored.scores)):
            rest = _remove_token(judge, message, text, view)
            tries.append((text, rest, judge.judge(rest, verdict.name)))
        if not tries:
            return None
        text, message, now = min(tries, key=lambda one: lead(one[2]))
        removed.append(text)
        if now.label != verdict.label:
            return removed, now.label
    return None


def _find_strongest(verdict: Verdict, first: int, second: int) -> list[tuple[str, int]]:
    """The token of each view that says most for the first class against the second, and the view."""
    best: dict[int, tuple[float, str]] = {}
    for part in verdict.scored.parts:
        a, b = part.values[first], part.values[second]
        if part.kind == "token" and a > b and (part.view not in best or a - b > best[part.view][0]):
            best[part.view] = (a - b, part.text)
    return [(text, view) for view, (_, text) in best.items()]


def _remove_token(judge: Filter, message: Counted, text: str, view: int) -> Counted:
    """The message without one of its tokens; NOTAWORD is every token that the model does not know."""
    rest = copy.copy(message)
    rest.tokens = list(message.tokens)
    if text == NOTAWORD and view == NOTAWORD_VIEW:
        known = judge.model.counts(message.keys())
        rest.tokens = [{k: value for k, value in tokens.items() if k in known} for tokens in message.tokens]
    else:
        rest.tokens[view] = dict(message.tokens[view])
        rest.tokens[view].pop(hash_token(text), None)
    return rest
