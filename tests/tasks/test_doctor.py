"""`nbspam doctor`: one screen that says what is fine, what is wrong, and what to do next."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from nbspam.tasks.doctor import FINE, NOTE, WRONG, Finding, examine
from tests.as_nobody import NOBODY, as_nobody
from tests.mail_samples import make_corpus
from tests.programs import needs_root
from tests.tiny_mail import mail, process, program, run, write_folders


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 220, "spam": 210}, noise=0.0)


@pytest.fixture(scope="module")
def trained(mailbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    run("train", mailbox, "-m", path, "-q", "-j1")
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return Path(shutil.copy(trained, folder / "model"))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    for name in ("NBSPAM_MODEL", "XDG_DATA_HOME", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    return folder


def found(path: Path, *places: Path) -> dict[str, Finding]:
    """about -> finding."""
    return {one.about: one for one in examine(str(path), "named", map(str, places))}


def not_fine(path: Path, *places: Path) -> dict[str, str]:
    """about -> state of what is not fine."""
    return {about: one.state for about, one in found(path, *places).items() if one.state != FINE}


def doctor(*arguments: object) -> tuple[int, dict[str, Any]]:
    """(status, JSON) of the command."""
    done = program("doctor", *arguments, "--json", "-q")
    assert done.stderr == b""
    return done.returncode, json.loads(done.stdout)


def test_field_of_nearly_one_class_alone_is_named(tmp_path: Path) -> None:
    """Classes that came on different ways teach the way."""
    mails = [mail(f"report {n}") for n in range(100)]
    ways = {"ham": b"X-Queue: a\n", "spam": b"X-Store-Info: b\n"}  # the latter is no evidence
    folder = write_folders(
        tmp_path / "mail", {name: [way + one for one in mails] for name, way in ways.items()}
    )
    run("train", folder, "-m", tmp_path / "model", "-q")
    fields = found(tmp_path / "model")["fields"]
    assert (fields.state, fields.text.split(": ")[1].split(";")[0]) == (NOTE, "x-queue")
    assert "the same way" in fields.remedy


def test_mail_unlike_that_of_training_is_noted(model: Path, mailbox: Path, tmp_path: Path) -> None:
    other = [f"X-A{n}: wholly{n} unknown{n}\n".encode() * 2 + b"\nhello" for n in range(9)]
    folder = write_folders(tmp_path / "other", {"ham": other[:4], "spam": other[4:]})
    for mails, state in ((mailbox, FINE), (folder, NOTE)):
        findings = doctor(mails, "-m", model)[1]["findings"]
        assert [one["state"] for one in findings if one["about"] == "mail"] == [state]
        said = run("eval", "-q", "-j1", mails, "-m", model)
        assert ("learn 60 messages" in said.replace("\n", " ")) == (state == NOTE)


def test_nothing_is_wrong_with_a_model_of_enough_mail(model: Path) -> None:
    assert not_fine(model) == {}


@pytest.mark.parametrize("size", [0, 5000])
def test_a_file_that_is_no_sound_model_is_not_examined_further(model: Path, size: int) -> None:
    os.truncate(model, size)
    assert WRONG in not_fine(model).values()
    assert "counted" not in found(model)
    assert doctor("-m", model)[0] == 65


def test_wrong_choice_of_a_reader_is_one_fault_and_the_rest_is_examined(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBSPAM_CORE", "maybe")
    done = process("doctor", "-m", model, "--json")
    assert (done.returncode, done.stderr) == (64, b"")
    findings = {one["about"]: one for one in json.loads(done.stdout)["findings"]}
    assert findings["reader"]["state"] == WRONG and "NBSPAM_CORE=maybe" in findings["reader"]["text"]
    assert findings["sound"]["state"] == FINE


def test_model_that_a_server_would_not_open_for_its_user_is_noted(model: Path, tmp_path: Path) -> None:
    def places(path: Path) -> list[str]:
        return [one.text for one in examine(str(path), "", [], str(model)) if one.about == "server"]

    (tmp_path / "users").mkdir(mode=0o700)
    assert places(tmp_path / "users" / "%u") == []
    (tmp_path / "users").chmod(0o770)
    assert places(tmp_path / "users" / "%u")[0].startswith(f"other users can write to {tmp_path / 'users'}: ")


def test_copies_of_one_message_are_not_enough_mail(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "mail", {"ham": 220, "spam": 4})
    for number in range(220):
        shutil.copy(next((folder / "spam").iterdir()), folder / "spam" / f"copy{number}")
    run("train", folder, "-m", tmp_path / "m", "-q", "-j1")
    assert "4 of class spam" in found(tmp_path / "m")["enough"].text


def test_too_little_mail_is_noted(tmp_path: Path) -> None:
    run("train", make_corpus(tmp_path / "mail", {"ham": 220, "spam": 4}), "-m", tmp_path / "m", "-q", "-j1")
    assert not_fine(tmp_path / "m") == {"enough": NOTE, "calibrated": NOTE}
    assert "4 of class spam" in found(tmp_path / "m")["enough"].text


@pytest.fixture
def open_place(trained: Path, open_folder: Path) -> Path:
    """The model where nobody can come to it."""
    (open_folder / "place").mkdir()
    return Path(shutil.copy(trained, open_folder / "place" / "model"))


def found_by_nobody(path: Path) -> tuple[dict[str, str], str]:
    """(what is not fine, as in `not_fine`; what learning gives, or the name of its error)."""
    program = f"""\
