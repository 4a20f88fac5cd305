"""Every column of every table of a model with values that nbspam never writes: refused, never counted."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nbspam.learning.learn import count_message, find_wanted, list_tokens, read_counted
from nbspam.store.autolearned import pack_tokens
from nbspam.store.reader import OPENING, opening_digest, schema
from nbspam.store.updater import Origin, open_updater
from tests.tiny_mail import mail, program, run, write_folders

COLUMNS = [
    (table, column.split()[0])
    for table, columns in (statement.removeprefix("CREATE TABLE ").split(" (", 1) for statement in schema(2))
    for column in columns.rpartition(")")[0].split(", ")
    if column.split()[0] not in ("PRIMARY", "UNIQUE") and column.split()[0].isidentifier()
]
VALUES = ((None, -3), ("x", 1 << 62), (b"\xff", 77))  # of each column the next two
CASES = [(*column, VALUES[number % len(VALUES)]) for number, column in enumerate(COLUMNS)]
LESSON, OWN, NEW = mail("garden party on monday"), mail("garden offers pills"), mail("garden pills")
READERS = ("classify", "explain", "log", "model info", "model dump", "doctor", "model merge")
WRITERS = ("learn spam", "unlearn", "undo --last", "model prune --min-count 2")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with rows in nearly every table; in its folder, `calibrated` and `overlay` have the others."""
    folder = tmp_path_factory.mktemp("full")
    ham = [mail(f"minutes of the garden fence {n}") for n in range(6)]
    source = write_folders(
        folder / "mail", {"ham": ham, "spam": [mail(f"cheap pills {n}") for n in range(6)]}
    )
    path = folder / "model"
    run("train", "-q", "-j1", source, "-m", folder / "calibrated")
    run("learn", "-q", "spam", "-m", folder / "overlay", "--start", folder / "calibrated", stdin=LESSON)
    run("train", "-q", "-j1", "--features", "both", source, "-m", path)
    for label in ("spam", "ham"):  # so that it moves
        (folder / "lesson").write_bytes(LESSON)
        run("learn", label, folder / "lesson", "-m", path)
    run("deny", "-m", path, "offers.example")
    with open_updater(str(path)) as updater:
        updater.begin(Origin("classify", is_own=True))
        own = read_counted(OWN, find_wanted(updater.model))
        count_message(updater, 1, own, 1)
        tokens = pack_tokens((key, times) for key, _, _, times in list_tokens(updater.model, own))
        updater.change("autolearned", new=[(own.digest, 1, tokens)])
    assert program("model", "check", "-m", path).returncode == 0
    return path


def change(path: Path, table: str, column: str, value: object, where: str = "") -> bool:
    """Give a row the value, also NULL where the schema forbids it; False if the file stays as it is.

    Who can write the file can write the digest of the small tables, too.
    """
    with closing(sqlite3.connect(path)) as model:
        model.execute("PRAGMA writable_schema = ON")
        (sound,) = model.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        model.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = ?", (table,))
        model.commit()
    with closing(sqlite3.connect(path)) as model:
        model.execute("PRAGMA ignore_check_constraints = ON")
        before = model.execute(f"SELECT * FROM {table}").fetchall()
        where = where or f"{column} IS (SELECT {column} FROM {table} LIMIT 1)"
        try:
            model.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {where}", (value,))
        except sqlite3.IntegrityError:  # an INTEGER PRIMARY KEY is always a whole number
            return False
        changed = model.execute(f"SELECT * FROM {table}").fetchall() != before
        rows = {name: model.execute(query).fetchall() for name, query in OPENING.items()}
        if table in OPENING:
            digest = opening_digest(rows)
            model.execute("UPDATE digest SET value = ? WHERE name = 'opening'", (digest,))
        model.execute("PRAGMA writable_schema = ON")
        model.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sound, table))
        model.commit()
    return changed


@pytest.mark.parametrize(("table", "column", "values"), CASES)
def test_no_value_of_a_row_is_a_fault_of_ours_or_counted(
    full: Path, tmp_path: Path, table: str, column: str, values: tuple[object, ...]
) -> None:
    path, copy = tmp_path / "model", tmp_path / "copy"
    (tmp_path / "lesson").write_bytes(LESSON)
    others = {"base": "overlay", "calibration": "calibrated"}
    sound = full.parent / others.get(table, full.name)
    damaged = 0
    for turn, value in enumerate(values):
        shutil.copy(sound, path)
        if not change(path, table, column, value):
            continue
        damaged += 1
        # Nobody can tell a sound model from one whose names, totals and digest were all written anew.
        is_found = table not in OPENING and column != "number"
        checked = program("model", "check", "-m", path)
        assert checked.returncode in ((65,) if is_found else (0, 65, 75)), (value, checked)
        for command in READERS[turn % 2 :: 2]:
            rest = [path, full, "-o", tmp_path / "new", "--replace"] if "merge" in command else ["-m", path]
            done = program(*command.split(), *rest, stdin=NEW)
            assert done.returncode in (0, 1, 2, 64, 65, 66, 75), (value, command, done)
            assert b"Traceback" not in done.stderr
        for command in WRITERS[turn % 2 :: 2]:
            shutil.copy(path, copy)
            done = program(*command.split(), "-m", copy, stdin=LESSON)
            assert done.returncode in (0, 64, 65, 66, 75), (value, command, done)
            if done.returncode == 0 and is_found:
                assert program("model", "check", "-m", copy).returncode == 65, (value, command)
    assert damaged


@pytest.mark.parametrize("time_ms", [-5000, -(1 << 62), 1 << 62, None, "x", b"\xff", 1.5])
def test_a_lesson_of_any_date_is_listed_and_taken_back(full: Path, tmp_path: Path, time_ms: object) -> None:
    path = tmp_path / "model"
    shutil.copy(full, path)
    before = run("log", "-m", path).count("\n")
    (tmp_path / "new").write_bytes(NEW)
    run("learn", "spam", tmp_path / "new", "-m", path)
    newest = "(SELECT max(number) FROM batch)"
    assert change(path, "batch", "time", time_ms, f"number = {newest}")
    assert run("log", "-m", path).count("\n") == before + 1
    assert run("log", "--json", "-m", path).count("\n") == before + 1
    found = run("undo", "--source", "learn", tmp_path / "new", "-m", path)
    assert "forgotten" in found and run("log", "-m", path).count("\n") < before + 1
