"""Debian's procmail and maildrop, and a shell, deliver by the recipes of the manual, unchanged.

The oracle is the delivery agent itself: without our header field, a mailbox must hold, byte for byte, what
the same agent delivers without the filter.  `make crash` tries 1,000 failures, `make test` fewer.
"""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.deploy.recipes import BROKEN, OWN_FIELD, ROOT, recipe, without_own_field
from tests.programs import needs
from tests.tiny_mail import run, write_folders

pytestmark = pytest.mark.debian

FILTER = recipe("filter")
FILTER_ALONE = FILTER.partition("\n\n")[0] + "\n"
REQUEUE = FILTER.replace("\n\n", f"\n\n{recipe('requeue')}\n", 1)
OF_OTHERS = {
    "bogofilter": recipe("bogofilter"),
    "bogofilter-status": recipe("bogofilter-status"),
    "spamassassin": recipe("spamassassin"),
}
NEEDS_PROCMAIL, NEEDS_MAILDROP, NEEDS_STRACE = map(needs, ("procmail", "maildrop", "strace"))
DELIVERIES = int(os.environ.get("NBSPAM_DELIVERIES", 24))
CALLS = "openat,read,write,pread64,mmap,newfstatat,fcntl,lseek,close"
# What happens at a system call of nbspam: once, or (+) from then on.
FAILURES = [f"signal={name}" for name in ("KILL", "SEGV", "TERM")]
FAILURES += [f"error={name}" for name in ("EIO", "ENOMEM", "ENOSPC", "EMFILE", "EACCES")]


class Mailbox:
    """A place to deliver to: an inbox, .Junk beside it, and a log."""

    def __init__(self, home: Path, installed: Path, model: Path) -> None:
        self.home = home
        self.installed = installed
        self.inbox = "inbox/"
        self.head = f"PATH={installed.parent}:/usr/bin:/bin\nNBSPAM_MODEL={model}\n"

    def lose_model(self) -> None:
        self.head += "NBSPAM_MODEL=missing.nbspam\n"

    def procmail(self, rules: str, message: bytes) -> int:
        """Deliver a message by these rules; the exit status."""
        status = self._procmail(rules, message)
        if status < 0 and self._procmail("", message) < 0:
            pytest.skip("this procmail dies of the message without any rules, too")  # Debian 13, a long line
        return status

    def _procmail(self, rules: str, message: bytes) -> int:
        home = f"MAILDIR={self.home}\nDEFAULT={self.inbox}\nORGMAIL={self.home}/orgmail\nLOGFILE=log\n"
        (self.home / "rc").write_text(self.head + home + rules)
        return subprocess.run(["procmail", "./rc"], input=message, cwd=self.home, timeout=60).returncode

    def maildrop(self, rules: str, message: bytes) -> int:
        """As procmail; the Maildirs have to be there."""
        for folder in ("inbox", "Maildir/.Junk"):
            for part in ("cur", "new", "tmp"):
                (self.home / folder / part).mkdir(parents=True, exist_ok=True)
        head = re.sub(r"=(.*)", r'="\1"', self.head) + f'DEFAULT="{self.home}/inbox"\n'
        # The PATH of the recipe must do; maildrop takes HOME from the list of users.
        rules = rules.replace("$HOME/.local/bin", str(self.installed.parent))
        (self.home / "filter").write_text(head.replace("PATH", "UNUSED", 1) + rules)
        (self.home / "filter").chmod(0o600)
        command = ["maildrop", "./filter"]
        return subprocess.run(
            command, input=message, cwd=self.home, timeout=60, capture_output=True
        ).returncode

    def pipe(self, message: bytes, program: str = "nbspam") -> int:
        """Deliver by the script for Postfix, with `cat` for Dovecot; the exit status."""
        script = recipe("pipe").replace("/usr/lib/dovecot/dovecot-lda -e", "cat >>delivered")
        _, here, script = script.partition("umask")  # the program is in the PATH that these tests set
        assert "cat >>delivered" in script
        (self.home / "spool").mkdir()
        (self.home / "script").write_text(
            f"export TMPDIR={self.home}/spool\n"
            + self.head.replace("NBSPAM_", "export NBSPAM_")
            + here
            + script.replace("nbspam classify", f"{program} classify")
        )
        done = subprocess.run(["sh", "script"], input=message, cwd=self.home, timeout=60, capture_output=True)
        assert list((self.home / "spool").iterdir()) == []
        return done.returncode

    def delivered(self, folder: str) -> list[bytes]:
        """The messages of a Maildir, those of `new`."""
        return sorted(path.read_bytes() for path in (self.home / folder / "new").glob("*"))

    def take(self) -> bytes:
        """The bytes of the inbox, which is emptied: an mbox, or a Maildir of one message."""
        place = self.home / self.inbox
        if place.is_file():
            data = place.read_bytes()
            place.unlink()
            return data
        (message,) = self.delivered(self.inbox)
        shutil.rmtree(place)
        return message


