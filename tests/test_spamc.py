"""Debian's spamc and a server of ours: it works as it does with SpamAssassin's."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_serve import HAM, PATIENCE, SPAM, Server, eventually, tiny_model
from tiny_mail import counts, mail

pytestmark = [
    pytest.mark.debian,
    pytest.mark.skipif(shutil.which("spamc") is None, reason="spamc is not installed (make debian)"),
]

OWN_FIELD = re.compile(rb'X-Nbspam: (ham|spam|unsure); (?s:.*?)clues="(?s:.*?)"\r?\n')
MESSAGES = {
    "ham": HAM,
    "spam": SPAM,
    "crlf": SPAM.replace(b"\n", b"\r\n"),
    "no-body": b"Subject: no body and no end of line",
    "no-header": b"\n\na body without a header",
    "mbox": b"From a@b.example Mon Jun  3 10:00:00 2024\n" + HAM,
    "eight-bit": b"Subject: \xff\xfe\n\n\x80\x81 caf\xe9\n",
    "mixed-ends": b"Subject: s\r\nTo: b\n\r\ntext\n\nmore\r\n\r\n",
    "large": HAM + b"a line of the body\n" * 20_000,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("spamc"))


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("spamc-server"), "--allow-tell", model=model)
    yield server
    assert server.stop() == 0


def spamc(server: Server, *options: str, stdin: bytes = b"") -> tuple[int, bytes]:
    """Exit status and stdout; -x, so that an error is one."""
    done = subprocess.run(
        ["spamc", "-x", "-F", "/dev/null", "-U", str(server.path), *options],
        input=stdin, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    return done.returncode, done.stdout


def without_own_field(data: bytes) -> bytes:
    assert len(OWN_FIELD.findall(data)) == 1
    return OWN_FIELD.sub(b"", data)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_comes_back_marked_and_else_byte_for_byte(server: Server, name: str) -> None:
    status, got = spamc(server, stdin=MESSAGES[name])
    assert status == 0
    assert without_own_field(got) == MESSAGES[name]


@pytest.mark.parametrize("name", [name for name in MESSAGES if name != "no-body"])
def test_headers_alone_give_the_same_message(server: Server, name: str) -> None:
    assert spamc(server, "--headers", stdin=MESSAGES[name]) == spamc(server, stdin=MESSAGES[name])


def test_a_message_without_a_body_comes_back_by_headers(server: Server) -> None:
    """spamc finds no place to put the body, and gives its own copy back."""
    assert spamc(server, "--headers", stdin=MESSAGES["no-body"])[1] == MESSAGES["no-body"]


def test_the_exit_status_and_the_score_say_what_it_is(server: Server) -> None:
    status, score = spamc(server, "-c", stdin=SPAM)
    assert (status, re.fullmatch(rb"\d+\.\d/0\.0\n", score) is not None) == (1, True)
    status, score = spamc(server, "-c", stdin=HAM)
    assert (status, re.fullmatch(rb"-\d+\.\d/0\.0\n", score) is not None) == (0, True)
    assert spamc(server, "-E", stdin=SPAM)[0] == 1
    assert spamc(server, "-E", stdin=HAM)[0] == 0


def test_unsure_is_not_spam(model: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, "--loss", "FP=1000000,FN=1,unsure=0.5", model=model)
    assert spamc(server, stdin=SPAM)[1].startswith(b"X-Nbspam: unsure;")
    status, score = spamc(server, "-c", stdin=SPAM)
    assert status == 0
    assert score.endswith(b"/14.5\n")
    assert server.stop() == 0


def test_reports_and_tests_are_printed(server: Server) -> None:
    status, report = spamc(server, "-R", stdin=SPAM)
    assert status == 0
    first, second = report.split(b"\n")[:2]
    assert first.endswith(b"/0.0")
    assert second.startswith(b"spam: P(spam) 0.")
    assert spamc(server, "-r", stdin=SPAM)[1] == report
    assert spamc(server, "-r", stdin=HAM) == (0, b"")
    assert b"cheap" in spamc(server, "-y", stdin=SPAM)[1].split(b",")


def test_it_is_alive(server: Server) -> None:
    assert spamc(server, "-K") == (0, b"SPAMD/1.5 0\n")


def test_a_packed_message_is_unpacked(server: Server) -> None:
    status, got = spamc(server, "-z", stdin=SPAM)
    if status == 64:
        pytest.skip("this spamc was built without zlib")
    assert without_own_field(got) == SPAM


def test_what_spamc_does_not_send_comes_back_as_it_was(server: Server) -> None:
    assert spamc(server, "-s", "1000", stdin=MESSAGES["large"]) == (0, MESSAGES["large"])


def test_a_message_of_many_megabytes_comes_back(server: Server) -> None:
    data = HAM + random.Random(1).randbytes(2_000_000).hex().encode()
    assert without_own_field(spamc(server, "-s", "10000000", stdin=data)[1]) == data


def test_learning_is_told_and_counts_once(server: Server, model: Path) -> None:
    before = counts(model)
    new = mail("an offer of pills")
    said = b"Message successfully un/learned\n"
    known = b"Message was already un/learned\n"
    assert spamc(server, "-L", "spam", stdin=new) == (0, said)
    assert spamc(server, "-L", "spam", stdin=new) == (0, known)
    assert spamc(server, "-L", "ham", stdin=new) == (0, said)
    assert spamc(server, "-L", "forget", stdin=new) == (0, said)
    assert spamc(server, "-L", "forget", stdin=new) == (0, known)
    assert counts(model) == before


def test_learning_that_is_not_allowed_is_a_failure(model: Path, tmp_path: Path) -> None:
    server = Server(tmp_path, model=model)
    status, _ = spamc(server, "-L", "spam", stdin=HAM)
    assert status == 74
    assert server.stop() == 0


def test_two_hundred_at_once_have_each_its_own_mail(server: Server) -> None:
    messages = [mail(f"letter {n} " + "garden " * n) for n in range(200)]
    with ThreadPoolExecutor(200) as pool:
        got = list(pool.map(lambda message: spamc(server, stdin=message), messages))
    assert [status for status, _ in got] == [0] * 200
    assert [without_own_field(data) for _, data in got] == messages


def test_a_model_that_is_damaged_is_a_failure_that_loses_no_mail(model: Path, tmp_path: Path) -> None:
    """With -x; without it, the mail comes back as it was."""
    own = Path(shutil.copy(model, tmp_path / "model"))
    server = Server(tmp_path, model=own)
    (tmp_path / "new").write_bytes(b"no model")
    os.replace(tmp_path / "new", own)
    assert spamc(server, stdin=SPAM) == (74, b"")
    plain = ["spamc", "-F", "/dev/null", "-U", str(server.path)]
    assert subprocess.run(plain, input=SPAM, capture_output=True).stdout == SPAM
    shutil.copy(model, tmp_path / "new")
    os.replace(tmp_path / "new", own)
    assert spamc(server, stdin=SPAM)[0] == 0
    assert server.stop() == 0


def test_a_signal_in_the_midst_of_a_message_loses_none(model: Path, tmp_path: Path) -> None:
    """spamc reads the whole mail before it connects, so many of them are caught at every stage."""
    server = Server(tmp_path, model=model)
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
    assert server.process.wait(PATIENCE) == 0


def test_the_lines_of_the_readme_do_what_they_say(model: Path, tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^    (spamc -U ~/\.nbspam\.socket.*? < message\.eml)  ", text, re.MULTILINE)
    server = Server(tmp_path, "--allow-tell", model=Path(shutil.copy(model, tmp_path / "model")))
    (tmp_path / ".nbspam.socket").symlink_to(server.path)
    (tmp_path / "message.eml").write_bytes(SPAM)
    environment = {**os.environ, "HOME": str(tmp_path)}
    told = [
        subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
        for line in found
    ]
    assert [done.returncode for done in told] == [0, 1, 0, 0]
    marked, score, report, learned = (done.stdout for done in told)
    assert without_own_field(marked) == SPAM
    assert re.fullmatch(rb"\d+\.\d/0\.0\n", score)
    assert b"spam: P(spam)" in report
    assert learned == b"Message was already un/learned\n"
    assert server.stop() == 0


def test_it_works_by_tcp(model: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    server = Server(tmp_path, "--listen", f"localhost:{port}", model=model)
    command = ["spamc", "-x", "-F", "/dev/null", "-d", "127.0.0.1", "-p", port]
    done = subprocess.run(command, input=SPAM, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0
    assert without_own_field(done.stdout) == SPAM
    assert server.stop() == 0
