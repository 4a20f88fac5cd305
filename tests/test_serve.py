"""The server as a process, and clients that are slow, odd, many or gone.

The client here is a few lines; the real one, spamc, has its own file.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_read_failures import PLANTED
from tiny_mail import counts, error, mail, run, write_folders

from nbspam.cli.serve import serve_command
from nbspam.errors import CannotCreateError, TryAgainError, UsageError
from nbspam.serve.filter import ServedModels
from nbspam.serve.listening import Listening, on_address, on_path
from nbspam.serve.request import MAX_MESSAGE_BYTES, Request
from nbspam.serve.users import Models
from nbspam.serve.worker import IDLE_SECONDS, LINGER_SECONDS, MAX_CONNECTIONS
from nbspam.store import connection as store_connection
from nbspam.store.learn import MIN_LABELLED

HAM = mail("minutes of the meeting about the garden fence")
SPAM = mail("cheap pills and cheap watches")
OK = b"SPAMD/1.5 0 EX_OK\r\n"
PATIENCE = 20.0  # seconds; what takes longer has failed


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Server:
    """A running `nbspam serve`; what it said is in `log`."""

    def __init__(self, folder: Path, *options: str, model: Path, code: str = "", **more: str) -> None:
        self.path = folder / "socket"
        self.log_file = folder / "log"
        place = [] if "--listen" in options else ["--socket", str(self.path)]
        program = ["-c", code] if code else ["-m", "nbspam"]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *program, "serve", "-m", str(model), "-j", "2", *place, *options],
                stderr=log,
                env={**os.environ, **more},
            )
        quiet = "-q" in options
        eventually(
            lambda: " on " in self.log or (quiet and self.path.exists()) or self.process.poll() is not None
        )

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def connect(self) -> socket.socket:
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

    def workers(self, jobs: int = 2) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        eventually(lambda: len(children.read_text().split()) == jobs)
        return [int(word) for word in children.read_text().split()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def request(command: str, message: bytes = b"", *fields: str) -> bytes:
    head = [f"{command} SPAMC/1.5", *fields, f"Content-length: {len(message)}"]
    return "\r\n".join([*head, "", ""]).encode() + message


def answer(one: socket.socket) -> bytes:
    """All bytes until the server closes."""
    got = b""
    while piece := one.recv(65536):
        got += piece
    return got


def tiny_model(folder: Path) -> Path:
    """A model of two ham and two spam, made in this folder."""
    source = write_folders(folder / "mail", {"ham": [HAM, mail("garden")], "spam": [SPAM, mail("pills")]})
    run("train", "-q", "-j1", source, "-m", folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("serve"))


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """A model of this test alone."""
    return Path(shutil.copy(trained, tmp_path / "model"))


@pytest.fixture
def serve(tmp_path: Path, model: Path) -> Iterator[Callable[..., Server]]:
    begun: list[Server] = []

    def begin(*options: str, **more: str) -> Server:
        begun.append(Server(tmp_path, *options, model=model, **more))
        assert begun[-1].process.poll() is None, begun[-1].log
        return begun[-1]

    yield begin
    for server in begun:
        with contextlib.suppress(ProcessLookupError):
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(PATIENCE)
        assert "Traceback" not in server.log


@pytest.fixture(scope="module")
def common(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that change nothing."""
    server = Server(tmp_path_factory.mktemp("common"), model=trained)
    yield server
    assert server.stop() == 0


def test_check_tells_spam_from_ham(common: Server) -> None:
    assert common.ask("CHECK", SPAM).startswith(OK + b"Spam: True ; ")
    assert common.ask("CHECK", HAM).startswith(OK + b"Spam: False ; -")


@pytest.mark.parametrize(
    "message", [HAM, SPAM, b"", b"\n", b"no header", SPAM.replace(b"\n", b"\r\n"), b"\0\xff" * 99]
)
def test_process_gives_what_classify_gives(common: Server, trained: Path, message: bytes) -> None:
    got = common.ask("PROCESS", message)
    expected = run_bytes("classify", "-p", "-m", trained, stdin=message)
    assert got.partition(b"\r\n\r\n")[2] == expected
    assert b"Content-length: %d\r\n" % len(expected) in got


