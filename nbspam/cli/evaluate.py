"""`nbspam eval`."""

from __future__ import annotations

from typing import Any

import click

from nbspam.cli import flag_of
from nbspam.cli.classify import SETTINGS
from nbspam.cli.options import CLUSTER, SCORING, SOURCE, LongCommand
from nbspam.cli.output import check_writable, output_file
from nbspam.cli.render_evaluation import evaluation_json, show_evaluation
from nbspam.cli.shared import (
    asked_options,
    asked_settings,
    asked_workers,
    labelled_source,
    named_files,
    options,
    source_argument,
)
from nbspam.cli.tables import (
    check_all_read,
    message_steps,
    shows_progress,
    steps,
)
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import Source
from nbspam.corpus.vocabulary import read_vocabulary, settings_under
from nbspam.decision import Loss, read_loss
from nbspam.errors import UsageError, show_faults
from nbspam.evaluation.figures import summary
from nbspam.evaluation.formats import result_lines, to_json
from nbspam.evaluation.outcomes import Evaluation
from nbspam.evaluation.replay import parse_feedback
from nbspam.tasks.evaluate import evaluate_folds, evaluate_holdout, evaluate_model, evaluate_replay
from nbspam.tasks.judges import Plan

DEFAULT_FOLDS = 10
METHODS = ("folds", "holdout", "replay", "model")
FILES = ("results", "save", "report")
OWNERS = {"grouped": "folds", "by_time": "holdout", "feedback": "replay", "autolearn": "replay"}
OWNERS |= dict.fromkeys(CLUSTER, "folds")
# A model keeps these ways of counting and scoring from its training.
KEPT_BY_MODEL = ("threshold", "views", "vocab", "normalise", "numeric_model", "bins", "binning")


@click.command("eval", cls=LongCommand)
@source_argument
@options(*SOURCE, "folds", "grouped", "replay", "feedback", "eval.autolearn", "holdout", "by_time")
@options("eval.model", *SCORING, "vocab", "loss", "results", "save", "report", "seed")
@options("jobs", *CLUSTER, "json", "eval.verbose", "quiet")
def eval_command(**given: Any) -> None:
    """Evaluate a filter on labelled mail.

    SOURCE is as for nbspam train.  Each message is read once.  No message is judged by a filter that learned
    it, except with -m, which judges a saved model as it is.  Figures have 95 % intervals, if there is enough
    mail.

    \b
    Example:
        nbspam eval ~/Maildir
        nbspam eval --replay --feedback delayed:100 trec/full/index
        nbspam eval --ham inbox --spam junk.mbox -m my.nbspam --report out.html
        nbspam eval --holdout 0.3 --by-time ~/Maildir

    Exit status: 0 done; 64 usage; 65 bad data, such as mail of one class only; 66 no mail, no model, or mail
    that cannot be read (the figures are of the rest); 73 cannot create a file; 74 I/O; 75 try again later:
    another program writes to the model or replaced it.
    """
    if given["verbose"]:
        show_faults()
    method, shown = chosen_method(given), shows_progress(given["quiet"])
    for number, option in enumerate(FILES):
        check_writable(given[option], *named_files(given), *(given[other] for other in FILES[:number]))
    if given["report"]:
        import nbspam.evaluation.report  # noqa: F401  an error if its libraries are missing
    evaluation, skipped, source = _evaluate(method, given, shown)
    loss = read_loss(given["loss"], evaluation.classes)
    with steps("Figures and their intervals", None, shown):
        found = summary(evaluation, loss)
    try:
        if given["as_json"]:
            click.echo(evaluation_json(evaluation, found))
        else:
            show_evaluation(evaluation, found, given["verbose"])
    finally:  # last, so that a full disk hides no figure; and always, so that `| head` loses no file
        with steps("Writing files", None, shown):
            for option in FILES:
                if given[option]:
                    content = _file_content(option, evaluation, loss)
                    with output_file(given[option]) as file:
                        file.write(content)
    check_all_read(source.skipped, skipped)


