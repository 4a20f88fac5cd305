"""`nbspam model`: the commands about model files, and the facts of a model as text."""

import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from math import isfinite

from rich.table import Table

from nbspam.cli import Group, Options, command, error_text, messages_text, plain, say, write_text
from nbspam.cli.classify import open_input
from nbspam.cli.explain import clue_content, clue_table, find_times, fit_clues
from nbspam.cli.shared import check_new_model, check_writable, write_lines
from nbspam.cli.tables import console, fit_table, print_sentence, table, write_json
from nbspam.errors import BadDataError, NbspamError
from nbspam.explain import explain_tokens
from nbspam.filter import open_filter
from nbspam.labels import format_counts
from nbspam.model.features import bin_text, make_bins
from nbspam.store.autolearned import CORRECTED, LABELLED
from nbspam.store.check import check_model, find_words
from nbspam.store.merge import Merged, merge
from nbspam.store.overlay import rebase
from nbspam.store.prune import prune
from nbspam.store.reader import Model
from nbspam.store.text import dump_model, load_dump
from nbspam.tasks.facts import Facts, collect_facts
from nbspam.tokens.words import split_words

SHOWN_SETTINGS = ("event_model", "averaged", "features", "token_pattern", "alpha", "prior")


@command("model", "json")
def info_command(options: Options) -> None:
    """Show what is in a model: classes, counts, and how it scores.

    Of a model of numeric features also what it has learned of each: mean μ and variance σ² with their 95 %
    intervals, or the bins and the share φ of each class in them (docs/models.md).

    \b
    Example:
        nbspam model info -m my.nbspam

    Exit status: 0 shown; 65 no sound model; 66 no model.
    """
    facts = collect_facts(options.model)
    if options.json:
        write_json(facts)
        return
    out = console()
    print_sentence(out, info_text(facts).rstrip())
    if facts["features"]:
        out.print("", fit_table(feature_table(facts), out), sep="\n")


@command("model")
def check_command(options: Options) -> int:
    """Check that a model is sound: the file, and that all sums are right.

    \b
    Example:
        nbspam model check -m my.nbspam

    Exit status: 0 sound; 65 not sound (complaints are on stdout); 66 no model.
    """
    complaints = check_model(options.model)
    write_text("".join(f"{plain(line)}\n" for line in complaints) or f"{plain(options.model)}: sound\n")
    return BadDataError.status if complaints else 0


@command("word", "model", "json")
def words_command(options: Options) -> None:
    """Show what a model has learned of words.

    A line for each token that has the word, the strongest first: the word in the text, in the subject and
    other header fields, in links, and in names of files.  nats is what the token says for spam, the logarithm
    of its likelihood ratio, before it is weighed with the other tokens of a message.  Then come the messages
    of each class that hold it, the share of spam among such messages (95 %), and the day on which the model
    first met it.

    \b
    Example:
        nbspam model words viagra invoice
        nbspam model words --json lake.example

    Exit status: 0 shown, also for words that the model does not know; 65 no sound model; 66 no model.
    """
    with open_filter(options.model) as judge:
        tokens = {word: _find_tokens(judge.model, word) for word in options.word}
        explanation = explain_tokens(judge.scorer, judge.loss, sorted({*chain(*tokens.values())}))
        times, classes = find_times(judge, explanation), judge.classes
    if options.json:
        for clue in explanation.clues:
            write_json(clue_content(clue, classes, times))
    elif explanation.clues:
        out = console()
        out.print(fit_clues(clue_table(explanation, classes, times), out))
    for word in [word for word in tokens if not tokens[word]]:
        say(f"{plain(word)}: in no message that the model has learned.")


def _find_tokens(model: Model, word: str) -> list[tuple[int, int, str]]:
    """The tokens of a word as it is written, else of what it is split into: `Café` is `cafe` in mail."""
    written, words = word.lower(), split_words(word, limit=100)
    return find_words(model, [written]) or find_words(model, [] if written in words else words)


@command("model", "dump.output")
def dump_command(options: Options) -> None:
    """Write a model as text: a JSON array for each row, in a fixed order.

    The same counts give the same text, so two models can be compared with diff.

    \b
    Example:
        nbspam model dump -m my.nbspam > my.text

    Exit status: 0 written; 65 no sound model; 66 no model; 73 cannot create the file; 74 I/O.
    """
    check_writable(options.output, options.model)
    write_lines(options.output, dump_model(options.model))


@command("load.file", "model", "base", "replace")
def load_command(options: Options) -> None:
    """Make a model from its text form.

    Reads FILE, or stdin.

    \b
    Example:
        nbspam model load my.text -m copy.nbspam

    Exit status: 0 loaded; 65 not the text of a model; 66 no such file; 73 cannot create the model; 74 I/O.
    """
    check_new_model(options.model, options.replace)
    check_writable(options.model, options.base)
    with open_input(options.file) as stream:
        load_dump(stream, options.file, options.model, options.replace, options.base or "")


@command("merge.models", "merge.output", "replace", "quiet")
def merge_command(options: Options) -> None:
    """Merge models: the counts are those of one training on all of their mail.

    They must have the same classes.  Settings and calibration are those of the first model, so name the one
    that has learned the most mail first.

    \b
    Example:
        nbspam model merge home.nbspam work.nbspam -o both.nbspam

    Exit status: 0 merged; 64 usage; 65 models that cannot be added; 66 no model; 73 cannot create; 74 I/O.
    """
    check_new_model(options.output, options.replace, option="--output")
    merged = merge(options.models, options.output, options.replace)
    say(_summarise_merge(merged, options.models))


