"""Folders of a tree that cannot be opened, or lie too deep, are named by every command, with status 66."""

import os
import re
from pathlib import Path

import pytest

from nbspam.corpus.walk import MAX_DEPTH
from tests.as_nobody import as_nobody
from tests.tiny_mail import mail, program, run, write_folders

RUN = """\
import json
from tests.tiny_mail import program
done = {name: program(*words) for name, words in COMMANDS.items()}
print(json.dumps({name: [one.returncode, one.stderr.decode()] for name, one in done.items()}))
"""
COMMANDS = {
    "train": ["train", "-j1", "-q", "mail", "-m", "new/m.nbspam"],
    "update": ["train", "-j1", "-q", "--update", "mail", "-m", "new/u.nbspam"],
    "eval": ["eval", "-j1", "-q", "--folds", "2", "mail"],
    "sync": ["sync", "-q", "mail", "-m", "new/u.nbspam"],
}


def lay(top: Path) -> None:
    """Maildirs with ham and spam."""
    for folder, word in (("", "lunch"), (".Work", "minutes"), (".Junk", "casino"), (".Spam", "pills")):
        for part in ("cur", "new", "tmp"):
            (top / folder / part).mkdir(parents=True)
        for number in range(3):
            name = f"{number}{word}.here:2,S"
            (top / folder / "cur" / name).write_bytes(mail(f"{word} {number}"))
        (top / folder / "new" / "4.here").write_bytes(mail(f"{word} 4"))


@pytest.mark.parametrize(
    ("closed", "mode"),
    [(".Work", 0), (".Junk", 0o444), (".Junk", 0o111), (".Work/cur", 0o444), ("new", 0o111)],
)
def test_closed_folder_is_named_by_every_command(closed: str, mode: int, open_folder: Path) -> None:
    lay(open_folder / "mail")
    (open_folder / "new").mkdir()
    source = write_folders(open_folder / "source", {"ham": [mail("the letter")], "spam": [mail("a prize")]})
    run("train", "-q", "-j1", source, "-m", open_folder / "new" / "u.nbspam")
    for path in (open_folder / "new", *(open_folder / "new").iterdir()):
        path.chmod(0o777)
    (open_folder / "mail" / closed).chmod(mode)
    done = as_nobody(f"COMMANDS = {COMMANDS!r}\n{RUN}", open_folder)
    for name, (status, said) in done.items():
        assert status == 66, (name, said)
        assert re.search(rf"mail/{re.escape(closed)}[^:]*(:2,S)?: Permission denied", said), (name, said)
    (open_folder / "mail" / closed).chmod(0o755)


def test_closed_folder_of_the_only_spam_is_named(open_folder: Path) -> None:
    lay(open_folder / "mail")
    os.rename(open_folder / "mail/.Spam", open_folder / "spam")
    (open_folder / "mail/.Junk").chmod(0)
    commands = {"train": COMMANDS["train"], "eval": COMMANDS["eval"]}
    done = as_nobody(f"COMMANDS = {commands!r}\n{RUN}", open_folder)
    for status, said in done.values():
        assert status == 65 and "one class only: ham; 1 skipped, the first mail/.Junk: Permission" in said
    (open_folder / "mail/.Junk").chmod(0o755)


def test_sync_names_a_closed_tree(open_folder: Path) -> None:
    lay(open_folder / "mail")
    source = write_folders(open_folder / "source", {"ham": [mail("the letter")], "spam": [mail("a prize")]})
    run("train", "-q", "-j1", source, "-m", open_folder / "m.nbspam")
    (open_folder / "m.nbspam").chmod(0o644)
    (open_folder / "mail").chmod(0o311)
    commands = {"sync": ["sync", "-q", "mail", "-m", "m.nbspam"]}
    [(status, said)] = as_nobody(f"COMMANDS = {commands!r}\n{RUN}", open_folder).values()
    assert status == 66 and "mail: Permission denied" in said
    (open_folder / "mail").chmod(0o755)


@pytest.mark.parametrize(("kind", "depth"), [("mbox", MAX_DEPTH), ("maildir", 60), ("files", MAX_DEPTH)])
def test_tree_that_is_too_deep_is_named(
    kind: str, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbspam.corpus.walk.MAX_DEPTH", depth)
    top = tmp_path / "mail"
    if kind == "files":
        write_folders(top, {label: [mail(f"{label} {word}") for word in "abc"] for label in ("ham", "spam")})
    else:
        lay(top)
    monkeypatch.chdir(top / "ham" if kind == "files" else top)
    for _ in range(depth + 50):
        name = ".a" if kind == "maildir" else "a"
        Path(name).mkdir()
        os.chdir(name)
        if kind == "maildir":
            Path("cur").mkdir()
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "m.nbspam"
    done = program("train", "-q", "-j1", "mail", "-m", model)
    assert done.returncode == 66, done.stderr
    assert f"more than {depth} folders in folders" in done.stderr.decode()
    assert program("eval", "-q", "-j1", "--folds", "2", "mail").returncode == 66
    if kind != "files":
        assert program("sync", "-q", "mail", "-m", model).returncode == 66
    os.system("rm -r mail")  # pytest cannot


def test_no_mail_among_mail_is_no_fault_of_sync(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "mail"
    lay(top)
    (top / "cur" / "picture:2,S").write_bytes(b"\xff\xd8\xff" + bytes(64))
    (top / "cur" / "note:2,S").write_bytes(b"a note without a header\n")
    (top / "cur" / "packed:2,S").write_bytes(b"\x28\xb5\x2f\xfd\4\0" + bytes(64))
    done = program("sync", top, "-m", model)
    assert done.returncode == 0
    for reason in ("no mail, but a program", "no mail, but text without", "packed with zstd"):
        assert f"Nothing to learn from 1 file: {reason}" in done.stderr.decode()
    again = program("sync", top, "-m", model)
    assert (again.returncode, again.stdout) == (0, b"")
    assert b"15 messages as at the last run" in again.stderr
    assert program("train", "-q", "-j1", top, "-m", tmp_path / "new").returncode == 0
