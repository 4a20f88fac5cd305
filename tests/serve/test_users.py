"""`nbspam serve -m .../%u`: each user has a model."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbspam.errors import UsageError
from nbspam.serve.codec import Request
from nbspam.serve.users import UserFilters
from tests.as_nobody import NOBODY
from tests.server import OK, SPAM, Server, eventually, model_of_many
from tests.tiny_mail import counts, mail, run

NEW = mail("a lottery prize for the winner")
NO_NAMES = ["", "..", "../shared", ".hidden", "a/b", "/etc/x", "a b", "-x", "%u", "a\\b", "ü", "x" * 129]
NO_NAMES += ["a\0b", "../" * 1000, "x" * 4000, "a/../b", "%u%u", "a\nb"]


Start = Callable[..., Server]


@pytest.fixture
def shared(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "shared"))


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return tmp_path / "users"


@pytest.fixture
def serve(shared: Path, users: Path, tmp_path: Path) -> Iterator[Start]:
    with contextlib.ExitStack() as servers:

        def start(*options: str, start: Path = shared, model: Path = users / "%u.nbspam") -> Server:
            return servers.enter_context(Server(tmp_path, "--start", str(start), *options, model=model))

        yield start


def tell(server: Server, user: str, label: str, message: bytes) -> bytes:
    return server.ask("TELL", message, f"User: {user}", f"Message-class: {label}", "Set: local")


def checked(server: Server, user: str, message: bytes) -> str:
    """The line `Spam: True ; 3.1 / 0.0` of an answer."""
    said = server.ask("CHECK", message, f"User: {user}")
    assert said.startswith(OK)
    return said[len(OK) :].decode().partition("\r\n")[0]


def counts_with(shared: Path, message: bytes) -> list[str]:
    """The counts of a copy that has learned a message as spam."""
    copy = Path(shutil.copy(shared, f"{shared}-copy"))
    run("learn", "-q", "spam", "-m", copy, stdin=message)
    return counts(copy)


def teach(path: Path | str, start: Path | str, user: str) -> None:
    """TELL without a server."""
    filters = UserFilters(str(path), str(start), allow_tell=True)
    filters.tell(Request("TELL", (1, 5), user, NEW, learn_as="spam"))


def test_lesson_of_one_user_changes_nothing_for_others(serve: Start, shared: Path, users: Path) -> None:
    server = serve("--allow-tell")
    before, at_first = shared.read_bytes(), checked(server, "bob", NEW)
    assert tell(server, "alice@example.org", "work", NEW).startswith(b"SPAMD/1.5 64 EX_USAGE: ")
    assert not users.exists()  # there is no such class
    assert b"DidSet: local" in tell(server, "alice@example.org", "spam", NEW)
    assert checked(server, "alice@example.org", NEW) != at_first
    assert checked(server, "bob", NEW) == at_first
    assert sorted(os.listdir(users)) == ["alice@example.org.nbspam", "alice@example.org.nbspam-lock"]
    assert shared.read_bytes() == before
    eventually(lambda: "user=alice@example.org" in server.log)
    assert counts(users / "alice@example.org.nbspam") == counts_with(shared, NEW)
    assert "\tserve alice@example.org\n" in run("log", "-m", users / "alice@example.org.nbspam")


def test_user_without_a_model_follows_the_shared_one(serve: Start, shared: Path, users: Path) -> None:
    server = serve("--allow-tell")
    at_first = checked(server, "bob", NEW)
    tell(server, "alice", "spam", NEW)
    assert checked(server, "alice", NEW) != at_first
    (users / "alice.nbspam").unlink()  # from now on she has none, too
    assert checked(server, "alice", NEW) == at_first
    run("learn", "-q", "spam", "-m", shared, stdin=NEW)
    assert checked(server, "alice", NEW) == checked(server, "bob", NEW) != at_first
    assert b"DidSet: local" in tell(server, "alice", "spam", mail("a second prize"))


def test_model_that_its_user_can_change_is_neither_read_nor_taught(
    serve: Start, shared: Path, tmp_path: Path
) -> None:
    """Eve owns her folder, so that she could put a link to the model of bob there at any moment."""
    if os.geteuid() != 0:
        pytest.skip("only root can make the folder of another user")
    server = serve("--allow-tell", model=tmp_path / "%u" / "model")
    for name, user in (("bob", 0), ("eve", NOBODY)):
        (tmp_path / name).mkdir(mode=0o700)
        os.chown(tmp_path / name, user, user)
    assert b"DidSet: local" in tell(server, "bob", "spam", NEW)
    (tmp_path / "eve" / "model").symlink_to("../bob/model")
    before = counts(tmp_path / "bob" / "model")
    refusal = f"SPAMD/1.5 75 EX_TEMPFAIL: is not opened, because {tmp_path}/eve belongs to another user\r\n"
    assert tell(server, "eve", "ham", NEW) == refusal.encode()
    assert server.ask("REPORT", NEW, "User: eve") == refusal.encode()
    eventually(lambda: f"{tmp_path}/eve/model: is not opened, because" in server.log)
    assert counts(tmp_path / "bob" / "model") == before
    assert checked(server, "bob", NEW).startswith("Spam: True")


@pytest.mark.parametrize("name", NO_NAMES)
def test_odd_name_gets_the_start_and_teaches_none(
    name: str, shared: Path, users: Path, tmp_path: Path
) -> None:
    users.mkdir(mode=0o700)
    filters = UserFilters(str(users / "%u.nbspam"), str(shared), autolearn=True)
    before, files = shared.read_bytes(), sorted(os.listdir(tmp_path))
    reply = filters.judge(Request("CHECK", (1, 5), name, SPAM))
    assert reply.data.startswith(OK + b"Spam: True")
    assert reply.lesson is None
    with pytest.raises(UsageError, match="can have no model"):
        teach(users / "%u.nbspam", shared, name)
    assert shared.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == files


@pytest.mark.parametrize("start", ["shared", "../{folder}/shared", "link"])
def test_user_named_as_the_shared_model_teaches_nobody(start: str, shared: Path, tmp_path: Path) -> None:
    """It may be in the folder of the users' models, as in docs/users.md."""
    (tmp_path / "link").symlink_to(shared)
    before = shared.read_bytes()
    with pytest.raises(UsageError, match="shared can have no model"):
        teach(tmp_path / "%u", f"{tmp_path}/{start.format(folder=tmp_path.name)}", "shared")
    assert shared.read_bytes() == before


