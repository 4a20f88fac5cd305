"""The server as a process, with clients that are slow, odd, many or gone."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbspam.serve.codec import MAX_MESSAGE_BYTES
from nbspam.serve.worker import MAX_CONNECTIONS
from tests.server import (
    HAM,
    OK,
    PATIENCE,
    SPAM,
    Server,
    answer,
    eventually,
    free_port,
    model_of_many,
    request,
)
from tests.store.changed_model import change
from tests.tiny_mail import counts, error, mail, process, run, write_folders

MAILBOX = b"From a@b.example Mon Jun  3 10:00:00 2024\n" + HAM + b">From cheap pills\n\n"
LEARN_SPAM = ("Message-class: spam", "Set: local")


Start = Callable[..., Server]


@pytest.fixture
def serve(tmp_path: Path, model: Path) -> Iterator[Start]:
    with contextlib.ExitStack() as servers:
        yield lambda *options, code="": servers.enter_context(
            Server(tmp_path, *options, model=model, code=code)
        )


@pytest.fixture(scope="module")
def common(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that change nothing."""
    with Server(tmp_path_factory.mktemp("common"), model=trained) as server:
        yield server


def replace(model: Path, data: bytes) -> None:
    """Put another file in the place of the model, as `train --replace` does."""
    (model.parent / "new").write_bytes(data)
    os.replace(model.parent / "new", model)


def as_classified(model: Path, message: bytes) -> bytes:
    """The answer to CHECK by what a fresh process says."""
    verdict = json.loads(run("classify", "--json", "-m", model, stdin=message))
    return OK + f"Spam: {verdict['label'] == 'spam'} ; {verdict['log_odds']:.3f} / 2.197\r\n\r\n".encode()


# Verdicts.


@pytest.mark.parametrize("message", [HAM, SPAM, MAILBOX, b"", b"no header", b"Subject: a\r\n\r\ntext\r\n"])
def test_verdicts_and_marks_are_those_of_classify(common: Server, trained: Path, message: bytes) -> None:
    expected = process("classify", "-p", "-m", trained, stdin=message).stdout
    got = common.ask("PROCESS", message)
    assert got.partition(b"\r\n\r\n")[2] == expected
    assert b"Content-length: %d\r\n" % len(expected) in got


def test_costs_decide_and_spam_flag_adds_the_status_of_spamassassin(serve: Start) -> None:
    server = serve("--spam-flag", "--loss", "FP=1000000,FN=1,unsure=0.5")
    head, _, threshold = server.ask("CHECK", SPAM).decode().strip().rpartition(" / ")
    assert head.startswith(OK.decode() + "Spam: False")
    assert float(threshold) == pytest.approx(14.509, abs=0.001)  # log((1000000 - 0.5) / 0.5)
    assert b"\nX-Spam-Status: No" in server.ask("PROCESS", SPAM)


# Clients.


def test_client_that_keeps_its_side_open_is_answered(common: Server) -> None:
    assert common.ask("PING", half_close=False) == b"SPAMD/1.5 0 PONG\r\n"
    assert common.ask("CHECK", SPAM, half_close=False).startswith(OK)


