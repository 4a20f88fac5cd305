"""A running `nbspam serve`, a client of a few lines, and small models to serve."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from nbspam.learning.autolearn import MIN_LABELLED
from tests.tiny_mail import mail, run, write_folders

HAM = mail("minutes of the meeting about the garden fence")
SPAM = mail("cheap pills and cheap watches")
OK = b"SPAMD/1.5 0 EX_OK\r\n"
PATIENCE = 60.0  # seconds; what takes longer has failed


def eventually(holds: Callable[[], object]) -> None:
    """Wait until this is true."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Server:
    """A server with two workers, on a unix socket in its folder unless the options name another place.

    code : Python code that runs before the program, to plant faults
    """

    def __init__(self, folder: Path, *options: str, model: Path, code: str = "") -> None:
        self.path = folder / "socket"
        self.log_file = folder / "log"
        place = [] if "--listen" in options else ["--socket", str(self.path)]
        program = ["-c", f"{code}\nfrom nbspam.__main__ import main\nmain()"] if code else ["-m", "nbspam"]
        command = [sys.executable, *program, "serve", "-m", str(model), "-j", "2", *place, *options]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log)
        is_quiet = "-q" in options
        eventually(
            lambda: " on " in self.log or (is_quiet and self.path.exists()) or self.process.poll() is not None
        )

    def __enter__(self) -> Self:
        assert self.process.poll() is None, self.log
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) in (0, -signal.SIGKILL)
        assert "Traceback" not in self.log

    @property
    def log(self) -> str:
        """What it said until now."""
        return self.log_file.read_text()

    def connect(self) -> socket.socket:
        """A connection."""
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(PATIENCE)
        one.connect(str(self.path))
        return one

    def ask(self, command: str, message: bytes = b"", *fields: str, half_close: bool = True) -> bytes:
        """The whole answer to one request."""
        with self.connect() as one:
            one.sendall(request(command, message, *fields))
            if half_close:
                one.shutdown(socket.SHUT_WR)
            return answer(one)

    def content(self, command: str, message: bytes) -> bytes:
        """What follows the header of the answer."""
        return self.ask(command, message).partition(b"\r\n\r\n")[2]

    def workers(self, jobs: int = 2) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        eventually(lambda: len(children.read_text().split()) == jobs)
        return [int(word) for word in children.read_text().split()]


def request(command: str, message: bytes = b"", *fields: str) -> bytes:
    """The bytes of a request."""
    head = [f"{command} SPAMC/1.5", *fields, f"Content-length: {len(message)}"]
    return "\r\n".join([*head, "", ""]).encode() + message


def answer(one: socket.socket) -> bytes:
    """All bytes until the server closes."""
    pieces = []
    while piece := one.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def tiny_model(folder: Path) -> Path:
    """A model of two ham and two spam, made in this folder."""
    source = write_folders(folder / "mail", {"ham": [HAM, mail("garden")], "spam": [SPAM, mail("pills")]})
    run("train", "-q", "-j1", source, "-m", folder / "model")
    return folder / "model"


def model_of_many(folder: Path) -> Path:
    """A model with enough labelled mail to learn its own verdicts, made in this folder."""
    numbers = range(MIN_LABELLED)
    ham = [mail(f"minutes of the meeting about the garden fence number {n}") for n in numbers]
    spam = [mail(f"cheap pills and cheap watches offer {n}") for n in numbers]
    run("train", "-q", write_folders(folder / "many", {"ham": ham, "spam": spam}), "-m", folder / "many.m")
    return folder / "many.m"
