"""`nbspam attack`: disguises that a person reads as before, and what a filter makes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from nbspam.tasks.attack import (
    HEADER_OF_HAM,
    N_DISGUISES,
    OWN_WORDS,
    WORDS_OF_HAM,
    Loot,
    disguise_all,
    original,
)
from tests.conftest import ROOT
from tests.tiny_mail import error, mail, run, write_folders

TEXT = "Cheap pills & watches\nfor everybody: http://shop.example/now"
HAM_TEXT = " ".join(f"neighbour{number}" for number in range(30))
READ_AS_SPAM = [name for name in WORDS_OF_HAM if name.startswith("the ")]
READ_AS_SPAM += [
    HEADER_OF_HAM,
    "written anew as plain text",
    "lines that cut words",
    "a page, a comment in each word",
]
SEVERE = "FN=1000000000"


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model of every second message of data/, and an index of the others."""
    folder = tmp_path_factory.mktemp("half")
    lines = (ROOT / "data/index").read_text().replace(" ", f" {ROOT}/data/").splitlines()
    for name, some in (("old", lines[::2]), ("new", lines[1::2])):
        (folder / name).write_text("\n".join(some))
    run("train", "-q", "-j1", folder / "old", "-m", folder / "model")
    return folder / "model", folder / "new"


def attacked(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("attack", *arguments, "--json"))
    return found


def through(found: dict[str, Any], defence: str) -> int:
    return sum(row[defence]["ham"] + row[defence]["unsure"] for row in found["disguises"])


def test_a_reader_sees_the_text_of_the_spam_and_no_word_of_ham() -> None:
    mails = dict(disguise_all([mail(TEXT, "Offer")], Loot([mail(HAM_TEXT, "Hello")], ["garden"])))
    assert len(mails) == N_DISGUISES
    for name in READ_AS_SPAM:
        seen = original(mails[name][0])
        assert seen.text.split() == TEXT.split(), name
        assert seen.header.count(b"Subject: Offer\n") == seen.header.count(b"Subject:") == 1
    assert original(mails["zero-width spaces between letters"][0]).text.replace("\u200b", "").strip() == TEXT
    for name in ("100 words of a ham before it", "the same in a page, white"):
        assert mails[name][0].count(b"neighbour") == 100


def test_defences_are_measured_and_the_model_stays_as_it_was(half: tuple[Path, Path]) -> None:
    model, source = half
    before = model.read_bytes()
    found, same = (attacked(model, source, "--limit", 10, "--loss", loss) for loss in (SEVERE, "FP=1"))
    lessons = found["caught"] // 2
    assert (found["judged"], found["lessons"], found["ham"]) == (found["caught"] - lessons, lessons, 10)
    assert through(found, "now") > through(found, "learned") >= through(found, "loss") == 0
    assert {row["loss"]["lost_ham"] for row in found["disguises"]} == {10}  # so these costs are no help
    assert {row["best"] for row in found["disguises"]} == {"now", "learned"}
    assert all(row["now"] == row["loss"] for row in same["disguises"])
    for name in ("now", "learned"):
        assert [row[name] for row in found["disguises"]] == [row[name] for row in same["disguises"]]
    assert model.read_bytes() == before


def test_without_ham_the_disguises_that_need_it_are_left_out(half: tuple[Path, Path]) -> None:
    shown = run("attack", half[0], f"--spam={ROOT}/data/spam", "--limit", 4)
    assert "7 disguises left out: no ham" in shown
    assert "of a ham" not in shown and all(name in shown for name in OWN_WORDS)


def test_what_cannot_be_attacked_is_an_error(half: tuple[Path, Path], tmp_path: Path) -> None:
    model, source = half
    assert "[attack-no-spam]" in error("attack", model, f"--ham={ROOT}/data/ham", status=66)
    nothing = write_folders(tmp_path / "mail", {"ham": [b"\n"], "spam": [b"\n", b"\n\n"]})
    assert "0 of 2 spam are caught" in error("attack", model, nothing, status=65)
    assert "[model-missing]" in error("attack", tmp_path / "no", source, status=66)
    write_folders(tmp_path / "own", {"work": [mail("a")], "spam": [mail("b")]})
    run("train", "-q", "-j1", tmp_path / "own", "-m", tmp_path / "model")
    assert "[attack-classes]" in error("attack", tmp_path / "model", source, status=64)
