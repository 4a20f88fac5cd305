"""An overlay from somebody else: whatever it says of its base, every command ends soon, and with one line."""

import os
import shutil
import struct
from pathlib import Path

import pytest

from nbspam.filter import begin_model
from tests.store.changed_model import forge
from tests.store.test_foreign_model import bounded
from tests.tiny_mail import mail, run, write_folders

pytestmark = pytest.mark.slow

NAN = struct.pack("<d", float("nan"))
COMMANDS = (
    *(["classify"], ["explain"], ["learn", "ham"], ["unlearn"], ["undo", "--last"], ["log"]),
    *(["model", "check"], ["model", "dump"], ["model", "rebase", "--start", "{renewed}"]),
)
REFUSED, NOTHING_LEARNED, TRY_AGAIN = 65, 66, 75
PATHS = {
    "a FIFO": "'{folder}/fifo'",
    "a folder": "'{folder}'",
    "a device without an end": "'/dev/zero'",
    "a NUL": "'{folder}/base' || char(0)",
    "an escape": "'/x' || char(27) || '[2J'",
    "nothing": "''",
    "a path of a megabyte": "'/' || hex(zeroblob(500000))",
    "a blob": "x'ff'",
    "the overlay itself": "'{folder}/overlay'",
    "another overlay": "'{folder}/other'",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base, what it is after a lesson, and two overlays of the base."""
    folder = tmp_path_factory.mktemp("foreign")
    ham, spam = [[mail(f"{words} {n}") for n in range(60)] for words in ("garden fence", "cheap pills")]
    run("train", "-q", write_folders(folder / "mail", {"ham": ham, "spam": spam}), "-m", folder / "base")
    shutil.copy(folder / "base", folder / "renewed")
    run("learn", "-q", "ham", "-m", folder / "renewed", stdin=mail("a new fence"))
    for name in ("overlay", "other"):
        begin_model(str(folder / name), str(folder / "base"))
        run("learn", "-q", "spam", "-m", folder / name, stdin=mail("lottery"))
    os.mkfifo(folder / "fifo")
    return folder


def statuses(folder: Path) -> dict[str, int]:
    """The exit status of each command on the overlay; they leave no escape on the terminal."""
    found = {}
    for command in COMMANDS:
        words = [word.format(renewed=folder / "renewed") for word in command]
        place = [folder / "overlay"] if "rebase" in command else ["-m", folder / "overlay"]
        done = bounded(*words, *place)
        assert b"\x1b" not in done.stderr
        found[" ".join(command[:2])] = done.returncode
    return found


@pytest.mark.parametrize("kind", PATHS)
def test_base_that_is_no_model_is_refused_by_every_command(kind: str, made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("fifo", "mail")))
    os.mkfifo(folder / "fifo")
    forge(folder / "overlay", f"UPDATE base SET path = {PATHS[kind].format(folder=folder)}")
    found = statuses(folder)
    found.pop("model rebase")  # it takes another base
    assert {*found.values()} <= {REFUSED, TRY_AGAIN}, found


def test_weights_that_are_no_numbers_are_refused(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("fifo", "mail")))
    forge(folder / "overlay", "UPDATE calibration SET weight = 9e999 WHERE number = 0")
    assert {*statuses(folder).values()} == {REFUSED}
