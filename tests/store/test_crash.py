"""Whoever is killed, and whenever the power fails: the model is the old one or the new one.

`make crash` tries 500 disks after a power loss and 1,000 kills, `make test` fewer.  strace kills a program at
a system call that writes, locks or names a file: between two of them nothing on the disk changes.
"""

import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbspam.corpus.labelled import open_labelled
from nbspam.settings import Settings
from nbspam.store.check import check_model
from nbspam.store.text import dump_model
from nbspam.tasks.plan import Plan
from nbspam.tasks.train import train_model
from tests.programs import needs
from tests.store.disk import CALLS as FILE_CALLS
from tests.store.disk import Disk, Operation, recorded
from tests.tiny_mail import PROGRAM, Done, counts, mail, run, write_folders

pytestmark = [pytest.mark.crash, needs("strace")]
IMAGES = int(os.environ.get("NBSPAM_IMAGES", 40))
KILLS = int(os.environ.get("NBSPAM_KILLS", 25))
NEW = mail("cheap zebra pills")
COMMANDS = {
    "learn": ["learn", "spam"],
    "move": ["learn", "ham"],
    "unlearn": ["unlearn"],
    "undo": ["undo", "-q", "--last", "MAIL"],
    "prune": ["model", "prune", "-q", "--min-count", "2"],
    "sync": ["sync", "-q", "MAILDIR"],
    "update": ["train", "-q", "--jobs", "1", "--update", "MAIL"],
    "replace": ["train", "-q", "--jobs", "1", "--replace", "MAIL"],
    "first": ["train", "-q", "--jobs", "1", "MAIL"],
}
CALLS = FILE_CALLS.replace("openat,", "") + ",fcntl,flock"


@pytest.fixture(params=COMMANDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(model: Path, tmp_path: Path, kind: str) -> Path:
    """A model in a folder of its own, or the place for one."""
    place = tmp_path / "place" / "model"
    place.parent.mkdir()
    if kind != "first":
        shutil.copy(model, place)
    if kind in ("move", "unlearn", "undo", "prune"):
        run("learn", "spam", "-m", place, stdin=NEW)
    if kind == "undo":  # of a move
        run("learn", "ham", "-m", place, stdin=NEW)
    return place


@pytest.fixture
def command(place: Path, tmp_path: Path, kind: str) -> list[str]:
    mails = {"ham": [mail(f"minutes {n} zebra") for n in range(8)], "spam": [NEW, mail("pills")]}
    folders = {"MAIL": str(write_folders(tmp_path / "mail", mails)), "MAILDIR": str(tmp_path / "Maildir")}
    for name, message in (("cur", mail("garden")), (".Junk/cur", NEW)):
        (tmp_path / "Maildir" / name).mkdir(parents=True)
        (tmp_path / "Maildir" / name / "1.a.b:2,S").write_bytes(message)
    return [*PROGRAM, *(folders.get(word, word) for word in COMMANDS[kind]), "-m", str(place)]


def test_power_loss_leaves_the_old_model_or_the_new_one(place: Path, command: list[str], kind: str) -> None:
    disk, old = Disk(place.parent), text(place)
    done = recorded(command, place.parent, NEW)
    new = text(place)
    assert old != new
    for cut, image in images(disk, done, kind):
        write_image(place.parent, image)
        found = text(place)
        assert found == new or (found == old and cut < len(done)), (cut, len(done), done[cut - 1 : cut])


def images(disk: Disk, done: list[Operation], seed: str) -> Iterator[tuple[int, dict[str, bytes]]]:
    """(operations done, files) of disks after power losses during a program, and after its end."""
    drawn, each = random.Random(seed), IMAGES // len(COMMANDS)
    cuts = sorted(drawn.randint(0, len(done)) for _ in range(each * 3 // 4)) + [len(done)] * (each // 4)
    at = 0
    for cut in cuts:
        for one in done[at:cut]:
            disk.do(one)
        at = cut
        yield cut, disk.after_loss(drawn)


def test_killed_program_leaves_old_model_or_new_one(place: Path, command: list[str], kind: str) -> None:
    before, old = Disk(place.parent).after_loss(random.Random(0)), text(place)
    log = place.parent.parent / "calls"
    subprocess.run([*strace("trace", CALLS, log), *command], input=NEW, check=True, capture_output=True)
    new, calls = text(place), re.findall(r"^(\w+)\(", log.read_text(), re.MULTILINE)
    drawn = random.Random(KILLS)
    for _ in range(KILLS // len(COMMANDS)):
        write_image(place.parent, before)
        at = drawn.randrange(len(calls))
        done = killed(command, calls[at], calls[: at + 1].count(calls[at]))
        found = text(place)
        assert found == new or (found == old and not done.stdout), (at, calls, done)
        if found:
            run("learn", "ham", "-m", place, stdin=mail("the next writer"))
            assert check_model(str(place)) == []


def test_journal_of_a_killed_writer_is_rolled_back_by_a_reader_of_a_link(model: Path, tmp_path: Path) -> None:
    before = counts(model)
    kill_after_all_writes(model)
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(model)
    run("classify", "-m", link, stdin=NEW)
    assert counts(model) == before


@pytest.mark.parametrize("damaged", [False, True])
def test_journal_of_a_killed_writer_is_not_played_back_into_a_new_model(
    model: Path, tmp_path: Path, damaged: bool
) -> None:
    kill_after_all_writes(model)
    if damaged:
        model.write_bytes(b"no model any more")
    folder = write_folders(tmp_path / "mail", {"ham": [mail("minutes")], "spam": [NEW]})
    items = list(open_labelled([str(folder)]).items())
    for place in (model, tmp_path / "other"):
        train_model(items, ("ham", "spam"), str(place), Plan(Settings()))
    assert counts(model) == counts(tmp_path / "other")
    assert check_model(str(model)) == []
    assert not Path(f"{model}-journal").exists()


def kill_after_all_writes(model: Path) -> None:
    """A writer dies just before its commit: the pages are written, and the journal can take them back."""
    before = model.read_bytes()
    killed([*PROGRAM, "learn", "spam", "-m", str(model)], "unlink", 1)
    assert model.read_bytes() != before
    assert Path(f"{model}-journal").exists()


def strace(what: str, calls: str, log: str | Path = "/dev/null") -> list[str | Path]:
    return ["strace", "-o", log, "-e", f"{what}={calls}"]


def killed(command: list[str], call: str, number: int) -> Done:
    """A program that is killed at the `number`th use of this system call."""
    options = strace("inject", f"{call}:signal=KILL:when={number}")
    done = subprocess.run([*options, *command], input=NEW, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done
    return done


def text(model: Path) -> list[str] | None:
    """A sound model as text; None if there is none."""
    if not model.exists():
        return None
    assert check_model(str(model)) == []
    return list(dump_model(str(model)))


def write_image(folder: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    for path, data in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(data)
