"""A connection is cut while mail is filed and learned: no message is lost, doubled or learned twice.

Each run is cut at one command more than the last.  `make test` cuts at a quarter of the commands with each
kind of cut, another quarter with each; `make crash` at all.
"""

import itertools
import json
import os
import re
import shutil
import ssl
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("imapclient")

from tests.folders.bad_server import END, SOUND, STATE, BadServer, lines, name_command
from tests.server import HAM, SPAM
from tests.tiny_mail import program, run

pytestmark = pytest.mark.slow
SPAMS = [b"Message-ID: <s%d@example.org>\r\n" % n + SPAM.replace(b"\n", b"\r\n") for n in range(4)]
HAMS = [b"Message-ID: <h%d@example.org>\r\n" % n + HAM.replace(b"\n", b"\r\n") for n in range(2)]
LATE = SPAMS.pop()
TODAY = time.strftime("%d-%b-%Y").encode()
# Of the command that is cut: the share that is done, and the share of the answer that arrives.
CUTS = {"nothing done": (0, 0), "half done": (0.5, 0), "no answer": (1, 0), "half an answer": (1, 0.5)}
RENUMBERED = {"no numbers": (), "new in INBOX": ("INBOX",), "all numbers new": ("INBOX", "Junk")}
OPENING = {"capability", "login", "list"}  # a cut there leaves everything as it is
STEP = 1 if "NBSPAM_DELIVERIES" in os.environ else len(CUTS)


@dataclass
class Folder:
    """The messages of a folder by their numbers: text and flags."""

    validity: int = 1
    next_uid: int = 1
    mail: dict[int, tuple[bytes, set[str]]] = field(default_factory=dict)

    def add(self, text: bytes, flags: set[str]) -> None:
        self.mail[self.next_uid] = text, flags
        self.next_uid += 1

    def renumber(self) -> None:
        """New numbers, some of them those that other messages had."""
        mails, self.validity, self.next_uid, self.mail = [*self.mail.values()], self.validity + 1, 1, {}
        for text, flags in reversed(mails):
            self.add(text, flags)


class CutServer(BadServer):
    """An account with INBOX, Junk and MOVE; one connection is cut at the n-th command with mail in it.

    is_armed : False while connections are not cut
    """

    def __init__(self, folder: Path, cut_at: int, kind: str, renumbered: str) -> None:
        self.folders = {"INBOX": Folder(), "Junk": Folder()}
        for text in [*SPAMS, *HAMS]:
            self.folders["INBOX"].add(text, set())
        self.is_armed = self.was_cut = False
        self._commands_left, self._shares, self._renumbered = cut_at, CUTS[kind], RENUMBERED[renumbered]
        self._open = Folder()
        super().__init__(folder, {})

    def texts(self, name: str) -> list[bytes]:
        return [text for text, _ in self.folders[name].mail.values()]

    def read_all(self) -> None:
        """As the user does."""
        for folder in self.folders.values():
            for _, flags in folder.mail.values():
                flags.add("\\Seen")

    def _talk(self, connection: ssl.SSLSocket) -> None:
        connection.settimeout(60)
        self._send(connection, "greeting", b"*")
        with connection.makefile("rb") as requests:
            for request in requests:
                tag, command = request.split(None, 1)
                name = name_command(command)
                self._commands_left -= self.is_armed and name not in OPENING
                is_cut = self.is_armed and not self._commands_left
                done, answered = self._shares if is_cut else (1, 1)
                answer = self._answer(name, command.decode().split(), done).replace(b"TAG", tag)
                connection.sendall(answer[: int(answered * len(answer))])
                if is_cut:
                    self.was_cut, self.is_armed = True, False
                    for folder in self._renumbered:
                        self.folders[folder].renumber()
                    return

    def _answer(self, name: str, words: list[str], share: float) -> bytes:
        """Do this share of a command; its whole answer."""
        if name == "select":
            self._open = self.folders[words[1].strip('"')]
            return SOUND["select"].replace(b"UIDVALIDITY 7", b"UIDVALIDITY %d" % self._open.validity)
        mail = self._open.mail
        if name == "search":
            first = int(re.findall(r"UID (\d+):", " ".join(words) + " UID 1:")[0])
            read = {"\\Seen", "$NotJunk"} if "UNSEEN" in words else set()
            uids = [uid for uid, (_, flags) in mail.items() if uid >= first and not flags & read]
            return b"* SEARCH" + b"".join(b" %d" % uid for uid in uids) + b"\r\n" + END
        if name not in ("fetch", "body", "store", "move"):
            return SOUND.get(name, END)
        uids = [uid for uid in map(int, words[2].split(",")) if uid in mail]
        if name in ("store", "move"):
            uids = uids[: int(share * len(uids))]
        return b"".join(self._handle(uid, name, words) for uid in uids) + END

    def _handle(self, uid: int, name: str, words: list[str]) -> bytes:
        """Do a command to one message; what is answered about it."""
        text, flags = self._open.mail[uid]
        if name == "move":
            self.folders[words[3].strip('"')].add(text, flags)
            del self._open.mail[uid]
        elif name == "store":
            keywords = {word.strip("()") for word in words[4:]}
            (flags.update if words[3].startswith("+") else flags.difference_update)(keywords)
        elif name == "body":
            return b"* 1 FETCH (UID %d BODY[]<0> {%d}\r\n%b)\r\n" % (uid, len(text), text)
        else:
            state = STATE.replace(b"\\Seen", " ".join(flags).encode()).replace(b"01-Jan-2024", TODAY)
            return b"* 1 FETCH (UID %d %b)\r\n" % (uid, state)
        return b""


