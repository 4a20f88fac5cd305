"""Add labelled mail to a model.

The counts become exactly those of one training on all mail.  The calibration learns from the new messages,
each scored by the counts before it; it differs from that of one training, because the old messages are gone.
The mail is read without a lock; then one transaction adds it, and other programs see the model before it or
after it.
"""

from collections.abc import Iterable

from nbspam.corpus.accumulator import Accumulator
from nbspam.corpus.item import Item
from nbspam.corpus.reading import Progress
from nbspam.errors import BadDataError, NoInputError, TryAgainError
from nbspam.filter import begin_model, choose_model
from nbspam.learning.learn import make_learner, note_labels, write_learner
from nbspam.model.calibrate import choose_ways, learn_sample, take_sample
from nbspam.model.features import message_rows
from nbspam.settings import parse_settings
from nbspam.store.bulk import list_tokens_of, make_learned_rows
from nbspam.store.check import find_learned, vocabulary_keys
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import Origin, Updater, open_updater
from nbspam.tasks.classify import counts_of, look_up_documents
from nbspam.tasks.train import Trained, summarise_training

# A step of the calibration costs the square of its weights: with many classes fewer messages are learned.
STEP_BUDGET = 1_400_000


def update(
    items: Iterable[Item],
    classes: tuple[str, ...],
    path: str,
    jobs: int = 1,
    progress: Progress | None = None,
    start: str = "",
    source: str = "train",
    keeps_names: bool = False,
) -> Trained:
    """Add all items to the model at `path`, or none if there is an error.

    start  : a shared model that `path` begins as if there is no model, or empty
    source : of the mail, for the ledger
    keeps_names : name the messages that are in more than one class
    """
    origin = Origin(source)
    with open_model(choose_model(path, start)) as model:
        _check_classes(model, classes)
        keys, all_classes = vocabulary_keys(model), model.classes
        settings = parse_settings(model.settings, model.path)
    counts = Accumulator(all_classes, settings, keys, keeps_names=keeps_names, jobs=jobs)
    counts.read(items, progress)
    if not counts.messages.any():
        why = "no readable message was found, so nothing was added"
        raise NoInputError("SOURCE", why, "check SOURCE", "no-mail")
    begins = begin_model(path, start)
    counted_before = _add(path, counts, all_classes, keys, origin)
    tokens = len(counts.counts().keys)
    return summarise_training(path, counts, tokens, counted_before=counted_before, begins=begins)


def _check_classes(model: Model, classes: tuple[str, ...]) -> None:
    new = [name for name in classes if name not in model.classes]
    if new:
        why = f"the model has no class {new[0]}; its classes: {', '.join(model.classes)}"
        remedy = "train again on the mail of all classes: nbspam train `replace` SOURCE"
        raise BadDataError(model.path, why, remedy, "update-classes")


def _add(
    path: str, counts: Accumulator, classes: tuple[str, ...], keys: list[int] | None, origin: Origin
) -> int:
    """Add the counts in one transaction; how many messages the model had counted before."""
    table, learned = counts.counts(), list(make_learned_rows(counts.learned))
    with open_updater(path) as updater:
        model = updater.model
        if (model.classes, vocabulary_keys(model)) != (classes, keys):
            raise TryAgainError(path, "was replaced while the mail was read", "start again", "model-changed")
        updater.begin(origin)
        # A label replaces the filter's own verdict.
        verdicts = [(updater.take_back(digest), number) for digest, number, _ in learned]
        labelled = [verdict != number for verdict, number in verdicts if verdict is not None]
        note_labels(updater, len(labelled), sum(labelled))
        before = find_learned(model, [digest for digest, _, _ in learned])
        counted_before = sum(times for digest, _, times in learned if digest in before)
        for label, messages in enumerate(counts.messages.tolist()):
            updater.add(label, messages, list_tokens_of(table, label))
        updater.change("learned", new=[(digest, k, updater.batch, times) for digest, k, times in learned])
        if features := counts.features():
            values, labels = features
            updater.count_numeric(message_rows(model, labels, values), 1)
        _calibrate(updater, counts)
        return counted_before


def _calibrate(updater: Updater, counts: Accumulator) -> None:
    """Let the calibration learn from the latest of the new messages."""
    model = updater.model
    settings = parse_settings(model.settings, model.path).of(model.classes)
    learner = make_learner(model, settings)
    if learner is None:
        return
    block = counts.recent()
    counted = counts_of(model, block, look_up_documents(model, block.keys))
    sample = take_sample(choose_ways(block, counted)[-1], block, counted, settings)
    first = max(0, len(sample.labels) - max(1, STEP_BUDGET // len(learner.weights) ** 2))
    learn_sample(learner, sample, sum(model.messages) - len(sample.labels), first)
    write_learner(updater, settings, learner)