@pytest.fixture
def mailbox(tmp_path: Path, installed: Path, data_model: Path) -> Mailbox:
    """A mailbox with a model."""
    return Mailbox(tmp_path, installed, data_model)


def samples(label: str) -> list[bytes]:
    return sorted(path.read_bytes() for path in sorted((ROOT / "data" / label).glob("*"))[:40:8])


def unmarked(messages: Iterable[bytes]) -> list[bytes]:
    return sorted(map(without_own_field, messages))


@NEEDS_PROCMAIL
def test_filter_recipe_files_ham_in_the_inbox_and_spam_in_junk(mailbox: Mailbox) -> None:
    forged = b"X-Nbspam: spam; probability=1\n\tfolded\n" + samples("ham")[0]
    for message in [forged, *samples("ham")[1:], *samples("spam")]:
        assert mailbox.procmail(FILTER, message) == 0
    assert unmarked(mailbox.delivered("inbox")) == samples("ham")
    assert unmarked(mailbox.delivered(".Junk")) == samples("spam")
    assert all(message.startswith(b"X-Nbspam: ham; ") for message in mailbox.delivered("inbox"))
    assert all(message.startswith(b"X-Nbspam: spam; ") for message in mailbox.delivered(".Junk"))


@NEEDS_PROCMAIL
@pytest.mark.parametrize("page", ["README.md", "docs/procmail.md"])
def test_page_works_as_written_in_a_fresh_account(
    page: str, installed: Path, data_model: Path, tmp_path: Path
) -> None:
    text = (ROOT / page).read_text()
    for place, target in ((".local/bin/nbspam", installed), (".local/share/nbspam/model.nbspam", data_model)):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).symlink_to(target)
    (command,) = re.findall("`(mkdir .*?)`", text)
    subprocess.run(command, shell=True, check=True, env={"HOME": str(tmp_path)})
    blocks = re.findall(r"```procmail\n(.*?)```", text, re.DOTALL)
    (tmp_path / ".procmailrc").write_text("\n".join(blocks[:2]))  # the head, and the first recipe
    maildir = tmp_path / "Maildir"
    for label, folder in (("spam", maildir / ".Junk"), ("ham", maildir)):  # spam first: nothing is there yet
        procmail = ["procmail", f"HOME={tmp_path}", tmp_path / ".procmailrc"]
        subprocess.run(procmail, input=samples(label)[0], check=True, timeout=60, cwd="/")
        (delivered,) = (folder / "new").iterdir()
        assert without_own_field(delivered.read_bytes()) == samples(label)[0]
        assert delivered.read_bytes().startswith(f"X-Nbspam: {label}; ".encode())


@NEEDS_PROCMAIL
def test_newsletter_recipe_files_each_class_in_its_folder(tmp_path: Path, installed: Path) -> None:
    ham, spam = (
        [path.read_bytes() for path in sorted(ROOT.glob(f"data/{name}/*"))] for name in ("ham", "spam")
    )
    news = [message for message in ham if b"\nlist-unsubscribe:" in message.lower()]
    mails = {"ham": [message for message in ham if message not in news], "newsletter": news, "spam": spam}
    run("train", "-q", write_folders(tmp_path / "sorted", mails), "-m", tmp_path / "model")
    mailbox = Mailbox(tmp_path, installed, tmp_path / "model")
    for message in [one for messages in mails.values() for one in messages[:4]]:
        assert mailbox.procmail(f"{FILTER}\n{recipe('newsletters procmail')}", message) == 0
    folders = [mailbox.delivered(name) for name in ("inbox", ".Newsletters", ".Junk")]
    assert list(map(unmarked, folders)) == [sorted(messages[:4]) for messages in mails.values()]


