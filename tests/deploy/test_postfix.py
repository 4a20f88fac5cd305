"""Debian's Postfix delivers by the recipe of docs/postfix.md, unchanged, and loses nothing.

A mail server of its own, on the loopback address alone, in a folder of the test; it stops with the test.
"""

import shutil
import smtplib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.recipes import BROKEN, adapted, recipe, without_own_field
from tests.programs import needs, needs_root
from tests.server import eventually, free_port
from tests.tiny_mail import mail, write_folders

USER = "nobody"  # Postfix delivers to users of the system, but not as root
PYTHON = "/usr/bin/python3"  # which this user may run, whatever runs the tests
SETTINGS = """
compatibility_level = 3.6
queue_directory = {home}/queue
data_directory = {home}/data
maillog_file = {home}/log
maillog_file_prefixes = {home}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.example.org
mydestination = example.org
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
default_transport = error
minimal_backoff_time = 1s
"""
SERVICES = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
showq unix n - n - - showq
error unix - - n - - error
local unix - n n - - local
postlog unix-dgram n - n - 1 postlogd
"""


RECENT = [PYTHON, "-c", "import sqlite3, sys; sys.exit(sys.version_info < (3, 11))"]
NEEDED = [
    pytest.mark.debian,
    needs_root("starts a mail server"),
    pytest.mark.skipif(subprocess.run(RECENT).returncode != 0, reason=f"{PYTHON} is older than 3.11"),
]
pytestmark = [*NEEDED, needs("postfix")]


class Postfix:
    """A running mail server, which delivers to one user."""

    def __init__(self, home: Path, settings: str) -> None:
        self.home = home
        self.inbox = home / f"user/{USER}"
        self.port = free_port()
        for folder, owner in (("conf", "root"), ("queue", "root"), ("data", "postfix"), ("user", USER)):
            (home / folder).mkdir()
            shutil.chown(home / folder, owner)
        (home / "conf/main.cf").write_text(SETTINGS.format(home=home) + settings)
        (home / "conf/master.cf").write_text(SERVICES.format(port=self.port).lstrip())
        self.run("postfix", "start")

    def run(self, *command: str) -> str:
        """What a command of Postfix says."""
        done = [command[0], "-c", str(self.home / "conf"), *command[1:]]
        return subprocess.run(done, capture_output=True, text=True, timeout=60, check=True).stdout

    def send(self, message: bytes) -> None:
        """The server has taken the message when this returns."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=60) as session:
            session.sendmail("ann@example.net", f"{USER}@example.org", message)

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def waiting(self) -> bool:
        """Whether mail is in the queue."""
        return "is empty" not in self.run("postqueue", "-p")


def write_script(home: Path, installed: Path) -> Path:
    """The manual's script in home/deliver, with `cat` in the place of Dovecot.

    Its program, which the user may read, has the model home/model.nbspam.  Mail goes to home/user/{USER}.
    """
    place, script = home / "program", home / "deliver"
    (package,) = installed.parent.parent.glob("lib/python*/site-packages/nbspam")
    shutil.copytree(package, place / "nbspam")
    _, _, program = installed.read_text().partition("\n")
    (place / "nbspam.py").write_text(program)
    (place / "bin").mkdir()
    command = f'exec {PYTHON} {place}/nbspam.py "$@" -m {home}/model.nbspam'
    (place / "bin/nbspam").write_text(f"#!/bin/sh\n{command}\n")
    (place / "bin/nbspam").chmod(0o755)
    delivery = f"cat >>{home}/user/{USER}"
    changes = {"/usr/local/bin": place / "bin", "/usr/lib/dovecot/dovecot-lda -e": delivery}
    script.write_text(adapted(recipe("pipe"), changes))
    script.chmod(0o755)
    return script


def train(home: Path, installed: Path) -> Path:
    """The model of the script."""
    when = ("today", "soon", "later", "here", "there")
    classes = {"ham": [mail(f"minutes lunch {one}") for one in when]}
    classes["spam"] = [mail(f"pills prize {one}") for one in when]
    folder, model = write_folders(home / "train", classes), home / "model.nbspam"
    subprocess.run([installed, "train", "-q", "--mode", "644", folder, "-m", model], check=True)
    return model


@pytest.fixture
def postfix(installed: Path, open_folder: Path) -> Iterator[Postfix]:
    script = {"/usr/local/bin/nbspam-deliver": write_script(open_folder, installed)}
    server = Postfix(open_folder, adapted(recipe("postfix"), script))
    yield server
    server.run("postfix", "stop")


def test_mail_waits_in_the_queue_until_there_is_a_model(postfix: Postfix, installed: Path) -> None:
    postfix.send(mail("minutes"))
    eventually(lambda: "status=deferred" in postfix.log)
    assert "[model-missing]" in postfix.log
    assert postfix.waiting()
    assert not postfix.inbox.exists()
    train(postfix.home, installed)
    postfix.run("postqueue", "-f")
    eventually(lambda: not postfix.waiting())
    assert b"X-Nbspam: ham; " in postfix.inbox.read_bytes()
    assert b"status=bounced" not in postfix.log.encode()


def test_each_of_many_messages_is_delivered_once_with_its_verdict(postfix: Postfix, installed: Path) -> None:
    train(postfix.home, installed)
    for number in range(20):
        postfix.send(mail(f"pills prize number{number}."))
    eventually(lambda: not postfix.waiting())
    found = postfix.inbox.read_bytes()
    assert [found.count(b"number%d.\n" % number) for number in range(20)] == 20 * [1]
    assert found.count(b"X-Nbspam: spam; ") == 20
    eventually(lambda: "status=sent (delivered to command" in postfix.log)


def test_broken_mail_is_delivered_with_its_verdict(postfix: Postfix, installed: Path) -> None:
    train(postfix.home, installed)
    for name in ("eight-bit", "no-last-newline", "headers-only", "forged", "control"):
        postfix.inbox.unlink(missing_ok=True)
        postfix.send(BROKEN[name])
        eventually(lambda: not postfix.waiting())
        body = BROKEN[name].partition(b"\n\n")[2].rstrip(b"\n")
        assert body in without_own_field(postfix.inbox.read_bytes()), name
