"""`nbspam imap` against Dovecot with TLS: nothing is lost, nothing is done twice, and errors are clear."""

import itertools
import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("imapclient")

from nbspam.folders.account import read_accounts
from tests.deploy.agents import unless, what_dovecot_lacks
from tests.deploy.imap_server import PASSWORD, ImapServer
from tests.deploy.recipes import recipe
from tests.server import HAM, SPAM, eventually
from tests.tiny_mail import counts, error, mail, program, run, write_folders

NEEDED = [pytest.mark.debian, unless(what_dovecot_lacks("2.3"))]
pytestmark = NEEDED
JUNK = "Unwanted"  # by its special use only
BASE = "IMAP4rev1 LITERAL+ ENABLE NAMESPACE SPECIAL-USE"
users = (f"user{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ImapServer]]:
    """As Dovecot is; without MOVE and IDLE."""
    capabilities = {"whole": "", "without MOVE": f"{BASE} UIDPLUS"}
    found = {}
    for name, capability in capabilities.items():
        folder = tmp_path_factory.mktemp(name)
        for one in (folder, *folder.parents[:2]):
            one.chmod(one.stat().st_mode | 0o055)
        found[name] = ImapServer(folder, capability)
    yield found
    for server in found.values():
        server.stop()


class Account:
    """A new user of a server, and nbspam set up for it."""

    def __init__(self, server: ImapServer, folder: Path, model: Path) -> None:
        self.server, self.model, self.user = server, model, next(users)
        self.config = folder / "imap.toml"
        self.write()

    def write(self, **changes: object) -> None:
        """The configuration."""
        values: dict[str, object] = {"host": "localhost", "port": self.server.port, "user": self.user}
        values |= {"password_command": f"echo {PASSWORD}", "ca_file": f"{self.server.folder}/localhost.pem"}
        lines = [f"{key} = {value!r}" for key, value in (values | changes).items()]
        self.config.write_text("\n".join(["[home]", *lines, ""]))

    def arguments(self, command: str, *more: object) -> list[object]:
        return ["imap", command, "--config", self.config, "-m", self.model, "-q", *more]

    def put(self, folder: str, messages: list[bytes], flags: tuple[str, ...] = (), days: int = 0) -> None:
        with self.server.client(self.user) as client:
            if not client.folder_exists(folder):
                client.create_folder(folder)
            for message in messages:
                client.append(folder, message, flags, datetime.now() - timedelta(days))

    def mail(self, folder: str) -> list[bytes]:
        """The messages, sorted, and with them those that are to be removed."""
        with self.server.client(self.user) as client:
            client.select_folder(folder, readonly=True)
            found = client.fetch(client.search(), ["BODY.PEEK[]"])
            bodies = [values.get(b"BODY[]") for values in found.values()]
            return sorted(body for body in bodies if body is not None)  # None: removed since the search

    def flags(self, folder: str) -> list[set[bytes]]:
        with self.server.client(self.user) as client:
            client.select_folder(folder, readonly=True)
            return [
                set(flags) - {b"\\Recent"} for _, flags in sorted(client.get_flags(client.search()).items())
            ]

    def move(self, source: str, target: str) -> None:
        """All messages, by another mail program."""
        with self.server.client(self.user) as client:
            client.select_folder(source)
            uids = client.search()
            client.copy(uids, target)
            client.delete_messages(uids)
            client.expunge()


@pytest.fixture
def account(servers: dict[str, ImapServer], tmp_path: Path, model: Path) -> Account:
    return Account(servers["whole"], tmp_path, model)


def crlf(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


def numbered(message: bytes, numbers: range) -> list[bytes]:
    return [crlf(b"Message-ID: <%d@example.org>\n" % number + message) for number in numbers]


def test_spam_is_moved_once_and_stays_unread(account: Account) -> None:
    spam, ham = numbered(SPAM, range(40)), numbered(HAM, range(40))
    account.put("INBOX", [*spam, *ham])
    dry = run(*account.arguments("scan", "--dry-run"))
    assert dry.count("would be moved\tspam\t") == 40
    assert len(account.mail("INBOX")) == 80
    shown = run(*account.arguments("scan"))
    assert (shown.count("moved\tspam\t"), shown.count("kept\tham\t")) == (40, 40)
    assert (account.mail("INBOX"), account.mail(JUNK)) == (sorted(ham), sorted(spam))
    assert account.flags(JUNK) == [{b"$nbspam"}] * 40
    assert run(*account.arguments("scan")) == ""


def test_junk_of_an_account_is_listed_and_stays_unread(account: Account) -> None:
    account.put(JUNK, numbered(SPAM, range(40)))
    account.put(JUNK, numbered(HAM, range(1)))
    account.put(JUNK, numbered(SPAM, range(40, 45)), days=9)
    account.put(JUNK, numbered(SPAM, range(45, 46)), ("\\Deleted",))
    filed = ("filed", "home", "--config", account.config, "-m", account.model, "--json")
    rows = [json.loads(line) for line in run(*filed).splitlines()]
    assert [row["label"] for row in rows] == ["ham"] + ["spam"] * 45
    assert rows[0]["name"] == f"home: {JUNK}/41"
    assert len(run(*filed, "--since", "1w").splitlines()) == 41  # by the server: this mail has no date
    assert [flags for flags in account.flags(JUNK) if flags] == [{b"\\Deleted"}]


def test_mail_that_its_reader_takes_out_of_junk_stays_out_and_is_ham(account: Account) -> None:
    account.put("INBOX", numbered(SPAM, range(1)))
    run(*account.arguments("scan"))
    assert run(*account.arguments("learn")) == ""  # its own verdict, and nobody has read it
    account.move(JUNK, "INBOX")
    assert run(*account.arguments("scan")).startswith("left\tspam\t")
    assert run(*account.arguments("learn")) == "learned\tham\tINBOX/2\n"
    assert account.flags("INBOX") == [{b"$NotJunk", b"$nbspam"}]
    account.move("INBOX", JUNK)
    assert run(*account.arguments("learn")).startswith("moved\tspam\t")
    account.move(JUNK, "INBOX")  # unread all the time
    assert run(*account.arguments("learn")).startswith("moved\tham\t")
    assert run(*account.arguments("learn")) == ""


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("mark", [(), ("$Junk",), ("Junk",)])
def test_mail_that_its_reader_rescues_is_never_learned_as_spam_without_the_memory(
    account: Account, mark: tuple[str, ...], is_read: bool
) -> None:
    account.put("INBOX", numbered(SPAM, range(1)))
    run(*account.arguments("scan"))
    account.put(JUNK, numbered(SPAM, range(1, 2)), ("\\Seen", *mark))  # as the reader has moved it
    assert run(*account.arguments("learn")).startswith("learned\tspam\t")
    account.move(JUNK, "INBOX")  # with all keywords
    if is_read:
        with account.server.client(account.user) as client:
            client.select_folder("INBOX")
            client.add_flags(client.search(), ["\\Seen"])
    Path(f"{account.model}-imap-home.json").unlink()
    lines = run(*account.arguments("learn")).splitlines()
    assert "spam" not in {line.split("\t")[1] for line in lines}
    assert not is_read or lines[0].split("\t")[1] == "ham"


def test_rescued_mail_is_ham_in_a_folder_with_new_numbers(account: Account) -> None:
    account.put("INBOX", numbered(SPAM, range(1)))
    run(*account.arguments("scan"))
    for file in (account.server.folder / "mail" / account.user).glob("dovecot*"):
        if file.is_file() and "keywords" not in file.name:
            file.unlink()
    account.move(JUNK, "INBOX")
    with account.server.client(account.user) as client:
        client.select_folder("INBOX")
        client.add_flags(client.search(), ["\\Seen"])
    assert run(*account.arguments("learn")).startswith("learned\tham\tINBOX/")


def test_flags_and_folders_teach(account: Account) -> None:
    states: list[tuple[str, tuple[str, ...], int, str]] = [
        *((JUNK, (), 0, "spam"), (JUNK, ("\\Seen",), 0, "spam"), ("Spam", (), 0, "spam")),
        *(("INBOX", ("\\Seen",), 0, "ham"), ("INBOX", ("\\Answered",), 0, "ham"), ("Work", (), 8, "ham")),
        *(("Work", ("$NotJunk",), 0, "ham"), ("Work", ("$Junk",), 0, "spam"), ("INBOX", (), 6, "")),
        *(("Trash", ("\\Seen",), 9, ""), ("Sent", ("\\Seen",), 9, ""), ("Entwürfe", ("\\Seen",), 9, "")),
        *(("INBOX", ("\\Seen", "\\Deleted"), 9, ""), ("Quarantine", ("\\Seen",), 9, "")),
    ]
    for number, (folder, flags, days, _) in enumerate(states):
        account.put(folder, [crlf(mail(f"some words {chr(97 + number) * 5}"))], flags, days)
    before = counts(account.model)
    expected = sorted((folder, label) for folder, _, _, label in states if label)
    dry = run(*account.arguments("learn", "--dry-run")).splitlines()
    assert sorted((line.split("\t")[2].split("/")[0], line.split("\t")[1]) for line in dry) == expected
    assert counts(account.model) == before
    lines = run(*account.arguments("learn")).splitlines()
    assert sorted((line.split("\t")[2].split("/")[0], line.split("\t")[1]) for line in lines) == expected
    assert run(*account.arguments("learn")) == ""
    Path(f"{account.model}-imap-home.json").unlink()
    again = run(*account.arguments("learn")).splitlines()
    assert {line.split("\t")[0] for line in again} == {"already learned"}


def test_thousand_messages_while_another_program_moves_mail(account: Account) -> None:
    spam, ham = numbered(SPAM, range(600)), numbered(HAM, range(400))
    folder = account.server.folder / "mail" / account.user
    account.put("INBOX", numbered(HAM, range(400, 401)))  # makes the folder
    ham += account.mail("INBOX")
    for number, message in enumerate([*spam, *ham[:400]]):
        (folder / "new" / f"{1_700_000_000 + number}.M{number}.here").write_bytes(message)
    subprocess.run(["chown", "-R", "nobody:nogroup", folder], check=False)
    account.put("Work", [])

    def interfere() -> None:
        with account.server.client(account.user) as client:
            client.select_folder("INBOX")
            for uid in range(1000, 0, -7):
                client.move([uid], "Work")

    other = threading.Thread(target=interfere)
    other.start()
    shown = run(*account.arguments("scan"))
    other.join()
    shown += run(*account.arguments("scan"))
    assert "moved\tspam\t" in shown and account.mail("Work")
    inbox, junk, work = account.mail("INBOX"), account.mail(JUNK), account.mail("Work")
    assert {*inbox, *junk, *work} == {*spam, *ham}
    for box in (inbox, junk, work):
        assert len(box) == len({*box})
    assert not {*inbox} & {*junk, *work}  # in Dovecot, two MOVEs at the same instant may both succeed
    assert not {*junk} & {*ham} and not {*inbox} & {*spam}


def test_server_without_move_gets_flags(servers: dict[str, ImapServer], tmp_path: Path, model: Path) -> None:
    account = Account(servers["without MOVE"], tmp_path, model)
    account.put("INBOX", numbered(SPAM, range(1)))
    done = program(*account.arguments("scan")[:-1])
    assert b"only flagged" in done.stderr
    assert done.stdout.startswith(b"flagged\tspam\t")
    assert (account.flags("INBOX"), account.mail(JUNK)) == ([{b"$Junk", b"$nbspam"}], [])
    assert run(*account.arguments("learn")) == ""  # its own verdict


def test_each_fault_of_an_account_is_an_error_of_its_own(account: Account) -> None:
    account.put("INBOX", numbered(SPAM, range(1)))

    def slug(status: int, command: str = "scan", **changes: object) -> str:
        account.write(**changes)
        text = error(*account.arguments(command), status=status)
        return text.rpartition("[")[2].strip("]\n")

    assert slug(66, password_command="echo wrong") == "imap-login"
    assert slug(66, password_command="exit 1") == "imap-password"
    assert slug(66, ca_file=f"{account.server.folder}/example.org.pem") == "imap-certificate"
    assert slug(66, host="127.0.0.1") == "imap-certificate"  # it is for another name
    assert slug(66, ca_file="/nowhere") == "imap-ca-file"
    assert slug(66, folders=["Gone"]) == "imap-folder"
    assert slug(75, port=1) == "imap-connection"
    assert slug(65, passwort="x") == "imap-config"
    assert slug(65, port="993") == "imap-config"
    folder = account.server.folder / "mail" / account.user
    (folder / "dovecot-acl").write_text("owner lr\n")
    assert slug(66) == "imap-read-only"
    assert len(account.mail("INBOX")) == 1
    account.write()
    run(*account.arguments("learn"))  # reading is enough


def test_token_and_keyring_log_in(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.put("INBOX", [])
    account.write(token_command=f"echo {PASSWORD}")
    run(*account.arguments("scan"))
    monkeypatch.setattr(
        "keyring.get_password", lambda host, user: f"{PASSWORD}" if user == account.user else ""
    )
    account.write(password_command="")
    run(*account.arguments("scan"))
    assert "xoauth2" in (account.server.folder / "log").read_text().lower()


def test_configuration_of_the_manual_is_understood(tmp_path: Path) -> None:
    (tmp_path / "imap.toml").write_text(recipe("imap"))
    assert read_accounts(str(tmp_path / "imap.toml"))["home"].password_command == "pass show mail/home"


NEWS = mail("this week in the shop: new teas and breads, unsubscribe here")


@pytest.fixture
def sorted_account(account: Account, tmp_path: Path) -> Account:
    """A model of three classes, and the folder of the third."""
    texts = {"ham": HAM, "newsletter": NEWS, "spam": SPAM}
    source = {label: numbered(text, range(100, 120)) for label, text in texts.items()}
    run("train", "-q", "-j1", "--replace", write_folders(tmp_path / "sorted", source), "-m", account.model)
    account.put("Newsletters", [])
    return account


def newsletters(account: Account, command: str, *more: object) -> list[str]:
    """The lines of a command of the manual."""
    (line,) = [line for line in recipe("newsletters").splitlines() if f" {command} " in line]
    return run(*account.arguments(*shlex.split(line)[2:], *more)).splitlines()


def test_each_class_goes_to_its_folder_and_teaches_there(sorted_account: Account) -> None:
    account = sorted_account
    news, ham, spam = numbered(NEWS, range(3)), numbered(HAM, range(3)), numbered(SPAM, range(3))
    account.put("INBOX", [*news, *ham, *spam])
    assert len(newsletters(account, "scan", "--dry-run")) == len(account.mail("INBOX")) == 9
    shown = newsletters(account, "scan")
    assert sorted("\t".join(line.split("\t")[:2]) for line in shown) == [
        *["kept\tham"] * 3,
        *["moved\tnewsletter"] * 3,
        *["moved\tspam"] * 3,
    ]
    assert [account.mail(box) for box in ("INBOX", "Newsletters", JUNK)] == [ham, news, spam]
    assert account.flags("Newsletters") == [set()] * 3
    assert newsletters(account, "learn") == []  # nobody has read it
    account.move("Newsletters", "INBOX")
    assert [line.split("\t")[0] for line in newsletters(account, "scan")] == ["left"] * 3
    assert newsletters(account, "learn") == []
    account.put("Newsletters", numbered(mail("a letter to all customers"), range(3, 4)), ("\\Seen",))
    account.put("INBOX", numbered(mail("a letter to you"), range(4, 5)), ("\\Seen",))
    taught = {tuple(line.split("\t")[:2]) for line in newsletters(account, "learn")}
    assert taught == {("learned", "newsletter"), ("learned", "ham")}
    assert newsletters(account, "learn") == []


def test_class_without_a_folder_is_named_and_wrong_folders_are_errors(sorted_account: Account) -> None:
    account = sorted_account
    account.put("INBOX", numbered(NEWS, range(1)))
    for command in ("scan", "learn"):
        said = program(*account.arguments(command)[:-1]).stderr.decode()
        assert "Mail of newsletter stays, and teaches ham once it is read" in said
    for command in ("scan", "learn", "watch"):
        asked = account.arguments(command, "--class")
        assert "there is no folder Gone" in error(*asked, "newsletter=Gone", status=66)
        assert "[imap-class-folder]" in error(*asked, "newsletter=INBOX", status=64)
        assert "[no-such-class]" in error(*asked, "news=Newsletters", status=64)
        assert "[class-option]" in error(*asked, "newsletter", status=64)
        assert "[class-twice]" in error(*asked, "newsletter=New", "--class", "spam=New", status=64)
    assert len(account.mail("INBOX")) == 1


def test_watch_files_new_mail_of_each_class_and_connects_again(sorted_account: Account) -> None:
    account = sorted_account
    account.put("INBOX", [])
    (line,) = [line for line in recipe("newsletters").splitlines() if " watch " in line]
    asked = [each for each in account.arguments(*shlex.split(line)[2:]) if each != "-q"]
    command = [sys.executable, "-m", "nbspam", *map(str, asked)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            for number in range(2):
                account.put("INBOX", [numbered(text, range(number, number + 1))[0] for text in (SPAM, NEWS)])
                eventually(lambda: account.mail("INBOX") == [])
                account.server.doveadm("kick", account.user)
        finally:
            process.terminate()
        out, err = process.communicate(timeout=60)
    assert "moved\tspam\t" in out
    assert (len(account.mail("Newsletters")), len(account.mail(JUNK))) == (2, 2)
    assert "trying again in 1 s" in err and "Traceback" not in err