@NEEDS_PROCMAIL
def test_condition_recipe_files_by_exit_status_and_changes_no_byte(mailbox: Mailbox) -> None:
    rules = recipe("condition")
    for message in samples("ham") + samples("spam"):
        assert mailbox.procmail(rules, message) == 0
    assert mailbox.delivered("inbox") == samples("ham")
    assert mailbox.delivered(".Junk") == samples("spam")
    message = samples("spam")[0]
    mailbox.procmail(rules.replace("nbspam classify --exit-code >/dev/null", "cat >seen"), message)
    # The program reads the body, too; a condition gets folded fields as one line each.
    assert (mailbox.home / "seen").read_bytes().split() == message.split()


@NEEDS_PROCMAIL
@pytest.mark.parametrize("name", OF_OTHERS)
def test_recipes_for_other_filters_go_on_working(mailbox: Mailbox, name: str) -> None:
    forged = b"X-Bogosity: Spam, tests=bogofilter\nX-Spam-Status: Yes\nX-Spam-Flag: YES\n"
    rules, ham, spam = OF_OTHERS[name], samples("ham"), samples("spam")
    for message in (forged + ham[0], *ham[1:], *spam):
        assert mailbox.procmail(rules, message) == 0
    assert len(mailbox.delivered("inbox")) == len(ham)
    assert len(mailbox.delivered(".Junk")) == len(spam)
    mailbox.lose_model()
    # If the filter fails, mail waits by bogofilter's own recipe; the others deliver it.
    assert mailbox.procmail(rules, ham[0]) == (75 if name == "bogofilter" else 0)
    assert len(mailbox.delivered(".Junk")) == len(spam)


@NEEDS_PROCMAIL
@pytest.mark.parametrize(
    ("name", "inbox"),
    [
        *[(name, "inbox/") for name in BROKEN],
        *[(name, "inbox.mbox") for name in ("newline", "nul")],
    ],
)
def test_broken_mail_is_delivered_byte_for_byte(mailbox: Mailbox, name: str, inbox: str) -> None:
    mailbox.inbox = inbox
    assert mailbox.procmail(FILTER_ALONE, BROKEN[name]) == 0
    filtered = mailbox.take()
    assert mailbox.procmail("", BROKEN[name]) == 0
    plain = mailbox.take()
    if (name, inbox) == ("newline", "inbox.mbox"):
        plain = b"\n"  # procmail closes an mbox message with an empty line; after our field this is one
    assert without_own_field(filtered) == plain


@NEEDS_PROCMAIL
@pytest.mark.parametrize("name", ["newline", "headers-only", "nul", "mixed-ends", "from-crlf", "forged"])
def test_mail_is_delivered_as_it_came_without_a_model(mailbox: Mailbox, name: str) -> None:
    mailbox.lose_model()
    delivered = []
    for rules in (FILTER, recipe("condition"), ""):
        assert mailbox.procmail(rules, BROKEN[name]) == 0
        delivered.append(mailbox.take())
    assert delivered == delivered[-1:] * 3
    assert (mailbox.home / "log").read_bytes().count(b"[model-missing]") == 2


@NEEDS_PROCMAIL
def test_requeue_recipe_delivers_or_leaves_the_message_in_the_queue(mailbox: Mailbox, tmp_path: Path) -> None:
    message = samples("spam")[0]
    assert mailbox.procmail(REQUEUE, message) == 0
    assert unmarked(mailbox.delivered(".Junk")) == [message]
    shutil.rmtree(tmp_path / ".Junk")
    mailbox.lose_model()
    assert mailbox.procmail(REQUEUE, message) == 75
    assert {path.name for path in tmp_path.iterdir()} == {"rc", "log"}


@NEEDS_MAILDROP
def test_maildrop_recipe_files_ham_and_spam(mailbox: Mailbox) -> None:
    ham, spam = samples("ham")[0], samples("spam")[0]
    for message in (ham, spam):
        assert mailbox.maildrop(recipe("maildrop"), message) == 0
    assert unmarked(mailbox.delivered("inbox")) == [ham]
    assert unmarked(mailbox.delivered("Maildir/.Junk")) == [spam]


