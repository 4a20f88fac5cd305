"""Experiments are run by hand, and rarely; that they fit the program they measure is tested here."""

from importlib import import_module
from pkgutil import resolve_name

import pytest

from experiments.disguises import HEADER_OF_HAM, WORDS_OF_HAM, Loot, disguise_all, read_original
from experiments.trials import TRIALS
from tests.conftest import ROOT
from tests.tiny_mail import mail

MODULES = sorted(path.stem for path in (ROOT / "experiments").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_an_experiment_finds_all_that_it_imports(name: str) -> None:
    import_module(f"experiments.{name}")


def test_a_trial_takes_out_what_the_program_has() -> None:
    for trial in TRIALS:
        for name in trial.patches:
            assert resolve_name(name), name


TEXT = "Cheap pills & watches\nfor everybody: http://shop.example/now"
HAM_TEXT = " ".join(f"neighbour{number}" for number in range(30))
READ_AS_SPAM = [name for name in WORDS_OF_HAM if name.startswith("the ")]
READ_AS_SPAM += [
    HEADER_OF_HAM,
    "written anew as plain text",
    "lines that cut words",
    "a page, a comment in each word",
]


def test_a_reader_of_disguised_spam_sees_its_text_and_no_word_of_ham() -> None:
    mails = dict(disguise_all([mail(TEXT, "Offer")], Loot([mail(HAM_TEXT, "Hello")], ["garden"])))
    for name in READ_AS_SPAM:
        seen = read_original(mails[name][0])
        assert seen.text.split() == TEXT.split(), name
        assert seen.header.count(b"Subject: Offer\n") == seen.header.count(b"Subject:") == 1
    hidden = read_original(mails["zero-width spaces between letters"][0])
    assert hidden.text.replace("\u200b", "").strip() == TEXT
    for name in ("100 words of a ham before it", "the same in a page, white"):
        assert mails[name][0].count(b"neighbour") == 100
