"""`nbspam eval`, `nbspam compare` and `nbspam tune`."""

from __future__ import annotations

import json
import shlex
from math import isnan
from typing import Any

import click

from nbspam.cli import amount, flag_of, plain, with_flags
from nbspam.cli.classify import SETTINGS
from nbspam.cli.options import ANY_PATH, CLUSTER, SCORING, SOURCE, LongCommand
from nbspam.cli.render_evaluation import evaluation_json, show_evaluation
from nbspam.cli.shared import (
    asked_options,
    asked_settings,
    asked_workers,
    check_new_model,
    check_writable,
    labelled_source,
    named_files,
    options,
    output_file,
    source_argument,
)
from nbspam.cli.tables import (
    RATE,
    check_all_read,
    console,
    message_steps,
    say,
    shows_progress,
    steps,
    table,
    train_summary,
)
from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import Source
from nbspam.corpus.vocabulary import read_vocabulary, settings_under
from nbspam.decision import Loss, read_loss
from nbspam.errors import UsageError, show_faults
from nbspam.evaluation.comparison import Comparison, Difference, compare
from nbspam.evaluation.figures import summary
from nbspam.evaluation.formats import load, result_lines, to_json
from nbspam.evaluation.outcomes import Evaluation
from nbspam.evaluation.replay import parse_feedback
from nbspam.settings import Settings
from nbspam.tasks.evaluate import Plan, evaluate_folds, evaluate_holdout, evaluate_model, evaluate_replay
from nbspam.tasks.train import Choices, train
from nbspam.tasks.tune import STEPS, Candidate, Tried, Tuned, tune

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
        plan = Plan(settings, given["alpha"] == "auto", loss, given["seed"], jobs, vocabulary)
        corpus = read_source(source, given | {"jobs": jobs}, settings.wanted).seen_by(settings)
        evaluation = _judged(method, corpus, plan, given, shown)
    return evaluation, corpus.skipped, source


def _judged(method: str, corpus: Corpus, plan: Plan, given: dict[str, Any], shown: bool) -> Evaluation:
    n_folds = DEFAULT_FOLDS if given["folds"] is None else given["folds"]
    feedback = parse_feedback(given["feedback"] or "immediate")
    total = {"folds": n_folds, "holdout": 1}.get(method, len(corpus.block))
    with steps(method.capitalize(), total, shown) as advance:
        if method == "folds":
            return evaluate_folds(corpus, plan, n_folds, given["grouped"], advance)
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


@click.command("compare")
@click.argument("a", metavar="A", type=ANY_PATH)
@click.argument("b", metavar="B", type=ANY_PATH)
@options("json")
def compare_command(a: str, b: str, as_json: bool) -> None:
    """Compare two evaluations of the same mail, paired message by message.

    A and B are files of nbspam eval --save, or of result lines (--results, or another filter's: file= judge=
    class= score=).  Writes which one ranks better, which one decides better, and
    the probability that this is chance.

    \b
    Example:
        nbspam eval ~/Maildir --save a.json
        nbspam eval ~/Maildir --alpha 0.1 --save b.json
        nbspam compare a.json b.json

    Exit status: 0 compared; 65 not an evaluation of this version, or not the same mail; 66 no such file.
    """
    first, second = load(a), load(b)
    names = a, b
    with steps("Pairing and resampling", None, shows_progress(False)):
        found = compare(first, second, names)
    if as_json:
        click.echo(json.dumps({"a": a, "b": b} | found.summary(), ensure_ascii=True, allow_nan=False))
    else:
        _compared(found, first, second, names)


def _compared(found: Comparison, first: Evaluation, second: Evaluation, names: tuple[str, str]) -> None:
    """Both evaluations side by side, and the verdict."""
    out = console()
    a, b = map(plain, names)
    messages = amount(found.messages, "message")
    out.print(f"{messages}, judged by A = {a} and by B = {b}.\n", soft_wrap=True)
    shown = table("", ">A", ">B", ">B - A", ">95 % interval", ">p")
    if not isnan(found.one_minus_roca_percent.a):  # undefined for scores of classes without spam
        shown.add_row("(1-ROCA)%", *_difference_cells(found.one_minus_roca_percent, 4))
    if found.log_loss is not None:
        shown.add_row("log loss", *_difference_cells(found.log_loss, 5))
    right = [int((part.decided == part.truth).sum()) for part in (first, second)]
    numbers = (f"{right[0]:,}", f"{right[1]:,}", f"{right[1] - right[0]:+,}")
    shown.add_row("decided rightly", *numbers, "", p_cell(found.mcnemar.p))
    out.print(shown)
    only = f"only A right: {found.mcnemar.only_a_right:,}, only B right: {found.mcnemar.only_b_right:,}"
    out.print(f"{only}.", soft_wrap=True)
    out.print(plain(found.verdict), style="bold", soft_wrap=True)


def _difference_cells(found: Difference, digits: int) -> list[str]:
    low, high = found.interval
    interval = "" if isnan(low) else f"{low:+.{digits}f} to {high:+.{digits}f}"
    values = ((found.a, ""), (found.b, ""), (found.difference, "+"))
    shown = ["" if isnan(value) else f"{value:{sign}.{digits}f}" for value, sign in values]
    return [*shown, interval, p_cell(found.p)]


def p_cell(p: float) -> str:
    """A p-value in a table."""
    return "" if isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


DEFAULT = "the default"


