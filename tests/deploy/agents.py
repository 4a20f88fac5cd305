"""Programs that deliver mail by the recipes of the manual: what configures each, and where mail then lies."""

import imaplib
import os
import re
import shlex
import shutil
import smtplib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from tests.deploy.recipes import adapted, configuration, recipe
from tests.programs import needs, needs_root, what_lacks
from tests.server import eventually, free_port

USER = "nobody"  # mail servers deliver to users of the system, but not as root
PYTHON = "/usr/bin/python3"  # which this user may run, whatever runs the tests
DOVECOT = Path("/usr/lib/dovecot")
# Debian's package cannot be installed together with Postfix, so make debian only unpacks it.
EXIM = shutil.which("exim4") or "/usr/local/lib/exim4-unpacked/usr/sbin/exim4"


class Agent:
    """A delivery program with a home folder: its model is there, and bin/nbspam, which a test may break.

    rules : those of the recipe; "" delivers without nbspam, if the program can
    """

    inbox: ClassVar[str] = "inbox/new"
    junk: ClassVar[str] = ".Junk/new"
    keeps_bytes: ClassVar[bool] = True  # mail servers add fields and end lines in their way

    def __init__(self, home: Path, installed: Path, model: Path, rules: str = "") -> None:
        self.home, self.installed, self.rules = home, installed, rules
        self.program, self.model = home / "bin/nbspam", home / ".local/share/nbspam/model.nbspam"
        for path in (self.program, self.model):
            path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(model, self.model)
        self.repair()
        self.set_up()

    def set_up(self) -> None:
        """Write what the program reads before the first message."""

    def stop(self) -> None:
        """End what runs."""

    def repair(self) -> None:
        """The program is nbspam."""
        self.program.unlink(missing_ok=True)
        self.program.symlink_to(self.installed)

    def become(self, script: str) -> None:
        """The program is another one; "" removes it."""
        self.program.unlink()
        if script:
            self.program.write_text(f"#!/bin/sh\n{script}\n")
            self.program.chmod(0o755)

    def run(self, *command: str, message: bytes) -> int:
        """The exit status."""
        return subprocess.run(
            command, input=message, cwd=self.home, timeout=60, stdout=subprocess.DEVNULL
        ).returncode

    def deliver(self, message: bytes) -> int:
        """The exit status: 75 if the message waits in the queue of the mail server."""
        raise NotImplementedError

    def retry(self, messages: Sequence[bytes]) -> None:
        """Deliver what has waited."""
        assert [self.deliver(message) for message in messages] == [0] * len(messages)

    def delivered(self, folder: str) -> list[bytes]:
        """The messages in the inbox or in the folder of spam."""
        return sorted(path.read_bytes() for path in (self.home / folder).glob("*"))

    def empty(self) -> None:
        """Remove what was delivered."""
        for place in {self.inbox, self.junk}:
            for path in (self.home / place).glob("*"):
                path.unlink()


class Procmail(Agent):
    """Reads ./rc; makes its folders itself."""

    default = "inbox/"

    def deliver(self, message: bytes) -> int:
        status = self._deliver(self.rules, message)
        if status < 0 and self._deliver("", message) < 0:
            pytest.skip("this procmail dies of the message without any rules, too")  # Debian 13, a long line
        return status

    def _deliver(self, rules: str, message: bytes) -> int:
        text = configuration("procmail", home=self.home, model=self.model, default=self.default, rules=rules)
        (self.home / "rc").write_text(text)
        return self.run("procmail", "./rc", message=message)


class Maildrop(Agent):
    """Takes HOME from the list of users, so the PATH of the recipe gets the folder of the test."""

    junk = "Maildir/.Junk/new"

    def set_up(self) -> None:
        for folder in (self.inbox, self.junk):
            for part in ("cur", "new", "tmp"):
                (self.home / folder).with_name(part).mkdir(parents=True)

    def deliver(self, message: bytes) -> int:
        rules = self.rules.replace("$HOME/.local/bin", str(self.program.parent))
        (self.home / "filter").write_text(
            configuration("maildrop", home=self.home, model=self.model, rules=rules)
        )
        (self.home / "filter").chmod(0o600)
        return self.run("maildrop", "./filter", message=message)