def test_bad_request_is_refused_and_logged(common: Server) -> None:
    with common.connect() as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\x1b[2J\r\n\r\n")
        assert answer(one) == b"SPAMD/1.5 76 EX_PROTOCOL: (not a request: 'GET / HTTP/1.1')\r\n"
    eventually(lambda: "refused: 76 request: (not a request: 'GET / HTTP/1.1')" in common.log)


def test_long_message_is_refused_while_it_is_still_sent(common: Server) -> None:
    with common.connect() as one:
        head = b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % (MAX_MESSAGE_BYTES + 1)
        with contextlib.suppress(OSError):
            one.sendall(head + bytes(4 << 20))
        assert answer(one) == b"SPAMD/1.5 65 EX_DATAERR: is longer than 33,554,432 bytes\r\n"


def test_each_of_many_clients_gets_its_own_answer(common: Server) -> None:
    """More than the connections that a process takes at a time."""
    messages = [mail(f"letter {n} " + "garden " * n) for n in range(200)]
    with ThreadPoolExecutor(200) as pool:
        got = list(pool.map(lambda message: common.ask("PROCESS", message), messages))
    assert [number for number in range(200) if not got[number].endswith(messages[number])] == []


def test_log_has_a_line_a_message_without_its_text(common: Server) -> None:
    common.ask("CHECK", b"Message-ID: <1@b.example>\nSubject: secret\n\nwords\n", "User: joe id=<other>")
    eventually(lambda: "<1@b.example>" in common.log)
    (line,) = [line for line in common.log.splitlines() if "<1@b.example>" in line]
    assert line.startswith("nbspam: ")
    assert " CHECK user=joe.id=<other> id=<1@b.example> " in line
    assert "secret" not in common.log


@pytest.mark.parametrize(
    "sent", [b"", request("CHECK", SPAM)[:40], request("PROCESS", SPAM + b"x\n" * 300_000)]
)
def test_idle_clients_make_room_for_those_that_speak(serve: Start, sent: bytes) -> None:
    """They say nothing, or half of a request, or do not read the answer."""
    server = serve("-j", "1", "--timeout", "300")
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(server.connect()) for _ in range(MAX_CONNECTIONS + 100)]
        for one in idle[: 10 if len(sent) > 1_000 else None]:
            with contextlib.suppress(OSError):  # its place is gone already
                one.sendall(sent)
        asked = time.monotonic()
        for _ in range(5):
            assert server.ask("CHECK", SPAM).startswith(OK)
        assert time.monotonic() - asked < PATIENCE / 2
        if not sent:
            assert answer(idle[0]) == b"SPAMD/1.5 79 Timeout: is idle while others wait\r\n"


def test_client_that_goes_away_disturbs_nobody(serve: Start) -> None:
    server = serve()
    for cut in (5, 40, len(request("PROCESS", SPAM))):
        for _ in range(20):
            with server.connect() as one:
                one.sendall(request("PROCESS", SPAM)[:cut])
    assert server.ask("CHECK", SPAM).startswith(OK)


# Processes and signals.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_the_server_after_the_requests_that_have_started(serve: Start, number: int) -> None:
    server = serve("-j", "1")
    whole = request("PROCESS", SPAM)
    with server.connect() as started, server.connect() as silent:
        started.sendall(whole[:100])
        assert server.ask("CHECK", SPAM).startswith(OK)  # after it has read the others
        server.process.send_signal(number)
        eventually(lambda: not server.path.exists())
        assert answer(silent) == b"SPAMD/1.5 75 EX_TEMPFAIL: is being stopped\r\n"
        started.sendall(whole[100:])
        assert answer(started).endswith(SPAM)
    assert server.process.wait(PATIENCE) == 0


def test_a_stop_breaks_no_connection(serve: Start) -> None:
    port, is_stopped = free_port(), threading.Event()
    server = serve("--listen", f"127.0.0.1:{port}")

    def ask() -> set[bytes]:
        answers = set()
        while not is_stopped.is_set():
            with (
                contextlib.suppress(ConnectionRefusedError),
                socket.create_connection(("127.0.0.1", port)) as one,
            ):
                one.sendall(request("CHECK", SPAM))
                answers.add(answer(one)[: len(OK)])
        return answers

    with ThreadPoolExecutor(12) as pool:
        answers = [pool.submit(ask) for _ in range(12)]
        time.sleep(1)
        server.process.terminate()
        server.process.wait(PATIENCE)
        is_stopped.set()
    said = set().union(*[each.result() for each in answers])  # and no ConnectionResetError
    assert OK in said and said <= {OK, b"SPAMD/1.5 75 EX_TEMPFAIL: is being stopped"[: len(OK)]}


def test_an_empty_message_is_not_learned(serve: Start) -> None:
    server = serve("--allow-tell")
    fields = ("Message-class: spam", "Set: local")
    assert server.ask("TELL", b"", *fields).startswith(b"SPAMD/1.5 65 EX_DATAERR: an empty message")
    server.ask("TELL", SPAM, "Remove: local")
    eventually(lambda: "nbspam: - " in server.log)
    assert "None" not in server.log