def run_bytes(*arguments: object, stdin: bytes) -> bytes:
    command = [sys.executable, "-m", "nbspam", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


def test_a_message_of_a_mailbox_is_judged_as_classify_judges_it(common: Server, trained: Path) -> None:
    """Behind a `From ` line lines may be quoted; they are read without the quoting."""
    message = b"From a@b.example Mon Jun  3 10:00:00 2024\n" + HAM + b">From cheap pills\n\n"
    assert common.ask("CHECK", message) == as_classified(trained, message)


def as_classified(model: Path, message: bytes) -> bytes:
    """The answer to CHECK by what a fresh process says."""
    verdict = json.loads(run("classify", "--json", "-m", model, stdin=message))
    score = f"Spam: {verdict['label'] == 'spam'} ; {verdict['log_odds']:.3f} / 0.000"
    return OK + f"{score}\r\n\r\n".encode()


def test_headers_are_the_header_of_process(common: Server) -> None:
    header, blank, body = common.ask("PROCESS", SPAM).partition(b"\r\n\r\n")[2].partition(b"\n\n")
    assert body
    assert common.ask("HEADERS", SPAM).partition(b"\r\n\r\n")[2] == header + blank


def test_symbols_and_reports_are_words(common: Server) -> None:
    assert b"cheap" in common.ask("SYMBOLS", SPAM).partition(b"\r\n\r\n")[2].split(b",")
    report = common.ask("REPORT", SPAM).partition(b"\r\n\r\n")[2].decode()
    assert report.startswith("spam: P(spam) 0.")
    (line,) = [line.split() for line in report.splitlines() if line.endswith(" cheap")]
    assert line[1:] == ["0", "1", "body", "cheap"]
    assert common.ask("REPORT_IFSPAM", SPAM).partition(b"\r\n\r\n")[2].decode() == report
    assert common.ask("REPORT_IFSPAM", HAM).partition(b"\r\n\r\n")[2] == b""


def test_a_client_that_keeps_its_side_open_is_answered(common: Server) -> None:
    assert common.ask("CHECK", SPAM, half_close=False).startswith(OK)
    assert common.ask("PING", half_close=False) == b"SPAMD/1.5 0 PONG\r\n"


def test_the_time_in_the_log_is_that_of_the_answer(common: Server) -> None:
    """A client may keep its side open for as long as it likes."""
    with common.connect() as one:
        one.sendall(request("CHECK", b"Message-ID: <slow@b.example>\n\n"))
        assert answer(one).startswith(OK)
        eventually(lambda: "<slow@b.example>" in common.log)
        time.sleep(0.1)
    (line,) = [line for line in common.log.splitlines() if "<slow@b.example>" in line]
    assert float(line.split()[-2]) < 1000 * LINGER_SECONDS


def test_a_server_without_descriptors_recovers(serve: Callable[..., Server]) -> None:
    server = serve("-j", "1")
    (worker,) = server.workers(1)
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (14, 14))
    silent = [server.connect() for _ in range(20)]
    eventually(lambda: "no connection can be taken: Too many open files" in server.log)
    for one in silent:
        one.close()
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_a_message_without_a_length_ends_with_the_stream(common: Server) -> None:
    with common.connect() as one:
        one.sendall(b"CHECK SPAMC/1.5\r\n\r\n" + SPAM)
        one.shutdown(socket.SHUT_WR)
        assert answer(one).startswith(OK + b"Spam: True ; ")


def test_skip_and_silence_end_without_a_word(common: Server) -> None:
    assert common.ask("SKIP") == b""
    with common.connect() as one:
        one.shutdown(socket.SHUT_WR)
        assert answer(one) == b""