class Pipe(Agent):
    """The script for mail servers, with `cat` in the place of Dovecot: all mail lies in one folder."""

    junk = "inbox/new"

    def set_up(self) -> None:
        for folder in ("inbox/new", "spool"):
            (self.home / folder).mkdir(parents=True)
            (self.home / folder).chmod(0o777)
        own = f"export NBSPAM_MODEL={self.model} TMPDIR={self.home}/spool\nPATH={self.program.parent}:"
        delivery = f"cat >{self.home}/inbox/new/$$"
        changes = {"PATH=$HOME/.local/bin:": own, "/usr/lib/dovecot/dovecot-lda -e": delivery}
        self.script = self.home / "deliver"
        self.script.write_text(adapted(recipe("pipe"), changes))
        self.script.chmod(0o755)

    def deliver(self, message: bytes) -> int:
        status = self.run(str(self.script), message=message)
        assert list((self.home / "spool").iterdir()) == []
        return status


class MailServer(Pipe):
    """Delivers by the script to a user of the system, who must be able to read the program."""

    keeps_bytes = False

    def repair(self) -> None:
        package = self.home / "program"
        if not package.exists():
            (source,) = self.installed.parent.parent.glob("lib/python*/site-packages/nbspam")
            shutil.copytree(source, package / "nbspam")
            (package / "nbspam.py").write_text(self.installed.read_text().partition("\n")[2])
        self.program.touch()
        self.become(f'exec {PYTHON} {package}/nbspam.py "$@"')


