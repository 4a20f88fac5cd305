"""`nbspam model`: info, check, dump, load, merge."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from math import log
from pathlib import Path

import pytest

from nbspam.errors import CannotCreateError
from nbspam.filter import open_filter
from nbspam.settings import ALPHA
from nbspam.store.merge import merge
from nbspam.store.reader import open_model
from nbspam.store.text import load_dump
from nbspam.tokens import KeyedTokens
from nbspam.tokens.bag import READ_NUMBERS, VIEW_NAMES, hash_token
from nbspam.tokens.numeric import NAMES
from tests.store.changed_model import change, forge
from tests.tiny_mail import error, mail, program, run, write_folders

KINDS = {
    "views": [],
    "multinomial": ["--event-model", "multinomial"],
    "both": ["--features", "both", "--event-model", "bernoulli", "--loss", "FP=9,FN=1,unsure=0.2"],
    "aode": ["--event-model", "aode", "--bins", "4"],
}


@pytest.fixture(scope="module")
def models(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model of each kind, never written to."""
    folder = tmp_path_factory.mktemp("models")
    for kind, options in KINDS.items():
        run("train", data, "-m", folder / kind, "-q", *options)
    run("vocab", "build", data, "--size", "300", "--view", "body", "-o", folder / "v.tsv", "-q")
    run("train", data, "-m", folder / "fixed", "-q", "--vocab", folder / "v.tsv")
    return {name: folder / name for name in [*KINDS, "fixed"]}


@pytest.fixture
def china(tmp_path: Path) -> Path:
    """Manning et al. 2008, table 13.1, as mail without a header."""
    texts = {
        "china": [b"\nChinese Beijing Chinese\n", b"\nChinese Chinese Shanghai\n", b"\nChinese Macao\n"],
        "other": [b"\nTokyo Japan Chinese\n"],
    }
    return write_folders(tmp_path / "china", texts)


@pytest.fixture
def copy(models: dict[str, Path], tmp_path: Path) -> Path:
    """A model to spoil."""
    return Path(shutil.copy(models["views"], tmp_path / "copy"))


@pytest.mark.parametrize("kind", [*KINDS, "fixed"])
def test_loaded_dump_is_the_same_sound_model(models: dict[str, Path], tmp_path: Path, kind: str) -> None:
    text = run("model", "dump", "-m", models[kind])
    run("model", "load", "-", "-m", tmp_path / "m", stdin=text.encode())
    assert run("model", "dump", "-m", tmp_path / "m") == text
    assert _tables(tmp_path / "m") == _tables(models[kind])
    assert run("model", "check", "-m", tmp_path / "m").endswith("sound\n")


def _tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table without the file's identity, where the counts came from, and digests."""
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names -= {"batch", "digest", "identity"}
    return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE view SET words = words + 1 WHERE number = 0", "totals or weights"),
        ("UPDATE token SET documents_0 = 100000 WHERE key = (SELECT min(key) FROM token)", "token: its rows"),
        ("UPDATE token SET text = 'other' WHERE key = (SELECT min(key) FROM token)", "do not belong"),
        ("DELETE FROM learned WHERE class = 0", "learned: its rows"),
        ("UPDATE calibration SET covariance = '1.0'", "covariance of the calibration is not one"),
        ("DELETE FROM setting WHERE name = 'alpha'", "totals or weights"),
    ],
)
def test_check_finds_what_does_not_add_up(copy: Path, statement: str, said: str) -> None:
    change(copy, statement)
    done = program("model", "check", "-m", copy)
    assert (done.returncode, said in (done.stdout + done.stderr).decode()) == (65, True)


