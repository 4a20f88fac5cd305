"""`nbspam train`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from nbspam.cli.output import begun_line, check_new_model
from nbspam.cli.render import MessageSteps, check_all_read, say, train_summary
from nbspam.cli.shared import (
    asked_options,
    asked_settings,
    jobs_option,
    labelled_source,
    model_option,
    names_mail,
    quiet_option,
    scoring_options,
    shows_progress,
    source_options,
    start_option,
    verbose_option,
)
from nbspam.cli.texts import flag_of
from nbspam.corpus import Source
from nbspam.corpus.vocabulary import read_vocabulary
from nbspam.errors import UsageError
from nbspam.filter import read_loss
from nbspam.model.priors import log_priors, parse_prior
from nbspam.settings import Settings
from nbspam.tasks.train import Choices, Trained, train

if TYPE_CHECKING:
    from nbspam.tasks.prior_model import PriorModel

ALL = "all"  # the regime that counts every message

# What only a new model can be given.
KEPT_BY_UPDATE = (
    "event_model",
    "alpha",
    "threshold",
    "views",
    "prior",
    "features",
    "normalise",
    "textbook",
    "vocab",
    "numeric_model",
    "bins",
    "binning",
    "loss",
    "prior_model",
    "prior_weight",
)


@click.command("train")
@source_options
@model_option
@scoring_options
@jobs_option
@click.option(
    "--vocab", metavar="FILE", help="Count the words of this vocabulary only; all others are NOTAWORD."
)
@click.option(
    "--loss",
    metavar="COSTS|FILE",
    help="What decisions cost; the model keeps it. FP=10,FN=1,unsure=0.2 or a matrix.",
)
@click.option("--prior-model", metavar="MODEL", help="A model trained elsewhere as the prior of this one.")
@click.option(
    "--prior-weight",
    type=float,
    metavar="W",
    help="What the prior model counts for, in messages.  [default: 100]",
)
@click.option(
    "--regime",
    metavar="REGIME",
    default=ALL,
    show_default=True,
    help="What is counted: all; on-error: in order of time, what those counted before it judge wrongly; "
    "thick:MARGIN: also what lies within so many nats of the cut-off.",
)
@click.option(
    "--update",
    "adds",
    is_flag=True,
    help="Add the mail to the model that is there; what it has counted, counts again.",
)
@start_option
@click.option("--replace", is_flag=True, help="Write a new model over the one that is there.")
@verbose_option
@quiet_option
def train_command(model: str, start: str, adds: bool, replace: bool, quiet: bool, **given: Any) -> None:
    """Train a model on labelled mail, in and out of core, on all cores.

    SOURCE is a folder with class-named subfolders (ham/ spam/, or any names), a Maildir++ tree (.Junk and
    .Spam are spam), or an index file of lines LABEL PATH.  The model is written whole or not at all; one that
    exists is not overwritten unless --update or --replace says so.  --start is for --update.

    \b
    Example:
        nbspam train ~/Maildir
        nbspam train --ham ~/mail/inbox --spam ~/mail/junk.mbox -m my.nbspam
        nbspam train --regime thick:3 trec/full/index

    Exit status: 0 trained; 64 usage; 65 bad data; 66 no mail, no model to add to, or mail that cannot be
    read: trained on all other; 73 cannot create the model; 74 I/O; 75 try again later: another program
    writes to the model.
    """
    if adds and replace:
        raise UsageError("--update --replace", "exclude each other", "give one of them", "usage")
    if adds:
        _update(model, start, quiet, given)
    else:
        _check_no_start()
        check_new_model(model, replace, "--update adds to it, --replace writes it anew")
        _train(model, replace, quiet, given)


def _train(model: str, replace: bool, quiet: bool, given: dict[str, Any]) -> None:
    """Makes a new model."""
    settings = asked_settings(given, is_kept=True)
    source = _source(given)
    classes = source.classes if source else ()
    vocabulary = read_vocabulary(given["vocab"]) if given["vocab"] else None
    with prior_model(given, classes) as prior:
        if prior and vocabulary:
            prior.check_vocabulary(vocabulary)
        choices = Choices(
            vocabulary,
            given["alpha"] == "auto",
            prior,
            decision_settings(given["loss"], prior.classes if prior else classes),
            replaces=replace,
        )
        check_prior(settings.prior, prior.classes if prior else classes)
        if given["regime"] != ALL:
            trained = _train_by_regime(model, source, settings, choices, quiet, given)
        else:
            items, jobs, shown = source.items() if source else (), given["jobs"], shows_progress(quiet)
            with MessageSteps("Training", source, shown) as progress:
                trained = train(items, classes, model, settings, jobs, progress.advance, choices)
    if not quiet:
        say(train_summary(trained, source))
    check_all_read(source.skipped if source else [], trained.skipped)


def _train_by_regime(
    model: str,
    source: Source | None,
    settings: Settings,
    choices: Choices,
    quiet: bool,
    given: dict[str, Any],
) -> Trained:
    """Makes a new model of the messages that --regime chooses."""
    # A replay and its bar stand on scipy, which a plain training need not wait for.
    from nbspam.cli.render import Steps
    from nbspam.tasks import regimes

    feedback = regimes.parse_regime(given["regime"])
    regimes.check_regime(feedback, settings, choices)
    source = source or labelled_source(given)
    loss = read_loss(given["loss"], source.classes)
    shown = shows_progress(quiet)
    with MessageSteps("Reading", source, shown) as progress:
        read = regimes.read_block(
            source.items(), source.classes, model, given["jobs"], progress.advance, settings.wanted
        )
    regime = regimes.Regime(feedback, loss, source.ordered_by_index)
    with Steps("Choosing", len(read[0]), shown) as steps:
        return regimes.train_by_regime(read, source.classes, model, settings, regime, choices, steps.advance)


def _check_no_start() -> None:
    """A start of the environment is for other commands, one of the command line was meant."""
    if asked_options(["start"]):
        remedy = "add --update; or weigh it as --prior-model"
        raise UsageError("--start", "a new model begins with nothing", remedy, "train-start")


def _update(model: str, start: str, quiet: bool, given: dict[str, Any]) -> None:
    """Adds the mail to the model that is there, or to a copy of its start; how it scores stays as it is."""
    from nbspam.store.learn import check_class
    from nbspam.tasks.start import judging
    from nbspam.tasks.update import update

    for name in asked_options(KEPT_BY_UPDATE):
        option = flag_of(name)
        remedy = "leave it out, or train anew with --replace"
        raise UsageError(
            f"--update {option}", "the model keeps its way of counting and scoring", remedy, "usage"
        )
    if given["regime"] != ALL:
        remedy = "train anew with --replace, or let nbspam learn add message by message"
        raise UsageError(
            f"--update --regime {given['regime']}", "a regime chooses from nothing", remedy, "regime"
        )
    check_class(judging(model, start))
    source = labelled_source(given, allow_one_class=True)
    items, jobs, shown = source.items(), given["jobs"], shows_progress(quiet)
    with MessageSteps("Adding", source, shown) as progress:
        added = update(items, source.classes, model, jobs, progress.advance, start)
    if not quiet:
        if added.begun:
            say(begun_line(model, start))
        say(train_summary(added, source, "Added"))
    check_all_read(source.skipped, added.skipped)


def _source(given: dict[str, Any]) -> Source | None:
    """The mail that is named; None where a prior model is all there is."""
    if given["prior_model"] and not names_mail(given):
        return None
    return labelled_source(given, allow_one_class=bool(given["prior_model"]))


def prior_model(given: dict[str, Any], classes: tuple[str, ...]) -> AbstractContextManager[PriorModel | None]:
    """The model of --prior-model at the weight of --prior-weight, open until the context is left."""
    if given["prior_model"]:
        from nbspam.tasks.prior_model import DEFAULT_WEIGHT, PriorModel

        weight = given["prior_weight"]
        return PriorModel(given["prior_model"], DEFAULT_WEIGHT if weight is None else weight, classes)
    if given["prior_weight"] is not None:
        raise UsageError(
            "--prior-weight", "weighs a prior model, and none is named", "add --prior-model MODEL", "usage"
        )
    return nullcontext()


def decision_settings(loss: str | None, classes: tuple[str, ...]) -> dict[str, str]:
    """The losses as a model file keeps them; a matrix file is read and kept as its text."""
    if loss is None:
        return {}
    read_loss(loss, classes)  # raises what is wrong with them
    if "=" in loss:
        return {"loss": loss}
    with open(loss, encoding="utf-8-sig") as file:
        return {"loss_matrix": file.read()}


def check_prior(prior: str, classes: tuple[str, ...]) -> None:
    """Raises unless the prior names the classes of the mail."""
    log_priors(parse_prior(prior), [1] * len(classes), classes)
