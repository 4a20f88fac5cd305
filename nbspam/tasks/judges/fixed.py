"""A filter of a fixed vocabulary trained on some rows of a block, that scores other rows of it at once.

Hides that the counts are made as `train --vocab` makes them, so that nothing is said twice: every word of the
vocabulary is there, met or not, and all other tokens are one NOTAWORD.  It does what BulkFilter does
where every word counts; but the tables of a vocabulary are small, so nothing is had by subtraction.
"""

from __future__ import annotations

import numpy as np

from nbspam.corpus.accumulator import select_rows
from nbspam.corpus.block import Block, Ints
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.model.calibrate import bulk_scores
from nbspam.model.scorer import Scorer
from nbspam.model.textbook import TextbookModel
from nbspam.model.views import Floats
from nbspam.settings import Settings
from nbspam.tasks.alpha import best_alpha, counted_textbook
from nbspam.tasks.calibrate import (
    aligned_documents,
    calibrate,
    fresh_sample,
    prior_shift,
    see_as_counted,
)
from nbspam.tasks.fixed_words import fixed_of, sorted_keys
from nbspam.tasks.judges.memory_model import MemoryModel, sums_of
from nbspam.tasks.train import all_counted, counts_for


class FixedFilter:
    """Trained on rows of a block.

    train     : int64 (n,), those rows, rising
    settings  : those of `settings_under`
    automatic : choose lambda on the rows trained on, as `--alpha auto` does
    """

    def __init__(
        self,
        block: Block,
        train: Ints,
        settings: Settings,
        classes: tuple[str, ...],
        vocabulary: Vocabulary,
        automatic: bool = False,
    ) -> None:
        self._block = block
        self._classes = classes
        self._fixed = fixed_of(vocabulary)
        settings = settings.of(classes)
        mail = counts_for(settings, len(classes), sorted_keys(vocabulary))
        mail.add(select_rows(block, train))
        counted = all_counted(mail, settings, vocabulary)
        if automatic:
            settings = settings.replaced(alpha=best_alpha(settings, classes, counted, vocabulary))
        self.settings = settings
        self._messages, self._table = mail.messages, counted.table
        self._weights: Floats = np.zeros(0)
        self._textbook: TextbookModel | None = None
        if settings.averaged:
            self._weights = calibrate(mail.recent(), self._table, settings, vocabulary).weights
        else:
            self._textbook = counted_textbook(settings, classes, counted)

    def scores(self, rows: Ints) -> Floats:
        """float64 (n_rows, n_classes), nats, up to a constant a message; -inf is possible."""
        judged = select_rows(self._block, rows)
        if self._textbook is not None:
            return self._textbook.log_joint(judged)
        seen = see_as_counted(judged, aligned_documents(judged, self._table), self._fixed)
        evidence = fresh_sample(seen, self.settings, judged, self._fixed).evidence
        shift = prior_shift(self.settings, self._messages, self._classes)
        return bulk_scores(self._weights, evidence) + shift

    def scorer(self) -> Scorer | None:
        """The same filter for one message at a time, which tells the clues; None if it scores numbers too."""
        if self.settings.features != "words":
            return None
        table, weights = self._table, self._weights.tolist()
        tables = (table.documents, table.occurrences)
        sums = sums_of(table, *tables, self._messages, fixed=True)
        model = MemoryModel(self._classes, table.keys, *tables, sums, weights, fixed=True)
        return Scorer(model, self.settings)
