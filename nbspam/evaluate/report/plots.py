"""The drawings of the report, each an SVG as text.

Hides matplotlib.  Axes are logarithmic or probit where a good filter's curve would
otherwise cling to a corner; a share of nothing is drawn at half a message.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nbspam import labels
from nbspam.decision import UNDECIDED
from nbspam.evaluate import metrics, ranking
from nbspam.evaluate.learning_curve import learning_curve
from nbspam.evaluate.outcomes import Columns, Evaluation
from nbspam.evaluate.report.clean import cleaned
from nbspam.evaluate.report.extra import library

Floats = NDArray[np.float64]

HAM_COLOUR, SPAM_COLOUR, INK, FAINT = "#2a6f97", "#c1440e", "#22303c", "#c8d1d9"
# Okabe and Ito's colours: told apart also by readers who see fewer of them.
CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7f00", "#444444")
_DET_TICKS = np.array([0.001, 0.01, 0.1, 0.5, 2, 5, 10, 20, 40, 60])  # percent
_DET_END = 0.6
_STYLE = {
    "svg.fonttype": "none",  # text stays text: smaller, and it can be found and read aloud
    "svg.hashsalt": "nbspam",  # the same evaluation gives the same page
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": "#8795a1",
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
    columns = evaluation.columns
    drawers: dict[str, Callable[[Evaluation], str]] = {}
    if _curves(evaluation):
        drawers |= {"roc": roc_plot, "det": det_plot}
    if columns.probabilities.shape[1]:
        drawers["reliability"] = reliability_plot
    if columns.positive is not None or columns.probabilities.shape[1]:
        drawers["histogram"] = histogram_plot
    if evaluation.method == "replay" and columns.positive is not None:
        drawers["learning"] = learning_plot
    return {name: drawer(evaluation) for name, drawer in drawers.items()}


@contextmanager
def _figure(width: float, height: float, rows: int = 1) -> Iterator[tuple[Any, Any]]:
    """A matplotlib figure in our style, and its axes (an array for several rows)."""
    matplotlib = library("matplotlib")
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # The text is drawn by the reader's browser: that this machine lacks a glyph says nothing.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        # Without pyplot: no display is asked for, and no global state is left behind.
        figure = library("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(rows, 1, sharex=True)


def _svg(figure: Any) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _curves(evaluation: Evaluation) -> list[tuple[str, str, ranking.Tally]]:
    """(label, colour, tally) of each curve: spam against ham, or large classes against the rest."""
    columns = evaluation.columns
    if columns.positive is not None:
        tasks = metrics.rankings(columns)
        return [("all thresholds", SPAM_COLOUR, task.tally()) for task in tasks]
    if not columns.probabilities.shape[1]:
        return []
    tasks = metrics.one_against_rest(columns)
    return [
        (_label(evaluation.classes[number]), colour, tasks[number].tally())
        for number, colour in _largest(columns)
        if tasks[number].is_defined
    ]


def _largest(columns: Columns) -> list[tuple[int, str]]:
    """(number, colour) of the classes that are drawn: those with most messages, in class order."""
    sizes = np.bincount(columns.truth, minlength=columns.n_classes)
    largest = sorted(np.argsort(-sizes, kind="stable")[: len(CLASS_COLOURS)].tolist())
    return list(zip(largest, CLASS_COLOURS, strict=False))


def _label(name: str) -> str:
    """A class name as matplotlib shows it: short, no formula between dollars, not hidden by a leading `_`."""
    shown = cleaned(name)[:30].replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _operating_point(columns: Columns) -> tuple[float, float] | None:
    """Percent of (ham lost, spam missed) by the filter's own decisions."""
    if columns.positive is None:
        return None
    two = metrics.ham_spam(metrics.confusion(columns), columns.positive)
    return metrics.percent(two.ham_lost, two.ham), metrics.percent(two.spam_missed, two.spam)


def _decided(columns: Columns) -> str:
    """What its dot is called: where the filter may be unsure, the dot can lie below the curve."""
    return "as decided, unsure aside" if (columns.decided == UNDECIDED).any() else "as decided"


