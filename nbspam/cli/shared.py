"""Options that several commands have, and the pieces every command needs.

Hides how SOURCE is given on the command line, where the model lies, and when a progress bar
may be shown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from nbspam.cli.texts import default_model, default_start, flag_of
from nbspam.corpus import Source, open_labelled
from nbspam.corpus.executor import MAX_JOBS, default_jobs
from nbspam.errors import BadDataError, UsageError, show_faults
from nbspam.labels import checked_name
from nbspam.model.chosen_settings import check_all_act, chosen
from nbspam.settings import (
    ALL_VIEWS,
    ALPHA,
    BINNINGS,
    BINS,
    EVENT_MODELS,
    FEATURES,
    NUMERIC_MODELS,
    THRESHOLD,
    Settings,
)
from nbspam.tokens.bag import READ_VIEWS

if TYPE_CHECKING:
    from nbspam.model.chosen_settings import Scoring

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def model_option(command: Decorated) -> Decorated:
    """-m/--model, the default in place."""
    return click.option(
        "-m",
        "--model",
        metavar="MODEL",
        default=lambda: default_model(os.environ),
        show_default="$NBSPAM_MODEL, else ~/.local/share/nbspam/model.nbspam",
        help="The model file.",
    )(command)


def start_option(command: Decorated) -> Decorated:
    """--start, the default in place."""
    return click.option(
        "--start",
        metavar="MODEL",
        default=lambda: default_start(os.environ),
        show_default="$NBSPAM_START",
        help="Where there is no model yet: judge by this one, and begin to learn with a copy of it.",
    )(command)


def source_options(command: Decorated) -> Decorated:
    """SOURCE in all its forms."""
    for option in (
        click.option(
            "--skip-unread",
            is_flag=True,
            help="Leave out mail that nobody has opened, but for spam: what slipped through is no ham. "
            "Known of Maildir, MH, mbox.",
        ),
        click.option("--rules", metavar="FILE", help="Which folder of a Maildir++ tree is which class."),
        click.option(
            "--class", "classes", metavar="NAME=PATH", multiple=True, help="Mail of a class; repeatable."
        ),
        click.option(
            "--spam",
            metavar="PATH",
            multiple=True,
            help="Spam, likewise; repeatable.",
        ),
        click.option(
            "--ham", metavar="PATH", multiple=True, help="Ham: Maildir, MH, mbox, folder or file; repeatable."
        ),
        click.argument("source", metavar="[SOURCE]...", nargs=-1),
    ):
        command = option(command)
    return command


# The way of scoring; the last one stands first in the help.
_SCORING = (
    click.option("--textbook", is_flag=True, help="One bag, lambda = 1, no averaging, no calibration."),
    click.option("--normalise", is_flag=True, help="Weight normalisation of the complement model."),
    click.option(
        "--binning",
        type=click.Choice(BINNINGS),
        default=BINNINGS[0],
        show_default=True,
        help="Bins of equal frequency or of equal width.",
    ),
    click.option(
        "--bins",
        type=int,
        metavar="N",
        default=BINS,
        show_default=True,
        help="Bins of a numeric feature, for categorical and aode.",
    ),
    click.option(
        "--numeric-model",
        type=click.Choice(NUMERIC_MODELS),
        help="With --features both: what scores the numeric features.  [default: gaussian]",
    ),
    click.option(
        "--features",
        type=click.Choice(FEATURES),
        help="What is counted and scored. Default: what the event model scores.",
    ),
    click.option(
        "--prior",
        default="empirical",
        show_default=True,
        help="empirical, smoothed, uniform, or spam=0.4,ham=0.6.",
    ),
    click.option(
        "--views",
        default=ALL_VIEWS,
        show_default=True,
        metavar="VIEW,...",
        help=f"The tokens that are read: of {', '.join(READ_VIEWS)}, or some of them.",
    ),
    click.option(
        "--threshold",
        type=float,
        metavar="NATS",
        default=THRESHOLD,
        show_default=True,
        help="Averaged views: a token whose classes differ by no more says nothing.",
    ),
    click.option(
        "--alpha",
        metavar="X|auto",
        help=f"The smoothing constant lambda. Default: {ALPHA:g} for averaged views, else 1.",
    ),
    click.option(
        "--event-model",
        type=click.Choice(EVENT_MODELS),
        show_default="presence; gaussian with --features numeric",
        help="The naive Bayes model.",
    ),
)


def scoring_options(command: Decorated) -> Decorated:
    """The way of scoring."""
    for option in _SCORING:
        command = option(command)
    return command


def jobs_option(command: Decorated) -> Decorated:
    """-j/--jobs."""
    return click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, MAX_JOBS),
        default=default_jobs,
        show_default="all cores",
        help="Processes that share the work.",
    )(command)


def quiet_option(command: Decorated) -> Decorated:
    """-q/--quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")(command)


