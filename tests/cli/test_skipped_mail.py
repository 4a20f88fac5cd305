"""Mail that cannot be read: all other is done with, and then it is an error, which -q does not hide."""

import shutil
from pathlib import Path

import pytest

from nbspam.cli.progress import SHOWN_SKIPPED
from tests.mail_samples import make_corpus
from tests.tiny_mail import program, run

pytestmark = pytest.mark.slow

GONE = "spam spam/gone.eml\n"  # a line of an index that leads nowhere


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ham, spam, an index of them, an index that names one more, a model and a vocabulary."""
    folder = make_corpus(tmp_path_factory.mktemp("made") / "place", {"ham": 40, "spam": 40}, noise=0.2)
    (folder / "whole").write_text("ham ham\nspam spam\n")
    (folder / "index").write_text("ham ham\nspam spam\n" + GONE)
    run("train", "-q", "-j1", folder / "whole", "-m", folder / "m")
    run("vocab", "build", "-q", "-j1", folder / "whole", "-o", folder / "v.tsv")
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "place"))


COMMANDS = [
    (["train", "-m", "new"], "new"),
    (["train", "-m", "m", "--update"], "m"),
    (["eval", "--folds", "2", "--save", "new"], "new"),
    (["eval", "--replay", "--json", "--results", "new"], "new"),
    (["eval", "-m", "m", "--save", "new"], "new"),
    (["tune", "--write", "--json", "-m", "new"], "new"),
    (["vocab", "build", "-o", "new"], "new"),
    (["vectorize", "--vocab", "v.tsv", "--event-model", "bernoulli", "-o", "new"], "new"),
]


def done(place: Path, command: list[str], index: str, *more: str) -> tuple[int, bytes, str]:
    """(status, stdout, stderr) of a command in that place."""
    names = [str(place / word) if word in ("new", "m", "v.tsv") else word for word in command]
    found = program(*names, *more, "-j1", place / index)
    return found.returncode, found.stdout, found.stderr.decode()


@pytest.mark.parametrize(("command", "written"), COMMANDS, ids=lambda value: " ".join(value))
def test_unreadable_mail_is_an_error_after_all_other_mail(
    place: Path, command: list[str], written: str
) -> None:
    status, output, said = done(place, command, "index", "-q")
    named, error, remedy = said.splitlines()
    assert status == 66
    assert named == f"Skipped: {place}/spam/gone.eml: No such file or directory"
    assert error == "nbspam: SOURCE: 1 file or folder could not be read; all other mail is done"
    assert remedy.endswith("[no-input]")
    assert (place / written).stat().st_size > 0
    (place / "new").unlink(missing_ok=True)
    output = output.replace(b"/index", b"/whole")  # in the command that tune shows
    assert done(place, command, "whole", "-q") == (0, output, "")


def test_five_unreadable_files_are_named_and_the_rest_counted(place: Path) -> None:
    with open(place / "index", "a") as index:
        index.writelines(GONE.replace("gone", f"gone{n}") for n in range(SHOWN_SKIPPED))
    _, _, said = done(place, ["train", "-m", "new"], "index", "-q")
    assert said.count("Skipped: ") == SHOWN_SKIPPED
    assert f"{SHOWN_SKIPPED + 1} files or folders could not be read" in said
