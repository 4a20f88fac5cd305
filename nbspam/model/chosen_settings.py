"""Settings that people choose: another way of scoring by a saved model, and settings without effect.

A chosen setting without effect is an error before any mail is read: another way of scoring was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from nbspam.errors import UsageError
from nbspam.model.posterior import parse_prior
from nbspam.model.words import parse_alpha
from nbspam.settings import ALL_VIEWS, NUMERIC_MODELS, Settings
from nbspam.tokens.bag import READ_VIEWS


class Scoring(TypedDict, total=False):
    """The settings that people ask for, of a new model or in place of those of a saved one.

    What nobody asked for is left out.  docs/models.md says what they mean.
    """

    event_model: str | None
    alpha: float | str | None
    prior: str
    features: str | None
    views: str
    threshold: float
    normalise: bool
    numeric_model: str | None
    bins: int
    binning: str
    textbook: bool
    token_pattern: str


REPLACEABLE = ("event_model", "alpha", "prior", "features", "textbook")  # a saved model keeps the others
AS_GIVEN = ("prior", "threshold", "normalise", "bins", "binning")  # settings that need no other


def make_settings(scoring: Scoring, is_kept: bool = False) -> Settings:
    """The settings of a new model; UsageError for a value that makes no sense, or has no effect.

    is_kept : see check_all_act
    """
    from nbspam.model.numeric import check_bins

    event_model, numeric_model = scoring.get("event_model"), scoring.get("numeric_model")
    if event_model in NUMERIC_MODELS and numeric_model:
        why = f"`event_model={event_model}` is a model of the numeric features, too"
        raise UsageError(numeric_model, why, "leave out one of them", "no-effect", option="numeric_model")
    alpha = scoring.get("alpha")
    features = scoring.get("features") or ""
    as_given = {name: value for name, value in scoring.items() if name in AS_GIVEN}
    settings = Settings(
        event_model or ("gaussian" if features == "numeric" else "presence"),
        alpha=None if alpha is None else parse_alpha(alpha),
        averaged=not scoring.get("textbook"),
        features=features,
        numeric_model=numeric_model or "",
        views=_parse_views(scoring.get("views", ALL_VIEWS)),
        token_pattern=scoring.get("token_pattern", ""),
        **as_given,
    )
    if not 0 <= settings.threshold < float("inf"):
        why, where = "is not a number of nats >= 0", f"{settings.threshold:g}"
        raise UsageError(where, why, "for example: 2", "threshold", option="threshold")
    check_bins(settings.bins, settings.numeric_model == "aode")
    parse_prior(settings.prior)
    _check_views_scored(settings)
    check_own_words(settings)
    check_all_act(scoring, settings, is_kept)
    return settings


def _check_views_scored(settings: Settings) -> None:
    """Raise if the settings name a view that they do not score."""
    scored = [getattr(settings, name, True) for name in settings.views.split(",")]  # header, body: always
    is_scored = settings.features != "numeric" and all(scored)
    if settings.views != ALL_VIEWS and not is_scored:
        raise _views_error(settings.views, "names a view that is not scored here")


def check_own_words(settings: Settings) -> None:
    """Raise for a wrong token pattern, and if its words would be averaged: that is measured on our tokens."""
    if not settings.token_pattern:
        return
    from nbspam.tokens.own_words import compile_pattern

    compile_pattern(settings.token_pattern)
    if settings.averaged:
        why, remedy = "the default model has its own words", "add `textbook`, or name another `event_model`"
        raise UsageError(settings.token_pattern, why, remedy, "token-pattern", option="token_pattern")


def _parse_views(text: str) -> str:
    """Names of views as Settings.views has them, in the order of READ_VIEWS."""
    names = set(READ_VIEWS) if text == ALL_VIEWS else {name.strip() for name in text.split(",")}
    if not names <= set(READ_VIEWS):
        raise _views_error(text[:60], "is not a list of views")
    return ALL_VIEWS if names == set(READ_VIEWS) else ",".join(name for name in READ_VIEWS if name in names)


def _views_error(where: str, why: str) -> UsageError:
    remedy = f"some of {','.join(READ_VIEWS)}, separated by commas, or all"
    return UsageError(where, why, remedy, "views", option="views")


def change_settings(settings: Settings, scoring: Scoring) -> Settings:
    """The settings of a saved model with some replaced; UsageError for one without effect.

    scoring : of REPLACEABLE
    """
    event_model, numeric_model, features = _choose_models(settings, scoring)
    same, textbook = event_model == settings.event_model, scoring.get("textbook", False)
    alpha = scoring.get("alpha")
    if alpha is not None:
        alpha = parse_alpha(alpha)
    elif same and not textbook:
        alpha = settings.alpha
    new = Settings(
        event_model,
        alpha=alpha,
        prior=scoring.get("prior", settings.prior),
        averaged=(settings.averaged or not same) and not textbook and not settings.token_pattern,
        features=features,
        numeric_model=numeric_model,
        token_pattern=settings.token_pattern,
        **{name: getattr(settings, name) for name in AS_GIVEN if name != "prior"},
    )
    if new.averaged and settings.averaged:  # the calibration weighs the evidence that it was learned on
        new = settings.replaced(alpha=new.alpha, prior=new.prior)
    check_all_act(scoring, new)
    return new


def _choose_models(settings: Settings, scoring: Scoring) -> tuple[str, str, str]:
    """(event model, numeric model, features): each is kept unless it contradicts what is asked for."""
    asked = scoring.get("event_model")
    event_model, numeric_model = asked or settings.event_model, settings.numeric_model
    stays = event_model == settings.event_model or settings.features == "both"
    features = scoring.get("features") or (settings.features if stays else "")
    if asked in NUMERIC_MODELS and features == "both":
        event_model, numeric_model = settings.event_model, asked  # the words keep their model
    elif not asked and features == "numeric" and event_model not in NUMERIC_MODELS:
        event_model = numeric_model
    return event_model, numeric_model, features


def check_all_act(names: Iterable[str], settings: Settings, is_kept: bool = False) -> None:
    """Raises for the first of the settings named that changes nothing under `settings`.

    is_kept : a model is made, whose bins serve other event models, too, when it classifies
    """
    with_words, with_numbers = settings.features != "numeric", settings.features != "words"
    complement, gaussian = settings.event_model == "complement", settings.numeric_model == "gaussian"
    is_smoothed = with_words or not gaussian or settings.prior == "smoothed"
    has_bins = with_numbers and (is_kept or not gaussian)
    of_bins = (has_bins, "numeric features in bins: categorical or aode")
    acts = {
        "threshold": (settings.averaged, "averaged views: presence without `textbook`"),
        "normalise": (complement, "`event_model=complement`"),
        "prior": (with_numbers or not complement, "models with a prior: all but complement"),
        "numeric_model": (settings.features == "both", "numeric features with words: `features=both`"),
        "alpha": (is_smoothed, "models with a lambda: all but gaussian"),
        "bins": of_bins,
        "binning": of_bins,
        "edges": of_bins,
        "views": (not settings.token_pattern, "our tokens: own words are one view"),
        "token_pattern": (with_words, "words"),
    }
    for name in names:
        does_act, of = acts.get(name, (True, ""))
        if not does_act:
            why = f"has no effect here; it is for {of}"
            raise UsageError("", why, "leave it out", "no-effect", option=name)
