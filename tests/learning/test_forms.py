"""A message is known again after delivery, a store or a filter has added fields to its header."""

import random
import shutil
from pathlib import Path

import pytest

from nbspam.learning.autolearn import learn_verdict
from nbspam.learning.learn import learn_message, unlearn_message
from nbspam.store.autolearned import CORRECTED, LABELLED
from nbspam.store.check import check_model
from nbspam.store.reader import open_model
from nbspam.tokens import count_tokens
from nbspam.tokens.bag import FORM_BITS
from tests.learning.test_autolearn import ENOUGH, HAM, SPAM, messages
from tests.tiny_mail import counts, program, run, write_folders

CASES = Path(__file__).parents[1] / "cases"
CLASSIFIED, DELIVERED = (
    (CASES / f"autolearn-{name}.eml").read_bytes() for name in ("1-as-classified", "2-as-delivered")
)
NOTE = (CASES / "note-base.eml").read_bytes()
FORWARDED = b"X-Forwarded-To: otto@orchard.example\nDKIM-Filter: OpenDKIM v2\n" + DELIVERED


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    write_folders(folder / "mail", {"ham": messages(HAM, ENOUGH), "spam": messages(SPAM, ENOUGH)})
    run("train", folder / "mail", "-m", folder / "m", "-q")
    return folder / "m"


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "model"))


@pytest.mark.parametrize(
    "field",
    [
        "Return-Path: <win@pear.example>",
        "Delivered-To: jane@example.org",
        "Envelope-To: jane@example.org",
        "Received: from a.example by b.example; Mon, 2 Jun 2025 10:00:09 +0000",
        "Authentication-Results: mx.example.org; spf=pass smtp.mailfrom=a.example",
        "X-Label: todo",
        "X-Nbspam: spam; probability=0.99",
        "X-Loop: any",
    ],
)
def test_added_field_gives_another_form_of_the_same_message(field: str) -> None:
    added = count_tokens(f"{field}\n".encode() + NOTE, ("measures",))
    message = count_tokens(NOTE, ("measures",)).digest >> FORM_BITS
    assert added.digest >> FORM_BITS == message
    other = count_tokens(NOTE.replace(b"meeting", b"lunch"), ("measures",))
    assert other.digest >> FORM_BITS != message


@pytest.mark.parametrize("note", ["getmail", "label"])
def test_note_of_a_store_is_no_new_message(model: Path, note: str) -> None:
    assert run("learn", "spam", "-m", model, CASES / "note-base.eml").startswith("learned\t")
    assert run("learn", "spam", "-m", model, CASES / f"note-{note}.eml").startswith("already learned\t")
    assert run("unlearn", "-m", model, CASES / f"note-{note}.eml").startswith("forgotten\t")


@pytest.mark.parametrize("way", ["learn", "train"])
def test_label_of_delivered_mail_replaces_the_own_verdict(
    model: Path, trained: Path, tmp_path: Path, way: str
) -> None:
    """Once its spam lesson stayed, and the filter did not see that it was wrong."""
    folder = write_folders(tmp_path / "mail", {"ham": [DELIVERED]})
    copy = shutil.copy(trained, tmp_path / "copy")
    assert learn_verdict(str(model), "spam", CLASSIFIED, "classify")
    for path, said in ((model, "moved\t-\n"), (copy, "learned\t-\n")):
        if way == "learn":
            assert run("learn", "ham", "-m", path, stdin=DELIVERED) == said
        else:
            run("train", "--update", "--ham", folder / "ham", "-m", path, "-q")
    assert counts(model) == counts(copy)
    assert check_model(str(model)) == []
    with open_model(str(model)) as opened:
        assert (opened.settings[LABELLED], opened.settings[CORRECTED]) == ("1", "1")
    line = run("classify", "-m", model, stdin=CLASSIFIED)
    assert line == run("classify", "-m", copy, stdin=CLASSIFIED)
    assert float(line.split("\t")[1]) < 0.1


def test_labelled_message_in_another_form_counts_once_and_is_not_taken_out(
    model: Path, trained: Path
) -> None:
    run("learn", "spam", "-m", model, stdin=CLASSIFIED)
    once = run("model", "dump", "-m", model)
    assert run("learn", "spam", "-m", model, stdin=DELIVERED) == "already learned\t-\n"
    for command in (["learn", "ham"], ["unlearn"]):
        done = program(*command, "-m", model, stdin=DELIVERED)
        assert done.stdout == b"learned in another form\t-\n"
        assert b"give it as it was learned" in done.stderr
    assert run("model", "dump", "-m", model) == once
    assert run("learn", "ham", "-m", model, stdin=CLASSIFIED) == "moved\t-\n"
    assert run("unlearn", "-m", model, stdin=CLASSIFIED) == "forgotten\t-\n"
    assert counts(model) == counts(trained)


@pytest.mark.parametrize("seed", range(4))
def test_any_lessons_in_any_form_leave_a_sound_model(model: Path, trained: Path, seed: int) -> None:
    choose = random.Random(seed)
    forms = [CLASSIFIED, DELIVERED, FORWARDED, NOTE, b"Received: from c.example by d.example\n" + NOTE]
    for _ in range(20):
        way, data = choose.choice(["ham", "spam", "own", "unlearn"]), choose.choice(forms)
        if way == "own":
            learn_verdict(str(model), choose.choice(["ham", "spam"]), data, "classify")
        elif way == "unlearn":
            unlearn_message(str(model), data)
        else:
            learn_message(str(model), way, data)
        assert check_model(str(model)) == []
        with open_model(str(model)) as opened:
            assert sum(opened.messages) <= 2 * ENOUGH + 2
    for data in forms:
        unlearn_message(str(model), data)
    assert counts(model) == counts(trained)
