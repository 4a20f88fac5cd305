"""Debian's Postfix asks `nbspam serve` through spamass-milter by the recipe of docs/milter.md."""

import base64
import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.deploy.agents import NEEDS, USER, Postfix
from tests.deploy.recipes import ROOT, adapted, recipe
from tests.programs import needs
from tests.server import Server, eventually

pytestmark = [*NEEDS[Postfix], needs("spamass-milter", "swaks")]

HAM, KNOWN_SPAM, SPAM = (
    (ROOT / "data" / name).read_bytes() for name in ("ham/0001.eml", "spam/0137.eml", "spam/0226.eml")
)
_HEADER, _, _TEXT = KNOWN_SPAM.partition(b"\n\n")
LIKELY_SPAM = _HEADER + b"\n\n" + b" ".join(reversed(_TEXT.split()))  # a text that was not learned
KILL = "import os, nbspam.filter as module\nmodule.Filter.judge = lambda *_: os.kill(os.getpid(), 9)"


class Site(Postfix):
    """Postfix, the milter and the server, as the recipe starts them; Postfix itself writes the mailbox."""

    inbox = f"user/{USER}/new"

    def set_up(self) -> None:
        (self.home / "server").mkdir()
        own = f"mailbox_command =\nmail_spool_directory = {self.home}/user/\nmessage_size_limit = 50000000\n"
        place = {"unix:/spamass/spamass.sock": f"unix:{self.home}/milter"}
        self.rules = own + adapted(recipe("milter postfix"), place)
        super().set_up()

    def start_milter(self, *options: str, seconds: int = 30) -> None:
        places = {"/run/nbspam/socket": self.home / "server/socket", " -t 30 ": f" -t {seconds} "}
        text = adapted(recipe("milter options"), places)
        command = ["spamass-milter", "-p", str(self.home / "milter"), *options]
        command += text.strip().removeprefix('OPTIONS="').removesuffix('"').split()
        self.milter = subprocess.Popen(command, umask=0)
        eventually((self.home / "milter").exists)

    def stop_milter(self) -> None:
        self.milter.kill()
        self.milter.wait()
        (self.home / "milter").unlink(missing_ok=True)

    def serve(self, code: str = "") -> Server:
        options = recipe("milter serve").partition("--socket-mode")[2].split()
        return Server(self.home / "server", "--socket-mode", *options, model=self.model, code=code)

    def swaks(self, message: bytes, user: str = USER) -> subprocess.CompletedProcess[bytes]:
        place, to = f"127.0.0.1:{self.port}", f"{user}@example.org"
        command = f"swaks --server {place} --from ann@example.net --to {to} --data - --suppress-data".split()
        return subprocess.run(command, input=message, capture_output=True, timeout=60)

    def arrived(self, message: bytes, user: str = USER) -> bytes:
        """The message as the mailbox has it."""
        self.empty()
        done = self.swaks(message, user)
        assert done.returncode == 0, done.stdout
        eventually(lambda: self.delivered(self.inbox))
        (new,) = self.delivered(self.inbox)
        return new


@pytest.fixture(scope="module")
def site(installed: Path, data_model: Path) -> Iterator[Site]:
    home = Path(mkdtemp(prefix="nbspam-milter-"))  # the folders of pytest are closed to other users
    home.chmod(0o755)
    site = Site(home, installed, data_model)
    try:
        site.start_milter()
        yield site
    finally:
        site.stop_milter()
        site.stop()
        shutil.rmtree(home)


def spam_fields(message: bytes) -> dict[bytes, bytes]:
    """The fields of SpamAssassin in the header."""
    return dict(re.findall(rb"(?m)^(X-Spam-[\w-]+): (.*)$", message.partition(b"\n\n")[0]))


def test_ham_is_marked_and_a_forged_mark_is_gone(site: Site) -> None:
    with site.serve():
        got = site.arrived(b"X-Spam-Flag: YES\nX-Spam-Status: Yes, score=50\n" + HAM)
    assert re.fullmatch(
        rb"No, score=-\d+\.\d+ required=2\.197 .*probability=0\.000\d", spam_fields(got)[b"X-Spam-Status"]
    )
    assert b"X-Spam-Flag" not in spam_fields(got)
    assert got.partition(b"\n\n")[2].rstrip() == HAM.partition(b"\n\n")[2].rstrip()


def test_spam_is_marked_and_rejected_from_the_score_of_the_recipe(site: Site) -> None:
    with site.serve():
        fields = spam_fields(site.arrived(LIKELY_SPAM))
        refused = site.swaks(SPAM)
    assert fields[b"X-Spam-Flag"] == b"YES"
    assert re.fullmatch(
        rb"Yes, score=[3-6]\.\d+ required=2\.197 .*probability=0\.9\d+", fields[b"X-Spam-Status"]
    )
    assert refused.returncode != 0
    assert b"550 5.7.1 Blocked by SpamAssassin" in refused.stdout


def test_spam_goes_to_another_mailbox_and_the_server_hears_the_recipient(site: Site) -> None:
    site.stop_milter()
    site.start_milter("-b", f"{USER}@example.org")
    with site.serve() as server:
        got = site.arrived(LIKELY_SPAM, user="bin")
        eventually(lambda: " user=bin " in server.log)
    assert spam_fields(got)[b"X-Spam-Orig-To"] == b"<bin@example.org>"
    site.stop_milter()
    site.start_milter()


def test_mail_goes_on_without_a_mark_while_the_filter_fails(site: Site) -> None:
    assert not spam_fields(site.arrived(SPAM))  # no server
    with site.serve(KILL) as server:
        assert not spam_fields(site.arrived(SPAM))
        eventually(lambda: re.search(r"worker \d+ ended with -9", server.log))
    site.stop_milter()
    site.start_milter(seconds=1)
    with site.serve() as server:
        workers = server.workers()
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        assert not spam_fields(site.arrived(SPAM))
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
    site.stop_milter()
    assert not spam_fields(site.arrived(SPAM))
    site.start_milter()


def test_large_attachment_is_marked_unless_the_message_is_longer_than_the_server_takes(site: Site) -> None:
    head = HAM.partition(b"Content-Type:")[0] + b"Content-Transfer-Encoding: base64\n\n"
    with site.serve():
        for size, is_marked in ((24_000_000, True), (25_000_000, False)):
            body = base64.encodebytes(random.Random(1).randbytes(size))
            got = site.arrived(head + body)
            assert got.partition(b"\n\n")[2].rstrip() == body.rstrip()
            assert bool(spam_fields(got)) == is_marked


def test_each_of_200_messages_of_20_senders_at_once_is_marked(site: Site) -> None:
    site.empty()
    place, to = f"127.0.0.1:{site.port}", f"{USER}@example.org"
    with site.serve():
        subprocess.run(["smtp-source", "-m", "200", "-s", "20", "-t", to, place], check=True, timeout=60)
        eventually(lambda: not site.waits())
    new = site.delivered(site.inbox)
    assert len(new) == sum(b"X-Spam-Status" in spam_fields(message) for message in new) == 200