@click.command("tune")
@source_argument
@options(*SOURCE, "seed", "write", "model", "replace", "jobs", "json", "verbose", "quiet")
def tune_command(seed: int, as_json: bool, write: bool, model: str, replace: bool, **given: Any) -> None:
    """Choose the best settings for your own mail.

    SOURCE is as for nbspam train.  Tries smoothing, the threshold, the views and the event model on the same
    messages.  Each message is judged by older mail or, without dates, by mail of other campaigns.  The
    default stays unless another choice has less log loss by more than chance, on this mail and on mail that
    it was not chosen on.  Writes a table, and the command to train with.

    With --write it also trains MODEL on SOURCE with these options, whole or not at all.  The new model has
    counted only SOURCE, and nothing that an old model had learned from other mail.

    \b
    Example:
        nbspam tune ~/Maildir
        nbspam tune ~/Maildir --write --replace

    Exit status: 0 chosen (perhaps the default); 64 usage; 65 bad data, such as mail of one class; 66 no mail,
    or mail that cannot be read (chosen on the rest); with --write also 73 cannot create the model (before
    the search); 74 I/O.
    """
    if write:
        check_new_model(model, replace)
    else:
        for name in asked_options(("model", "replace")):
            raise UsageError(f"--{name}", "belongs to --write", "add --write, or leave it out", "usage")
    quiet, jobs, source = given["quiet"], given["jobs"], labelled_source(given)
    corpus = read_source(source, given, Settings().wanted)
    skipped = [*source.skipped, *corpus.skipped]
    with steps("Trying", STEPS, shows_progress(quiet)) as advance:
        tuned = tune(corpus, seed, jobs, advance)
    if as_json:
        click.echo(json.dumps(_tuning_content(tuned), ensure_ascii=True, allow_nan=False))
    else:
        show_tuning(tuned, train_command(tuned.chosen.candidate, given))
    if write:
        settings, classes = tuned.chosen.candidate.settings, source.classes
        choices = Choices(automatic=tuned.chosen.candidate.automatic, replaces=replace)
        with steps("Training", len(corpus.block), shows_progress(quiet), RATE) as advance:
            trained = train(source.items(), classes, model, settings, jobs, advance, choices)
        if not quiet:
            say(train_summary(trained))
        skipped += [*source.skipped, *trained.skipped]
    check_all_read(skipped)


def _tuning_content(tuned: Tuned) -> dict[str, Any]:
    """The result of tuning as JSON values."""
    candidates = [
        {"options": with_flags(one.candidate.options), "event_model": one.candidate.settings.event_model}
        | _figures(one)
        for one in tuned.tried
    ]
    chosen = tuned.chosen.candidate
    return {
        "messages": len(tuned.chosen.evaluation),
        "kept_apart": tuned.how,
        "chosen": with_flags(chosen.options),
        "settings": {name: getattr(chosen.settings, name) for name in chosen.settings.__slots__},
        "default_stays": chosen.options == "",
        "candidates": candidates,
        "unseen": _figures(tuned.unseen),
        "comparison": tuned.comparison.summary(),
    }


def _figures(one: Tried) -> dict[str, float | None]:
    names = ("hm_percent", "sm_percent", "one_minus_roca_percent", "log_loss", "difference", "p")
    values = {name: getattr(one, name) for name in names}
    return {name: None if isnan(value) else value for name, value in values.items()}


def train_command(candidate: Candidate, given: dict[str, Any]) -> str:
    """The command that trains with the options of a candidate on the same mail, for the shell."""
    words = ["nbspam", "train", *with_flags(candidate.options).split()]
    for name, flag in (("ham", "--ham"), ("spam", "--spam"), ("classes", "--class")):
        words += [word for path in given[name] for word in (flag, path)]
    words += ["--rules", given["rules"]] if given["rules"] else []
    words += ["--skip-unread"] if given["skip_unread"] else []
    return plain(shlex.join([*words, *given["source"]]))


def show_tuning(tuned: Tuned, command: str) -> None:
    """The table of candidates, what choosing gains on other mail, and the command to train with."""
    out, chosen = console(), tuned.chosen
    out.print(f"{len(chosen.evaluation):,} messages judged, {tuned.how}.", soft_wrap=True)
    shown = table("", ">ham\nlost", ">spam\nmissed", ">(1-ROCA)%", ">log loss", ">against", ">p")
    for one in (*tuned.tried, tuned.unseen):
        cells = _tried_cells(one)
        if one is not tuned.tried[0]:
            cells += [f"{one.difference:+.5f}", p_cell(one.p)]
        shown.add_row(*cells, style="bold green" if one is chosen else "")
    out.print(shown)
    out.print("\nThe choice: each part of the mail is judged by the settings chosen on the other parts.")
    out.print(f"Paired: {tuned.comparison.verdict}.", soft_wrap=True)
    out.print(f"Best: {with_flags(chosen.candidate.options) or DEFAULT}.", style="bold", soft_wrap=True)
    out.print(f"  {command}", soft_wrap=True)


def _tried_cells(one: Tried) -> list[str]:
    percents = ["" if isnan(value) else f"{value:.2f} %" for value in (one.hm_percent, one.sm_percent)]
    ranking = "" if isnan(one.one_minus_roca_percent) else f"{one.one_minus_roca_percent:.4f}"
    return [
        with_flags(one.candidate.options) or DEFAULT,
        *percents,
        ranking,
        f"{one.log_loss:.5f}",
    ]
