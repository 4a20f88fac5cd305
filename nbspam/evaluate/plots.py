"""The drawings of the report, each an SVG as text.

Axes are logarithmic or probit, because a good filter's curve clings to a corner of plain ones; a share of 0
is drawn at half a message.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.special import ndtri

from nbspam import labels
from nbspam.decision import UNDECIDED
from nbspam.evaluate import metrics
from nbspam.evaluate.evaluation import Evaluation, Floats
from nbspam.evaluate.ranking import Tally, curve, one_against_rest, rankings

HAM_COLOUR, SPAM_COLOUR, INK, FAINT, GREY = "#2a6f97", "#c1440e", "#22303c", "#c8d1d9", "#8795a1"
# Okabe and Ito's colours, which colour-blind readers can tell apart.
CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7f00", "#444444")
DET_TICKS = np.array([0.001, 0.01, 0.1, 0.5, 2, 5, 10, 20, 40, 60])  # percent
DET_END = 0.6  # no filter with more errors is used
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: smaller, and it can be found and read aloud
    "svg.hashsalt": "nbspam",  # the same evaluation gives the same page
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


def plots(evaluation: Evaluation) -> dict[str, str]:
    """The drawings that this evaluation allows, by name: roc, det, reliability, histogram, learning."""
    drawers: dict[str, Callable[[Evaluation], str]] = {}
    if _curves(evaluation):
        drawers |= {"roc": roc_plot, "det": det_plot}
    if evaluation.has_probabilities:
        drawers["reliability"] = reliability_plot
    if evaluation.positive is not None or evaluation.has_probabilities:
        drawers["histogram"] = histogram_plot
    if evaluation.method == "replay" and evaluation.positive is not None:
        drawers["learning"] = learning_plot
    return {name: drawer(evaluation) for name, drawer in drawers.items()}


def cleaned(text: str) -> str:
    """Text of a mail that cannot hide, move or turn around other text.

    White space of any kind becomes a space, every other character that is not printable U+FFFD.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " if char.isspace() else REPLACEMENT for char in text)


