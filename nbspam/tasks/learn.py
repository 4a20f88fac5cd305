"""Corrects a model by messages: learn them as a class, or forget them.

One after the other, also where several are one transaction.  The same message twice counts once; one
learned as another class before moves.  The calibration learns from the score that the message had before
it counted.

`learn_own` counts a message on the filter's own verdict.  The calibration never learns from that: it has to
know how often verdicts are right.  Who says later what the message is takes that counting out whole, and
the message is learned as if it were new; what nobody labels is forgotten when there are many later ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbspam.errors import UsageError
from nbspam.filter import as_scored
from nbspam.mail.limits import MAX_READ_BYTES
from nbspam.model.scorer import Counted, Scorer
from nbspam.settings import ALL_VIEWS, from_text
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import (
    MessageToken,
    Updater,
    autolearned_messages,
    learned,
    mark,
    oldest,
    take_back,
    updating,
)
from nbspam.tasks.feedback import learner_of, write_learner
from nbspam.tasks.message_bytes import counted_message

LEARNED = "learned"
MOVED = "moved"
KNOWN = "already learned"
FORGOTTEN = "forgotten"
UNKNOWN = "was never learned"
TOO_FEW = "too few labelled messages"
# Messages that are counted on the filter's own verdict.  The oldest are forgotten, so that a model left to
# itself does not grow for ever: docs/decisions.md.
MAX_OWN = 1_000
FORGOTTEN_AT_ONCE = 2  # where models were merged there may be many more
# Labelled messages of each class, before a filter takes its own word: docs/decisions.md.
MIN_LABELLED = 100


def _counted(data: bytes, model: Model, name: str = "") -> Counted:
    """A message as training counts it: its first MAX_READ_BYTES."""
    return counted_message(data[:MAX_READ_BYTES], from_text(model.settings, model.path), name)


def check_class(path: str, label: str = "") -> None:
    """Raises what is wrong with the model, or that it has no such class, before any mail is read."""
    model = open_model(path)
    if label:
        class_number(model, label)
    model.close()


def _rows(counted: Counted, model: Model) -> list[MessageToken]:
    if model.settings.get("features") == "numeric":
        return []
    counted.keep(model.settings.get("views", ALL_VIEWS))
    return [
        (key, view, text, n)
        for view, tokens in enumerate(counted.tokens)
        for key, (text, n) in tokens.items()
    ]


def learn(path: str, label: str, data: bytes) -> str:
    """Counts one message as `label`; returns LEARNED, MOVED or KNOWN."""
    return learn_all(path, label, [data])[0]


def learn_all(path: str, label: str, messages: Sequence[bytes], names: Sequence[str] = ()) -> list[str]:
    """Counts messages one after the other as `learn`, in one transaction: all of them, or none.

    names : what the messages are called where a fault of this program is told
    """
    with updating(path) as updater:
        named = zip(messages, names or [""] * len(messages), strict=True)
        return [_learn(updater, path, label, data, name) for data, name in named]


def _learn(updater: Updater, path: str, label: str, data: bytes, name: str) -> str:
    model = Model(path, updater.connection)
    counted = _counted(data, model, name)
    number = class_number(model, label)
    own = take_back(updater, counted.digest)
    if own is not None:
        model = Model(path, updater.connection)  # without the message
    before = learned(updater.connection, counted.digest)
    if number in before and len(before) == 1:
        return KNOWN
    if not before:
        _learn_calibration(updater, model, counted, number)
    for other, times in before.items():
        for _ in range(times if other != number else 0):
            _count(updater, model, other, counted, -1)
    if number not in before:
        _count(updater, model, number, counted, 1)
    return MOVED if before or own not in (None, number) else LEARNED


def takes_own_word(model: Model) -> bool:
    """Whether messages enough of each class were labelled for the filter to learn its own verdicts."""
    own = autolearned_messages(model)
    return all(n - of_own >= MIN_LABELLED for n, of_own in zip(model.messages, own, strict=True))


def learn_own(path: str, label: str, data: bytes) -> str:
    """Counts one message as `label` on the filter's own verdict; returns LEARNED, KNOWN or TOO_FEW.

    The model is one of words: of numbers nothing is kept to take them out by.
    """
    with updating(path) as updater:
        model = Model(path, updater.connection)
        number = class_number(model, label)
        counted = _counted(data, model)
        refused = _own_word_refused(model, counted)
        if refused:
            return refused
        own, tokens = sum(autolearned_messages(model)), _rows(counted, model)
        updater.count(number, counted.digest, tokens, 1)
        mark(updater.connection, counted.digest, number, tokens)
        for _ in range(outdated(own + 1)):
            take_back(updater, oldest(updater.connection))
    return LEARNED


def outdated(own: int) -> int:
    """How many of so many messages that it counted itself a filter forgets when it has counted one more."""
    return min(FORGOTTEN_AT_ONCE, max(0, own - MAX_OWN))


def own_word_refused(path: str, data: bytes) -> str:
    """What keeps a model from learning a message on the filter's own verdict: KNOWN, TOO_FEW, or nothing."""
    model = open_model(path)
    try:
        return _own_word_refused(model, _counted(data, model))
    finally:
        model.close()


def _own_word_refused(model: Model, counted: Counted) -> str:
    if learned(model.connection, counted.digest):
        return KNOWN
    return "" if takes_own_word(model) else TOO_FEW


def unlearn(path: str, data: bytes) -> str:
    """Takes one counting of a message out again; returns FORGOTTEN or UNKNOWN."""
    return unlearn_all(path, [data])[0]


def unlearn_all(path: str, messages: Sequence[bytes], names: Sequence[str] = ()) -> list[str]:
    """Takes out messages one after the other as `unlearn`, in one transaction.  names : as for learn_all"""
    with updating(path) as updater:
        named = zip(messages, names or [""] * len(messages), strict=True)
        return [_unlearn(updater, path, data, name) for data, name in named]


def _unlearn(updater: Updater, path: str, data: bytes, name: str) -> str:
    model = Model(path, updater.connection)
    counted = _counted(data, model, name)
    if take_back(updater, counted.digest) is not None:
        return FORGOTTEN
    for number in learned(updater.connection, counted.digest):
        _count(updater, model, number, counted, -1)
        return FORGOTTEN
    return UNKNOWN


def _count(updater: Updater, model: Model, number: int, counted: Counted, sign: int) -> None:
    """Adds the message to a class, or takes it out: words, and numeric features if the model has them."""
    updater.count(number, counted.digest, _rows(counted, model), sign)
    features = model.numeric_features()
    if features:
        from nbspam.model.features import message_rows  # word models do not pay for it

        with_pairs = model.settings.get("numeric_model") == "aode"
        updater.count_numeric(number, message_rows(features, counted.features, with_pairs), sign)


def class_number(model: Model, label: str) -> int:
    """The number of a class; UsageError if the model has no such class."""
    if label not in model.classes:
        remedy = "its classes: " + ", ".join(model.classes)
        raise UsageError(label, f"{model.path} has no such class", remedy, "no-such-class")
    return model.classes.index(label)


def _learn_calibration(updater: Updater, model: Model, counted: Counted, number: int) -> None:
    settings = from_text(model.settings, model.path)
    learner = learner_of(updater, model, settings)
    if learner is None:
        return
    known = as_scored(model)
    scored = Scorer(known, settings).score(counted)
    learner.learn(scored.evidence, scored.common, number, sum(known.messages))
    write_learner(updater, settings, learner)
