"""The Bayes decision: losses as people write them, conditional risks, the action of least risk, the verdict.

This is the only place that compares a score with a cut-off: to be cautious or bold, give other losses.
A Verdict follows from the scores of a message by one rule, however many messages were scored at once.

Ties go to the safer side: class 0 (ham, if there is ham) before unsure, unsure before the other classes, and
those in class order (spam last).  An undefined posterior is unsure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import exp, fsum, inf, isfinite, log

from nbspam.errors import BadDataError, NbspamError, NoInputError, UsageError
from nbspam.labels import CLASS_OF_SENDER, HAM_AND_SPAM, UNSURE, find_spam
from nbspam.model.posterior import Scored
from nbspam.model.scorer import Scorer
from nbspam.tokens import KeyedTokens

CLUES = 10  # of a verdict; an explanation has all
LEARNABLE = 0.82  # probability, log-odds of 1.5: docs/decisions.md, "Autolearn"
UNDECIDED = -1  # the number of the reject action; the classes are 0 .. K-1
LOST_HAM_COST = 9.0  # of a message called spam wrongly; every other error costs 1
ZERO_ONE = "0-1"  # the loss of textbooks, as people write it
COSTS = {"fp": "FP", "fn": "FN", "unsure": UNSURE}
COSTS_REMEDY = "for example: FP=10,FN=1,unsure=0.2 (FP: ham called spam; FN: spam called ham)"
MATRIX_REMEDY = "a header of class names, then a line NAME COST COST ... for each class; see docs/models.md"


class Loss:
    """A loss matrix; no wrong decision costs less than the right one.

    rows   : the K costs of each action, finite and >= 0: of the K classes, then of unsure if it is allowed;
             rows[i][j] is the cost of deciding i if class j is true
    stored : the settings by which a model file keeps it, see load_loss; empty for one that nobody wrote
    """

    __slots__ = ("rows", "stored")

    def __init__(self, rows: Iterable[Iterable[float]], stored: dict[str, str] | None = None) -> None:
        self.rows = tuple(tuple(map(float, row)) for row in rows)
        self.stored = stored or {}

    @property
    def allows_unsure(self) -> bool:
        """True if there is a reject action."""
        return len(self.rows) > len(self.rows[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loss) and self.rows == other.rows


def zero_one_loss(n_classes: int) -> Loss:
    """Every error costs 1, so the most probable class is decided."""
    rows = [[i != j for j in range(n_classes)] for i in range(n_classes)]
    return Loss(rows, {"loss": ZERO_ONE})


def default_loss(classes: Sequence[str]) -> Loss:
    """To call a message spam wrongly costs 9, every other error 1; without a class spam 0-1.

    With ham and spam a message is spam above P = 0.9.  Source: lambda = 9 of Androutsopoulos et al. 2000.
    """
    rows = [*zero_one_loss(len(classes)).rows]
    spam = find_spam(tuple(classes))
    if spam is not None:
        rows[spam] = tuple([LOST_HAM_COST * cost for cost in rows[spam]])
    return Loss(rows)


def describe_loss(loss: Loss, classes: Sequence[str]) -> str:
    """What the costs do, in words for people."""
    if loss == zero_one_loss(len(classes)):
        return "every error costs 1, so the most probable class is chosen"
    if tuple(classes) != HAM_AND_SPAM:
        is_default = loss == default_loss(classes)
        why = f"to call a message spam wrongly costs {LOST_HAM_COST:g}, every other error 1"
        return why if is_default else "the costs of its own loss matrix"
    (_, missed), (lost, _), *unsure = loss.rows
    prices = [f"a lost wanted message costs {lost:g}", f"a missed spam {missed:g}"]
    for costs in unsure:
        prices.append(f"an unsure message {' or '.join(dict.fromkeys(f'{cost:g}' for cost in costs))}")
    ham, spam = (1 / (1 + exp(-nats)) for nats in cutoffs(loss))
    ends = f"spam above P = {spam:.3g}" + (f", ham up to {ham:.3g}" if ham < spam else "")
    return f"{', '.join(prices)}: {ends}"


def risks(probabilities: Sequence[float], loss: Loss) -> list[float]:
    """Conditional risk R(i | x) = sum_j loss_ij P(j | x) of each class, then of unsure if it is allowed.

    Source: Duda, Hart and Stork 2001, eq. 2.11 (section 2.2).
    """
    return [fsum(cost * p for cost, p in zip(row, probabilities, strict=True)) for row in loss.rows]


def decide(probabilities: Sequence[float] | None, loss: Loss) -> int:
    """The number of the class of least conditional risk, or UNDECIDED (also for an undefined posterior)."""
    if probabilities is None:
        return UNDECIDED
    by_action = risks(probabilities, loss)
    least = min(by_action)
    if by_action[0] == least:
        return 0
    if loss.allows_unsure and by_action[-1] == least:
        return UNDECIDED
    return by_action.index(least)


class Verdict:
    """What a filter decides about one message.

    name          : of the message
    label         : the class decided, or 'unsure'
    decided       : the number of the class decided, or UNDECIDED
    shares        : the probability of each class, by number; None where undefined
    probability   : of spam if there is such a class, else of the label; None where undefined
    log_odds      : the same in nats, unrounded; None where infinite or undefined
    number        : of the class that probability and log_odds are about
    scored        : the scores and their parts
    classes       : the names of the classes in class order
    loss          : the costs by which it decided
    sender        : "allowed" or "denied" if the user's list of senders decided, else empty; the probability
                    and the log-odds are those of the words
    sender_name   : the entry that did
    error         : None; see Unread
    """

    sender = sender_name = ""
    error = None

    def __init__(
        self, name: str, scored: Scored, classes: tuple[str, ...], loss: Loss, has_words: bool = True
    ) -> None:
        """has_words : False for a message that is unsure, whatever its scores; see KeyedTokens"""
        self.name = name
        self.scored = scored
        self.classes = classes
        self.loss = loss
        logs = scored.posteriors
        self.shares = None if logs is None else [exp(value) for value in logs]
        action = decide(self.shares, loss)
        number = find_spam(classes)
        if number is None:
            number = scored.scores.index(max(scored.scores)) if action == UNDECIDED else action
        self.number = number
        self.decided = action if has_words else UNDECIDED
        self.label = UNSURE if self.decided == UNDECIDED else classes[self.decided]
        self.probability = None if self.shares is None else self.shares[number]
        odds = scored.log_odds(number)
        self.log_odds = odds if odds is not None and isfinite(odds) else None

    def follow(self, decision: str, name: str) -> None:
        """Decide as the user's list of senders says, if there is a class for it.

        decision : of nbspam.senders.judge_sender;  name : the entry that decides
        """
        label = CLASS_OF_SENDER.get(decision)
        if label in self.classes:
            self.sender, self.sender_name = decision, name
            self.label, self.decided = label, self.classes.index(label)

    def is_spammier(self, other: Verdict) -> bool:
        """True if this says more for spam than another verdict; False if there is no such class."""
        spam = find_spam(self.classes)
        if spam is None:
            return False
        odds, others = self.scored.log_odds(spam), other.scored.log_odds(spam)
        return odds is not None and (others is None or odds > others)

    @property
    def probabilities(self) -> dict[str, float] | None:
        """class -> probability; None where undefined."""
        return None if self.shares is None else dict(zip(self.classes, self.shares, strict=True))

    @property
    def risks(self) -> dict[str, float] | None:
        """action -> conditional risk: the classes, then 'unsure' if allowed; None where undefined."""
        if self.shares is None:
            return None
        return dict(zip((*self.classes, UNSURE), risks(self.shares, self.loss), strict=False))

    @property
    def clues(self) -> list[tuple[str, float]]:
        """The tokens with the largest contributions to the log-odds: (token, nats)."""
        clues = self.scored.clues(self.number)
        return [(part.text, nats) for part, nats in clues if nats is not None][:CLUES]

    @property
    def is_prior_alone(self) -> bool:
        """True if nothing in the message or the model speaks for a class."""
        parts = self.scored.parts
        return bool(parts) and all(part.kind == "prior" for part in parts)

    @property
    def may_teach(self) -> bool:
        """False if nothing speaks for a class, or if the user's list of senders decided."""
        return not (self.is_prior_alone or self.sender)

    def __repr__(self) -> str:
        return f"Verdict({self.label!r}, probability={self.probability}, log_odds={self.log_odds})"