def test_failed_load_leaves_the_old_model(models: dict[str, Path], copy: Path) -> None:
    before = copy.read_bytes()
    text = run("model", "dump", "-m", models["multinomial"])
    assert "model-exists" in error("model", "load", "-m", copy, status=73, stdin=text.encode())
    cut = text.encode()[:-20]
    assert "dump-truncated" in error("model", "load", "-m", copy, "--replace", status=65, stdin=cut)
    assert copy.read_bytes() == before
    assert [path.name for path in copy.parent.iterdir()] == ["copy"]


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("views", "UPDATE class SET messages = -50 WHERE number = 0"),
        ("views", "UPDATE view_total SET documents = -100000 WHERE view = 1 AND class = 0"),
        ("views", "UPDATE calibration SET weight = 9e999 WHERE number = 0"),
        ("views", "UPDATE setting SET value = 'nan' WHERE name = 'alpha'"),
        ("both", "UPDATE numeric_count SET value = 'x' WHERE kind = 'moment'"),
    ],
)
def test_impossible_value_is_damage(
    models: dict[str, Path], tmp_path: Path, kind: str, statement: str
) -> None:
    copy = Path(shutil.copy(models[kind], tmp_path / "copy"))
    change(copy, statement)
    assert program("model", "check", "-m", copy).returncode == 65
    forge(copy, "UPDATE digest SET value = 0")
    for command in (["classify"], ["learn", "spam"], ["explain"], ["model", "info"]):
        assert "model-damaged" in error(*command, "-m", copy, status=65, stdin=mail("hello"))


def test_merge_takes_settings_of_the_first(models: dict[str, Path], data: Path, tmp_path: Path) -> None:
    run("train", data, "-m", tmp_path / "textbook", "-q", "--textbook", "--alpha", "0.5")
    done = program("model", "merge", models["multinomial"], tmp_path / "textbook", "-o", tmp_path / "new")
    assert done.returncode == 0
    assert f"Settings and calibration: those of {models['multinomial']}".encode() in done.stderr
    assert open_model(str(tmp_path / "new")).settings == open_model(str(models["multinomial"])).settings


def test_merge_takes_the_calibration_of_the_first(models: dict[str, Path], tmp_path: Path) -> None:
    taught = shutil.copy(models["views"], tmp_path / "taught")
    run("learn", "spam", "-m", taught, stdin=mail("minutes of the meeting"))
    run("model", "merge", "-q", taught, models["views"], "-o", tmp_path / "new")
    expected, other, merged = (open_model(str(path)) for path in (taught, models["views"], tmp_path / "new"))
    assert expected.calibration() != other.calibration()
    assert merged.calibration() == expected.calibration() and merged.covariance() == expected.covariance()


def test_models_of_different_vocabularies_do_not_merge(models: dict[str, Path], tmp_path: Path) -> None:
    said = error("model", "merge", models["views"], models["fixed"], "-o", tmp_path / "new", status=65)
    assert "[merge-vocabulary]" in said


def test_path_of_a_model_may_begin_with_two_slashes(tmp_path: Path) -> None:
    """As `$PREFIX/model` is where PREFIX ends with one: SQLite would take the first folder for a host."""
    folder = write_folders(tmp_path / "mail", {"ham": [mail("garden")], "spam": [mail("pills")]})
    model = f"/{tmp_path}/a%3fb?c#d"
    run("train", "-q", folder, "-m", model)
    run("train", "-q", folder, "-m", model, "--update")
    assert run("learn", "spam", "-m", model, stdin=mail("cheap")).startswith("learned")
    assert run("classify", "-m", model, stdin=mail("garden")).startswith("ham")
    assert (tmp_path / "a%3fb?c#d").exists()


@pytest.mark.parametrize("replaces", [False, True])
@pytest.mark.parametrize("command", ["load", "merge"])
def test_model_that_comes_while_another_is_made_stays_unless_replaced(
    models: dict[str, Path], tmp_path: Path, command: str, replaces: bool
) -> None:
    path, text = tmp_path / "new", run("model", "dump", "-m", models["views"]).encode()
    make = {
        "load": lambda: load_dump(text.splitlines(keepends=True), "text", str(path), replaces),
        "merge": lambda: merge([str(models["views"]), str(models["views"])], str(path), replaces),
    }[command]
    shutil.copy(models["both"], path)
    if replaces:
        make()
        assert path.read_bytes() != models["both"].read_bytes()
    else:
        with pytest.raises(CannotCreateError, match="was made here meanwhile"):
            make()
        assert path.read_bytes() == models["both"].read_bytes()
    assert {*os.listdir(tmp_path)} - {"new-lock"} == {"new"}


