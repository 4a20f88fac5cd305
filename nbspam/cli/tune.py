"""`nbspam tune`."""

from __future__ import annotations

import json
from typing import Any

import click

from nbspam.cli.evaluate import read_source
from nbspam.cli.render import Steps, say
from nbspam.cli.render_evaluation import show_tuning
from nbspam.cli.shared import (
    jobs_option,
    json_option,
    labelled_source,
    quiet_option,
    shows_progress,
    source_options,
)
from nbspam.engine.reading import Asked
from nbspam.workflow.tuning import Tried, Tuned, steps, tune


@click.command("tune")
@source_options
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds, where there are no dates."
)
@jobs_option
@json_option
@quiet_option
def tune_command(seed: int, as_json: bool, **given: Any) -> None:
    """Choose settings on your own mail, and print the options to give to nbspam train.

    SOURCE is what nbspam train takes.  Smoothing, the informative threshold, the views and the event model
    are tried on the same messages, each judged by what came before it, or where there are no dates by other
    campaigns.  The default stays unless another choice has less log loss by more than chance.

    \b
    Example:
        nbspam tune ~/Maildir

    Exit status: 0 chosen, be it the default; 64 usage; 65 bad data, such as mail of one class;
    66 no mail.
    """
    source = labelled_source(given)
    corpus, notes = read_source(source, given, Asked(measures=True))
    with Steps("Trying", steps(), shows_progress(given["quiet"])) as bar:
        tuned = tune(corpus, seed, given["jobs"], bar.advance)
    if as_json:
        for note in [] if given["quiet"] else notes:
            say(note)
        click.echo(json.dumps(tuning_content(tuned), ensure_ascii=True, allow_nan=False))
    else:
        show_tuning(tuned, corpus.classes, [] if given["quiet"] else notes)


def tuning_content(tuned: Tuned) -> dict[str, Any]:
    """What tuning found as JSON values."""
    chosen = tuned.chosen.candidate
    return {
        "messages": len(tuned.chosen.evaluation.outcomes),
        "kept_apart": tuned.how,
        "chosen": chosen.options,
        "settings": {name: getattr(chosen.settings, name) for name in chosen.settings.__slots__},
        "default_stays": chosen.options == "",
        "candidates": [_row(one) for one in tuned.tried],
        "comparison": tuned.comparison.summary() if tuned.comparison else None,
    }


def _row(one: Tried) -> dict[str, Any]:
    figures = ("hm_percent", "sm_percent", "one_minus_roca_percent", "log_loss", "difference", "p")
    values = {name: getattr(one, name) for name in figures}
    finite = {name: None if value != value else value for name, value in values.items()}
    return {"options": one.candidate.options, "event_model": one.candidate.settings.event_model} | finite