class Postfix(MailServer):
    """A mail server on the loopback address alone."""

    def __init__(self, home: Path, installed: Path, model: Path, rules: str = "") -> None:
        self.port = free_port()
        super().__init__(home, installed, model, rules)

    def set_up(self) -> None:
        super().set_up()
        settings = self.rules or adapted(recipe("postfix"), {"/usr/local/bin/nbspam-deliver": self.script})
        for folder, owner in (("conf", "root"), ("queue", "root"), ("data", "postfix"), ("user", USER)):
            (self.home / folder).mkdir()
            shutil.chown(self.home / folder, owner)
        (self.home / "conf/main.cf").write_text(configuration("postfix.main", home=self.home) + settings)
        (self.home / "conf/master.cf").write_text(configuration("postfix.master", port=self.port))
        self.call("postfix", "start")

    def stop(self) -> None:
        self.call("postfix", "stop")

    def call(self, *command: str) -> str:
        """What a command of Postfix says."""
        done = [command[0], "-c", str(self.home / "conf"), *command[1:]]
        return subprocess.run(done, capture_output=True, text=True, timeout=60, check=True).stdout

    def waits(self) -> bool:
        """True if mail is in the queue."""
        return "is empty" not in self.call("postqueue", "-p")

    def deliver(self, message: bytes) -> int:
        before = self.log.count("status=deferred")
        self.send(message)
        eventually(lambda: not self.waits() or self.log.count("status=deferred") > before)
        assert "status=bounced" not in self.log
        return 75 if self.log.count("status=deferred") > before else 0

    def send(self, message: bytes) -> None:
        """The server has taken the message when this returns."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=60) as session:
            session.sendmail("ann@example.net", f"{USER}@example.org", message)

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def retry(self, messages: Sequence[bytes]) -> None:
        self.call("postqueue", "-f")
        eventually(lambda: not self.waits())


class Exim(MailServer):
    """Runs only when it is called."""

    def set_up(self) -> None:
        super().set_up()
        (self.home / "spool").chmod(0o777)
        (self.home / "exim").mkdir()
        shutil.chown(self.home / "exim", "Debian-exim")
        parts = {"server": recipe("exim server"), "transport": recipe("exim transport")}
        places = {
            "/usr/local/bin/nbspam-deliver": self.script,
            "/run/nbspam/socket": self.home / "socket",
            "/etc/exim4/nbspam_acl": self.home / "acl",
        }
        text = configuration("exim", home=self.home, exim=EXIM, **parts)
        (self.home / "conf").write_text(adapted(text, places))
        (self.home / "acl").write_text(recipe("exim acl"))

    def call(self, *options: str, stdin: bytes = b"") -> bytes:
        """What Exim says."""
        command = [EXIM, "-C", self.home / "conf", *options]
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=60)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def deliver(self, message: bytes) -> int:
        before = int(self.call("-bpc"))
        text = re.sub(rb"(?m)^\.", b"..", message.replace(b"\r\n", b"\n"))
        text += b"\n" * (not text.endswith(b"\n"))
        envelope = f"EHLO there\nMAIL FROM:<a@example.net>\nRCPT TO:<{USER}@mx.example.org>\nDATA\n".encode()
        said = self.call("-odq", "-bs", stdin=envelope + text + b".\nQUIT\n")
        assert b"250 OK id=" in said, said
        self.call("-qff")
        return 75 if int(self.call("-bpc")) > before else 0

    def retry(self, messages: Sequence[bytes]) -> None:
        self.call("-qff")


class Dovecot(Agent):
    """Dovecot's delivery program, and its IMAP server over a pipe: no port, and no process that stays."""

    inbox, junk, keeps_bytes = "Maildir/new", "Maildir/.Junk/new", False

    def set_up(self, script: str = "") -> None:
        """The three blocks of docs/dovecot.md; this user's folder replaces Dovecot's."""
        self.log, place, here = self.home / "dovecot.log", "/etc/dovecot/nbspam", str(self.home / "etc")
        os.makedirs(here, exist_ok=True)
        version = dovecot_version()
        blocks = {
            "dovecot.conf": configuration(
                f"dovecot.{version}", home=self.home, recipe=recipe(f"dovecot {version}")
            ).replace(place, here),
            "deliver.sieve": recipe("deliver"),
            "learn.sieve": script or recipe("learn"),
        }
        for name, text in blocks.items():
            Path(here, name).write_text(text)
        commands = recipe("compile").replace(place, here).replace("doveadm reload\n", "")
        assert (commands.count("/usr/local/bin/nbspam"), commands.count("sievec ")) == (1, 2)
        commands = commands.replace("ln -s /usr/local/bin/nbspam", f"ln -sf {self.program}")
        commands = commands.replace("sievec ", f"sievec -c {here}/dovecot.conf ")
        subprocess.run(["sh", "-ec", commands], check=True)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "nobody:nogroup", self.home], check=True)

    def command(self, program: str, *arguments: str) -> list[str]:
        """A program of Dovecot as this user, with the surroundings that Dovecot gives it."""
        user = ["env", "-i", f"HOME={self.home}", "USER=jane", "DOVECOT_PRESERVE_ENVS=HOME USER"]
        return [*as_user(), *user, f"{DOVECOT}/{program}", "-c", f"{self.home}/etc/dovecot.conf", *arguments]

    def session(self) -> imaplib.IMAP4:
        return imaplib.IMAP4_stream(f"exec {shlex.join(self.command('imap'))} 2>>{self.log}")

    def deliver(self, message: bytes, folder: str = "INBOX") -> int:
        command = self.command("dovecot-lda", "-m", folder, "-o", "lda_mailbox_autocreate=yes")
        return self.run(*command, message=message)

    def messages(self, folder: str) -> list[bytes]:
        """All of a folder: those of Maildir are in INBOX."""
        box = self.home / "Maildir" / ("" if folder == "INBOX" else f".{folder}")
        return sorted(path.read_bytes() for part in ("cur", "new") for path in (box / part).iterdir())

    def learned(self, label: str, message: bytes) -> str:
        """What `nbspam learn` says of a message, without its name; it is as LABEL afterwards."""
        command = [self.installed, "learn", "-q", "-m", self.model, label]
        return subprocess.run(command, input=message, capture_output=True, check=True).stdout.decode()[:-3]