def test_start_may_be_a_link_to_another_folder(
    serve: Start, shared: Path, users: Path, tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "model").symlink_to(shared)
    server = serve("--allow-tell", start=tmp_path / "etc" / "model")
    before = checked(server, "alice", NEW)
    assert b"DidSet: local" in tell(server, "alice", "spam", NEW)
    assert checked(server, "alice", NEW) != before


def test_changed_base_is_a_temporary_failure_until_the_rebase(
    serve: Start, shared: Path, users: Path
) -> None:
    server = serve("--allow-tell")
    tell(server, "alice", "spam", NEW)
    before = checked(server, "alice", NEW)
    run("learn", "-q", "ham", "-m", shared, stdin=mail("a fence of the garden"))
    for said in (server.ask("CHECK", NEW, "User: alice"), tell(server, "alice", "ham", SPAM)):
        assert b" 75 EX_TEMPFAIL: its base has changed" in said
    assert checked(server, "bob", NEW) != before
    run("model", "rebase", "-q", users / "alice.nbspam")
    assert checked(server, "alice", NEW).startswith("Spam: True")


def test_damaged_model_troubles_its_user_alone(serve: Start, users: Path) -> None:
    server = serve()
    users.mkdir(mode=0o700)
    (users / "alice.nbspam").write_bytes(b"")
    assert b" 75 EX_TEMPFAIL: the model file is empty" in server.ask("CHECK", SPAM, "User: alice")
    assert checked(server, "bob", SPAM).startswith("Spam: True")


def test_without_users_the_start_serves_until_a_lesson(serve: Start, shared: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    server = serve("--allow-tell", model=own)
    assert checked(server, "alice", SPAM) == checked(server, "bob", SPAM)
    assert not own.exists()
    tell(server, "alice", "spam", NEW)
    assert counts(own) == counts_with(shared, NEW)


def test_autolearn_counts_mail_in_the_model_of_its_user(serve: Start, users: Path, tmp_path: Path) -> None:
    many = model_of_many(tmp_path)
    before, new = counts(many), mail("cheap pills and a cheap zebra")
    server = serve("--autolearn", start=many)
    assert checked(server, "alice", new).startswith("Spam: True")
    eventually(lambda: (users / "alice.nbspam").exists() and counts(users / "alice.nbspam") != before)
    assert counts(many) == before
    own = counts(users / "alice.nbspam")
    run("classify", "--autolearn", "-m", many, stdin=new)
    assert own == counts(many)
