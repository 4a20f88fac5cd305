"""Debian's Exim asks `nbspam serve` and delivers by the script, by the recipes of docs/exim.md, unchanged."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.recipes import adapted, recipe
from tests.deploy.test_postfix import NEEDED, USER, train, write_script
from tests.programs import what_lacks
from tests.server import Server
from tests.tiny_mail import mail

# Debian's package cannot be installed together with Postfix, so make debian only unpacks it.
EXIM = shutil.which("exim4") or "/usr/local/lib/exim4-unpacked/usr/sbin/exim4"
SETTINGS = """
spool_directory = {home}/spool
log_file_path = {home}/spool/%slog
primary_hostname = mx.example.org
keep_environment =
acl_smtp_rcpt = accept
acl_smtp_data = acl_check_data
exim_path = {exim}
{server}
begin acl
acl_check_data:
.include CHECK_DATA_LOCAL_ACL_FILE
  accept
begin routers
local_user:
  driver = accept
  check_local_user
  transport_current_directory = /
  transport = nbspam
begin transports
{transport}
begin retry
* * F,1h,1m
"""
SESSION = "EHLO there\nMAIL FROM:<a@example.net>\nRCPT TO:<{user}@mx.example.org>\nDATA\n{message}.\nQUIT\n"
FORGED = "X-Spam-Flag: YES\nX-Spam-Score: 9\n"


def what_is_missing() -> str:
    """'' if Exim can be run."""
    if missing := what_lacks(EXIM):
        return missing
    done = subprocess.run([EXIM, "-C", "/dev/null", "-bV"], capture_output=True, text=True)
    if done.returncode or "Content_Scanning" not in done.stdout:
        return f"exim4 does not run, or it is not exim4-daemon-heavy: {done.stderr}"
    return ""


MISSING = what_is_missing()
pytestmark = [*NEEDED, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


class Exim:
    """A mail server that runs only when it is called, and that delivers to one user."""

    def __init__(self, home: Path, script: Path) -> None:
        self.home, self.inbox, self.log = home, home / f"user/{USER}", home / "spool/mainlog"
        parts = {"server": recipe("exim server"), "transport": recipe("exim transport")}
        places = {
            "/usr/local/bin/nbspam-deliver": script,
            "/run/nbspam/socket": home / "socket",
            "/etc/exim4/nbspam_acl": home / "acl",
        }
        (home / "conf").write_text(adapted(SETTINGS.format(home=home, exim=EXIM, **parts), places))
        (home / "acl").write_text(recipe("exim acl"))
        for folder, owner in (("spool", "Debian-exim"), ("user", USER)):
            (home / folder).mkdir()
            shutil.chown(home / folder, owner)

    def run(self, *options: str, stdin: str = "") -> str:
        """What Exim says."""
        command = [EXIM, "-C", self.home / "conf", *options]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def send(self, message: str) -> None:
        """Exim takes the message and tries to deliver it."""
        said = self.run("-odq", "-bs", stdin=SESSION.format(user=USER, message=message))
        assert "250 OK id=" in said, said
        self.run("-qff")


@pytest.fixture
def exim(installed: Path, open_folder: Path) -> Exim:
    return Exim(open_folder, write_script(open_folder, installed))


def test_mail_needs_no_server_and_waits_until_there_is_a_model(exim: Exim, installed: Path) -> None:
    exim.send(FORGED + mail("minutes").decode())
    log = exim.log.read_text()
    assert "nbspam transport output: nbspam: " in log and "there is no model" in log
    assert "defer (0): Child process of nbspam transport returned 75" in log
    train(exim.home, installed)
    exim.run("-qff")
    assert exim.inbox.read_bytes().startswith(b"X-Nbspam: ham; ")
    assert b"X-Spam-" not in exim.inbox.read_bytes()
    assert exim.run("-bpc") == "0\n"


def test_server_marks_mail(exim: Exim, installed: Path) -> None:
    with Server(exim.home, "--socket-mode", "666", model=train(exim.home, installed)):
        for words, marks in (("minutes lunch", [b"Score: -"]), ("pills prize", [b"Score: ", b"Flag: "])):
            exim.send(FORGED + mail(words).decode())
            assert re.findall(rb"X-Spam-(.*: -?).*", exim.inbox.read_bytes()) == marks
            exim.inbox.unlink()
