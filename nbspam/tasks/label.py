"""Label the messages of a folder that teach most: which comes next, what was labelled, undo.  No screen.

One message of each group of near-duplicates is asked for.  Until ham and spam are labelled the messages
come in the order of their digests, which is at random; then the message that the filter is least sure of
comes next.  Each label is learned at once.  What this gains over messages at random: docs/decisions.md,
"Which messages to label first".
"""

import os
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np

from nbspam.corpus.corpus import Corpus, list_views, read_corpus
from nbspam.corpus.item import Item
from nbspam.corpus.near_duplicates import group_duplicates
from nbspam.corpus.reading import Progress
from nbspam.filter import begin_model, choose_model, open_filter
from nbspam.labels import HAM_AND_SPAM
from nbspam.learning.learn import class_number, learn_messages, unlearn_message
from nbspam.model.block import keep_views, merge_blocks, select_rows
from nbspam.model.calibration import first_weights
from nbspam.model.counts import Floats, Ints
from nbspam.settings import ALL_VIEWS, Settings
from nbspam.store.check import find_learned
from nbspam.store.updater import Origin
from nbspam.store.writer import new_model
from nbspam.tasks.classify import ModelJudge

SURE = 0.95  # probability of a class
SURE_NATS = log(SURE / (1 - SURE))  # its log-odds
MAX_GROUPS = 2_000  # of near-duplicates that are asked for: the time for a key grows with them


class Asked(NamedTuple):
    """A message to label.

    row      : its place among the messages of the Labelling
    log_odds : of spam by the filter so far, nats; None before both classes are labelled
    sure     : the share of the messages left that the filter is SURE of; None before that, too
    """

    item: Item
    data: bytes
    row: int
    log_odds: float | None
    sure: float | None


class Labelling:
    """The messages of a folder that are to be labelled, and the model that learns the labels.

    asked   : the message to label now; None if no message is left
    skipped : what could not be read
    """

    def __init__(
        self,
        path: str,
        items: Sequence[Item],
        jobs: int = 1,
        progress: Progress | None = None,
        start: str = "",
    ) -> None:
        """Read the mail and choose the first message.

        path  : the model that learns; it is made with the first label if it does not exist
        start : a shared model that it then begins as, or empty
        UsageError for a model without ham and spam, NoInputError if no message can be read.
        """
        self._path, self._start, self._origin = path, start, Origin("label")
        self._done: list[tuple[Asked, str]] = []
        judging = choose_model(path, start)
        has_model = bool(start) or os.path.lexists(judging)
        self._judge = ModelJudge(open_filter(judging)) if has_model else None
        settings = Settings()
        if self._judge:
            settings = self._judge.filter.settings
            for name in HAM_AND_SPAM:
                class_number(self._judge.filter.model, name)
        corpus = read_corpus(items, HAM_AND_SPAM, jobs, progress=progress, wanted=settings.wanted)
        self.skipped = corpus.skipped
        rows = self._rows_to_ask(corpus, settings)
        self._block = merge_blocks([select_rows(corpus.block, rows)])
        by_name = {item.name: item for item in items}
        self._items = [by_name[name] for name in self._block.names]
        self._is_left = np.ones(len(rows), np.bool_)
        self.asked = self._choose()

    def _rows_to_ask(self, corpus: Corpus, settings: Settings) -> Ints:
        """A row of each group of near-duplicates that has no learned message, in the order of the digests."""
        views = list_views(settings.replaced(views=ALL_VIEWS))  # a digest is of all views
        digests = keep_views(corpus.block, views).digests()
        learned = find_learned(self._judge.filter.model, digests.tolist()) if self._judge else ()
        groups = group_duplicates(corpus)
        learned_groups = groups[np.isin(digests, [*learned])]
        order = np.argsort(digests, kind="stable")
        _, first_places = np.unique(groups[order], return_index=True)
        rows = order[np.sort(first_places)]
        is_new = ~np.isin(groups[rows], learned_groups)
        return np.asarray(rows[is_new][:MAX_GROUPS])

    @property
    def left(self) -> int:
        """How many messages are left, one of each group of near-duplicates."""
        return int(self._is_left.sum())

    @property
    def labelled(self) -> Counter[str]:
        """How many messages were labelled as ham and as spam."""
        return Counter(label for _, label in self._done if label)

    def label(self, name: str) -> None:
        """Learn the message as ham or spam, and choose the next one.  Without a name: skip it."""
        if self.asked is None:
            return
        if name:
            if not begin_model(self._path, self._start) and not os.path.exists(self._path):
                make_empty_model(self._path)
            learn_messages(self._path, name, [(self.asked.item.name, self.asked.data)], self._origin)
            if not self.labelled:
                self._judge = ModelJudge(open_filter(self._path))
        self._done.append((self.asked, name))
        self._is_left[self.asked.row] = False
        self.asked = self._choose()

    def undo(self) -> None:
        """Ask for the message before this one again; its label is unlearned."""
        if not self._done:
            return
        self.asked, name = self._done.pop()
        self._is_left[self.asked.row] = True
        if name:
            unlearn_message(self._path, self.asked.data)

    def _choose(self) -> Asked | None:
        """The message left that the filter is least sure of; one that is gone is left out."""
        rows, odds = np.flatnonzero(self._is_left), self._log_odds()
        if odds is None:
            order, sure = np.arange(len(rows)), None
        else:
            order = np.argsort(np.abs(odds), kind="stable")
            sure = float((np.abs(odds) >= SURE_NATS).mean())
        for place in order.tolist():
            row = int(rows[place])
            try:
                data = self._items[row].read()
            except OSError:
                self._is_left[row] = False
            else:
                log_odds = None if odds is None else float(odds[place])
                return Asked(self._items[row], data, row, log_odds, sure)
        return None

    def _log_odds(self) -> Floats | None:
        """float64 (left,), nats: of spam against ham; None before both classes are labelled."""
        if self._judge is None or not self.left:
            return None
        self._judge.filter.refresh()
        model = self._judge.filter.scorer.model
        ham, spam = map(model.classes.index, HAM_AND_SPAM)
        if not (model.messages[ham] and model.messages[spam]):
            return None
        joints = self._judge.joints(select_rows(self._block, np.flatnonzero(self._is_left)))
        return np.asarray(joints[:, spam] - joints[:, ham])


def make_empty_model(path: str) -> None:
    """Write a model of ham and spam that has learned nothing; its calibration is where learning starts."""
    settings = Settings().of(HAM_AND_SPAM)
    with new_model(path, HAM_AND_SPAM, [0, 0], "label", replaces=False) as file:
        file.settings(settings.as_text() | {"vocabulary": "open"})
        file.calibration(settings.kinds, *first_weights(len(HAM_AND_SPAM), settings.kinds))
