"""Debian's fetchmail and mbsync bring mail from Dovecot, by the recipes of docs/fetchmail.md."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("imapclient")

from tests.deploy.imap_server import PASSWORD, Dovecot
from tests.deploy.recipes import adapted, recipe, without_own_field
from tests.deploy.test_imap import MISSING, Account, crlf
from tests.tiny_mail import counts, mail, run

HAM, SPAM = mail("the minutes of Friday about the fence"), mail("pills and cheap watches for you")
pytestmark = [pytest.mark.debian, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


@pytest.fixture
def server(open_folder: Path) -> Iterator[Dovecot]:
    server = Dovecot(open_folder, "")
    yield server
    server.stop()


@pytest.fixture
def account(server: Dovecot, tmp_path: Path, model: Path) -> Account:
    """A user with a new ham and a new spam on the server, and with nbspam set up in a home folder."""
    config = tmp_path / ".config/nbspam"
    config.mkdir(parents=True)
    account = Account(server, config, model)
    account.write(junk="Junk")
    account.put("Junk", [])
    account.put("INBOX", [crlf(HAM), crlf(SPAM)])
    return account


class Home:
    """The home folder of this user, and what cron does there."""

    def __init__(self, folder: Path, installed: Path, model: Path) -> None:
        self.folder, self.box, self.junk = folder, folder / "Maildir", folder / "Maildir/.Junk"
        self.environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "NBSPAM_MODEL": str(model)}
        (folder / ".local/bin").mkdir(parents=True)
        (folder / ".local/bin/nbspam").symlink_to(installed)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o600)

    def run(self, line: str) -> None:
        """The command of a line of crontab."""
        command = ["sh", "-c", line.split(maxsplit=5)[5]]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        errors = done.stderr.replace("fetchmail: WARNING: Running as root is discouraged.\n", "")
        assert (done.returncode, done.stdout, errors) == (0, "", "")


@pytest.fixture
def home(tmp_path: Path, installed: Path, model: Path) -> Home:
    return Home(tmp_path, installed, model)


def only(folder: Path) -> Path:
    """The one message of a Maildir."""
    (found,) = (path for part in ("new", "cur") for path in (folder / part).glob("*"))
    return found


@pytest.mark.skipif(not shutil.which("fetchmail"), reason="fetchmail is not installed: as root, make debian")
@pytest.mark.skipif(not shutil.which("procmail"), reason="procmail is not installed: as root, make debian")
def test_fetchmail_delivers_by_procmail_and_what_the_user_reads_is_learned(
    account: Account, home: Home, installed: Path
) -> None:
    places = {
        "imap.example.org": f"localhost service {account.server.port}",
        "jane@example.org": account.user,
        '"secret" ssl': f'"{PASSWORD}" ssl sslcertfile {account.server.folder}/localhost.pem',
        "-d %T": home.folder / "rules",  # procmail takes the home folder from the list of users
    }
    home.write(".fetchmailrc", adapted(recipe("fetchmail"), places))
    head = f"PATH={installed.parent}:/usr/bin:/bin\nNBSPAM_MODEL={account.model}\n"
    home.write("rules", f"{head}MAILDIR={home.box}\nDEFAULT={home.box}/\n{recipe('filter')}")
    home.box.mkdir()
    before = counts(account.model)
    home.run(recipe("fetchmail cron"))
    assert without_own_field(only(home.junk).read_bytes()).endswith(SPAM.partition(b"\n")[2])
    ham = only(home.box)
    assert without_own_field(ham.read_bytes()).endswith(HAM.partition(b"\n")[2])
    assert counts(account.model) == before
    assert account.mail("INBOX") == sorted([crlf(HAM), crlf(SPAM)])
    ham.rename(home.box / f"cur/{ham.name}:2,S")
    home.run(recipe("fetchmail cron"))
    assert counts(account.model) != before
    only(home.box), only(home.junk)


def without_id(message: bytes) -> bytes:
    """The message without the field that mbsync adds."""
    return re.sub(rb"X-TUID: .*\n", b"", message)


@pytest.mark.skipif(not shutil.which("mbsync"), reason="isync is not installed: as root, make debian")
def test_mbsync_brings_judged_mail_and_a_move_is_learned(account: Account, home: Home) -> None:
    certificate = f"CertificateFile {account.server.folder}/localhost.pem"
    places = {
        "imap.example.org": f"localhost\nPort {account.server.port}\n{certificate}",
        "jane@example.org": account.user,
        "pass show mail/home": f"echo {PASSWORD}",
    }
    home.write(".mbsyncrc", adapted(recipe("mbsync"), places))
    before = counts(account.model)
    home.run(recipe("mbsync cron"))
    ham, spam = only(home.box), only(home.junk)
    assert (without_id(ham.read_bytes()), without_id(spam.read_bytes())) == (HAM, SPAM)
    assert counts(account.model) == before
    ham.rename(home.junk / "cur" / f"{ham.name.partition(',U=')[0]}:2,S")
    spam.rename(home.box / "cur" / f"{spam.name.partition(',U=')[0]}:2,")
    for _ in range(3):  # mail that was moved out of Junk stays there, also if nobody has read it
        home.run(recipe("mbsync cron"))
        spam = only(home.box)
        assert (without_id(spam.read_bytes()), without_id(only(home.junk).read_bytes())) == (SPAM, HAM)
        assert without_id(*account.mail("INBOX")) == crlf(SPAM)
        assert without_id(*account.mail("Junk")) == crlf(HAM)
    spam.rename(f"{spam}S")
    home.run(recipe("mbsync cron"))
    for label, message in (("spam", HAM), ("ham", SPAM)):
        assert "already learned" in run("learn", label, "-m", account.model, stdin=message)
