"""A text that was learned is known again under another header; ham that shares a part of it stays ham."""

import random
import shutil
from pathlib import Path

import pytest

import nbspam
from nbspam.filter import Filter
from nbspam.settings import HAM_SAME_TEXT, SAME_TEXT
from tests.tiny_mail import run

DATA = Path(__file__).parents[2] / "data"
HAM = sorted((DATA / "ham").glob("*.eml"))
WORDS = ["calm", "river", "stone", "window", "paper", "garden", "market", "letter", "summer", "bridge"]


def text(seed: int, n_words: int = 120, beginning: str = "") -> str:
    draw = random.Random(seed)
    words = [beginning + draw.choice(WORDS) + draw.choice(["", "s", "ing", "er"]) for _ in range(n_words)]
    return " ".join(words)


def with_header_of(ham: Path, body: str) -> bytes:
    """The header of a ham and another text."""
    fields = ham.read_bytes().partition(b"\n\n")[0].splitlines(keepends=True)
    kept = [
        line for line in fields if line.startswith((b"From:", b"To:", b"Date:", b"Message-ID:", b"Received:"))
    ]
    return b"".join(kept) + b"\n" + body.encode() + b"\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("same") / "m"
    run("train", DATA, "-m", path, "-q")
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "model"))


def same_text_nats(spam_filter: Filter, message: bytes) -> float:
    verdict = spam_filter.classify(message)
    parts = verdict.scored.contributions(verdict.number)
    return sum(nats or 0.0 for part, nats in parts if part.kind == "same-text")


def test_one_lesson_adds_the_same_text_under_another_header(model: Path) -> None:
    spam_filter = nbspam.load(model)
    first, second = with_header_of(HAM[0], text(1)), with_header_of(HAM[1], text(1))
    before = spam_filter.classify(second).log_odds
    assert same_text_nats(spam_filter, second) == 0.0
    spam_filter.learn(first, "spam")
    assert same_text_nats(spam_filter, second) == SAME_TEXT
    after = spam_filter.classify(second).log_odds
    assert before is not None
    assert after is not None
    assert after > before + SAME_TEXT
    spam_filter.unlearn(first)
    assert same_text_nats(spam_filter, second) == 0.0


def test_a_text_of_ham_and_spam_says_nothing_and_one_of_ham_says_less(model: Path) -> None:
    spam_filter = nbspam.load(model)
    spam_filter.learn(with_header_of(HAM[0], text(1)), "ham")
    assert same_text_nats(spam_filter, with_header_of(HAM[2], text(1))) == -HAM_SAME_TEXT
    spam_filter.learn(with_header_of(HAM[1], text(1)), "spam")
    assert same_text_nats(spam_filter, with_header_of(HAM[2], text(1))) == 0.0


def test_a_newsletter_is_still_ham_after_a_spam_with_its_footer(model: Path) -> None:
    spam_filter = nbspam.load(model)
    footer = text(2, 40)
    issues = [with_header_of(ham, f"{text(10 + number)} {footer}") for number, ham in enumerate(HAM[:20])]
    before = [spam_filter.classify(issue).label for issue in issues]
    spam_filter.learn(with_header_of(HAM[30], f"{text(3, beginning='un')} {footer}"), "spam")
    assert before.count("ham") > 10
    for issue, label in zip(issues, before, strict=True):
        assert label == "spam" or spam_filter.classify(issue).label == "ham"
        assert same_text_nats(spam_filter, issue) < SAME_TEXT / 2


def test_explain_says_of_how_many_messages_and_since_when(model: Path, tmp_path: Path) -> None:
    for ham in HAM[:3]:
        run("learn", "spam", "-m", model, stdin=with_header_of(ham, text(1)))
    (tmp_path / "mail").write_bytes(with_header_of(HAM[5], text(1)))
    shown = run("explain", "-m", model, tmp_path / "mail")
    assert "The same text as 3 spam messages, first learned 20" in shown
    assert "a text that was learned" in shown
    (tmp_path / "other").write_bytes(with_header_of(HAM[5], text(4)))
    assert "same text" not in run("explain", "-m", model, tmp_path / "other")
