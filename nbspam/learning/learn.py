"""Learn messages as a class, unlearn them, move them.

Several messages of one transaction count one after the other.  The same message counts once; if it was
learned as another class, it moves.  The calibration learns from the score that the message had before it
was counted.

Delivery adds header fields, so a message may come in another form than the one that was counted.  It is the
same message and does not count again; to move it, or to take it out, needs the tokens that were counted.
A counting that the filter made on its own verdict (nbspam.learning.autolearn) keeps them, and is taken out
whole before the message is learned, in whatever form it comes.
"""

from __future__ import annotations

import time

from nbspam.corpus import unwrap
from nbspam.errors import NoClassError
from nbspam.model import calibration
from nbspam.model.scorer import Scorer
from nbspam.settings import Settings, parse_settings
from nbspam.store.autolearned import CORRECTED, LABELLED
from nbspam.store.reader import Model, open_model
from nbspam.store.rows import FIRST
from nbspam.store.updater import (
    MessageToken,
    Origin,
    Updater,
    count_copies,
    list_base_classes,
    open_updater,
    read_rows,
)
from nbspam.tokens import KeyedTokens, count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Named = tuple[str, bytes]

LEARNED = "learned"
MOVED = "moved"
KNOWN = "already learned"
FORGOTTEN = "forgotten"
UNKNOWN = "was never learned"
SHARED = "is in the shared model"  # the base of an overlay, which keeps it; nothing has changed
OTHER_FORM = "learned in another form"  # as another class, so that it cannot be moved; nothing has changed
BATCH_SECONDS = 0.5  # of work in one transaction, for which other writers wait
FIRST_BATCH, LARGEST_BATCH = 32, 500  # messages; a line of IMAP names so many
BATCH_BYTES = 4 << 20


def learn_message(path: str, label: str | None, data: bytes, origin: Origin | None = None) -> str:
    """Count one message as `label`: LEARNED, MOVED, KNOWN, SHARED or OTHER_FORM.  Without label, unlearn."""
    return learn_messages(path, label, [("", data)], origin)[0]


def unlearn_message(path: str, data: bytes) -> str:
    """Take one counting of a message out; returns FORGOTTEN, UNKNOWN, SHARED or OTHER_FORM."""
    return learn_messages(path, None, [("", data)])[0]


def learn_messages(
    path: str,
    label: str | None,
    messages: Sequence[Named],
    origin: Origin | None = None,
    look: Callable[[Model], object] | None = None,
) -> list[str]:
    """Learn messages one after the other, all or none, as learn_message does; without a label, unlearn them.

    messages : with their names, which say in the ledger where they lie; or ''
    origin   : for the ledger
    look     : gets the model that has learned them
    """
    origin = origin or Origin("learn")
    with open_updater(path) as updater:
        teacher = Teacher(updater)
        results = []
        for name, data in messages:
            updater.begin(origin, name)
            results.append(teacher.count(label, data, name))
        teacher.write()
        if look:
            look(updater.model)
    return results