def _axis_names(evaluation: Evaluation) -> tuple[str, str]:
    if evaluation.columns.positive is not None:
        return "ham lost, %", "spam missed, %"
    return "others taken for the class, %", "of the class missed, %"


def roc_plot(evaluation: Evaluation) -> str:
    """Spam missed against ham lost at every threshold, both axes logarithmic."""
    with _figure(5.6, 4.4) as (figure, axes):
        for label, colour, tally in _curves(evaluation):
            lost, missed = (100 * share for share in ranking.curve(tally))
            ham, spam = tally.sum(axis=0)
            axes.plot(np.maximum(lost, 50 / ham), np.maximum(missed, 50 / spam), color=colour, label=label)
        point = _operating_point(evaluation.columns)
        if point is not None:
            _, _, tally = _curves(evaluation)[0]
            ham, spam = tally.sum(axis=0)
            place = max(point[0], 50 / ham), max(point[1], 50 / spam)
            axes.plot(*place, "o", color=INK, markersize=7, clip_on=False, label=_decided(evaluation.columns))
        axes.set(xscale="log", yscale="log")
        _plain_ticks(axes.xaxis, axes.yaxis)
        _name_axes(axes, evaluation)
        return _svg(figure)


def _plain_ticks(*axes: Any) -> None:
    """0.1, 1, 10 in place of powers of ten."""
    ticker = library("matplotlib.ticker")
    for axis in axes:
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(ticker.NullFormatter())


def _name_axes(axes: Any, evaluation: Evaluation) -> None:
    x_name, y_name = _axis_names(evaluation)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.legend(loc="upper right")


def det_plot(evaluation: Evaluation) -> str:
    """Detection error trade-off: both axes probit, so that normally spread scores give a straight line."""
    with _figure(5.6, 4.4) as (figure, axes):
        ends = []
        for label, colour, tally in _curves(evaluation):
            lost, missed = ranking.curve(tally)
            ham, spam = tally.sum(axis=0)
            x, y = np.clip(lost, 0.5 / ham, 1 - 0.5 / ham), np.clip(missed, 0.5 / spam, 1 - 0.5 / spam)
            axes.plot(ndtri(x), ndtri(y), color=colour, label=label)
            ends.append((min(0.5 / ham, 0.4), min(0.5 / spam, 0.4)))
        floor_x, floor_y = np.min(ends, axis=0)
        point = _operating_point(evaluation.columns)
        if point is not None:
            place = np.clip(np.array(point) / 100, [floor_x, floor_y], 1 - np.array([floor_x, floor_y]))
            axes.plot(
                *ndtri(place), "o", color=INK, markersize=7, clip_on=False, label=_decided(evaluation.columns)
            )
        _probit_ticks(axes.xaxis, axes.set_xlim, floor_x)
        _probit_ticks(axes.yaxis, axes.set_ylim, floor_y)
        _name_axes(axes, evaluation)
        return _svg(figure)


def _probit_ticks(axis: Any, limit: Callable[[float, float], object], floor: float) -> None:
    """Percent on a probit axis from `floor` (a share) to 60 %: beyond that no filter is used."""
    shown = _DET_TICKS[(100 * floor <= _DET_TICKS) & (_DET_TICKS < 100 * _DET_END)]
    axis.set_ticks(ndtri(shown / 100), labels=[f"{tick:g}" for tick in shown])
    limit(float(ndtri(floor)) - 0.05, float(ndtri(_DET_END)))


