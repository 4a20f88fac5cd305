"""The program: arguments in, exit status out.

The only place that turns an error into text and a status.  `classify`, `learn` and `unlearn` are read
without click if the short parser understands their arguments; everything else goes to click.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbspam.cli import Command

RARE_COLLECTION = 100_000  # new objects between two searches for cycles, which are few: a search takes 11 ms
AGAIN_SECONDS = 0.001
INTERRUPTED = 130
USAGE = 64  # the first error of sysexits.h
BUG = 70
OUTPUT_FAILED = 74
TRY_AGAIN = 75
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Texts of the errors of libraries, processes and threads that get no memory.
NO_MEMORY = ("failed to map segment", "Cannot allocate memory", "can't start new thread")


def main() -> None:
    """Run the program and end the process; Python's own status for an exception, 1, would mean ham."""
    status = OUTPUT_FAILED
    try:
        _replace_closed_streams()
        _make_streams_block()
        sys.unraisablehook = _stop_again
        if sys.argv[1:2] != ["classify"] or "--autolearn" in sys.argv:
            _unwind_on_signals()
        status = _run(sys.argv[1:])
    finally:
        _finish(status)


def _replace_closed_streams() -> None:
    """Make the use of a closed stream an OSError, where Python has None; what goes to stderr is lost.

    No file that is opened later can get its descriptor.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY))
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _make_streams_block() -> None:
    """Make reads and writes wait until all is read or written; else a mail is cut short without an error.

    A parent with an event loop may leave O_NONBLOCK on its pipes, and a stdout without a buffer
    (PYTHONUNBUFFERED) writes only what there is room for.
    """
    for descriptor in (0, 1, 2):
        if not os.get_blocking(descriptor):
            os.set_blocking(descriptor, True)
    if not hasattr(sys.stdout.buffer, "raw"):
        from io import BufferedWriter, TextIOWrapper  # loaded by Python itself

        buffered = BufferedWriter(sys.stdout.buffer)
        sys.stdout = TextIOWrapper(buffered, sys.stdout.encoding, sys.stdout.errors)


class _Stopped(BaseException):
    """A signal asks the program to end.

    number : of the signal, once it came
    """

    number = 0


def _unwind_on_signals() -> None:
    """Make SIGTERM and SIGHUP an exception, so that a file in the making is removed; ignored ones stay so."""
    import _signal as signal  # type: ignore[import-not-found]  # `signal` costs 3 ms, for its enumerations

    def stop(number: int, _: object) -> None:
        for ending in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, signal.SIG_IGN)
        _Stopped.number = number
        raise _Stopped

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def _stop_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise the exception of a signal again in a moment, if Python had to drop it in a callback."""
    if lost.exc_type not in (_Stopped, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import _signal as signal

    def stop(*_: object) -> None:
        raise lost.exc_type

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def _run(arguments: list[str]) -> int:
    """Run and flush; the exit status, also after an error."""
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        sys.stderr.write("nbspam: interrupted\n")
        return INTERRUPTED
    except (_Stopped, Exception) as error:
        if _Stopped.number:
            _end_by_signal(_Stopped.number)
        return _report(error)


def _end_by_signal(number: int) -> None:
    """End the process by a signal, so that the parent sees which one."""
    import _signal as signal

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _report(error: BaseException) -> int:
    """Write an error to stderr; returns its exit status."""
    from nbspam.errors import NbspamError

    if isinstance(error, NbspamError):
        from nbspam.cli import error_text

        sys.stderr.write(error_text(error))
        return error.status
    if isinstance(error, ModuleNotFoundError):
        remedy = "install nbspam again with pip, which installs the packages that it needs"
        return _fail(TRY_AGAIN, f"the Python package {error.name} is missing", remedy, "not-installed")
    if isinstance(error, BrokenPipeError):
        return OUTPUT_FAILED  # the reader went away
    if isinstance(error, MemoryError) or any(text in str(error) for text in NO_MEMORY):
        remedy = "name fewer messages at a time, give a smaller --jobs, or allow more memory (ulimit -v)"
        return _fail(TRY_AGAIN, "out of memory", remedy, "no-memory")
    if isinstance(error, OSError):
        return _fail(OUTPUT_FAILED, *_stream_failure(error), "io")
    if os.environ.get("NBSPAM_TRACEBACK"):
        sys.excepthook(*sys.exc_info())
        return BUG
    remedy = "report it with the output of the same command under NBSPAM_TRACEBACK=1"
    return _fail(BUG, f"{type(error).__name__}: this is a fault of nbspam", remedy, "bug")


def _stream_failure(error: OSError) -> tuple[str, str]:
    """(what failed, remedy)"""
    if error.errno == errno.EBADF:
        return "stdin or stdout is closed", "connect it to a file or a pipe"
    full, other = "free some space, or send it elsewhere", "check the disk or the pipe"
    return f"{error.filename or 'output'}: {error.strerror}", full if error.errno in FULL else other


def _dispatch(arguments: list[str]) -> int:
    gc.set_threshold(RARE_COLLECTION)
    # A second thread of numpy would spin for 0.1 s of CPU, and no matrix here is large enough for two.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if command := _find_quick_command(arguments):
        named = command.parse(arguments[1:])
        if named is not None:
            return command.run(named)
    from nbspam.cli.commands import run

    return run(arguments)


def _find_quick_command(arguments: list[str]) -> Command | None:
    """The command if it is one that starts once a mail."""
    name = arguments[0] if arguments else ""
    if name == "classify":
        from nbspam.cli.classify import classify_command

        return classify_command
    if name in ("learn", "unlearn"):
        from nbspam.cli.learn import learn_command, unlearn_command

        return learn_command if name == "learn" else unlearn_command
    return None


def _fail(status: int, what: str, remedy: str, slug: str) -> int:
    """Write an error as nbspam.cli.error_text does, but import nothing: an import may be what failed."""
    sys.stderr.write(f"nbspam: {what}\n  next: {remedy}  [{slug}]\n")
    return status


def _finish(status: int) -> None:
    """Exit without tearing the interpreter down, which would cost a fresh classify 1.6 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # ValueError: closed by now
        status = status if status >= USAGE else OUTPUT_FAILED
    os._exit(status)


if __name__ == "__main__":
    main()
