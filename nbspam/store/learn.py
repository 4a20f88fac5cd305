"""Count single messages in a model: learn them as a class, take them out, move them.

Several messages of one transaction count one after the other.  The same message counts once; if it was
learned as another class, it moves.  The calibration learns from the score that the message had before it
was counted.

`learn_verdict` counts a message as the class that the filter itself decided.  The calibration does not learn
from that, because it must know how often verdicts are right.  If somebody labels the message later, that
counting is taken out whole first.  Without a label the message is forgotten after MAX_AUTOLEARNED later ones.
"""

from __future__ import annotations

import contextlib
import time

from nbspam.errors import DamagedModelError, TryAgainError, UsageError
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.model.calibration import (
    FIRST_CREDIT,
    MAX_COVARIANCE,
    Learner,
    check_places,
    first_weights,
)
from nbspam.model.scorer import Scorer
from nbspam.settings import Settings, parse_settings
from nbspam.store.connection import BUSY_SECONDS
from nbspam.store.lessons import (
    Lesson,
    add_lessons,
    list_waiting,
    open_waiting,
    remove_empty_folder,
    take_turn,
)
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import (
    MessageToken,
    Origin,
    Updater,
    count_autolearned,
    count_reviewed,
    countings,
    pack_tokens,
    read_autolearned,
    read_rows,
    updating,
)
from nbspam.tokens import Counted, count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Named = tuple[str, bytes]

LEARNED = "learned"
MOVED = "moved"
KNOWN = "already learned"
LATER = "will be learned"
FORGOTTEN = "forgotten"
UNKNOWN = "was never learned"
# Messages that the filter counts by its own verdict; the oldest are forgotten, so that a model left to itself
# does not grow without end: docs/decisions.md, "Autolearn".
MAX_AUTOLEARNED = 1_000
FORGOTTEN_AT_ONCE = 2  # a merged model may have many more than MAX_AUTOLEARNED
# Messages of each class, before a filter learns its own verdicts: docs/decisions.md, "Autolearn".
MIN_LABELLED = 100
# A filter that is corrected more often than this no longer learns its own verdicts: docs/decisions.md,
# "When does autolearn stop".
MIN_JUDGED = 40
MAX_WRONG = 0.05
# Of one transaction: half a second of work, and the disk writes little more than for one message.
BATCH_MESSAGES = 32
BATCH_BYTES = 4 << 20
PAUSE = 0.005  # seconds between two looks at a lesson that waits
CREDIT = "calibration_credit"  # the setting that keeps Learner.credit


def learn(path: str, label: str, data: bytes, origin: Origin | None = None) -> str:
    """Count one message as `label`; returns LEARNED, MOVED, KNOWN, or LATER if others wrote all the time."""
    return learn_all(path, label, [("", data)], origin)[0]


def unlearn(path: str, data: bytes) -> str:
    """Take one counting of a message out; returns FORGOTTEN or UNKNOWN."""
    return learn_all(path, None, [("", data)])[0]


def learn_all(
    path: str, label: str | None, messages: Sequence[Named], origin: Origin | None = None
) -> list[str]:
    """Learn messages one after the other as `learn` does; without a label, unlearn them.

    If nobody else writes, all of them or none.  Else they become lessons that wait for the next writer.
    messages : with their names, which say in the ledger where they lie; or ''
    origin   : for the ledger
    """
    origin = origin or Origin("learn")
    if label is None:
        return _learn_now(path, label, messages, origin, BUSY_SECONDS)
    deadline = time.monotonic() + BUSY_SECONDS
    if not list_waiting(path):
        with contextlib.suppress(TryAgainError):
            return _learn_now(path, label, messages, origin, 0)
    check_classes(path, label)
    try:
        lessons = add_lessons(
            path, label, [(origin.of(name), data[:MAX_READ_BYTES]) for name, data in messages]
        )
    except OSError:
        return _learn_now(path, label, messages, origin, deadline - time.monotonic())
    try:
        return _wait(path, lessons, deadline)
    finally:
        for lesson in lessons:
            lesson.close()


