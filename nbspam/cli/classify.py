"""`nbspam classify`: read messages, write verdicts, pass a message through.

With -p every byte of the message comes back, or the exit status says that it did not.  Every delivery of a
mail runs this file, so modules that few calls need are imported where they are used.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, start_new_thread  # threading takes 2 ms to import
from time import sleep

from nbspam.cli import (
    NO_MESSAGE,
    RESCORING,
    STDIN_NAME,
    Command,
    Options,
    command,
    error_text,
    plain,
    say,
    verdict_line,
    write_text,
)
from nbspam.decision import CLUES, Verdict
from nbspam.errors import BadDataError, NbspamError, NoInputError, TryAgainError, UsageError
from nbspam.filter import Filter, choose_model, open_filter
from nbspam.labels import HAM, HAM_AND_SPAM, SPAM, UNSURE
from nbspam.limits import MAX_FIELD_NAME, MAX_READ_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import BinaryIO

    from nbspam.corpus.item import Item
    from nbspam.corpus.walk import Notes

EXIT_CODES = {SPAM: 0, HAM: 1, UNSURE: 2}  # of --exit-code and of --exit-style bogofilter
BOGOFILTER_ERROR = 3  # of the latter
REGULAR_FILE = 0o100000
FEW_PATHS = 30  # with more messages than this, several processes judge them
LARGE_BYTES = 1 << 20  # a file of this size may be a mailbox of many messages
SMALL_BYTES = 1 << 14  # of a message that waits to be judged: of larger ones many would fill the memory
COPIED_BYTES = 1 << 20
MAX_LIST_BYTES = 64 << 20  # of --files-from: a million paths; a device has no end
MAX_FIRST_FIELDS = 1 << 12  # bytes that tell a header
FIRST_FIELDS = (b"Return-Path:", b"Delivered-To:", b"Received:", b"From:")  # some of them
# What a message of an mbox may say of itself, see nbspam.corpus.no_mail; in small letters.
STATE_FIELDS = (b"\nx-mozilla-status", b"\nstatus:", b"\nx-status:", b"\nx-imap:")
MARKED_BYTES = 16 << 20  # of a message with -p: old fields of ours are removed here, the rest is copied


@command(
    *("model", "start", "files_from", "passthrough", "spam_flag", "header_format", "exit_code"),
    *("exit_style", "json", "autolearn", "classify.timeout", "loss", *RESCORING),
    *("jobs", "verbose", "quiet", "files"),
)
def classify_command(options: Options) -> int:
    """Classify messages as ham or spam.

    FILE is a message, a folder or a mailbox; without FILE, the message on stdin.  Writes one line for each
    message to stdout: the verdict (a class, or unsure), the probability of spam and the name, separated by
    tabs.  With -p it writes the message itself, byte for byte, with the verdict as its first header field; if
    anything fails, it writes the unchanged message and exits with 75.  A line end is added to a message that
    is only an mbox From line without one, and before indented text without a header.

    \b
    Example:
        nbspam classify message.eml
        nbspam classify ~/Maildir/.Junk --json
        nbspam classify -p < message.eml

    Exit status: 0 done; with --exit-code 0 spam, 1 ham, 2 unsure; 64 usage; 65 no sound model; 66 no such
    message or no model; 74 I/O; 75 passed through unchanged.  With --exit-style bogofilter 3 for an error.
    """
    try:
        status = _classify(options)
    except NbspamError as error:
        if not options.exit_style:
            raise
        _complain(error_text(error))
        status = error.status
    return _convert_status(options, status)


def _exit_option(options: Options) -> str:
    """The option that makes the exit status tell the verdict, or empty."""
    return "exit_style" if options.exit_style else "exit_code" if options.exit_code else ""


def _convert_status(options: Options, status: int) -> int:
    """The exit status; --exit-style bogofilter has one number for all errors."""
    return min(status, BOGOFILTER_ERROR) if options.exit_style else status


def _classify(options: Options) -> int:
    if options.passthrough:
        return _passthrough(options)
    why, remedy = "belongs to --passthrough", "add -p, or leave it out"
    options.refuse(["spam_flag", "header_format"], why, remedy, "no-effect")
    with Deadline(options, _complain):
        spam_filter = _open(options)
    paths = list_paths(options)
    if _exit_option(options):
        return _classify_one(spam_filter, options, paths)
    if not options.autolearn and (len(paths) > FEW_PATHS or any(map(_holds_many, paths))):
        spam_filter.close()
        return _classify_many(options, paths)
    messages = ReadableMessages(paths)
    for name, data in messages:
        spam_filter = _open(options, spam_filter)
        _answer(spam_filter, name, data, options)
    return messages.status


def _answer(spam_filter: Filter, name: str, data: bytes, options: Options) -> Verdict:
    """Judge a message, write the verdict, and learn it with --autolearn."""
    verdict = spam_filter.classify(data, name)
    write_text(_text(spam_filter, verdict, options))
    if not verdict.is_prior_alone:
        note_no_mail(name, data)
    _learn(spam_filter, verdict, data, options)
    return verdict


def _text(spam_filter: Filter, verdict: Verdict, options: Options) -> str:
    """A verdict as it is written to stdout; a notice on stderr if nothing speaks for it."""
    _notice(verdict)
    if options.json:
        return verdict_json(spam_filter, verdict)
    return verdict_line(verdict)


def _notice(verdict: Verdict) -> None:
    if verdict.is_prior_alone:
        why = "nothing to judge by; the probability is that of the prior"
        _remark(f"{plain(verdict.name)}: {why}")


def _holds_many(path: str) -> bool:
    """True for a folder, and for a large file, which may be a mailbox."""
    return os.path.isdir(path) or (os.path.isfile(path) and os.path.getsize(path) > LARGE_BYTES)


def _classify_many(options: Options, paths: list[str]) -> int:
    """Write the verdict on each message, judged by several processes; returns the exit status."""
    from contextlib import closing, nullcontext
    from functools import partial
    from itertools import chain

    from nbspam.cli.progress import steps
    from nbspam.corpus.walk import Notes
    from nbspam.tasks.classify import classify_many

    notes, status, is_empty = Notes(), 0, True
    mail = _find_items(paths, notes)
    current, text_of = partial(_open, options), partial(_text, options=options)
    shards = classify_many(mail, current, text_of, options.jobs, options.json)
    # On a terminal the verdicts show the progress.
    bar = nullcontext(lambda _: None) if sys.stdout.isatty() else steps("Classifying", None)
    with closing(shards), bar as advance:
        for text, skipped in chain(shards, [("", [])]):  # at the end, what could not be read on the way
            write_text(text)
            is_empty = is_empty and not text
            advance(text.count("\n"))
            for name, why in [*skipped, *notes.skipped]:
                sys.stderr.write(error_text(_unread(name, why)))
                status = NoInputError.status
            notes.skipped.clear()
    show_left_out(notes.left_out)
    if is_empty and not status:
        say(NO_MESSAGE)
    return status


def show_left_out(left_out: Mapping[str, int]) -> None:
    """Say how many files and messages of folders and mailboxes are passed over, and why."""
    for reason, count in left_out.items():
        _remark(f"left out: {count:,} ({plain(reason)})")


def verdict_json(spam_filter: Filter, verdict: Verdict) -> str:
    """A verdict as one line of JSON; the keys never change."""
    import json  # 3 ms
    from math import isfinite

    from nbspam.explain import find_interval, list_clues

    content = {
        "name": verdict.name,
        "label": verdict.label,
        "probability": verdict.probability,
        "log_odds": verdict.log_odds,
        "log_odds_interval": find_interval(spam_filter.scorer, verdict),
        "clues": [
            {"token": clue.token, "nats": clue.log_odds, "share_interval": clue.share_interval}
            for clue in list_clues(spam_filter.scorer, verdict, CLUES)
            if clue.log_odds is not None and isfinite(clue.log_odds)
        ],
        "probabilities": verdict.probabilities,
        "risks": verdict.risks,
        "sender": verdict.sender or None,
    }
    return json.dumps(content) + "\n"


def _classify_one(spam_filter: Filter, options: Options, paths: list[str]) -> int:
    """Write the verdict on the one message; the exit status tells it, too."""
    messages = ReadableMessages(paths)
    mail = list(messages)
    if messages.status:
        return messages.status
    if len(mail) != 1:
        why = f"needs exactly one message (got {len(mail)})"
        raise UsageError("", why, "name one message", "exit-code-many", option=_exit_option(options))
    [(name, data)] = mail
    return EXIT_CODES[_answer(spam_filter, name, data, options).label]


def _passthrough(options: Options) -> int:
    """Write the message with the verdict in its header; if anything fails, the unchanged message and 75."""
    _check_passthrough(options)
    also = options.header_format or ("spamassassin" if options.spam_flag else "")
    with open_input(options.files[0] if options.files else STDIN_NAME) as stream:
        return _pass_on(options, also, stream)


def _pass_on(options: Options, also: str, stream: BinaryIO) -> int:
    """Pass a message through.  also : as for mark_message"""
    data = stream.read(MARKED_BYTES)
    output, status, complaint = data, TryAgainError.status, ""

    def give_up(text: str) -> None:
        _copy(data, stream)
        _complain(text)

    try:
        with Deadline(options, give_up):
            spam_filter = _open(options)
            message = _unwrap(data[:MAX_READ_BYTES])
            verdict = spam_filter.classify(message, STDIN_NAME)
            from nbspam.passthrough import mark_message  # for -p only

            output = mark_message(data, verdict, also)
        status = EXIT_CODES[verdict.label] if _exit_option(options) else 0
    except NbspamError as error:
        complaint = error_text(error)
    except Exception as error:  # the promise of -p: no fault stops a mail
        name = type(error).__name__
        complaint = f"nbspam: {name} while classifying; the message is passed through unchanged\n"
    _copy(output, stream)
    if complaint:
        _complain(complaint)
    else:
        _notice(verdict)
        _learn(spam_filter, verdict, message, options)
    return status


def _check_passthrough(options: Options) -> None:
    """UsageError for what does not go with --passthrough."""
    if len(options.files) > 1 or options.files_from is not None:
        why = "needs exactly one message"
        raise UsageError("", why, "name one file, or pipe it in", "passthrough-many", option="passthrough")
    if options.json:
        why = "writes the message, but --json writes an object"
        raise UsageError("", why, "leave out one of them", "no-effect", option="passthrough")
    if options.spam_flag and options.header_format:
        why, remedy = "is short for `header_format=spamassassin`", "leave out one of them"
        raise UsageError("", why, remedy, "no-effect", option="spam_flag")


def _copy(beginning: bytes, stream: BinaryIO) -> None:
    """Write the beginning of the message, and the rest of it from the stream."""
    while beginning:
        sys.stdout.buffer.write(beginning)
        beginning = stream.read(COPIED_BYTES)
    sys.stdout.buffer.flush()


def _complain(text: str) -> None:
    """Write to stderr, if that is possible: the message on stdout is more important."""
    try:  # noqa: SIM105 - contextlib is slow to import
        sys.stderr.write(text)
    except OSError:
        pass


def _remark(text: str) -> None:
    """The same for what people may not want to know."""
    if not Command.is_quiet:
        _complain(f"nbspam: {text}\n")


class Deadline:
    """A context that must end in time; else `give_up` gets the error text, and the program exits with 75.

    It is a thread, because Python and SQLite repeat a system call that a signal interrupts.
    """

    __slots__ = ("_decided", "_give_up", "_options")

    def __init__(self, options: Options, give_up: Callable[[str], None]) -> None:
        self._options, self._give_up, self._decided = options, give_up, allocate_lock()

    def __enter__(self) -> None:
        try:  # noqa: SIM105 - contextlib is slow to import
            start_new_thread(self._watch, ())
        except RuntimeError:
            pass  # the user may have no more threads: then there is no bound

    def __exit__(self, *_: object) -> None:
        self._decided.acquire()  # waits if the time is up: the program is about to end

    def _watch(self) -> None:
        sleep(self._options.timeout)
        if self._decided.acquire(blocking=False):
            why = f"no answer within {self._options.timeout:g} s"
            remedy = "check the disk, or allow more: `timeout=60`"
            error = TryAgainError(self._options.model, why, remedy, "too-slow")
            try:
                self._give_up(error_text(error))
            finally:
                os._exit(_convert_status(self._options, error.status))


def open_now(options: Options, current: Filter | None = None) -> Filter:
    """The filter of the model as it is now; the user's own model may be new.  current: the filter so far"""
    return open_filter(choose_model(options.model, options.start), options.scoring, options.loss, current)


