"""The work of `nbspam classify`, for the short parser and for click.

With -p every byte of the message comes back, or the exit status says that it did not.
"""

from __future__ import annotations

import os
import sys

from nbspam.cli.options import SETTINGS
from nbspam.cli.texts import default_model, default_start, error_text, verdict_line
from nbspam.errors import BadDataError, NbspamError, NoInputError, TryAgainError, UsageError
from nbspam.filter import Filter, Verdict, open_filter
from nbspam.labels import HAM, HAM_AND_SPAM, SPAM, UNSURE
from nbspam.tasks.passthrough import MBOX, MBOX_HEAD_BYTES, piped_message, unboxed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Options = dict[str, str]

STDIN_NAME = "-"
EXIT_CODES = {SPAM: 0, HAM: 1, UNSURE: 2}
# How what sources.item.PACKED_START tells begins, without loading that: a test holds the two together.
_PACKED = (
    b"\x1f\x8b",
    b"\xfd7zXZ",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"PK\x03\x04",
    b"7z\xbc\xaf",
)
_CHUNK_BYTES = 1 << 20


def classify(options: Options, paths: list[str]) -> int:
    """Classifies what is named and returns the exit status; without a path, the message on stdin."""
    if "verbose" in options:
        from nbspam.errors import show_faults

        show_faults()
    if "passthrough" in options:
        return _passthrough(options, paths)
    if "spam_flag" in options:
        raise UsageError("--spam-flag", "belongs to --passthrough", "add -p, or leave it out", "no-effect")
    classifier = _open(options)
    if "exit_code" in options:
        return _exit_code(classifier, options, paths)
    messages = ReadableMessages(options, paths)
    for number, (name, data) in enumerate(messages):
        if number:  # before the first the model has just been opened
            classifier = _current(classifier, options)
        judge = classifier.judge_now if number else classifier.judge
        verdict = judge(classifier.count(data, name), name)
        _write(_form(classifier, verdict, options))
        _learn(classifier, verdict, data, options)
    return messages.status


def _open(options: Options) -> Filter:
    change = {name: options[name] for name in SETTINGS if name in options}
    own, start = _places(options)
    classifier = open_filter(_judging(own, start), change, options.get("loss"))
    if "autolearn" in options:
        from nbspam.tasks.autolearn import check_autolearn

        check_autolearn(classifier, change)
    return classifier


def _places(options: Options) -> tuple[str, str]:
    """The model, and the one that it begins with or empty."""
    own = options["model"] if "model" in options else default_model(os.environ)
    return own, options["start"] if "start" in options else default_start(os.environ)


def _judging(own: str, start: str) -> str:
    if not start:
        return own
    from nbspam.tasks.start import own_or_shared  # most models have none

    return own_or_shared(own, start)


def _current(classifier: Filter, options: Options) -> Filter:
    """The classifier of the model as it is now, which may have begun meanwhile."""
    if _judging(*_places(options)) == classifier.model.path:
        return classifier.current()
    classifier.model.close()
    return _open(options)


def _learn(classifier: Filter, verdict: Verdict, data: bytes, options: Options) -> None:
    """With --autolearn.  The verdict is already written, and learning cannot change it."""
    if "autolearn" not in options:
        return
    from nbspam.tasks.autolearn import lesson

    sys.stdout.buffer.flush()
    try:
        learn = lesson(classifier, verdict, data, _places(options)[0])
        if learn:
            learn()
    except NbspamError as error:
        _say(error_text(error).replace("nbspam: ", "nbspam: not learned: ", 1))
    except Exception as error:
        _say(f"nbspam: not learned: {type(error).__name__}: a fault of nbspam\n")


def _say(text: str) -> None:
    """On stderr, if that can be written to."""
    try:  # noqa: SIM105 - contextlib is not on the lane
        sys.stderr.write(text)
    except OSError:
        pass


class ReadableMessages:
    """(name, bytes) of each message in the order given; an unreadable one is told on stderr and passed by.

    status : the exit status so far: 0, or that of the latest message that could not be read
    """

    __slots__ = ("_named", "status")

    def __init__(self, options: Options, paths: list[str]) -> None:
        self._named = named_messages(options, paths)
        self.status = 0

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for name, data in self._named:
            if isinstance(data, NbspamError):
                sys.stderr.write(error_text(data))
                self.status = data.status
            else:
                yield name, data


def named_messages(options: Options, paths: list[str]) -> Iterator[tuple[str, bytes | NbspamError]]:
    """(name, bytes) of each message in the order given; an unreadable one comes as its error."""
    paths = paths + _listed(options["files_from"]) if "files_from" in options else paths or [STDIN_NAME]
    for path in paths:
        if path == STDIN_NAME:
            yield STDIN_NAME, piped_message(sys.stdin.buffer.read())
            continue
        try:
            data = single_message(path)
        except OSError as error:
            yield path, _unread(path, error.strerror)
            continue
        if data is None:
            yield from _many(path)
        else:
            yield path, data


