"""The work of `nbspam learn` and `nbspam unlearn`.

A mail server may start one for each message that a user moves, so modules that few calls need are imported
where they are used; their help is in nbspam.cli.quick_commands.
"""

from __future__ import annotations

import os

from nbspam.cli import done_text, plain, read_class_name, say, write_text
from nbspam.cli.classify import STDIN_NAME, ReadableMessages, list_paths, note_no_mail, parse_arguments
from nbspam.corpus import CRYPTED
from nbspam.errors import BadDataError, UsageError
from nbspam.learning.learn import OTHER_FORM, check_classes, learn_messages, split_batches
from nbspam.store.updater import Origin
from nbspam.tasks.start import begin_model, choose_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbspam.cli.classify import Options

LEARN_OPTIONS = ("model", "start", "files_from", "quiet", "attached")  # that need no click
OTHER_FORM_HELP = """\
Learned in another form: its header has changed since, so the counts stay as they are.
To move or unlearn such a message, give it as it was learned, or take that lesson back: nbspam undo."""


def learn_quickly(arguments: list[str]) -> int | None:
    """Run `learn` or `unlearn` without click; None for what click should read.

    arguments : from the name of the command
    """
    understood = parse_arguments(arguments[1:], LEARN_OPTIONS)
    if understood is None:
        return None
    options, words = understood
    if arguments[0] == "unlearn":
        return learn(options, None, words)
    return learn(options, words[0], words[1:]) if words else None


def _refuse_unreadable(
    found: Iterable[tuple[str, bytes]], messages: ReadableMessages
) -> Iterator[tuple[str, bytes]]:
    """What was found without what is not one message that can be read; it is named on stderr.

    Empty, as a broken pipe gives it, encrypted, or a whole mbox on stdin.
    """
    for name, data in found:
        text = data.partition(b"\n")[2] if data.startswith(b"From ") else data
        if not text.strip():
            why, remedy = "an empty message", "check what writes it"
            messages.refuse(BadDataError(name, why, remedy, "message-empty"))
        elif data.startswith(CRYPTED):
            why, remedy = "encrypted by Dovecot", "decrypt it first"
            messages.refuse(BadDataError(name, why, remedy, "message-encrypted"))
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


def learn(options: Options, class_name: str | None, paths: list[str]) -> int:
    """Learn messages as a class, or unlearn them; the exit status.

    class_name : None to unlearn
    In batches of one transaction each; an unreadable message does not stop the others.
    """
    model, start = options.model, options.start
    label = None if class_name is None else read_class_name(class_name, "CLASS")
    messages, origin = ReadableMessages(list_paths(options, paths), options.quiet), Origin("learn")
    done: dict[str, int] = {}
    try:
        if choose_model(model, start) != model:
            check_classes(start, label)
        found = _open_reports(messages) if options.attached else messages
        for batch in split_batches(_refuse_unreadable(found, messages), lambda message: len(message[1])):
            if kind := begin_model(model, start):
                say(f"{plain(model)} begins as {kind} of {plain(start)}.", options.quiet)
            for (name, data), result in zip(batch, learn_messages(model, label, batch, origin), strict=True):
                write_text(f"{result}\t{plain(name)}\n")
                if not options.quiet:
                    note_no_mail(name, data)
                done[result] = done.get(result, 0) + 1
        if not done:
            check_classes(choose_model(model, start), label)
    except UsageError as error:
        if error.slug != "no-such-class" or not class_name or not os.path.exists(class_name):
            raise
        remedy = f"nbspam learn spam {class_name}"
        raise UsageError(class_name, "is a file, and the class comes first", remedy, error.slug) from None
    say(done_text(done), options.quiet)
    if OTHER_FORM in done:
        say(OTHER_FORM_HELP, options.quiet)
    if not done and not messages.status:
        say("There is no message to learn at these paths.", options.quiet)
    return messages.status


def _open_reports(messages: ReadableMessages) -> Iterator[tuple[str, bytes]]:
    """Name of the report and bytes of each attached message; a report without one is named on stderr."""
    from nbspam.learning.reports import list_attached  # parsing with the standard library takes 16 ms

    for name, data in messages:
        attached = list_attached(data)
        if not attached:
            why = "has no attached message, so nothing was learned"
            remedy = "forward the message as an attachment, or leave --attached out"
            messages.refuse(BadDataError(name, why, remedy, "no-attached-message"))
        yield from ((name, one) for one in attached)
