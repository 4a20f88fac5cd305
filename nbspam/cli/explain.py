"""`nbspam explain`."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import click

from nbspam.cli.classify import ReadableMessages
from nbspam.cli.options import EXPLAIN, SETTINGS
from nbspam.cli.output import write_text
from nbspam.cli.shared import files_argument, options
from nbspam.filter import open_filter
from nbspam.model.explain import Explanation
from nbspam.tasks.start import own_or_shared


@click.command("explain")
@options("model", "start", "top", *EXPLAIN, "loss", "verbose", "json")
@files_argument
def explain_command(
    files: tuple[str, ...], model: str, start: str, top: int, loss: str | None, as_json: bool, **given: Any
) -> int:
    """Explain the verdict on a message.

    Shows what each view of the message, its unknown words, the constant and the prior add to the log-odds;
    the clues, with their counts in each class and a 95 % interval of the share of spam among the messages
    that hold them; and clues whose removal would change the verdict.  With --textbook there is no smaller
    set of such clues; with averaged views they are found one by one.

    \b
    Example:
        nbspam explain message.eml
        nbspam explain --textbook --event-model bernoulli --json < message.eml

    Exit status: 0 explained; 64 usage; 65 no sound model; 66 no such message or no model; 74 I/O;
    75 try again later.
    """
    asked = {name: value for name, value in given.items() if name in SETTINGS and value not in (None, False)}
    change = {name: "1" if value is True else value for name, value in asked.items()}
    classifier = open_filter(own_or_shared(model, start), change, loss)
    messages = ReadableMessages({}, list(files))
    for name, data in messages:
        classifier = classifier.current()
        found = classifier.explain(data, name)
        if as_json:
            write_text(explanation_json(found, classifier.model.classes, top))
        else:
            from nbspam.cli.render_explain import explanation_text  # rich is for people

            write_text(explanation_text(found, classifier, top))
    return messages.status


def explanation_json(found: Explanation, classes: tuple[str, ...], top: int) -> str:
    """One object, one line; what is not finite is null."""
    verdict = found.verdict
    content = {
        "name": verdict.name,
        "label": verdict.label,
        "class": classes[found.verdict.number],
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": found.interval,
        "residual": found.residual,
        "contributions": [
            {"kind": one.kind, "name": one.name, "nats": _finite(one.log_odds), "clues": one.clues}
            for one in found.sums
        ],
        "clues": [
            {
                "token": clue.token,
                "kind": clue.kind,
                "view": clue.view,
                "nats": _finite(clue.log_odds),
                "times": clue.times,
                "documents": dict(zip(classes, clue.counts, strict=False)),
                "occurrences": dict(zip(classes, clue.occurrences, strict=False)),
                "share_interval": clue.share_interval,
            }
            for clue in found.clues[: top or None]
        ],
        "flip": None if found.flip is None else {"without": found.flip[0], "label": found.flip[1]},
    }
    return json.dumps(content, ensure_ascii=True) + "\n"


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
