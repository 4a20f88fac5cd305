"""`nbspam serve -m .../%u`: each user has a model of his own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_serve import OK, PATIENCE, SPAM, Server, eventually, model_of_many, tiny_model
from test_start import NEW
from tiny_mail import counts, error, mail, run

from nbspam.errors import UsageError
from nbspam.serve import filter as serve_filter
from nbspam.serve.filter import ServedModels
from nbspam.serve.request import Request
from nbspam.serve.users import Models

NO_NAMES = ["", "..", "../shared", ".hidden", "a/b", "/etc/x", "a b", "-x", "%u", "a\\b", "ü", "x" * 129]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("users"))


@pytest.fixture
def shared(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "shared"))


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return tmp_path / "users"


@pytest.fixture
def begin(shared: Path, users: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    begun: list[Server] = []

    def start(*options: str, start: Path = shared) -> Server:
        begun.append(Server(tmp_path, "--start", str(start), *options, model=users / "%u.nbspam"))
        return begun[-1]

    yield start
    for server in begun:
        assert server.stop() == 0


def tell(server: Server, user: str, label: str, message: bytes) -> bytes:
    return server.ask("TELL", message, f"User: {user}", f"Message-class: {label}", "Set: local")


def checked(server: Server, user: str, message: bytes) -> str:
    """What a line `Spam: True ; 3.1 / 0.0` says."""
    said = server.ask("CHECK", message, f"User: {user}")
    assert said.startswith(OK)
    return said[len(OK) :].decode().partition("\r\n")[0]


def test_what_one_user_teaches_changes_nothing_for_the_others(
    begin: Callable[..., Server], shared: Path, users: Path
) -> None:
    server = begin("--allow-tell")
    before = shared.read_bytes()
    at_first = checked(server, "bob", NEW)
    for text in ("winner", "lottery", "a winner of the lottery"):
        assert b"DidSet: local" in tell(server, "alice@example.org", "spam", mail(text))
    assert checked(server, "alice@example.org", NEW).startswith("Spam: True")
    assert checked(server, "alice@example.org", NEW) != at_first
    assert checked(server, "bob", NEW) == at_first
    assert os.listdir(users) == ["alice@example.org.nbspam"]
    assert shared.read_bytes() == before
    assert "user=alice@example.org" in server.log


def test_a_users_model_is_a_copy_that_learned(
    begin: Callable[..., Server], shared: Path, users: Path
) -> None:
    tell(begin("--allow-tell"), "alice", "spam", NEW)
    run("learn", "-q", "spam", "-m", shared, stdin=NEW)
    assert counts(users / "alice.nbspam") == counts(shared)


def test_who_has_no_model_follows_what_the_shared_one_learns(
    begin: Callable[..., Server], shared: Path
) -> None:
    server = begin()
    at_first = checked(server, "bob", NEW)
    run("learn", "-q", "spam", "-m", shared, stdin=NEW)
    assert checked(server, "bob", NEW) != at_first


def test_a_model_that_is_taken_away_is_begun_anew(begin: Callable[..., Server], users: Path) -> None:
    server = begin("--allow-tell")
    at_first = checked(server, "alice", NEW)
    tell(server, "alice", "spam", NEW)
    assert checked(server, "alice", NEW) != at_first
    (users / "alice.nbspam").unlink()
    assert checked(server, "alice", NEW) == at_first
    assert b"DidSet: local" in tell(server, "alice", "spam", NEW)
    assert checked(server, "alice", NEW) != at_first


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_can_be_no_file_is_judged_by_the_start_and_teaches_nobody(
    name: str, shared: Path, users: Path, tmp_path: Path
) -> None:
    models = Models(str(users / "%u.nbspam"), str(shared))
    judge = ServedModels(models, allow_tell=True, autolearn=True)
    before, others = shared.read_bytes(), sorted(os.listdir(tmp_path))
    assert judge.judged(Request("CHECK", (1, 5), name, SPAM)).later is None
    request = Request("TELL", (1, 5), name, NEW, message_class="spam", set_local=True)
    with pytest.raises(UsageError, match="can have no model"):
        judge.tell(request)
    assert shared.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == others


def teach(models: Models, user: str, message: bytes) -> None:
    ServedModels(models, allow_tell=True).tell(Request("TELL", (1, 5), user, message, "spam", set_local=True))


@pytest.mark.parametrize("how", ["its path", "another path", "a link"])
def test_who_is_called_as_the_shared_model_does_not_teach_it(how: str, shared: Path, tmp_path: Path) -> None:
    """It may lie in the folder of the users' models, as in the README."""
    start = {"its path": shared, "another path": tmp_path / "." / ".." / tmp_path.name / "shared"}.get(how)
    if start is None:
        start = tmp_path / "link"
        start.symlink_to(shared)
    before = shared.read_bytes()
    with pytest.raises(UsageError, match="shared can have no model"):
        teach(Models(str(tmp_path / "%u"), str(start)), "shared", NEW)
    assert shared.read_bytes() == before


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_no_name_makes_a_journal_of_anothers_model(ending: str, shared: Path, users: Path) -> None:
    models = Models(str(users / "%u"), str(shared))
    teach(models, "alice", NEW)
    with pytest.raises(UsageError, match="can have no model"):
        teach(models, "alice" + ending, NEW)
    assert os.listdir(users) == ["alice"]
    teach(Models(str(users / "%u.nbspam"), str(shared)), "alice" + ending, NEW)
    assert sorted(os.listdir(users)) == ["alice", f"alice{ending}.nbspam"]