def chosen_method(given: dict[str, Any]) -> str:
    """The method that the options ask for, by default folds.  UsageError for two, or an option of another."""
    named = [name for name in METHODS if given[name] is not None and given[name] is not False]
    if len(named) > 1:
        flags = " ".join("--" + name for name in named)
        raise UsageError(flags, "exclude each other", "give one of them", "usage")
    method = named[0] if named else "folds"
    for option, owner in OWNERS.items():
        if given[option] and method != owner:
            remedy = f"add --{owner}, or leave it out"
            raise UsageError(flag_of(option), f"belongs to --{owner}", remedy, "usage")
    return method


def _evaluate(method: str, given: dict[str, Any], shown: bool) -> tuple[Evaluation, Skipped, Source]:
    """The evaluation, what could not be read, and the mail."""
    settings = None if method == "model" else asked_settings(given)
    source = labelled_source(given, allow_one_class=settings is None)
    if settings is None:
        change = changed_settings(given)
        with message_steps("Judging", source, given["quiet"]) as advance:
            how = (given["model"], change, given["loss"], given["jobs"], advance)
            return *evaluate_model(source.items(), source.classes, *how), source
    loss = read_loss(given["loss"], source.classes)
    vocabulary = read_vocabulary(given["vocab"]) if given["vocab"] else None
    settings = settings_under(settings, vocabulary)
    with asked_workers(given) as jobs:
        plan = Plan(settings, given["alpha"] == "auto", loss, given["seed"], vocabulary)
        given |= {"jobs": jobs}
        corpus = read_source(source, given, settings.wanted).seen_by(settings)
        evaluation = _judged(method, corpus, plan, given, shown)
    return evaluation, corpus.skipped, source


def _judged(method: str, corpus: Corpus, plan: Plan, given: dict[str, Any], shown: bool) -> Evaluation:
    n_folds = DEFAULT_FOLDS if given["folds"] is None else given["folds"]
    feedback = parse_feedback(given["feedback"] or "immediate")
    total = {"folds": n_folds, "holdout": 1}.get(method, len(corpus.block))
    with steps(method.capitalize(), total, shown) as advance:
        if method == "folds":
            return evaluate_folds(corpus, plan, n_folds, given["grouped"], given["jobs"], advance)
        if method == "holdout":
            return evaluate_holdout(corpus, plan, given["holdout"], given["by_time"], advance)
        return evaluate_replay(corpus, plan, feedback, advance, given["autolearn"])


def read_source(source: Source, given: dict[str, Any], wanted: frozenset[str]) -> Corpus:
    """All mail of a source, read once."""
    with message_steps("Reading", source, given["quiet"]) as advance:
        jobs = given["jobs"]
        items = source.items() if isinstance(jobs, int) else source.files()
        return read_corpus(items, source.classes, jobs, source.ordered_by_index, advance, wanted)


def changed_settings(given: dict[str, Any]) -> dict[str, str]:
    """The scoring options on the command line, which replace those of the model.

    UsageError for those that a model keeps.
    """
    for name in asked_options(KEPT_BY_MODEL):
        why, remedy = "the model keeps the one it was trained with", "leave it out, or train a model with it"
        raise UsageError(f"--model {flag_of(name)}", why, remedy, "usage")
    return {name: str(given[name]) for name in asked_options(SETTINGS)}


def _file_content(option: str, evaluation: Evaluation, loss: Loss | None) -> bytes:
    """The content of the file that the option asks for."""
    if option == "results":
        return "".join(f"{line}\n" for line in result_lines(evaluation)).encode()
    if option == "save":
        return to_json(evaluation)
    from nbspam.evaluation.report import report_html  # imports matplotlib

    return report_html(evaluation, loss).encode("utf-8", "backslashreplace")