def _open(options: Options, current: Filter | None = None) -> Filter:
    """The same for the options of classify."""
    spam_filter = open_now(options, current)
    if _exit_option(options) and spam_filter.classes != HAM_AND_SPAM:  # others have no status: 0 is spam
        why, remedy = "needs a model of ham and spam", "read the verdict on stdout instead"
        raise UsageError("", why, remedy, "exit-code-classes", option=_exit_option(options))
    if options.autolearn:
        from nbspam.learning.autolearn import check_autolearn

        check_autolearn(spam_filter.settings, options.scoring)
    return spam_filter


def _learn(spam_filter: Filter, verdict: Verdict, data: bytes, options: Options) -> None:
    """With --autolearn, learn the verdict; it is written already, so an error here does not change it."""
    if not options.autolearn:
        return
    from nbspam.learning.autolearn import choose_lesson

    sys.stdout.buffer.flush()
    try:
        probabilities = verdict.probabilities if verdict.may_teach else None
        learn = choose_lesson(probabilities, data, options.model, spam_filter.model.path, "classify")
        if learn:
            learn()
    except NbspamError as error:
        _complain(error_text(error).replace("nbspam: ", "nbspam: not learned: ", 1))
    except Exception as error:
        _complain(f"nbspam: not learned: {type(error).__name__}: a fault of nbspam\n")


