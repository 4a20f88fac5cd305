"""The page about mail programs: its blocks are typed where a tree of that program lies.

`<!-- tree: NAME PLACE -->` names a tree of tests/mail_trees.txt and its folder; the user is alice.
"""

import os
import re
from pathlib import Path

import pytest

from tests.cli.test_manual import TEXTS, check_shown, settle, steps
from tests.mail_trees import READ, lay_out
from tests.tiny_mail import type_line

BLOCKS = re.findall(
    r"<!-- tree: ([a-z ]+) (\S+) -->\n```console\n(.*?)```\n", TEXTS["docs/mail-programs.md"], re.DOTALL
)


@pytest.mark.parametrize(("tree", "place", "block"), BLOCKS, ids=[name for name, _, _ in BLOCKS])
def test_block_prints_what_the_page_shows(
    tree: str, place: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "alice"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("NBSPAM_MODEL", str(tmp_path / "model"))
    lay_out(Path(os.path.normpath(home / Path(place).expanduser())), READ[tree])
    for command, expected in steps(block):
        assert command.startswith("nbspam ")
        shown = settle(type_line(command).stdout.decode(), home)
        check_shown("docs/mail-programs.md", command, expected, shown)