def as_user() -> list[str]:
    """Dovecot refuses to work for root: nobody it is then, who may enter the folders of the tests."""
    if os.geteuid() != 0:
        return []
    user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    rights = ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return ["setpriv", *user, *rights]


def dovecot_version() -> str:
    """2.3 or 2.4, say."""
    told = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=True).stdout
    return ".".join(told.split(".")[:2])


def what_dovecot_lacks(*versions: str) -> str:
    """'' if Dovecot of one of these versions can be run."""
    if missing := what_lacks("dovecot", f"{DOVECOT}/imap", "sievec", "openssl"):
        return missing
    if dovecot_version() not in versions:
        return f"the settings are for Dovecot {' and '.join(versions)}, and this is {dovecot_version()}"
    allowed = subprocess.run([*as_user(), "true"], capture_output=True).returncode == 0
    return "" if allowed else "root may not become another user here"


def what_exim_lacks() -> str:
    """'' if Exim can be run."""
    if missing := what_lacks(EXIM):
        return missing
    done = subprocess.run([EXIM, "-C", "/dev/null", "-bV"], capture_output=True, text=True)
    if done.returncode or "Content_Scanning" not in done.stdout:
        return f"exim4 does not run, or it is not exim4-daemon-heavy: {done.stderr}"
    return ""


def unless(missing: str) -> pytest.MarkDecorator:
    """Skip a test of which something is missing."""
    return pytest.mark.skipif(bool(missing), reason=missing)


_RECENT = [PYTHON, "-c", "import sqlite3, sys; sys.exit(sys.version_info < (3, 11))"]
SERVER = [
    pytest.mark.debian,
    needs_root("starts a mail server"),
    unless(f"{PYTHON} is older than 3.11" if subprocess.run(_RECENT).returncode else ""),
]
NEEDS: dict[type[Agent], list[pytest.MarkDecorator]] = {
    Procmail: [pytest.mark.debian, needs("procmail")],
    Maildrop: [pytest.mark.debian, needs("maildrop")],
    Pipe: [pytest.mark.debian],
    Postfix: [*SERVER, needs("postfix")],
    Exim: [*SERVER, unless(what_exim_lacks())],
    Dovecot: [pytest.mark.debian, unless(what_dovecot_lacks("2.3", "2.4"))],
}

FILTER = recipe("filter")
REQUEUE = FILTER.replace("\n\n", f"\n\n{recipe('requeue')}\n", 1)
AS_IT_CAME, WAITS = 0, 75
# recipe -> the agent, its rules, and what becomes of mail if nbspam fails
WAYS: dict[str, tuple[type[Agent], str, int]] = {
    "filter": (Procmail, FILTER, AS_IT_CAME),
    "condition": (Procmail, recipe("condition"), AS_IT_CAME),
    "requeue": (Procmail, REQUEUE, WAITS),
    "bogofilter": (Procmail, recipe("bogofilter"), WAITS),
    "bogofilter-status": (Procmail, recipe("bogofilter-status"), AS_IT_CAME),
    "spamassassin": (Procmail, recipe("spamassassin"), AS_IT_CAME),
    "maildrop": (Maildrop, recipe("maildrop"), WAITS),
    "pipe": (Pipe, "", WAITS),
    "postfix": (Postfix, "", WAITS),
    "exim": (Exim, "", WAITS),
    "dovecot": (Dovecot, "", AS_IT_CAME),
}
MARK_NOTHING = ("condition", "bogofilter-status")  # they decide by the exit status


def each_way(*names: str) -> pytest.MarkDecorator:
    """Run a test for each of these ways, or for all."""
    params = [pytest.param(name, marks=NEEDS[WAYS[name][0]]) for name in names or WAYS]
    return pytest.mark.parametrize("way", params)
