"""`nbspam compare`."""

from __future__ import annotations

import json
import os

import click

from nbspam.cli.render_evaluation import show_comparison, waiting
from nbspam.cli.shared import json_option, shows_progress
from nbspam.evaluate.comparison import compare
from nbspam.evaluate.evaluation_file import load
from nbspam.evaluate.outcomes import Evaluation
from nbspam.evaluate.trec import read_results


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@json_option
def compare_command(a: str, b: str, as_json: bool) -> None:
    """Compare two evaluations of the same mail, paired message by message.

    A and B are files of nbspam eval --save, or of result lines (--results, or another filter's: file= judge=
    class= score=).  Which ranks better, which decides better, and whether that could be chance.

    \b
    Example:
        nbspam eval ~/Maildir --save a.json
        nbspam eval ~/Maildir --alpha 0.1 --save b.json
        nbspam compare a.json b.json

    Exit status: 0 compared; 65 not an evaluation of this version, or not the same mail; 66 no such file.
    """
    first, second = read_evaluation(a), read_evaluation(b)
    with waiting("Pairing and resampling", shows_progress(False)):
        found = compare(first, second, shown_names(a, b))
    if as_json:
        click.echo(json.dumps({"a": a, "b": b} | found.summary(), ensure_ascii=True, allow_nan=False))
    else:
        show_comparison(found, first, second, shown_names(a, b))


def read_evaluation(path: str) -> Evaluation:
    """What eval kept, or result lines; these know no digest of the mail."""
    if not _is_result_lines(path):
        return load(path)
    return read_results(path)


def _is_result_lines(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(5) == b"file="
    except OSError:
        return False  # load says what is wrong


def shown_names(a: str, b: str) -> tuple[str, str]:
    """What the verdict calls them: the file names, where they differ, else the paths."""
    short = os.path.basename(a), os.path.basename(b)
    return (a, b) if short[0] == short[1] else short
