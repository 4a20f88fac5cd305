"""`nbspam sync`, and the lines of messages that teach."""

import os
from collections import Counter
from contextlib import closing

from nbspam.cli import Options, command, done_text, plain, say, write_text
from nbspam.cli.progress import check_all_read
from nbspam.corpus.folder_names import UNCLEAR
from nbspam.corpus.marks import MARKS_UNREAD, OWN_JUNK
from nbspam.corpus.walk import NESTED, OUT_OF_TREE
from nbspam.folders import learner
from nbspam.folders.maildirs import Maildirs
from nbspam.labels import HAM_AND_SPAM, amount
from nbspam.learning.learn import check_classes

# Why nothing was learned: from what, in the singular, and what to know about it.
REASONS = {
    learner.UNREAD_JUNK: ("unread message", " in Junk: read messages teach"),
    learner.UNSEEN_JUNK: ("unread message", " in Junk: read messages teach"),
    learner.UNREAD: ("unread message", " in other folders: ham once read, or after --keep-days"),
    learner.MARKED: ("message", " marked as junk by nbspam itself: they teach once you move them"),
    OWN_JUNK: ("message", " marked as junk by nbspam itself: they teach once you move them"),
    learner.NOTHING: ("draft or deleted message", ""),
    learner.SAME_AS_BEFORE: ("message", " as at the last run: each teaches once"),
    learner.NOT_READ: ("file", " that cannot be read, or has moved just now"),
    learner.NO_LESSONS: ("folder", " of drafts, sent or deleted mail"),
    UNCLEAR: ("folder", " whose name may mean junk or not: teach with nbspam learn CLASS FOLDER"),
}


@command("sync.folders", "model", "keep_days", "dry_run", "quiet")
def sync_command(options: Options) -> None:
    """Learn from the folders of local Maildirs, and from what was read.

    MAILDIR is a tree of Maildirs, by default ~/Maildir.  Mail in Junk or Spam is spam; other mail is ham once
    it is read, answered or kept for some days; mail that was moved out of Junk is ham.  Trash, Sent and
    Drafts teach nothing, and no mail is changed.  Writes a line for each message to stdout: what was
    done, a tab, the class, a tab, and where it is.  MODEL-sync.json remembers what was seen, so a
    second run reads only what has changed.

    \b
    Example:
        nbspam sync
        nbspam sync --dry-run ~/mail

    Exit status: 0 done; 64 usage; 65 no sound model; 66 no Maildir, no model, or mail
    that cannot be read; 74 I/O; 75 try again later.
    """
    model, dry_run = options.model, options.dry_run
    check_classes(model, *HAM_AND_SPAM)
    box = Maildirs(options.folders or [os.path.expanduser("~/Maildir")])
    with open_memory(f"{model}-sync.json", options) as memory:
        run = learner.FolderLearner(model, box, memory, "sync\t", options.keep_days, dry_run)
        show_learned(run)
    if links := box.left_out[OUT_OF_TREE]:
        say(f"Nothing to learn from {amount(links, 'link')} that lead out of MAILDIR.")
    if nested := box.left_out[NESTED]:
        say(f"Nothing to learn from {amount(nested, 'folder')} inside the parts of a Maildir.")
    if box.others:
        others = amount(box.others, "folder")
        say(f"Nothing to learn from {others} that are no Maildirs: nbspam train reads them.")
    for reason in box.left_out:
        if reason.startswith(MARKS_UNREAD):
            say(f"M{plain(reason[1:])}. Move junk to a folder.")
    check_all_read(box.skipped)


def open_memory(path: str, options: Options) -> closing[learner.FolderMemory]:
    """What is remembered of mail; say so if it was of another model."""
    memory = learner.FolderMemory(path, options.model, is_kept="dry_run" not in options.named)
    if memory.is_foreign:
        say(f"{plain(path)} is of another model: all mail teaches this one anew.")
    return closing(memory)


def show_learned(run: learner.FolderLearner, is_summed: bool = True) -> None:
    """Learn; write a line for each message that teaches, then a summary, and why others teach nothing."""
    done: Counter[str] = Counter()
    for result, label, place in run.learn():
        write_text(f"{result}\t{label}\t{plain(place)}\n")
        done[f"{result} as {label}"] += 1
    if not is_summed:
        return
    say(done_text(done))
    for reason, (unit, why) in REASONS.items():
        if number := run.idle[reason]:
            say(f"Nothing to learn from {amount(number, unit)}{why}.")
    for reason in run.idle.keys() - REASONS:
        say(f"Nothing to learn from {amount(run.idle[reason], 'file')}: {reason}.")
    if not done and not run.idle.total():
        say("There is no mail in these folders.")
