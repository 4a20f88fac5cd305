"""The drawings of the report, each an SVG as text, in the colours of palette.css.

The axes of the curve are logarithmic, because a good filter's curve clings to a corner of plain ones; a share
of 0 is drawn at half a message.  Ham and spam differ in shape as well as in colour.
"""

import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from nbspam.decision import UNDECIDED, cutoffs
from nbspam.evaluation.figures import error_percents, trace_learning
from nbspam.evaluation.outcomes import Evaluation
from nbspam.evaluation.samples import Judgement, take_all, trace_curve

STYLE = Path(__file__).with_name("plots.mplstyle")
PALETTE = Path(__file__).with_name("palette.css").read_text("utf-8")
COLOURS = dict(reversed(re.findall(r"--(\w+): (#\w+)", PALETTE)))  # by day
COUNTS = [0.0, *np.outer(10.0 ** np.arange(7), [1, 2, 5]).ravel()]  # on an axis of square roots


def draw_plots(evaluation: Evaluation) -> dict[str, str]:
    """The drawings that this evaluation allows, by name: roc, reliability, histogram, learning."""
    drawers: dict[str, Callable[[Evaluation, Any], None]] = {}
    has_spam = evaluation.positive is not None
    if has_spam and len(np.unique(evaluation.is_positive)) == 2:
        drawers["roc"] = _draw_roc
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
            drawn[name] = _name_colours(text.getvalue())
    return drawn


def _name_colours(drawing: str) -> str:
    """The drawing with the names of its colours, so that it is dark where the page is."""
    for name, colour in COLOURS.items():
        drawing = drawing.replace(colour, f"var(--{name})")
    return drawing.replace("<defs>", f"<defs><style>{PALETTE}</style>", 1)


def _draw_roc(evaluation: Evaluation, figure: Any) -> None:
    """Spam missed against ham lost at every threshold, both axes logarithmic, and the decisions as a dot."""
    axes = figure.subplots()
    sample = take_all(evaluation)
    half = np.asarray(0.5 / sample.tally.sum(axis=0))
    shares = [100 * np.maximum(*pair) for pair in zip(trace_curve(sample.tally), half, strict=True)]
    axes.plot(*shares, color=COLOURS["ink"], label="all thresholds")
    point = np.maximum(np.array(error_percents(sample)), 100 * half)
    # With unsure decisions the dot can lie below the curve.
    label = "as decided, unsure aside" if (evaluation.decided == UNDECIDED).any() else "as decided"
    axes.plot(*point, "o", color=COLOURS["ink"], markersize=8, clip_on=False, label=label)
    axes.set(xlabel="ham lost, %", ylabel="spam missed, %", xscale="log", yscale="log")
    axes.legend(loc="upper right")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set(major_formatter="{x:,.10g}", minor_formatter="")  # 0.1, 1, 10 in place of powers of ten


def _draw_reliability(evaluation: Evaluation, figure: Any) -> None:
    """What came true against the probability given; on the diagonal both are equal."""
    bin_of, *values = Judgement(evaluation).reliability
    messages = np.bincount(bin_of)
    confidence, came_true = (np.bincount(bin_of, each) / messages for each in values)
    axes = figure.subplots()
    size = 20 + 180 * messages / messages.max()
    axes.plot([0, 1], [0, 1], color=COLOURS["soft"], linewidth=1, linestyle="--", label="as said")
    axes.plot(confidence, came_true, color=COLOURS["ink"], linewidth=1)
    axes.scatter(confidence, came_true, s=size, color=COLOURS["ink"], label="bins of messages", zorder=3)
    of_what = "of spam" if evaluation.positive is not None else "of the likeliest class"
    axes.set(xlabel=f"probability {of_what}, mean of the bin", ylabel="share that was")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.legend(loc="upper left", markerscale=0.5)


def _draw_histogram(evaluation: Evaluation, figure: Any) -> None:
    """How many messages of each class got which score, and the cut-off.

    A bar is as high as the square root of its count: single messages are seen, and every bar begins at 0.
    """
    figure.set_size_inches(6.0, 3.4)
    axes = figure.subplots()
    is_spam, score = evaluation.is_positive, evaluation.score
    finite = score[np.isfinite(score)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (-1.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, 61)
    values = np.clip(score, edges[0], edges[-1])  # scores far out are counted in the last bins
    others = "ham" if evaluation.n_classes == 2 else "all but spam"
    for label, name, hatch, rows in ((others, "ham", "", ~is_spam), ("spam", "spam", "////", is_spam)):
        line = {"edgecolor": COLOURS[name], "linewidth": 1.4, "hatch": hatch, "fill": not hatch}
        axes.hist(values[rows], edges, histtype="stepfilled", facecolor=COLOURS[name], label=label, **line)
    marks = cutoffs(evaluation.loss) if evaluation.loss and evaluation.n_classes == 2 else ()
    for number, place in enumerate({*filter(np.isfinite, marks)}):
        label = "" if number else "cut-off"
        axes.axvline(place, color=COLOURS["ink"], linewidth=1.2, linestyle="--", label=label)
    highest = axes.get_ylim()[1]
    axes.set_yscale("function", functions=(np.sqrt, np.square))
    axes.set_yticks([count for count in COUNTS if count <= highest and not 0 < count < highest / 200])
    axes.set(xlabel="score: log-odds of spam, nats", ylabel="messages", ylim=(0, highest))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    figure.legend(loc="outside upper right", ncols=4)


def _draw_learning(evaluation: Evaluation, figure: Any) -> None:
    """Errors among the latest tenth of the messages."""
    points = trace_learning(evaluation)
    figure.set_size_inches(6.0, 3.4)
    axes = figure.subplots()
    for key, name, label, line in (("hm", "ham", "ham lost", "-"), ("sm", "spam", "spam missed", "--")):
        rates = points[f"window_{key}_percent"]
        axes.plot(points["messages"], rates, color=COLOURS[name], linestyle=line, label=label)
    axes.set(xlabel="messages judged", xlim=(0, len(evaluation)), ylabel="errors, %", ylim=(0, None))
    axes.legend()
