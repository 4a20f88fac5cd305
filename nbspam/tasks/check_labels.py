"""Wrong labels in mail: messages under two labels, and labels that the other mail contradicts.

A message is judged by the counts of all mail except its own campaign (near-duplicates), because copies would
vouch for its label, and with a calibration learned from such scores.  Labels are always judged by the
default settings, whatever the model has.  Share of wrong labels found, and of right ones listed:
docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import NamedTuple

import numpy as np

from nbspam.corpus.corpus import Corpus, list_views
from nbspam.corpus.item import Skipped
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.corpus.source import unread_error
from nbspam.decision import UNDECIDED, decide, zero_one_loss
from nbspam.errors import BadDataError
from nbspam.model.block import keep_views, select_rows
from nbspam.model.calibrate import calibrate_on, score_evidence
from nbspam.model.counts import CountsModel, Floats, Ints
from nbspam.model.posterior import log_posteriors
from nbspam.model.scorer import Scorer
from nbspam.model.views import Evidence, compute_evidence, leave_groups_out
from nbspam.settings import ALL_VIEWS, Settings, parse_settings
from nbspam.store.check import find_learned
from nbspam.store.reader import open_model
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tasks.doctor import Finding, note, wrong
from nbspam.tokens import NUMERIC

DOUBT = 0.02  # a label is in doubt if another class has more than 1 - DOUBT: docs/decisions.md
NEARLY_THE_SAME = 0.9  # Jaccard; answers that quote a whole message have less
MIN_OF_CLASS = 20  # messages; of fewer, one wrong label is too large a part
CLUED = 50  # doubts that come with clues
CLUES = 3


class Labelled(NamedTuple):
    """A message and its label."""

    name: str
    label: str


class CountedOtherwise(NamedTuple):
    """A message that the model has counted, but not as its label."""

    name: str
    label: str
    counted: tuple[str, ...]


class Doubt(NamedTuple):
    """A message whose label is likely wrong.

    probability : of the class `other`, by the mail of other campaigns
    clues       : the strongest tokens for it, with their nats
    """

    name: str
    label: str
    other: str
    probability: float
    clues: tuple[tuple[str, float], ...] = ()


class Checked(NamedTuple):
    """The result for some mail.

    same : each message that has two labels
    near : groups of nearly the same message under two labels
    counted_otherwise : messages that the model has counted as another class; None without a model
    in_doubt : likely mislabelled messages, the surest first; None with too few messages
    """

    messages: int
    same: list[tuple[Labelled, ...]]
    near: list[tuple[Labelled, ...]]
    counted_otherwise: list[CountedOtherwise] | None
    in_doubt: list[Doubt] | None


def choose_views(model: str | None) -> frozenset[str]:
    """What must be read of mail: by default, and by the model that may have counted it."""
    wanted = Settings().wanted
    if model is not None:
        with open_model(model) as stored:
            wanted |= parse_settings(stored.settings, model).wanted & {NUMERIC}
    return wanted


def check_labels(corpus: Corpus, model: str | None = None) -> Checked:
    """Look for wrong labels.  model : the path of a sound model that may have counted this mail"""
    digests = corpus.block.digests()
    same = _groups_of_two_labels(corpus, digests)
    certain = {one for group in same for one in group}
    near = [
        group
        for group in _groups_of_two_labels(corpus, group_duplicates(corpus, NEARLY_THE_SAME))
        if certain.isdisjoint(group)
    ]
    otherwise = None if model is None else _counted_otherwise(corpus, model)
    fewest = np.bincount(corpus.truth(), minlength=len(corpus.classes)).min()
    doubts = None
    if len(corpus.classes) > 1 and fewest >= MIN_OF_CLASS:
        doubts = [doubt for doubt in _doubts(corpus) if (doubt.name, doubt.label) not in certain]
    return Checked(len(corpus.block), same, near, otherwise, doubts)


def list_findings(checked: Checked, skipped: Skipped) -> Iterator[Finding]:
    """One line for each kind of wrong label that was found; `checked` has the messages."""
    yield Finding("read", f"{checked.messages:,} messages")
    if skipped:
        error, (path, reason) = unread_error(skipped), skipped[0]
        text = f"{error.why}; the first is {path}: {reason}"
        yield wrong("mail", text, error.remedy, type(error))
    if checked.same:
        text = f"{len(checked.same):,} of {checked.messages:,} messages have two labels"
        remedy = "remove one label, then train again: nbspam train `replace`"
        yield wrong("labels", text, remedy, BadDataError)
    if checked.near:
        text = f"{len(checked.near):,} nearly the same as another under another label"
        yield note("labels", text, "look at both: one label may be wrong")
    if checked.counted_otherwise:
        text = f"{len(checked.counted_otherwise):,} counted in the model as another class than the label"
        remedy = "move it: nbspam learn CLASS FILE; if there are many: nbspam train `replace`"
        yield wrong("counted as", text, remedy, BadDataError)
    if checked.in_doubt:
        text = f"{len(checked.in_doubt):,} likely mislabelled, by the mail of other campaigns"
        yield note("in doubt", text, "look at them; move them, then train again: nbspam train `replace`")
    elif checked.in_doubt is None:
        yield note("in doubt", f"not checked: that takes {MIN_OF_CLASS} messages of each of two classes")


def _groups_of_two_labels(corpus: Corpus, groups: Ints) -> list[tuple[Labelled, ...]]:
    """The messages of each group with more than one label, in the order read."""
    members: dict[int, list[Labelled]] = {}
    for group, name, label in zip(groups.tolist(), corpus.block.names, _labels(corpus), strict=True):
        members.setdefault(group, []).append(Labelled(name, label))
    return [tuple(some) for some in members.values() if len({one.label for one in some}) > 1]


def _labels(corpus: Corpus) -> list[str]:
    return [corpus.classes[number] for number in corpus.truth().tolist()]


def _counted_otherwise(corpus: Corpus, path: str) -> list[CountedOtherwise]:
    with open_model(path) as model:
        read = list_views(parse_settings(model.settings, path).replaced(views=ALL_VIEWS))
        digests = keep_views(corpus.block, read).digests().tolist()
        known, classes = find_learned(model, digests), model.classes
    found = []
    for name, label, digest in zip(corpus.block.names, _labels(corpus), digests, strict=True):
        counted = tuple(classes[number] for number in sorted(known.get(digest, ())))
        if counted and label in classes and label not in counted:
            found.append(CountedOtherwise(name, label, counted))
    return found


def _doubts(corpus: Corpus) -> list[Doubt]:
    block, classes, labels = corpus.block, corpus.classes, _labels(corpus)
    groups, counts = group_duplicates(corpus), block.count(len(classes))
    evidence = compute_evidence(leave_groups_out(block, counts, groups), Settings().of(classes))
    weights, loss = _calibrate(evidence), zero_one_loss(len(classes), DOUBT)
    found = []
    for row, shares in enumerate(_posteriors(weights, evidence)):
        other = decide(shares, loss)
        if other != UNDECIDED and classes[other] != labels[row]:
            found.append((-shares[other], row, other))
    found.sort()
    texts, clues = list_texts(block), {}
    for _, row, other in found[:CLUED]:
        without = counts - select_rows(block, np.flatnonzero(groups == groups[row])).count(len(classes))
        scorer = Scorer(CountsModel(classes, without, weights.tolist()), Settings())
        found_clues = scorer.score(RowTokens(block, row, texts)).clues(other)
        some = [(part.text, nats) for part, nats in found_clues if nats is not None and nats > 0]
        clues[row] = tuple(some[:CLUES])
    return [
        Doubt(block.names[row], labels[row], classes[other], -minus, clues.get(row, ()))
        for minus, row, other in found
    ]


def _calibrate(found: Evidence) -> Floats:
    """Weights learned only from messages whose label agrees with a first calibration.

    Wrong labels would teach it that the evidence is false: with one in ten wrong, it is never sure.
    """
    weights = calibrate_on([found]).weights
    loss = zero_one_loss(found.evidence.shape[2])
    decided = np.array([decide(one, loss) for one in _posteriors(weights, found)])
    return calibrate_on([found.take(decided == found.labels)]).weights


def _posteriors(weights: Floats, evidence: Evidence) -> list[list[float]]:
    """P(class) of each row; scores are finite, so there is one."""
    return [
        [exp(value) for value in log_posteriors(row) or ()]
        for row in score_evidence(weights, evidence).tolist()
    ]