def single_message(path: str) -> bytes | None:
    """The bytes of a file that is one message; None for a folder, a mailbox or a pipe of the shell."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        mode = os.fstat(handle).st_mode & 0o170000
        if mode == 0o040000:
            return None
        if mode != 0o100000:
            from nbspam.corpus.item import is_shell_pipe  # not the way of a fresh mail

            if is_shell_pipe(path, mode):
                return None
            raise OSError(0, "is not a file or folder")
        head = os.pread(handle, 6, 0)
        if head.startswith(_PACKED):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            if not head.startswith(MBOX):
                return file.read()  # in one piece: two put together would take twice the memory
            return unboxed(file.read(MBOX_HEAD_BYTES), iter(lambda: file.read(_CHUNK_BYTES), b""))
    finally:
        os.close(handle)


def _many(path: str) -> Iterator[tuple[str, bytes | NbspamError]]:
    """The messages of a folder, mailbox or pipe, then what of it could not be read."""
    from nbspam.corpus import open_unlabelled  # a folder or mailbox: not the way of a fresh mail

    source = open_unlabelled([path])
    for item in source.items():
        try:
            yield item.name, item.read()
        except OSError as error:
            yield item.name, _unread(item.name, error.strerror)
    for name, why in source.skipped:
        yield name, _unread(name, why, "check that it is whole, and its permissions")


def _unread(name: str, why: str | None, remedy: str = "check the path and its permissions") -> NoInputError:
    return NoInputError(name, why or "cannot be read", remedy, "no-input")


def _listed(path: str) -> list[str]:
    try:
        if path == STDIN_NAME:
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        raise NoInputError(
            path, error.strerror or "cannot be read", "a file with one path a line", "no-input"
        ) from None
    if b"\0" in data:
        number = 1 + data.count(b"\n", 0, data.index(b"\0"))
        remedy = "a file with one path a line; find needs no -print0"
        raise BadDataError(f"{path}:{number}", "has a NUL, which no path has", remedy, "list-nul")
    # A name may hold every other sign that ends a line somewhere.
    return [os.fsdecode(line) for line in data.split(b"\n") if line.strip()]


def _form(classifier: Filter, verdict: Verdict, options: Options) -> str:
    if "json" in options:
        from nbspam.cli.verdict_json import verdict_json  # json costs 3 ms

        return verdict_json(classifier, verdict)
    return verdict_line(verdict.label, verdict.probability, verdict.name)


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def _exit_code(classifier: Filter, options: Options, paths: list[str]) -> int:
    found: list[tuple[str, bytes]] = []
    for name, data in named_messages(options, paths):
        if isinstance(data, NbspamError):
            raise data
        found.append((name, data))
    if len(found) != 1:
        raise UsageError(
            "--exit-code",
            f"speaks of one message, and there are {len(found)}",
            "name one message",
            "exit-code-many",
        )
    _check_has_status(classifier)
    verdict = classifier.judge(classifier.count(found[0][1], found[0][0]), found[0][0])
    _write(_form(classifier, verdict, options))
    _learn(classifier, verdict, found[0][1], options)
    return EXIT_CODES[verdict.label]


def _check_has_status(classifier: Filter) -> None:
    """A verdict of another class has no status of its own: 0 would call it spam."""
    if classifier.model.classes != HAM_AND_SPAM:
        remedy = "read the verdict on stdout instead"
        raise UsageError("--exit-code", "is for models of ham and spam", remedy, "exit-code-classes")


def _passthrough(options: Options, paths: list[str]) -> int:
    """The message with our header; whatever fails, the message whole and a temporary failure."""
    if len(paths) > 1 or "files_from" in options:
        raise UsageError(
            "--passthrough", "passes one message through", "name one file, or pipe it in", "passthrough-many"
        )
    if "json" in options:
        why = "are two forms of output, the message and an object"
        raise UsageError("--passthrough --json", why, "leave out one of them", "no-effect")
    data = sys.stdin.buffer.read() if not paths or paths[0] == STDIN_NAME else _contents(paths[0])
    status, complaint = 0, ""
    try:
        from nbspam.tasks.passthrough import marked

        classifier = _open(options)
        if "exit_code" in options:
            _check_has_status(classifier)
        message = piped_message(data)
        verdict = classifier.judge(classifier.count(message), STDIN_NAME)
        output = marked(data, verdict, verdict.clues, "spam_flag" in options)
        if "exit_code" in options:
            status = EXIT_CODES[verdict.label]
    except NbspamError as error:
        output, status, complaint = data, TryAgainError.status, error_text(error)
    except Exception as error:  # the promise of passthrough: whatever failed, the mail goes on whole
        complaint = (
            f"nbspam: {type(error).__name__} while classifying; the message is passed through unchanged\n"
        )
        output, status = data, TryAgainError.status
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    _say(complaint)  # after the mail, which a full disk under the log must not hold up
    if not complaint:
        _learn(classifier, verdict, message, options)
    return status


def _contents(path: str) -> bytes:
    try:
        file = open(path, "rb")  # noqa: SIM115 - what fails while it is read is another error
    except OSError as error:
        raise NoInputError(path, error.strerror or "cannot be read", "check the path", "no-input") from None
    with file:
        return file.read()