def test_words_are_found_in_every_field_with_their_counts(tmp_path: Path) -> None:
    ham, spam = tmp_path / "ham", [mail("cheap pills", "Cheap!"), mail("cheap http://cheap.example/cheap")]
    write_folders(tmp_path, {"ham": [mail("lunch"), mail("cheap lunch")], "spam": spam})
    model = tmp_path / "m"
    run("train", "-q", "--ham", ham, "--spam", tmp_path / "spam", "-m", model)
    shown = {line["token"]: line for line in map(json.loads, _words(model, "Cheap", "--json"))}
    counts = {token: tuple(line["documents"].values()) for token, line in shown.items()}
    assert counts == {"cheap": (1, 2), "subject:cheap": (0, 1), "url=/cheap": (0, 1)}
    assert shown["subject:cheap"]["nats"] > shown["cheap"]["nats"]
    assert all(line["since"] for line in shown.values())
    assert [line.split()[-1] for line in _words(model, "subject:cheap")[2:]] == ["subject:cheap"]
    learned = tmp_path / "learned"
    learned.write_bytes(mail("cheap lunch", "once more"))
    run("learn", "-q", "ham", learned, "-m", model)
    again = {line["token"]: line["documents"] for line in map(json.loads, _words(model, "cheap", "--json"))}
    assert again["cheap"] == {"ham": 2, "spam": 2}


def _words(model: Path, *arguments: str) -> list[str]:
    return run("model", "words", "-m", model, *arguments).splitlines()


@pytest.mark.parametrize("kind", [*KINDS, "fixed"])
def test_what_a_word_says_is_what_the_model_scores_it_by(models: dict[str, Path], kind: str) -> None:
    shown = [json.loads(line) for line in _words(models[kind], "free", "--json")]
    assert bool(shown) == (kind != "aode")
    views = json.loads(run("model", "info", "-m", models[kind], "--json"))["views"]
    with closing(open_filter(str(models[kind]))) as judge:
        for line in shown:
            if (
                judge.settings.averaged
            ):  # by pencil: log((n_1 + λ) / (n_0 + λ)) - log((N_1 + λ|V|) / (N_0 + λ|V|))
                n, total = line["documents"], views[line["view"]]["documents"]
                size = views[line["view"]]["words"] + 1
                share = {name: (n[name] + ALPHA) / (total[name] + ALPHA * size) for name in n}
                assert line["nats"] == pytest.approx(log(share["spam"] / share["ham"]))
                continue
            empty, one = (KeyedTokens([{} for _ in READ_NUMBERS], 0, [None] * len(NAMES)) for _ in range(2))
            one.tokens[VIEW_NAMES.index(line["view"])] = {hash_token(line["token"]): (line["token"], 1)}
            without, odds = (judge.scorer.score(message).log_odds(1) for message in (empty, one))
            assert odds - without == pytest.approx(line["nats"])


def test_words_that_the_model_does_not_know_are_named(models: dict[str, Path]) -> None:
    done = program("model", "words", "xyzzy\x1b[31m", "lake.xyzzy", "Fréé", "-m", models["views"])
    assert done.returncode == 0
    assert [line.split(": ")[0] for line in done.stderr.decode().splitlines()] == [
        "xyzzy\\x1b[31m",
        "lake.xyzzy",
    ]
    assert "subject:free" in done.stdout.decode()  # accents are nothing


def test_words_of_several_classes_have_the_counts_of_each(tmp_path: Path) -> None:
    folders = {"ham": [mail("lunch")], "work": [mail("minutes")], "spam": [mail("pills"), mail("pills now")]}
    run("train", "-q", write_folders(tmp_path / "mail", folders), "-m", tmp_path / "m")
    (line,) = map(json.loads, _words(tmp_path / "m", "pills", "--json"))
    assert line["documents"] == {"ham": 0, "work": 0, "spam": 2}
    assert line["nats"] > 0
    assert "2 others" in _words(tmp_path / "m", "pills")[0]
