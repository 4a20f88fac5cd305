"""The program: arguments in, exit status out.

The only place that turns an error into text and a status.  `classify` takes the lane; everything
else, and every `classify` that the lane does not plainly understand, goes to click.
"""

from __future__ import annotations

import gc
import os
import sys

RARE_COLLECTION = 50_000  # new objects between two searches for cycles, which are few: saves a mail 1 ms
INTERRUPTED = 130
OUTPUT_FAILED = 74
BUG = 70


def main() -> None:
    """Runs the program and ends the process."""
    try:
        status = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        status = OUTPUT_FAILED  # who reads us went away: nothing to tell anyone
    except KeyboardInterrupt:
        status = INTERRUPTED
        sys.stderr.write("nbspam: interrupted\n")
    except OSError as error:
        status = OUTPUT_FAILED
        sys.stderr.write(f"nbspam: {error.filename or 'output'}: {error.strerror}  [io]\n")
    _finish(status)


def _run(arguments: list[str]) -> int:
    from nbspam.errors import NbspamError

    try:
        gc.set_threshold(RARE_COLLECTION)
        if arguments[:1] == ["classify"]:
            from nbspam.cli.lane import parse_arguments

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
    except Exception as error:
        if os.environ.get("NBSPAM_TRACEBACK"):
            raise
        sys.stderr.write(
            f"nbspam: {type(error).__name__}: this is a fault of nbspam\n"
            "  next: report it with the output of the same command under NBSPAM_TRACEBACK=1  [bug]\n"
        )
        return BUG


def _finish(status: int) -> None:
    """Ends without tearing the interpreter down, which would cost a fresh classify 1.6 ms."""
    try:
        sys.stdout.flush()
    except OSError:
        status = OUTPUT_FAILED
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
