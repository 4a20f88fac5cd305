"""Debian's fetchmail and mbsync bring mail from Dovecot, by the recipes of docs/fetchmail.md."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("imapclient")

from tests.deploy.imap_server import PASSWORD, ImapServer
from tests.deploy.recipes import adapted, recipe, without_own_field
from tests.deploy.test_imap import NEEDED, Account, crlf
from tests.programs import needs
from tests.tiny_mail import counts, mail, run, write_folders

HAM, SPAM = mail("the minutes of Friday about the fence"), mail("pills and cheap watches for you")
pytestmark = NEEDED


class Home(Account):
    """A user with a new ham and a new spam on the server, and what cron does in the home folder."""

    def __init__(self, server: ImapServer, folder: Path, model: Path, installed: Path) -> None:
        super().__init__(server, folder, model)
        self.folder, self.box, self.junk = folder, folder / "Maildir", folder / "Maildir/.Junk"
        self.certificate = server.folder / "localhost.pem"
        (folder / ".local/bin").mkdir(parents=True)
        (folder / ".local/bin/nbspam").symlink_to(installed)
        self.put("Junk", [])
        self.put("INBOX", [crlf(HAM), crlf(SPAM)])

    def write_recipe(self, path: str, name: str, places: dict[str, object]) -> None:
        """A recipe as a file of the home folder, with the user of the test."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(adapted(recipe(name), {"jane@example.org": self.user, **places}))
        (self.folder / path).chmod(0o600)

    def run_cron(self, line: str) -> None:
        """The command of a line of crontab."""
        environment = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "NBSPAM_MODEL": str(self.model)}
        command = ["sh", "-c", line.split(maxsplit=5)[5]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        errors = done.stderr.replace("fetchmail: WARNING: Running as root is discouraged.\n", "")
        assert (done.returncode, done.stdout, errors) == (0, "", "")


@pytest.fixture
def home(open_folder: Path, tmp_path: Path, installed: Path) -> Iterator[Home]:
    classes = {
        name: [text + b"number %d\n" % n for n in range(5)] for name, text in (("ham", HAM), ("spam", SPAM))
    }
    model = tmp_path / "model"
    run("train", "-q", "-j1", write_folders(tmp_path / "train", classes), "-m", model)
    server = ImapServer(open_folder, "")
    yield Home(server, tmp_path, model, installed)
    server.stop()


def only(folder: Path) -> Path:
    """The one message of a Maildir."""
    (found,) = folder.glob("[cn][ue][rw]/*")
    return found


@needs("fetchmail", "procmail")
def test_fetchmail_delivers_by_procmail_and_what_is_read_is_learned(home: Home, installed: Path) -> None:
    places = {
        "imap.example.org": f"localhost service {home.server.port}",
        '"secret" ssl': f'"{PASSWORD}" ssl sslcertfile {home.certificate}',
        "-d %T": home.folder / "rules",  # procmail takes the home folder from the list of users
    }
    home.write_recipe(".fetchmailrc", "fetchmail", places)
    head = f"PATH={installed.parent}:/usr/bin:/bin\nNBSPAM_MODEL={home.model}\n"
    (home.folder / "rules").write_text(f"{head}MAILDIR={home.box}\nDEFAULT={home.box}/\n{recipe('filter')}")
    home.box.mkdir()
    before = counts(home.model)
    home.run_cron(recipe("fetchmail cron"))
    ham = only(home.box)
    for path, message in ((ham, HAM), (only(home.junk), SPAM)):
        assert without_own_field(path.read_bytes()).endswith(message.partition(b"\n")[2])
    assert home.mail("INBOX") == sorted([crlf(HAM), crlf(SPAM)])
    assert counts(home.model) == before
    ham.rename(home.box / f"cur/{ham.name}:2,S")
    home.run_cron(recipe("fetchmail cron"))
    assert counts(home.model) != before
    only(home.box)  # it fetched nothing twice


def without_id(message: bytes) -> bytes:
    """The message without the field that mbsync adds."""
    return re.sub(rb"X-TUID: .*\n", b"", message)


@needs("mbsync")
def test_mbsync_brings_judged_mail_and_what_the_user_moves_stays_there(home: Home) -> None:
    password, port = {"pass show mail/home": f"echo {PASSWORD}"}, home.server.port
    host = f'localhost"\nport = {port}\nca_file = "{home.certificate}"\njunk = "Junk'
    home.write_recipe(".config/nbspam/imap.toml", "imap", {"imap.example.org": host, **password})
    host = f"localhost\nPort {port}\nCertificateFile {home.certificate}"
    home.write_recipe(".mbsyncrc", "mbsync", {"imap.example.org": host, **password})
    before = counts(home.model)
    home.run_cron(recipe("mbsync cron"))
    ham, spam = only(home.box), only(home.junk)
    assert (without_id(ham.read_bytes()), without_id(spam.read_bytes())) == (HAM, SPAM)
    assert counts(home.model) == before
    ham.rename(home.junk / "cur" / f"{ham.name.partition(',U=')[0]}:2,S")
    spam.rename(home.box / "cur" / f"{spam.name.partition(',U=')[0]}:2,")
    for _ in range(3):  # also mail that nobody has read
        home.run_cron(recipe("mbsync cron"))
        spam = only(home.box)
        assert (without_id(spam.read_bytes()), without_id(only(home.junk).read_bytes())) == (SPAM, HAM)
        assert (*map(without_id, home.mail("INBOX") + home.mail("Junk")),) == (crlf(SPAM), crlf(HAM))
    spam.rename(f"{spam}S")
    home.run_cron(recipe("mbsync cron"))
    for label, message in (("spam", HAM), ("ham", SPAM)):
        assert "already learned" in run("learn", label, "-m", home.model, stdin=message)
