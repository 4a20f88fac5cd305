"""The drawings of the report, each an SVG as text.

Axes are logarithmic or probit, because a good filter's curve clings to a corner of plain ones; a share of 0
is drawn at half a message.
"""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.special import ndtri

from nbspam.decision import UNDECIDED
from nbspam.evaluation.figures import error_percents, trace_learning
from nbspam.evaluation.outcomes import Evaluation, Floats
from nbspam.evaluation.samples import Judgement, take_all, trace_curve

HAM_COLOUR, SPAM_COLOUR, INK, GREY = "#2a6f97", "#c1440e", "#22303c", "#8795a1"
STYLE = Path(__file__).with_name("plots.mplstyle")
DET_TICKS = np.array([0.001, 0.01, 0.1, 0.5, 2, 5, 10, 20, 40, 60])  # percent
DET_END = 0.6  # no filter with more errors is used


def draw_plots(evaluation: Evaluation) -> dict[str, str]:
    """The drawings that this evaluation allows, by name: roc, det, reliability, histogram, learning."""
    drawers: dict[str, Callable[[Evaluation, Any], None]] = {}
    has_spam = evaluation.positive is not None
    if has_spam and len(np.unique(evaluation.is_positive)) == 2:
        drawers |= {"roc": _draw_roc, "det": _draw_det}
    if evaluation.has_probabilities:
        drawers["reliability"] = _draw_reliability
    if has_spam:
        drawers["histogram"] = _draw_histogram
    if has_spam and evaluation.method == "replay":
        drawers["learning"] = _draw_learning
    drawn = {}
    style = matplotlib.rc_params_from_file(str(STYLE), use_default_template=False)
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The reader's browser draws the text: it does not matter that this machine lacks a glyph.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        for name, draw in drawers.items():
            figure = Figure(figsize=(5.6, 4.4), layout="constrained")  # without pyplot: no global state
            draw(evaluation, figure)
            text = io.StringIO()
            metadata = {"Date": None, "Creator": None}
            figure.savefig(text, format="svg", transparent=True, metadata=metadata)
            drawn[name] = text.getvalue()
    return drawn


def _draw_curve(
    axes: Any, evaluation: Evaluation, places: Callable[[Floats], Floats], highest: float = 1.0
) -> Floats:
    """The curve and the filter's own decisions; half a message on both axes, float64 (2,).

    places  : from shares to places on an axis
    highest : share at which the dot of the decisions is drawn at most
    """
    sample = take_all(evaluation)
    half = np.asarray(0.5 / sample.tally.sum(axis=0))
    shares = [np.maximum(*pair) for pair in zip(trace_curve(sample.tally), half, strict=True)]
    axes.plot(*map(places, shares), color=SPAM_COLOUR, label="all thresholds")
    point = np.clip(np.array(error_percents(sample)) / 100, half, highest)
    # With unsure decisions the dot can lie below the curve.
    label = "as decided, unsure aside" if (evaluation.decided == UNDECIDED).any() else "as decided"
    axes.plot(*places(point), "o", color=INK, markersize=7, clip_on=False, label=label)
    axes.set(xlabel="ham lost, %", ylabel="spam missed, %")
    axes.legend(loc="upper right")
    return half


def _draw_roc(evaluation: Evaluation, figure: Any) -> None:
    """Spam missed against ham lost at every threshold, both axes logarithmic."""
    axes = figure.subplots()
    _draw_curve(axes, evaluation, lambda shares: 100 * shares)
    axes.set(xscale="log", yscale="log")
    _plain_ticks(axes.xaxis, axes.yaxis)


def _draw_det(evaluation: Evaluation, figure: Any) -> None:
    """Detection error trade-off: both axes probit, so that normally spread scores give a straight line."""
    axes = figure.subplots()
    # A share of 1 has no place; nothing above DET_END is shown.
    least = _draw_curve(axes, evaluation, lambda shares: ndtri(np.minimum(shares, 0.9999)), DET_END)
    for name, floor in zip("xy", np.minimum(least, 0.4), strict=True):
        ticks = DET_TICKS[(100 * floor <= DET_TICKS) & (DET_TICKS < 100 * DET_END)]
        labels = [f"{tick:g}" for tick in ticks]
        ends = (ndtri(floor) - 0.05, ndtri(DET_END))
        axes.set(**{f"{name}ticks": ndtri(ticks / 100), f"{name}ticklabels": labels, f"{name}lim": ends})


def _plain_ticks(*axes: Any) -> None:
    """0.1, 1, 10 in place of powers of ten."""
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def _draw_reliability(evaluation: Evaluation, figure: Any) -> None:
    """What came true against the probability given; on the diagonal both are equal."""
    bin_of, *values = Judgement(evaluation).reliability
    messages = np.bincount(bin_of)
    confidence, came_true = (np.bincount(bin_of, each) / messages for each in values)
    axes = figure.subplots()
    size = 20 + 180 * messages / messages.max()
    dots = {"color": HAM_COLOUR, "alpha": 0.75, "label": "bins of messages", "zorder": 3}
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="as said")
    axes.plot(confidence, came_true, color=HAM_COLOUR, linewidth=1)
    axes.scatter(confidence, came_true, s=size, **dots)
    of_what = "of spam" if evaluation.positive is not None else "of the likeliest class"
    axes.set(xlabel=f"probability {of_what}, mean of the bin", ylabel="share that was")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.legend(loc="upper left", markerscale=0.5)


def _draw_histogram(evaluation: Evaluation, figure: Any) -> None:
    """How many messages of each class got which score; counts on a logarithmic axis: rare errors show."""
    axes = figure.subplots()
    is_spam, score = evaluation.is_positive, evaluation.score
    finite = score[np.isfinite(score)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (-1.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, 61)
    values = np.clip(score, edges[0], edges[-1])  # scores far out are counted in the last bins
    others = "ham" if evaluation.n_classes == 2 else "all but spam"
    for label, colour, rows in ((others, HAM_COLOUR, ~is_spam), ("spam", SPAM_COLOUR, is_spam)):
        axes.hist(values[rows], bins=edges, color=colour, alpha=0.28, label=label)
        axes.hist(values[rows], bins=edges, color=colour, histtype="step", linewidth=1.4)
    axes.set(xlabel="score: log-odds of spam, nats", yscale="log", ylabel="messages", ylim=(0.7, None))
    _plain_ticks(axes.yaxis)
    figure.legend(loc="outside upper right", ncols=4)


def _draw_learning(evaluation: Evaluation, figure: Any) -> None:
    """Errors among the latest messages above, the ranking so far below."""
    points = trace_learning(evaluation)
    messages, area = points["messages"], points["one_minus_roca_percent"]
    figure.set_size_inches(7.6, 5.0)
    errors, areas = figure.subplots(2, 1, sharex=True)
    for key, name, colour in (("hm", "ham lost", HAM_COLOUR), ("sm", "spam missed", SPAM_COLOUR)):
        errors.plot(messages, points[f"window_{key}_percent"], color=colour, label=name)
    errors.set(ylabel="errors, %", ylim=(0, None))
    errors.legend(fontsize=8)
    figure.get_layout_engine().set(hspace=0.12)
    areas.plot(messages, area, color=INK)
    if np.nanmax(area, initial=0) > 0:
        areas.set_yscale("log", nonpositive="mask")
        _plain_ticks(areas.yaxis)
    else:
        areas.set_ylim(0, 1)
    areas.set(ylabel="(1-ROCA)%", xlabel="messages judged", xlim=(0, messages[-1]))
