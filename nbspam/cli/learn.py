"""`nbspam learn` and `nbspam unlearn`.

A mail server may start one for each message that a user moves, so modules that few calls need are imported
where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from nbspam.cli import STDIN_NAME, Options, command, done_text, plain, read_class_name, say, write_text
from nbspam.cli.classify import ReadableMessages, list_paths, note_no_mail
from nbspam.corpus import CRYPTED, DBOX, MSG, PST
from nbspam.errors import BadDataError, NoClassError, UsageError
from nbspam.filter import begin_model, choose_model
from nbspam.labels import ALLOWED, SPAM
from nbspam.learning.learn import OTHER_FORM, check_classes, learn_messages, split_batches
from nbspam.store.updater import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.store.reader import Model

Named = tuple[str, bytes]  # a message with its name
LEARN = ("files", "attached", "files_from", "model", "start", "verbose", "quiet")
OTHER_FORM_HELP = """\
Learned in another form: its header or encoding has changed since, so the counts stay as they are.
To move or unlearn such a message, give it as it was learned, or take that lesson back: nbspam undo."""


@command("class_name", *LEARN)
def learn_command(options: Options) -> int:
    """Learn messages as CLASS: correct a verdict, or add new mail.

    FILE is a message, a folder or a mailbox; without FILE, the message on stdin.  Writes one line for each
    message to stdout, with a tab and its name: `learned`, `moved` (it was counted as another class), `already
    learned`, `is in the shared model` (the one that yours began with, see --start; it counts there as CLASS),
    or `learned in another form` (as another class, with another header).  The last three change nothing.
    Messages are learned in batches: if the command is stopped, every written line is done.
    If other programs write to the model, it waits for its turn; after 60 seconds it ends with 75.

    \b
    Example:
        nbspam learn spam < message.eml
        nbspam learn ham ~/Maildir/.NotJunk -m my.nbspam
        nbspam learn spam --attached ~/Maildir/.Reports

    Exit status: 0 done, also if all was learned before; 64 usage, no such class; 65 no sound model, or a
    report without an attached message; 66 no such message or no model; 74 I/O; 75 try again later.
    """
    return _learn(options, options.class_name)


@command(*LEARN)
def unlearn_command(options: Options) -> int:
    """Unlearn messages of any class; the calibration keeps what it has learned.

    The counts are then exactly as before.  Writes one line for each message to stdout: `forgotten`,
    `was never learned`, `is in the shared model` or `learned in another form` (see learn; it still counts), a
    tab, and its name.

    \b
    Example:
        nbspam unlearn message.eml

    Exit status: 0 done, also if a message was never learned;
    65 no sound model; 66 no such message or no model; 74 I/O; 75 try again later.
    """
    return _learn(options, None)


def _refuse_unreadable(mail: Iterable[Named], messages: ReadableMessages) -> Iterator[Named]:
    """The mail without what is not one message that can be read; that is named on stderr.

    Empty, as a broken pipe gives it, encrypted, a .msg, or a whole mbox on stdin.
    """
    for name, data in mail:
        text = data.partition(b"\n")[2] if data.startswith(b"From ") else data
        if not text.strip():
            why, remedy = "an empty message", "check what writes it"
            messages.refuse(BadDataError(name, why, remedy, "message-empty"))
        elif data.startswith(CRYPTED):
            why, remedy = "encrypted by Dovecot", "decrypt it first"
            messages.refuse(BadDataError(name, why, remedy, "message-encrypted"))
        elif data.startswith(MSG):
            why, remedy = "a .msg of Outlook", "save it as .eml, or fetch the mail by IMAP"
            messages.refuse(BadDataError(name, why, remedy, "message-msg"))
        elif data.startswith((DBOX, PST)):
            why, remedy = (
                "a store of mail, no message",
                "give it to nbspam train: it says how to export its mail",
            )
            messages.refuse(BadDataError(name, why, remedy, "message-store"))
        elif name == STDIN_NAME and _is_mbox_of_several(data):
            why, remedy = "several messages, an mbox", "name the file of the mbox"
            messages.refuse(BadDataError(name, why, remedy, "message-several"))
        else:
            yield name, data


def _is_mbox_of_several(data: bytes) -> bool:
    """True if an mbox begins with more than one message."""
    if not data.startswith(b"From ") or b"\nFrom " not in data:
        return False
    from nbspam.corpus.mbox import split_messages  # few messages have both

    return sum(is_last for _, _, is_last in split_messages([data])) > 1


def _learn(options: Options, class_name: str | None) -> int:
    """Learn messages as a class, or unlearn them; the exit status.

    class_name : None to unlearn
    In batches of one transaction each; an unreadable message does not stop the others.
    """
    model, start = options.model, options.start
    label = None if class_name is None else read_class_name(class_name, "CLASS")
    if class_name and os.path.exists(class_name):
        _check_no_file(class_name, label, options)
    if choose_model(model, start) != model:
        check_classes(start, label)
    messages, origin = ReadableMessages(list_paths(options)), Origin("learn")
    mail = _open_reports(messages) if options.attached else messages
    done: dict[str, int] = {}
    for batch in split_batches(_refuse_unreadable(mail, messages), lambda message: len(message[1])):
        if kind := begin_model(model, start):
            say(f"{plain(model)} begins as {kind} of {plain(start)}.")
        for result in _learn_batch(model, label, batch, origin):
            done[result] = done.get(result, 0) + 1
    if not done:
        check_classes(choose_model(model, start), label)
    say(done_text(done))
    if OTHER_FORM in done:
        say(OTHER_FORM_HELP)
    if not done and not messages.status:
        say("There is no message to learn at these paths.")
    return messages.status


def _check_no_file(class_name: str, label: str | None, options: Options) -> None:
    """UsageError if a file is named, but no class; else the command would wait for a message on stdin."""
    try:
        check_classes(choose_model(options.model, options.start), label)
    except NoClassError as error:
        remedy = f"nbspam learn spam {class_name}"
        raise UsageError(class_name, "is a file, and the class comes first", remedy, error.slug) from None


def _learn_batch(model: str, label: str | None, batch: Sequence[Named], origin: Origin) -> list[str]:
    """Learn messages in one transaction, and write a line for each; what was done with each."""
    allowed: list[tuple[str, str]] = []
    look = partial(_find_allowed, batch, allowed) if label == SPAM else None
    results = learn_messages(model, label, batch, origin, look)
    for (name, data), result in zip(batch, results, strict=True):
        write_text(f"{result}\t{plain(name)}\n")
        note_no_mail(name, data)
    for name, who in allowed:  # the list still decides
        say(f"{plain(name)}: its sender stays allowed, see nbspam allow --remove {who}")
    return results


def _find_allowed(batch: Iterable[Named], allowed: list[tuple[str, str]], model: Model) -> None:
    """Add to `allowed` the names and senders of the messages whose senders are allowed by the model."""
    if model.has_senders:
        from nbspam.store.senders import judge_by_list  # few models have a list

        judged = [(name, *judge_by_list(model, data)) for name, data in batch]
        allowed += [(name, who) for name, decision, who in judged if decision == ALLOWED]


def _open_reports(messages: ReadableMessages) -> Iterator[Named]:
    """Name of the report and bytes of each attached message; a report without one is named on stderr."""
    from nbspam.corpus.reports import list_attached  # parsing with the standard library takes 16 ms

    for name, data in messages:
        attached = list_attached(data)
        if not attached:
            why = "has no attached message, so nothing was learned"
            remedy = "forward the message as an attachment, or leave --attached out"
            messages.refuse(BadDataError(name, why, remedy, "no-attached-message"))
        yield from ((name, message) for message in attached)
