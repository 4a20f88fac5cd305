"""Filters that learn message by message: growing counts in arrays over the columns of a block.

Hides how a message is scored without touching more than its own tokens.  The evidence is computed by the
room that scores in bulk, on a block of one row, and the calibration learns as `nbspam learn` does; so
after any number of messages the filter is the one that training on those messages gives.  But for one thing:
until it has met two classes it says what it has met, where `classify` would say nothing.  In a year of ham
before the first spam that ranks each message, and costs the decisions nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.accumulator import select_rows
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.decision import UNDECIDED, Loss, learnable
from nbspam.evaluate.evaluation import Outcome, ShortClue
from nbspam.model import calibration
from nbspam.model.calibration import MAX_COVARIANCE, Learner, first_weights
from nbspam.model.priors import log_priors_of
from nbspam.model.scorer import Scorer
from nbspam.model.views import Background, view_evidence
from nbspam.model.word_models import WordTotals, log_joint, make_word_scorer
from nbspam.settings import Settings
from nbspam.store.learn import MIN_LABELLED
from nbspam.tasks.calibrate import prior_shift
from nbspam.tasks.judge_mail import clues_of, outcome_of
from nbspam.tasks.judges.memory_model import Histograms, MemoryModel, Sums, Whole, bag_of, texts_of
from nbspam.tasks.judges.vocabulary_block import tokens_outside, vocabulary_block
from nbspam.tokens.bag import N_VIEWS

if TYPE_CHECKING:
    from nbspam.model.word_models import Token


class GrowingCounts:
    """The counts of the messages learned so far, and what they sum up to.

    documents, occurrences : int32 (n_classes, n_columns)
    sums                   : the same over whole views, see Sums
    is_fixed               : every column is a word from the start; else those are that were counted
    """

    def __init__(self, n_classes: int, n_columns: int, words: Ints | None = None) -> None:
        """words: of a fixed vocabulary, int64 (N_VIEWS,), columns by view."""
        self.is_fixed = words is not None
        self.documents = np.zeros((n_classes, n_columns), np.int32)
        self.occurrences = np.zeros((n_classes, n_columns), np.int32)
        by_view = (N_VIEWS, n_classes)
        self.sums = Sums(
            np.zeros(n_classes, np.int64),
            np.zeros(N_VIEWS, np.int64) if words is None else words.copy(),
            np.zeros(by_view, np.int64),
            np.zeros(by_view, np.int64),
        )

    def add(self, columns: Whole, counts: Whole, views: Whole, label: int, sign: int = 1) -> None:
        """Count one message, or with sign -1 take it out.

        columns, counts, views : its distinct columns, how often each is in it, and their views
        """
        before = self.known(columns)
        self.documents[label, columns] += sign
        self.occurrences[label, columns] += sign * counts
        changed = views[before != self.known(columns)]
        self.sums.words[:] += sign * np.bincount(changed, minlength=N_VIEWS)
        self.sums.messages[label] += sign
        self.sums.documents[:, label] += sign * np.bincount(views, minlength=N_VIEWS)
        occurrences = np.bincount(views, weights=counts, minlength=N_VIEWS).astype(np.int64)
        self.sums.occurrences[:, label] += sign * occurrences

    def known(self, columns: Whole) -> NDArray[np.bool_]:
        """Which columns are words of the model."""
        return np.asarray(self.documents[:, columns].any(axis=0) | self.is_fixed)


class ReplayFilter:
    """What evaluation.replay drives: message number -> row -> score, and learning.

    vocabulary : its words alone are counted, all other tokens are one NOTAWORD; None: every token
    clues : why, by name, of every message that was decided wrongly
    """

    def __init__(
        self,
        block: Block,
        order: Ints,
        classes: tuple[str, ...],
        settings: Settings,
        loss: Loss,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._block = block
        self._order = order.tolist()
        self._classes = classes
        self._settings = settings.of(classes)
        self._loss = loss
        self._texts = texts_of(block)
        self._counted, words = block, None
        if vocabulary is not None:
            self._counted = vocabulary_block(block, vocabulary)
            words = np.bincount(self._counted.views, minlength=N_VIEWS)
        self._counts = GrowingCounts(len(classes), len(self._counted.keys), words)
        self._histograms: Histograms | None = None
        self.clues: dict[str, tuple[ShortClue, ...]] = {}
        self._begin(vocabulary)

    def _begin(self, vocabulary: Vocabulary | None) -> None:
        """Makes ready what a kind of filter keeps beside the counts."""

    def joint(self, row: int) -> Sequence[float]:
        """Log joints of a row, nats, by what was learned so far."""
        raise NotImplementedError

    def weights(self) -> Sequence[float]:
        """The weights of the calibration; empty where there is none."""
        return ()

    def score(self, message: int) -> Outcome:
        """Judge message number `message` of the replay."""
        block, row = self._block, self._order[message]
        name, truth = block.names[row], int(block.labels[row])
        outcome = outcome_of(self.joint(row), self._classes, self._loss)
        if outcome.decided not in (truth, UNDECIDED):
            self.clues[name] = clues_of(
                self.scorer(), bag_of(block, row, self._texts), name, self._classes, self._loss
            )
        return outcome

    def learn(self, message: int, label: int) -> None:
        """Count message number `message` as a class."""
        row = self._order[message]
        columns, times, views = self._pairs(row)
        if self._histograms:
            self._histograms.add(
                self._counts.documents[:, columns], self._counts.occurrences[:, columns], times, label
            )
        self._counts.add(columns, times, views, label)

    def _pairs(self, row: int) -> tuple[Whole, Whole, Whole]:
        """Columns, counts and views of a message's distinct tokens."""
        block = self._counted
        pairs = slice(block.starts[row], block.starts[row + 1])
        columns = block.columns[pairs]
        return columns, block.counts[pairs], block.views[columns]

    def scorer(self) -> Scorer:
        """The filter as it stands for one message at a time, which tells the clues."""
        model = MemoryModel(
            self._classes,
            self._counted.keys,
            self._counts.documents,
            self._counts.occurrences,
            self._counts.sums,
            self.weights(),
            self._histograms,
            self._counts.is_fixed,
        )
        return Scorer(model, self._settings)


