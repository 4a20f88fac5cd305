"""Debian's Exim asks `nbspam serve` and delivers by the script, by the recipes of docs/exim.md, unchanged."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.deploy.recipes import adapted, recipe
from tests.deploy.test_postfix import USER, train, write_script
from tests.deploy.test_postfix import what_is_missing as without_user
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
userforward:
  driver = redirect
  check_local_user
  router_home_directory = {home}/user
  transport_current_directory = /
  file = $home/.forward
  allow_filter
  directory_transport = address_directory
local_user:
  driver = accept
  check_local_user
  transport_current_directory = /
  transport = nbspam
begin transports
address_directory:
  driver = appendfile
  maildir_format
{transport}
begin retry
* * F,1h,1m
"""
SESSION = """EHLO there\r
MAIL FROM:<ann@example.net>\r
RCPT TO:<{user}@mx.example.org>\r
DATA\r
{message}.\r
QUIT\r
"""


def what_is_missing() -> str:
    """'' where Exim can be run."""
    if os.geteuid() != 0 or not Path(EXIM).exists():
        return "exim4 is not installed, or this is not root: as root, make debian"
    done = subprocess.run([EXIM, "-C", "/dev/null", "-bV"], capture_output=True, text=True)
    if done.returncode or "Content_Scanning" not in done.stdout:
        return f"exim4 does not run, or it is not exim4-daemon-heavy: {done.stderr}"
    return without_user()


MISSING = what_is_missing()
pytestmark = [pytest.mark.debian, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


class Exim:
    """A mail server that runs only when it is called, and that delivers to one user."""

    def __init__(self, home: Path, installed: Path) -> None:
        self.home, self.inbox, self.junk = home, home / f"user/{USER}", home / "user/Maildir/.Junk/new"
        text = SETTINGS.format(
            home=home, exim=EXIM, server=recipe("exim server"), transport=recipe("exim transport")
        )
        places = {
            "/usr/local/bin/nbspam-deliver": write_script(home, installed),
            "/run/nbspam/socket": home / "socket",
            "/etc/exim4/nbspam_acl": home / "acl",
        }
        (home / "conf").write_text(adapted(text, places))
        (home / "acl").write_text(recipe("exim acl"))
        for folder, owner in (("spool", "Debian-exim"), ("user", USER)):
            (home / folder).mkdir()
            shutil.chown(home / folder, owner)
        (home / "user/.forward").write_text(recipe("exim forward"))
        shutil.chown(home / "user/.forward", USER)

    def run(self, *options: str, stdin: str = "") -> str:
        """What Exim says."""
        command = [EXIM, "-C", self.home / "conf", *options]
        done = subprocess.run(command, input=stdin.encode(), capture_output=True, timeout=60)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout.decode()

    def send(self, message: bytes) -> None:
        """Exim takes the message and tries to deliver it."""
        text = message.decode().replace("\n", "\r\n")
        said = self.run("-odq", "-bs", stdin=SESSION.format(user=USER, message=text))
        assert "250 OK id=" in said, said
        self.run("-qff")

    @property
    def log(self) -> str:
        return (self.home / "spool/mainlog").read_text()


@pytest.fixture
def exim(installed: Path) -> Iterator[Exim]:
    home = Path(mkdtemp(prefix="nbspam-exim-"))  # the folders of pytest are closed to other users
    home.chmod(0o755)
    try:
        yield Exim(home, installed)
    finally:
        shutil.rmtree(home)


FORGED = b"X-Spam-Flag: YES\nX-Spam-Score: 9\n"


def test_mail_is_taken_without_a_server_and_waits_in_the_queue_until_there_is_a_model(
    exim: Exim, installed: Path
) -> None:
    exim.send(FORGED + mail("minutes"))
    assert "defer (0): Child process of nbspam transport returned 75" in exim.log
    assert "nbspam transport output: nbspam: " in exim.log and "there is no model" in exim.log
    assert not exim.inbox.exists()
    train(exim.home, installed)
    exim.run("-qff")
    assert exim.inbox.read_bytes().startswith(b"X-Nbspam: ham; ")
    assert b"X-Spam-" not in exim.inbox.read_bytes()
    assert exim.run("-bpc") == "0\n"


def test_server_marks_mail_and_the_user_files_it_by_the_mark(exim: Exim, installed: Path) -> None:
    model = train(exim.home, installed)
    with Server(exim.home, "--socket-mode", "666", model=model):
        exim.send(FORGED + mail("minutes lunch"))
        exim.send(FORGED + mail("pills prize"))
    (spam,), ham = [path.read_bytes() for path in exim.junk.iterdir()], exim.inbox.read_bytes()
    assert b"\npills prize\n" in spam and b"\nminutes lunch\n" in ham
    assert re.findall(rb"X-Spam-(.*: -?).*", spam) == [b"Score: ", b"Flag: "]
    assert re.findall(rb"X-Spam-(.*: -?).*", ham) == [b"Score: -"]
    assert b"X-Nbspam: ham; " in ham
