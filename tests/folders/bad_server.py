"""An IMAP server that answers from a script, with TLS on a port of this machine, and stops by itself."""

import contextlib
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.server import SPAM

MOST_COMMANDS = 15  # of a connection: then it is closed, so that `watch` comes back
MOST_BYTES = 40 << 20  # of an answer that never ends
END = b"TAG OK done\r\n"  # the tag is filled in
STATE = b'FLAGS (\\Seen) INTERNALDATE "01-Jan-2024 00:00:00 +0000" RFC822.SIZE 60'
BODY = SPAM.replace(b"\n", b"\r\n")
# Command -> what a sound server answers; `fetch` is of states, `body` of messages.
SOUND = {
    "greeting": b"* OK [CAPABILITY IMAP4rev1 MOVE IDLE] ready\r\n",
    "capability": b"* CAPABILITY IMAP4rev1 MOVE IDLE\r\n" + END,
    "login": END,
    "list": b'* LIST () "/" INBOX\r\n* LIST (\\Junk) "/" Junk\r\n' + END,
    "select": b"* 2 EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n* OK [PERMANENTFLAGS (\\*)] x\r\n"
    b"* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 3] x\r\nTAG OK [READ-WRITE] done\r\n",
    "search": b"* SEARCH 1 2\r\n" + END,
    "fetch": b"* 1 FETCH (UID 1 " + STATE + b")\r\n* 2 FETCH (UID 2 " + STATE + b")\r\n" + END,
    "body": b"".join(
        b"* %d FETCH (UID %d BODY[]<0> {%d}\r\n%b)\r\n" % (n, n, len(BODY), BODY) for n in (1, 2)
    )
    + END,
    "idle": b"+ idling\r\n",
    "logout": b"* BYE\r\n" + END,
}


class BadServer:
    """A running server.

    answers : command -> its answer in place of the sound one; None closes the connection
    endless : commands whose answer is repeated without an end
    slow    : commands whose answer comes a byte at a time
    """

    def __init__(
        self, folder: Path, answers: Mapping[str, bytes | None], endless: str = "", slow: str = ""
    ) -> None:
        self._answers, self._endless, self._slow = {**SOUND, **answers}, endless, slow
        self.lines: list[bytes] = []  # what clients said
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(folder / "localhost.pem", folder / "localhost.key")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> "BadServer":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _run(self) -> None:
        while True:
            try:
                plain = self._listener.accept()[0]
            except OSError:
                return
            with (
                contextlib.suppress(OSError, ValueError),
                plain,
                self._context.wrap_socket(plain, server_side=True) as connection,
            ):
                self._talk(connection)

    def _talk(self, connection: ssl.SSLSocket) -> None:
        connection.settimeout(60)
        self._send(connection, "greeting", b"*")
        with connection.makefile("rb") as lines:
            idle_tag = b""
            for line in (lines.readline(1 << 16) for _ in range(MOST_COMMANDS)):
                if not line:
                    return
                self.lines.append(line)
                if line.strip().upper() == b"DONE":
                    connection.sendall(END.replace(b"TAG", idle_tag))
                    continue
                tag, command = line.split(None, 1)
                name = name_command(command)
                idle_tag = tag if name == "idle" else idle_tag
                self._send(connection, name, tag)

    def _send(self, connection: ssl.SSLSocket, name: str, tag: bytes) -> None:
        answer = self._answers.get(name, END)
        if answer is None:
            raise ConnectionError
        data = answer.replace(b"TAG", tag)
        if name == self._slow:
            for byte in data * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.02)
        sent = len(data)
        connection.sendall(data)
        while name == self._endless and sent < MOST_BYTES:
            connection.sendall(data)
            sent += len(data)


def name_command(command: bytes) -> str:
    """The key in SOUND of a line without its tag."""
    words = command.decode("latin-1").lower().split()
    name = words[1] if words[0] == "uid" else words[0]
    return "body" if name == "fetch" and re.search(r"body\.peek", command.decode("latin-1").lower()) else name


def make_certificate(folder: Path, host: str = "localhost") -> None:
    """A key and a certificate of a host."""
    names = ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}", "-days", "2", "-nodes"]
    files = ["-keyout", folder / f"{host}.key", "-out", folder / f"{host}.pem"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run(["openssl", "req", "-x509", *names, *kind, *files], check=True, capture_output=True)


def lines(folder: Path, port: int) -> Iterator[str]:
    """The configuration of nbspam for the server on a port."""
    yield "[home]"
    for key, value in {"host": "localhost", "user": "me", "password_command": "echo secret"}.items():
        yield f"{key} = {value!r}"
    yield f"port = {port}"
    yield f"ca_file = {str(folder / 'localhost.pem')!r}"