class ReadableMessages:
    """(name, bytes) of each message in the order given; one that cannot be read is named on stderr.

    status : the exit status so far: 0, or that of the last message that could not be read
    """

    __slots__ = ("_paths", "status")

    def __init__(self, paths: list[str]) -> None:
        self._paths, self.status = paths, 0

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for path in self._paths:
            if path == STDIN_NAME:
                yield STDIN_NAME, _read_stdin()
                continue
            try:
                data = _read_plain(path)
            except OSError as error:
                self.refuse(_unread(path, error.strerror))
                continue
            if data is None:
                yield from self._many(path)
            else:
                yield path, data

    def _many(self, path: str) -> Iterator[tuple[str, bytes]]:
        """The messages of a folder, mailbox, packed file or pipe."""
        from nbspam.corpus.item import read_items
        from nbspam.corpus.walk import Notes

        notes = Notes()
        for item, data in read_items(_find_items([path], notes), notes.skipped):
            yield item.name, data
        for name, why in notes.skipped:
            self.refuse(_unread(name, why))
        show_left_out(notes.left_out)

    def refuse(self, error: NbspamError) -> None:
        """Name a message on stderr that cannot be read."""
        sys.stderr.write(error_text(error))
        self.status = error.status


def _find_items(paths: list[str], notes: Notes) -> Iterator[Item]:
    """The messages at these paths, in their order; what cannot be read is noted."""
    from nbspam.corpus.item import Item
    from nbspam.corpus.walk import SourcePart

    for path in paths:
        if path == STDIN_NAME:
            yield Item(STDIN_NAME, "", STDIN_NAME, data=_read_stdin())
        elif data := _read_small(path):
            yield Item(path, "", path, small=data)
        else:
            yield from SourcePart(path).items(notes)


