"""`nbspam eval`: the command, and an evaluation for people and for programs.

Text of mail and file names goes through `plain` first.
"""

from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli import (
    CLUSTER,
    KEPT_SCORING,
    SCORING,
    SOURCE,
    Options,
    command,
    plain,
    progress,
    say,
    shared,
    tables,
)
from nbspam.corpus.item import Skipped
from nbspam.corpus.source import read_heads
from nbspam.decision import describe_loss
from nbspam.evaluation.figures import Summary, list_decisions, list_figures, summarise, trace_learning
from nbspam.evaluation.formats import encode_evaluation, format_result_lines
from nbspam.evaluation.outcomes import Evaluation, find_worst_mistakes, list_mistakes
from nbspam.evaluation.replay import parse_feedback
from nbspam.evaluation.sentences import describe_decisions, describe_method
from nbspam.settings import describe_scoring
from nbspam.tasks.api import Report
from nbspam.tasks.evaluate import evaluate_folds, evaluate_holdout, evaluate_model, evaluate_replay

METHODS = ("folds", "holdout", "replay", "model")
FILES = ("results", "save", "report")
# The options of a method alone.
OWNED = {"folds": ("grouped", *CLUSTER), "holdout": ("by_time",), "replay": ("feedback", "autolearn")}
SHOWN_MISTAKES = 10  # shared among the classes, at least one each; all with -v
SHOWN_CLUES = 6  # of a mistake, with -v
MAX_CLUE = 32  # characters
INDENT = "      "  # below the line of a mistake
WIDEST_CONFUSION = 10  # classes
STYLES = {"hm_percent": tables.HAM_COLOUR, "sm_percent": tables.SPAM_COLOUR}


@command(
    *(*SOURCE, "attached", "folds", "grouped", "replay", "feedback", "eval.autolearn", "holdout", "by_time"),
    *("eval.model", *SCORING, "vocab", "loss", "results", "save", "report", "seed"),
    *("jobs", *CLUSTER, "json", "eval.verbose", "quiet"),
)
def eval_command(options: Options) -> None:
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
    method = _choose_method(options)
    named = shared.list_inputs(options)
    files = {name: path for name in FILES if (path := getattr(options, name))}
    for path in files.values():
        shared.check_writable(path, *named)
        named.append(path)
    if options.report:
        import nbspam.evaluation.report  # noqa: F401  an error if its libraries are missing
    evaluation, skipped = _judge_by_model(options) if method == "model" else _judge_anew(method, options)
    with progress.steps("Figures and their intervals", None):
        figures = summarise(evaluation)
    try:
        if options.json:
            tables.write_json(_collect_content(evaluation, figures))
        else:
            show_evaluation(evaluation, figures, options.verbose)
    finally:  # last, so that a full disk hides no figure; and always, so that `| head` loses no file
        with progress.steps("Writing files", None):
            for name, path in files.items():
                content = _format_file(name, evaluation, figures)
                with shared.open_output(path) as file:
                    file.write(content)
        if options.report and options.report != shared.STDOUT:
            say(f"The page: {Path(options.report).absolute().as_uri()}")
    progress.check_all_read(skipped)


def _choose_method(options: Options) -> str:
    """The method that the options ask for, by default folds.  UsageError for two, or an option of another."""
    method = options.find_named(METHODS) or "folds"
    for owner, names in OWNED.items():
        if owner != method:
            options.refuse(names, f"belongs to --{owner}", f"add --{owner}, or leave it out")
    return method


def _judge_by_model(options: Options) -> tuple[Evaluation, Skipped]:
    """All mail judged by a saved model, and what could not be read."""
    source = shared.open_source(options, allow_one_class=True)
    why, remedy = "the model keeps the one it was trained with", "leave it out, or train a model with it"
    options.refuse((*KEPT_SCORING, "vocab"), why, remedy, method="--model")
    scoring, loss = options.scoring, options.loss
    with progress.message_steps("Judging", source) as advance:
        items, classes, jobs = source.items(), source.classes, options.jobs
        evaluation, skipped = evaluate_model(items, classes, options.model, scoring, loss, jobs, advance)
    return evaluation, [*source.skipped, *skipped]


def _judge_anew(method: str, options: Options) -> tuple[Evaluation, Skipped]:
    """Mail judged by filters that have learned other mail, and what could not be read."""
    plan, source = shared.open_training(options)
    plan = plan._replace(seed=options.seed, grouped=options.grouped)
    n_folds, feedback = options.folds, parse_feedback(options.feedback)
    with shared.open_workers(options) as jobs:
        corpus = shared.read_source(source, jobs, plan.wanted)
        total = {"folds": n_folds, "holdout": 1}.get(method, len(corpus.block))
        with progress.steps(method.capitalize(), total) as advance:
            if method == "folds":
                evaluation = evaluate_folds(corpus, plan, n_folds, jobs, advance)
            elif method == "holdout":
                evaluation = evaluate_holdout(corpus, plan, options.holdout, options.by_time, advance)
            else:
                evaluation = evaluate_replay(corpus, plan, feedback, advance, options.autolearn)
    return evaluation, [*source.skipped, *corpus.skipped]