def test_a_bad_request_is_answered_and_logged(common: Server) -> None:
    with common.connect() as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\x1b[2J\r\n\r\n")
        assert answer(one) == b"SPAMD/1.5 76 Bad header line: (not a request: 'GET / HTTP/1.1')\r\n"
    eventually(lambda: "refused: 76 request: (not a request: 'GET / HTTP/1.1')" in common.log)


def test_a_message_too_long_is_refused_although_it_is_still_sent(common: Server) -> None:
    with common.connect() as one:
        head = b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % (MAX_MESSAGE_BYTES + 1)
        with contextlib.suppress(OSError):
            one.sendall(head + bytes(4 << 20))
        assert answer(one) == b"SPAMD/1.5 65 EX_DATAERR: is longer than 33,554,432 bytes\r\n"


def test_tell_is_off_unless_allowed(common: Server, trained: Path) -> None:
    before = counts(trained)
    said = common.ask("TELL", HAM, "Message-class: spam", "Set: local")
    assert said.startswith(b"SPAMD/1.5 69 Service Unavailable: TELL commands are not enabled")
    assert counts(trained) == before


def test_many_clients_at_once_have_each_its_own_answer(common: Server) -> None:
    """More than the connections that a process takes at a time."""
    messages = [mail(f"letter {n} " + "garden " * n) for n in range(200)]
    got: dict[int, bytes] = {}

    def ask(number: int) -> None:
        got[number] = common.ask("PROCESS", messages[number])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [number for number in range(200) if not got[number].endswith(messages[number])] == []


def test_the_log_has_a_line_a_message_and_nothing_of_its_text(common: Server) -> None:
    common.ask("CHECK", b"Message-ID: <1@b.example>\nSubject: secret\n\nwords\n", "User: joe")
    eventually(lambda: "<1@b.example>" in common.log)
    (line,) = [line for line in common.log.splitlines() if "<1@b.example>" in line]
    assert line.startswith("nbspam: ")
    assert " CHECK user=joe id=<1@b.example> " in line
    assert "secret" not in common.log


def test_a_name_makes_no_field_of_its_own_in_the_log(common: Server) -> None:
    common.ask("CHECK", b"Message-ID: <2@b.example>\n\nwords\n", "User: joe id=<other>")
    eventually(lambda: "<2@b.example>" in common.log)
    assert " CHECK user=joe.id=<other> id=<2@b.example> " in common.log


def test_quiet_says_nothing(tmp_path: Path, model: Path) -> None:
    with open(tmp_path / "log", "wb") as log:
        command = [sys.executable, "-m", "nbspam", "serve", "-q", "-j1", "-m", str(model)]
        process = subprocess.Popen([*command, "--socket", str(tmp_path / "socket")], stderr=log)
    eventually((tmp_path / "socket").exists)
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(str(tmp_path / "socket"))
        one.sendall(request("CHECK", SPAM))
        assert answer(one).startswith(OK)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert (tmp_path / "log").read_bytes() == b""


def test_quiet_says_what_goes_wrong(serve: Callable[..., Server], model: Path) -> None:
    server = serve("-q")
    model.write_bytes(b"no model")
    os.replace(shutil.copy(model, model.parent / "new"), model)
    server.ask("CHECK", SPAM)
    eventually(lambda: f"refused: 75 {model}: this is not a model of nbspam" in server.log)


def test_a_slow_client_holds_nobody_up_and_is_told_when_its_time_is_over(
    serve: Callable[..., Server],
) -> None:
    server = serve("--timeout", "1")
    slow = [server.connect() for _ in range(10)]
    for one in slow:
        one.sendall(request("CHECK", SPAM)[:40])
    assert server.ask("CHECK", SPAM).startswith(OK)
    for one in slow:
        with one:
            assert answer(one) == b"SPAMD/1.5 79 Timeout: (1 second timeout reading input from client)\r\n"


def test_clients_that_say_nothing_make_room_for_one_that_does(serve: Callable[..., Server]) -> None:
    server = serve("-j", "1", "--timeout", "300")
    with contextlib.ExitStack() as stack:
        begun = stack.enter_context(server.connect())
        begun.sendall(b"CHECK SPAMC/1.5\r\n")
        silent = [stack.enter_context(server.connect()) for _ in range(2 * MAX_CONNECTIONS)]
        asked = time.monotonic()
        assert server.ask("CHECK", SPAM).startswith(OK)
        assert time.monotonic() - asked < 4 * IDLE_SECONDS
        assert answer(silent[0]).startswith(b"SPAMD/1.5 79 ")
        begun.sendall(request("CHECK", SPAM).partition(b"\r\n")[2])
        begun.shutdown(socket.SHUT_WR)
        assert answer(begun).startswith(OK)  # it had begun, and was waited for


def test_silence_disturbs_nobody_where_there_is_room(serve: Callable[..., Server]) -> None:
    server = serve("-j", "1")
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(MAX_CONNECTIONS)]
        time.sleep(1.5 * IDLE_SECONDS)
        for one in silent[:3]:
            one.sendall(request("CHECK", SPAM))
            one.shutdown(socket.SHUT_WR)
            assert answer(one).startswith(OK)