def messages(model: Path) -> Counter[str]:
    """How many messages of each class a model counts."""
    return Counter(json.loads(run("model", "info", "--json", "-m", model))["messages"])


def file_and_learn(server: CutServer, folder: Path, model: Path, renumbered: str) -> None:
    """Scan, read all mail and learn, each once more after it may have been cut."""
    config = model.with_suffix(".toml")
    config.write_text("\n".join(lines(folder, server.port)))

    def work(command: str, may_be_cut: bool) -> None:
        server.is_armed = may_be_cut and not server.was_cut
        done = program("imap", command, "-q", "--config", config, "-m", model)
        assert done.returncode == 0 or (may_be_cut and b"[imap-connection]" in done.stderr), done.stderr

    before = messages(model)
    work("scan", may_be_cut=True)
    server.folders["INBOX"].add(LATE, set())
    work("scan", may_be_cut=False)
    inbox, junk = server.texts("INBOX"), server.texts("Junk")
    assert sorted(inbox + junk) == sorted([*SPAMS, *HAMS, LATE])
    # With new numbers it is not known who put the mail into INBOX: it stays there.
    assert {LATE} <= {*junk} <= {*SPAMS, LATE} if "new" in renumbered else {*junk} == {*SPAMS, LATE}
    server.read_all()
    work("learn", may_be_cut=True)
    work("learn", may_be_cut=False)
    assert [sorted(server.texts(name)) for name in ("INBOX", "Junk")] == [sorted(inbox), sorted(junk)]
    learned = messages(model) - before
    # Spam that stayed is marked, but that was nbspam: it teaches nothing.
    assert learned["spam"] == len(junk)
    assert len(HAMS) <= learned["ham"] <= len(inbox)


@pytest.mark.crash
@pytest.mark.parametrize("renumbered", RENUMBERED)
@pytest.mark.parametrize("kind", CUTS)
def test_cut_connection_neither_loses_nor_doubles_nor_learns_twice(
    folder: Path, tmp_path: Path, trained: Path, kind: str, renumbered: str
) -> None:
    first = ([*CUTS].index(kind) + [*RENUMBERED].index(renumbered)) % STEP + 1
    for cut_at in itertools.count(first, STEP):
        model = Path(shutil.copy(trained, tmp_path / f"model-{cut_at}"))
        with CutServer(folder, cut_at, kind, renumbered) as server:
            file_and_learn(server, folder, model, renumbered)
        if not server.was_cut:
            break
    assert cut_at > 200 // len(CUTS) // len(RENUMBERED) + 1
