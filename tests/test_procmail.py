"""Debian's procmail and maildrop, and a shell, deliver by the recipes of the README, as they stand there.

The oracle is the delivery agent itself: with our header field taken out, a mailbox must hold, byte
for byte, what the same agent delivers without the filter.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.debian

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN_FIELD = re.compile(rb"X-Nbspam: (ham|spam|unsure); [^\r\n]*\r?\n(?:\t[^\r\n]*\r?\n)*")

BROKEN = {
    "empty": b"",
    "newline": b"\n",
    "newlines": b"\n" * 1000,
    "headers-only": b"Subject: no body and no end of line",
    "empty-body": b"From: a@example.org\nSubject: nothing in it\n\n",
    "no-header": b"\n\na body without a header",
    "no-last-newline": b"Subject: cut\n\nthe last line has no end",
    "nul": b"Subject: nul \0 here\n\nbytes \0\0\0 in the body\n\0",
    "eight-bit": b"Subject: \xff\xfe\xe9t\xe9\n\n\x80\x81\xfe\xff caf\xe9\n",
    "crlf": b"From: a@example.org\r\nSubject: crlf\r\n\r\nline\r\nline\r\n",
    "mixed-ends": b"Subject: mixed\r\nTo: b@example.org\n\r\none\rtwo\nthree\r\n",
    "bare-cr": b"Subject: old\rTo: b@example.org\r\rbody\r",
    "from-line": b"From a@example.org Sat Jan  3 01:05:34 2026\nSubject: mbox\n\nFrom here\n>From quoted\n",
    "from-crlf": b"From a@example.org Sat Jan  3 01:05:34 2026\r\nSubject: mbox\r\n\r\nbody\r\n",
    "from-only": b"From a@example.org Sat Jan  3 01:05:34 2026\n",
    "forged": b"X-Nbspam-Not: ours\nSubject: forged\n\nX-Nbspam: spam; in the body\n",
    "long-line": b"Subject: long\n\n" + b"x" * 300_000 + b"\n",
    "control": b"Subject: \x1b[31mred\x07\n\n\x1b]0;title\x07\n",
}


def recipe(name: str) -> str:
    """The block of the README that is marked so."""
    found = re.search(rf"<!-- recipe: {name} -->\n```\w+\n(.*?)```\n", README, re.DOTALL)
    assert found, name
    return found[1]


@pytest.fixture(scope="module")
def procmail() -> str:
    """Debian's procmail."""
    return _program("procmail")


@pytest.fixture(scope="module")
def maildrop() -> str:
    """Debian's maildrop."""
    return _program("maildrop")


def _program(name: str) -> str:
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: as root, make debian")
    return found