import json
from nbspam.learning.learn import learn_message
from nbspam.tasks.doctor import FINE, examine
found = examine({str(path)!r}, "named", [])
try:
    learned = learn_message({str(path)!r}, "ham", b"Subject: new\\n\\nsomething new\\n")
except Exception as error:
    learned = type(error).__name__
print(json.dumps([{{one.about: one.state for one in found if one.state != FINE}}, learned]))
"""
    states, learned = as_nobody(program, path.parent.parent)
    return states, learned


@pytest.mark.parametrize(
    ("file", "folder", "expected", "learned"),
    [
        (0o666, 0o777, {"owner": NOTE}, "learned"),  # everyone may write to it
        (0o666, 0o755, {"owner": NOTE, "writing": WRONG}, "InputOutputError"),  # no journal beside it
        (0o444, 0o777, {"owner": NOTE, "writing": WRONG}, "InputOutputError"),
        (0o000, 0o777, {"file": WRONG, "writing": WRONG}, "NoInputError"),
    ],
)
def test_a_model_that_cannot_be_learned_into_is_found(
    open_place: Path, file: int, folder: int, expected: dict[str, str], learned: str
) -> None:
    open_place.chmod(file)
    open_place.parent.chmod(folder)
    assert found_by_nobody(open_place) == (expected, learned)


@needs_root("gives files away")
def test_a_model_of_root_in_the_folder_of_a_user_is_noted(model: Path) -> None:
    os.chown(model.parent, NOBODY, NOBODY)
    assert not_fine(model) == {"owner": NOTE}
    assert found(model)["owner"].remedy.endswith(f" {model}")
    os.chown(model, NOBODY, NOBODY)
    assert not_fine(model) == {}


def test_model_that_others_can_read_is_noted(model: Path, mailbox: Path) -> None:
    model.unlink()
    run("train", "-q", mailbox, "-m", model)
    assert not_fine(model) == {}
    run("train", "-q", "--replace", "--mode", "644", mailbox, "-m", model)
    assert not_fine(model) == {"owner": NOTE}
    assert "others can open" in found(model)["owner"].text


def test_models_at_other_places_are_noted(model: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(model, tmp_path / "other"))
    os.utime(model, (1_000_000_000,) * 2)
    assert not_fine(model, model, tmp_path / "none", tmp_path) == {}
    assert "later than this one" in found(model, other)["another"].text
    os.utime(other, (900_000_000,) * 2)
    assert "later" not in found(model, other)["another"].text
    assert str(other) in found(tmp_path / "none", other)["another"].text


@pytest.mark.parametrize(
    ("path", "recipe", "said"),
    [
        ("PATH=$HOME/bin:/usr/bin\n", "| nbspam classify -p", ""),
        ("", "| /usr/local/bin/nbspam classify -p", ""),
        ("PATH=/nowhere\n", "| nbspam classify -p", "its PATH has no nbspam: /nowhere"),
        ("", "| nbspam classify -p", "sets no PATH"),
    ],
)
def test_a_recipe_that_may_not_find_the_program_is_noted(
    model: Path, home: Path, path: str, recipe: str, said: str
) -> None:
    program = home / "bin" / "nbspam"
    program.parent.mkdir()
    program.touch(0o755)
    (home / ".procmailrc").write_text(f"{path}:0 fwr\n{recipe}\n")
    finding = found(model)["procmailrc"]
    assert said in finding.text
    assert (finding.state, bool(finding.remedy)) == ((NOTE, True) if said else (FINE, False))


@pytest.mark.parametrize(
    ("top", "said", "remedy"),
    [
        ("MAILDIR=$HOME/Maildir\nDEFAULT=$MAILDIR/\n", "all other mail goes to HOME/Maildir/, or to ", ""),
        (
            'MAILDIR="${HOME}/Maildir"  # all\nDEFAULT=new/\nORGMAIL=$HOME/o\n',
            "HOME/Maildir/new/, or to HOME/o if",
            "",
        ),
        ("MAILDIR=$HOME/Maildir\n", "other mail goes to /var/mail/", "DEFAULT=$MAILDIR/ at the top"),
        ("", "folder is below HOME, ", "MAILDIR=$HOME/Maildir at the top"),
        ("MAILDIR=$HOME/Mail\nDEFAULT=$MAILDIR/\n", "there is no HOME/Mail,", "mkdir -p HOME/Mail"),
        ("MAILDIR=$HOME/Maildir\nDEFAULT=$MAILDIR\n", "without / at its end", "DEFAULT=HOME/Maildir/"),
    ],
)
def test_doctor_says_where_procmail_puts_mail(
    model: Path, home: Path, top: str, said: str, remedy: str
) -> None:
    (home / "Maildir").mkdir()
    (home / ".procmailrc").write_text(f"{top}:0 fwr\n| nbspam classify -p\n")
    finding = found(model)["delivery"]
    assert said.replace("HOME", str(home)) in finding.text
    remedy = remedy if "$HOME" in remedy else remedy.replace("HOME", str(home))
    assert (remedy in finding.remedy, finding.state) == (True, NOTE if remedy else FINE)
