"""The filters that folds, a holdout and a replay ask for verdicts: they learn rows of a block and score rows.

Nothing is read or tokenised twice.  The scores are those that a model trained on the same messages gives.
"""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from nbspam.corpus.accumulator import KEPT_MESSAGES
from nbspam.corpus.corpus import Corpus
from nbspam.corpus.vocabulary import new_counts
from nbspam.decision import UNDECIDED, Loss, Verdict, learnable
from nbspam.evaluation.outcomes import Outcome, ShortClue
from nbspam.labels import find_spam
from nbspam.learning.autolearn import MIN_LABELLED
from nbspam.model.block import choose_rows, limit_to_words, select_rows
from nbspam.model.calibrate import calibrate_on, choose_ways, score_found, score_new_rows
from nbspam.model.calibration import MAX_COVARIANCE, Learner, first_weights
from nbspam.model.counts import Floats, Ints, MemoryModel
from nbspam.model.posterior import Scored, prior_scores
from nbspam.model.scorer import Scorer
from nbspam.model.textbook import TextbookModel, learn_features
from nbspam.model.views import Evidence, as_counted, compute_evidence
from nbspam.tasks.classify import RowTokens, list_texts
from nbspam.tasks.plan import Plan
from nbspam.tokens import KeyedTokens


class BatchJudge:
    """Learns some of the messages and scores others, all at once.

    corpus : the messages with the tokens that it reads
    """

    def __init__(self, corpus: Corpus, plan: Plan, rows: Ints) -> None:
        """rows : of the corpus, rising: it learns these and no others"""
        self.corpus = corpus = corpus.restrict_to(plan.settings)
        classes = corpus.classes
        n_classes = len(corpus.classes)
        settings = plan.settings.of(corpus.classes)
        learned, features = select_rows(corpus.block, rows), None
        if plan.vocabulary is None:
            counts = learned.count(n_classes)
        else:
            nothing = new_counts(plan.vocabulary, n_classes)
            counts = nothing + limit_to_words(learned, nothing.keys).count(n_classes)
        if settings.features != "words":
            features = learn_features(learned.features, learned.labels, n_classes, settings)
        self._model = TextbookModel(settings, classes, counts, features)
        self._weights = np.zeros(0)  # of the calibration
        if settings.averaged:
            [kept] = choose_rows([learned], KEPT_MESSAGES, counts.messages)
            sample = select_rows(learned, kept)
            samples = [compute_evidence(way(sample, counts), settings) for way in choose_ways(sample)]
            self._weights = calibrate_on(samples).weights

    def score(self, rows: Ints) -> Floats:
        """float64 (n_rows, n_classes), nats, up to a constant a message; -inf is possible."""
        settings, classes, counts, _ = self._model
        judged = select_rows(self.corpus.block, rows)
        if settings.averaged:
            scores = score_new_rows(self._weights, judged, counts, settings, classes)
        else:
            scores = self._model.log_joint(judged)
        scores[~judged.has_words] = prior_scores(settings, counts.messages.tolist(), classes)
        return scores

    def scorer(self) -> Scorer | None:
        """The same filter for one message at a time, which tells the clues; None if it scores numbers too."""
        settings, classes, counts, _ = self._model
        if settings.features != "words":
            return None
        return Scorer(MemoryModel(classes, counts, self._weights.tolist()), settings)


class ReplayJudge:
    """Learns and scores row by row, as `learn` and `classify` do; evaluation.replay drives it.

    After any number of messages it is the filter that training on them gives, with one difference: before
    it has met two classes it gives scores, where `classify` gives none.  In a year of ham before the first
    spam this ranks the messages and changes no decision.

    loss  : what its decisions cost
    clues : why, by name, of every message that was decided wrongly
    """

    def __init__(self, corpus: Corpus, plan: Plan) -> None:
        block, classes = corpus.restrict_to(plan.settings).block, corpus.classes
        self._block, self._classes = block, classes
        self.settings, self.loss = plan.settings.of(classes), plan.costs(classes)
        self._texts = list_texts(block)
        self._counted = block  # the messages over the tokens that are counted
        if plan.vocabulary is None:
            self._counts = select_rows(block, np.zeros(0, np.int64)).count(len(classes))
        else:
            self._counts = new_counts(plan.vocabulary, len(classes))
            self._counted = limit_to_words(block, self._counts.keys)
        self._counted_places = self._counts.places(self._counted.keys)
        self._learner = Learner(first_weights(len(classes), self.settings.kinds))
        self._labelled = [0] * len(classes)
        self._latest: tuple[int, Evidence] | None = None  # row last scored, by the counts as they are
        self.clues: dict[str, tuple[ShortClue, ...]] = {}

    def scorer(self) -> Scorer:
        """The filter as it is now."""
        weights = self._learner.weights if self.settings.averaged else ()
        return Scorer(MemoryModel(self._classes, self._counts, weights), self.settings)

    def seen(self, row: int) -> Evidence:
        """What the calibration sees of a row by what was learned so far."""
        if self._latest is None or self._latest[0] != row:
            counted = as_counted(select_rows(self._block, np.array([row])), self._counts)
            self._latest = row, compute_evidence(counted, self.settings)
        return self._latest[1]

    def joint(self, row: int) -> Sequence[float]:
        """Log joints of a row, nats, by what was learned so far."""
        messages, has_words = self._counts.messages, self._block.has_words[row]
        if self.settings.averaged and has_words:
            seen, weights = self.seen(row), np.array(self._learner.weights)
            judged = select_rows(self._block, np.array([row]))
            [joint] = score_found(weights, seen, judged, self._counts, self.settings, self._classes)
            return [*joint.tolist()]
        if not messages.all():
            return [0.0] * len(self._classes)  # until each class was met there is no model
        if not has_words:
            return prior_scores(self.settings, messages.tolist(), self._classes)
        model = TextbookModel(self.settings, self._classes, self._counts, None)
        return [*model.log_joint(select_rows(self._block, np.array([row])))[0].tolist()]

    def score(self, row: int) -> Outcome:
        """Judges a row."""
        block = self._block
        name = block.names[row]
        truth = int(block.labels[row])
        outcome = make_outcome(self.joint(row), self._classes, self.loss, block.has_words[row])
        if outcome.decided not in (truth, UNDECIDED):
            tokens = RowTokens(block, row, self._texts)
            self.clues[name] = find_clues(self.scorer(), tokens, name, self._classes, self.loss)
        return outcome

    def learn(self, row: int, label: int) -> None:
        """Counts a row as a class; the calibration learns from its scores before that."""
        if self.settings.averaged and len(self._learner.weights) <= MAX_COVARIANCE:
            seen = self.seen(row)
            counted = int(self._counts.messages.sum())
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
        self._counts.add_message(self._counted_places[block.columns[pairs]], block.counts[pairs], label, sign)
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