def split_batches(messages: Iterable[Any], size_bytes: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Some messages at a time, as many as one transaction learns."""
    batch: list[Any] = []
    for message in messages:
        batch.append(message)
        if len(batch) == BATCH_MESSAGES or sum(map(size_bytes, batch)) >= BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _learn_now(
    path: str, label: str | None, messages: Sequence[Named], origin: Origin, seconds: float
) -> list[str]:
    with writing(path, seconds) as updater:
        results = []
        for name, data in messages:
            updater.begin(origin, name)
            results.append(_count(updater, label, data, name))
    return results


def _count(updater: Updater, label: str | None, data: bytes, name: str = "") -> str:
    """Learn a message as a class, or unlearn it without one, by the model as it is now."""
    if updater.connection.total_changes:  # a single message finds the model just read
        updater.model.read()
    message = read_counted(data, updater.model, name)
    if label is None:
        return _unlearn(updater, message)
    return _learn(updater, message, class_number(updater.model, label))


def _wait(path: str, lessons: list[Lesson], deadline: float) -> list[str]:
    """The results of our own lessons, which this program or another takes in; LATER for those left over."""
    while None in [lesson.result() for lesson in lessons]:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            for lesson in lessons:
                lesson.keep()
            break
        with take_turn(path) as is_ours:
            if is_ours:
                with contextlib.suppress(TryAgainError), writing(path, seconds):
                    pass
        if not is_ours:
            time.sleep(PAUSE)
    return [lesson.result() or LATER for lesson in lessons]


@contextlib.contextmanager
def writing(path: str, seconds: float = BUSY_SECONDS) -> Iterator[Updater]:
    """One transaction, as `updating`, in which the lessons that wait are learned first."""
    with contextlib.ExitStack() as stack:
        with updating(path, seconds) as updater:
            results = _learn_waiting(updater, stack)
            if results:
                updater.model.read()
            yield updater
        for lesson, result in results:
            lesson.finish(result)
        remove_empty_folder(path)


def _learn_waiting(updater: Updater, stack: contextlib.ExitStack) -> list[tuple[Lesson, str]]:
    """Learn the oldest lessons that wait; those of a class that the model lacks go on waiting.

    stack : closes them
    """
    results: list[tuple[Lesson, str]] = []
    size_bytes, origin = 0, Origin("")
    for lesson in open_waiting(updater.model.path):
        stack.callback(lesson.close)
        if not lesson.label:
            results.append((lesson, KNOWN))
        elif lesson.label in updater.model.classes:
            origin.source = lesson.source
            updater.begin(origin)
            results.append((lesson, _count(updater, lesson.label, lesson.data)))
        size_bytes += len(lesson.data)
        if len(results) == BATCH_MESSAGES or size_bytes >= BATCH_BYTES:
            break
    return results


def learn_verdict(path: str, label: str, data: bytes, source: str) -> bool:
    """Count one message as `label`, the filter's own verdict; False if the model may not learn it.

    Only for a model of words: numeric features are not kept, and could not be taken out.
    """
    with writing(path) as updater:
        model = updater.model
        number, message = class_number(model, label), read_counted(data, model)
        if not _may_learn_verdict(model, message):
            return False
        updater.begin(Origin(source, is_own=True))
        before = sum(count_autolearned(model))
        count_message(updater, number, message, 1)
        keep_tokens(updater, number, message)
        for _ in range(count_outdated(before + 1)):
            oldest, _, _ = next(read_autolearned(updater.connection))
            updater.take_back(oldest)
    return True


def keep_tokens(updater: Updater, number: int, message: Counted) -> None:
    """Note that the filter itself has counted a message as a class."""
    kept = pack_tokens((key, times) for key, _, _, times in _rows(updater.model, message))
    updater.change("autolearned", new=[(message.digest, number, kept)])


def may_learn_verdict(path: str, data: bytes) -> bool:
    """True if a model may learn its own verdict on a message."""
    with open_model(path) as model:
        return _may_learn_verdict(model, read_counted(data, model))


def _may_learn_verdict(model: Model, message: Counted) -> bool:
    is_new = not countings(model.connection, message.digest)
    return is_new and has_enough_labelled(model) and not is_often_wrong(model)


def count_outdated(autolearned: int) -> int:
    """How many of so many autolearned messages are forgotten after the latest of them."""
    return min(FORGOTTEN_AT_ONCE, max(0, autolearned - MAX_AUTOLEARNED))


def has_enough_labelled(model: Model) -> bool:
    """True if each class has MIN_LABELLED labelled messages, so that the model may learn its own verdicts."""
    own = count_autolearned(model)
    return all(n - autolearned >= MIN_LABELLED for n, autolearned in zip(model.messages, own, strict=True))


def is_often_wrong(model: Model) -> bool:
    """True if a person has corrected more than MAX_WRONG of the messages that the model learned itself."""
    labelled, wrong = count_reviewed(model)
    own = labelled + sum(count_autolearned(model))
    return own >= MIN_JUDGED and wrong > MAX_WRONG * own


def forget_autolearned(path: str) -> int:
    """Take all messages out that a model learned itself, and forget how often it was wrong; how many."""
    with writing(path) as updater:
        own = list(read_autolearned(updater.connection))
        for digest, _, _ in own:
            updater.take_back(digest)
        updater.forget_reviews()
    return len(own)


def check_classes(path: str, *labels: str) -> None:
    """Raise what is wrong with the model, or that it lacks one of these classes."""
    with open_model(path) as model:
        for label in labels:
            class_number(model, label)


def class_number(model: Model, label: str) -> int:
    """The number of a class; UsageError if the model has no such class."""
    if label not in model.classes:
        remedy = "its classes: " + ", ".join(model.classes)
        raise UsageError(label, f"{model.path} has no such class", remedy, "no-such-class")
    return model.classes.index(label)


def _learn(updater: Updater, message: Counted, number: int) -> str:
    own = updater.take_back(message.digest, moves=True)
    if own is not None:
        updater.model.read()  # without the message
    before = countings(updater.connection, message.digest)
    classes = {one for one, _, _ in before}
    if classes == {number}:
        return KNOWN
    if not before:
        _learn_calibration(updater, message, number)
    if number not in classes:  # first, so that its tokens do not become new ones
        count_message(updater, number, message, 1)
    for other, batch, times in before:
        if other != number:
            count_message(updater, other, message, -times, batch)
            updater.move(message.digest, other, batch, times)
    return MOVED if before or own not in (None, number) else LEARNED


def _unlearn(updater: Updater, message: Counted) -> str:
    before = countings(updater.connection, message.digest)
    is_own = updater.take_back(message.digest) is not None
    if before and not is_own:
        number, _, _ = before[0]
        count_message(updater, number, message, -1)
    if not countings(updater.connection, message.digest):
        updater.change("moved", read_rows(updater.connection, "moved", message.digest))
    return FORGOTTEN if before else UNKNOWN


def read_counted(data: bytes, model: Model, name: str = "") -> Counted:
    """A message as training counts it: its first MAX_READ_BYTES."""
    return count_tokens(data, parse_settings(model.settings, model.path).wanted, name)


def _rows(model: Model, message: Counted) -> list[MessageToken]:
    if model.settings["features"] == "numeric":
        return []
    message.keep(model.settings["views"])
    views = enumerate(message.tokens)
    return [(key, view, text, n) for view, tokens in views for key, (text, n) in tokens.items()]


def count_message(updater: Updater, number: int, message: Counted, times: int, batch: int = 0) -> None:
    """Add the message to a class: its words, and its numeric features if any.

    times, batch : as for Updater.count
    """
    model = updater.model
    updater.count(number, message.digest, _rows(model, message), times, batch)
    if model.settings["features"] != "words":
        from nbspam.model.features import message_rows  # few models have numeric features

        updater.count_numeric(message_rows(model, [number], message.features), times)


def _learn_calibration(updater: Updater, message: Counted, number: int) -> None:
    model = updater.model
    settings = parse_settings(model.settings, model.path)
    learner = learner_of(model, settings)
    if learner is None:
        return
    scored = Scorer(model, settings).score(message)
    learner.learn(scored.evidence, scored.common, number, sum(model.messages))
    write_learner(updater, settings, learner)


def learner_of(model: Model, settings: Settings) -> Learner | None:
    """What continues the calibration of the model; None if it has none, or has too many weights for that."""
    weights = model.calibration()
    if not weights or not settings.averaged or len(weights) > MAX_COVARIANCE:
        return None
    covariance = model.covariance() or [[0.0] * len(weights) for _ in weights]
    check_places(model.path, weights, len(model.classes), settings.kinds)
    prior = first_weights(len(model.classes), settings.kinds)
    credit = model.settings.get(CREDIT, str(FIRST_CREDIT))
    if not (credit.isascii() and credit.isdecimal() and len(credit) < 10):
        raise DamagedModelError(model.path, f"setting {CREDIT} {credit}")
    return Learner(prior, (weights, covariance), int(credit))


def write_learner(updater: Updater, settings: Settings, learner: Learner) -> None:
    """Write the calibration into the model."""
    updater.calibration(settings.kinds, learner.weights, learner.covariance)
    updater.settings({CREDIT: str(learner.credit)})
