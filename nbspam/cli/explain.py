"""`nbspam explain`: the command, and an explanation as text or JSON; text of a mail goes through `plain`."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbspam.cli import NO_MESSAGE, RESCORING, STDIN_NAME, Options, command, plain, say, tables
from nbspam.cli.classify import ReadableMessages, open_now
from nbspam.cli.reasons import describe_same_text, describe_verdict
from nbspam.corpus.source import read_head
from nbspam.explain import Clue, Explanation, SameText, Sum
from nbspam.filter import Filter
from nbspam.labels import amount, format_counts
from nbspam.settings import describe_scoring
from nbspam.store.ledger import find_first_times
from nbspam.tokens.bag import hash_token

MAX_HEADING = 10  # characters of a class name above its column
MAX_FLIP = 8  # clues named
UNKNOWN_HELP = "Unknown: for the share of tokens never met. Constant: for every message alike.\n"
Times = dict[int, int]  # hash of a token -> when it was first counted, milliseconds since 1970


@command("model", "start", "top", *RESCORING, "loss", "verbose", "json", "files")
def explain_command(options: Options) -> int:
    """Explain the verdict on a message.

    Says in words how sure the verdict is, and what decided it.  Then shows what each view of the message, its
    unknown words, the constant and the prior add to the log-odds; the clues, with their counts in each class
    and a 95 % interval of the share of spam among the messages that hold them; and clues whose removal would
    change the verdict, the strongest first.  With --textbook and two classes there is no smaller set of them.

    \b
    Example:
        nbspam explain message.eml
        nbspam explain --textbook --event-model bernoulli --json < message.eml

    Exit status: 0 explained; 64 usage; 65 no sound model; 66 no such message or no model; 74 I/O;
    75 try again later.
    """
    judge, top = open_now(options), options.top or None
    messages = ReadableMessages(options.files or [STDIN_NAME])
    explanation = None
    for name, data in messages:
        judge = open_now(options, judge)
        explanation = judge.explain(data, name)
        shown = explanation._replace(clues=explanation.clues[:top])
        times = find_times(judge, shown)
        if options.json:
            tables.write_json(_content(shown, judge.classes, times))
        else:
            out = tables.console()
            out.print(Text(describe_verdict(explanation), "bold"))
            if explanation.same_text:
                first_day = tables.day(_find_first(explanation.same_text, times))
                out.print(describe_same_text(explanation.same_text, first_day))
            _show(out, shown, judge, times, len(explanation.clues), read_head(data))
    if not explanation and not messages.status:
        say(NO_MESSAGE)
    return messages.status


def find_times(judge: Filter, explanation: Explanation) -> Times:
    """When the clues, and the text that was learned before, were first counted."""
    keys = [hash_token(clue.token) for clue in explanation.clues]
    return find_first_times(judge.model, keys + (explanation.same_text.keys if explanation.same_text else []))


def _find_first(same_text: SameText, times: Times) -> int | None:
    """When a text was first learned."""
    return min((times[key] for key in same_text.keys if key in times), default=None)


def _content(explanation: Explanation, classes: tuple[str, ...], times: Times) -> dict[str, Any]:
    """The explanation as JSON values."""
    same_text = explanation.same_text and {
        "class": explanation.same_text.label,
        "messages": explanation.same_text.messages,
        "share": explanation.same_text.share,
        "since": tables.utc(_find_first(explanation.same_text, times)),
    }
    flip = explanation.flip and {"without": explanation.flip[0], "label": explanation.flip[1]}
    verdict = explanation.verdict
    return {
        "name": verdict.name,
        "label": verdict.label,
        "class": classes[verdict.number],
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": explanation.interval,
        "contributions": [
            {"kind": part.kind, "name": part.name, "nats": part.log_odds, "clues": part.clues}
            for part in explanation.sums
        ],
        "clues": [clue_content(clue, classes, times) for clue in explanation.clues],
        "same_text": same_text,
        "flip": flip,
    }


def clue_content(clue: Clue, classes: tuple[str, ...], times: Times) -> dict[str, Any]:
    """A clue as JSON values."""
    return {
        "token": clue.token,
        "kind": clue.kind,
        "view": clue.view,
        "nats": clue.log_odds,
        "times": clue.times,
        "documents": dict(zip(classes, clue.counts, strict=False)),
        "occurrences": dict(zip(classes, clue.occurrences, strict=False)),
        "share_interval": clue.share_interval,
        "since": tables.utc(times.get(hash_token(clue.token))),
    }


def _show(
    out: Console, explanation: Explanation, judge: Filter, times: Times, n_clues: int, head: str
) -> None:
    """The explanation for people, after the verdict in words: the tables, then the clues that decide.

    explanation : with the clues to be shown;  n_clues : how many there are
    """
    name = judge.classes[explanation.verdict.number]
    out.print(plain(f"{explanation.verdict.name}  {head}".rstrip()), no_wrap=True, overflow="ellipsis")
    if why := _why_undefined(explanation, judge):
        out.print(why)
    sums = f"\nWhat adds up to the log-odds of {name}, in nats: 2.3 make the odds ten times as high."
    out.print(sums, UNKNOWN_HELP * judge.settings.averaged, sep="\n", style="dim", end="")
    out.print(tables.fit_table(_sum_table(explanation, name, out.width // 4), out), "", sep="\n")
    if explanation.clues:
        out.print(f"Clues: the messages that hold each, and the share of {name} in them (95 %).", style="dim")
        out.print(fit_clues(clue_table(explanation, judge.classes, times), out))
    if left_out := n_clues - len(explanation.clues):
        out.print(f"  and {left_out:,} more clues: --top 0 shows all", style="dim")
    out.print(_format_flip(explanation))
    counts = format_counts(judge.model.classes, judge.model.messages)
    out.print(f"Scored by {describe_scoring(judge.settings.as_text())}; from {counts}.", style="dim")


def _why_undefined(explanation: Explanation, judge: Filter) -> str:
    """Why there is no probability; empty if there is one."""
    if explanation.verdict.probability is not None:
        return ""
    if sum(map(bool, judge.model.messages)) < 2:
        return "The probability is undefined: fewer than two classes have mail in the model."
    return "The probability is undefined: every class is ruled out (lambda = 0)."


def _sum_table(explanation: Explanation, name: str, span_cells: int) -> Table:
    """The sums, each with a bar, to the left if it is negative, and the log-odds of the class `name`.

    span_cells : from the end of the longest bar to the left to that of the longest to the right
    """
    shown = Table.grid("", "", "", "", padding=(0, 1, 0, 0))
    shown.columns[1].justify = shown.columns[2].justify = "right"
    finite = [part.log_odds for part in explanation.sums if part.log_odds and isfinite(part.log_odds)]
    span = max([0.0, *finite]) - min([0.0, *finite]) or 1.0
    for part in explanation.sums:
        nats = part.log_odds or 0.0
        if part.log_odds != 0 or part.kind == "view":
            text = nats_text(part.log_odds)
            bar = Text("■" * round(span_cells * abs(nats) / span if isfinite(nats) else 0), text.style)
            shown.add_row(_sum_name(part), text, *((bar, "") if nats < 0 else ("", bar)))
    total = nats_text(explanation.verdict.scored.log_odds(explanation.verdict.number))
    interval = "95 %: {:+.2f} to {:+.2f}".format(*explanation.interval) if explanation.interval else ""
    shown.add_row(Text(f"= log-odds of {name}", "bold"), Text(total.plain, "bold"), "", Text(interval, "dim"))
    return shown


def _sum_name(part: Sum) -> str:
    if part.kind == "view":
        return f"{part.name}, {amount(part.clues, 'clue')}"
    if part.kind == "features":
        return f"numeric features, {part.clues:,}"
    if part.kind == "base" and part.name == "bernoulli":
        return "absent words"
    return {"unknown": "unknown in ", "prior": "prior "}.get(part.kind, "") + plain(part.name)


def nats_text(value: float | None) -> Text:
    """A contribution to the log-odds, in the colour of spam if it is for the class that they are about."""
    if value is None:
        return Text("undefined")
    text = f"{value:+.2f}" if abs(value) >= 0.005 else "0.00"
    return Text(text, tables.SPAM_COLOUR if value > 0 else tables.HAM_COLOUR if value else "")


def fit_clues(shown: Table, out: Console) -> Table:
    """A clue_table that fits: at least the nats and the clue."""
    rare = ["since", "where", *(str(column.header) for column in reversed(shown.columns[1:-3]))]
    return tables.fit_table(shown, out, rare)


def clue_table(explanation: Explanation, names: Sequence[str], times: Times) -> Table:
    """The clues: nats, messages of each class that hold them, share of the verdict's class, view, token.

    With more than two classes all but the verdict's class share a column.
    """
    number = explanation.verdict.number
    columns = [(name[:MAX_HEADING], [k]) for k, name in enumerate(names)]
    if len(names) > 2:
        others = [k for k in range(len(names)) if k != number]
        columns = [(names[number][:MAX_HEADING], [number]), (f"{len(others)} others", others)]
    heads = [*(f">{name}" for name, _ in columns), f"share of {names[number]}", "since"]
    shown = tables.table(">nats", *heads, "where", "clue")
    for clue in explanation.clues:
        counts = [f"{sum(clue.counts[k] for k in group):,}" if clue.counts else "" for _, group in columns]
        share = clue.share_interval
        percents = f"{100 * share[0]:.0f}-{100 * share[1]:.0f} %" if share else ""
        cells = [*counts, percents, tables.day(times.get(hash_token(clue.token)))]
        shown.add_row(nats_text(clue.log_odds), *cells, clue.view or clue.kind, plain(clue.token))
    return shown


def _format_flip(explanation: Explanation) -> str:
    if explanation.flip is None:
        return "Removing the strongest clues does not change the verdict."
    removed, label = explanation.flip
    names = ", ".join(plain(text) for text in removed[:MAX_FLIP]) + ", …" * (len(removed) > MAX_FLIP)
    return f"Without {amount(len(removed), 'clue')} it would be {label}: {names}"
