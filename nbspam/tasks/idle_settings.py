"""Which settings change nothing beside others.

Hides what each way of scoring makes use of.  Who names such a setting has meant another way of scoring, so
it is an error, told before any mail is read; a default that has nothing to do is none.
"""

from __future__ import annotations

from nbspam.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbspam.settings import Settings


def check_all_act(names: Iterable[str], settings: Settings, is_kept: bool = False) -> None:
    """Raises for the first of the settings named that changes nothing under `settings`.

    is_kept : a model is made, whose bins serve other event models, too, when it classifies
    """
    acting = _acting(settings, is_kept)
    for name in names:
        acts, why, remedy = acting.get(name, (True, "", ""))
        if not acts:
            raise UsageError("", why, f"leave it out, or {remedy}", "no-effect", option=name)


def _acting(settings: Settings, is_kept: bool) -> dict[str, tuple[bool, str, str]]:
    """Setting -> whether it acts, and if not why and what else to say."""
    with_words, with_numbers = settings.features != "numeric", settings.features != "words"
    complement = settings.event_model == "complement"
    gaussian = settings.numeric_model == "gaussian"
    smoothed = settings.prior == "smoothed"  # by lambda
    binned = (
        with_numbers and (is_kept or not gaussian),
        "no numeric feature is cut into bins here",
        "add `event_model=categorical` or aode",
    )
    return {
        "threshold": (
            settings.averaged,
            "is for averaged views, and scores are one sum here",
            "score by presence without `textbook`",
        ),
        "normalise": (complement, "is for the complement model", "add `event_model=complement`"),
        "numeric_model": (
            settings.features == "both",
            "scores numeric features beside words",
            "add `features=both`",
        ),
        "bins": binned,
        "binning": binned,
        "alpha": (
            with_words or not gaussian or smoothed,
            "the Gaussian model has no lambda",
            "choose another event model",
        ),
        "prior": (
            not complement or with_numbers,
            "the complement model has no prior",
            "choose another event model",
        ),
    }