def verbose_option(command: Decorated) -> Decorated:
    """-v/--verbose, which acts by itself."""
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=lambda context, option, is_given: show_faults() if is_given else None,
        help="Name messages that are read only in part: a fault of nbspam.",
    )(command)


def json_option(command: Decorated) -> Decorated:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")(command)


def names_mail(given: dict[str, Any]) -> bool:
    """Whether labelled mail is named; UsageError for options of it where there is none."""
    if any(given[name] for name in ("source", "ham", "spam", "classes")):
        return True
    for name in ("rules", "skip_unread"):
        if given[name]:
            flag = flag_of(name)
            raise UsageError(flag, "is for labelled mail, and none is named", "name SOURCE", "no-effect")
    return False


def labelled_source(given: dict[str, Any], allow_one_class: bool = False) -> Source:
    """The labelled mail that the options of `source_options` name."""
    classes: dict[str, list[str]] = {}
    for item in given["classes"]:
        name, equals, path = item.partition("=")
        if not equals or not path:
            raise UsageError(
                f"--class {item}",
                "is not NAME=PATH",
                "for example: --class work=Maildir/.work",
                "class-option",
            )
        classes.setdefault(asked_name(name, "--class"), []).append(path)
    return open_labelled(
        given["source"],
        ham=list(given["ham"]),
        spam=list(given["spam"]),
        classes=classes,
        rules=given["rules"],
        skip_unread=given["skip_unread"],
        allow_one_class=allow_one_class,
    )


def asked_name(name: str, where: str) -> str:
    """The canonical spelling of a class name of the command line; UsageError if it cannot be one."""
    try:
        return checked_name(name, where)
    except BadDataError as error:
        raise UsageError(where, error.why, "give another name, for example: spam", error.slug) from None


def named_files(given: dict[str, Any]) -> list[str]:
    """What `source_options`, --vocab and -m name: none of it may be written over."""
    labelled = [item.partition("=")[2] for item in given["classes"]]
    single = [given.get(name) for name in ("rules", "vocab", "model", "word_list")]
    return [*given["source"], *given["ham"], *given["spam"], *labelled, *filter(None, single)]


def asked_settings(given: dict[str, Any], is_kept: bool = False) -> Settings:
    """The way of scoring asked for, in which every option acts; UsageError for one that does not.

    is_kept : for a model that is made, see check_all_act
    """
    settings = chosen(cast("Scoring", given))
    check_all_act(asked_options(given), settings, is_kept)
    _check_views(settings, given)
    return settings


def asked_options(names: Iterable[str]) -> list[str]:
    """Those of the options that are on the command line."""
    source, context = click.core.ParameterSource.COMMANDLINE, click.get_current_context()
    return [name for name in names if context.get_parameter_source(name) == source]


def _check_views(settings: Settings, given: dict[str, Any]) -> None:
    """Raises where something else than --views and --bins says what is read, and how it is cut."""
    for name in asked_options(["bins", "binning"]):
        if given.get("prior_model"):
            why = "the prior model says where numeric features are cut"
            raise UsageError(f"--{name} --prior-model", why, "leave out one of them", "no-effect")
    for option, owner in (("vocab", "the vocabulary"), ("prior_model", "the prior model")):
        if settings.views != ALL_VIEWS and given.get(option):
            flag = flag_of(option)
            why = f"{owner} says which tokens are read"
            raise UsageError(f"--views {settings.views} {flag}", why, "leave out one of them", "views")
    if settings.features == "numeric" and given.get("vocab"):
        why = "numeric features are no words of a vocabulary"
        raise UsageError("--features numeric --vocab", why, "leave out one of them", "features")


def shows_progress(quiet: bool) -> bool:
    """Whether people watch: stderr is a terminal and nobody asked for silence."""
    return not quiet and sys.stderr.isatty()
