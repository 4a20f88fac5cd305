"""Debian's spamc works with `nbspam serve` as it does with SpamAssassin's spamd."""

import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.recipes import BROKEN, OWN_FIELD, without_own_field
from tests.programs import needs
from tests.server import HAM, PATIENCE, SPAM, Server, eventually
from tests.tiny_mail import counts, mail

pytestmark = [pytest.mark.debian, needs("spamc")]

LEARNED = b"Message successfully un/learned\n"
KNOWN = b"Message was already un/learned\n"
MESSAGES = {
    **{name: BROKEN[name] for name in ("headers-only", "no-header", "crlf", "from-line", "eight-bit")},
    "mixed-ends": b"Subject: s\r\nTo: b\n\r\ntext\n\nmore\r\n\r\n",
    "large": HAM + b"a line of the body\n" * 20_000,
}


@pytest.fixture(scope="module")
def server(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), "--allow-tell", model=trained) as server:
        yield server


def spamc(server: Server, *options: str, stdin: bytes = b"", safe: bool = False) -> tuple[int, bytes]:
    """(exit status, stdout).  safe : a message comes back after a failure; else that has a status"""
    command = ["spamc", *([] if safe else ["-x"]), "-F", "/dev/null", "-U", str(server.path), *options]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout


def marked(server: Server, message: bytes, *options: str) -> bytes:
    """What spamc writes, without our header field, which must be there once."""
    status, data = spamc(server, *options, stdin=message)
    assert status == 0
    return without_own_field(data)


@pytest.mark.parametrize("name", MESSAGES)
def test_message_comes_back_marked_and_otherwise_byte_for_byte(server: Server, name: str) -> None:
    message = MESSAGES[name]
    assert marked(server, message) == message
    # Without a body spamc finds no place for it, and gives its own copy back.
    by_headers = (0, message) if name == "headers-only" else spamc(server, stdin=message)
    assert spamc(server, "--headers", stdin=message) == by_headers


def test_exit_status_and_score_say_what_it_is(server: Server) -> None:
    for message, is_spam, score in ((SPAM, 1, rb"\d+\.\d/2\.2\n"), (HAM, 0, rb"-\d+\.\d/2\.2\n")):
        status, said = spamc(server, "-c", stdin=message)
        assert status == is_spam and re.fullmatch(score, said)
        assert spamc(server, "-E", stdin=message)[0] == is_spam


def test_reports_and_symbols_are_printed(server: Server) -> None:
    status, report = spamc(server, "-R", stdin=SPAM)
    assert status == 0
    first, second = report.split(b"\n")[:2]
    assert first.endswith(b"/2.2")
    assert second.startswith(b"spam: P(spam) 0.")
    assert spamc(server, "-r", stdin=SPAM)[1] == report
    assert spamc(server, "-r", stdin=HAM) == (0, b"")
    assert b"cheap" in spamc(server, "-y", stdin=SPAM)[1].split(b",")
    assert spamc(server, "-K") == (0, b"SPAMD/1.5 0\n")


def test_packed_and_large_messages_come_back_and_longer_ones_are_not_sent(server: Server) -> None:
    large = HAM + random.Random(1).randbytes(2_000_000).hex().encode()
    assert marked(server, large, "-s", "10000000") == large
    assert spamc(server, "-s", "1000", stdin=MESSAGES["large"]) == (0, MESSAGES["large"])
    status, got = spamc(server, "-z", stdin=SPAM)
    if status == 64:
        pytest.skip("this spamc was built without zlib")
    assert without_own_field(got) == SPAM


def test_learning_counts_once_and_needs_permission(server: Server, trained: Path, tmp_path: Path) -> None:
    before, new = counts(trained), mail("an offer of pills")
    for label, said in (
        *(("spam", LEARNED), ("spam", KNOWN), ("ham", LEARNED)),
        *(("forget", LEARNED), ("forget", KNOWN)),
    ):
        assert spamc(server, "-L", label, stdin=new) == (0, said)
    assert counts(trained) == before
    with Server(tmp_path, model=trained) as closed:
        assert spamc(closed, "-L", "spam", stdin=HAM)[0] == 74


def test_damaged_model_is_a_failure_that_loses_no_mail(trained: Path, model: Path, tmp_path: Path) -> None:
    with Server(tmp_path, model=model) as server:
        (tmp_path / "new").write_bytes(b"no model")
        os.replace(tmp_path / "new", model)
        assert spamc(server, stdin=SPAM) == (74, b"")
        assert spamc(server, stdin=SPAM, safe=True) == (0, SPAM)
        os.replace(shutil.copy(trained, tmp_path / "new"), model)
        assert marked(server, SPAM) == SPAM


def test_killed_worker_is_a_failure_that_loses_no_mail(trained: Path, tmp_path: Path) -> None:
    code = "import os, nbspam.filter as module\nmodule.Filter.judge = lambda *_: os.kill(os.getpid(), 9)"
    with Server(tmp_path, model=trained, code=code) as server:
        assert spamc(server, stdin=SPAM) == (74, b"")
        assert spamc(server, stdin=SPAM, safe=True) == (0, SPAM)
        eventually(lambda: re.search(r"worker \d+ ended with -9", server.log))


def test_signal_amid_many_messages_loses_none(model: Path, tmp_path: Path) -> None:
    """spamc reads the whole mail before it connects, so these are caught at every stage."""
    with Server(tmp_path, model=model) as server:
        processes = [
            subprocess.Popen(
                ["spamc", "-F", "/dev/null", "-U", str(server.path), "--connect-retries=1"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )
            for _ in range(40)
        ]  # fmt: skip
        for process in processes:
            assert process.stdin
            process.stdin.write(MESSAGES["large"])
            process.stdin.close()
        eventually(lambda: " PROCESS " in server.log)
        server.process.send_signal(signal.SIGTERM)
        got = [process.stdout.read() for process in processes if process.stdout]
        for process in processes:
            process.wait(PATIENCE)
    assert {OWN_FIELD.sub(b"", data) for data in got} == {MESSAGES["large"]}
