"""Streams that are closed, full, slow or non-blocking: no mail is cut short silently."""

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

from nbspam.cli.classify import MAX_LIST_BYTES
from tests.cli.hardship import SPAM, refusal
from tests.tiny_mail import PROGRAM, mail, run

LONG = mail("cheap pills") + b"a line of the body\n" * 20_000  # more than a pipe holds
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
UNBUFFERED = {**BUFFERED, "PYTHONUNBUFFERED": "1"}
HUGE = 400_000_000
# Runs a command that may have 1 GB of memory, and tells the KB that it used.
MEASURE = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))
status = subprocess.run(sys.argv[1:]).returncode
sys.exit(f"status {status}") if status else sys.stderr.write(
    f" {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
"""
WAYS = pytest.mark.parametrize("environment", [BUFFERED, UNBUFFERED], ids=["buffered", "unbuffered"])


def written_slowly(descriptor: int) -> None:
    """LONG into a pipe, with pauses in which it is empty; a reader that has gone is its own matter."""
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb", buffering=0) as pipe:
        for start in range(0, len(LONG), 50_000):
            time.sleep(0.1)
            pipe.write(LONG[start : start + 50_000])


@WAYS
@pytest.mark.parametrize("command", [["classify", "-p"], ["learn", "spam"]], ids=["classify", "learn"])
def test_non_blocking_pipe_is_read_whole(
    model: Path, command: list[str], environment: dict[str, str]
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
def test_non_blocking_pipe_is_written_whole(model: Path, tmp_path: Path, environment: dict[str, str]) -> None:
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
def test_a_partly_written_output_is_a_failure(
    model: Path, tmp_path: Path, command: list[str], environment: dict[str, str]
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


@WAYS
def test_a_full_disk_under_the_log_does_not_stop_mail(tmp_path: Path, environment: dict[str, str]) -> None:
    """75: the message is passed through whole and unchanged, whoever can be told of it."""
    with open("/dev/full", "wb") as log:
        done = subprocess.run(
            [*PROGRAM, "classify", "-p", "-m", str(tmp_path / "missing")], input=LONG, env=environment,
            stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    assert done.stdout == LONG
    assert done.returncode == 75


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["classify huge", "classify mbox", "learn spam huge", "eval --spam Maildir", "classify -p", "learn spam"],
)
def test_a_huge_message_is_read_in_part_only(model: Path, tmp_path: Path, command: str) -> None:
    """0.4 and 20 GB, mostly holes; a process that may have 1 GB uses less than 200 MB of it."""
    (tmp_path / "Maildir" / "cur").mkdir(parents=True)
    (tmp_path / "Maildir" / "new").mkdir()
    box = b"From a@lake.example Mon Jun  3 10:00:00 2024\n"
    for name, head, size in (
        ("huge", b"", HUGE),
        ("mbox", box, HUGE),
        ("Maildir/cur/1:2,S", b"", 20 * 10**9),
    ):
        with open(tmp_path / name, "wb") as file:
            file.write(head + LONG)
            file.truncate(size)
    with open(tmp_path / "huge", "rb") as huge:
        running = subprocess.Popen(
            [sys.executable, "-c", MEASURE, *PROGRAM, *command.split(), "-m", model], cwd=tmp_path,
            stdin=huge, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert running.stdout
    assert running.stderr
    head, length = running.stdout.read(2000), 0
    while piece := running.stdout.read(1 << 20):
        length += len(piece)
    told = running.stderr.read().decode()
    assert running.wait() == 0, told
    assert int(told.rpartition(" ")[2]) < 200_000, told
    if "-p" in command:
        assert length + len(head) == HUGE + head.index(LONG[:80])


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["classify"], ["learn", "spam"], ["explain"], ["model", "dump"], ["doctor"]]
)
def test_a_closed_pipe_of_the_reader_is_an_io_error(model: Path, command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *command, "-m", str(model)], input=SPAM[0], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert done.returncode == 74
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "status"),
    [
        *(("spam.eml 2>&-", 0), ("spam.eml 2>/dev/full", 0), ("spam.eml <&-", 0), ("spam.eml >&-", 74)),
        *(("spam.eml >&- 2>&-", 74), ("spam.eml >&- 2>/dev/full", 74)),
        *(("missing 2>&-", 66), ("missing 2>/dev/full", 74)),
    ],
)
def test_closed_stream_leaves_the_verdict(model: Path, tmp_path: Path, closed: str, status: int) -> None:
    (tmp_path / "spam.eml").write_bytes(SPAM[0])
    command = shlex.join([*PROGRAM, "classify", "--exit-code", "-m", str(model)])
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], cwd=tmp_path, capture_output=True)
    assert done.returncode == status


def test_list_without_an_end_is_refused(model: Path) -> None:
    refusal(65, "list-nul", "/dev/zero", "classify", "--files-from", "/dev/zero", "-m", model)


def test_list_that_is_too_long_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"x" * (MAX_LIST_BYTES + 1))
    refusal(65, "list-long", tmp_path / "list", "classify", "--files-from", tmp_path / "list", "-m", model)
