"""A filter that learns its own verdicts, so that it follows mail as it changes.

Every message that is probable enough is learned, whatever its class and whatever decisions cost.  Learning
only the surest would learn more of one class, and then the words of both classes would become evidence for
it (docs/decisions.md, "Autolearn").
"""

from __future__ import annotations

from nbspam.decision import UNDECIDED, learnable
from nbspam.errors import UsageError
from nbspam.mail.limits import MAX_READ_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nbspam.decision import Verdict
    from nbspam.filter import Filter
    from nbspam.settings import Settings


def check_autolearn(settings: Settings, change: dict[str, str] | None = None) -> None:
    """UsageError if verdicts must not be learned, because their probabilities are wrong.

    change : settings that replace those of the model
    Scores that are one sum give probabilities that are all near 0 or 1.
    """
    if change:
        names = " ".join(f"`{name}`" for name in change)
        why = f"the model's own verdicts are learned, not those under {names}"
        raise UsageError("", why, "leave one of them out", "autolearn-settings", option="autolearn")
    if not settings.averaged:
        why = f"without averaged views {settings.event_model} is far too sure of itself"
        remedy = "train with the default event model, presence"
        raise UsageError("", why, remedy, "autolearn-uncalibrated", option="autolearn")


def lesson(judge: Filter, verdict: Verdict, data: bytes, path: str, source: str) -> Callable[[], bool] | None:
    """The function that learns a message as its most probable class; None if it is not probable enough.

    path   : the model that learns it; if it does not exist yet, it begins as a copy of the model that judged
    source : of the message, for the ledger
    """
    if verdict.probabilities is None or verdict.is_prior_alone or len(data) > MAX_READ_BYTES:
        return None
    number = learnable(list(verdict.probabilities.values()))
    if number == UNDECIDED:
        return None
    return lambda: _learn(path, judge.model.path, judge.classes[number], data, source)


def _learn(path: str, start: str, label: str, data: bytes, source: str) -> bool:
    from nbspam.store.learn import learn_verdict, may_learn_verdict  # few messages are learned
    from nbspam.tasks.start import choose_model, copy_shared

    is_shared = choose_model(path, start) != path
    if is_shared and not may_learn_verdict(start, data):
        return False  # the user goes on with the shared model
    copy_shared(path, start)
    return learn_verdict(path, label, data, source)
