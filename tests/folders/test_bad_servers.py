"""What an IMAP server answers is data: every answer that is not IMAP is one temporary failure."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("imapclient")

from nbspam.folders import account
from tests.folders.bad_server import BODY, END, SOUND, STATE, BadServer, lines, make_certificate
from tests.tiny_mail import program

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is missing")
Start = Callable[..., list[tuple[int, str]]]
HUGE = b"9" * 5000
SELECT, LITERAL = SOUND["select"], b"* 1 FETCH (UID 1 BODY[]<0> {%b}\r\n" + BODY + b")\r\n" + END


def select(validity: bytes) -> dict[str, bytes]:
    return {"select": SELECT.replace(b"[UIDVALIDITY 7]", validity)}


def listed(*names: bytes) -> dict[str, bytes]:
    return {"list": b"".join(b'* LIST () "/" %b\r\n' % name for name in names) + END}


def stated(values: bytes, uid: bytes = b"1") -> dict[str, bytes]:
    return {"fetch": b"* 1 FETCH (UID %b %b)\r\n" % (uid, values) + END}


# What a server answers in place of what it should; the program may go on, or end with 66 or 75.
ANSWERS: dict[str, dict[str, bytes | None]] = {
    "sound": {},
    "no greeting": {"greeting": None},
    "greeting is not IMAP": {"greeting": b"\x00\xff\r\nSSH-2.0\r\n"},
    "greeting is a web page": {"greeting": b"HTTP/1.1 400 Bad Request\r\n\r\n<html>\r\n"},
    "capability absent": {"greeting": b"* OK\r\n", "capability": END},
    "capability huge": {"greeting": b"* OK [CAPABILITY IMAP4rev1" + b" X" * 700_000 + b"]\r\n"},
    "login refused in binary": {"login": b"TAG NO \xff\xfe\x00\x1b[31m\r\n"},
    "login without a tag": {"login": b"* OK\r\n", "greeting": b"* OK [CAPABILITY IMAP4rev1] x\r\n"},
    "list without a name": {"list": b'* LIST () "/"\r\n' + END},
    "list with NIL": listed(b"NIL"),
    "list without anything": {"list": b"* LIST\r\n" + END},
    "list with bad UTF-7": listed(b'"&AO"', b'"&&&"', b'"&*-"'),
    "list with bytes": listed(b'"\xff\xfe"'),
    "list with controls": listed(b'"a\x01\x1b[2J\tb"'),
    "list with paths": listed(b'".."', b'"../../etc/passwd"', b'"%%s{0}"', b'"--help"'),
    "list with a line end": {"list": b'* LIST () "/" {14}\r\nx\r\nA9 DELETE y\r\n' + END},
    "select without UIDVALIDITY": select(b""),
    "UIDVALIDITY of 5,000 digits": select(b"[UIDVALIDITY %b]" % HUGE),
    "UIDVALIDITY too large": select(b"[UIDVALIDITY 4294967296]"),
    "UIDVALIDITY is 0": select(b"[UIDVALIDITY 0]"),
    "select read-only": {"select": SELECT.replace(b"READ-WRITE", b"READ-ONLY")},
    "select without EXISTS": {"select": SELECT.replace(b"* 2 EXISTS\r\n", b"")},
    "select refused": {"select": b"TAG NO \xff\r\n"},
    "flags that are a number": {"select": SELECT.replace(b"(\\*)", b"3")},
    "search with text": {"search": b"* SEARCH 1 two 3\r\n" + END},
    "search with odd numbers": {"search": b"* SEARCH -1 0 4294967296\r\n" + END},
    "search with a huge number": {"search": b"* SEARCH %b\r\n" % HUGE + END},
    "search without an answer": {"search": END},
    "search refused": {"search": b"TAG BAD \x00\xff\r\n"},
    "search of another tag": {"search": b"ZZZ9 OK done\r\n"},
    "fetch of other messages": stated(STATE, b"999"),
    "fetch twice": {"fetch": b"* 1 FETCH (UID 1 %b)\r\n* 1 FETCH (UID 1 %b)\r\n" % (STATE, STATE) + END},
    "fetch without anything": {"fetch": b"* 1 FETCH\r\n" + END},
    "fetch with NIL": stated(b"FLAGS NIL INTERNALDATE NIL RFC822.SIZE NIL"),
    "flags in flags": stated(STATE.replace(b"\\Seen", b"(1 (2))")),
    "date that is none": stated(STATE.replace(b"01-Jan-2024", b"99-Foo-0000")),
    "size below 0": stated(STATE.replace(b"SIZE 60", b"SIZE -60")),
    "size of 5,000 digits": stated(STATE.replace(b"SIZE 60", b"SIZE " + HUGE)),
    "BODYSTRUCTURE nested": stated(b"BODYSTRUCTURE " + b"(" * 3000 + b")" * 3000),
    "answer that is not closed": stated(b"FLAGS (("),
    "answers not asked for": {
        "search": b"* 9 EXPUNGE\r\n* x\r\n*\r\n\r\n* LIST () / a\r\n" + SOUND["search"]
    },
    "body is a number": {"body": b"* 1 FETCH (UID 1 BODY[]<0> 5)\r\n" + END},
    "body is NIL": {"body": b"* 1 FETCH (UID 1 BODY[]<0> NIL)\r\n" + END},
    "literal too long": {"body": LITERAL % b"9999"},
    "literal of 4 GB": {"body": LITERAL % b"4294967295"},
    "line of 10 MB": {"fetch": b"* 1 FETCH (UID 1 X " + b'"%b"' % (b"a" * 10_000_000) + b")\r\n" + END},
    "store refused": {"store": b"TAG NO \xff\r\n"},
    "store answers oddly": {"store": b"* 1 FETCH (UID x FLAGS 3)\r\n" + END},
    "move refused": {"move": b"TAG NO \xff\r\n"},
    "move is BYE": {"move": b"* BYE\r\n"},
    "idle refused": {"idle": b"TAG BAD\r\n"},
    "idle is odd": {"idle": b"+ x\r\n* \xff\r\n* 1 FETCH (((\r\n"},
    "logout is odd": {"logout": b"\xff\r\n"},
}
TEMPORARY = {  # of these, some that every command must refuse, and after which `watch` connects again
    *(
        "UIDVALIDITY of 5,000 digits",
        "UIDVALIDITY too large",
        "select without UIDVALIDITY",
        "body is a number",
    ),
    *("search with text", "search with odd numbers", "greeting is not IMAP", "literal of 4 GB"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    make_certificate(folder)
    return folder


@pytest.fixture
def start(folder: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Run commands against a server: (exit status, stderr) of each."""
    monkeypatch.setattr(account, "ANSWER_SECONDS", 0.5)
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


def test_a_tab_in_the_name_of_a_folder_names_no_local_folder(
    folder: Path, start: Start, tmp_path: Path
) -> None:
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
        "select": SELECT.replace(b"(\\*)", b"()"),
    }
    with BadServer(folder, answers) as server:
        ((status, text),) = start(server, "scan --flag-only")
    assert status == 64 and remedy in text and "[imap-keywords]" in text
