"""What the terminal has when a command whose progress is watched is ended by a signal: its cursor."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "nbspam"]
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"
SECONDS = 60


def started(*words: object, ignored: int = 0) -> tuple[subprocess.Popen[bytes], int]:
    """A command on a terminal of its own, and our end of that."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*PROGRAM, *map(str, words)],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
        preexec_fn=lambda: _set_signals(ignored),
    )
    os.close(theirs)
    return child, ours


def _set_signals(ignored: int) -> None:
    """A shell's background job ignores Ctrl-C, nohup a hangup, and so would all that they start."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if ignored:
        signal.signal(ignored, signal.SIG_IGN)


def shown(terminal: int, until: bytes) -> bytes:
    """What appears on a terminal until something does, or until nobody writes there any more."""
    seen, end = b"", time.monotonic() + SECONDS
    while not (until and until in seen) and select.select([terminal], [], [], end - time.monotonic())[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # EIO: all who had it open are gone
            break
        if not piece:
            break
        seen += piece
    return seen


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("command", ["train -m new", "eval", "tune"])
def test_a_signal_gives_the_cursor_back_and_ends_the_command(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    number: signal.Signals,
    jobs: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    child, terminal = started(*command.split(), data, "-j", jobs)
    seen = shown(terminal, HIDE)
    child.send_signal(number)
    seen += shown(terminal, b"")
    os.close(terminal)
    assert seen.rindex(HIDE) < seen.rindex(SHOW)
    assert child.wait(SECONDS) == (130 if number == signal.SIGINT else -number)
    assert not (tmp_path / "new").exists()


def test_a_signal_that_is_ignored_stays_ignored(data: Path, tmp_path: Path) -> None:
    child, terminal = started("train", data, "-m", tmp_path / "m", ignored=signal.SIGHUP)
    shown(terminal, HIDE)
    child.send_signal(signal.SIGHUP)
    assert b"Trained on" in shown(terminal, b"")
    os.close(terminal)
    assert child.wait(SECONDS) == 0
