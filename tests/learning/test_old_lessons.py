"""Lessons that version 0.1.0 has left next to the model."""

import os
from pathlib import Path

from nbspam.learning.learn import unlearn_message
from tests.tiny_mail import counts, mail, run


def test_first_writer_learns_what_waits_once_and_removes_it(model: Path, tmp_path: Path) -> None:
    before = counts(model)
    folder = Path(f"{model}-lessons")
    folder.mkdir(0o700)
    waiting = {
        "1-a": b"spam\nsync /mail\n" + mail("garden pills"),
        "2-b": b"\nlearned\n" + mail("told already"),
        ".3-c": b"spam\nlearn\n" + mail("half written"),
        "4-d": b"lists\nlearn\n" + mail("of a class that is gone"),
        "5-e": b"ham\nlearn\n" + mail("minutes of the garden"),
    }
    for name, content in waiting.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "6-fifo")
    assert unlearn_message(str(model), mail("something else")) == "was never learned"
    assert sorted(path.name for path in folder.iterdir()) == [".3-c", "4-d", "6-fifo"]
    assert run("log", "-n", 1, "-m", model).endswith("\tlearn\n")
    for body in ("garden pills", "minutes of the garden"):
        assert unlearn_message(str(model), mail(body)) == "forgotten"
    assert counts(model) == before


def test_folder_goes_with_its_last_lesson(model: Path) -> None:
    folder = Path(f"{model}-lessons")
    folder.mkdir()
    (folder / "1-a").write_bytes(b"spam\nlearn\n" + mail("garden pills"))
    assert run("learn", "spam", "-m", model, stdin=mail("garden pills")) == "already learned\t-\n"
    assert not folder.exists()