@pytest.fixture(scope="module")
def model(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on data/."""
    path = tmp_path_factory.mktemp("model") / "model.nbspam"
    subprocess.run([installed, "train", "-q", ROOT / "data", "-m", path], check=True)
    return path


class Mailbox:
    """A place to deliver to: an inbox, .Junk beside it, and a log."""

    def __init__(self, home: Path, installed: Path, model: Path, inbox: str = "inbox/") -> None:
        self.home = home
        self.log = home / "log"
        self.head = f"PATH={installed.parent}:/usr/bin:/bin\nNBSPAM_MODEL={model}\n"
        self.procmail_head = (
            self.head + f"MAILDIR={home}\nDEFAULT={inbox}\nORGMAIL={home}/orgmail\nLOGFILE=log\n"
        )

    def procmail(self, rules: str, message: bytes) -> int:
        """Delivers a message by these rules; the exit status."""
        status = self._procmail(rules, message)
        if status < 0 and self._procmail("", message) < 0:
            # Debian 13's does, of a long line.
            pytest.skip("this procmail dies of the message without any rules, too")
        return status

    def _procmail(self, rules: str, message: bytes) -> int:
        (self.home / "rc").write_text(self.procmail_head + rules)
        return subprocess.run(["procmail", "./rc"], input=message, cwd=self.home, timeout=60).returncode

    def maildrop(self, rules: str, message: bytes) -> int:
        """As procmail; the Maildirs have to be there."""
        for folder in ("inbox", "Maildir/.Junk"):
            for part in ("cur", "new", "tmp"):
                (self.home / folder / part).mkdir(parents=True, exist_ok=True)
        head = re.sub(r"=(.*)", r'="\1"', self.head) + f'DEFAULT="{self.home}/inbox"\n'
        filter_file = self.home / "filter"
        filter_file.write_text(head + rules)
        filter_file.chmod(0o600)
        command = ["maildrop", "./filter"]
        return subprocess.run(
            command, input=message, cwd=self.home, timeout=60, capture_output=True
        ).returncode

    def delivered(self, folder: str) -> list[bytes]:
        """The messages of a Maildir, those of `new`."""
        return sorted(path.read_bytes() for path in (self.home / folder / "new").glob("*"))


@pytest.fixture
def mailbox(tmp_path: Path, installed: Path, model: Path) -> Mailbox:
    """A mailbox with a model."""
    return Mailbox(tmp_path, installed, model)


@pytest.fixture
def mailbox_without_model(tmp_path: Path, installed: Path) -> Mailbox:
    """A mailbox whose model is missing."""
    return Mailbox(tmp_path, installed, tmp_path / "missing.nbspam")


def without_own_field(message: bytes) -> bytes:
    """The message with our header field, which has to be there once, taken out."""
    stripped, count = OWN_FIELD.subn(b"", message, count=1)
    assert count == 1, message[:200]
    return stripped


def samples(label: str) -> list[Path]:
    return sorted((ROOT / "data" / label).glob("*"))[:40:8]


def test_the_filter_recipe_files_ham_in_the_inbox_and_spam_in_junk(procmail: str, mailbox: Mailbox) -> None:
    sent = {label: sorted(path.read_bytes() for path in samples(label)) for label in ("ham", "spam")}
    for message in sent["ham"] + sent["spam"]:
        assert mailbox.procmail(recipe("filter"), message) == 0
    assert sorted(map(without_own_field, mailbox.delivered("inbox"))) == sent["ham"]
    assert sorted(map(without_own_field, mailbox.delivered(".Junk"))) == sent["spam"]
    assert all(message.startswith(b"X-Nbspam: ham; ") for message in mailbox.delivered("inbox"))
    assert all(message.startswith(b"X-Nbspam: spam; ") for message in mailbox.delivered(".Junk"))


def test_the_condition_recipe_files_by_exit_status_and_changes_no_byte(
    procmail: str, mailbox: Mailbox
) -> None:
    sent = {label: sorted(path.read_bytes() for path in samples(label)) for label in ("ham", "spam")}
    for message in sent["ham"] + sent["spam"]:
        assert mailbox.procmail(recipe("condition"), message) == 0
    assert mailbox.delivered("inbox") == sent["ham"]
    assert mailbox.delivered(".Junk") == sent["spam"]


def test_the_condition_recipe_gives_nbspam_the_body_too(procmail: str, mailbox: Mailbox) -> None:
    message = samples("spam")[0].read_bytes()
    rules = recipe("condition").replace("nbspam classify --exit-code >/dev/null", "cat >seen")
    assert "cat >seen" in rules
    mailbox.procmail(rules, message)
    seen = (mailbox.home / "seen").read_bytes()
    assert seen.split() == message.split()  # a condition gets folded fields as one line each


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("inbox", ["inbox/", "inbox.mbox"])
def test_broken_mail_is_delivered_byte_for_byte(
    procmail: str, mailbox: Mailbox, name: str, inbox: str, tmp_path: Path
) -> None:
    mailbox.procmail_head = mailbox.procmail_head.replace("DEFAULT=inbox/", f"DEFAULT={inbox}")
    filter_alone = recipe("filter").partition("\n\n")[0] + "\n"
    assert mailbox.procmail(filter_alone, BROKEN[name]) == 0
    filtered = collected(mailbox.home / inbox)
    shutil.rmtree(mailbox.home / "inbox", ignore_errors=True)
    (mailbox.home / "inbox.mbox").unlink(missing_ok=True)
    assert mailbox.procmail("", BROKEN[name]) == 0
    plain = collected(mailbox.home / inbox)
    if (name, inbox) == ("newline", "inbox.mbox"):
        plain = b"\n"  # procmail closes an mbox message with an empty line; after our field this is one
    assert without_own_field(filtered) == plain


def collected(place: Path) -> bytes:
    """The bytes of an mbox, or of the one message of a Maildir."""
    if place.is_file():
        return place.read_bytes()
    (message,) = (place / "new").iterdir()
    return message.read_bytes()


def test_torture_mail_is_delivered_byte_for_byte(
    procmail: str, mailbox: Mailbox, torture_files: list[Path]
) -> None:
    filter_alone = recipe("filter").partition("\n\n")[0] + "\n"
    for path in torture_files[::60]:
        message = path.read_bytes()
        assert mailbox.procmail(filter_alone, message) == 0
        filtered = collected(mailbox.home / "inbox")
        shutil.rmtree(mailbox.home / "inbox")
        assert mailbox.procmail("", message) == 0
        assert without_own_field(filtered) == collected(mailbox.home / "inbox"), path
        shutil.rmtree(mailbox.home / "inbox")


@pytest.mark.parametrize("name", BROKEN)
def test_a_filter_without_a_model_delivers_the_message_as_it_came(
    procmail: str, mailbox_without_model: Mailbox, name: str
) -> None:
    box = mailbox_without_model
    assert box.procmail(recipe("filter"), BROKEN[name]) == 0
    filtered = collected(box.home / "inbox")
    shutil.rmtree(box.home / "inbox")
    assert box.procmail("", BROKEN[name]) == 0
    assert filtered == collected(box.home / "inbox")
    assert b"[model-missing]" in box.log.read_bytes()


def test_a_damaged_model_delivers_the_message_as_it_came(
    procmail: str, mailbox: Mailbox, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.nbspam"
    damaged.write_bytes(b"SQLite format 3\0 and no more")
    mailbox.procmail_head += f"NBSPAM_MODEL={damaged}\n"
    message = samples("spam")[0].read_bytes()
    assert mailbox.procmail(recipe("filter"), message) == 0
    assert mailbox.delivered("inbox") == [message]


def test_the_requeue_recipe_leaves_the_message_to_the_mail_server(
    procmail: str, mailbox_without_model: Mailbox
) -> None:
    box = mailbox_without_model
    first, _, rest = recipe("filter").partition("\n\n")
    rules = f"{first}\n\n{recipe('requeue')}\n{rest}"
    assert box.procmail(rules, samples("spam")[0].read_bytes()) == 75
    assert not (box.home / "inbox").exists()
    assert not (box.home / ".Junk").exists()
    assert not (box.home / "orgmail").exists()


def test_the_requeue_recipe_delivers_where_nothing_fails(procmail: str, mailbox: Mailbox) -> None:
    first, _, rest = recipe("filter").partition("\n\n")
    rules = f"{first}\n\n{recipe('requeue')}\n{rest}"
    message = samples("spam")[0].read_bytes()
    assert mailbox.procmail(rules, message) == 0
    assert list(map(without_own_field, mailbox.delivered(".Junk"))) == [message]


def test_the_condition_recipe_without_a_model_delivers_to_the_inbox(
    procmail: str, mailbox_without_model: Mailbox
) -> None:
    message = samples("spam")[0].read_bytes()
    assert mailbox_without_model.procmail(recipe("condition"), message) == 0
    assert mailbox_without_model.delivered("inbox") == [message]


def test_a_forged_verdict_does_not_survive_the_filter(procmail: str, mailbox: Mailbox) -> None:
    message = samples("ham")[0].read_bytes()
    assert mailbox.procmail(recipe("filter"), b"X-Nbspam: spam; probability=1\n\tfolded\n" + message) == 0
    assert list(map(without_own_field, mailbox.delivered("inbox"))) == [message]


def test_the_maildrop_recipe_files_ham_and_spam(maildrop: str, mailbox: Mailbox) -> None:
    ham, spam = (samples(label)[0].read_bytes() for label in ("ham", "spam"))
    assert mailbox.maildrop(recipe("maildrop"), ham) == 0
    assert mailbox.maildrop(recipe("maildrop"), spam) == 0
    assert list(map(without_own_field, mailbox.delivered("inbox"))) == [ham]
    assert list(map(without_own_field, mailbox.delivered("Maildir/.Junk"))) == [spam]


@pytest.mark.parametrize("name", ["nul", "no-last-newline", "eight-bit", "crlf", "headers-only"])
def test_the_maildrop_recipe_delivers_broken_mail_byte_for_byte(
    maildrop: str, mailbox: Mailbox, name: str
) -> None:
    assert mailbox.maildrop(recipe("maildrop"), BROKEN[name]) == 0
    (filtered,) = mailbox.delivered("inbox") + mailbox.delivered("Maildir/.Junk")
    shutil.rmtree(mailbox.home / "inbox")
    assert mailbox.maildrop("", BROKEN[name]) == 0
    (plain,) = mailbox.delivered("inbox")
    assert without_own_field(filtered) == plain


def test_the_maildrop_recipe_without_a_model_leaves_the_message_in_the_queue(
    maildrop: str, mailbox_without_model: Mailbox
) -> None:
    assert mailbox_without_model.maildrop(recipe("maildrop"), BROKEN["crlf"]) == 75
    assert mailbox_without_model.delivered("inbox") == []


def piped(box: Mailbox, message: bytes, program: str = "nbspam") -> int:
    """Delivers by the script for Postfix, `cat` in the place of Dovecot; the exit status."""
    script = recipe("pipe").replace("/usr/lib/dovecot/dovecot-lda -e", "cat >>delivered")
    _, here, script = script.partition("umask")  # the program is in the PATH that these tests set
    assert "cat >>delivered" in script
    (box.home / "spool").mkdir()
    (box.home / "script").write_text(
        f"export TMPDIR={box.home}/spool\n"
        + box.head.replace("NBSPAM_", "export NBSPAM_")
        + here
        + script.replace("nbspam classify", f"{program} classify")
    )
    done = subprocess.run(["sh", "script"], input=message, cwd=box.home, timeout=60, capture_output=True)
    assert list((box.home / "spool").iterdir()) == []
    return done.returncode


@pytest.mark.parametrize("name", [name for name in BROKEN if not name.startswith("from-")])  # as Postfix
def test_the_pipe_recipe_delivers_byte_for_byte(mailbox: Mailbox, name: str) -> None:
    assert piped(mailbox, BROKEN[name]) == 0
    assert without_own_field((mailbox.home / "delivered").read_bytes()) == BROKEN[name]


@pytest.mark.parametrize("program", ["missing-program", "timeout -s KILL 0.01 sh -c 'echo half; sleep 5'"])
def test_the_pipe_recipe_delivers_nothing_when_the_program_fails_or_is_killed(
    mailbox: Mailbox, program: str
) -> None:
    assert piped(mailbox, b"Subject: to be kept\n\nbody\n", program) == 75
    assert not (mailbox.home / "delivered").exists()


def test_the_pipe_recipe_without_a_model_leaves_the_message_in_the_queue(
    mailbox_without_model: Mailbox,
) -> None:
    assert piped(mailbox_without_model, BROKEN["crlf"]) == 75
    assert not (mailbox_without_model.home / "delivered").exists()