def test_a_client_that_does_not_take_its_answer_is_left(serve: Callable[..., Server]) -> None:
    server = serve("--timeout", "2")
    with server.connect() as one:
        one.sendall(request("PROCESS", HAM + b"x\n" * 300_000))  # more than a socket holds
        eventually(lambda: "not answered: TimeoutError" in server.log)
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_a_client_that_goes_away_disturbs_nobody(serve: Callable[..., Server]) -> None:
    server = serve()
    for cut in (5, 40, len(request("PROCESS", SPAM))):
        for _ in range(20):
            with server.connect() as one:
                one.sendall(request("PROCESS", SPAM)[:cut])
    assert server.ask("CHECK", SPAM).startswith(OK)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_when_what_is_begun_is_answered(
    serve: Callable[..., Server], number: int
) -> None:
    server = serve()
    whole = request("PROCESS", SPAM)
    with server.connect() as begun, server.connect() as silent:
        begun.sendall(whole[:100])
        time.sleep(0.3)
        server.process.send_signal(number)
        eventually(lambda: not server.path.exists())
        assert answer(silent) == b"SPAMD/1.5 75 EX_TEMPFAIL: is being stopped\r\n"
        begun.sendall(whole[100:])
        assert answer(begun).endswith(SPAM)
    assert server.process.wait(PATIENCE) == 0


def test_a_second_signal_does_not_wait(serve: Callable[..., Server]) -> None:
    server = serve()
    with server.connect() as begun:
        begun.sendall(b"CHECK ")
        time.sleep(0.3)
        server.process.terminate()
        eventually(lambda: not server.path.exists())
        server.process.terminate()
        assert server.process.wait(PATIENCE / 2) == 0


def test_who_connected_before_the_end_is_answered(serve: Callable[..., Server]) -> None:
    server = serve()
    for worker in server.workers():
        os.kill(worker, signal.SIGSTOP)  # so that they wait to be accepted
    waiting = [server.connect() for _ in range(30)]
    for one in waiting:
        one.sendall(request("CHECK", SPAM))
    server.process.terminate()
    time.sleep(0.3)
    for worker in server.workers():
        os.kill(worker, signal.SIGCONT)
    assert [answer(one)[: len(OK)] for one in waiting] == [OK] * 30
    assert server.process.wait(PATIENCE) == 0


def test_a_worker_that_dies_is_replaced(serve: Callable[..., Server]) -> None:
    server = serve()
    first = server.workers()
    os.kill(first[0], signal.SIGKILL)
    eventually(lambda: f"worker {first[0]} ended with -9" in server.log)
    assert first[0] not in server.workers()
    assert [server.ask("CHECK", SPAM)[: len(OK)] for _ in range(10)] == [OK] * 10


