"""Debian's mutt, NeoMutt and aerc learn and move a message by the keys of docs/mutt.md."""

import os
import pty
import re
import subprocess
import termios
from pathlib import Path

import pytest

from tests.deploy.recipes import adapted, read_until, recipe
from tests.programs import needs
from tests.server import eventually
from tests.tiny_mail import counts, mail

pytestmark = pytest.mark.debian
MUTT_KEYS = {"spam": b"S", "ham": b"H"}
KEYS = {"mutt": MUTT_KEYS, "neomutt": MUTT_KEYS, "aerc": {"spam": b"xs", "ham": b"xh"}}


def set_up_mutt(home: Path, program: str, folder: Path) -> list[str]:
    """A command that shows the folder."""
    (home / "Mail").mkdir()  # else mutt asks to make it
    (home / "muttrc").write_text(recipe("mutt"))
    return [program, "-n", "-F", str(home / "muttrc"), "-f", str(folder)]


def set_up_aerc(home: Path, program: str, folder: Path) -> list[str]:
    """As for mutt; aerc needs a terminal that is its own."""
    conf = home / ".config/aerc"
    conf.mkdir(parents=True)
    first = "INBOX" if folder.name == "Maildir" else "Junk"
    source = f"source = maildirpp://{home}/Maildir"
    (conf / "accounts.conf").write_text(f"[home]\n{source}\nfrom = jane@example.org\ndefault = {first}\n")
    (conf / "accounts.conf").chmod(0o600)
    keys = Path("/usr/share/aerc/binds.conf").read_text()
    (conf / "binds.conf").write_text(adapted(keys, {"[messages]\n": recipe("aerc")}))
    return ["setsid", "--ctty", program]


@pytest.mark.parametrize("label", ["spam", "ham"])
@pytest.mark.parametrize("program", [pytest.param(program, marks=needs(program)) for program in KEYS])
def test_key_learns_and_moves(installed: Path, model: Path, tmp_path: Path, program: str, label: str) -> None:
    box, junk = tmp_path / "Maildir", tmp_path / "Maildir/.Junk"
    for folder in (box, junk):
        for part in ("cur", "new", "tmp"):
            (folder / part).mkdir(parents=True)
    source, target = (box, junk) if label == "spam" else (junk, box)
    (source / "cur/1.1.host:2,S").write_bytes(mail("an offer that was judged wrongly", "the offer"))
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{installed.parent}:/usr/bin:/bin",
        "NBSPAM_MODEL": str(model),
        "TERM": "xterm",
    }
    command = (set_up_aerc if program == "aerc" else set_up_mutt)(tmp_path, program, source)
    before = counts(model)
    terminal, screen = pty.openpty()
    termios.tcsetwinsize(screen, (24, 80))
    process = subprocess.Popen(command, stdin=screen, stdout=screen, stderr=screen, env=environment)
    try:
        read_until(terminal, lambda shown: b"the offer" in shown)
        os.write(terminal, KEYS[program][label])
        read_until(terminal, lambda _: any(target.glob("[cn]*/*")))
        eventually(lambda: counts(model) != before)  # aerc does not wait
        if program != "aerc":
            for setting, told in ((b"wait_key", b"wait_key"), (b"confirmappend", b"confirm_?append")):
                os.write(terminal, b":set ?" + setting + b"\n")  # as before
                is_set = re.compile(told + b'( is set|="yes")')
                read_until(terminal, is_set.search)
    finally:
        process.kill()
        process.wait()
    (moved,) = target.glob("[cn]*/*")
    again = subprocess.run([installed, "learn", label, moved], env=environment, capture_output=True)
    assert again.stdout.startswith(b"already learned\t")
