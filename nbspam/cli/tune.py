"""`nbspam tune`."""

import shlex
from typing import Any

from nbspam.cli import SOURCE, Options, command, plain, say, tables, with_flags
from nbspam.cli.progress import check_all_read, steps, train_summary
from nbspam.cli.shared import check_new_model, open_source, read_source
from nbspam.labels import amount
from nbspam.settings import Settings
from nbspam.tasks.train import train_model
from nbspam.tasks.tune import LEVEL, PLANS, ROWS, STEPS, Candidate, Tuning, plan_training, tune


@command(*SOURCE, "seed", "write", "model", "replace", "jobs", "json", "verbose", "quiet")
def tune_command(options: Options) -> None:
    """Choose the best settings for your own mail.

    SOURCE is as for nbspam train.  Tries smoothing, the threshold, the views and the event model on the same
    messages.  Each message is judged by older mail or, without dates, by mail of other campaigns.  Writes a
    table, which compares each row with the default, message by message; then the command to train with.  The
    best row is chosen if its log loss is lower by more than chance, else the default.

    With --write it also trains MODEL on SOURCE with the choice, whole or not at all.  The new model has
    counted only SOURCE, and nothing that an old model had learned from other mail.

    \b
    Example:
        nbspam tune ~/Maildir
        nbspam tune ~/Maildir --write --replace

    Exit status: 0 chosen (perhaps the default); 64 usage; 65 bad data, such as mail of one class; 66 no mail,
    or mail that cannot be read (chosen on the rest); with --write also 73 cannot create the model (before
    the search); 74 I/O.
    """
    jobs, model = options.jobs, options.model
    if options.write:
        check_new_model(model, options.replace)
    else:
        options.refuse(("model", "replace"), "belongs to --write", "add --write, or leave it out")
    source = open_source(options)
    corpus = read_source(source, jobs, Settings().wanted)
    skipped = [*source.skipped, *corpus.skipped]
    with steps("Trying", STEPS) as advance:
        tuning = tune(corpus, options.seed, jobs, advance)
    chosen = with_flags(tuning.chosen.options)
    plan = PLANS[tuning.chosen.options]
    if options.json:
        choice = {"chosen": chosen, "settings": plan.settings.values(), "default_stays": not chosen}
        tables.write_json(tuning._asdict() | choice | {"candidates": [*map(_describe, tuning.candidates)]})
    else:
        show_tuning(tuning, format_command(chosen, options))
    if options.write:
        plan = plan_training(tuning.chosen.options, source.classes)._replace(replaces=options.replace)
        with steps("Training", len(corpus.block)) as advance:
            trained = train_model(source.items(), source.classes, model, plan, jobs, advance)
        say(train_summary(trained, f"Trained with {chosen or 'the default'} on"))
        skipped += [*source.skipped, *trained.skipped]
    check_all_read(skipped)


def _describe(candidate: Candidate) -> dict[str, Any]:
    """A candidate as JSON values."""
    event_model = PLANS[candidate.options].settings.event_model
    _, log_loss, difference, interval, p = candidate.log_loss
    paired = {"difference": difference, "difference_interval": interval, "p": p, "verdict": candidate.verdict}
    names = {"options": with_flags(candidate.options), "event_model": event_model, "log_loss": log_loss}
    return candidate._asdict() | names | paired


def format_command(chosen: str, options: Options) -> str:
    """The command that trains with the chosen options on the same mail, for the shell."""
    words = ["nbspam", "train", *chosen.split()]
    for flag, paths in (("--ham", options.ham), ("--spam", options.spam), ("--class", options.classes)):
        words += [word for path in paths for word in (flag, path)]
    words += ["--rules", options.rules] if options.rules else []
    words += ["--skip-unread"] if options.skip_unread else []
    return plain(shlex.join([*words, *options.source]))


def show_tuning(tuning: Tuning, command: str) -> None:
    """The candidates, in words which one is best, and the command to train with."""
    out, chosen = tables.console(), tuning.chosen
    tables.print_sentence(out, f"{amount(tuning.messages, 'message')} judged, {tuning.kept_apart}.")
    tables.print_sentence(out, f"Decisions: {tuning.costs}.")
    numbers = ">log loss - default\n(95 % interval)", ">ham\nlost %", ">spam\nmissed %"
    shown = tables.table("", "than the\ndefault", *numbers)
    for candidate in tuning.candidates:
        percents = [tables.number(value, ".2f") for value in (candidate.hm_percent, candidate.sm_percent)]
        difference, (_, high) = candidate.log_loss.difference, candidate.log_loss.interval
        margin = tables.number(high - difference, ".4f", " ± ")
        paired = (candidate.verdict, f"{difference:+.4f}{margin}") if candidate.options else ("", "")
        name = with_flags(candidate.options) or "the default"
        shown.add_row(name, *paired, *percents, style="bold green" if candidate is chosen else "")
    log_loss = f"{chosen.log_loss.a:.4f} (mean -ln of the true class's probability; lower is better)"
    out.print(tables.fit_table(shown, out))
    tables.print_sentence(out, f"\nLog loss of the default: {log_loss}.")
    verdict = f"Better than the default: {with_flags(chosen.options)}."
    if not chosen.options:
        verdict = f"No better than the default: no row gains with p < {LEVEL:.4f} (0.05 / {ROWS} rows)."
    tables.print_sentence(out, verdict, "bold")
    out.print(f"  {command}", soft_wrap=True)