def test_where_no_process_can_be_made_the_server_goes_on_and_tries_again(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    full = tmp_path / "full"
    code = (
        "import os\n"
        "fork = os.fork\n"
        "def denied():\n"
        f"    if os.path.exists({str(full)!r}): raise BlockingIOError(11, 'no means')\n"
        "    return fork()\n"
        "os.fork = denied\n"
        "from nbspam.__main__ import main\n"
        "main()\n"
    )
    server = serve(code=code)
    first = server.workers()
    full.touch()
    os.kill(first[0], signal.SIGKILL)
    eventually(lambda: "no process can be made: no means" in server.log)
    assert server.ask("CHECK", SPAM).startswith(OK)
    full.unlink()
    assert first[0] not in server.workers()


def test_a_worker_that_dies_young_does_not_hold_up_the_end(serve: Callable[..., Server]) -> None:
    code = (
        "import nbspam.serve.daemon as module\n"
        "module.SHORT_LIFE_SECONDS = 600.0\n"
        "from nbspam.__main__ import main\n"
        "main()\n"
    )
    server = serve(code=code)
    os.kill(server.workers()[0], signal.SIGKILL)
    eventually(lambda: "ended with -9" in server.log)
    assert server.ask("CHECK", SPAM).startswith(OK)
    assert server.stop() == 0


def test_workers_end_with_their_parent(serve: Callable[..., Server]) -> None:
    server = serve()
    workers = server.workers()
    server.process.kill()
    server.process.wait()
    eventually(lambda: not any(alive(worker) for worker in workers))


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_fault_of_ours_stops_no_other_mail(serve: Callable[..., Server]) -> None:
    code = (
        "import sys, nbspam.serve.filter as module\n"
        "judge = module.piped_message\n"
        "def fault(data):\n"
        "    if b'trap' in data: raise KeyError('trap')\n"
        "    return judge(data)\n"
        "module.piped_message = fault\n"
        "from nbspam.__main__ import main\n"
        "main()\n"
    )
    server = serve(code=code)
    assert server.ask("CHECK", b"trap") == b"SPAMD/1.5 70 EX_SOFTWARE: KeyError: a fault of nbspam\r\n"
    assert server.ask("CHECK", SPAM).startswith(OK)


# The model.


def test_a_model_that_learns_or_is_replaced_is_followed(
    serve: Callable[..., Server], model: Path, tmp_path: Path
) -> None:
    server = serve("-j", "1")
    assert server.ask("CHECK", SPAM) == as_classified(model, SPAM)
    for number in range(6):
        run("learn", "-q", "ham", "-m", model, stdin=mail(f"cheap pills and cheap watches {number}"))
        assert server.ask("CHECK", SPAM) == as_classified(model, SPAM)
    assert server.ask("CHECK", SPAM).startswith(OK + b"Spam: False")
    turned = write_folders(tmp_path / "turned", {"ham": [SPAM, mail("pills")], "spam": [HAM, mail("garden")]})
    run("train", "-q", "-j1", "--replace", turned, "-m", model)
    assert server.ask("CHECK", HAM).startswith(OK + b"Spam: True")
    assert server.ask("CHECK", HAM) == as_classified(model, HAM)


def test_a_model_that_is_damaged_is_a_passing_trouble(serve: Callable[..., Server], model: Path) -> None:
    server = serve()
    sound = model.read_bytes()
    (model.parent / "new").write_bytes(b"no model")
    os.replace(model.parent / "new", model)
    for _ in range(5):
        assert server.ask("CHECK", SPAM) == b"SPAMD/1.5 75 EX_TEMPFAIL: this is not a model of nbspam\r\n"
    (model.parent / "new").write_bytes(sound)
    os.replace(model.parent / "new", model)
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_a_model_that_is_away_serves_those_who_have_it_open(
    serve: Callable[..., Server], model: Path
) -> None:
    server = serve("-j", "1")
    assert server.ask("CHECK", SPAM).startswith(OK)
    away = model.rename(model.parent / "away")
    assert server.ask("CHECK", SPAM).startswith(OK)
    server.process.send_signal(signal.SIGHUP)  # opens it anew
    eventually(lambda: server.ask("CHECK", SPAM) == b"SPAMD/1.5 75 EX_TEMPFAIL: there is no model here\r\n")
    away.rename(model)
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_a_model_that_is_busy_is_a_passing_trouble(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(store_connection, "BUSY_SECONDS", 0.1)
    judge = ServedModels(Models(str(model)))
    writer = sqlite3.connect(model, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(TryAgainError, match="another program is writing the model"):
        judge.judged(Request("CHECK", (1, 5), "", SPAM))
    writer.execute("ROLLBACK")
    assert judge.judged(Request("CHECK", (1, 5), "", SPAM)).data.startswith(OK)


def test_a_model_without_the_class_spam_is_not_served(tmp_path: Path) -> None:
    folder = write_folders(tmp_path / "mail", {"work": [HAM], "play": [SPAM]})
    run("train", "-q", "-j1", folder, "-m", tmp_path / "other")
    said = error("serve", "-m", tmp_path / "other", "--socket", tmp_path / "s", status=64)
    assert "its classes are play, work" in said
    assert not (tmp_path / "s").exists()


def test_costs_decide(serve: Callable[..., Server]) -> None:
    server = serve("--loss", "FP=1000000,FN=1,unsure=0.5")
    head, _, threshold = server.ask("CHECK", SPAM).decode().strip().rpartition(" / ")
    assert head.startswith(OK.decode() + "Spam: False")
    assert float(threshold) == pytest.approx(14.509, abs=0.001)  # log((1000000 - 0.5) / 0.5)


def test_the_flags_of_spamassassin_are_inserted_where_asked(serve: Callable[..., Server]) -> None:
    assert b"\nX-Spam-Flag: YES\n" in serve("--spam-flag").ask("PROCESS", SPAM)


# TELL.


def test_tell_learns_and_forgets_as_the_commands_do(serve: Callable[..., Server], model: Path) -> None:
    server = serve("--allow-tell")
    other = Path(shutil.copy(model, model.parent / "other"))
    before = counts(model)
    new = mail("an offer of pills")
    learn = ("Message-class: spam", "Set: local")
    assert server.ask("TELL", new, *learn) == OK + b"DidSet: local\r\n\r\n"
    assert server.ask("TELL", new, *learn) == OK + b"\r\n"  # it counts once
    run("learn", "-q", "spam", "-m", other, stdin=new)
    assert counts(model) == counts(other)
    assert server.ask("TELL", new, "Message-class: ham", "Set: local") == OK + b"DidSet: local\r\n\r\n"
    run("learn", "-q", "ham", "-m", other, stdin=new)
    assert counts(model) == counts(other)
    assert server.ask("TELL", new, "Remove: local") == OK + b"DidRemove: local\r\n\r\n"
    assert server.ask("TELL", new, "Remove: local") == OK + b"\r\n"
    assert counts(model) == before


def test_learning_is_in_a_process_of_its_own(serve: Callable[..., Server], tmp_path: Path) -> None:
    """In one that judges, whoever looks at the file would take its locks away."""
    code = (
        "import os, nbspam.serve.filter as module\n"
        "def learn(path, label, message):\n"
        f"    open({str(tmp_path / 'learner')!r}, 'w').write(str(os.getpid()))\n"
        "    return 'learned'\n"
        "module.learn = learn\n"
        "from nbspam.__main__ import main\n"
        "main()\n"
    )
    server = serve("--allow-tell", code=code)
    assert server.ask("TELL", SPAM, "Message-class: spam", "Set: local") == OK + b"DidSet: local\r\n\r\n"
    assert int((tmp_path / "learner").read_text()) not in [server.process.pid, *server.workers()]


def test_a_learner_that_dies_is_a_passing_trouble(serve: Callable[..., Server]) -> None:
    code = (
        "import os, nbspam.serve.filter as module\n"
        "module.learn = lambda *given: os.kill(os.getpid(), 9)\n"
        "from nbspam.__main__ import main\n"
        "main()\n"
    )
    server = serve("--allow-tell", code=code)
    said = server.ask("TELL", SPAM, "Message-class: spam", "Set: local")
    assert said == b"SPAMD/1.5 75 EX_TEMPFAIL: the process that learns has died\r\n"
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_a_message_that_came_back_marked_is_known_when_it_is_told(serve: Callable[..., Server]) -> None:
    server = serve("--allow-tell")
    marked = server.ask("PROCESS", SPAM).partition(b"\r\n\r\n")[2]
    assert server.ask("TELL", marked, "Message-class: spam", "Set: local") == OK + b"\r\n"


def model_of_many(folder: Path) -> Path:
    """A model with labelled mail enough for a filter to take its own word, made in this folder."""
    numbers = range(MIN_LABELLED)
    ham = [mail(f"minutes of the meeting about the garden fence number {n}") for n in numbers]
    spam = [mail(f"cheap pills and cheap watches offer {n}") for n in numbers]
    run("train", "-q", write_folders(folder / "many", {"ham": ham, "spam": spam}), "-m", folder / "many.m")
    return folder / "many.m"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return model_of_many(tmp_path)


def test_a_server_learns_its_own_verdicts_where_it_is_told_to(many: Path, tmp_path: Path) -> None:
    other, before = Path(shutil.copy(many, tmp_path / "other")), counts(many)
    new = mail("cheap pills and a cheap zebra")
    for options in ((), ("--autolearn",)):
        (tmp_path / str(len(options))).mkdir()
        server = Server(tmp_path / str(len(options)), *options, model=many)
        assert b"True" in server.ask("CHECK", new)
        assert server.ask("CHECK", mail("xylophone")).startswith(OK)
        if options:
            eventually(lambda: counts(many) != before)
        assert server.stop() == 0
        if not options:
            assert counts(many) == before
    run("classify", "--autolearn", "-m", other, stdin=new)
    assert counts(many) == counts(other)


def test_what_keeps_a_server_from_learning_keeps_no_mail(many: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(many)) as connection:
        connection.execute("DROP TABLE histogram")  # no verdict of averaged views asks for it
        connection.commit()
    server = Server(tmp_path, "--autolearn", model=many)
    assert b"True" in server.ask("CHECK", mail("cheap pills and a cheap zebra"))
    eventually(lambda: "not learned: " in server.log)
    assert b"True" in server.ask("CHECK", mail("cheap pills and a cheap zebra"))
    assert server.stop() == 0


def test_tell_of_a_class_that_the_model_has_not(serve: Callable[..., Server]) -> None:
    server = serve("--allow-tell")
    said = server.ask("TELL", SPAM, "Message-class: work", "Set: local")
    assert said.startswith(b"SPAMD/1.5 64 EX_USAGE: ")
    assert server.ask("TELL", SPAM, "Set: remote") == OK + b"\r\n"


def test_many_tell_at_once_and_each_counts(serve: Callable[..., Server], model: Path) -> None:
    server = serve("--allow-tell")
    messages = [mail(f"offer{n} of pills{n}") for n in range(30)]
    other = Path(shutil.copy(model, model.parent / "other"))
    got: list[bytes] = []

    def tell(message: bytes) -> None:
        got.append(server.ask("TELL", message, "Message-class: spam", "Set: local"))

    threads = [threading.Thread(target=tell, args=(message,)) for message in messages]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert server.ask("CHECK", SPAM).startswith(OK + b"Spam: True")  # mail is judged meanwhile
    assert got == [OK + b"DidSet: local\r\n\r\n"] * 30
    for message in messages:
        run("learn", "-q", "spam", "-m", other, stdin=message)
    assert counts(model) == counts(other)


# Places to listen.


def test_the_unit_of_the_readme_gives_options_that_there_are(model: Path) -> None:
    text = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    unit = text.partition("<!-- unit -->")[2].partition("```\n\n")[0]
    (command,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    program, name, *arguments = command.removeprefix("ExecStart=").split()
    assert (program, name) == ("/usr/local/bin/nbspam", "serve")
    given = serve_command.make_context("serve", arguments).params
    assert given["path"] == "/run/nbspam/socket"
    assert given["mode"] == 0o666
    assert "Type=notify" in unit.splitlines()


def test_a_socket_is_its_owners_unless_told_otherwise(serve: Callable[..., Server]) -> None:
    assert serve().path.stat().st_mode & 0o777 == 0o600


def test_a_socket_has_the_permissions_asked_for(serve: Callable[..., Server]) -> None:
    assert serve("--socket-mode", "660").path.stat().st_mode & 0o777 == 0o660


def test_the_socket_of_a_dead_server_gives_way_and_that_of_a_live_one_does_not(
    serve: Callable[..., Server], model: Path, tmp_path: Path
) -> None:
    first = serve()
    said = error("serve", "-m", model, "--socket", first.path, status=73)
    assert "another server listens there" in said
    first.process.kill()
    first.process.wait()
    assert first.path.exists()
    second = serve()
    assert second.ask("CHECK", SPAM).startswith(OK)
    assert {path.name for path in tmp_path.iterdir()} == {"model", "socket", "log"}


def test_a_server_that_ends_leaves_the_socket_of_another(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    old = on_path(path, 0o600)
    old.close()
    new = on_path(path, 0o600)
    old.hide()
    assert os.path.exists(path)
    new.hide()
    assert not os.path.exists(path)
    new.close()


def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(CannotCreateError, match="no socket"):
        on_path(str(tmp_path / "letter"), 0o600)
    assert (tmp_path / "letter").read_text() == "dear"


@pytest.mark.parametrize("place", ["no/such/folder/socket", "x" * 200])
def test_a_socket_that_cannot_be_made_is_told(tmp_path: Path, place: str) -> None:
    with pytest.raises(CannotCreateError, match="no socket can be made"):
        on_path(str(tmp_path / place), 0o600)
    assert list(tmp_path.iterdir()) == []


def test_it_listens_on_tcp(serve: Callable[..., Server]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = serve("--listen", f":{port}")
    assert f"127.0.0.1:{port}, " in server.log
    assert "other machines" not in server.log
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as one:
        one.sendall(request("CHECK", SPAM))
        assert answer(one).startswith(OK)
    with pytest.raises(CannotCreateError, match="another server listens there"):
        on_address(f"127.0.0.1:{port}")


@pytest.mark.parametrize(
    "text", ["", "localhost", "host:", "127.0.0.1:0", "127.0.0.1:99999", "::1:783", "a:b"]
)
def test_what_is_no_address_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="is not HOST:PORT"):
        on_address(text)


def test_an_address_that_others_reach_is_told() -> None:
    def named(family: int, host: str) -> list[str]:
        with socket.socket(family) as one:  # bound, and not listened on
            one.bind((host, 0))
            return Listening([one]).open_to_others()

    assert named(socket.AF_INET, "127.0.0.1") == []
    assert len(named(socket.AF_INET, "0.0.0.0")) == 1


@pytest.mark.parametrize(
    ("options", "status", "slug"),
    [
        (["--listen", "nowhere"], 64, "listen"),
        (["--listen", "127.0.0.1:1783", "--socket", "s"], 64, "listen-twice"),
        (["--socket-mode", "999"], 64, "usage"),
        (["--timeout", "0"], 64, "usage"),
        (["--timeout", "nan"], 64, "usage"),
        (["--socket", ""], 64, "socket"),
        (["--listen", ""], 64, "listen"),
        (["--listen", "", "--socket", "s"], 64, "listen-twice"),
        (["--loss", "FP=x"], 64, "loss"),
        (["--socket", "/proc/s"], 73, "socket-failed"),
    ],
)
def test_a_bad_option_is_told_before_anything_is_served(
    model: Path, options: list[str], status: int, slug: str
) -> None:
    assert f"[{slug}]" in error("serve", "-m", model, *options, status=status)


def test_a_missing_model_is_told_at_once(tmp_path: Path) -> None:
    said = error("serve", "-m", tmp_path / "none", "--socket", tmp_path / "s", status=66)
    assert "there is no model here" in said
    assert not (tmp_path / "s").exists()


def test_systemd_passes_a_socket_and_is_told_of_the_state(model: Path, tmp_path: Path) -> None:
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(str(tmp_path / "notify"))
    told.settimeout(PATIENCE)
    passed = socket.socket(socket.AF_UNIX)
    passed.bind(str(tmp_path / "passed"))
    passed.listen()
    script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -m nbspam serve -j1 -m "$1"'
    process = subprocess.Popen(
        ["sh", "-c", f"exec 3<&0 </dev/null; {script}", sys.executable, str(model)],
        env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")}, stdin=passed, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert told.recv(100) == b"READY=1"
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(str(tmp_path / "passed"))
        one.sendall(request("CHECK", SPAM))
        assert answer(one).startswith(OK)
    process.terminate()
    assert told.recv(100) == b"STOPPING=1"
    assert process.wait(PATIENCE) == 0
    assert (tmp_path / "passed").exists()  # it is not ours
    assert b"passed, 1 process\n" in process.communicate()[1]


def test_a_message_that_meets_a_fault_is_judged_by_the_rest_and_named(
    serve: Callable[..., Server],
) -> None:
    page = SPAM.replace(b"text/plain", b"text/html")
    server = serve("-v", "--allow-tell", code=PLANTED)
    assert server.ask("CHECK", page).startswith(OK)
    assert b"DidSet" in server.ask("TELL", page, "Message-class: spam", "Set: local")
    eventually(lambda: "read in part (text: IndexError('planted'))" in server.log)
