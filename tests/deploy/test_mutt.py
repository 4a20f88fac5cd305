"""Debian's mutt learns and moves a message by the macro of docs/learn.md, with mutt's default settings."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.recipes import read_until, recipe
from tests.tiny_mail import mail

pytestmark = [
    pytest.mark.debian,
    pytest.mark.skipif(not shutil.which("mutt"), reason="mutt is not installed: as root, make debian"),
]


def test_macro_learns_and_moves_one_message(installed: Path, model: Path, tmp_path: Path) -> None:
    box, junk = tmp_path / "Maildir", tmp_path / "Maildir/.Junk"
    for folder in (box, junk):
        for part in ("cur", "new", "tmp"):
            (folder / part).mkdir(parents=True)
    (tmp_path / "Mail").mkdir()  # else mutt asks to make it
    (box / "cur/1.1.host:2,S").write_bytes(mail("an offer that slipped through"))
    (tmp_path / ".muttrc").write_text(recipe("mutt"))
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{installed.parent}:/usr/bin:/bin",
        "NBSPAM_MODEL": str(model),
        "TERM": "xterm",
    }
    terminal, screen = pty.openpty()
    command = ["mutt", "-n", "-F", tmp_path / ".muttrc", "-f", box]
    mutt = subprocess.Popen(command, stdin=screen, stdout=screen, stderr=screen, env=environment)
    try:
        read_until(terminal, lambda shown: b"Msgs:1" in shown)
        os.write(terminal, b"S")
        read_until(terminal, lambda _: any(junk.glob("*/*")))
        for setting in (b"wait_key", b"confirmappend"):  # as before
            os.write(terminal, b":set ?" + setting + b"\n")
            read_until(terminal, lambda shown, setting=setting: setting + b" is set" in shown)  # type: ignore[misc]
    finally:
        mutt.kill()
        mutt.wait()
    (moved,) = junk.glob("*/*")
    again = subprocess.run([installed, "learn", "spam", moved], env=environment, capture_output=True)
    assert again.stdout.startswith(b"already learned\t")
