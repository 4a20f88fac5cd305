"""A filter that learns its own verdicts, so that it follows mail as it changes.

Every message that is probable enough is learned, whatever its class and whatever decisions cost.  Learning
only the surest would learn more of one class, and then the words of both classes would become evidence for
it (docs/decisions.md, "Autolearn").

The calibration does not learn from that, because it must know how often verdicts are right.  Without a label
of a person, a message is forgotten after MAX_AUTOLEARNED later ones.
"""

from __future__ import annotations

import os

from nbspam.corpus import unwrap
from nbspam.decision import UNDECIDED, learnable
from nbspam.errors import UsageError
from nbspam.learning.learn import class_number, count_lesson, find_wanted, list_tokens, read_counted
from nbspam.limits import MAX_READ_BYTES
from nbspam.store.autolearned import CORRECTED, LABELLED, count_autolearned, pack_tokens, read_autolearned
from nbspam.store.reader import Model, open_model
from nbspam.store.updater import Origin, open_updater, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nbspam.model.chosen_settings import Scoring
    from nbspam.settings import Settings
    from nbspam.tokens import KeyedTokens

# Messages that the filter counts by its own verdict; the oldest are forgotten, so that a model left to itself
# does not grow without end: docs/decisions.md, "Autolearn".
MAX_AUTOLEARNED = 1_000
# Messages of each class, before a filter learns its own verdicts: docs/decisions.md, "Autolearn".
MIN_LABELLED = 100
# A filter that is corrected more often than this no longer learns its own verdicts: docs/decisions.md,
# "When does autolearn stop".
MIN_JUDGED = 40
MAX_WRONG = 0.05
VERDICT_PATIENCE_SECONDS = 1.0  # how long a verdict waits for other writers; then it is not learned


def check_autolearn(settings: Settings, scoring: Scoring | None = None) -> None:
    """UsageError if verdicts must not be learned, because their probabilities are wrong.

    scoring : settings that replace those of the model
    Scores that are one sum give probabilities that are all near 0 or 1.
    """
    if scoring:
        names = " ".join(f"`{name}`" for name in scoring)
        why = f"the model's own verdicts are learned, not those under {names}"
        raise UsageError("", why, "leave one of them out", "autolearn-settings", option="autolearn")
    if not settings.averaged:
        why = f"without averaged views {settings.event_model} is far too sure of itself"
        remedy = "train with the default event model, presence"
        raise UsageError("", why, remedy, "autolearn-uncalibrated", option="autolearn")


def choose_lesson(
    probabilities: Mapping[str, float] | None, data: bytes, path: str, start: str, source: str
) -> Callable[[], bool] | None:
    """The function that learns a message as its most probable class; None if it is not probable enough.

    A report of SpamAssassin teaches nothing: its verdict may be about the report, and the lesson is not.

    probabilities : by class; None if nothing in the message speaks for a class
    path          : the model that learns; if it does not exist yet, it begins as `start`
    start         : the model that judged
    source        : of the message, for the ledger
    """
    if probabilities is None or len(data) > MAX_READ_BYTES or unwrap(data) is not data:
        return None
    number = learnable(list(probabilities.values()))
    if number == UNDECIDED:
        return None
    return lambda: _learn(path, start, list(probabilities)[number], data, source)


def _learn(path: str, start: str, label: str, data: bytes, source: str) -> bool:
    if not os.path.exists(path):
        with open_model(start) as model:
            if not _may_learn_verdict(model, read_counted(data, find_wanted(model))):
                return False  # the user goes on with the shared model
        from nbspam.store.overlay import start_model  # once in a model's life

        start_model(start, path)
    return learn_verdict(path, label, data, source)


def learn_verdict(path: str, label: str, data: bytes, source: str) -> bool:
    """Count one message as `label`, the filter's own verdict; False if the model may not learn it.

    Only for a model of words: numeric features are not kept, and could not be taken out.
    """
    with open_updater(path, VERDICT_PATIENCE_SECONDS) as updater:
        model = updater.model
        number, message = class_number(model, label), read_counted(data, find_wanted(model))
        if not _may_learn_verdict(model, message):
            return False
        updater.begin(Origin(source, is_own=True))
        count_lesson(updater, number, message, 1)
        tokens = pack_tokens((key, times) for key, _, _, times in list_tokens(model, message))
        updater.change("autolearned", new=[(message.digest, number, tokens)])
        if sum(count_autolearned(model)) > MAX_AUTOLEARNED:
            oldest, _, _ = next(read_autolearned(updater.connection))
            updater.take_back(oldest)
    return True


def _may_learn_verdict(model: Model, message: KeyedTokens) -> bool:
    """True if the message is new, enough mail of each class is labelled, and people rarely correct it."""
    own = count_autolearned(model)
    fewest = min(n - autolearned for n, autolearned in zip(model.messages, own, strict=True))
    is_known = any(read_rows(part.connection, "learned", message.digest) for part in model.parts)
    if fewest < MIN_LABELLED or is_known:
        return False
    judged = sum(own) + model.read_number(LABELLED)
    return judged < MIN_JUDGED or model.read_number(CORRECTED) <= MAX_WRONG * judged
