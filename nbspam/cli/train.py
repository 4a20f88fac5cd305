"""`nbspam train`."""

import os

from nbspam.cli import CLUSTER, SCORING, SOURCE, Options, command, plain, say, shared
from nbspam.cli.progress import check_all_read, message_steps, train_summary
from nbspam.model.features import parse_edges
from nbspam.model.posterior import log_priors, parse_prior
from nbspam.tasks.train import train_model

# Only a new model can be given these.
FOR_A_NEW_MODEL = (*SCORING, "edges", "max_memory", "vocab", "loss", *CLUSTER)


@command(
    *(*SOURCE, "attached", "model", *SCORING, "edges", "jobs", "max_memory", "vocab", "loss", *CLUSTER),
    *("update", "start", "replace", "mode", "train.verbose", "quiet"),
)
def train_command(options: Options) -> None:
    """Train a model on labelled mail.

    SOURCE is a folder with one subfolder for each class (ham/ spam/, or any names), a Maildir++ tree (.Junk
    and .Spam are spam), or an index file of lines LABEL PATH.  Uses all cores.

    The model is written whole or not at all.  An existing model is not overwritten unless --update or
    --replace is given.  --start needs --update.

    \b
    Example:
        nbspam train ~/Maildir
        nbspam train --ham ~/mail/inbox --spam ~/mail/junk.mbox -m my.nbspam

    Exit status: 0 trained; 64 usage; 65 bad data; 66 no mail, no model to add to, or mail that cannot be
    read (the model is trained on the rest); 73 cannot create the model; 74 I/O; 75 try again later: another
    program writes to the model.
    """
    if options.find_named(["update", "replace"]) == "update":
        _update(options)
    else:
        options.refuse(["start"], "is not for a new model", "add --update", "train-start")
        _train(options)
    if options.mode is not None:
        os.chmod(options.model, options.mode)


def _train(options: Options) -> None:
    """Train a new model."""
    model, replace = options.model, options.replace
    plan, source = shared.open_training(options, is_kept=True)
    plan = plan._replace(
        edges=parse_edges(options.edges, plan.settings.numeric_model),
        replaces=replace,
        max_memory=options.max_memory or 0,
        source=_source("train", options),
        keeps_names=options.verbose,
    )
    log_priors(parse_prior(plan.settings.prior), [1] * len(source.classes), source.classes)
    shared.check_new_model(model, replace, "--update adds to it, --replace writes it anew")
    with shared.open_workers(options) as jobs, message_steps("Training", source) as advance:
        mail = shared.iterate_mail(source, jobs)
        trained = train_model(mail, source.classes, model, plan, jobs, advance)
    say(train_summary(trained))
    check_all_read(source.skipped, trained.skipped)


def _source(command: str, options: Options) -> str:
    """The command and its mail, for the ledger."""
    return "\t".join([command, *map(os.path.abspath, shared.list_mail(options))])


def _update(options: Options) -> None:
    """Add the mail to the model, or to an overlay of --start; the settings of the model stay."""
    from nbspam.filter import choose_model
    from nbspam.learning.learn import check_classes
    from nbspam.tasks.update import update

    why, remedy = "the model keeps its settings", "leave it out, or train anew with --replace"
    options.refuse(FOR_A_NEW_MODEL, why, remedy, method="--update")
    model, start = options.model, options.start
    check_classes(choose_model(model, start))
    source = shared.open_source(options, allow_one_class=True)
    items, jobs = source.items(), options.jobs
    with message_steps("Adding", source) as advance:
        origin = _source("train --update", options)
        added = update(items, source.classes, model, jobs, advance, start, origin, options.verbose)
    if added.begins:
        say(f"{plain(model)} begins as {added.begins} of {plain(start)}.")
    say(train_summary(added, "Added"))
    check_all_read(source.skipped, added.skipped)
