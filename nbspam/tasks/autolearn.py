"""A filter that learns its own verdicts, so that it follows mail as it changes.

Every message that is probable enough is learned, whatever its class and whatever decisions cost.  Learning
only the surest would learn more of one class, and then the words of both classes would become evidence for
it (docs/decisions.md).
"""

from __future__ import annotations

from nbspam.decision import UNDECIDED, learnable
from nbspam.errors import UsageError
from nbspam.mail.limits import MAX_READ_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nbspam.filter import Filter, Verdict
    from nbspam.settings import Settings


def check_autolearn(classifier: Filter, change: dict[str, str] | None = None) -> None:
    """UsageError where verdicts are not to be learned from: their probabilities do not mean what they say.

    change : settings that the command line gives over those of the model
    """
    if change:
        names = " ".join(f"`{name}`" for name in change)
        why = f"the model's own verdicts are learned, not those under {names}"
        raise UsageError("", why, "leave one of them out", "autolearn-settings", option="autolearn")
    check_calibrated(classifier.settings)


def check_calibrated(settings: Settings) -> None:
    """UsageError for a way of scoring that sums evidence up: its probabilities are all near 0 or 1."""
    if not settings.averaged:
        why = f"as one sum {settings.event_model} is far too sure of itself"
        remedy = "train with the default event model, presence"
        raise UsageError("", why, remedy, "autolearn-uncalibrated", option="autolearn")


def lesson(classifier: Filter, verdict: Verdict, data: bytes, path: str) -> Callable[[], str] | None:
    """What counts a message as what it most likely is; None where that is not likely enough.

    data : the message that the verdict is on
    path : the model that learns it; where none is there yet, it begins as a copy of the one that judged
    """
    if verdict.probabilities is None or len(data) > MAX_READ_BYTES:
        return None
    number = learnable(list(verdict.probabilities.values()))
    if number == UNDECIDED:
        return None
    return lambda: _learned(path, classifier.model.path, classifier.model.classes[number], data)


def _learned(path: str, start: str, label: str, data: bytes) -> str:
    from nbspam.store.learn import learn_verdict, refusal  # not for the mail that is not learned
    from nbspam.tasks.start import copy_shared, own_or_shared

    if own_or_shared(path, start) != path:
        refused = refusal(start, data)
        if refused:  # with nothing to learn, the shared model is followed on
            return refused
        copy_shared(path, start)
    return learn_verdict(path, label, data)
