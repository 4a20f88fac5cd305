"""What an IMAP server answers is data: every answer that is not IMAP is one temporary failure."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("imapclient")

from nbspam.corpus.folder_names import JUNK, SENT, UNCLEAR
from nbspam.folders import account
from tests.folders.bad_server import BODY, END, SOUND, STATE, BadServer, lines
from tests.laws.escapes import read_lines, unescape
from tests.tiny_mail import program

Start = Callable[..., list[tuple[int, str]]]
HUGE = b"9" * 5000
PLACES = {b"{huge}": HUGE, b"{end}": END, b"{state}": STATE, b"{body}": BODY}


def listed(*names: bytes) -> dict[str, bytes]:
    return {"list": b"".join(b'* LIST () "/" %b\r\n' % name for name in names) + END}


def read_answers() -> dict[str, dict[str, bytes | None]]:
    """Name -> what a server answers to commands in place of what it should."""
    found: dict[str, dict[str, bytes | None]] = {"sound": {}}
    for line in read_lines(Path(__file__).with_name("answers.txt"))["answers"]:
        name, _, answer = line.partition(" → ")
        command, _, text = answer.partition(": ")
        old, arrow, new = map(unescape, text.partition(" ⇒ "))
        data = SOUND[command].replace(old, new) if arrow else old
        for place, value in PLACES.items():
            data = data.replace(place, value)
        found.setdefault(name, {})[command] = None if data == b"nothing" else data
    return found


ANSWERS = read_answers() | {
    "capability huge": {"greeting": b"* OK [CAPABILITY IMAP4rev1" + b" X" * 700_000 + b"]\r\n"},
    "BODYSTRUCTURE nested": {
        "fetch": b"* 1 FETCH (UID 1 BODYSTRUCTURE " + b"(" * 3000 + b")" * 3000 + b")\r\n" + END
    },
    "line of 10 MB": {"fetch": b"* 1 FETCH (UID 1 X " + b'"%b"' % (b"a" * 10_000_000) + b")\r\n" + END},
}
TEMPORARY = {  # of these, some that every command must refuse, and after which `watch` connects again
    *("UIDVALIDITY of 5,000 digits", "UIDVALIDITY too large", "select without UIDVALIDITY"),
    *("search with text", "search with odd numbers", "greeting is not IMAP", "literal of 4 GB"),
    "body is a number",
}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is waited for; a busy machine may then give none in time."""
    monkeypatch.setattr(account, "ANSWER_SECONDS", 0.5)


@pytest.fixture
def start(folder: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Run commands against a server: (exit status, stderr) of each."""
    monkeypatch.setattr("nbspam.cli.imap.LEARN_SECONDS", 0.01)

    def start(server: BadServer, *commands: str) -> list[tuple[int, str]]:
        config = tmp_path / "imap.toml"
        config.write_text("\n".join(lines(folder, server.port)))
        delays: list[float] = []

        def sleep(seconds: float) -> None:
            delays.append(seconds)
            if len(delays) == 2:
                raise KeyboardInterrupt

        clock = SimpleNamespace(sleep=sleep, monotonic=time.monotonic)
        monkeypatch.setattr("nbspam.cli.imap.time", clock)
        found = []
        for command in commands:
            shutil.copy(model, tmp_path / command)
            done = program("imap", *command.split(), "--config", config, "-m", tmp_path / command)
            found.append((done.returncode, done.stderr.decode()))
        return found

    return start


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("name", ANSWERS)
def test_no_answer_is_a_fault_of_ours(folder: Path, start: Start, name: str) -> None:
    with BadServer(folder, ANSWERS[name]) as server:
        learn, scan, *watch = start(server, "learn", "scan", *["watch"] * (name in TEMPORARY))
    for status, text in (learn, scan):
        assert status in (0, 66, 75), (status, text)
        assert "Traceback" not in text and "\x1b" not in text
        assert status == 0 or "nbspam: home: " in text
    if name in TEMPORARY:
        assert 75 in (learn[0], scan[0])
        assert [(status, text.count("trying again")) for status, text in watch] == [(130, 2)]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("command", ["greeting", "list", "body"])
@pytest.mark.parametrize("kind", ["slow", "endless"])
def test_an_answer_has_a_deadline_and_a_size(folder: Path, start: Start, command: str, kind: str) -> None:
    line = b"* OK " + b"x" * 60_000 + b"\r\n"
    answers = {command: b"* OK x" if kind == "slow" else line}
    with BadServer(
        folder, answers, endless=command * (kind == "endless"), slow=command * (kind == "slow")
    ) as server:
        ((status, text),) = start(server, "learn")
    assert status == 75 and "[imap-connection]" in text


def test_tab_in_name_of_folder_names_no_local_folder(folder: Path, start: Start, tmp_path: Path) -> None:
    with BadServer(folder, listed(b'"a\t/etc"')) as server:
        assert start(server, "learn")[0][0] == 0
    assert b"imap home/a /etc" in program("log", "-m", tmp_path / "learn", "--json").stdout


@pytest.mark.parametrize("said", [b"[INUSE] locked", b"[NOPERM]", b"no such thing"])
def test_folder_that_is_listed_and_not_opened_is_no_empty_folder(
    folder: Path, start: Start, said: bytes
) -> None:
    with BadServer(folder, {"select": b"TAG NO " + said + b"\r\n"}) as server:
        ((status, text),) = start(server, "learn")
    assert status == 75 and "cannot be opened" in text


@pytest.mark.parametrize("body", [b"NIL", b"{0}\r\n", b'""'])
def test_new_mail_without_a_text_is_asked_for_again(folder: Path, start: Start, body: bytes) -> None:
    none = {"body": b"* 1 FETCH (UID 1 BODY[]<0> %b)\r\n" % body + END}
    with BadServer(folder, none) as server:
        assert start(server, "scan")[0][0] == 75
        assert "gives no text of message 1" in start(server, "scan")[0][1]


@pytest.mark.parametrize(("extensions", "remedy"), [(b"MOVE", "leave out --flag-only"), (b"", "imap learn")])
def test_server_without_keywords_is_an_error_with_the_next_step(
    folder: Path, start: Start, extensions: bytes, remedy: str
) -> None:
    answers = {
        "greeting": b"* OK [CAPABILITY IMAP4rev1 " + extensions + b"] ready\r\n",
        "capability": b"* CAPABILITY IMAP4rev1 " + extensions + b"\r\n" + END,
        "select": SOUND["select"].replace(b"(\\*)", b"()"),
    }
    with BadServer(folder, answers) as server:
        ((status, text),) = start(server, "scan --flag-only")
    assert status == 64 and remedy in text and "[imap-keywords]" in text


def test_use_that_the_server_names_outweighs_the_name(folder: Path, tmp_path: Path) -> None:
    uses = {b"\\Important": b"Anna", b"\\Junk": b"Bert", b"\\Sent": b"Spam", b"": b'"&2D3eqw- Junk"'}
    found = b"".join(b'* LIST (%b) "/" %b\r\n' % pair for pair in uses.items()) + END
    config = tmp_path / "imap.toml"
    with BadServer(folder, {"list": found}) as server:
        config.write_text("\n".join(lines(folder, server.port)))
        with account.ImapMailbox(account.read_accounts(str(config))["home"]) as box:
            kinds = {"Anna": UNCLEAR, "Bert": JUNK, "Spam": SENT, "\U0001f6ab Junk": JUNK}
            assert box.folders() == kinds