class AveragedReplay(ReplayFilter):
    """Averaged views and a calibration that learns from each message told, before it counts."""

    def _begin(self, vocabulary: Vocabulary | None) -> None:
        self._told = [0] * len(self._classes)
        self._learner = Learner(first_weights(len(self._classes), self._settings.kinds))
        self._latest: tuple[int, list[list[float]], list[float]] = (-1, [], [])
        self._outside = None if vocabulary is None else tokens_outside(self._block, vocabulary)

    def weights(self) -> Sequence[float]:
        return self._learner.weights

    def joint(self, row: int) -> Sequence[float]:
        evidence, common = self.evidence(row)
        self._latest = (row, evidence, common)
        scores = calibration.scores(self._learner.weights, evidence, common)
        if self._settings.prior == "empirical":
            return scores
        shift = prior_shift(self._settings, self._counts.sums.messages, self._classes).tolist()
        return [score + more for score, more in zip(scores, shift, strict=True)]

    def evidence(self, row: int) -> tuple[list[list[float]], list[float]]:
        """What the calibration sees of a row: evidence by class, and what all classes have in common."""
        one = select_rows(self._counted, np.array([row]))
        sums = self._counts.sums
        background = Background(
            self._counts.documents[:, one.columns].astype(np.float64),
            sums.documents.T[:, :, None].astype(np.float64),
            sums.words[:, None].astype(np.float64) + 1.0,
        )
        outside = None if self._outside is None else self._outside[[row]]
        found = view_evidence(one, background, self._settings, outside)
        return found.evidence[0].tolist(), found.common[0].tolist()

    def seen(self, message: int) -> tuple[list[list[float]], list[float]]:
        """The same of message number `message` by what was learned so far."""
        row, evidence, common = self._latest
        if row != self._order[message]:  # told late: others were learned since it was judged
            return self.evidence(self._order[message])
        return evidence, common

    def learn(self, message: int, label: int) -> None:
        if len(self._learner.weights) <= MAX_COVARIANCE:
            evidence, common = self.seen(message)
            self._learner.learn(evidence, common, label, int(self._counts.sums.messages.sum()))
        self._latest = (-1, [], [])
        self._told[label] += 1
        super().learn(message, label)

    def autolearn(self, message: int, outcome: Outcome) -> int:
        """Counts a message as `classify --autolearn` does; the calibration does not learn."""
        label = learnable(outcome.probabilities)
        if label == UNDECIDED or min(self._told) < MIN_LABELLED:
            return UNDECIDED
        super().learn(message, label)
        return label

    def unlearn(self, message: int, label: int) -> None:
        """Takes that back."""
        columns, times, views = self._pairs(self._order[message])
        self._counts.add(columns, times, views, label, -1)
        self._latest = (-1, [], [])


class WordReplay(ReplayFilter):
    """A word model: one sum over the tokens, all unknown ones together as NOTAWORD."""

    def _begin(self, vocabulary: Vocabulary | None) -> None:
        if self._settings.event_model == "bernoulli":
            self._histograms = Histograms("documents", len(self._classes))
        elif self._settings.event_model == "complement" and self._settings.normalise:
            self._histograms = Histograms("complement", len(self._classes))

    def joint(self, row: int) -> Sequence[float]:
        counts, settings = self._counts, self._settings
        n_classes = len(self._classes)
        if not counts.sums.messages.all():
            return [0.0] * n_classes  # until each class was met there is no model
        words = make_word_scorer(settings.event_model, self._totals(), settings.alpha, settings.normalise)
        prior = log_priors_of(settings, counts.sums.messages.tolist(), self._classes)
        return log_joint(words, prior, self._tokens(row))

    def _totals(self) -> WordTotals:
        sums = self._counts.sums
        kept = self._histograms.by_class if self._histograms else ()
        return WordTotals(
            sums.messages.tolist(),
            sums.documents.sum(axis=0).tolist(),
            sums.occurrences.sum(axis=0).tolist(),
            int(sums.words.sum()) + (0 if self._counts.is_fixed else 1),  # NOTAWORD is a column, or none
            kept if self._settings.event_model == "bernoulli" else (),
            kept if self._settings.event_model == "complement" else (),
        )

    def _tokens(self, row: int) -> list[Token]:
        """n_jk, N_jk and how often, of each distinct word of a row; all unknown ones are one NOTAWORD."""
        columns, times, _ = self._pairs(row)
        known = self._counts.known(columns)
        documents = self._counts.documents[:, columns[known]].T.tolist()
        occurrences = self._counts.occurrences[:, columns[known]].T.tolist()
        tokens: list[Token] = [*zip(documents, occurrences, times[known].tolist(), strict=True)]
        outside = int(times[~known].sum())
        if outside:
            nothing = [0] * len(self._classes)
            tokens.append((nothing, nothing, outside))
        return tokens


def replay_filter(
    block: Block,
    order: Ints,
    classes: tuple[str, ...],
    settings: Settings,
    loss: Loss,
    vocabulary: Vocabulary | None = None,
) -> ReplayFilter:
    """The filter of a way of scoring, knowing nothing yet.

    settings : where there is a vocabulary, those of `settings_under`
    """
    kind = AveragedReplay if settings.averaged else WordReplay
    return kind(block, order, classes, settings, loss, vocabulary)