def test_no_name_is_a_usage_error_to_the_client(begin: Callable[..., Server]) -> None:
    server = begin("--allow-tell")
    said = tell(server, "../shared", "spam", NEW)
    assert said == b"SPAMD/1.5 64 EX_USAGE: ../shared can have no model\r\n"
    assert checked(server, "../shared", SPAM).startswith("Spam: True")


def test_a_class_that_there_is_not_makes_no_model(begin: Callable[..., Server], users: Path) -> None:
    assert tell(begin("--allow-tell"), "alice", "work", NEW).startswith(b"SPAMD/1.5 64 EX_USAGE: ")
    assert not users.exists()


def test_a_damaged_model_troubles_its_user_alone(begin: Callable[..., Server], users: Path) -> None:
    server = begin()
    users.mkdir()
    (users / "alice.nbspam").write_bytes(b"")
    assert b" 75 EX_TEMPFAIL: the model file is empty" in server.ask("CHECK", SPAM, "User: alice")
    assert checked(server, "bob", SPAM).startswith("Spam: True")


def test_models_of_many_users_do_not_stay_open(
    shared: Path, users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_filter, "MAX_OPEN", 3)
    users.mkdir()
    judge = ServedModels(Models(str(users / "%u"), str(shared)))
    for number in [*range(8), 0]:
        name = f"user{number}"
        if number % 2:
            shutil.copy(shared, users / name)
        judge.judged(Request("CHECK", (1, 5), name, SPAM))
        files = [os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")]
        found = [one for one in files if one.startswith((f"{users}/", str(shared)))]
        assert len(found) <= 3
        assert (str(users / name) if number % 2 else str(shared)) in found
    judge.forget()


def test_users_need_a_model_to_begin_with(users: Path, tmp_path: Path, shared: Path) -> None:
    where = ("--socket", tmp_path / "socket")
    assert "[serve-start]" in error("serve", "-m", users / "%u", *where, status=64)
    assert "[model-missing]" in error("serve", "-m", users / "%u", "--start", "none", *where, status=66)


def test_without_users_the_start_serves_until_the_first_is_learned(shared: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    server = Server(tmp_path, "--start", str(shared), "--allow-tell", model=own)
    assert checked(server, "alice", SPAM) == checked(server, "bob", SPAM)
    assert not own.exists()
    tell(server, "alice", "spam", NEW)
    run("learn", "-q", "spam", "-m", shared, stdin=NEW)
    assert counts(own) == counts(shared)
    assert server.stop() == 0


def test_a_server_that_learns_its_own_verdicts_has_each_user_learn_his_mail(
    begin: Callable[..., Server], users: Path, tmp_path: Path
) -> None:
    many = model_of_many(tmp_path)
    before = counts(many)
    server = begin("--autolearn", start=many)
    new = mail("cheap pills and a cheap zebra")
    assert checked(server, "alice", new).startswith("Spam: True")
    eventually(lambda: (users / "alice.nbspam").exists() and counts(users / "alice.nbspam") != before)
    assert counts(many) == before
    run("classify", "--autolearn", "-m", many, stdin=new)
    assert counts(users / "alice.nbspam") == counts(many)


@pytest.mark.debian
@pytest.mark.skipif(shutil.which("spamc") is None, reason="spamc is not installed (make debian)")
def test_debians_spamc_names_the_user(begin: Callable[..., Server], users: Path) -> None:
    server = begin("--allow-tell")

    def spamc(*options: str) -> bytes:
        command = ["spamc", "-x", "-F", "/dev/null", "-U", str(server.path), *options]
        return subprocess.run(command, input=NEW, capture_output=True, timeout=PATIENCE).stdout

    at_first = spamc("-u", "bob", "-c")
    assert spamc("-u", "alice", "-L", "spam") == b"Message successfully un/learned\n"
    assert os.listdir(users) == ["alice.nbspam"]
    assert spamc("-u", "alice", "-c") != at_first == spamc("-u", "bob", "-c")
    assert spamc("-u", "alice", "-L", "forget") == b"Message successfully un/learned\n"
