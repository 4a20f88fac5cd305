"""Dovecot of Debian judges what it delivers and learns from moves, by the recipe of the manual, unchanged.

Its IMAP server speaks over a pipe, to a user who is logged in already: no port, and no process that stays.
"""

import imaplib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.recipes import MANUAL, recipe
from tests.programs import needs, what_lacks
from tests.server import Server
from tests.tiny_mail import counts, mail, write_folders

DOVECOT = Path("/usr/lib/dovecot")
PLACE = "/etc/dovecot/nbspam"
SETTINGS = """
base_dir = {home}/run
stats_writer_socket_path =
log_path = /dev/stderr
postmaster_address = postmaster@example.org
namespace inbox {
  inbox = yes
  separator = /
}
"""
OF_VERSION = {  # how each says where mail lies
    "2.3": """
mail_location = maildir:~/Maildir
""",
    "2.4": """
mail_driver = maildir
mail_home = {home}
mail_path = ~/Maildir
""",
}


def as_user() -> list[str]:
    """Dovecot refuses to work for root: nobody it is then, who may enter the folders of the tests."""
    if os.geteuid() != 0:
        return []
    user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    rights = ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", *user, *rights]


def version() -> str:
    """2.3 or 2.4, say."""
    told = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=True).stdout
    return ".".join(told.split(".")[:2])


def what_is_missing(*versions: str) -> str:
    """'' if Dovecot of one of these versions can be run."""
    if missing := what_lacks("dovecot", f"{DOVECOT}/imap", "sievec", "openssl"):
        return missing
    if version() not in versions:
        return f"the settings are for Dovecot {' and '.join(versions)}, and this is {version()}"
    allowed = subprocess.run([*as_user(), "true"], capture_output=True).returncode == 0
    return "" if allowed else "root may not become another user here"


