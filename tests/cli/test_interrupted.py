"""Full disks, read-only folders and signals leave the old model or a sound new one."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.hardship import HAM, SPAM, refusal
from tests.programs import needs
from tests.server import eventually
from tests.tiny_mail import PROGRAM, program, write_folders


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("not root: only root mounts a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(scope="module")
def long_work(wordy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some seconds of training."""
    folder = tmp_path_factory.mktemp("long")
    for label in ("ham", "spam"):
        messages = [path.read_bytes() for path in sorted((wordy / label).iterdir())]
        write_folders(folder, {label: messages * 150})
    return folder


def _fill(folder: Path, left_bytes: int) -> None:
    """Takes the space of a file system but for some."""
    usage = os.statvfs(folder)
    (folder / "filler").write_bytes(bytes(max(0, usage.f_bavail * usage.f_frsize - left_bytes)))


def test_full_disk_ends_training_and_keeps_the_model(small_disk: Path, trained: bytes, wordy: Path) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    done = program("train", "--replace", "-q", wordy, "-m", path)
    assert done.returncode in (73, 74)
    assert done.stderr.startswith(f"nbspam: {path}: ".encode())
    assert b"space" in done.stderr
    assert path.read_bytes() == trained
    assert os.listdir(small_disk) == ["model"]


@pytest.mark.parametrize("command", [["learn", "spam"], ["train", "--update"]])
def test_full_disk_ends_learning(small_disk: Path, trained: bytes, wordy: Path, command: list[str]) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    _fill(small_disk, 12_288)
    done = program(*command, "-m", path, wordy if command[0] == "train" else wordy / "spam")
    assert done.returncode == 74
    assert b"[no-space]" in done.stderr
    (small_disk / "filler").unlink()
    assert program("model", "check", "-m", path).returncode == 0
    assert program("classify", "-m", path, stdin=SPAM[0]).stdout.startswith(b"spam\t")


def test_read_only_folder_refuses_writers_alone(small_disk: Path, trained: bytes, source: Path) -> None:
    path = small_disk / "model"
    path.write_bytes(trained)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    refusal(73, "model-create", path, "train", "--replace", source, "-m", path)
    refusal(73, "model-create", small_disk / "new", "train", source, "-m", small_disk / "new")
    refusal(74, "model-readonly", path, "learn", "spam", "-m", path, stdin=HAM[0])
    refusal(74, "model-readonly", path, "train", "--update", source, "-m", path)
    refusal(73, "output-denied", small_disk / "v", "vocab", "build", source, "-o", small_disk / "v")
    assert program("classify", "-m", path, stdin=SPAM[0]).stdout.startswith(b"spam\t")
    assert path.read_bytes() == trained


def _start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=_as_in_a_terminal,
    )  # fmt: skip


def _as_in_a_terminal() -> None:
    """A background job of a shell ignores Ctrl-C, one of nohup SIGHUP, and so would all that they start."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _wait_for_work(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Until it has used this much of the processor, or has ended."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    stat = Path(f"/proc/{child.pid}/stat")
    eventually(lambda: sum(map(int, stat.read_text().split()[13:15])) >= ticks or child.poll() is not None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_a_signal_during_training_ends_it_and_leaves_the_old_model_alone(
    model: Path, trained: bytes, long_work: Path, number: int, status: int
) -> None:
    drawn, ends = random.Random(number), set()
    for _ in range(2):
        child = _start("train", "-q", "--replace", long_work, "-m", model, "-j", 2)
        _wait_for_work(child, 0.3 + drawn.random())
        os.killpg(child.pid, number)  # as a terminal does: to all processes of the command
        _, errors = child.communicate(timeout=60)
        assert b"Traceback" not in errors
        ends.add(child.returncode)
        assert model.read_bytes() == trained or child.returncode == 0
        # No file in the making is left; the lock file lies there once an end was near.
        assert set(os.listdir(model.parent)) <= {model.name, f"{model.name}-lock"}
        model.write_bytes(trained)
    assert ends in ({status}, {0, status})


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_signal_in_a_callback_of_an_import_ends_the_program_silently(number: int, status: int) -> None:
    code = (
        "import os, sys, time, nbspam.__main__ as program\n"
        "class Lock:\n"
        f"    def __del__(self): os.kill(os.getpid(), {int(number)}); time.sleep(0)\n"
        "def dispatch(arguments): Lock(); time.sleep(100); return 0\n"
        "program._dispatch = dispatch\n"
        "program.main()\n"
    )
    command = [sys.executable, "-c", code, "learn"]
    done = subprocess.run(command, capture_output=True, timeout=60, preexec_fn=_as_in_a_terminal)
    assert (done.returncode, done.stdout) == (status, b"")
    assert done.stderr == (b"nbspam: interrupted\n" if number == signal.SIGINT else b"")


@needs("strace")
@pytest.mark.parametrize("options", [["-p"], [], ["--exit-code"]], ids=" ".join)
def test_a_model_that_never_opens_costs_a_mail_its_verdict_only(model: Path, options: list[str]) -> None:
    """EINTR for ever, as of a network file system: both Python and SQLite try again without end."""
    failing = ["strace", "-f", "-o/dev/null", "-eopenat", "-einject=openat:error=EINTR", "-P", str(model)]
    command = [*failing, *PROGRAM, "classify", "--timeout", "0.5", *options, "-m", str(model)]
    done = subprocess.run(command, input=SPAM[0], capture_output=True, timeout=60)
    assert done.returncode == 75
    assert done.stdout == (SPAM[0] if "-p" in options else b"")
    assert b"no answer within 0.5 s" in done.stderr
    assert done.stderr.endswith(b"[too-slow]\n")


def test_kill_during_training_leaves_no_process(model: Path, long_work: Path) -> None:
    child = _start("train", "--replace", long_work, "-m", model, "-j", 2)
    _wait_for_work(child, 0.7)
    child.kill()
    child.wait(60)
    for _ in range(600):
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(child.pid, signal.SIGKILL)
    pytest.fail("worker processes outlived the command by a minute")


def test_too_little_memory_for_numpy_is_a_temporary_failure(wordy: Path) -> None:
    limit = (60_000_000, 60_000_000)
    done = subprocess.run(
        [*PROGRAM, "eval", wordy],
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    assert (done.returncode, b"[no-memory]" in done.stderr) == (75, True), done