@contextmanager
def _figure(width: float = 5.6, height: float = 4.4, rows: int = 1) -> Iterator[tuple[Any, Any]]:
    """A matplotlib figure in our style, and its axes (an array for several rows)."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # The reader's browser draws the text: it does not matter that this machine lacks a glyph.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        # Without pyplot: no display and no global state.
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(rows, 1, sharex=True)


def _svg(figure: Any) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _curves(evaluation: Evaluation) -> list[tuple[str, str, Tally]]:
    """(label, colour, tally) of each curve: spam against ham, or large classes against the rest."""
    if evaluation.positive is not None:
        return [("all thresholds", SPAM_COLOUR, task.tally()) for task in rankings(evaluation)]
    tasks = one_against_rest(evaluation)
    return [
        (_label(evaluation.classes[number]), colour, tasks[number].tally())
        for number, colour in _largest(evaluation)
        if tasks and tasks[number].is_defined
    ]


def _largest(evaluation: Evaluation) -> list[tuple[int, str]]:
    """(number, colour) of the classes that are drawn: those with most messages, in class order."""
    sizes = np.bincount(evaluation.truth, minlength=evaluation.n_classes)
    largest = sorted(np.argsort(-sizes, kind="stable")[: len(CLASS_COLOURS)].tolist())
    return list(zip(largest, CLASS_COLOURS, strict=False))


def _label(name: str) -> str:
    """A class name as matplotlib shows it: short, no formula between dollars, not hidden by a leading `_`."""
    shown = cleaned(name)[:30].replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _draw_curves(
    axes: Any, evaluation: Evaluation, places: Callable[[Floats], Floats], highest: float = 1.0
) -> Floats:
    """All curves and the filter's own decisions; the least half of a message on both axes, float64 (2,).

    places  : from shares to places on an axis
    highest : share at which the dot of the decisions is drawn at most
    """
    least = np.ones(2)
    for label, colour, tally in _curves(evaluation):
        halves = 0.5 / tally.sum(axis=0)
        shares = [np.maximum(*pair) for pair in zip(curve(tally), halves, strict=True)]
        axes.plot(*map(places, shares), color=colour, label=label)
        least = np.minimum(least, halves)
    axes.set(xlabel="others taken for the class, %", ylabel="of the class missed, %")
    if evaluation.positive is not None:
        ham, lost, _, spam, missed, _ = metrics.ham_spam(metrics.confusion(evaluation), evaluation.positive)
        point = np.clip([lost / ham, missed / spam], least, highest)
        # With unsure decisions the dot can lie below the curve.
        is_unsure = (evaluation.decided == UNDECIDED).any()
        label = "as decided, unsure aside" if is_unsure else "as decided"
        axes.plot(*places(point), "o", color=INK, markersize=7, clip_on=False, label=label)
        axes.set(xlabel="ham lost, %", ylabel="spam missed, %")
    axes.legend(loc="upper right")
    return least


def roc_plot(evaluation: Evaluation) -> str:
    """Spam missed against ham lost at every threshold, both axes logarithmic."""
    with _figure() as (figure, axes):
        _draw_curves(axes, evaluation, lambda shares: 100 * shares)
        axes.set(xscale="log", yscale="log")
        _plain_ticks(axes.xaxis, axes.yaxis)
        return _svg(figure)


def det_plot(evaluation: Evaluation) -> str:
    """Detection error trade-off: both axes probit, so that normally spread scores give a straight line."""
    with _figure() as (figure, axes):
        # A share of 1 has no place; nothing above DET_END is shown.
        least = _draw_curves(axes, evaluation, lambda shares: ndtri(np.minimum(shares, 0.9999)), DET_END)
        for name, floor in zip("xy", np.minimum(least, 0.4), strict=True):
            ticks = DET_TICKS[(100 * floor <= DET_TICKS) & (DET_TICKS < 100 * DET_END)]
            labels = [f"{tick:g}" for tick in ticks]
            ends = (ndtri(floor) - 0.05, ndtri(DET_END))
            axes.set(**{f"{name}ticks": ndtri(ticks / 100), f"{name}ticklabels": labels, f"{name}lim": ends})
        return _svg(figure)


def _plain_ticks(*axes: Any) -> None:
    """0.1, 1, 10 in place of powers of ten."""
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def reliability_plot(evaluation: Evaluation) -> str:
    """What came true against the probability given; on the diagonal both are equal."""
    bins = metrics.reliability(evaluation)
    of_what = "of spam" if evaluation.positive is not None else "of the likeliest class"
    size = 20 + 180 * bins.messages / bins.messages.max()
    dots = {"color": HAM_COLOUR, "alpha": 0.75, "label": "bins of messages", "zorder": 3}
    with _figure() as (figure, axes):
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="as said")
        axes.plot(bins.confidence, bins.came_true, color=HAM_COLOUR, linewidth=1)
        axes.scatter(bins.confidence, bins.came_true, s=size, **dots)
        axes.set(xlabel=f"probability {of_what}, mean of the bin", ylabel="share that was")
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.legend(loc="upper left", markerscale=0.5)
        return _svg(figure)


def histogram_plot(evaluation: Evaluation) -> str:
    """How many messages of each class got which score; counts on a logarithmic axis: rare errors show."""
    x_name = "probability given to the true class"
    if evaluation.positive is not None:
        x_name = "score: log-odds of spam, nats"
    with _figure() as (figure, axes):
        for label, colour, values, edges in _histograms(evaluation):
            axes.hist(values, bins=edges, color=colour, alpha=0.28, label=label)
            axes.hist(values, bins=edges, color=colour, histtype="step", linewidth=1.4)
        axes.set(xlabel=x_name, yscale="log", ylabel="messages", ylim=(0.7, None))
        _plain_ticks(axes.yaxis)
        figure.legend(loc="outside upper right", ncols=4)
        return _svg(figure)


def _histograms(evaluation: Evaluation) -> list[tuple[str, str, Floats, Floats]]:
    """(label, colour, values, bin edges) of each class; scores far out are counted in the last bins."""
    truth, score = evaluation.truth, evaluation.score
    if evaluation.positive is None:
        given = evaluation.probabilities[np.arange(len(truth)), truth]
        return [
            (_label(evaluation.classes[number]), colour, given[truth == number], np.linspace(0, 1, 41))
            for number, colour in _largest(evaluation)
        ]
    finite = score[np.isfinite(score)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (-1.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, 61)
    values, is_spam = np.clip(score, edges[0], edges[-1]), evaluation.is_positive
    others = labels.HAM if evaluation.n_classes == 2 else "all but spam"
    return [
        (others, HAM_COLOUR, values[~is_spam], edges),
        (labels.SPAM, SPAM_COLOUR, values[is_spam], edges),
    ]


def learning_plot(evaluation: Evaluation) -> str:
    """Errors over time above, ranking below: solid and dotted, of the latest messages and so far."""
    points = metrics.learning_curve(evaluation)
    messages = points["messages"]
    dotted = {"linewidth": 1, "linestyle": ":"}
    with _figure(7.6, 5.0, rows=2) as (figure, (errors, areas)):
        for prefix, more in (("window_", {}), ("", dotted)):
            for key, name, colour in (("hm", "ham lost", HAM_COLOUR), ("sm", "spam missed", SPAM_COLOUR)):
                label = f"{name}, latest tenth" if prefix else "… so far"
                errors.plot(messages, points[f"{prefix}{key}_percent"], color=colour, label=label, **more)
        errors.set(ylabel="errors, %", ylim=(0, None))
        errors.legend(ncols=2, fontsize=8)
        figure.get_layout_engine().set(hspace=0.12)
        area, window = (points[f"{prefix}one_minus_roca_percent"] for prefix in ("", "window_"))
        areas.plot(messages, area, color=INK, label="(1-ROCA)% so far")
        areas.plot(messages, window, color=INK, label="(1-ROCA)%, latest tenth", **dotted)
        if np.nanmax(area, initial=0) > 0:
            areas.set_yscale("log", nonpositive="mask")
            _plain_ticks(areas.yaxis)
        else:
            areas.set_ylim(0, 1)
        areas.set(ylabel="(1-ROCA)%", xlabel="messages judged", xlim=(0, messages[-1]))
        areas.legend(fontsize=8)
        return _svg(figure)
