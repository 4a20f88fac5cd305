"""The ledger: what was learned when and from where, and undo, after which each message counts as before."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbspam.errors import UsageError
from nbspam.learning import autolearn
from nbspam.learning.learn import find_wanted, learn_message, learn_messages, read_counted, unlearn_message
from nbspam.learning.undo import choose_entries, find_lessons, take_back
from nbspam.store.check import check_model
from nbspam.store.ledger import Rows, drop_batches, list_entries
from nbspam.store.reader import COUNTED, open_model
from nbspam.store.updater import Origin, count_copies
from tests.store.changed_model import change, forge
from tests.tiny_mail import counts, error, mail, run, write_folders

LETTERS = [mail(f"letter{n} " + "pills garden " * n) for n in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "letters", {"all": LETTERS}) / "all"


def log(model: Path, *options: object) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("log", "--json", "-m", model, *options).splitlines()]


@given(
    labels=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2)), max_size=8),
    undone=st.lists(st.integers(0, 7), max_size=8),
)
def test_rows_without_batches_are_those_of_the_lessons_that_are_left(
    labels: list[tuple[int, int]], undone: list[int]
) -> None:
    """Whatever was taken back, and in whatever order: a message counts as its last lesson that is left."""
    rows: Rows = []
    lessons: dict[int, tuple[int, int]] = {}
    for batch, (label, times) in enumerate(labels):
        counted = {k: n for (_, k), n in count_copies(rows).items()}
        if label not in counted:
            rows += [(7, other, batch, -n) for other, n in counted.items()] + [(7, label, batch, times)]
            lessons[batch] = (label, times)
    for batch in undone:
        rows = drop_batches(rows, {batch})
        lessons.pop(batch, None)
        expected = {(7, label): times for label, times in [*lessons.values()][-1:]}
        assert {message: times > 0 for message, times in count_copies(rows).items()} == dict.fromkeys(
            expected, True
        )


LETTER = st.integers(0, len(LETTERS) - 1)
ACTION = st.one_of(
    st.tuples(st.just("learn"), st.sampled_from(["ham", "spam"]), st.lists(LETTER, min_size=1, max_size=3)),
    st.tuples(st.just("unlearn"), LETTER),
    st.tuples(st.just("undo"), st.integers(0, 12)),
    st.tuples(st.just("own"), st.sampled_from(["ham", "spam"]), LETTER),
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTION, max_size=16))
def test_counts_are_those_of_a_model_that_was_taught_what_counts_now(
    trained: Path, tmp_path: Path, actions: list[tuple[Any, ...]]
) -> None:
    path, other = (shutil.copy(trained, tmp_path / name) for name in ("model", "other"))
    write_folders(tmp_path / "letters", {"all": LETTERS})
    with mock.patch.object(autolearn, "MIN_LABELLED", 1):
        for number, action in enumerate(actions):
            match action:
                case "learn", label, letters:
                    origin = Origin(f"batch {number}")
                    learn_messages(str(path), label, [("", LETTERS[n]) for n in letters], origin)
                case "unlearn", letter:
                    unlearn_message(str(path), LETTERS[letter])
                case "own", label, letter:
                    autolearn.learn_verdict(str(path), label, LETTERS[letter], f"batch {number}")
                case "undo", batch:
                    with suppress(UsageError):
                        chosen = choose_entries(str(path), False, source=f"batch {batch}")
                        lessons = find_lessons(str(path), chosen, [str(tmp_path / "letters" / "all")])
                        assert take_back(str(path), lessons, lambda *_: None) == 0
    with open_model(str(path)) as model:
        counted = dict(model.connection.ask(f"SELECT digest, class FROM {COUNTED}"))
        shown = [entry.messages for entry in list_entries(model)]
        assert [*map(sum, zip(*shown, strict=True))] == model.messages
        wanted = find_wanted(model)
        known = {read_counted(letter, wanted).digest: letter for letter in LETTERS}
    for digest, letter in known.items():
        if digest in counted:
            learn_message(str(other), ("ham", "spam")[counted[digest]], letter)
    assert counts(Path(path)) == counts(Path(other))
    assert check_model(str(path)) == []


def test_log_shows_command_folder_and_classes_and_undo_takes_the_last_line_back(
    model: Path, folder: Path
) -> None:
    before = counts(model)
    run("learn", "spam", folder, "-m", model)
    between = counts(model)
    run("learn", "ham", folder / "000.eml", folder / "001.eml", "-m", model)
    run("learn", "ham", "-m", model, stdin=mail("a note"))
    sources = [("learn", 1, 0), (f"learn {folder}", 2, 0), (f"learn {folder}", 0, 4)]
    found = [(one["source"], *dict(one["messages"]).values(), one["by"]) for one in log(model, "-n", 3)]
    assert found == [(*source, "person") for source in sources]
    assert log(model)[-1]["source"].startswith("train /")
    said = error("undo", "--last", "-m", model, status=66)
    assert "[undo-no-mail]" in said
    copy = folder.parent / "found.eml"
    copy.write_bytes(mail("a note"))
    assert run("undo", "--last", "-m", model, copy) == f"forgotten\t{copy}\n"
    assert run("undo", "--last", "-m", model).count("moved\t") == 2
    assert counts(model) == between
    assert run("undo", "--source", folder, "--since", "2001-01-01", "-m", model).count("forgotten\t") == 6
    assert counts(model) == before
    assert "undo-nothing" in error("undo", "--since", "2001-01-01", "-m", model, status=64)
    assert check_model(str(model)) == []


@pytest.mark.parametrize(
    "options", [[], ["--last", "--source", "learn"], ["--last", "--since", "2026-01-01"]]
)
def test_undo_without_a_choice_is_refused(model: Path, options: list[str]) -> None:
    assert "[undo-what]" in error("undo", *options, "-m", model, status=64)


def test_killed_undo_leaves_a_sound_model_and_the_next_one_finishes(model: Path, tmp_path: Path) -> None:
    letters = [mail(f"letter{n} garden") for n in range(40)]
    folder, before = write_folders(tmp_path / "many", {"all": letters}) / "all", counts(model)
    run("learn", "spam", folder, "-m", model)

    class Killed(BaseException):
        pass

    def die(*_: str) -> None:
        raise Killed

    lessons = find_lessons(str(model), choose_entries(str(model), False, source="learn"), [])
    with pytest.raises(Killed):
        take_back(str(model), lessons, die)
    assert check_model(str(model)) == []
    assert log(model)[0]["messages"] == {"ham": 0, "spam": 8}
    assert run("undo", "--last", "-m", model).count("forgotten\t") == 8
    assert counts(model) == before


def test_undo_says_before_it_begins_how_much_mail_is_gone(model: Path, folder: Path) -> None:
    run("learn", "spam", folder, "-m", model)
    lessons = find_lessons(str(model), choose_entries(str(model), True), [])
    for name in ("000.eml", "001.eml"):
        (folder / name).unlink()
    said = error("undo", "--last", "-m", model, status=66).splitlines()
    assert said[:3] == [
        "Of 6 lessons, 2 cannot be taken back: the mail was not found.",
        "4 messages: 4 forgotten.",
        "The counts are as before; the calibration keeps what it has learned.",
    ]
    assert take_back(str(model), lessons, lambda *_: None) == 2  # it was there when they were looked for


def test_damaged_numbers_of_batches_are_found(model: Path) -> None:
    learn_message(str(model), "spam", LETTERS[0])
    for table, column in (("learned", "batch"), ("token", "since")):
        forge(model, f"UPDATE {table} SET {column} = 9 WHERE {column} = 2")
        (said,) = check_model(str(model))
        assert said.startswith(f"{table}: ") and "batches that do not exist" in said
        forge(model, f"UPDATE {table} SET {column} = 2 WHERE {column} = 9")
    change(model, "UPDATE batch SET time = 'x' WHERE number = 2")
    (said,) = check_model(str(model))
    assert "batch: a row has a value that nbspam never writes" in said
    run("log", "-m", model)  # a wrong date hides no lesson
