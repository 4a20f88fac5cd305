"""Streams that are not as a shell makes them: no mail is cut short by them without a word."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.tiny_mail import mail, run, write_folders

PROGRAM = [sys.executable, "-m", "nbspam"]
LONG = mail("cheap pills") + b"a line of the body\n" * 20_000  # more than a pipe holds
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
UNBUFFERED = {**BUFFERED, "PYTHONUNBUFFERED": "1"}
WAYS = pytest.mark.parametrize("environment", [BUFFERED, UNBUFFERED], ids=["buffered", "unbuffered"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("streams")
    source = write_folders(folder / "mail", {"ham": [mail("garden fence")], "spam": [mail("cheap pills")]})
    run("train", "-q", "-j1", source, "-m", folder / "model")
    return str(folder / "model")


def written_slowly(descriptor: int) -> None:
    """LONG into a pipe, with pauses in which it is empty; a reader that has gone is its own matter."""
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb", buffering=0) as pipe:
        for start in range(0, len(LONG), 50_000):
            time.sleep(0.1)
            pipe.write(LONG[start : start + 50_000])


@WAYS
@pytest.mark.parametrize("command", [["classify", "-p"], ["learn", "spam"]], ids=["classify", "learn"])
def test_a_message_out_of_a_pipe_that_does_not_wait_is_read_whole(
    model: str, command: list[str], environment: dict[str, str]
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    writer = threading.Thread(target=written_slowly, args=(writing,))
    writer.start()
    done = subprocess.run(
        [*PROGRAM, *command, "-m", model], stdin=reading, capture_output=True, env=environment
    )
    os.close(reading)
    writer.join()
    assert done.returncode == 0, done.stderr
    if command[0] == "classify":
        assert done.stdout.endswith(LONG)
    else:
        assert run("unlearn", "-m", model, stdin=LONG) == "forgotten\t-\n"


@WAYS
def test_a_message_into_a_pipe_that_does_not_wait_is_written_whole(
    model: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "long.eml").write_bytes(LONG)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = [*PROGRAM, "classify", "-p", "-m", model, str(tmp_path / "long.eml")]
    running = subprocess.Popen(command, stdout=writing, env=environment)
    os.close(writing)
    time.sleep(0.5)  # the pipe is full by now
    with open(reading, "rb") as pipe:
        assert pipe.read().endswith(LONG)
    assert running.wait() == 0


@WAYS
@pytest.mark.parametrize("command", [["classify", "-p"], ["model", "dump"]], ids=["classify", "dump"])
def test_an_output_that_holds_but_a_part_is_a_failure(
    model: str, tmp_path: Path, command: list[str], environment: dict[str, str]
) -> None:
    """A write then says how much of it there was room for; the next one fails."""
    with open(tmp_path / "output", "wb") as output:
        done = subprocess.run(
            [*PROGRAM, *command, "-m", model], input=LONG, stdout=output, stderr=subprocess.PIPE,
            env=environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
        )  # fmt: skip
    assert (tmp_path / "output").stat().st_size == 8192
    assert done.returncode == 74
    told = b"nbspam: output: File too large\n  next: free some space, or send it elsewhere  [io]\n"
    assert done.stderr == told


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", ">&-"])
@pytest.mark.parametrize("command", ["classify", "classify -p", "learn spam", "unlearn", "explain"])
def test_a_closed_stream_is_named(model: str, command: str, closed: str) -> None:
    line = f"{shlex.join(PROGRAM)} {command} -m {shlex.quote(model)} {closed}"
    done = subprocess.run(["sh", "-c", line], input=mail("garden"), capture_output=True)
    name = b"stdin" if "<" in closed else b"stdout"
    told = b"nbspam: %s is closed\n  next: connect it to a file or a pipe  [io]\n" % name
    assert (done.returncode, done.stdout) == (74, b"")
    assert done.stderr.endswith(told)


@WAYS
def test_a_log_on_a_full_disk_holds_no_mail_up(tmp_path: Path, environment: dict[str, str]) -> None:
    """75: the message is passed through whole and unchanged, whoever can be told of it."""
    with open("/dev/full", "wb") as log:
        done = subprocess.run(
            [*PROGRAM, "classify", "-p", "-m", str(tmp_path / "missing")], input=LONG, env=environment,
            stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    assert done.stdout == LONG
    assert done.returncode == 75


def test_a_large_message_is_in_memory_once(model: str, tmp_path: Path) -> None:
    """200 MB, of which the head is read; twice that is more than the process may have."""
    with open(tmp_path / "large.eml", "wb") as file:
        file.write(LONG)
        file.truncate(200_000_000)
    bound = (360_000_000, 360_000_000)
    done = subprocess.run(
        [*PROGRAM, "classify", "-m", model, str(tmp_path / "large.eml")], capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, bound),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
