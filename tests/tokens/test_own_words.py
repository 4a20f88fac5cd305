"""A pattern of the user says what a word is: `--token-pattern`."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import nbspam
from nbspam.settings import want_words
from nbspam.tokens import read
from tests.tiny_mail import counts, error, mail, run, write_folders

TEXTS = {"ham": ["Über 20 Äpfel, don't\nmiss", "bread apple"], "spam": ["FREE free-ly apples", "v1agra 50%"]}
TEXTBOOK = ("--textbook", "--event-model", "multinomial")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "mail", {name: map(mail, texts) for name, texts in TEXTS.items()})


def words(pattern: str, data: bytes) -> list[str]:
    return [*read(data, want_words(pattern)).body]


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"[a-z]{3,}", r"(\w+)l"])
def test_words_are_those_of_scikit_learn_for_the_same_pattern(tiny: Path, pattern: str) -> None:
    analyse = CountVectorizer(token_pattern=pattern).build_analyzer()
    for texts in TEXTS.values():
        for text in texts:
            assert words(pattern, mail(text)) == analyse(text)


def test_a_message_is_the_words_of_its_subject_and_of_what_a_reader_sees() -> None:
    page = b"Subject: Free\nX-Mailer: x\nContent-Type: text/html\n\n<p>ap<b>ple</b><style>pear {}</style> http://x.example/"
    tokens = read(page, want_words(r"\p{L}+"))
    assert tokens.body == ["free", "apple"]
    assert not any((tokens.header, tokens.structure, tokens.bigrams, tokens.measures))


def test_a_group_is_the_word_and_white_space_in_it_is_one_space() -> None:
    assert words(r"(\w+)!", mail("buy now! or never!")) == ["now", "never"]
    assert words(r"buy\s+(\w*)", mail("buy\t\n now buy !")) == ["now"]
    assert words(r"buy\s+\w+", mail("buy\t\n now")) == ["buy now"]


def test_a_model_keeps_its_pattern(tiny: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    run("train", tiny, *TEXTBOOK, "--token-pattern", r"\p{L}{4,}", "-m", model, "-q")
    assert not [line for line in counts(model) if line.startswith("token\t") and line.split("\t")[1] == "0"]
    run("learn", "spam", "-m", model, stdin=mail("certainly not"))
    explained = json.loads(run("explain", "-m", model, "--json", stdin=mail("certainly 1 apple")))
    assert {clue["token"] for clue in explained["clues"]} == {"certainly", "apple"}
    in_python = nbspam.train(
        tiny, textbook=True, event_model="multinomial", token_pattern=r"\p{L}{4,}", jobs=1
    )
    in_python.learn(mail("certainly not"), "spam")
    assert counts(Path(in_python.model.path)) == counts(model)


def test_a_vocabulary_keeps_its_pattern_for_training_and_vectors(tiny: Path, tmp_path: Path) -> None:
    vocabulary, model = tmp_path / "v", tmp_path / "m"
    run("vocab", "build", tiny, "--token-pattern", r"\p{L}+", "-o", vocabulary, "-q")
    run("vectorize", tiny, "--vocab", vocabulary, "-o", tmp_path / "x.npz", "-q")
    names = np.load(tmp_path / "x.npz")["words"].tolist()
    assert {"über", "äpfel", "apple"} < {*names}
    row = sparse.load_npz(tmp_path / "x.npz").toarray()[2]
    assert {names[code]: row[code] for code in row.nonzero()[0]} == {"free": 2, "ly": 1, "apples": 1}
    run("train", tiny, "--vocab", vocabulary, *TEXTBOOK, "-m", model, "-q")
    assert run("classify", "-m", model, stdin=mail("free apples")).startswith("spam")
    other = ("--vocab", vocabulary, "--token-pattern", r"\w+")
    assert "another pattern" in error("vectorize", tiny, *other, "-o", tmp_path / "y", status=64)
    assert "another pattern" in error("eval", tiny, *other, *TEXTBOOK, status=64)


@pytest.mark.parametrize(
    "options",
    [
        ("--token-pattern", r"\w+"),  # the default model
        (*TEXTBOOK, "--token-pattern", "("),
        (*TEXTBOOK, "--token-pattern", "(a)(b)"),
        (*TEXTBOOK, "--token-pattern", "a", "--views", "body"),
        ("--features", "numeric", "--token-pattern", "a"),
    ],
)
def test_a_pattern_that_is_wrong_or_has_no_effect_is_refused(tiny: Path, options: tuple[str, ...]) -> None:
    assert "[" in error("eval", tiny, *options, status=64)


def test_a_pattern_that_never_ends_is_named_with_the_message(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbspam.tokens.own_words.MAX_PATTERN_SECONDS", 0.1)
    (tiny / "ham" / "endless.eml").write_bytes(mail("a" * 100))
    said = error("train", tiny, *TEXTBOOK, "--token-pattern", "(a|aa)+c", "-m", tmp_path / "m", status=65)
    assert "endless.eml" in said
    assert "(a|aa)+c" in said
    assert not (tmp_path / "m").exists()