@NEEDS_MAILDROP
@pytest.mark.parametrize("name", ["nul", "no-last-newline", "eight-bit", "crlf", "headers-only"])
def test_maildrop_recipe_delivers_broken_mail_byte_for_byte(mailbox: Mailbox, name: str) -> None:
    assert mailbox.maildrop(recipe("maildrop"), BROKEN[name]) == 0
    (filtered,) = mailbox.delivered("inbox") + mailbox.delivered("Maildir/.Junk")
    shutil.rmtree(mailbox.home / "inbox")
    assert mailbox.maildrop("", BROKEN[name]) == 0
    assert [without_own_field(filtered)] == mailbox.delivered("inbox")


@NEEDS_MAILDROP
def test_maildrop_recipe_leaves_mail_in_the_queue_without_a_model(mailbox: Mailbox) -> None:
    mailbox.lose_model()
    assert mailbox.maildrop(recipe("maildrop"), BROKEN["crlf"]) == 75
    assert mailbox.delivered("inbox") == []


@NEEDS_STRACE
@pytest.mark.crash
@pytest.mark.parametrize(
    ("agent", "rules"),
    [
        pytest.param("procmail", FILTER, marks=NEEDS_PROCMAIL, id="filter"),
        pytest.param("procmail", recipe("condition"), marks=NEEDS_PROCMAIL, id="condition"),
        pytest.param("procmail", REQUEUE, marks=NEEDS_PROCMAIL, id="requeue"),
        pytest.param("maildrop", recipe("maildrop"), marks=NEEDS_MAILDROP, id="maildrop"),
    ],
)
def test_no_failure_of_the_program_loses_or_doubles_or_changes_a_message(
    installed: Path, data_model: Path, tmp_path: Path, agent: str, rules: str
) -> None:
    program = tmp_path / "bin" / "nbspam"
    program.parent.mkdir()

    def deliver(message: bytes, options: str) -> int:
        program.write_text(f'#!/bin/sh\nexec strace -o {tmp_path}/calls {options} {installed} "$@"\n')
        program.chmod(0o755)
        box = Mailbox(tmp_path, program, data_model)
        for folder in ("inbox", ".Junk", "Maildir"):
            shutil.rmtree(tmp_path / folder, ignore_errors=True)
        status = getattr(box, agent)(rules, message)
        found = [one for folder in ("inbox", ".Junk", "Maildir/.Junk") for one in box.delivered(folder)]
        whole = [OWN_FIELD.sub(b"", one, count=1) for one in found] == [message]
        assert (status == 0 and whole) or (status == 75 and not found), (options, message[:99], status, found)
        return len(found)

    messages, drawn = samples("ham") + samples("spam"), random.Random(DELIVERIES)
    assert deliver(messages[0], f"-e trace={CALLS}") == 1
    calls = re.findall(r"^(\w+)\(", (tmp_path / "calls").read_text(), re.MULTILINE)
    for _ in range(DELIVERIES // 4):
        call = drawn.choice(sorted(set(calls)))
        when = f"{drawn.randint(1, calls.count(call))}{drawn.choice(['', '+'])}"
        deliver(drawn.choice(messages), f"-e inject={call}:{drawn.choice(FAILURES)}:when={when}")


@pytest.mark.parametrize("name", [name for name in BROKEN if not name.startswith("from-")])  # as Postfix
def test_pipe_recipe_delivers_byte_for_byte(mailbox: Mailbox, name: str) -> None:
    assert mailbox.pipe(BROKEN[name]) == 0
    assert without_own_field((mailbox.home / "delivered").read_bytes()) == BROKEN[name]


@pytest.mark.parametrize(
    "program", ["nbspam", "missing-program", "timeout -s KILL 0.01 sh -c 'echo half; sleep 5'"]
)
def test_pipe_recipe_leaves_mail_in_the_queue_when_the_program_fails(mailbox: Mailbox, program: str) -> None:
    mailbox.lose_model()
    assert mailbox.pipe(BROKEN["crlf"], program) == 75
    assert not (mailbox.home / "delivered").exists()
