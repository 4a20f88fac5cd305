"""`nbspam eval`."""

from __future__ import annotations

from typing import Any

import click

from nbspam.cli import flag_of
from nbspam.cli.classify import SETTINGS
from nbspam.cli.options import SCORING, SOURCE
from nbspam.cli.output import check_writable, output_file
from nbspam.cli.render import MessageSteps, Steps, check_all_read, left_out_lines, say, waiting
from nbspam.cli.render_evaluation import evaluation_json, show_evaluation
from nbspam.cli.shared import (
    asked_options,
    asked_settings,
    labelled_source,
    named_files,
    options,
    shows_progress,
    source_argument,
)
from nbspam.corpus import Source
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.item import Skipped
from nbspam.corpus.vocabulary import read_vocabulary, settings_under
from nbspam.decision import Loss, read_loss
from nbspam.errors import UsageError, show_faults
from nbspam.evaluate.evaluation import Evaluation
from nbspam.evaluate.figures import summary
from nbspam.evaluate.formats import result_lines, to_json
from nbspam.evaluate.replay import parse_feedback
from nbspam.tasks.evaluate import Plan, evaluate_folds, evaluate_holdout, evaluate_model, evaluate_replay

DEFAULT_FOLDS = 10
METHODS = ("folds", "holdout", "replay", "model")
OWNERS = {"grouped": "folds", "by_time": "holdout", "feedback": "replay", "autolearn": "replay"}
# A model keeps these ways of counting and scoring from its training.
KEPT_BY_MODEL = ("threshold", "views", "vocab", "normalise", "numeric_model", "bins", "binning")


@click.command("eval")
@source_argument
@options(*SOURCE, "folds", "grouped", "replay", "feedback", "eval.autolearn", "holdout", "by_time")
@options("eval.model", *SCORING, "vocab", "loss", "results", "save", "report", "seed")
@options("jobs", "json", "eval.verbose", "quiet")
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
        nbspam eval --holdout 0.3 --textbook --event-model bernoulli --vocab vocab.tsv ~/Maildir

    Exit status: 0 done; 64 usage; 65 bad data, such as mail of one class only; 66 no mail, no model, or mail
    that cannot be read (the figures are of the rest); 73 cannot create a file; 74 I/O; 75 try again later:
    another program writes to the model or replaced it.
    """
    if given["verbose"]:
        show_faults()
    method = chosen_method(given)
    _check_files(given)
    evaluation, skipped, source = _evaluate(method, given)
    loss = read_loss(given["loss"], evaluation.classes)
    shown = shows_progress(given["quiet"])
    with waiting("Figures and their intervals", shown):
        found = summary(evaluation, loss)
    notes = [] if given["quiet"] else left_out_lines(source)
    try:
        if given["as_json"]:
            for note in notes:
                say(note)
            click.echo(evaluation_json(evaluation, found))
        else:
            show_evaluation(evaluation, found, notes, given["verbose"])
    finally:  # last, so that a full disk takes no figure away; but always: `| head` takes no file away
        with waiting("Writing files", shown):
            _write_files(evaluation, given, loss)
    check_all_read(source.skipped, skipped)


def chosen_method(given: dict[str, Any]) -> str:
    """The method that the options ask for, by default folds.  UsageError for two, or for a foreign option."""
    named = [name for name in METHODS if given[name] is not None and given[name] is not False]
    if len(named) > 1:
        flags = " ".join("--" + name for name in named)
        raise UsageError(flags, "exclude each other", "give one of them", "usage")
    method = named[0] if named else "folds"
    for option, owner in OWNERS.items():
        if given[option] and method != owner:
            flag = flag_of(option)
            raise UsageError(flag, f"belongs to --{owner}", f"add --{owner}, or leave it out", "usage")
    return method


def _evaluate(method: str, given: dict[str, Any]) -> tuple[Evaluation, Skipped, Source]:
    """The evaluation, what could not be read, and the mail."""
    settings = asked_settings(given) if method != "model" else None
    source = labelled_source(given, allow_one_class=settings is None)
    shown = shows_progress(given["quiet"])
    if settings is None:
        change = changed_settings(given)
        with MessageSteps("Judging", source, shown) as bar:
            how = (given["model"], change, given["loss"], given["jobs"], bar.advance)
            return *evaluate_model(source.items(), source.classes, *how), source
    loss = read_loss(given["loss"], source.classes)
    vocabulary = read_vocabulary(given["vocab"]) if given["vocab"] else None
    settings = settings_under(settings, vocabulary)
    plan = Plan(settings, given["alpha"] == "auto", loss, given["seed"], given["jobs"], vocabulary)
    corpus = read_source(source, given, settings.wanted).seen_by(settings)
    return _judged(method, corpus, plan, given, shown), corpus.skipped, source


def _judged(method: str, corpus: Corpus, plan: Plan, given: dict[str, Any], shown: bool) -> Evaluation:
    if method == "folds":
        n_folds = DEFAULT_FOLDS if given["folds"] is None else given["folds"]
        with Steps("Folds", n_folds, shown) as steps:
            return evaluate_folds(corpus, plan, n_folds, given["grouped"], steps.advance)
    if method == "holdout":
        with Steps("Holdout", 1, shown) as steps:
            return evaluate_holdout(corpus, plan, given["holdout"], given["by_time"], steps.advance)
    feedback = parse_feedback(given["feedback"] or "immediate")
    with Steps("Replay", len(corpus.block), shown) as steps:
        return evaluate_replay(corpus, plan, feedback, steps.advance, given["autolearn"])


def read_source(source: Source, given: dict[str, Any], wanted: frozenset[str]) -> Corpus:
    """All mail of a source, read once."""
    with MessageSteps("Reading", source, shows_progress(given["quiet"])) as bar:
        how = (given["jobs"], source.ordered_by_index, bar.advance, wanted)
        return read_corpus(source.items(), source.classes, *how)


def changed_settings(given: dict[str, Any]) -> dict[str, str]:
    """The scoring options on the command line, which replace those of the model.

    UsageError for those that a model keeps.
    """
    for name in asked_options(KEPT_BY_MODEL):
        flag = flag_of(name)
        remedy = "leave it out, or train a model with it"
        raise UsageError(f"--model {flag}", "the model keeps the one it was trained with", remedy, "usage")
    return {name: str(given[name]) for name in asked_options(SETTINGS)}


def _check_files(given: dict[str, Any]) -> None:
    """Raises before the work if a file that is asked for cannot be made."""
    files = [given["results"], given["save"], given["report"]]
    for number, path in enumerate(files):
        check_writable(path, *named_files(given), *files[:number])
    if given["report"]:
        import nbspam.evaluate.report  # noqa: F401  an error if its libraries are missing


def _write_files(evaluation: Evaluation, given: dict[str, Any], loss: Loss | None) -> None:
    if given["results"]:
        with output_file(given["results"]) as file:
            file.writelines(f"{line}\n".encode() for line in result_lines(evaluation))
    if given["save"]:
        with output_file(given["save"]) as file:
            file.write(to_json(evaluation))
    if given["report"]:
        from nbspam.evaluate.report import report_html  # imports matplotlib

        page = report_html(evaluation, loss)
        with output_file(given["report"]) as file:
            file.write(page.encode("utf-8", "backslashreplace"))