MISSING = what_is_missing(*OF_VERSION)
pytestmark = [pytest.mark.debian, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


class Account:
    """A user with a home folder, a model, and Dovecot set up by the recipe."""

    def __init__(self, home: Path, nbspam: Path) -> None:
        self.home = home
        self.place = home / "etc"
        self.nbspam = nbspam
        self.model = home / ".local/share/nbspam/model.nbspam"
        self.log = home / "dovecot.log"
        self.place.mkdir()

    def set_up(self, script: str = "") -> None:
        """The three blocks of docs/dovecot.md; this user's folder replaces Dovecot's."""
        which = version()
        first = (
            ""
            if which == "2.3"
            else f"dovecot_config_version = {which}.0\ndovecot_storage_version = {which}.0\n"
        )
        settings = first + SETTINGS + OF_VERSION[which] + recipe(f"dovecot {which}")
        (self.place / "dovecot.conf").write_text(
            settings.replace("{home}", str(self.home)).replace(PLACE, str(self.place))
        )
        (self.place / "deliver.sieve").write_text(recipe("deliver"))
        (self.place / "learn.sieve").write_text(script or recipe("learn"))
        commands = recipe("compile").replace(PLACE, str(self.place)).replace("doveadm reload\n", "")
        assert (commands.count("/usr/local/bin/nbspam"), commands.count("sievec ")) == (1, 2)
        commands = commands.replace("/usr/local/bin/nbspam", str(self.nbspam))
        commands = commands.replace("sievec ", f"sievec -c {self.place}/dovecot.conf ")
        subprocess.run(["sh", "-ec", commands], check=True)
        assert (self.place / "deliver.svbin").exists() and (self.place / "learn.svbin").exists()
        self.own()

    def own(self) -> None:
        """What root has made is the user's."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "nobody:nogroup", self.home], check=True)

    def command(self, program: str, *arguments: str) -> list[str]:
        """A program of Dovecot as this user, with the surroundings that Dovecot gives it."""
        environment = ["env", "-i", f"HOME={self.home}", "USER=jane", "DOVECOT_PRESERVE_ENVS=HOME USER"]
        return [
            *as_user(), *environment, f"{DOVECOT}/{program}", "-c", f"{self.place}/dovecot.conf", *arguments
        ]  # fmt: skip

    def session(self) -> imaplib.IMAP4:
        return imaplib.IMAP4_stream(f"exec {shlex.join(self.command('imap'))} 2>>{self.log}")

    def deliver(self, folder: str, message: bytes) -> None:
        """As a mail server does."""
        command = self.command("dovecot-lda", "-m", folder, "-o", "lda_mailbox_autocreate=yes")
        subprocess.run(command, input=message, check=True, timeout=60)

    def messages(self, folder: str) -> list[bytes]:
        box = self.home / "Maildir" / ("" if folder == "INBOX" else f".{folder}")
        return sorted(path.read_bytes() for part in ("cur", "new") for path in (box / part).iterdir())

    def learned(self, label: str, message: bytes) -> str:
        """What `nbspam learn` says of a message, without its name; it is as LABEL afterwards."""
        command = [self.nbspam, "learn", "-q", "-m", self.model, label]
        return subprocess.run(command, input=message, capture_output=True, check=True).stdout.decode()[:-3]


FOLDERS = ("Junk", "Junk/old", "Work", "Trash", "Deleted Items", "Drafts", "Sent")


@pytest.fixture
def account(tmp_path: Path, installed: Path) -> Account:
    account = Account(tmp_path, installed)
    account.set_up()
    return account


@pytest.fixture
def model(account: Account) -> Path:
    """Small, so that few messages of it are counted; those of the tests are not among them."""
    when = ("today", "soon", "later", "here", "there")
    classes = {"ham": [mail(f"minutes lunch {one}") for one in when]}
    classes["spam"] = [mail(f"pills prize {one}") for one in when]
    folder = write_folders(account.home / "train", classes)
    account.model.parent.mkdir(parents=True)
    subprocess.run([account.nbspam, "train", "-q", folder, "-m", account.model], check=True)
    account.own()
    return account.model


@pytest.fixture
def imap(account: Account) -> Iterator[imaplib.IMAP4]:
    session = account.session()
    for folder in FOLDERS:
        assert session.create(f'"{folder}"')[0] == "OK"
    yield session
    assert session.logout()[0] == "BYE"


def move(imap: imaplib.IMAP4, source: str, target: str, which: str = "1", how: str = "MOVE") -> None:
    """MOVE as new mail programs do, or COPY and removal as old ones do."""
    assert imap.select(f'"{source}"')[0] == "OK"
    assert imap.xatom(how, which, f'"{target}"')[0] == "OK"
    if how == "COPY":
        assert imap.store(which, "+FLAGS", r"\Deleted")[0] == "OK"
        assert imap.expunge()[0] == "OK"


def put(imap: imaplib.IMAP4, folder: str, message: bytes, flags: str = "") -> None:
    assert imap.append(f'"{folder}"', flags, "", message)[0] == "OK"


@pytest.mark.parametrize("how", ["MOVE", "COPY"])
def test_moves_to_and_from_junk_teach(account: Account, model: Path, imap: imaplib.IMAP4, how: str) -> None:
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


def test_delivery_and_other_moves_teach_nothing(account: Account, model: Path, imap: imaplib.IMAP4) -> None:
    before = counts(model)
    account.deliver("Junk", mail("spam that the filter found"))
    account.deliver("INBOX", mail("any mail"))
    for source, target in (("INBOX", "Work"), ("Work", "Trash"), ("Trash", "INBOX")):
        move(imap, source, target)
    for folder in ("INBOX", "Drafts", "Sent"):
        put(imap, folder, mail("written here"))
    for target in ("Trash", "Deleted Items", "Drafts", "Sent"):  # junk that is thrown away is not ham
        move(imap, "Junk", target)
        move(imap, target, "INBOX")
        account.deliver("Junk", mail(f"more spam than {target}"))
    assert counts(model) == before
    assert len(account.messages("Junk")) == 1


def test_mail_is_moved_whole_if_learning_fails(account: Account, imap: imaplib.IMAP4) -> None:
    account.deliver("INBOX", mail("moved before there is a model"))
    (before,) = account.messages("INBOX")
    move(imap, "INBOX", "Junk")
    assert (account.messages("INBOX"), account.messages("Junk")) == ([], [before])
    move(imap, "Junk", "INBOX")
    assert (account.messages("INBOX"), account.messages("Junk")) == ([before], [])
    assert account.log.read_bytes().count(b"[model-missing]") == 2


def test_delivered_mail_is_judged_and_spam_is_filed(account: Account, model: Path) -> None:
    account.deliver("INBOX", mail("pills prize"))
    account.deliver("INBOX", mail("minutes lunch"))
    (spam,), (ham,) = account.messages("Junk"), account.messages("INBOX")
    assert b"X-Nbspam: spam; " in spam and b"\npills prize\n" in spam
    assert b"X-Nbspam: ham; " in ham and b"\nminutes lunch\n" in ham


@pytest.mark.parametrize("program", ["echo half; exit 75", "echo half; kill -9 $$", None])
def test_mail_is_delivered_as_it_came_where_the_filter_fails(account: Account, program: str | None) -> None:
    nbspam = account.place / "nbspam"
    nbspam.unlink()
    if program:
        nbspam.write_text(f"#!/bin/sh\n{program}\n")
        nbspam.chmod(0o755)
    account.deliver("INBOX", mail("pills prize"))
    (message,) = account.messages("INBOX")
    assert b"\npills prize\n" in message
    assert b"X-Nbspam" not in message and b"half" not in message


@needs("spamc")
def test_server_can_learn_instead(account: Account, model: Path, imap: imaplib.IMAP4) -> None:
    told = 'pipe :copy "spamc" ["-x", "-U", "/run/nbspam/socket", "-L", "spam"];'
    assert told in MANUAL
    script = recipe("learn").replace('pipe :copy "nbspam" ["learn", "-q", "spam"];', told)
    script = script.replace('pipe :copy "nbspam" ["learn", "-q", "ham"];', told.replace('"spam"]', '"ham"]'))
    assert script.count("spamc") == 2
    message = mail("told to a server")
    with Server(account.home, "--allow-tell", "--socket-mode", "666", model=model) as server:
        (account.place / "spamc").symlink_to(shutil.which("spamc") or "")
        (account.place / "nbspam").unlink()
        account.set_up(script.replace("/run/nbspam/socket", str(server.path)))
        put(imap, "INBOX", message)
        move(imap, "INBOX", "Junk")
        assert account.learned("spam", message) == "already learned"
        move(imap, "Junk", "INBOX")
        assert account.learned("ham", message) == "already learned"
