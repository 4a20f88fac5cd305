"""`nbspam sync`: the states of local mail teach, each message once."""

import json
import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from nbspam.errors import NoInputError
from nbspam.folders import learner
from nbspam.folders.learner import (
    HAM,
    MARKED,
    NOTHING,
    SPAM,
    UNREAD,
    UNREAD_JUNK,
    MailState,
    choose_label,
    find_state,
)
from nbspam.folders.maildirs import Maildirs
from tests.tiny_mail import counts, mail, program, run, write_folders

DAY = 86_400


def put(folder: Path, name: str, message: bytes, days: float = 0) -> Path:
    """A message of a Maildir; the folder in `name` is `cur` or `new`."""
    for part in ("cur", "new", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(message)
    os.utime(folder / name, 2 * (time.time() - days * DAY,))
    return folder / name


def lessons(text: str) -> list[tuple[str, str, str]]:
    """(result, class, folder) of each line."""
    lines = [line.split("\t") for line in text.splitlines()]
    return sorted((result, label, Path(place).parent.name) for result, label, place in lines)


def test_states_of_a_maildir_teach_once(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "Maildir"
    put(top, "cur/1:2,S", mail("read letter"))
    put(top, "cur/2:2,R", mail("answered question"))
    put(top, "cur/3:2,", mail("unread offer"))
    put(top, "new/4", mail("kept newsletter"), days=8)
    put(top, "cur/5:2,ST", mail("deleted paper"), days=8)
    put(top / ".Junk", "cur/6:2,", mail("filed lottery"))
    put(top / ".Junk", "new/7", mail("delivered casino"))  # a verdict of the filter
    put(top / ".Entw&APw-rfe", "cur/8:2,S", mail("draft words"), days=8)
    put(top / ".Trash", "cur/9:2,S", mail("thrown away"), days=8)
    before = counts(model)
    expected = [*(("ham", "Maildir"),) * 3, ("spam", ".Junk")]
    dry = lessons(run("sync", "--dry-run", top, "-m", model))
    assert [(label, folder) for _, label, folder in dry] == expected
    assert counts(model) == before and {result for result, _, _ in dry} == {"would be learned"}
    assert lessons(run("sync", top, "-m", model)) == [("learned", *one) for one in expected]
    again = program("sync", top, "-m", model)
    assert again.stdout == b""
    assert again.stderr.decode().splitlines() == [
        "0 messages.",
        "Nothing to learn from 1 unread message in Junk: read messages teach.",
        "Nothing to learn from 1 unread message in other folders: ham once read, or after --keep-days.",
        "Nothing to learn from 1 draft or deleted message.",
        "Nothing to learn from 4 messages as at the last run: each teaches once.",
        "Nothing to learn from 2 folders of drafts, sent or deleted mail.",
    ]
    os.rename(top / ".Junk/new/7", top / ".Junk/cur/7:2,S")  # seen, and left there
    assert lessons(run("sync", top, "-m", model)) == [("learned", "spam", ".Junk")]
    assert f"\tsync {os.path.realpath(top)}/.Junk\n" in run("log", "-m", model)
    assert run("undo", "--source", "sync", "-m", model).count("forgotten\t") == 5
    assert counts(model) == before


def test_moves_since_last_time_teach(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "Maildir"
    put(top / ".Work", "cur/0:2,", mail("other"))
    put(top, "cur/1:2,S", mail("a letter"))
    put(top / ".Junk", "cur/2:2,", mail("an offer"))
    run("sync", top, "-m", model)
    os.rename(top / "cur/1:2,S", top / ".Junk/cur/10:2,S")
    os.rename(top / ".Junk/cur/2:2,", top / ".Work/cur/20:2,")  # unread
    expected = [("moved", "ham", ".Work"), ("moved", "spam", ".Junk")]
    assert lessons(run("sync", top, "-m", model)) == expected
    Path(f"{model}-sync.json").unlink()
    again = lessons(run("sync", top, "-m", model))
    assert {result for result, _, _ in again} == {"already learned"}


def test_reasons_are_told_of_new_mail_unclear_folders_and_empty_trees(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "Maildir"
    put(top, "new/1", mail("a letter"))
    os.unlink(top / "new/1")
    assert b"There is no mail in these folders." in program("sync", top, "-m", model).stderr
    put(top, "cur/2:2,", mail("unread offer"))
    (top / "cur" / "4:2,S").symlink_to(tmp_path)  # no file
    (top / "cur" / "5:2,S").write_bytes(b"BZh91AY&SY damaged")
    put(top / ".SpamOrNot", "cur/3:2,S", mail("a question"))
    said = program("sync", top, "-m", model).stderr.decode()
    assert "1 unread message in other folders: ham once read" in said
    assert "1 file that cannot be read, or" in said
    assert "1 folder whose name may mean junk or not" in said


@pytest.mark.parametrize(
    ("state", "is_filed", "has_moved", "label"),
    [
        *((HAM, False, False, HAM), (HAM, True, True, HAM), (SPAM, True, False, SPAM)),
        *((UNREAD_JUNK, False, False, SPAM), (UNREAD_JUNK, True, False, "")),
        *((MARKED, False, False, SPAM), (MARKED, True, False, ""), (MARKED, True, True, HAM)),
        *((UNREAD, False, False, ""), (UNREAD, True, False, ""), (UNREAD, True, True, HAM)),
        (NOTHING, True, True, ""),
    ],
)
def test_state_and_moves_decide_the_label(state: str, is_filed: bool, has_moved: bool, label: str) -> None:
    assert choose_label(state, is_filed, has_moved) == label


def test_keywords_say_more_than_reading_and_folders_more_than_keywords() -> None:
    def state(kind: str, *flags: str) -> str:
        return find_state(kind, MailState(1, frozenset(flags), received=9, size_bytes=1), kept_since=7)

    assert state("", "$junk", "\\seen") == MARKED
    assert state("", "$junk", "nonjunk") == HAM
    assert state("junk", "$notjunk", "\\seen") == SPAM
    assert state("sent", "$junk", "\\seen") == NOTHING


def test_links_out_of_the_tree_teach_nothing(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "Maildir"
    secret = put(tmp_path / "away", "cur/1:2,S", mail("secret"))
    put(top, "cur/2:2,S", mail("read letter"))
    (top / "cur" / "3:2,S").symlink_to(secret)
    (top / "cur" / "4:2,S").symlink_to("/dev/zero")
    (top / ".Junk").symlink_to(tmp_path / "away")
    done = program("sync", top, "-m", model)
    assert lessons(done.stdout.decode()) == [("learned", "ham", "Maildir")]
    assert "Nothing to learn from 3 links that lead out of MAILDIR." in done.stderr.decode()


def test_another_model_learns_the_same_mail_anew(tmp_path: Path) -> None:
    model, top, source = tmp_path / "m.nbspam", tmp_path / "Maildir", tmp_path / "source"
    write_folders(source, {"ham": [mail("the minutes")], "spam": [mail("cheap pills")]})
    put(top, "cur/1:2,S", mail("read letter"))
    put(top, "cur/2:2,", mail("unread offer"))
    put(top / ".Junk", "cur/3:2,S", mail("filed lottery"))
    taught = [("learned", "ham", "Maildir"), ("learned", "spam", ".Junk")]
    for _ in range(2):  # as cron does: train at night, sync each ten minutes
        run("train", "-q", "-j1", "--replace", source, "-m", model)
        done = program("sync", top, "-m", model)
        assert lessons(done.stdout.decode()) == taught
        again = program("sync", top, "-m", model)
        assert again.stdout == b"" and b"another model" not in again.stderr
    assert done.stderr.startswith(b"%b-sync.json is of another model: all mail" % bytes(model))
    more = write_folders(tmp_path / "more", {"ham": [mail("more")]})
    run("train", "-q", "-j1", "--update", more, "-m", model)
    run("model", "prune", "--min-count", "2", "-m", model)
    assert run("sync", top, "-m", model) == ""  # it is the same model
    memory = Path(f"{model}-sync.json")
    stored = json.loads(memory.read_text())
    del stored["model"]  # as 0.2.0 has written it
    memory.write_text(json.dumps(stored))
    assert {result for result, _, _ in lessons(run("sync", top, "-m", model))} == {"already learned"}


def test_lessons_before_a_fault_are_remembered(model: Path, tmp_path: Path) -> None:
    top = tmp_path / "Maildir"
    put(top / ".Junk", "cur/1:2,S", mail("filed lottery"))
    put(top, "cur/2:2,S", mail("a letter"))

    class Faulty(Maildirs):
        def open(self, name: str) -> tuple[int, list[MailState]]:
            if not name.endswith(".Junk"):
                raise NoInputError(name, "gone", "look", "gone")
            return super().open(name)

    with closing(learner.FolderMemory(f"{model}-sync.json", str(model))) as memory:
        run_ = learner.FolderLearner(str(model), Faulty([str(top)]), memory, "sync\t", 7, is_dry=False)
        with pytest.raises(NoInputError):
            list(run_.learn())
    assert lessons(run("sync", top, "-m", model)) == [("learned", "ham", "Maildir")]


def test_mail_that_is_in_no_maildir_is_told(model: Path, tmp_path: Path) -> None:
    put(tmp_path / "mail/INBOX", "cur/1:2,S", mail("a letter"))
    (tmp_path / "mail/INBOX/cur/sub").mkdir()
    (tmp_path / "mail/Junk").write_bytes(b"From a@b Mon Nov  2 10:00:00 2026\n" + mail("filed lottery"))
    write_folders(tmp_path / "mail", {"Spam": [mail("cheap pills")]})
    said = program("sync", tmp_path / "mail", "-m", model).stderr.decode()
    assert "2 folders that are no Maildirs: nbspam train reads them" in said
    assert "1 folder inside the parts of a Maildir" in said


@pytest.mark.parametrize("change", [{"filed": {"a": 5}}, {"filed": []}, {"folders": {"a": {}}}])
def test_memory_that_is_damaged_is_named(change: dict[str, object], model: Path, tmp_path: Path) -> None:
    put(tmp_path / "mail", "cur/1:2,S", mail("a letter"))
    run("sync", tmp_path / "mail", "-m", model)
    memory = Path(f"{model}-sync.json")
    memory.write_text(json.dumps(json.loads(memory.read_text()) | change))
    done = program("sync", tmp_path / "mail", "-m", model)
    assert done.returncode == 65 and b"sync-memory" in done.stderr


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_path_without_anything_is_refused(
    name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The empty one, too: it may be a variable of a script, and is not the folder where that runs."""
    put(tmp_path, "cur/1:2,S", mail("a letter"))
    monkeypatch.chdir(tmp_path)
    done = program("sync", name, "-m", model)
    assert done.returncode == 66 and b"no-such-source" in done.stderr
