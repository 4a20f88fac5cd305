"""The page about mail programs: its blocks are typed where a tree of that program lies.

`<!-- tree: NAME PLACE -->` names a tree of tests/mail_trees.txt and its folder; the user is alice.
"""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.test_manual import TEXTS, check_shown, settle, steps
from tests.mail_trees import READ, Tree, lay_out
from tests.tiny_mail import error, mail, program, type_line

PAGE = TEXTS["docs/mail-programs.md"]
BLOCKS = re.findall(r"<!-- tree: ([a-z ]+) (\S+) -->\n```console\n(.*?)```\n", PAGE, re.DOTALL)


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


@pytest.mark.parametrize("tree", READ.values(), ids=READ)
def test_every_tree_is_trained_on_as_it_is_laid_out(tree: Tree, tmp_path: Path) -> None:
    laid = Counter(one.right for one in lay_out(tmp_path / "mail", tree))
    done = program("train", "-j1", tmp_path / "mail", "-m", tmp_path / "model")
    assert f"({laid['ham']} ham, {laid['spam']} spam)" in (done.stdout + done.stderr).decode()


def test_export_of_proton_is_trained_on_by_the_lines_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Source: ProtonMail/proton-mail-export go-lib/internal/mail; ProtonMail/go-proton-api (LabelIDs)."""
    labels = {
        "Zq-1_w==": (30, ["0", "5", "15"]), "-Ab2==": (9, ["4", "5"]), "c3": (200, ["6", "5", "Yx1=="]),
        "d4": (4, ["3", "5"]), "e5": (5, ["7", "2", "5"]), "f6": (6, ["8", "1"]), "g7": (70, ["4"]),
    }  # fmt: skip
    folder = tmp_path / "ann@proton.me" / "mail_20250602_101010"
    folder.mkdir(parents=True)
    for name, (time, ids) in labels.items():
        (folder / f"{name}.eml").write_bytes(mail(name))
        metadata = {"Version": 1, "Payload": {"ID": name, "LabelIDs": ids, "Subject": name, "Time": time}}
        (folder / f"{name}.metadata.json").write_text(json.dumps(metadata, indent=2))
    (folder / "labels.json").write_text('{"Version": 1, "Payload": []}')
    for place in (folder, folder.parent):
        assert "Proton Mail, has the lines for it" in error("train", place, "-m", tmp_path / "m", status=65)
    (folder / "index.py").write_text(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0])
    subprocess.run(re.findall("`(python3 [^`]*index)`", PAGE)[0], shell=True, cwd=folder, check=True)
    assert (folder / "index").read_text() == "spam -Ab2==.eml\nham Zq-1_w==.eml\nspam g7.eml\nham c3.eml\n"
    monkeypatch.chdir(folder)
    assert b"(2 ham, 2 spam)" in program("train", "-j1", "index", "-m", tmp_path / "m").stderr