def reliability_plot(evaluation: Evaluation) -> str:
    """What came true against the probability given; on the diagonal the filter says what it means."""
    bins = metrics.reliability(evaluation.columns)
    named = (
        "probability of spam"
        if evaluation.columns.positive is not None
        else "probability of the likeliest class"
    )
    with _figure(5.6, 4.4) as (figure, axes):
        axes.plot([0, 1], [0, 1], color="#8795a1", linewidth=1, linestyle="--", label="as said")
        size = 20 + 180 * bins.messages / bins.messages.max()
        axes.plot(bins.confidence, bins.came_true, color=HAM_COLOUR, linewidth=1)
        axes.scatter(
            bins.confidence,
            bins.came_true,
            s=size,
            color=HAM_COLOUR,
            alpha=0.75,
            label="bins of messages",
            zorder=3,
        )
        axes.set(
            xlabel=f"{named}, mean of the bin",
            ylabel="share that was",
            xlim=(-0.03, 1.03),
            ylim=(-0.03, 1.03),
        )
        axes.legend(loc="upper left", markerscale=0.5)
        return _svg(figure)


def histogram_plot(evaluation: Evaluation) -> str:
    """How many messages of each class got which score; counts on a logarithmic axis: rare errors show."""
    with _figure(5.6, 4.4) as (figure, axes):
        for label, colour, values, edges in _histograms(evaluation):
            axes.hist(values, bins=edges, color=colour, alpha=0.28, label=label)
            axes.hist(values, bins=edges, color=colour, histtype="step", linewidth=1.4)
        has_scores = evaluation.columns.positive is not None
        axes.set(yscale="log", ylabel="messages", ylim=(0.7, None))
        axes.set(
            xlabel="score: log-odds of spam, nats" if has_scores else "probability given to the true class"
        )
        _plain_ticks(axes.yaxis)
        figure.legend(loc="outside upper right", ncols=4)
        return _svg(figure)


def _histograms(evaluation: Evaluation) -> list[tuple[str, str, Floats, Floats]]:
    """(label, colour, values, bin edges) of each class; scores far out are counted in the last bins."""
    columns = evaluation.columns
    if columns.positive is None:
        given = columns.probabilities[np.arange(len(columns.truth)), columns.truth]
        edges = np.linspace(0, 1, 41)
        return [
            (_label(evaluation.classes[number]), colour, given[columns.truth == number], edges)
            for number, colour in _largest(columns)
        ]
    finite = columns.score[np.isfinite(columns.score)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (-1.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, 61)
    values = np.clip(columns.score, edges[0], edges[-1])
    spam = columns.is_positive
    ham_name = labels.HAM if len(evaluation.classes) == 2 else "all but spam"
    return [
        (ham_name, HAM_COLOUR, values[~spam], edges),
        (labels.SPAM, SPAM_COLOUR, values[spam], edges),
    ]


def learning_plot(evaluation: Evaluation) -> str:
    """Errors over time: of the latest messages above, ranking below."""
    curve = learning_curve(evaluation)
    with _figure(7.6, 5.0, rows=2) as (figure, (errors, areas)):
        messages = curve["messages"]
        errors.plot(messages, curve["window_hm_percent"], color=HAM_COLOUR, label="ham lost, latest tenth")
        errors.plot(
            messages, curve["window_sm_percent"], color=SPAM_COLOUR, label="spam missed, latest tenth"
        )
        errors.plot(
            messages, curve["hm_percent"], color=HAM_COLOUR, linewidth=1, linestyle=":", label="… so far"
        )
        errors.plot(
            messages, curve["sm_percent"], color=SPAM_COLOUR, linewidth=1, linestyle=":", label="… so far"
        )
        errors.set(ylabel="errors, %", ylim=(0, None))
        errors.legend(ncols=2, fontsize=8)
        figure.get_layout_engine().set(hspace=0.12)
        areas.plot(messages, curve["one_minus_roca_percent"], color=INK, label="(1-ROCA)% so far")
        window = curve["window_one_minus_roca_percent"]
        areas.plot(messages, window, color=INK, linewidth=1, linestyle=":", label="(1-ROCA)%, latest tenth")
        if np.nanmax(curve["one_minus_roca_percent"], initial=0) > 0:
            areas.set_yscale("log", nonpositive="mask")
            _plain_ticks(areas.yaxis)
        else:
            areas.set_ylim(0, 1)
        areas.set(ylabel="(1-ROCA)%", xlabel="messages judged", xlim=(0, messages[-1]))
        areas.legend(fontsize=8)
        return _svg(figure)