def split_batches(messages: Iterable[Any], size_bytes: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Some messages at a time, as many as one transaction learns.

    The next batch is as large as the time suggests that was spent on the last one.
    """
    batch: list[Any] = []
    largest, batch_bytes = FIRST_BATCH, 0
    for message in messages:
        batch.append(message)
        batch_bytes += size_bytes(message)
        if len(batch) >= largest or batch_bytes >= BATCH_BYTES:
            begin = time.monotonic()
            yield batch
            speed = len(batch) / (time.monotonic() - begin + 1e-9)
            largest = int(min(max(BATCH_SECONDS * speed, FIRST_BATCH // 4), 2 * largest, LARGEST_BATCH))
            batch, batch_bytes = [], 0
    if batch:
        yield batch


class Teacher:
    """Learns messages in a transaction, each by the model with those before it."""

    def __init__(self, updater: Updater) -> None:
        self._updater, self._model = updater, updater.model
        self._settings = parse_settings(self._model.settings, self._model.path)
        self._learner: calibration.Learner | None = None
        self._has_learner = False  # True once it was made, if it can be

    def count(self, label: str | None, data: bytes, name: str = "") -> str:
        """Learn a message as a class, or unlearn it without one."""
        number = None if label is None else class_number(self._model, label)
        message = read_counted(data, self._settings.wanted, name)
        return self._unlearn(message) if number is None else self._learn(message, number)

    def _learn(self, message: KeyedTokens, number: int) -> str:
        updater = self._updater
        own = updater.take_back(message.digest)
        if own is not None:
            note_labels(updater, 1, int(own != number))
        copies = count_copies(read_rows(updater.connection, "learned", message.digest))
        before = {label: times for (form, label), times in copies.items() if form == message.digest}
        if any(form != message.digest and label != number for form, label in copies):
            return OTHER_FORM
        classes = {label for _, label in copies}
        if classes == {number}:
            return KNOWN
        is_shared = number in list_base_classes(self._model, message.digest)
        if not before and not is_shared:
            self._learn_calibration(message, number)
        if number not in classes and not is_shared:  # first, so that its tokens do not become new ones
            count_lesson(updater, number, message, 1)
        for label, times in before.items():
            if label != number:
                count_lesson(updater, label, message, -times)
        if before or own not in (None, number):
            return MOVED
        return SHARED if is_shared else LEARNED

    def _unlearn(self, message: KeyedTokens) -> str:
        updater = self._updater
        if updater.take_back(message.digest) is not None:
            return FORGOTTEN
        copies = count_copies(read_rows(updater.connection, "learned", message.digest))
        if labels := [label for form, label in copies if form == message.digest]:
            count_message(updater, min(labels), message, -1, FIRST)
            updater.forget(message.digest, min(labels))
            return FORGOTTEN
        if copies:
            return OTHER_FORM
        return SHARED if list_base_classes(self._model, message.digest) else UNKNOWN

    def _learn_calibration(self, message: KeyedTokens, number: int) -> None:
        if not self._has_learner:
            self._learner, self._has_learner = make_learner(self._model, self._settings), True
        if self._learner:
            evidence = Scorer(self._model, self._settings).find_evidence(message)
            self._learner.learn(*evidence, number, sum(self._model.messages))

    def write(self) -> None:
        """Write the calibration, if it has learned."""
        if self._learner:
            write_learner(self._updater, self._settings, self._learner)


def check_classes(path: str, *labels: str | None) -> None:
    """Raise what is wrong with the model, or that it lacks one of these classes."""
    with open_model(path) as model:
        for label in filter(None, labels):
            class_number(model, label)


def class_number(model: Model, label: str) -> int:
    """The number of a class; UsageError if the model has no such class."""
    if label not in model.classes:
        remedy = "its classes: " + ", ".join(model.classes)
        raise NoClassError(label, f"{model.path} has no such class", remedy, "no-such-class")
    return model.classes.index(label)


def find_wanted(model: Model) -> frozenset[str]:
    """What a model counts of a message in addition to its words."""
    return parse_settings(model.settings, model.path).wanted


def read_counted(data: bytes, wanted: frozenset[str], name: str = "") -> KeyedTokens:
    """A message as training counts it: its first MAX_READ_BYTES, or the spam inside, see unwrap."""
    return count_tokens(unwrap(data), wanted, name)


def list_tokens(model: Model, message: KeyedTokens) -> list[MessageToken]:
    """The tokens of a message that the model counts."""
    if model.settings["features"] == "numeric":
        return []
    message.keep(model.settings["views"])
    views = enumerate(message.tokens)
    return [(key, view, text, n) for view, tokens in views for key, (text, n) in tokens.items()]


def count_message(updater: Updater, number: int, message: KeyedTokens, times: int, since: int = 0) -> None:
    """Add the message to a class: its words, and its numeric features if any; who calls writes the ledger.

    times, since : as for Updater.count
    """
    model = updater.model
    updater.count(number, message.digest, list_tokens(model, message), times, since)
    if model.settings["features"] != "words":
        from nbspam.model.features import message_rows  # few models have numeric features

        updater.count_numeric(message_rows(model, [number], message.features), times)


def count_lesson(updater: Updater, number: int, message: KeyedTokens, times: int) -> None:
    """Add the message to a class as a lesson of the present batch.  times : as for Updater.count"""
    count_message(updater, number, message, times)
    updater.change("learned", new=[(message.digest, number, updater.batch, times)])


def make_learner(model: Model, settings: Settings) -> calibration.Learner | None:
    """What continues the calibration of the model; None if it has none, or has too many weights for that."""
    weights = model.calibration()
    if not weights or not settings.averaged or len(weights) > calibration.MAX_COVARIANCE:
        return None
    covariance = model.covariance() or [[0.0] * len(weights) for _ in weights]
    calibration.check_places(model.path, weights, len(model.classes), settings.kinds)
    prior = calibration.first_weights(len(model.classes), settings.kinds)
    credit = model.read_number(calibration.CREDIT, calibration.FIRST_CREDIT)
    return calibration.Learner(prior, (weights, covariance), credit)


def note_labels(updater: Updater, labelled: int, corrected: int) -> None:
    """Note how many messages that the filter learned itself a person has labelled, and as another class."""
    for name, number in ((LABELLED, labelled), (CORRECTED, corrected)):
        if number:
            updater.settings({name: str(updater.model.read_number(name) + number)})


def write_learner(updater: Updater, settings: Settings, learner: calibration.Learner) -> None:
    """Write the calibration into the model."""
    updater.calibration(settings.kinds, learner.weights, learner.covariance)
    updater.settings({calibration.CREDIT: str(learner.credit)})
