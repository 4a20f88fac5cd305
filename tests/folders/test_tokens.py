"""OAuth2 tokens as the manual sets them up: `watch` goes on when one expires."""

import os
import shutil
import subprocess
import sys
import time
import tomllib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from ssl import SSLSocket

import pytest

pytest.importorskip("imapclient")

from tests.deploy.recipes import recipe
from tests.folders.bad_server import BadServer, name_command
from tests.server import PATIENCE, eventually
from tests.tiny_mail import error, run


class TokenServer(BadServer):
    """Takes one token, by XOAUTH2; cuts those who came with another, also while they wait for mail."""

    def __init__(self, folder: Path) -> None:
        self.token = "first"
        self.tokens: list[str] = []  # with which clients came
        self.is_waiting = False
        super().__init__(folder, {})

    def _talk(self, connection: SSLSocket) -> None:
        connection.settimeout(PATIENCE)
        self._send(connection, "greeting", b"*")
        token = None
        with connection.makefile("rb") as lines:
            while line := lines.readline(1 << 16):
                tag, _, command = line.partition(b" ")
                if name_command(command) == "authenticate":
                    token = self._authenticate(connection, lines, tag)
                    continue
                self._send(connection, name_command(command), tag)
                self.is_waiting = name_command(command) == "idle"
                deadline = time.monotonic() + PATIENCE
                while self.is_waiting and token == self.token and time.monotonic() < deadline:
                    time.sleep(0.02)
                if token is not None and token != self.token:
                    connection.sendall(b"* BYE Session expired, please login again.\r\n")
                    return

    def _authenticate(self, connection: SSLSocket, lines: Iterator[bytes], tag: bytes) -> str | None:
        connection.sendall(b"+ \r\n")
        said = b64decode(next(lines)).decode()
        user, _, token = said.removeprefix("user=").removesuffix("\1\1").partition("\1auth=Bearer ")
        assert user.startswith("jane@")
        self.tokens.append(token)
        if token == self.token:
            connection.sendall(tag + b" OK done\r\n")
            return token
        connection.sendall(b"+ " + b64encode(b'{"status":"400"}') + b"\r\n")
        next(lines)
        connection.sendall(tag + b" NO AUTHENTICATE failed.\r\n")
        return None


class Setting:
    """The account `outlook` of a recipe, on a server here, and its program: it prints the token in a file."""

    def __init__(self, server: TokenServer, folder: Path, accounts: str) -> None:
        values = tomllib.loads(accounts)["outlook"]
        program, *arguments = values["token_command"].split()
        self.asked = [argument.replace("~", str(folder)) for argument in arguments]
        self.printed = folder / "token"
        self.printed.write_text("first\n")
        script = f'#!/bin/sh\ncat {self.printed}\nstatus=$?\necho "$@" >>{folder}/asked\nexit $status\n'
        (folder / program).write_text(script)
        (folder / program).chmod(0o755)
        values |= {"host": "localhost", "port": server.port, "ca_file": f"{folder}/localhost.pem"}
        lines = [f"{key} = {value!r}" for key, value in values.items()]
        (folder / "imap.toml").write_text("\n".join(["[outlook]", *lines, ""]))
        self.environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}
        self.options = ["--config", folder / "imap.toml", "-m", folder / "model"]


@pytest.fixture
def server(folder: Path, tmp_path: Path, model: Path) -> Iterator[TokenServer]:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    with TokenServer(tmp_path) as server:
        yield server


@pytest.mark.parametrize("accounts", [recipe("pizauth"), recipe("oama"), recipe("mutt_oauth2")])
def test_token_of_the_program_logs_in(
    server: TokenServer, tmp_path: Path, accounts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(server, tmp_path, accounts)
    for name in ("PATH", "HOME"):
        monkeypatch.setenv(name, setting.environment[name])
    run("imap", "scan", "outlook", *setting.options)
    assert server.tokens == ["first"]
    assert (tmp_path / "asked").read_text() == " ".join(setting.asked) + "\n"


@pytest.mark.slow
def test_watch_comes_back_with_a_new_token(server: TokenServer, tmp_path: Path) -> None:
    setting = Setting(server, tmp_path, recipe("pizauth"))
    command = [sys.executable, "-m", "nbspam", "imap", "watch", "outlook", *map(str, setting.options)]
    with subprocess.Popen(
        command, env=setting.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as watch:
        try:
            eventually(lambda: server.is_waiting)
            server.token = "second"  # the program does not know it yet
            eventually(lambda: len(server.tokens) > 1)
            setting.printed.unlink()  # nor has it any
            eventually(lambda: len((tmp_path / "asked").read_text().splitlines()) > 2)
            setting.printed.write_text("second\n")
            eventually(lambda: server.tokens[-1] == "second" and server.is_waiting)
        finally:
            watch.terminate()
        said = watch.communicate(timeout=60)[1]
    assert (
        said.count("trying again") >= 3 and "[" not in said.partition("trying")[0] and "Traceback" not in said
    )


def test_first_login_that_is_refused_is_an_error(
    server: TokenServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = Setting(server, tmp_path, recipe("pizauth"))
    monkeypatch.setenv("PATH", setting.environment["PATH"])
    setting.printed.write_text("wrong\n")
    for command in ("scan", "watch"):
        said = error("imap", command, *setting.options, status=66)
        assert "check user and token_command" in said and "[imap-login]" in said


def test_app_password_of_the_manual_is_understood() -> None:
    assert tomllib.loads(recipe("gmail"))["gmail"]["password_command"] == "pass show mail/gmail"
