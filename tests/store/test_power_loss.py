"""After a power loss the model is the old one or the new one, and the new one once the command has ended.

NBSPAM_LONG=1 (`make crash`) tries 500 images, otherwise 40.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

import pytest

from nbspam.store.check import check_model
from nbspam.store.text import dump_model
from tests.store.power_loss import Disk, recorded
from tests.tiny_mail import mail, run, write_folders

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
IMAGES = 500 if os.environ.get("NBSPAM_LONG") else 40
NEW = mail("cheap zebra pills")
COMMANDS = {
    "learn": ["learn", "spam"],
    "unlearn": ["unlearn"],
    "update": ["train", "-q", "--jobs", "1", "--update", "MAIL"],
    "replace": ["train", "-q", "--jobs", "1", "--replace", "MAIL"],
    "first": ["train", "-q", "--jobs", "1", "MAIL"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_power_loss_leaves_the_old_model_or_the_new_one(model: Path, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place" / "model"
    place.parent.mkdir()
    if kind != "first":
        shutil.copy(model, place)
    if kind == "unlearn":
        run("learn", "spam", "-m", place, stdin=NEW)
    mails = {"ham": [mail(f"minutes {n} zebra") for n in range(8)], "spam": [NEW, mail("pills")]}
    folder = write_folders(tmp_path / "mail", mails)
    disk, old = Disk(place.parent), text(place)
    command = [str(folder) if word == "MAIL" else word for word in COMMANDS[kind]]
    done = recorded([sys.executable, "-m", "nbspam", *command, "-m", place], place.parent, NEW)
    new = text(place)
    assert old != new
    drawn = random.Random(kind)
    cuts = sorted(drawn.randint(0, len(done)) for _ in range(IMAGES // len(COMMANDS) * 3 // 4))
    cuts += [len(done)] * (IMAGES // len(COMMANDS) // 4)
    at = 0
    for cut in cuts:
        while at < cut:
            disk.do(done[at])
            at += 1
        write_image(place.parent, disk.after_loss(drawn))
        found = text(place)
        assert found == new or (found == old and cut < len(done)), (cut, len(done), done[cut - 1 : cut])


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
        Path(path).write_bytes(data)
