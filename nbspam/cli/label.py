"""`nbspam label`."""

import sys

from nbspam.cli import Options, command, messages_text, plain
from nbspam.cli.classify import show_left_out
from nbspam.cli.progress import check_all_read, steps
from nbspam.cli.tables import console, print_sentence
from nbspam.corpus.labelled import open_unsorted
from nbspam.errors import MissingExtraError, NoInputError, UsageError
from nbspam.filter import open_filter
from nbspam.labels import HAM_AND_SPAM, amount
from nbspam.tasks.label import Labelling


@command("label.folders", "model", "start", "jobs", "verbose")
def label_command(options: Options) -> None:
    """Label the messages of a folder that teach most, one after another on a screen.

    FOLDER is a folder or mailbox of unsorted mail.  Shows one message of each group of near-duplicates, the
    one that the filter is least sure of first, and never one that the model has learned.  The keys: h ham,
    s spam, space skip, u undo, q quit.  Each label is learned at once; if there is no model, the first label
    makes one.  Needs the extra label (docs/install.md).

    \b
    Example:
        nbspam label ~/Maildir

    Exit status: 0 done; 64 usage, or no terminal; 65 no sound model; 66 no mail, or mail that cannot be
    read; 73 cannot create the model; 74 I/O; 75 try again later.
    """
    try:
        from nbspam.cli.label_screen import LabelScreen
    except ImportError as error:
        raise MissingExtraError("label", error, "label") from error
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        remedy = "without a screen: nbspam learn CLASS FILE"
        raise UsageError("label", "needs a terminal", remedy, "no-terminal")
    source = open_unsorted(options.folders)
    items = [item._replace(small=None) for item in source.items()]
    out = console(is_error=True)
    show_left_out(source.left_out)
    if not items:
        check_all_read(source.skipped)
        remedy = "name a folder or mailbox with mail in it"
        raise NoInputError(" ".join(options.folders), "no messages in it", remedy, "no-mail")
    with steps("Reading", len(items)) as advance:
        labelling = Labelling(options.model, items, options.jobs, advance, options.start)
    if labelling.asked is None:
        why = "the model has learned each of them, or nearly the same message"
        print_sentence(out, f"Nothing to label in {amount(len(items), 'message')}: {why}.")
    elif failure := LabelScreen(labelling).run():
        raise failure
    counts = labelling.labelled
    if counts:
        labelled = messages_text(HAM_AND_SPAM, [counts[name] for name in HAM_AND_SPAM])
        with open_filter(options.model) as judge:
            model = plain(options.model)
            print_sentence(out, f"Labelled {labelled}. Model: {model}. Decisions: {judge.costs}.")
    check_all_read(source.skipped, labelling.skipped)
