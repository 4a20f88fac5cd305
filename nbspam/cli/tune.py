"""`nbspam tune`."""

from __future__ import annotations

import shlex
from math import isnan
from typing import Any

import click

from nbspam.cli import plain, say, with_flags
from nbspam.cli.compare import p_cell
from nbspam.cli.options import SOURCE, list_given, options
from nbspam.cli.shared import check_new_model, open_source, read_source
from nbspam.cli.tables import check_all_read, console, steps, table, train_summary, write_json
from nbspam.errors import UsageError
from nbspam.settings import Settings
from nbspam.tasks.train import Choices, train
from nbspam.tasks.tune import CANDIDATES, STEPS, Tried, Tuned, tune

DEFAULT = "the default"


@click.command("tune")
@options(*SOURCE, "seed", "write", "model", "replace", "jobs", "json", "verbose", "quiet")
def tune_command(seed: int, json: bool, write: bool, model: str, replace: bool, **given: Any) -> None:
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
        for name in list_given(("model", "replace")):
            raise UsageError(f"--{name}", "belongs to --write", "add --write, or leave it out", "usage")
    quiet, jobs, source = given["quiet"], given["jobs"], open_source(given)
    corpus = read_source(source, given, Settings().wanted)
    skipped = [*source.skipped, *corpus.skipped]
    with steps("Trying", STEPS, quiet) as advance:
        tuned = tune(corpus, seed, jobs, advance)
    if json:
        write_json(_content(tuned))
    else:
        show_tuning(tuned, train_command(tuned.chosen.options, given))
    if write:
        plan, classes = CANDIDATES[tuned.chosen.options], source.classes
        choices = Choices(automatic=plan.automatic, replaces=replace)
        with steps("Training", len(corpus.block), quiet) as advance:
            trained = train(source.items(), classes, model, plan.settings, jobs, advance, choices)
        say(train_summary(trained), quiet)
        skipped += [*source.skipped, *trained.skipped]
    check_all_read(skipped)


def _content(tuned: Tuned) -> dict[str, Any]:
    """The result of tuning as JSON values."""
    chosen = tuned.chosen.options
    settings = CANDIDATES[chosen].settings
    return {
        "messages": len(tuned.chosen.evaluation),
        "kept_apart": tuned.how,
        "chosen": with_flags(chosen),
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
        "default_stays": chosen == "",
        "candidates": [
            {"options": with_flags(one.options), "event_model": CANDIDATES[one.options].settings.event_model}
            | _figures(one)
            for one in tuned.tried
        ],
        "unseen": _figures(tuned.unseen),
        "comparison": tuned.comparison,
    }


def _figures(one: Tried) -> dict[str, float]:
    names = ("hm_percent", "sm_percent", "one_minus_roca_percent", "log_loss", "difference", "p")
    return {name: getattr(one, name) for name in names}


def train_command(options: str, given: dict[str, Any]) -> str:
    """The command that trains with some options on the same mail, for the shell."""
    words = ["nbspam", "train", *with_flags(options).split()]
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
        cells = _cells(one)
        if one is not tuned.tried[0]:
            cells += [f"{one.difference:+.5f}", p_cell(one.p)]
        shown.add_row(*cells, style="bold green" if one is chosen else "")
    out.print(shown)
    out.print("\nThe choice: each part of the mail is judged by the settings chosen on the other parts.")
    out.print(f"Paired: {tuned.comparison.verdict}.", soft_wrap=True)
    verdict = f"Better than the default: {with_flags(chosen.options)}."
    if chosen is tuned.tried[0]:
        verdict = "No better than the default: no choice gains on other mail by more than chance."
    out.print(verdict, style="bold", soft_wrap=True)
    out.print(f"  {command}", soft_wrap=True)


def _cells(one: Tried) -> list[str]:
    percents = ["" if isnan(value) else f"{value:.2f} %" for value in (one.hm_percent, one.sm_percent)]
    ranking = "" if isnan(one.one_minus_roca_percent) else f"{one.one_minus_roca_percent:.4f}"
    return [with_flags(one.options) or DEFAULT, *percents, ranking, f"{one.log_loss:.5f}"]