@command("model", "prune.min_count", "quiet")
def prune_command(options: Options) -> None:
    """Make a model smaller: take out the tokens that are in the fewest messages.

    The filter then no longer knows these tokens; docs/model-size.md says what that costs.  Messages that were
    learned can still be unlearned.  To keep the old model, copy it first.

    \b
    Example:
        nbspam model prune --min-count 3 -m my.nbspam

    Exit status: 0 pruned; 64 usage; 65 no sound model; 66 no model; 74 I/O; 75 try again later.
    """
    done = prune(options.model, options.min_count)
    sizes = f"{done.after_bytes / 1e6:.1f} MB, before {done.before_bytes / 1e6:.1f} MB"
    say(f"Pruned {done.pruned:,} of {done.tokens:,} tokens.\nModel: {plain(options.model)}, {sizes}.")


@command("rebase.models", "model", "start", "quiet")
def rebase_command(options: Options) -> int:
    """Give models that began with --start another base.

    Without --start: what is now at the path of their base.

    What they have learned stays, their calibration too.

    \b
    Example:
        nbspam model rebase --start work.nbspam users/*.nbspam

    Exit status: 0 done, else of the last failure: 64 no overlay; 65 no sound model, or a base that counts
    other things; 66 no model; 74 I/O; 75 try again later.
    """
    status = 0
    for path in options.models or [options.model]:
        try:
            rebase(path, options.start)
        except NbspamError as error:
            sys.stderr.write(error_text(error))
            status = error.status
        else:
            say(f"{plain(path)} has its base.")
    return status


def info_text(facts: Facts) -> str:
    """The facts of a model in some lines."""
    settings, messages, autolearned = facts["settings"], facts["messages"], facts["autolearned"]
    views = ", ".join(f"{view['words']:,} {name}" for name, view in facts["views"].items() if view["words"])
    floored = [feature["name"] for feature in facts["features"] if feature["variance_floor"]]
    counts = (
        f"{sum(messages.values()):,}: {_format_counts(messages)}; {facts['different_messages']:,} different"
    )
    rows = [
        ("model", f"{facts['path']}  ({facts['size_bytes'] / 1e6:.1f} MB, format {facts['format']})"),
        ("messages", counts),
    ]
    if facts["base"]:
        rows.append(("base", f"{facts['base']}, which this adds to"))
    if number := sum(autolearned.values()):
        text = f"{number:,} of them, on the filter's own word: {_format_counts(autolearned)}"
        rows.append(("autolearned", text))
    if LABELLED in settings:
        corrected = f"{settings.get(CORRECTED, 0)} of them as another class"
        rows.append(("reviewed", f"{settings[LABELLED]} more were labelled since, {corrected}"))
    rows.append(("tokens", f"{views or 'none'}; vocabulary {facts['vocabulary']}"))
    rows += [(name, settings[name]) for name in SHOWN_SETTINGS if name in settings]
    if facts["cutoffs"]:
        above = facts["cutoffs"]["spam_above"]
        rows.append(("spam", f"log-odds > {above:g}" if isfinite(above) else "never"))
    rows.append(("decisions", facts["costs"]))
    if floored:
        rows.append(("variance floor", f"needed by {len(floored)} features: {', '.join(floored)}"))
    return _align(rows)


def _format_counts(counts: dict[str, int]) -> str:
    return format_counts(list(counts), list(counts.values()))


def feature_table(facts: Facts) -> Table:
    """What the numeric model learned: a row for each feature and class, or for each bin."""
    if facts["settings"]["numeric_model"] == "gaussian":
        shown = table("feature", "class", ">μ", "95 %", ">σ²", "95 %")
        for feature in facts["features"]:
            for name in facts["classes"]:
                cells = [feature["name"], plain(name)]
                for moment in ("mean", "variance"):
                    low, high = feature[f"{moment}_interval"][name]
                    cells += [f"{feature[moment][name]:.6g}", f"{low:.3g} to {high:.3g}"]
                shown.add_row(*cells)
        return shown
    shown = table("feature", "bin", *(f">φ {plain(name)}" for name in facts["classes"]))
    for feature in facts["features"]:
        for edges, *shares in zip(make_bins(feature["edges"]), *feature["phi"].values(), strict=True):
            shown.add_row(feature["name"], bin_text(*edges), *(f"{share:.6g}" for share in shares))
    return shown


def _align(rows: Iterable[tuple[str, str]]) -> str:
    pairs = [(plain(name), plain(value)) for name, value in rows]
    width = max(len(name) for name, _ in pairs)
    return "".join(f"{name:<{width}}  {value}\n" for name, value in pairs)


def _summarise_merge(merged: Merged, models: Sequence[str]) -> str:
    """What was added up, and what was not."""
    messages = messages_text(merged.classes, merged.messages)
    lines = [f"Merged {len(models)} models: {messages}.", f"Model: {plain(merged.path)}."]
    lines.append(f"Settings and calibration: those of {plain(models[0])}.")
    if merged.different:
        names = ", ".join(map(plain, merged.different))
        lines.append(
            f"Allowed by one and denied by another, decided as {plain(models[0])} does first: {names}."
        )
    return "\n".join(lines)


model_command = Group(
    "Inspect, merge and convert models.",
    info=info_command,
    check=check_command,
    words=words_command,
    dump=dump_command,
    load=load_command,
    merge=merge_command,
    prune=prune_command,
    rebase=rebase_command,
)
