"""A filter trained on some rows of a block, that scores other rows of it at once.

Hides that nothing is read, tokenised or counted twice: what a part of the mail holds is the whole
less the rest, and the scores come from the rooms that `train` and `classify` use.  The scores are
those that a model trained on the same mail gives to each message; a test runs both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nbspam.corpus.accumulator import KEPT_MESSAGES, Table, representative_rows, select_rows
from nbspam.corpus.block import Block, Ints
from nbspam.model.calibrate import bulk_scores
from nbspam.model.scorer import Scorer
from nbspam.model.textbook import TextbookModel, count_textbook
from nbspam.model.views import Floats, fixed_background, view_evidence
from nbspam.settings import Settings
from nbspam.tasks.alpha import best_averaged_alpha
from nbspam.tasks.calibrate import calibrate, prior_shift
from nbspam.tasks.judges.memory_model import MemoryModel, sums_of


class BlockCounts(NamedTuple):
    """Sufficient statistics over the columns of a block.

    documents, occurrences : int64 (n_classes, n_columns);  messages : int64 (n_classes,)
    """

    documents: Ints
    occurrences: Ints
    messages: Ints

    def without(self, other: BlockCounts) -> BlockCounts:
        """These less the counts of some of the messages."""
        return BlockCounts(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


def count_rows(block: Block, n_classes: int) -> BlockCounts:
    """The counts of all labelled rows."""
    messages = np.bincount(block.labels[block.labels >= 0], minlength=n_classes)
    return BlockCounts(*block.totals(n_classes), messages)


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
        counts: BlockCounts,
        settings: Settings,
        classes: tuple[str, ...],
        automatic: bool = False,
    ) -> None:
        self._block = block
        self._counts = counts
        self._classes = classes
        self.settings = settings = settings.of(classes)
        self._weights: Floats = np.zeros(0)
        self._textbook: TextbookModel | None = None
        sample = select_rows(block, representative_rows(block, train, KEPT_MESSAGES, counts.messages))
        if settings.averaged:
            self._calibrate(sample, automatic)
            return
        self._textbook = count_textbook(settings, select_rows(block, train), classes)
        if automatic:
            self.settings = settings.replaced(alpha=self._textbook.best_alpha(sample))
            self._textbook.settings = self.settings

    def _calibrate(self, sample: Block, automatic: bool) -> None:
        block, counts = self._block, self._counts
        if automatic:
            alpha = best_averaged_alpha(
                sample, counts.documents, self.settings, counts.messages, self._classes
            )
            self.settings = self.settings.replaced(alpha=alpha)
        table = Table(block.keys, block.views, block.texts, counts.documents, counts.occurrences)
        self._weights, _, _ = calibrate(sample, table, self.settings)

    def scores(self, rows: Ints) -> Floats:
        """float64 (n_rows, n_classes), nats, up to a constant a message; -inf is possible."""
        judged = select_rows(self._block, rows)
        if self._textbook is not None:
            return self._textbook.log_joint(judged)
        background = fixed_background(judged, self._counts.documents)
        evidence = view_evidence(judged, background, self.settings)
        shift = prior_shift(self.settings, self._counts.messages, self._classes)
        return bulk_scores(self._weights, evidence) + shift

    def scorer(self) -> Scorer | None:
        """The same filter for one message at a time, which tells the clues; None if it scores numbers too."""
        if self.settings.features != "words":
            return None
        counts, block = self._counts, self._block
        sums, weights = sums_of(block, *counts), self._weights.tolist()
        model = MemoryModel(self._classes, block.keys, counts.documents, counts.occurrences, sums, weights)
        return Scorer(model, self.settings)
