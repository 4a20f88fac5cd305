"""Mail small enough for pencil and paper, and the program, in this process or in one of its own."""

import io
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from unittest import mock

from nbspam.__main__ import _run
from nbspam.errors import LOGGER
from nbspam.store.text import dump_model

PROGRAM = [sys.executable, "-m", "nbspam"]
Done = subprocess.CompletedProcess[bytes]


def mail(body: str, subject: str = "") -> bytes:
    """A plain message; its body is the words of `body`."""
    header = f"From: writer@example.org\nTo: reader@example.net\nSubject: {subject}\n"
    header += (
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    )
    return (header + body + "\n").encode()


def write_folders(folder: Path, classes: Mapping[str, Iterable[bytes]]) -> Path:
    """A folder a class, a file a message."""
    for name, messages in classes.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, message in enumerate(messages):
            (folder / name / f"{number:03}.eml").write_bytes(message)
    return folder


def run(*arguments: object, status: int = 0, stdin: bytes = b"") -> str:
    """stdout of the program, which must end with `status` and without a traceback."""
    done = program(*arguments, stdin=stdin)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stdout.decode()


def error(*arguments: object, status: int, stdin: bytes = b"") -> str:
    """stderr of the program, which must fail with `status`, without a traceback, naming a slug."""
    done = program(*arguments, stdin=stdin)
    text = done.stderr.decode()
    assert done.returncode == status, text
    assert "Traceback" not in text, text
    assert "  [" in text
    return text


def program(*arguments: object, stdin: bytes = b"", merged: bool = False) -> Done:
    """The program in this process, without workers: the start of another process costs half a second.

    merged : stderr goes to stdout, as after 2>&1
    """
    given, out, err = (io.BytesIO(data) for data in (stdin, b"", b""))
    err = out if merged else err
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout = io.TextIOWrapper(given, "utf-8"), io.TextIOWrapper(out, "utf-8")
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
    try:
        log = mock.patch.multiple(logging.getLogger(LOGGER), handlers=[], propagate=True)
        with mock.patch("nbspam.corpus.executor.JOBS_PER_CORE", 0), log:  # -v changes the log
            status = _run(list(map(_text, arguments)))
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(arguments, status, out.getvalue(), err.getvalue())
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def process(*arguments: object, stdin: bytes = b"") -> Done:
    """The program as a process of its own."""
    return subprocess.run([*PROGRAM, *map(_text, arguments)], input=stdin, capture_output=True, check=False)


def type_line(line: str) -> Done:
    """A line that is typed into a shell, with 2>&1; in this process if it only calls the program."""
    if line.startswith("nbspam ") and not set("|<>&;$*") & {*line}:
        return program(*map(os.path.expanduser, shlex.split(line)[1:]), merged=True)
    line = f'nbspam() {{ {shlex.join(PROGRAM)} "$@"; }}\n{line}'
    return subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def _text(argument: object) -> str:
    return os.fsdecode(argument) if isinstance(argument, bytes) else str(argument)


def counts(model: Path) -> list[str]:
    """Everything that a model counted, as text; not the calibration, which depends on the order."""
    others = ('["calibration', '["setting","calibration', '["setting","autolearn', '["#end')
    return [line for line in dump_model(str(model)) if not line.startswith(others)]
