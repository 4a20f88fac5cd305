"""An evaluation as one HTML page to read, keep and print: it loads nothing else and runs no script.

Every value is cleaned of control characters and then escaped.  Importing this module raises UsageError if
Jinja2 or matplotlib (the extra `nbspam[report]`) are not installed.
"""

import base64
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from math import fsum, isfinite

from nbspam.errors import MissingExtraError
from nbspam.evaluation.figures import AT_HM, Summary, list_decisions, list_figures
from nbspam.evaluation.outcomes import Evaluation, Mistake, find_worst_mistakes, list_mistakes
from nbspam.evaluation.sentences import describe_decisions, describe_method, describe_scores
from nbspam.settings import describe_scoring

try:
    import jinja2

    from nbspam.evaluation.plots import PALETTE, draw_plots
except ImportError as error:
    raise MissingExtraError("report", error, "", option="report") from error

CARDS = ("hm_percent", "sm_percent", "one_minus_roca_percent", AT_HM, "accuracy", "macro_f1", "ece_percent")

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def report_html(evaluation: Evaluation, found: Summary, heads: Mapping[str, str], day: str) -> str:
    """The whole page.  The same evaluation gives the same page on the same day.

    found : its summary
    heads : date, sender and subject of its worst mistakes, by name; some may be missing
    """
    environment = jinja2.Environment(
        autoescape=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.from_string(files(__package__).joinpath("report.html").read_text("utf-8"))
    shown = list_figures(found)
    by_key = {row.key: row for row in reversed(shown)}
    worst = find_worst_mistakes(evaluation)
    worst_scores = [_format_score(evaluation, row) for row in worst.tolist()]
    mistakes = list_mistakes(evaluation, worst)
    page: str = template.render(
        palette=PALETTE,
        day=day,
        model=evaluation.settings.get("model") or describe_scoring(evaluation.settings),
        mail=os.path.dirname(os.path.commonprefix(evaluation.names.tolist())),  # noqa: RUF071 - cut at a /
        found=found,
        cards=[by_key[key] for key in CARDS if key in by_key][:4],
        sentences=[describe_decisions(found), *describe_scores(found), describe_method(evaluation)],
        rows=shown,
        plots=_embed_plots(evaluation),
        columns=list_decisions(found),
        mistakes=list(zip(mistakes, worst_scores, map(_add_up_clues, mistakes), strict=True)),
        heads=heads,
        settings=_list_settings(evaluation),
    )
    return page


def clean(text: str) -> str:
    """Text of a mail that cannot hide, move or turn around other text.

    White space of any kind becomes a space, every other character that is not printable U+FFFD.
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else REPLACEMENT for char in text)


def _add_up_clues(mistake: Mistake) -> str:
    """`These 10 clues are +0.6 of +4.2 nats`; empty if the log-odds are unknown."""
    if not mistake.clues or not isfinite(mistake.log_odds):
        return ""
    total = fsum(nats for _, nats in mistake.clues)
    these = "This clue is" if len(mistake.clues) == 1 else f"These {len(mistake.clues)} clues are"
    return f"{these} {total:+.1f} of {mistake.log_odds:+.1f} nats."


def _embed_plots(evaluation: Evaluation) -> dict[str, str]:
    """Drawings as data: addresses, by name.  As images, not inline: their element ids cannot clash."""
    codes = {name: base64.b64encode(drawing.encode()) for name, drawing in draw_plots(evaluation).items()}
    return {name: f"data:image/svg+xml;base64,{code.decode()}" for name, code in codes.items()}


def _format_score(evaluation: Evaluation, row: int) -> str:
    if isfinite(evaluation.log_odds[row]):
        return f"{evaluation.log_odds[row]:+.2f}"
    if evaluation.has_probabilities:
        return f"P = {evaluation.probabilities[row, evaluation.decided[row]]:.4f}"
    return ""


def _list_settings(evaluation: Evaluation) -> list[tuple[str, str]]:
    rows = {"method": evaluation.method, "classes": ", ".join(evaluation.classes)} | dict(evaluation.settings)
    rows |= {"corpus digest": evaluation.digest} if evaluation.digest else {}
    return [(name, text if type(text) is str else json.dumps(text)) for name, text in rows.items()]
