"""`nbspam doctor`: one screen that says what is fine, what is wrong, and what to do next."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbspam.cli import default_model, model_places
from nbspam.tasks import doctor as doctor_task
from nbspam.tasks.doctor import FINE, NOTE, WRONG, Finding, examine
from nbspam.tasks.import_words import import_words
from tests.as_nobody import NOBODY, as_nobody
from tests.mail_samples import make_corpus, make_index, run_here


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 220, "spam": 210}, noise=0.0)


@pytest.fixture(scope="module")
def trained(mailbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    assert run_here("train", str(mailbox), "-m", str(path), "-q", "-j", "1")[0] == 0
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


def found(
    path: Path, *places: Path, home: str = "/nonexistent", has_mail: bool = False
) -> dict[str, Finding]:
    """about -> finding."""
    return {one.about: one for one in examine(str(path), "named", map(str, places), home, has_mail)}


def not_fine(path: Path, *places: Path) -> dict[str, str]:
    """about -> state of what is not fine."""
    return {about: one.state for about, one in found(path, *places).items() if one.state != FINE}


def doctor(*arguments: object) -> tuple[int, dict[str, Any]]:
    """(status, JSON) of the command."""
    status, output, complaint = run_here("doctor", *map(str, arguments), "--json", "-q")
    assert complaint == ""
    return status, json.loads(output)


def test_the_owner_of_a_read_only_model_is_advised_to_chmod(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_task.os, "access", lambda path, how: how != os.W_OK or path != str(model))
    assert found(model)["writing"].remedy == f"chmod u+w {model}"


def test_nothing_is_wrong_with_a_model_of_enough_mail(model: Path) -> None:
    assert not_fine(model) == {}
    status, output, complaint = run_here("doctor", "-m", str(model))
    assert (status, complaint) == (0, "")
    assert "All is well." in output
    assert "220 ham, 210 spam" in output
    assert run_here("doctor", "-m", str(model), "-q") == (0, "", "")


def test_a_missing_model_is_a_fault_unless_mail_is_named(tmp_path: Path, mailbox: Path) -> None:
    missing = tmp_path / "none" / "model"
    assert not_fine(missing) == {"file": WRONG}
    assert doctor("-m", missing)[0] == 66
    status, said = doctor(mailbox, "-m", missing)
    assert (status, said["status"]) == (0, 0)
    assert said["labels"]["counted_otherwise"] is None


def test_a_broken_link_is_named_with_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone")
    assert f"a link to {tmp_path}/gone" in found(link)["file"].text


def test_a_link_is_followed(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(model)
    assert not_fine(link) == {}
    assert f"a link to {model}" in found(link)["owner"].text


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"x" * 200, "not a model"), (None, "cut short")],
)
def test_a_file_that_is_not_a_model_is_not_examined_further(
    model: Path, content: bytes | None, said: str
) -> None:
    model.write_bytes(model.read_bytes()[:5000] if content is None else content)
    assert not_fine(model) == {"file": WRONG}
    assert said in found(model)["file"].text
    assert "counted" not in found(model)
    assert doctor("-m", model)[0] == 65


def test_wrong_sums_are_found(model: Path) -> None:
    with sqlite3.connect(model) as connection:
        connection.execute("UPDATE token SET documents_0 = documents_0 + 1 WHERE view = 1")
    assert not_fine(model) == {"sound": WRONG}
    assert "view_total" in found(model)["sound"].text


def test_a_damaged_page_is_found_without_a_traceback(model: Path) -> None:
    data = bytearray(model.read_bytes())
    data[4096 * 3 : 4096 * 30] = os.urandom(4096 * 27)
    model.write_bytes(data)
    status, output, complaint = run_here("doctor", "-m", str(model))
    assert (status, complaint) == (65, "")
    assert "wrong" in output


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"ham": 60, "spam": 4}, {"enough": NOTE, "calibrated": NOTE}),
        ({"ham": 60, "spam": 49}, {"enough": NOTE}),
        ({"ham": 220, "spam": 4}, {"enough": NOTE, "calibrated": NOTE, "balance": NOTE}),
    ],
)
def test_too_little_mail_is_noted(tmp_path: Path, sizes: dict[str, int], expected: dict[str, str]) -> None:
    path = tmp_path / "model"
    mail = make_corpus(tmp_path / "mail", sizes)
    assert run_here("train", str(mail), "-m", str(path), "-q", "-j", "1")[0] == 0
    assert not_fine(path) == expected
    assert f"{sizes['spam']} of class spam" in found(path)["enough"].text


def test_a_model_of_one_sum_is_no_fault(mailbox: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    assert run_here("train", str(mailbox), "-m", str(path), "-q", "--textbook")[0] == 0
    assert not_fine(path) == {}
    assert "one sum" in found(path)["calibrated"].text


def test_an_imported_model_is_calibrated_when_it_has_learned_mail_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "model"
    words = ["cheap 240 10 20260101\n", ".MSG_COUNT 300 300 20260101\n"]
    import_words([line.encode() for line in words], "words", str(path))
    assert found(path)["calibrated"].state == NOTE
    assert "0 messages were yours, the rest bogofilter's" in found(path)["calibrated"].text
    mail = make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12}, noise=0.0)
    assert run_here("train", "--update", str(mail), "-m", str(path), "-q", "-j", "1")[0] == 0
    assert found(path)["calibrated"].state == FINE


def test_a_message_counted_in_two_classes_is_noted(model: Path, mailbox: Path) -> None:
    message = next((mailbox / "ham").iterdir())
    assert run_here("train", "--update", "--spam", str(message), "-m", str(model), "-q")[0] == 0
    assert not_fine(model) == {"labels": NOTE}
    assert found(model)["labels"].text.startswith("1 message is")


@pytest.fixture
def open_place(trained: Path, open_folder: Path) -> Path:
    """The model where nobody can come to it."""
    (open_folder / "place").mkdir()
    return Path(shutil.copy(trained, open_folder / "place" / "model"))


def found_by_nobody(path: Path) -> dict[str, tuple[str, str | None]]:
    """about -> (state, name of the fault)."""
    program = f"""\