class Unread:
    """In place of the verdict on a message that could not be read: no label, everything else undefined.

    name  : of the message
    error : why it could not be read
    """

    label = sender = sender_name = ""
    probability = log_odds = probabilities = risks = None
    clues: tuple[tuple[str, float], ...] = ()

    def __init__(self, error: NbspamError) -> None:
        self.name, self.error = error.where, error

    def __repr__(self) -> str:
        return f"Unread({str(self.error)!r})"


def judge_message(scorer: Scorer, message: KeyedTokens, loss: Loss, name: str = "") -> Verdict:
    """The verdict on a message whose tokens are counted."""
    return Verdict(name, scorer.score_or_prior(message), scorer.model.classes, loss, message.has_words)


def learnable(probabilities: Sequence[float] | None) -> int:
    """The class that a filter may count a message in by its own verdict, or UNDECIDED.

    Losses do not matter here.  They move the cut-off, and a filter that learns fewer messages of one class
    would then count the words of both classes for the other.
    """
    if probabilities is None:
        return UNDECIDED
    best = max(probabilities)
    return probabilities.index(best) if best >= LEARNABLE else UNDECIDED


def cutoffs(loss: Loss) -> tuple[float, float]:
    """The same decision on the log-odds of spam, nats: ham at or below the first, spam above the second.

    The loss is of two classes; class 1 is spam.

    With odds o = P(spam) / P(ham): spam beats ham where o (l01 - l11) > l10 - l00, spam beats unsure where
    o (u1 - l11) > l10 - u0, and ham is at least as good as unsure where o (l01 - u1) <= u0 - l00.
    """
    (l00, l01), (l10, l11), *unsure = loss.rows
    even = _log_ratio(l10 - l00, l01 - l11)
    if not unsure:
        return even, even
    [(u0, u1)] = unsure
    return min(even, _log_ratio(u0 - l00, l01 - u1)), max(even, _log_ratio(l10 - u0, u1 - l11))


