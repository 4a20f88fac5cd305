"""A filter trained on some rows of a block, that scores other rows of it at once.

Hides that nothing is read, tokenised or counted twice: what a part of the mail holds is the whole
less the rest, and the scores come from the rooms that `train` and `classify` use.  The scores are
those that a model trained on the same mail gives to each message; a test runs both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from nbspam.engine.accumulator import KEPT_MESSAGES, Table, latest, select_rows
from nbspam.engine.block import Block, Ints
from nbspam.errors import UsageError
from nbspam.models.calibrate import bulk_scores
from nbspam.models.leave_one_out import choose_alpha
from nbspam.models.views import Floats, fixed_background, view_evidence
from nbspam.models.words import WordCounts, log_joint
from nbspam.scoring.priors import log_priors, parse_prior
from nbspam.scoring.scorer import Scorer
from nbspam.settings import WORD_MODELS, Settings
from nbspam.workflow.calibrating import calibrate
from nbspam.workflow.memory_model import MemoryModel, sums_of


class Counts(NamedTuple):
    """Sufficient statistics over the columns of a block.

    documents, occurrences : int64 (n_classes, n_columns);  messages : int64 (n_classes,)
    """

    documents: Ints
    occurrences: Ints
    messages: Ints

    def without(self, other: Counts) -> Counts:
        """These less the counts of some of the messages."""
        return Counts(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


def count_rows(block: Block, n_classes: int) -> Counts:
    """The counts of all labelled rows."""
    return Counts(*block.totals(n_classes), np.bincount(block.labels[block.labels >= 0], minlength=n_classes))


def check_settings(settings: Settings) -> None:
    """Raises for a way of scoring that blocks of words cannot serve."""
    if settings.event_model not in WORD_MODELS:
        raise UsageError(
            f"--event-model {settings.event_model}",
            "scores numeric features, and an evaluation reads words",
            "one of: " + ", ".join(WORD_MODELS),
            "event-model-numeric",
        )


class BulkFilter:
    """Trained on rows of a block.

    block, counts : the whole block, and the counts of the rows trained on
    train         : int64 (n,), those rows, rising
    automatic     : choose lambda on the rows trained on, as `--alpha auto` does
    """

    def __init__(
        self,
        block: Block,
        train: Ints,
        counts: Counts,
        settings: Settings,
        classes: tuple[str, ...],
        automatic: bool = False,
    ) -> None:
        check_settings(settings)
        self._block = block
        self._counts = counts
        self._classes = classes
        self.settings = settings.replaced(alpha=self._best_alpha(train, settings)) if automatic else settings
        sample = latest(select_rows(block, train), KEPT_MESSAGES) if settings.averaged else block
        self._weights, _, _ = calibrate(sample, self._table(), self.settings)

    def _table(self) -> Table:
        block, counts = self._block, self._counts
        return Table(block.keys, block.views, block.texts, counts.documents, counts.occurrences)

    def _best_alpha(self, train: Ints, settings: Settings) -> float:
        rows = select_rows(self._block, train)
        if settings.averaged:
            from nbspam.workflow.alpha import best_averaged_alpha

            return best_averaged_alpha(latest(rows, KEPT_MESSAGES), self._counts.documents, settings)
        counts, matrix = self._word_counts(rows)
        return choose_alpha(
            settings.event_model, counts, matrix, rows.labels.astype(np.int64), normalise=settings.normalise
        )[0]

    def scores(self, rows: Ints) -> Floats:
        """float64 (n_rows, n_classes), nats, up to a constant a message; -inf is possible."""
        judged = select_rows(self._block, rows)
        return self._averaged(judged) if self.settings.averaged else self._words(judged)

    def _averaged(self, judged: Block) -> Floats:
        background = fixed_background(judged, self._counts.documents)
        evidence = view_evidence(judged, background, self.settings.alpha, self.settings.threshold)
        return bulk_scores(self._weights, evidence) + prior_shift(
            self.settings, self._counts.messages, self._classes
        )

    def _words(self, judged: Block) -> Floats:
        settings = self.settings
        counts, matrix = self._word_counts(judged)
        prior = log_priors(
            parse_prior(settings.prior), counts.messages.tolist(), self._classes, settings.alpha
        )
        return log_joint(settings.event_model, counts, matrix, settings.alpha, prior, settings.normalise)

    def _word_counts(self, rows: Block) -> tuple[WordCounts, sparse.csr_matrix]:
        """Counts over the vocabulary of this training, NOTAWORD last; the rows over the same columns."""
        counts = self._counts
        seen = counts.documents.any(axis=0)
        size = int(seen.sum()) + 1
        place = np.where(seen, np.cumsum(seen) - 1, size - 1)
        trained = WordCounts(len(counts.messages), size)
        trained.messages = counts.messages
        trained.documents[:, :-1] = counts.documents[:, seen]
        trained.occurrences[:, :-1] = counts.occurrences[:, seen]
        cells = (rows.counts.astype(np.int64), place[rows.columns], rows.starts)
        matrix = sparse.csr_matrix(cells, shape=(len(rows), size))
        matrix.sum_duplicates()
        return trained, matrix

    def scorer(self) -> Scorer:
        """The same filter for one message at a time, which tells the clues."""
        counts, block = self._counts, self._block
        tables = (counts.documents, counts.occurrences)
        model = MemoryModel(
            self._classes, block.keys, *tables, sums_of(block, *counts), self._weights.tolist()
        )
        return Scorer(model, self.settings)


def prior_shift(settings: Settings, messages: Ints, classes: tuple[str, ...]) -> Floats:
    """float64 (n_classes,), nats: the prior asked for against the one the calibration was learned under."""
    trained = log_priors("empirical", messages.tolist(), classes, 0.0)
    asked = log_priors(parse_prior(settings.prior), messages.tolist(), classes, settings.alpha)
    return np.array(
        [a - t if a != t and t > float("-inf") else 0.0 for a, t in zip(asked, trained, strict=True)]
    )