def _read_small(path: str) -> bytes | None:
    """The message of a small file that is plainly one; None for all else, also what cannot be read."""
    try:
        data = _read_plain(path, SMALL_BYTES)
    except OSError:
        return None
    return data if data is None or len(data) < SMALL_BYTES else None


def list_paths(options: Options) -> list[str]:
    """The paths and those of --files-from; without both, the message on stdin."""
    if options.files_from is None:
        return options.files or [STDIN_NAME]
    return [*options.files, *_read_list(options.files_from)]


def _read_stdin() -> bytes:
    """The part of the message on stdin that is scored; the rest is read, too, or its writer would fail."""
    data = sys.stdin.buffer.read(MAX_READ_BYTES)
    while sys.stdin.buffer.read(COPIED_BYTES):
        pass
    return _unwrap(data)


def _unwrap(data: bytes) -> bytes:
    """The message in bytes that are one message by agreement, see unwrap_message."""
    if not data.startswith(b"From ") or b">From " not in data:
        return data
    from nbspam.passthrough import unwrap_message  # few messages have both

    return unwrap_message(data)


def note_no_mail(name: str, data: bytes) -> None:
    """Say it on stderr if a message has no header."""
    if not _has_known_field(data):
        _remark(f"{plain(name)}: no mail: it has no known header field")