def test_dead_worker_is_replaced(serve: Start) -> None:
    server = serve()
    first, _ = server.workers()
    os.kill(first, signal.SIGKILL)
    eventually(lambda: f"worker {first} ended with -9" in server.log)
    assert first not in server.workers()
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_workers_end_with_their_parent(serve: Start) -> None:
    server = serve()
    workers = server.workers()
    server.process.kill()
    server.process.wait()

    def is_alive(worker: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    eventually(lambda: not any(map(is_alive, workers)))


def test_fault_of_the_program_stops_no_other_mail(serve: Start) -> None:
    code = (
        "import nbspam.serve.users as module\n"
        "read = module.unwrap_message\n"
        "module.unwrap_message = lambda data: {}['trap'] if b'trap' in data else bytearray(1 << 62)\\\n"
        "    if b'much' in data else read(data)\n"
    )
    server = serve(code=code)
    assert server.ask("CHECK", b"trap") == b"SPAMD/1.5 70 EX_SOFTWARE: KeyError: a fault of nbspam\r\n"
    assert server.ask("CHECK", b"much") == b"SPAMD/1.5 75 EX_TEMPFAIL: has too few resources\r\n"
    assert server.ask("CHECK", SPAM).startswith(OK)


# The model.


def test_server_follows_a_model_that_learns_or_is_replaced(serve: Start, model: Path, tmp_path: Path) -> None:
    server = serve("-j", "1")
    assert server.ask("CHECK", SPAM) == as_classified(model, SPAM)
    for number in range(6):
        run("learn", "-q", "ham", "-m", model, stdin=mail(f"cheap pills and cheap watches number{number}"))
        assert server.ask("CHECK", SPAM) == as_classified(model, SPAM)
    assert server.ask("CHECK", SPAM).startswith(OK + b"Spam: False")
    turned = write_folders(tmp_path / "turned", {"ham": [SPAM, mail("pills")], "spam": [HAM, mail("garden")]})
    run("train", "-q", "-j1", "--replace", turned, "-m", model)
    assert server.ask("CHECK", HAM).startswith(OK + b"Spam: True")
    assert server.ask("CHECK", HAM) == as_classified(model, HAM)


def test_model_cut_short_in_place_kills_no_worker(serve: Start, model: Path) -> None:
    server = serve("-j", "1")
    (worker,) = server.workers(1)
    assert server.ask("CHECK", SPAM).startswith(OK)
    whole = model.read_bytes()
    os.truncate(model, 4_096)
    for message in (SPAM, HAM, mail("other words")):
        assert server.ask("CHECK", message).startswith(b"SPAMD/1.5 75 EX_TEMPFAIL: ")
    model.write_bytes(whole)
    assert server.ask("CHECK", SPAM).startswith(OK)
    assert server.workers(1) == [worker]


def test_removed_model_serves_until_it_is_opened_again(serve: Start, model: Path) -> None:
    server = serve("-j", "1")
    assert server.ask("CHECK", SPAM).startswith(OK)
    away = model.rename(model.parent / "away")
    assert server.ask("CHECK", SPAM).startswith(OK)
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: server.ask("CHECK", SPAM) == b"SPAMD/1.5 75 EX_TEMPFAIL: there is no model here\r\n")
    away.rename(model)
    assert server.ask("CHECK", SPAM).startswith(OK)


# Learning.


def test_tell_needs_permission(common: Server, trained: Path) -> None:
    before = counts(trained)
    said = common.ask("TELL", HAM, *LEARN_SPAM)
    assert said.startswith(b"SPAMD/1.5 69 EX_UNAVAILABLE: TELL commands are not enabled")
    assert counts(trained) == before


def test_tell_learns_and_forgets_as_the_commands_do(serve: Start, model: Path) -> None:
    server = serve("--allow-tell")
    other, before = Path(shutil.copy(model, model.parent / "other")), counts(model)
    new = mail("an offer of pills")
    assert server.ask("TELL", new, *LEARN_SPAM) == OK + b"DidSet: local\r\n\r\n"
    assert server.ask("TELL", new, *LEARN_SPAM) == OK + b"\r\n"  # it counts once
    run("learn", "-q", "spam", "-m", other, stdin=new)
    assert counts(model) == counts(other)
    assert server.ask("TELL", new, "Message-class: ham", "Set: local") == OK + b"DidSet: local\r\n\r\n"
    run("learn", "-q", "ham", "-m", other, stdin=new)
    assert counts(model) == counts(other)
    assert server.ask("TELL", new, "Remove: local") == OK + b"DidRemove: local\r\n\r\n"
    assert server.ask("TELL", new, "Remove: local") == OK + b"\r\n"
    assert server.ask("TELL", new, "Set: remote") == OK + b"\r\n"
    assert counts(model) == before


