"""Nobody reads or teaches the model of another user, or waits for another user or for a slow client."""

import contextlib
import os
import pwd
import select
import shutil
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbspam.serve import worker
from nbspam.serve.worker import CHILD_SECONDS, MAX_CONNECTIONS
from tests.server import OK, PATIENCE, SPAM, Server, answer, eventually, free_port, request
from tests.tiny_mail import counts, error, mail, run, write_folders

ALICE, BOB, CAROL = [user for user in pwd.getpwall() if user.pw_uid not in (0, 65534)][:3]
NEW = mail("a lottery prize for the winner")
SLOW_WORDS = r"(a|aa)+$"
SLOW = b"Subject: s\n\n" + b"a" * 60 + b"b\n"
WITHIN = 15.0  # seconds, on a busy machine; without the bounds it is 30 and more
LONG_BYTES = 30 << 20

Start = Callable[..., Server]
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can enter, with the folder of their models, which only root can."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o711)
        (Path(name) / "users").mkdir(mode=0o700)
        yield Path(name)


@pytest.fixture
def start(trained: Path, folder: Path) -> Iterator[Start]:
    shared = Path(shutil.copy(trained, folder / "shared"))
    with contextlib.ExitStack() as servers:

        def serve(*options: str, code: str = "", place: Path = folder) -> Server:
            mode = () if "--listen" in options else ("--socket-mode", "666")
            of_users = ("--start", str(shared), "--allow-tell", *mode, *options)
            return servers.enter_context(Server(place, *of_users, model=folder / "users" / "%u", code=code))

        yield serve


