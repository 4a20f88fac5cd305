"""A saved model judged on labelled mail.

Hides nothing of the scoring: each message goes the way of `classify`, in worker processes that each
open the model for themselves.  So the figures are those of the program that people run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from nbspam.corpus import Item
from nbspam.corpus.corpus import corpus_digest
from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Skipped
from nbspam.corpus.reading import Progress, identity_of, shards
from nbspam.decision import UNDECIDED
from nbspam.errors import BadDataError, NoInputError
from nbspam.evaluate.outcomes import Evaluation, Outcome, ShortClue, worst_mistakes
from nbspam.filter import Filter, open_filter
from nbspam.model.scorer import counted
from nbspam.store.connection import replaced_error
from nbspam.tasks.judge_mail import MOST_CLUED, Judge
from nbspam.tokens import DATE, read


class _Shard(NamedTuple):
    outcomes: list[Outcome]
    identities: list[bytes]
    clues: dict[str, tuple[ShortClue, ...]]
    skipped: Skipped
    size_bytes: int


class _ModelWork:
    """Classifies one shard; the callable of the worker processes."""

    def __init__(
        self, path: str, change: dict[str, str], loss: str | None, file: tuple[int, int] | None
    ) -> None:
        """file : the identity of the model, which may be replaced before all processes have opened it"""
        self._arguments = (path, change, loss)
        self._file = file
        self._classifier: Filter | None = None

    def __call__(self, items: list[Item]) -> _Shard:
        # Opened by the process that uses it: an SQLite connection may not cross a fork.
        if self._classifier is None:
            self._classifier = self._opened()
        found = _Shard([], [], {}, [], 0)
        size_bytes = 0
        for item in items:
            try:
                data = item.read()
            except OSError as error:
                found.skipped.append((item.name, error.strerror or "cannot be read"))
                continue
            size_bytes += len(data)
            found.identities.append(identity_of(data, item.label))
            self._judge(found, item, data, self._classifier)
        return found._replace(size_bytes=size_bytes)

    def _opened(self) -> Filter:
        opened = open_filter(*self._arguments)
        if opened.model.file != self._file:
            opened.model.close()
            raise replaced_error(self._arguments[0])
        return opened

    def _judge(self, found: _Shard, item: Item, data: bytes, classifier: Filter) -> None:
        classes, tokens = classifier.model.classes, read(data, classifier.settings.wanted | {DATE})
        verdict = classifier.judge_now(counted(tokens, item.name), item.name)
        judge, truth = Judge(classes, classifier.loss), classes.index(item.label)
        outcome = judge.outcome(item.name, truth, verdict.scored.scores, tokens.date)
        found.outcomes.append(outcome)
        if outcome.decided not in (outcome.truth, UNDECIDED):
            found.clues[item.name] = tuple(verdict.clues)


def evaluate_model(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    change: dict[str, str] | None = None,
    loss: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[Evaluation, Skipped]:
    """Every message of a labelled source as `nbspam classify` judges it, and what could not be read.

    change, loss : as for open_filter
    """
    # Opened here first, so that what is wrong with a model is told before any mail is read.
    opened = open_filter(path, change, loss)
    known, settings = opened.model.classes, opened.settings.as_text()
    file = opened.model.file
    opened.model.close()
    strange = [name for name in classes if name not in known]
    if strange:
        why = f"the mail has a class {strange[0]} that the model does not know"
        raise BadDataError(path, why, "its classes: " + ", ".join(known), "model-classes")
    parts: list[_Shard] = []
    for part in run_shards(_ModelWork(path, change or {}, loss, file), shards(items), jobs):
        parts.append(part)
        if progress:
            progress(len(part.outcomes), part.size_bytes)
    skipped = [one for part in parts for one in part.skipped]
    return _finished(parts, known, {**settings, "model": path, "loss": loss or ""}), skipped


def _finished(parts: list[_Shard], classes: tuple[str, ...], settings: dict[str, str]) -> Evaluation:
    every = [outcome for part in parts for outcome in part.outcomes]
    if not every:
        raise NoInputError("evaluation", "no readable message was found", "check SOURCE", "no-mail")
    outcomes = tuple(replace(one, index=index) for index, one in enumerate(every))
    digest = corpus_digest(one for part in parts for one in part.identities)
    clues = {name: found for part in parts for name, found in part.clues.items()}
    worst = worst_mistakes(Evaluation(classes, outcomes, "model"), MOST_CLUED)
    kept = {one.name: clues[one.name] for one in worst}
    return Evaluation(classes, outcomes, "model", digest, settings, clues=kept)