def _format_file(name: str, evaluation: Evaluation, figures: Summary) -> bytes:
    """The content of the file that the option asks for."""
    if name == "results":
        return "".join(f"{line}\n" for line in format_result_lines(evaluation)).encode()
    if name == "save":
        return encode_evaluation(evaluation)
    return Report(figures, evaluation).to_html().encode("utf-8", "backslashreplace")


def _collect_content(evaluation: Evaluation, figures: Summary) -> dict[str, Any]:
    """The summary, the settings and the misclassified messages; of a replay, the curve over time too.

    The keys are the field's names, and other programs read them, so they do not change.
    """
    misclassified = list_mistakes(evaluation, np.flatnonzero(evaluation.is_mistake))
    content = figures | {"settings": dict(evaluation.settings), "misclassified": misclassified}
    if evaluation.method == "replay":
        curve = trace_learning(evaluation)
        points = zip(*(column.tolist() for column in curve.values()), strict=True)
        content["learning_curve"] = [dict(zip(curve, point, strict=True)) for point in points]
    return content


def show_evaluation(evaluation: Evaluation, figures: Summary, verbose: bool) -> None:
    """The evaluation in words, what was decided, the figures and the mistakes."""
    out = tables.console()
    tables.print_sentence(out, describe_decisions(figures), "bold")
    tables.print_sentence(out, plain(describe_method(evaluation)))
    if evaluation.loss:
        tables.print_sentence(out, f"Decisions: {describe_loss(evaluation.loss, evaluation.classes)}.")
    if evaluation.n_classes <= WIDEST_CONFUSION:
        out.print("", tables.fit_table(_tabulate_confusion(figures), out), sep="\n")
    out.print("", tables.fit_table(tabulate_figures(figures), out), sep="\n")
    out.print()
    tables.print_sentence(out, f"Scoring: {plain(describe_scoring(evaluation.settings))}.")
    _show_mistakes(out, evaluation, verbose)


def tabulate_figures(figures: Summary) -> Table:
    """The figures and what they say."""
    shown = tables.table("figure", ">value", ">95 % interval", "what it says")
    for row in list_figures(figures):
        value = Text(row.value, STYLES.get(row.key, ""))
        shown.add_row(row.label, value, row.interval, Text(row.meaning, "dim"))
    return shown


def _tabulate_confusion(figures: Summary) -> Table:
    """Messages by true and decided class."""
    names, counts = [*map(plain, list_decisions(figures))], figures["confusion"]
    mark = ">decided " if len(counts) == 2 else ">"
    shown = tables.table("true class", *(f"{mark}{name}" for name in names))
    for truth, row in enumerate(counts):
        cells = [Text(f"{count:,}") for count in row[: len(names)]]
        cells[truth].stylize("bold")
        shown.add_row(names[truth], *cells)
    return shown


def _show_mistakes(out: Console, evaluation: Evaluation, verbose: bool) -> None:
    """`ham taken for spam  +3.2  path` of the worst of each class; with -v of all, with clues."""
    most = len(evaluation) if verbose else max(1, SHOWN_MISTAKES // evaluation.n_classes)
    shown = list_mistakes(evaluation, find_worst_mistakes(evaluation, most))
    total = int(evaluation.is_mistake.sum())
    unit = " (nats: log-odds of spam; 1 nat more makes the odds 2.7 times larger)"
    has_odds = any(isfinite(mistake.log_odds) for mistake in shown)
    tables.print_sentence(out, f"\nMisclassified: {total:,}{unit if has_odds else ''}")
    heads = read_heads(mistake.name for mistake in shown)
    for name, truth, decided, odds, clues in shown:
        score = f"{odds:+7.2f}  " if isfinite(odds) else ""
        line = f"  {plain(truth)} taken for {plain(decided)}  {score}{plain(name)}"
        out.print(line, soft_wrap=not out.is_terminal)
        if head := heads.get(name):
            out.print(INDENT + plain(head), no_wrap=True, overflow="ellipsis")
        if verbose and clues:
            texts = [f"{plain(token)[:MAX_CLUE]} {nats:+.1f}" for token, nats in clues[:SHOWN_CLUES]]
            out.print(INDENT + "  ".join(texts), style="dim", soft_wrap=True)
    if len(shown) < total:
        out.print(f"  … and {total - len(shown):,} more (all with -v)", style="dim")
