"""Why a message gets its verdict: what each clue, view, unknown share and prior adds to the log-odds.

The contributions add up to the log-odds (see Scored.contributions), so an explanation can be checked with a
pencil.  It also has intervals, and the clues whose removal changes the verdict.
"""

from __future__ import annotations

import copy
from math import fsum, log
from typing import TYPE_CHECKING, NamedTuple

from nbspam.decision import UNDECIDED, Loss, Verdict, judge_message
from nbspam.model.posterior import Scored, ScorePart, rest_weights
from nbspam.model.scorer import Scorer, find_same_text
from nbspam.tokens import KeyedTokens
from nbspam.tokens.bag import NOTAWORD, NOTAWORD_KEY, NOTAWORD_VIEW, SIGNATURE_VIEW, VIEW_NAMES, hash_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbspam.model.credible_intervals import CredibleInterval

MAX_REMOVED = 60  # clues, in the search for those that decide
MAX_SCORED = 60_000  # tokens in this search, again and again: half a second


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
    share_interval: CredibleInterval | None
    kind: str


class Sum(NamedTuple):
    """The sum of the contributions of one kind: a view, its unknown words, the constant, the prior."""

    kind: str
    name: str
    log_odds: float | None
    clues: int


class SameText(NamedTuple):
    """Mail that was learned with the text of a message, all of one class.

    label    : its class
    messages : how many there are
    share    : of the message's signature that they have
    keys     : that part of the signature
    decides  : True if the verdict would be another without them
    """

    label: str
    messages: int
    share: float
    keys: list[int]
    decides: bool


class Explanation(NamedTuple):
    """Why a message gets its verdict.

    sums     : they add up to the log-odds
    clues    : the largest contribution first
    interval : 95 % credible interval of the log-odds; None where it is undefined
    flip     : the clues whose removal changes the verdict, and the new label; None if no small set does
    same_text : of the mail with the text of this message that weighs most; None if no text adds to the scores
    """

    verdict: Verdict
    sums: list[Sum]
    clues: list[Clue]
    interval: CredibleInterval | None
    flip: tuple[list[str], str] | None
    same_text: SameText | None


def explain_verdict(scorer: Scorer, message: KeyedTokens, verdict: Verdict) -> Explanation:
    """Why a scorer gives a message this verdict."""
    parts = verdict.scored.contributions(verdict.number)
    return Explanation(
        verdict=verdict,
        sums=_add_up(verdict, parts),
        clues=list_clues(scorer, verdict),
        interval=find_interval(scorer, verdict),
        flip=_flip(scorer, message, verdict),
        same_text=_find_same_text(scorer, message, verdict),
    )


def _find_same_text(scorer: Scorer, message: KeyedTokens, verdict: Verdict) -> SameText | None:
    part = next((part for part in verdict.scored.parts if part.kind == "same-text"), None)
    if part is None:
        return None
    number = part.values.index(max(part.values))
    signature = message.tokens[SIGNATURE_VIEW]
    rows = scorer.model.counts([*signature])
    keys = find_same_text(signature, rows, len(part.values))[number]
    messages = min(rows[key][2 * number] for key in keys)
    rest = Scored([score - nats for score, nats in zip(verdict.scored.scores, part.values, strict=True)], [])
    decides = Verdict("", rest, verdict.classes, verdict.loss, message.has_words).decided != verdict.decided
    return SameText(scorer.model.classes[number], messages, len(keys) / len(signature), keys, decides)


def list_clues(scorer: Scorer, verdict: Verdict, top: int | None = None) -> list[Clue]:
    """The clues of a verdict, the largest contribution first; at most `top`."""
    from nbspam.model.credible_intervals import word_share_interval  # scipy: 0.2 s, 25 MB

    clues = []
    for part, nats in verdict.scored.clues(verdict.number)[:top]:
        view = VIEW_NAMES[part.view] if part.view >= 0 else ""
        counts, occurrences = part.counts[::2], part.counts[1::2]
        share = word_share_interval(counts, verdict.number, scorer.settings) if counts else None
        clues.append(Clue(part.text, view, nats, counts, occurrences, part.times, share, part.kind))
    return clues