@contextlib.contextmanager
def as_user(user: pwd.struct_passwd) -> Iterator[None]:
    """Be another user; the system tells a server who has connected."""
    os.seteuid(user.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


def ask_as(server: Server, user: pwd.struct_passwd, command: str, message: bytes, *fields: str) -> bytes:
    with as_user(user):
        connection = server.connect()
    with connection:
        connection.sendall(request(command, message, *fields))
        connection.shutdown(socket.SHUT_WR)
        return answer(connection)


def time_of(work: Callable[[], bytes]) -> float:
    """How long the answer to a request for a verdict takes, seconds."""
    start = time.monotonic()
    assert work().startswith(OK)
    return time.monotonic() - start


# Who is who.


@is_root
def test_user_at_the_socket_is_who_connects_whatever_name_is_sent(start: Start, folder: Path) -> None:
    server = start()
    as_bob = f"User: {BOB.pw_name}"
    assert b"DidSet" in ask_as(server, BOB, "TELL", NEW, "Message-class: spam", "Set: local")
    bob, before = folder / "users" / BOB.pw_name, ask_as(server, BOB, "CHECK", NEW)
    learned = counts(bob)
    said = ask_as(server, ALICE, "TELL", NEW, as_bob, "Message-class: ham", "Set: local")
    assert said.startswith(b"SPAMD/1.5 77 EX_NOPERM: ")
    assert not (folder / "users" / ALICE.pw_name).exists()
    assert ask_as(server, ALICE, "CHECK", NEW, as_bob) == ask_as(server, ALICE, "CHECK", NEW) != before
    assert ask_as(server, ALICE, "REPORT", NEW, as_bob) == ask_as(server, ALICE, "REPORT", NEW)
    assert counts(bob) == learned
    assert server.ask("CHECK", NEW, as_bob) == before  # root may name him
    eventually(lambda: f"CHECK user={ALICE.pw_name} " in server.log)


@is_root
def test_trusted_user_may_name_others(start: Start, folder: Path) -> None:
    server = start("--trusted-user", CAROL.pw_name)
    fields = (f"User: {BOB.pw_name}", "Message-class: spam", "Set: local")
    assert b"DidSet" in ask_as(server, CAROL, "TELL", NEW, *fields)
    assert sorted(os.listdir(folder / "users"))[0] == BOB.pw_name
    assert ask_as(server, ALICE, "TELL", NEW, *fields).startswith(b"SPAMD/1.5 77 ")
    said = error("serve", "-m", folder / "shared", "--socket", folder / "s", "--trusted-user", "?", status=64)
    assert "--trusted-user ?: there is no such user" in said


def test_clients_on_tcp_are_trusted_and_the_server_says_so(start: Start) -> None:
    port = free_port()
    server = start("--listen", f":{port}")  # localhost
    places = server.log.split(": each client is trusted, and may name any user")[0]
    assert f"127.0.0.1:{port}" in places and "other machines" not in server.log
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(request("TELL", NEW, "User: bob", "Message-class: spam", "Set: local"))
        assert b"DidSet" in answer(connection)


# Nobody waits.


def is_answered(connection: socket.socket) -> bool:
    return select.select([connection], [], [], 0)[0] != []


def test_locked_model_delays_its_user_alone(start: Start, folder: Path) -> None:
    server = start("-j", "1", code="import nbspam.serve.worker as worker\nworker.LOCK_SECONDS = 60")
    server.ask("TELL", NEW, "User: alice", "Message-class: spam", "Set: local")
    writer = sqlite3.connect(folder / "users" / "alice", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with server.connect() as verdict, server.connect() as lesson:
        verdict.sendall(request("CHECK", NEW, "User: alice"))
        lesson.sendall(request("TELL", SPAM, "User: alice", "Message-class: spam", "Set: local"))
        time.sleep(0.3)
        assert server.ask("CHECK", NEW, "User: bob").startswith(OK)
        assert not is_answered(verdict)
        assert b"DidSet" in server.ask("TELL", NEW, "User: bob", "Message-class: spam", "Set: local")
        assert not is_answered(lesson)
        writer.execute("ROLLBACK")
        assert answer(verdict).startswith(OK) and answer(lesson).startswith(OK)


def test_model_that_stays_locked_is_a_temporary_failure(start: Start, folder: Path) -> None:
    server = start("-j", "1")
    server.ask("TELL", NEW, "User: alice", "Message-class: spam", "Set: local")
    writer = sqlite3.connect(folder / "users" / "alice", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    said = server.ask("CHECK", NEW, "User: alice")
    assert said == b"SPAMD/1.5 75 EX_TEMPFAIL: another program is writing the model\r\n"
    writer.execute("ROLLBACK")
    assert server.ask("CHECK", NEW, "User: alice").startswith(OK)


def test_model_that_is_slow_delays_its_user_alone(start: Start, folder: Path) -> None:
    code = "import nbspam.serve.worker as worker, nbspam.tokens.own_words as own\n"
    code += "own.MAX_PATTERN_SECONDS = 1\nworker.CHILD_SECONDS = 120"
    server = start("-j", "1", code=code)
    source = write_folders(folder / "mail", {"ham": [mail("garden")], "spam": [mail("pills")]})
    textbook = ("--event-model", "multinomial", "--token-pattern", SLOW_WORDS)
    run("train", "-q", "-j1", source, "-m", folder / "users" / "alice", *textbook)
    with server.connect() as slow:
        slow.sendall(request("CHECK", SLOW, "User: alice"))
        time.sleep(0.3)
        assert server.ask("CHECK", NEW, "User: bob").startswith(OK)
        assert not is_answered(slow)
        assert b"needs more than 1 second" in answer(slow)


def test_message_that_is_slow_to_read_gets_the_same_verdict_elsewhere(start: Start, folder: Path) -> None:
    long = mail(" ".join(f"cheap{n} pills{n}" for n in range(4_000)))
    server = start()
    expected = [server.ask(command, long) for command in ("CHECK", "PROCESS", "REPORT")]
    assert all(one.startswith(OK) for one in expected)
    (folder / "other").mkdir()
    hurry = "import nbspam.serve.worker as worker\nworker.JUDGE_SECONDS = 1e-6"
    hurried = start(code=hurry, place=folder / "other")
    assert [hurried.ask(command, long) for command in ("CHECK", "PROCESS", "REPORT")] == expected


def test_lesson_that_takes_too_long_is_killed(start: Start) -> None:
    assert CHILD_SECONDS <= 60
    code = (
        "import time, nbspam.serve.worker as worker, nbspam.serve.users as users\n"
        "worker.CHILD_SECONDS = 1\nusers.learn_messages = lambda *given: time.sleep(100)\n"
    )
    server = start(code=code)
    said = server.ask("TELL", NEW, "User: bob", "Message-class: spam", "Set: local")
    assert said == b"SPAMD/1.5 75 EX_TEMPFAIL: no result within 1 seconds\r\n"


def test_dripping_clients_give_way_to_mail(start: Start) -> None:
    server, stop = start("-j", "1", "--timeout", "60"), threading.Event()
    head = request("CHECK", SPAM).partition(b"\r\n\r\n")[0].replace(b"Content-length: ", b"Content-length: 9")
    with contextlib.ExitStack() as stack:
        drips = [stack.enter_context(server.connect()) for _ in range(MAX_CONNECTIONS + 100)]

        def drip() -> None:
            for piece in (head + b"\r\n\r\n", *[b"x"] * 1_000):
                for connection in drips:
                    with contextlib.suppress(OSError):
                        connection.send(piece)
                if stop.wait(0.1):
                    return

        dripper = threading.Thread(target=drip)
        dripper.start()
        try:
            for _ in range(10):
                assert time_of(lambda: server.ask("CHECK", SPAM)) < WITHIN
                time.sleep(0.1)
        finally:
            stop.set()
            dripper.join()


@is_root
def test_connections_of_one_user_leave_places_to_others(start: Start) -> None:
    """Of their own, alice's connections give way."""
    server = start("-j", "1")
    with contextlib.ExitStack() as stack:
        with as_user(ALICE):
            idle = [stack.enter_context(server.connect()) for _ in range(MAX_CONNECTIONS + 100)]
        assert time_of(lambda: ask_as(server, BOB, "CHECK", SPAM)) < WITHIN
        assert server.log.count("idle") == 0 and answer(idle[-1]) == b""
        (process,) = server.workers(1)
        assert len(list(Path(f"/proc/{process}/fd").iterdir())) < 2 * worker.MAX_OF_USER


def test_request_has_a_deadline_from_its_beginning(start: Start) -> None:
    server = start("--timeout", "1")
    begun = time.monotonic()
    with server.connect() as connection:
        connection.settimeout(0.1)
        for byte in request("CHECK", SPAM)[:50]:
            connection.send(bytes([byte]))
            with contextlib.suppress(TimeoutError):
                assert connection.recv(100).startswith(b"SPAMD/1.5 79 Timeout: (1 second timeout")
                break
    assert time.monotonic() - begun < WITHIN


def test_many_long_messages_take_bounded_memory_and_all_are_answered(start: Start) -> None:
    server = start("-j", "1")
    long = SPAM + b"a line of the body\n" * (LONG_BYTES // 19)
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda: answers.append(server.ask("PROCESS", long))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert time_of(lambda: server.ask("CHECK", SPAM)) < WITHIN
    for thread in threads:
        thread.join()
    assert {said[-1_000:] for said in answers} == {long[-1_000:]} and len(answers) == 8
    (process,) = server.workers(1)
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    peak_kb = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    assert peak_kb < 300_000


def test_long_messages_that_drip_give_way_to_one_that_comes(start: Start) -> None:
    server = start("-j", "1")
    long = SPAM + b"a line of the body\n" * 100_000
    with contextlib.ExitStack() as stack:
        for _ in range(worker.MAX_LONG):
            connection = stack.enter_context(server.connect())
            connection.sendall(b"CHECK SPAMC/1.5\r\nContent-length: 1000000\r\n\r\nx")
        assert time_of(lambda: server.ask("CHECK", long)) < 2 * WITHIN
