"""`nbspam log` and `nbspam undo`."""

from collections import Counter

from nbspam.cli import Options, command, done_text, plain, say, write_text
from nbspam.cli.tables import day, print_rows, utc, write_json
from nbspam.errors import NoInputError, UsageError
from nbspam.labels import amount, format_counts
from nbspam.learning.undo import choose_entries, find_lessons, take_back
from nbspam.store.ledger import list_entries
from nbspam.store.reader import open_model


@command("model", "number", "json")
def log_command(options: Options) -> None:
    """Show what was learned, the newest first.

    A line for each command, with tabs between: when it began; who judged, a person or the filter (with
    --autolearn); how many messages of each class still count; the command and the folders of the mail.  A
    message that was learned again is where it was first learned, one that moved is where it moved.

    \b
    Example:
        nbspam log
        nbspam log -n 3 --json

    Exit status: 0 shown; 65 no sound model; 66 no model.
    """
    with open_model(options.model) as model:
        classes, entries = model.classes, list_entries(model)[: options.number or None]
    rows = []
    for entry in entries:
        by = "filter" if entry.is_own else "person"
        source, messages = " ".join(entry.source), entry.messages
        if options.json:
            counts = dict(zip(classes, messages, strict=True))
            write_json({"time": utc(entry.time_ms), "by": by, "source": source, "messages": counts})
        else:
            when, counted = day(entry.time_ms, "%Y-%m-%d %H:%M"), format_counts(classes, messages)
            rows.append((when, by, counted, plain(source)))
    print_rows(("when", "by", "messages", "source"), rows, ("by", "source"))


@command("paths", "model", "last", "since", "undo.source", "quiet")
def undo_command(options: Options) -> None:
    """Take back what was learned: the last line of nbspam log, or all since a time or from a source.

    The counts are then exactly as if it had never been learned; a message that had moved counts as before.
    The calibration of the model is not restored.  To take a message out, its mail is read again, from the
    folders in the log or from PATH: files, folders or mailboxes.  A message that the filter learned itself
    needs no mail.  Writes a line for each message to stdout: `forgotten` or `moved`, a tab, and its name.

    The mail that the model was made with is not taken back: train again.  Mail on an IMAP server must be
    saved into a folder first.

    \b
    Example:
        nbspam undo --last
        nbspam undo --since "2026-11-24 09:30"
        nbspam undo --source sync ~/Maildir

    Exit status: 0 done; 64 usage, or nothing to take back; 65 no sound model; 66 no model, or messages whose
    mail was not found (all others are taken back); 74 I/O; 75 try again later.
    """
    if options.last == (options.since is not None or bool(options.source)):
        remedy = "give --last alone, or --since TIME, --source NAME or both"
        where, why = "undo", "needs to know what to take back"
        if options.paths:
            where, why = options.paths[0], "says where mail lies, not what to take back"
        raise UsageError(where, why, remedy, "undo-what")
    model = options.model
    done: Counter[str] = Counter()

    def tell(result: str, name: str) -> None:
        done[result] += 1
        write_text(f"{result}\t{plain(name)}\n")

    chosen = choose_entries(model, options.last, options.since or 0, options.source or "")
    lessons = find_lessons(model, chosen, options.paths)
    if lessons.missing:
        total = amount(lessons.missing + len(lessons.found) + len(lessons.own), "lesson")
        say(f"Of {total}, {lessons.missing:,} cannot be taken back: the mail was not found.")
    missing = take_back(model, lessons, tell)
    say(done_text(done))
    if done:
        say("The counts are as before; the calibration keeps what it has learned.")
    if missing:
        why = f"mail was not found, so it still counts: {amount(missing, 'message')}"
        remedy = "name the folder where it is now, at the end of the same command"
        raise NoInputError(model, why, remedy, "undo-no-mail")
