"""Dovecot of Debian learns from moves, by the recipe of the manual, unchanged."""

import imaplib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.agents import NEEDS, Dovecot
from tests.deploy.recipes import MANUAL, recipe
from tests.programs import needs
from tests.server import Server
from tests.tiny_mail import counts, mail, run, write_folders

pytestmark = NEEDS[Dovecot]
FOLDERS = ("Junk", "Junk/old", "Work", "Trash", "Deleted Items", "Drafts", "Sent")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, so that few messages of it are counted; those of the tests are not among them."""
    folder, when = tmp_path_factory.mktemp("small"), ("today", "soon", "later", "here", "there")
    classes = {"ham": [mail(f"minutes lunch {one}") for one in when]}
    classes["spam"] = [mail(f"pills prize {one}") for one in when]
    run("train", "-q", write_folders(folder / "mail", classes), "-m", folder / "model")
    return folder / "model"


@pytest.fixture
def account(tmp_path: Path, installed: Path, small: Path) -> Dovecot:
    return Dovecot(tmp_path, installed, small)


@pytest.fixture
def imap(account: Dovecot) -> Iterator[imaplib.IMAP4]:
    session = account.session()
    for folder in FOLDERS:
        assert session.create(f'"{folder}"')[0] == "OK"
    yield session
    assert session.logout()[0] == "BYE"


def move(imap: imaplib.IMAP4, source: str, target: str, how: str = "MOVE") -> None:
    """The first message, by MOVE as new mail programs do, or by COPY and removal as old ones do."""
    assert imap.select(f'"{source}"')[0] == "OK"
    assert imap.xatom(how, "1", f'"{target}"')[0] == "OK"
    if how == "COPY":
        assert imap.store("1", "+FLAGS", r"\Deleted")[0] == "OK"
        assert imap.expunge()[0] == "OK"


def put(imap: imaplib.IMAP4, folder: str, message: bytes) -> None:
    assert imap.append(f'"{folder}"', "", "", message)[0] == "OK"


@pytest.mark.parametrize("how", ["MOVE", "COPY"])
def test_moves_to_and_from_junk_teach(account: Dovecot, imap: imaplib.IMAP4, how: str) -> None:
    message = mail("an offer", "for you")
    put(imap, "INBOX", message)
    for source, target, label in (
        *(("INBOX", "Junk", "spam"), ("Junk", "Work", "ham")),
        *(("Work", "Junk/old", "spam"), ("Junk/old", "INBOX", "ham")),
    ):
        move(imap, source, target, how=how)
        assert account.learned(label, message) == "already learned"
    other = mail("moved from another account")
    put(imap, "Junk", other)
    assert account.learned("spam", other) == "already learned"
    assert b"Error" not in account.log.read_bytes()


def test_delivery_and_other_moves_teach_nothing(account: Dovecot, imap: imaplib.IMAP4) -> None:
    before = counts(account.model)
    account.deliver(mail("spam that the filter found"), "Junk")
    account.deliver(mail("any mail"))
    for source, target in (("INBOX", "Work"), ("Work", "Trash"), ("Trash", "INBOX")):
        move(imap, source, target)
    for folder in ("INBOX", "Drafts", "Sent"):
        put(imap, folder, mail("written here"))
    for target in ("Trash", "Deleted Items", "Drafts", "Sent"):  # junk that is thrown away is not ham
        move(imap, "Junk", target)
        move(imap, target, "INBOX")
        account.deliver(mail(f"more spam than {target}"), "Junk")
    assert counts(account.model) == before
    assert len(account.messages("Junk")) == 1


def test_mail_is_moved_whole_if_learning_fails(account: Dovecot, imap: imaplib.IMAP4) -> None:
    account.model.unlink()
    account.deliver(mail("moved before there is a model"))
    (before,) = account.messages("INBOX")
    move(imap, "INBOX", "Junk")
    assert (account.messages("INBOX"), account.messages("Junk")) == ([], [before])
    move(imap, "Junk", "INBOX")
    assert (account.messages("INBOX"), account.messages("Junk")) == ([before], [])
    assert account.log.read_bytes().count(b"[model-missing]") == 2


@needs("spamc")
def test_server_can_learn_instead(account: Dovecot, imap: imaplib.IMAP4) -> None:
    told = 'pipe :copy "spamc" ["-x", "-U", "/run/nbspam/socket", "-L", "spam"];'
    assert told in MANUAL
    script = recipe("learn").replace('pipe :copy "nbspam" ["learn", "-q", "spam"];', told)
    script = script.replace('pipe :copy "nbspam" ["learn", "-q", "ham"];', told.replace('"spam"]', '"ham"]'))
    assert script.count("spamc") == 2
    message = mail("told to a server")
    with Server(account.home, "--allow-tell", "--socket-mode", "666", model=account.model) as server:
        (account.home / "etc/spamc").symlink_to(shutil.which("spamc") or "")
        account.become("exit 70")
        account.set_up(script.replace("/run/nbspam/socket", str(server.path)))
        put(imap, "INBOX", message)
        move(imap, "INBOX", "Junk")
        assert account.learned("spam", message) == "already learned"
        move(imap, "Junk", "INBOX")
        assert account.learned("ham", message) == "already learned"