def _log_ratio(numerator: float, denominator: float) -> float:
    """log of the odds above which o * denominator > numerator; +-inf where all or no odds are."""
    if numerator <= 0 < denominator or numerator < 0:
        return -inf
    if denominator <= 0:
        return inf
    ratio = numerator / denominator
    return log(ratio) if 0 < ratio < inf else log(numerator) - log(denominator)


def read_loss(
    given: str | os.PathLike[str] | None, classes: tuple[str, ...], is_textbook: bool = False
) -> Loss | None:
    """The losses that people write: costs or a path; for None 0-1 (textbook) or None."""
    if given is None:
        return zero_one_loss(len(classes)) if is_textbook else None
    text = os.fspath(given)
    if "=" in text or text in ("", ZERO_ONE):
        return parse_loss(text, classes)
    return parse_matrix(_read_matrix(text), classes, text)


def load_loss(
    settings: Mapping[str, str], classes: tuple[str, ...], where: str, is_textbook: bool = False
) -> Loss:
    """The losses that a model file keeps: costs or the text of a matrix file; else the default."""
    if "loss" in settings:
        return parse_loss(settings["loss"], classes)
    if "loss_matrix" in settings:
        return parse_matrix(settings["loss_matrix"], classes, where)
    return zero_one_loss(len(classes)) if is_textbook else default_loss(classes)


def parse_loss(text: str, names: Sequence[str] = HAM_AND_SPAM) -> Loss:
    """0-1, or costs for ham and spam: FP and FN (1 if missing), and unsure (if missing, always decide)."""
    if text == ZERO_ONE:
        return zero_one_loss(len(names))
    if tuple(names) != HAM_AND_SPAM:
        why = f"FP and FN are for ham and spam; the classes of this model are: {', '.join(names)}"
        raise UsageError(text, why, f"give a file: {MATRIX_REMEDY}", "loss-classes", option="loss")
    costs: dict[str, float] = {}
    try:
        for item in text.split(","):
            name, _, number = item.partition("=")
            costs[COSTS[name.strip().lower()]] = _cost(number)
    except (KeyError, ValueError):
        why = f"{item.strip()!r} is not a cost"
        raise UsageError(text, why, COSTS_REMEDY, "loss", option="loss") from None
    rows = [(0.0, costs.get("FN", 1.0)), (costs.get("FP", 1.0), 0.0)]
    if UNSURE in costs:
        rows.append((costs[UNSURE], costs[UNSURE]))
    return Loss(rows, {"loss": text})


def _cost(text: str) -> float:
    """ValueError unless it is a finite number >= 0."""
    value = float(text)
    if not 0 <= value < inf:
        raise ValueError(text)
    return value


def _read_matrix(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return file.read()
    except OSError as error:
        remedy = "check the path, or give costs: FP=10,FN=1,unsure=0.2"
        raise NoInputError(path, error.strerror or "cannot be read", remedy, "no-input") from None


def parse_matrix(text: str, names: Sequence[str], where: str = "loss matrix") -> Loss:
    """A loss matrix for the classes `names`, in class order whatever the order in the text.

    Blank lines and lines that begin with # are skipped.  A header line has the class names; then comes a line
    for each action: the class decided (or unsure), and its cost for each true class of the header.  Tabs
    separate the columns if the text has a tab, else white space.
    """
    separator = "\t" if "\t" in text else None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    head, *rows = [[cell.strip() for cell in line.split(separator)] for line in lines] or [[]]
    truths, actions = [cell for cell in head if cell], [row[0] for row in rows]
    try:
        costs = {row[0]: dict(zip(truths, map(_cost, row[1:]), strict=True)) for row in rows}
    except ValueError:
        raise _matrix_error(where, "a row has not one cost, a finite number >= 0, for each class") from None
    with_unsure = [*names, *([UNSURE] if UNSURE in costs else [])]
    if sorted(truths) != sorted(names) or sorted(actions) != sorted(with_unsure):
        raise _matrix_error(where, f"its rows and columns are not the classes, each once: {', '.join(names)}")
    loss = Loss([[costs[action][truth] for truth in names] for action in with_unsure], {"loss_matrix": text})
    if any(row[k] < loss.rows[k][k] for row in loss.rows for k in range(len(names))):
        raise _matrix_error(where, "a wrong decision costs less than the right one")
    return loss


def _matrix_error(where: str, why: str) -> BadDataError:
    return BadDataError(where, why, MATRIX_REMEDY, "loss-matrix")
