"""Training regimes: which messages of a labelled source are counted.

Hides the replay behind the choice.  Every message is judged in order of time by a filter that learned only
the chosen ones before it; the model is then made from the chosen ones as if there were no others.  The
source is held in memory for that.  What it gains and costs: docs/decisions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import log
from typing import NamedTuple

import numpy as np

from nbspam.corpus import Item
from nbspam.corpus.corpus import Corpus, in_time, views_read
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import WORDS, Progress, read_blocks
from nbspam.decision import UNDECIDED, Loss, zero_one_loss
from nbspam.errors import UsageError
from nbspam.evaluate.outcomes import Outcome
from nbspam.evaluate.replay import ON_ERROR, THICK, Feedback, parse_feedback, replay
from nbspam.labels import positive
from nbspam.model.block import Block, merge_blocks, only_views, select_rows, used_columns
from nbspam.model.calibrate import WARM_UP_SHARE, join_evidence
from nbspam.model.counts import Ints
from nbspam.model.views import Evidence
from nbspam.settings import Settings
from nbspam.tasks.judges import ReplayJudge
from nbspam.tasks.replay import centre_nats
from nbspam.tasks.train import Choices, Trained, check_balance, train_blocks

LEAST = 1e-300  # of a probability whose logarithm is taken


class Regime(NamedTuple):
    """What is counted.

    feedback : on error, or thick: also where the log-odds lie within a margin of the cut-off
    loss     : what makes a decision; None for 0-1
    by_index : the order of the source is time
    """

    feedback: Feedback
    loss: Loss | None = None
    by_index: bool = False


def parse_regime(text: str) -> Feedback:
    """Read `on-error` or `thick:MARGIN` (nats, >= 0).  UsageError for anything else."""
    if text.partition(":")[0] in (ON_ERROR, THICK):
        try:
            return parse_feedback(text)
        except UsageError:
            pass
    raise UsageError(
        f"--regime {text[:40]}",
        "is no training regime",
        "use all, on-error or thick:MARGIN with a margin of nats >= 0, for example thick:1",
        "regime",
    )


def check_regime(feedback: Feedback, settings: Settings, choices: Choices) -> None:
    """Raises where a replay cannot choose: it learns words one message after another, from nothing."""
    for refused, option, why in (
        (settings.features != "words", f"--features {settings.features}", "a replay learns words only"),
        (choices.automatic, "--alpha auto", "a replay starts without mail to choose it on"),
        (choices.vocabulary is not None, "--vocab", "a replay counts every word"),
        (choices.prior is not None, "--prior-model", "a replay starts from nothing"),
    ):
        if refused:
            raise UsageError(f"--regime {feedback} {option}", why, "leave out one of them", "regime")


def read_block(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    jobs: int = 1,
    progress: Progress | None = None,
    wanted: frozenset[str] = WORDS,
) -> tuple[Block, Skipped]:
    """All messages, read once, and what could not be read.  path: the model to be, for what goes wrong."""
    blocks: list[Block] = []
    skipped: Skipped = []
    for some, unread in read_blocks(items, classes, jobs, wanted):
        blocks.extend(some)
        skipped.extend(unread)
        if progress:
            progress(sum(map(len, some)), int(sum(block.sizes.sum() for block in some)))
    whole = merge_blocks(blocks)
    check_balance(path, classes, np.bincount(whole.labels, minlength=len(classes)))
    return whole, skipped


def train_by_regime(
    read: tuple[Block, Skipped],
    classes: tuple[str, ...],
    path: str,
    settings: Settings,
    regime: Regime,
    choices: Choices | None = None,
    progress: Callable[[int], object] | None = None,
) -> Trained:
    """Writes the model of the messages that the regime chooses.

    read     : as read_block gives it
    progress : called with 1 after each message judged
    """
    choices = choices or Choices()
    check_regime(regime.feedback, settings, choices)
    block, skipped = read
    seen = only_views(block, views_read(settings))
    rows, sample = choose(seen, classes, settings, regime, progress)
    choices = choices._replace(evidence=sample)
    parts = [([used_columns(select_rows(block, rows))], skipped)]
    return train_blocks(parts, classes, path, settings, choices)._replace(read=len(block))


def choose(
    block: Block,
    classes: tuple[str, ...],
    settings: Settings,
    regime: Regime,
    progress: Callable[[int], object] | None = None,
) -> tuple[Ints, Evidence | None]:
    """The rows that are counted, in the order read, and the evidence of all that were judged."""
    order, _ = in_time(Corpus(block, classes, [], [], regime.by_index))
    loss = regime.loss or zero_one_loss(len(classes))
    subject = _Choosing(ReplayJudge(block, order, classes, settings, loss), classes)
    truth = block.labels[order].astype(np.int64).tolist()
    subject.truth = truth
    replay(truth, subject, regime.feedback, centre_nats=centre_nats(loss), progress=progress)
    return np.sort(order[subject.learned]), subject.sample()


class _Choosing:
    """A filter that remembers what it learned, and that is unsure of a class it has not met.

    So the first message of each class is counted, whatever is decided about it, and there is a model.
    """

    def __init__(self, subject: ReplayJudge, classes: tuple[str, ...]) -> None:
        self._subject = subject
        self._has_odds = positive(classes) is not None
        self._met: set[int] = set()
        self.truth: list[int] = []
        self.learned: list[int] = []
        self._seen: list[Evidence] = []

    def score(self, message: int) -> Outcome:
        found = self._subject.score(message)
        if self._subject.settings.averaged:
            self._seen.append(self._subject.seen(message))
        decided = found.decided if self.truth[message] in self._met else UNDECIDED
        odds = found.log_odds if self._has_odds else _lead(found)
        return replace(found, decided=decided, log_odds=odds, index=message)

    def learn(self, message: int, label: int) -> None:
        self._met.add(label)
        self.learned.append(message)
        self._subject.learn(message, label)

    def sample(self) -> Evidence | None:
        """The evidence of every message as it was judged, counted or not; None where nothing is averaged.

        A calibration that knew the counted ones only, which are those judged wrongly, would learn that the
        evidence lies.
        """
        if not self._seen:
            return None
        late = self._seen[int(len(self._seen) * WARM_UP_SHARE) :]
        return join_evidence(late)


def _lead(outcome: Outcome) -> float:
    """Nats between the best class and the next: how sure a decision is where no class is spam."""
    second, first = sorted(outcome.probabilities)[-2:]
    return log(max(first, LEAST) / max(second, LEAST))
