"""An evaluation as one HTML page to read, keep and print: it loads nothing else and runs no script.

Every value is cleaned of control characters and then escaped.  Importing this module raises UsageError if
Jinja2 or matplotlib (the extra `nbspam[report]`) are not installed.
"""

import base64
import json
from collections.abc import Mapping
from importlib.resources import files
from math import isfinite

from nbspam.errors import MissingExtraError
from nbspam.evaluation.figures import AT_HM, Summary, list_decisions, list_figures
from nbspam.evaluation.outcomes import Evaluation, find_worst_mistakes, list_mistakes
from nbspam.evaluation.sentences import describe_decisions, describe_method, describe_scores

try:
    import jinja2

    from nbspam.evaluation.plots import draw_plots
except ImportError as error:
    raise MissingExtraError("report", error, "", option="report") from error

SPAM_CARDS = ("hm_percent", "sm_percent", "one_minus_roca_percent", AT_HM)
CARDS_WITHOUT_SPAM = ("accuracy", "macro_f1", "macro_one_minus_roca_percent", "ece_percent")

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def report_html(evaluation: Evaluation, found: Summary, heads: Mapping[str, str]) -> str:
    """The whole page.  The same evaluation gives the same page.

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
    cards = SPAM_CARDS if "one_minus_roca_percent" in by_key or "hm_percent" in by_key else CARDS_WITHOUT_SPAM
    worst = find_worst_mistakes(evaluation)
    worst_scores = [_format_score(evaluation, row) for row in worst.tolist()]
    page: str = template.render(
        found=found,
        cards=[by_key[key] for key in cards if key in by_key],
        sentences=[describe_decisions(found), *describe_scores(found), describe_method(evaluation)],
        rows=shown,
        plots=_embed_plots(evaluation),
        columns=list_decisions(found),
        mistakes=list(zip(list_mistakes(evaluation, worst), worst_scores, strict=True)),
        heads=heads,
        settings=_list_settings(evaluation),
    )
    return page


def clean(text: str) -> str:
    """Text of a mail that cannot hide, move or turn around other text.

    White space of any kind becomes a space, every other character that is not printable U+FFFD.
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else REPLACEMENT for char in text)


def _embed_plots(evaluation: Evaluation) -> list[dict[str, str]]:
    """Drawings as data: addresses.  As images, not inline: their element ids cannot clash."""
    shown = []
    for name, drawing in draw_plots(evaluation).items():
        source = "data:image/svg+xml;base64," + base64.b64encode(drawing.encode()).decode()
        shown.append({"name": name, "source": source})
    return shown


def _format_score(evaluation: Evaluation, row: int) -> str:
    if isfinite(evaluation.log_odds[row]):
        return f"{evaluation.log_odds[row]:+.2f}"
    if evaluation.has_probabilities:
        return f"P = {evaluation.probabilities[row, evaluation.decided[row]]:.4f}"
    return ""


def _list_settings(evaluation: Evaluation) -> list[tuple[str, str]]:
    rows = [("method", evaluation.method), ("classes", ", ".join(evaluation.classes))]
    for name, value in evaluation.settings.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        rows.append((str(name), shown))
    return [*rows, ("corpus digest", evaluation.digest)] if evaluation.digest else rows
