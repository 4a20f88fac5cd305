"""Dovecot on a port of this machine, with TLS and any number of users."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from imapclient import IMAPClient

from tests.deploy.agents import as_user
from tests.deploy.recipes import configuration
from tests.folders.bad_server import make_certificate
from tests.server import eventually, free_port

PASSWORD = "secret"


class ImapServer:
    """A running server; users come into being when they log in."""

    def __init__(self, folder: Path, capability: str) -> None:
        self.folder, self.port = folder, free_port()
        for host in ("localhost", "example.org"):
            make_certificate(folder, host)
        is_root = os.geteuid() == 0
        user, group = ("nobody", "nogroup") if is_root else (str(os.geteuid()), str(os.getegid()))
        numbers = {"uid": 65534, "gid": 65534} if is_root else {"uid": os.geteuid(), "gid": os.getegid()}
        names = {"user": user, "group": group, "folder": folder, "port": self.port, "password": PASSWORD}
        line = f"imap_capability = {capability}" if capability else ""
        (folder / "conf").write_text(configuration("dovecot.imap", **names, **numbers, capability=line))
        if is_root:
            subprocess.run(["chown", "-R", "nobody:nogroup", folder], check=True)
        command = [*as_user(), "dovecot", "-F", "-c", str(folder / "conf")]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        eventually(self._answers)

    def _answers(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)

    def doveadm(self, *arguments: str) -> str:
        """The output of Dovecot's program for administrators."""
        command = ["doveadm", "-c", str(self.folder / "conf"), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @contextlib.contextmanager
    def client(self, user: str) -> Iterator[IMAPClient]:
        """Another mail program of the user."""
        import ssl

        context = ssl.create_default_context(cafile=str(self.folder / "localhost.pem"))
        with IMAPClient("localhost", self.port, ssl_context=context) as client:
            client.login(user, PASSWORD)
            yield client
