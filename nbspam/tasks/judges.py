"""The filter that folds, a holdout and a replay ask for verdicts: it learns rows of a corpus and scores rows.

Nothing is read or tokenised twice.  The scores are those that a model trained on the same messages gives.
"""

from collections.abc import Sequence
from functools import cached_property
from math import isfinite

import numpy as np

from nbspam.corpus.accumulator import KEPT_MESSAGES
from nbspam.corpus.corpus import Corpus
from nbspam.corpus.vocabulary import new_counts
from nbspam.decision import UNDECIDED, Loss, Verdict, learnable
from nbspam.evaluation.outcomes import Outcome, ShortClue
from nbspam.labels import find_spam
from nbspam.learning.autolearn import MIN_LABELLED
from nbspam.model.block import Block, choose_rows, limit_to_words, select_rows
from nbspam.model.calibrate import calibrate_on, choose_ways, score_sample, take_sample
from nbspam.model.calibration import MAX_COVARIANCE, Learner, first_weights
from nbspam.model.counts import Floats, Ints, MemoryModel
from nbspam.model.posterior import Scored, prior_scores
from nbspam.model.scorer import Scorer
from nbspam.model.textbook import TextbookModel, learn_features
from nbspam.model.views import Evidence, as_counted, compute_evidence
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tasks.plan import Plan
from nbspam.tokens import KeyedTokens

NO_ROWS = np.zeros(0, np.int64)