def _has_known_field(data: bytes) -> bool:
    """True if the data begin with a header that has a well-known field."""
    start = data.find(b"\n") + 1 if data.startswith(b"From ") else 0  # the line that procmail writes first
    if data.startswith(FIRST_FIELDS, start):
        return True
    from nbspam.mail.headers import has_known_field  # most mail begins with one of the few

    return has_known_field(data[:MAX_FIRST_FIELDS])


def _read_plain(path: str, limit: int = MAX_READ_BYTES) -> bytes | None:
    """The beginning of a file that is plainly one message; None for all else, which takes the walk.

    limit : bytes, by default all that is scored
    """
    # The objects of an open file cost more than its bytes.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if os.fstat(handle).st_mode & 0o170000 != REGULAR_FILE:
            return None
        data = os.read(handle, limit)
    finally:
        os.close(handle)
    if data.startswith(b"From ") and len(data) < limit:
        return _find_only_message(data)
    name, colon, _ = data[:MAX_FIELD_NAME].partition(b":")
    return data if colon and name.replace(b"-", b"").isalnum() else None


def _find_only_message(mbox: bytes) -> bytes | None:
    """The message of a whole mbox of one; None if it may have more, or say what its reader did with it."""
    from nbspam.corpus.mbox import begins_mbox, find_only_message  # 2 ms, and the walk takes 19

    span = find_only_message(mbox) if begins_mbox(mbox) else None
    lower = mbox[:MAX_FIRST_FIELDS].lower()
    if span is None or b">From " in mbox or any(field in lower for field in STATE_FIELDS):
        return None
    return mbox[slice(*span)]


def _unread(name: str, why: str | None) -> NoInputError:
    remedy = "check the path and its permissions, and that it is whole"
    return NoInputError(name, why or "cannot be read", remedy, "no-input")


def open_input(path: str) -> BinaryIO:
    """A file to be read, `-` is stdin; NoInputError if it cannot be opened."""
    try:
        return sys.stdin.buffer if path == STDIN_NAME else open(path, "rb")
    except OSError as error:
        raise _unread(path, error.strerror) from None


def _read_list(path: str) -> list[str]:
    """The paths of --files-from."""
    data = open_input(path).read(MAX_LIST_BYTES + 1)
    if b"\0" in data:
        why, remedy = "contains a NUL byte, which no path can have", "write one path a line"
        raise BadDataError(path, why, remedy, "list-nul")
    if len(data) > MAX_LIST_BYTES:
        why, remedy = f"is longer than {MAX_LIST_BYTES:,} bytes", "split it, or name the folders"
        raise BadDataError(path, why, remedy, "list-long")
    lines = data.split(b"\n")  # a name may hold other line ends
    return [os.fsdecode(line) for line in lines if line.strip()]