def explain_tokens(scorer: Scorer, loss: Loss, tokens: Sequence[tuple[int, int, str]]) -> Explanation:
    """What tokens of the model say: the log-odds of each clue are its log-likelihood ratio.

    tokens : (key, view, text)
    """
    rows = scorer.look_up([key for key, _, _ in tokens])
    counted = [(rows[key], view, text) for key, view, text in tokens if any(rows[key])]
    parts = [ScorePart("token", text, view, scorer.weigh(view, n), n) for n, view, text in counted]
    verdict = Verdict("", Scored(scorer.log_prior, parts), scorer.model.classes, loss)
    return Explanation(verdict, [], list_clues(scorer, verdict), None, None, None)


def find_interval(scorer: Scorer, verdict: Verdict) -> CredibleInterval | None:
    """95 % credible interval of the log-odds, nats; None where it is undefined."""
    if verdict.log_odds is None or verdict.is_prior_alone:
        return None
    from nbspam.model.credible_intervals import log_odds_interval  # scipy

    return log_odds_interval(scorer, verdict.scored, verdict.number)


def _add_up(verdict: Verdict, parts: list[tuple[ScorePart, float | None]]) -> list[Sum]:
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


def _flip(scorer: Scorer, message: KeyedTokens, verdict: Verdict) -> tuple[list[str], str] | None:
    """The smallest set found of clues without which the verdict changes, and the new label.

    An unsure verdict can change to each of the two best classes, so both are tried.
    """
    rows = scorer.model.counts([*message.keys(), NOTAWORD_KEY])
    scorer = copy.copy(scorer)
    scorer.look_up = lambda keys: rows  # what is asked again and again is in memory
    scores = verdict.scored.scores
    first, second = sorted(range(len(scores)), key=lambda k: -scores[k])[:2]
    pairs = [(first, second)] if verdict.decided == first else [(verdict.decided, first)]
    if verdict.decided == UNDECIDED:
        pairs = [(first, second), (second, first)]
    flips = [flip for pair in pairs if (flip := _remove_clues(scorer, message, verdict, *pair))]
    return min(flips, key=lambda flip: len(flip[0]), default=None)


def _remove_clues(
    scorer: Scorer, message: KeyedTokens, verdict: Verdict, loser: int, winner: int
) -> tuple[list[str], str] | None:
    """Remove the strongest clue for one class against another, again and again, until the verdict changes.

    In one sum over two classes the result is the smallest set there is.
    """
    removed: list[str] = []
    now = verdict
    while len(removed) < min(MAX_REMOVED, MAX_SCORED // (len(message.keys()) or 1)):
        tokens = [part for part in now.scored.parts if part.kind == "token"]
        against = [part for part in tokens if part.values[loser] > part.values[winner]]
        if not against:
            return None
        strongest = max(against, key=lambda part: part.values[loser] - part.values[winner])
        message = _remove_token(scorer, message, strongest.text, strongest.view)
        now = judge_message(scorer, message, verdict.loss, verdict.name)
        removed.append(strongest.text)
        if now.label != verdict.label:
            return removed, now.label
    return None


def _remove_token(scorer: Scorer, message: KeyedTokens, text: str, view: int) -> KeyedTokens:
    """The message without one of its tokens; NOTAWORD is every token that the model does not know."""
    rest = copy.copy(message)
    rest.tokens = list(message.tokens)
    if text == NOTAWORD and view == NOTAWORD_VIEW:
        rows = scorer.look_up(message.keys())
        rest.tokens = [{k: value for k, value in tokens.items() if k in rows} for tokens in message.tokens]
    else:
        rest.tokens[view] = dict(message.tokens[view])
        rest.tokens[view].pop(hash_token(text), None)
    return rest
