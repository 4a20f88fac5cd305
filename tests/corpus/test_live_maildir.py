"""A Maildir in use: mail programs give files other names between the walk and the reading."""

import os
from pathlib import Path

import pytest

from nbspam.corpus import walk
from nbspam.corpus.reading import read_messages
from nbspam.corpus.source import Source
from nbspam.corpus.walk import SourcePart
from tests.tiny_mail import mail


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A Maildir of three messages, two of them new."""
    for part in ("cur", "new", "tmp"):
        (tmp_path / part).mkdir()
    (tmp_path / "cur" / "1.host:2,").write_bytes(mail("one"))
    (tmp_path / "new" / "2.host").write_bytes(mail("two"))
    (tmp_path / "new" / "3.host").write_bytes(mail("three"))
    return tmp_path


def open_the_box(box: Path) -> None:
    """What a mail program does when a user opens the mailbox and the first message."""
    for name in ("2.host", "3.host"):
        (box / "new" / name).rename(box / "cur" / f"{name}:2,")
    (box / "cur" / "1.host:2,").rename(box / "cur" / "1.host:2,S")


def test_messages_renamed_while_folder_is_listed_are_read(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the two folders is listed meanwhile, no message is missed or read twice."""
    list_folder = walk.list_folder
    for moment in ("cur", "new"):

        def scanned(path: str, notes: object, tree: str, moment: str = moment) -> object:
            found = list_folder(path, notes, tree)  # type: ignore[arg-type]
            if path.endswith(f"/{moment}"):
                open_the_box(box)
            return found

        monkeypatch.setattr(walk, "list_folder", scanned)
        source = Source([SourcePart(str(box))])
        assert sorted(item.read() for item in source.items()) == sorted(map(mail, ("one", "two", "three")))
        assert source.skipped == []
        for name in ("2.host", "3.host"):
            (box / "cur" / f"{name}:2,").rename(box / "new" / name)
        (box / "cur" / "1.host:2,S").rename(box / "cur" / "1.host:2,")


def test_messages_renamed_before_they_are_read_are_read(box: Path) -> None:
    items = list(Source([SourcePart(str(box))]).items())
    open_the_box(box)
    skipped: list[tuple[str, str]] = []
    assert [list(tokens.body) for _, tokens in read_messages(items, skipped)] == [["one"], ["two"], ["three"]]
    assert skipped == []


def test_a_deleted_message_is_named_with_the_reason(box: Path) -> None:
    items = Source([SourcePart(str(box))]).items()
    first = next(items)
    gone = box / "new" / "3.host"
    gone.unlink()
    skipped: list[tuple[str, str]] = []
    found = [list(tokens.body) for _, tokens in read_messages((first, *items), skipped)]
    assert found == [["one"], ["two"]]
    assert skipped == [(str(gone), os.strerror(2))]