def test_death_of_the_learning_process_is_a_temporary_failure(serve: Start, tmp_path: Path) -> None:
    """In the process that judges, a look at the file would drop the locks of the writer."""
    code = (
        "import os, nbspam.serve.users as module\n"
        "def learn_messages(*given):\n"
        f"    open({str(tmp_path / 'learner')!r}, 'w').write(str(os.getpid()))\n"
        "    os.kill(os.getpid(), 9)\n"
        "module.learn_messages = learn_messages\n"
    )
    server = serve("--allow-tell", code=code)
    said = server.ask("TELL", SPAM, *LEARN_SPAM)
    assert said == b"SPAMD/1.5 75 EX_TEMPFAIL: the process that learns has died\r\n"
    assert int((tmp_path / "learner").read_text()) not in [server.process.pid, *server.workers()]
    assert server.ask("CHECK", SPAM).startswith(OK)


def test_many_messages_told_at_once_count_while_mail_is_judged(serve: Start, model: Path) -> None:
    server = serve("--allow-tell")
    messages = [mail(f"offer{n} of pills{n}") for n in range(10)]
    other = Path(shutil.copy(model, model.parent / "other"))
    with ThreadPoolExecutor(10) as pool:
        told = [pool.submit(server.ask, "TELL", message, *LEARN_SPAM) for message in messages]
        while not all(one.done() for one in told):
            assert server.ask("CHECK", SPAM).startswith(OK + b"Spam: True")
    assert [one.result() for one in told] == [OK + b"DidSet: local\r\n\r\n"] * 10
    for message in messages:
        run("learn", "-q", "spam", "-m", other, stdin=message)
    assert counts(model) == counts(other)


def test_autolearn_learns_what_classify_does_and_a_failure_keeps_no_mail(tmp_path: Path) -> None:
    many = model_of_many(tmp_path)
    other, before = Path(shutil.copy(many, tmp_path / "other")), counts(many)
    new, unclear = mail("cheap pills and a cheap zebra"), mail("xylophone")
    with Server(tmp_path, model=many) as server:
        assert b"True" in server.ask("CHECK", new)
    assert counts(many) == before
    with Server(tmp_path, "--autolearn", model=many) as server:
        assert b"True" in server.ask("CHECK", new)
        assert server.ask("CHECK", unclear).startswith(OK)
        eventually(lambda: counts(many) != before)
        run("classify", "--autolearn", "-m", other, stdin=new)
        assert counts(many) == counts(other)
        change(many, "DELETE FROM digest WHERE name = 'token'")  # learning needs it, a verdict does not
        for _ in range(2):
            assert b"True" in server.ask("CHECK", mail("cheap pills and another cheap zebra"))
            eventually(lambda: "not learned: " in server.log)


# Places to listen.


def test_socket_of_a_dead_server_alone_is_replaced(serve: Start, model: Path, tmp_path: Path) -> None:
    first = serve()
    assert first.path.stat().st_mode & 0o777 == 0o600
    said = error("serve", "-m", model, "--socket", first.path, status=73)
    assert "another server listens there" in said
    first.process.kill()
    first.process.wait()
    assert first.path.exists()
    assert serve().ask("CHECK", SPAM).startswith(OK)
    assert {path.name for path in tmp_path.iterdir()} == {"model", "socket", "log"}


def test_systemd_passes_a_socket_and_hears_of_the_state(model: Path, tmp_path: Path) -> None:
    states = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    states.bind(str(tmp_path / "notify"))
    states.settimeout(PATIENCE)
    passed = socket.socket(socket.AF_UNIX)
    passed.bind(str(tmp_path / "passed"))
    passed.listen()
    script = 'exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -m nbspam serve -j1 -m "$1"'
    server = subprocess.Popen(
        ["sh", "-c", script, sys.executable, str(model)],
        env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")}, stdin=passed, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert states.recv(100) == b"READY=1"
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(str(tmp_path / "passed"))
        one.sendall(request("CHECK", SPAM))
        assert answer(one).startswith(OK)
    server.terminate()
    assert states.recv(100) == b"STOPPING=1"
    assert server.wait(PATIENCE) == 0
    assert (tmp_path / "passed").exists()  # it is not ours
    assert b"passed, processes: 1\n" in server.communicate()[1]