class CorpusJudge:
    """Learns rows of a corpus, at once or one after another as `learn` does; scores rows as `classify` does.

    After any number of messages it is the filter that training on them gives, with one difference: before
    it has met two classes it gives scores, where `classify` gives none.  In a year of ham before the first
    spam this ranks the messages and changes no decision.

    loss  : what its decisions cost
    clues : why, by name, of every message that `score` decided wrongly
    """

    def __init__(self, corpus: Corpus, plan: Plan, rows: Ints = NO_ROWS) -> None:
        """rows : of the corpus, rising: it begins with these, and with the calibration that suits them"""
        self.corpus = corpus.restrict_to(plan.settings)
        self._block, self._classes, n_classes = self.corpus.block, corpus.classes, len(corpus.classes)
        self.settings, self.loss = plan.settings.of(corpus.classes), plan.costs(corpus.classes)
        learned, features = select_rows(self._block, rows), None
        self._counted = self._block  # the messages over the tokens that are counted
        if plan.vocabulary is None:
            counts = learned.count(n_classes)
        else:
            nothing = new_counts(plan.vocabulary, n_classes)
            self._counted = limit_to_words(self._block, nothing.keys)
            counts = nothing + select_rows(self._counted, rows).count(n_classes)
        if self.settings.features != "words":
            features = learn_features(learned.features, learned.labels, n_classes, self.settings)
        self._model = TextbookModel(self.settings, self._classes, counts, features)
        self._learner = self._calibrate(learned) if self.settings.averaged else None
        self._labelled = [0] * n_classes
        self._latest: tuple[Ints, Evidence] | None = None  # rows last scored, by the counts as they are
        self.clues: dict[str, tuple[ShortClue, ...]] = {}

    def _calibrate(self, learned: Block) -> Learner:
        """The calibration of messages that were counted."""
        prior = first_weights(len(self._classes), self.settings.kinds)
        if not len(learned):
            return Learner(prior)
        counts = self._model.counts
        [kept] = choose_rows([learned], KEPT_MESSAGES, counts.messages)
        sample = select_rows(learned, kept)
        ways = choose_ways(sample, counts)
        samples = [take_sample(way, sample, counts, self.settings) for way in ways]
        return Learner(prior, calibrate_on(samples, self.settings.kinds))

    @cached_property
    def _texts(self) -> list[bytes]:
        """Of all columns."""
        return list_texts(self._block)

    @cached_property
    def _counted_places(self) -> Ints:
        """Of the tokens that are counted."""
        return self._model.counts.places(self._counted.keys)

    def scorer(self) -> Scorer:
        """The filter of words as it is now, for one message at a time."""
        weights = self._learner.weights if self._learner else ()
        return Scorer(MemoryModel(self._classes, self._model.counts, weights), self.settings)

    def seen(self, rows: Ints) -> Evidence:
        """What the calibration sees of rows by what was learned so far."""
        if self._latest is None or not np.array_equal(self._latest[0], rows):
            counted = as_counted(select_rows(self._block, rows), self._model.counts)
            self._latest = rows, compute_evidence(counted, self.settings)
        return self._latest[1]

    def joints(self, rows: Ints) -> Floats:
        """float64 (n_rows, n_classes), nats, up to a constant a message; -inf is possible."""
        counts, judged = self._model.counts, select_rows(self._block, rows)
        without_model = [0.0] * len(self._classes)  # until each class was met
        is_complete = counts.messages.all()
        if self._learner:
            weights = np.array(self._learner.weights)
            joints = score_sample(weights, self.seen(rows), judged, counts, self.settings, self._classes)
        else:
            joints = self._model.log_joint(judged) if is_complete else np.tile(without_model, (len(rows), 1))
        prior = prior_scores(self.settings, counts.messages.tolist(), self._classes)
        joints[~judged.has_words] = prior if is_complete else without_model
        return joints

    def score(self, row: int) -> Outcome:
        """Judge a row."""
        name, truth = self._block.names[row], int(self._block.labels[row])
        [joint] = self.joints(np.array([row])).tolist()
        outcome = make_outcome(joint, self._classes, self.loss, self._block.has_words[row])
        if outcome.decided not in (truth, UNDECIDED):
            tokens = RowTokens(self._block, row, self._texts)
            self.clues[name] = find_clues(self.scorer(), tokens, name, self._classes, self.loss)
        return outcome

    def learn(self, row: int, label: int) -> None:
        """Counts a row as a class; the calibration learns from its scores before that."""
        if self._learner and len(self._learner.weights) <= MAX_COVARIANCE:
            seen = self.seen(np.array([row]))
            counted = int(self._model.counts.messages.sum())
            evidence, common = seen.evidence[0].tolist(), seen.common[0].tolist()
            self._learner.learn(evidence, common, label, counted)
        self._labelled[label] += 1
        self._count(row, label, 1)

    def autolearn(self, row: int, outcome: Outcome) -> int:
        """Count a row as an autolearning filter does; the calibration does not learn."""
        label = learnable(outcome.probabilities) if self._block.has_words[row] else UNDECIDED
        if label == UNDECIDED or min(self._labelled) < MIN_LABELLED:
            return UNDECIDED
        self._count(row, label, 1)
        return label

    def unlearn(self, row: int, label: int) -> None:
        """Takes that back."""
        self._count(row, label, -1)

    def _count(self, row: int, label: int, sign: int) -> None:
        block = self._counted
        pairs = slice(block.starts[row], block.starts[row + 1])
        places = self._counted_places[block.columns[pairs]]
        self._model.counts.add_message(places, block.counts[pairs], label, sign)
        self._latest = None


def make_outcome(joint: Sequence[float], classes: tuple[str, ...], loss: Loss, has_words: bool) -> Outcome:
    """The outcome of a message with these log joints, nats: what its verdict is.

    An undefined posterior (alpha = 0 rules every class out) gives each class the same probability.
    """
    verdict = Verdict("", Scored([*joint], []), classes, loss, has_words)
    odds = None if find_spam(classes) is None else verdict.log_odds
    shares = verdict.shares or [1.0 / len(classes)] * len(classes)
    return Outcome(verdict.decided, odds, tuple(shares))


def find_clues(
    scorer: Scorer, counted: KeyedTokens, name: str, classes: tuple[str, ...], loss: Loss
) -> tuple[ShortClue, ...]:
    """The tokens with most weight, each with its nats: for spam, or the class decided if none is spam.

    Without those that alone rule a class out, as at alpha = 0: JSON has no number for them.
    """
    clues = Verdict(name, scorer.score(counted), classes, loss).clues
    return tuple([ShortClue(token, nats) for token, nats in clues if isfinite(nats)])