import json
from nbspam.tasks.doctor import examine
findings = examine({str(path)!r}, "named", [], "/nonexistent", False)
print(json.dumps([(one.about, one.state, one.fault and one.fault.__name__) for one in findings]))
"""
    return {about: (state, fault) for about, state, fault in as_nobody(program, path.parent.parent)}


def learned_by_nobody(path: Path) -> str:
    """What learning gives, or the name of its error."""
    program = f"""\
import json
from nbspam.store.learn import learn
try:
    print(json.dumps(learn({str(path)!r}, "ham", b"Subject: new\\n\\nsomething new\\n")))
except Exception as error:
    print(json.dumps(type(error).__name__))
"""
    said = as_nobody(program, path.parent.parent)
    assert isinstance(said, str)
    return said


@pytest.mark.parametrize(
    ("file", "folder", "expected"),
    [
        (0o666, 0o777, {"owner": NOTE}),  # everyone may write to it
        (0o666, 0o755, {"owner": NOTE, "writing": WRONG}),  # no journal beside it
        (0o444, 0o777, {"writing": WRONG}),
        (0o000, 0o777, {"file": WRONG, "writing": WRONG}),
    ],
)
def test_a_model_that_cannot_be_written_is_found(
    open_place: Path, file: int, folder: int, expected: dict[str, str]
) -> None:
    open_place.chmod(file)
    open_place.parent.chmod(folder)
    states = {about: state for about, (state, _) in found_by_nobody(open_place).items() if state != FINE}
    assert states == expected


def test_the_finding_on_writing_agrees_with_learning(open_place: Path) -> None:
    open_place.chmod(0o666)  # of the owner, but the folder is not
    open_place.parent.chmod(0o555)
    assert found_by_nobody(open_place)["writing"] == (WRONG, "InputOutputError")
    assert learned_by_nobody(open_place) == "InputOutputError"
    open_place.parent.chmod(0o777)
    assert found_by_nobody(open_place)["writing"] == (FINE, None)
    assert learned_by_nobody(open_place) == "learned"


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
def test_a_model_of_root_in_the_folder_of_a_user_is_noted(model: Path) -> None:
    os.chown(model.parent, NOBODY, NOBODY)
    assert not_fine(model) == {"owner": NOTE}
    assert found(model)["owner"].remedy.endswith(f" {model}")
    os.chown(model, NOBODY, NOBODY)
    assert not_fine(model) == {}


def test_a_full_disk_is_found(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(model)
    full = SimpleNamespace(
        f_bavail=1, f_frsize=4096, f_files=real.f_files, f_favail=real.f_favail, f_flag=real.f_flag
    )
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    assert not_fine(model) == {"space": WRONG}
    status, said = doctor("-m", model)
    assert status == said["status"] == 74


def test_files_of_killed_programs_are_noted(model: Path) -> None:
    old, new = (model.parent / f".model.{number}-0123abcd.new" for number in (1, 2))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 100_000,) * 2)
    assert found(model)["left over"].text.startswith("2 unfinished files")
    assert old.exists()  # a check-up removes nothing


def test_models_at_other_places_are_noted(model: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(model, tmp_path / "other"))
    os.utime(model, (1_000_000_000,) * 2)
    assert not_fine(model, model, tmp_path / "none", tmp_path) == {}
    assert "later than this one" in found(model, other)["another"].text
    os.utime(other, (900_000_000,) * 2)
    assert "later" not in found(model, other)["another"].text
    assert str(other) in found(tmp_path / "none", other)["another"].text


def test_the_model_is_that_of_other_commands_and_the_reason_is_shown(
    model: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value, why in (
        ("HOME", str(home), "the default place"),
        ("XDG_DATA_HOME", str(home / "xdg"), "in $XDG_DATA_HOME"),
        ("NBSPAM_MODEL", str(model), "named by $NBSPAM_MODEL"),
    ):
        monkeypatch.setenv(name, value)
        _, said = doctor()
        assert said["model"] == default_model(os.environ) == model_places(os.environ)[0][1]
        assert said["findings"][0]["text"] == f"{said['model']} ({why})"
    _, said = doctor("-m", model)
    assert said["findings"][0]["text"] == f"{model} (named by --model)"


def test_a_relative_data_folder_is_ignored() -> None:
    """XDG Base Directory: else each folder that a command is called in had a model of its own."""
    for folder in ("data", "./data", "~/data", ""):
        ((why, path),) = model_places({"XDG_DATA_HOME": folder})
        assert why == "the default place"
        assert os.path.isabs(path)


def test_a_model_at_the_default_place_is_noted_if_another_is_named(
    model: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = home / ".local" / "share" / "nbspam" / "model.nbspam"
    default.parent.mkdir(parents=True)
    shutil.copy(model, default)
    monkeypatch.setenv("NBSPAM_MODEL", str(model))
    _, said = doctor()
    assert [one["text"].split()[0] for one in said["findings"] if one["about"] == "another"] == [str(default)]


def test_lines_that_call_nbspam_to_deliver_mail_are_shown(model: Path, home: Path) -> None:
    rules = ":0 fw\n# nbspam 1\n| nbspam classify -p\n"
    (home / ".procmailrc").write_text(rules)
    status, said = doctor("-m", model)
    shown = [one["text"] for one in said["findings"] if one["about"] == "procmailrc"]
    assert (status, shown) == (0, [f"{home}/.procmailrc:3: | nbspam classify -p"])


def test_contradicting_labels_are_a_fault_and_doubts_are_not(
    model: Path, mailbox: Path, tmp_path: Path
) -> None:
    names = [(path.parent.name, str(path)) for path in sorted(mailbox.rglob("*.eml"))]
    doubtful = (("spam", names[0][1]), *names[1:])
    status, said = doctor(make_index(tmp_path, list(doubtful)), "-m", tmp_path / "none")
    assert status == 0
    assert [one["name"] for one in said["labels"]["in_doubt"]] == [names[0][1]]
    status, said = doctor(make_index(tmp_path, [*names, ("spam", names[0][1])]), "-m", tmp_path / "none")
    assert status == 65
    assert len(said["labels"]["same"]) == 1
    status, said = doctor(make_index(tmp_path, list(doubtful)), "-m", model)
    assert status == 65
    moved = {"name": names[0][1], "label": "spam", "counted": ["ham"]}
    assert said["labels"]["counted_otherwise"] == [moved]


def test_the_screen_shows_messages_and_clues(model: Path, mailbox: Path, tmp_path: Path) -> None:
    names = [(path.parent.name, str(path)) for path in sorted(mailbox.rglob("*.eml"))]
    evil = tmp_path / "evil[red]\x1b[31m.eml"
    evil.write_bytes(Path(names[0][1]).read_bytes())
    index = make_index(tmp_path, [("spam", str(evil)), *names[1:]])
    status, output, _ = run_here("doctor", str(index), "-m", str(model))
    assert status == 65
    assert "Likely mislabelled, the surest first: 1" in output
    assert "The model has counted them as another class: 1" in output
    assert "evil[red]\\x1b[31m.eml" in output
    assert "\x1b" not in output
    assert " +" in output  # clues


def test_a_path_longer_than_the_line_stays_whole(model: Path, tmp_path: Path) -> None:
    deep = tmp_path / ("a-long-name-" * 8) / ("a-long-name-" * 8) / "model"
    deep.parent.mkdir(parents=True)
    shutil.copy(model, deep)
    _, output, _ = run_here("doctor", "-m", str(deep))
    assert str(deep) in output


def test_quiet_shows_what_is_wrong_and_nothing_else(model: Path, mailbox: Path, tmp_path: Path) -> None:
    names = [(path.parent.name, str(path)) for path in sorted(mailbox.rglob("*.eml"))]
    index = make_index(tmp_path, [("spam", names[0][1]), *names[1:]])
    assert run_here("doctor", str(index), "-m", str(tmp_path / "none"), "-q") == (0, "", "")
    status, output, _ = run_here("doctor", str(index), "-m", str(model), "-q")
    assert status == 65
    assert output.startswith("wrong  counted as ")
    assert "Likely" not in output


def test_mail_of_one_class_is_compared_with_the_model(model: Path, mailbox: Path) -> None:
    status, said = doctor("--spam", mailbox / "ham", "-m", model)
    assert status == 65
    assert len(said["labels"]["counted_otherwise"]) == 220
    assert said["labels"]["in_doubt"] is None


def test_a_missing_source_is_refused(model: Path, tmp_path: Path) -> None:
    status, output, complaint = run_here("doctor", str(tmp_path / "none"), "-m", str(model))
    assert (status, output) == (66, "")
    assert "[no-such-source]" in complaint
