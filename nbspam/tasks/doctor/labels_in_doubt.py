"""Labelled mail -> labels that contradict each other, and labels that are likely wrong.

Hides how a message is judged by mail that cannot vouch for it: by the counts of all of SOURCE less those of
its own campaign (near-duplicates, as in `nbspam tune`), and by a calibration learned from just such scores.
Whatever way of scoring a model has, labels are judged by the default one.  How many of the wrong labels this
finds, and how many right ones it lists: docs/decisions.md.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from nbspam.corpus.corpus import Corpus, views_read
from nbspam.decision import UNDECIDED, decide, zero_one_loss
from nbspam.filter import clues_for
from nbspam.model.block import only_views, select_rows
from nbspam.model.calibrate import bulk_scores, calibrate_on
from nbspam.model.counts import Counts, CountsModel, Floats, Ints
from nbspam.model.posterior import log_posteriors
from nbspam.model.scorer import Scorer
from nbspam.model.views import Evidence, leave_groups_out, view_evidence
from nbspam.settings import ALL_VIEWS, Settings, from_text
from nbspam.store.inspect import learned_as
from nbspam.store.reader import open_model
from nbspam.tasks.evaluate import duplicate_groups
from nbspam.tasks.judges import RowTokens, texts_of
from nbspam.tokens import NUMERIC

DOUBT = 0.02  # a label is in doubt where another class has more than 1 - DOUBT: docs/decisions.md
NEARLY_THE_SAME = 0.9  # Jaccard; below it are answers that quote a whole message
MIN_OF_CLASS = 20  # messages; of fewer, one wrong label is too large a part to be told from the others
CLUED = 50  # labels in doubt whose clues are told, the surest
CLUES = 3

Clue = tuple[str, float]


class Labelled(NamedTuple):
    """A message and what it is labelled."""

    name: str
    label: str


class Moved(NamedTuple):
    """A message that the model has counted in other classes than that of its label."""

    name: str
    label: str
    counted: tuple[str, ...]


class Doubt(NamedTuple):
    """A message whose label is likely wrong.

    probability : of the class `other`, by the mail of other campaigns
    clues       : the tokens that speak loudest for it, with their nats
    """

    name: str
    label: str
    other: str
    probability: float
    clues: tuple[Clue, ...] = ()


class Checked(NamedTuple):
    """What is to be said of the labels of some mail.

    same   : the same message under two labels, a tuple a message
    near   : nearly the same message under two labels
    moved  : messages that the model has counted as another class; None: it was not asked
    doubts : likely mislabelled messages, the surest first; None: too few messages to tell
    """

    messages: int
    same: list[tuple[Labelled, ...]]
    near: list[tuple[Labelled, ...]]
    moved: list[Moved] | None
    doubts: list[Doubt] | None


def asked_for(model: str | None) -> frozenset[str]:
    """What is to be read of mail: what the default way of scoring reads, and what the model knows mail by."""
    default = Settings().wanted
    return default if model is None else default | (_settings(model).wanted & {NUMERIC})


def check_labels(corpus: Corpus, model: str | None = None) -> Checked:
    """Looks for wrong labels.  model : a sound model that may have counted this mail; None: there is none"""
    digests = corpus.block.digests()
    same = _groups_of_two_labels(corpus, np.unique(digests, return_inverse=True)[1])
    near = _groups_of_two_labels(corpus, duplicate_groups(corpus, NEARLY_THE_SAME), but=same)
    moved = None if model is None else _moved(corpus, model)
    fewest = np.bincount(corpus.truth(), minlength=len(corpus.classes)).min()
    doubts = None
    if len(corpus.classes) > 1 and fewest >= MIN_OF_CLASS:
        certain = {one for names in same for one in names}
        doubts = [doubt for doubt in _doubts(corpus) if (doubt.name, doubt.label) not in certain]
    return Checked(len(corpus.block), same, near, moved, doubts)


def _settings(model: str) -> Settings:
    stored = open_model(model)
    try:
        return from_text(stored.settings, model)
    finally:
        stored.close()


def _groups_of_two_labels(
    corpus: Corpus, groups: Ints, but: list[tuple[Labelled, ...]] | None = None
) -> list[tuple[Labelled, ...]]:
    """The messages of each group that has more than one label, in the order read.

    but : groups of which all is told
    """
    truth = corpus.truth()
    labels_of = np.unique(np.stack([groups, truth]), axis=1)[0]
    numbers, times = np.unique(labels_of, return_counts=True)
    names = [Labelled(name, corpus.classes[k]) for name, k in zip(corpus.block.names, truth, strict=True)]
    rows_of = sorted(np.flatnonzero(groups == number).tolist() for number in numbers[times > 1])
    found = [tuple(names[row] for row in rows) for rows in rows_of]
    known = {one for some in but or () for one in some}
    return [some for some in found if known.isdisjoint(some)]


def _moved(corpus: Corpus, model: str) -> list[Moved]:
    stored = open_model(model)
    try:
        settings = from_text(stored.settings, model)
        read = views_read(settings.replaced(views=ALL_VIEWS))
        digests = only_views(corpus.block, read).digests().tolist()
        known = learned_as(stored, digests)
        labels = [corpus.classes[number] for number in corpus.truth().tolist()]
        found = []
        for name, label, digest in zip(corpus.block.names, labels, digests, strict=True):
            counted = tuple(stored.classes[number] for number in sorted(known.get(digest, ())))
            if counted and label in stored.classes and label not in counted:
                found.append(Moved(name, label, counted))
        return found
    finally:
        stored.close()


class _Bench(NamedTuple):
    """What the labels are judged by.  groups : the campaign of each row"""

    corpus: Corpus
    counts: Counts
    groups: Ints
    weights: Floats


def _doubts(corpus: Corpus) -> list[Doubt]:
    groups, counts = duplicate_groups(corpus), corpus.block.count(len(corpus.classes))
    evidence = view_evidence(leave_groups_out(corpus.block, counts, groups), Settings().of(corpus.classes))
    truth = corpus.truth()
    weights = _calibration(evidence)
    loss = zero_one_loss(len(corpus.classes), DOUBT)
    found: list[tuple[float, int, int]] = []
    for row, (probabilities, label) in enumerate(
        zip(_judged(weights, evidence), truth.tolist(), strict=True)
    ):
        other = decide(probabilities, loss)
        if other not in (label, UNDECIDED):
            found.append((-probabilities[other], row, other))
    return _told(_Bench(corpus, counts, groups, weights), sorted(found))


def _calibration(found: Evidence) -> Floats:
    """Weights learned from the messages whose label is the most probable class by all of them.

    Wrong labels would teach it that the evidence lies: where one in ten is wrong, no class ever is sure.
    """
    weights = calibrate_on([found]).weights
    loss = zero_one_loss(found.evidence.shape[2])
    decided = np.array([decide(one, loss) for one in _judged(weights, found)])
    return calibrate_on([found.take(decided == found.labels)]).weights


def _judged(weights: Floats, evidence: Evidence) -> list[list[float]]:
    """The posterior of each row; scores are finite, so there is one."""
    return [
        [exp(value) for value in log_posteriors(row) or ()] for row in bulk_scores(weights, evidence).tolist()
    ]


def _told(bench: _Bench, found: list[tuple[float, int, int]]) -> list[Doubt]:
    """(- probability, row, other class) -> doubts, the first of them with clues."""
    block, classes, truth = bench.corpus.block, bench.corpus.classes, bench.corpus.truth()
    texts = texts_of(block) if found else []
    doubts = []
    for place, (minus_probability, row, other) in enumerate(found):
        label = classes[truth[row]]
        clues = _clues(bench, row, other, texts) if place < CLUED else ()
        doubts.append(Doubt(block.names[row], label, classes[other], -minus_probability, clues))
    return doubts


def _clues(bench: _Bench, row: int, other: int, texts: list[bytes]) -> tuple[Clue, ...]:
    """What speaks loudest for the other class, by the counts without the message's campaign."""
    block, classes = bench.corpus.block, bench.corpus.classes
    campaign = np.flatnonzero(bench.groups == bench.groups[row])
    counts = bench.counts - select_rows(block, campaign).count(len(classes))
    model = CountsModel(classes, counts, bench.weights.tolist())
    scored = Scorer(model, Settings()).score(RowTokens(block, row, texts))
    clues = [clue for clue in clues_for(scored, other) if clue[1] > 0]
    return tuple(sorted(clues, key=lambda clue: (-clue[1], clue[0]))[:CLUES])
