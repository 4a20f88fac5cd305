"""The program: arguments in, exit status out.

The only place that turns an error into text and a status.  `classify` takes the lane; everything
else, and every `classify` that the lane does not plainly understand, goes to click.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TextIO

RARE_COLLECTION = 50_000  # new objects between two searches for cycles, which are few: saves a mail 1 ms
INTERRUPTED = 130
USAGE = 64  # the first error of sysexits.h
OUTPUT_FAILED = 74
TRY_AGAIN = 75
BUG = 70
IS_CLOSED = "it is closed"  # of a stream, in place of the system's words for any descriptor
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Runs the program and ends the process; Python's own status of an exception, 1, would mean ham."""
    status = OUTPUT_FAILED
    try:
        _stand_in_for_closed_streams()
        _make_streams_wait()
        status = _guarded(sys.argv[1:])
    finally:
        _finish(status)


def _stand_in_for_closed_streams() -> None:
    """Python has None for a stream that was closed before us (`>&-`); here using it is an OSError.

    But stderr, where nobody listens: what is said there is gone.
    """
    if sys.stdin is None:
        sys.stdin = _closed("stdin", os.O_WRONLY)
    if sys.stdout is None:
        sys.stdout = _closed("stdout", os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _closed(name: str, flags: int) -> TextIO:
    """A stream whose use is an error that names it; no other file can get its number."""
    from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper  # loaded by Python itself

    class Closed(FileIO):
        def _fail(self, *_: object) -> NoReturn:
            raise OSError(errno.EBADF, IS_CLOSED, name)

        readinto = readall = write = _fail

    raw = Closed(os.open(os.devnull, flags), "r" if name == "stdin" else "w")
    return TextIOWrapper(BufferedReader(raw) if name == "stdin" else BufferedWriter(raw))


def _make_streams_wait() -> None:
    """Lets reads and writes last until all is read or written; else a mail is cut short and nobody notices.

    O_NONBLOCK is what a parent with an event loop may leave on its pipes: a read ends where the writer
    pauses.  A stdout without a buffer (PYTHONUNBUFFERED) writes what there is room for, and is content.
    """
    for descriptor in (0, 1, 2):
        if not os.get_blocking(descriptor):
            os.set_blocking(descriptor, True)
    if not hasattr(sys.stdout.buffer, "raw"):
        from io import BufferedWriter, TextIOWrapper  # loaded by Python itself

        buffered = BufferedWriter(sys.stdout.buffer)
        sys.stdout = TextIOWrapper(buffered, sys.stdout.encoding, sys.stdout.errors)


def _guarded(arguments: list[str]) -> int:
    """The exit status, also where a stream fails."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return OUTPUT_FAILED  # who reads us went away: nothing to tell anyone
    except KeyboardInterrupt:
        sys.stderr.write("nbspam: interrupted\n")
        return INTERRUPTED
    except OSError as error:
        sys.stderr.write(_stream_error(error))
        return OUTPUT_FAILED
    return status


def _stream_error(error: OSError) -> str:
    if error.strerror == IS_CLOSED:
        return f"nbspam: {error.filename} is closed\n  next: connect it to a file or a pipe  [io]\n"
    remedy = "free some space, or send it elsewhere" if error.errno in FULL else "check the disk or the pipe"
    return f"nbspam: {error.filename or 'output'}: {error.strerror}\n  next: {remedy}  [io]\n"


def _run(arguments: list[str]) -> int:
    from nbspam.errors import NbspamError

    try:
        gc.set_threshold(RARE_COLLECTION)
        if arguments[:1] == ["classify"]:
            from nbspam.cli.options import parse_arguments

            understood = parse_arguments(arguments[1:])
            if understood is not None:
                from nbspam.cli.classify import classify

                return classify(*understood)
        # numpy's second thread would spin for 0.1 s of CPU, and no matrix here is large enough for two.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from nbspam.cli.commands import run

        return run(arguments)
    except NbspamError as error:
        from nbspam.cli.texts import error_text

        sys.stderr.write(error_text(error))
        return error.status
    except (OSError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"nbspam: the Python package {error.name} is missing\n"
            "  next: install nbspam again with pip, which brings what it needs  [not-installed]\n"
        )
        return TRY_AGAIN
    except Exception as error:
        if os.environ.get("NBSPAM_TRACEBACK"):
            sys.excepthook(*sys.exc_info())
            return BUG
        sys.stderr.write(
            f"nbspam: {type(error).__name__}: this is a fault of nbspam\n"
            "  next: report it with the output of the same command under NBSPAM_TRACEBACK=1  [bug]\n"
        )
        return BUG


def _finish(status: int) -> None:
    """Ends without tearing the interpreter down, which would cost a fresh classify 1.6 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # ValueError: closed by now
        status = status if status >= USAGE else OUTPUT_FAILED
    os._exit(status)


if __name__ == "__main__":
    main()
