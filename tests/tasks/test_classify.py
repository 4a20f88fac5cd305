"""Many messages are judged as one by one, whatever reads them and in how many threads or processes."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbspam import tokens
from nbspam.cli import verdict_line
from nbspam.corpus.item import Item
from nbspam.errors import DamagedModelError
from nbspam.filter import Filter, open_filter
from nbspam.tasks.classify import ModelJudge, classify_many
from tests.tiny_mail import mail, run, write_folders

N_MESSAGES = 400  # more than two shards


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    classes = {
        "ham": [mail(f"minutes of meeting number {n} about the budget") for n in range(30)],
        "spam": [mail(f"cheap pills number {n} without a doctor") for n in range(30)],
    }
    run("train", write_folders(folder / "mail", classes), "-q", "-m", folder / "model.nbspam")
    return folder / "model.nbspam"


@pytest.fixture(params=["installed reader", "Python"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Python":
        monkeypatch.setattr(tokens, "_found", [(None, "")])


def messages() -> list[Item]:
    texts = [f"minutes or pills {n} and words{n} of budget{n % 7}" for n in range(N_MESSAGES)]
    return [Item(f"{n}", "", f"{n}", data=mail(text)) for n, text in enumerate(texts)]


def judge_all(current: Callable[[Filter | None], Filter], jobs: int) -> str:
    found = classify_many(iter(messages()), current, lambda _, verdict: verdict_line(verdict), jobs)
    with contextlib.closing(found):
        return "".join(text for text, _ in found)


def judge_each(spam_filter: Filter, items: list[Item]) -> str:
    return "".join(verdict_line(spam_filter.classify(item.read(), item.name)) for item in items)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("jobs", [1, 2])
def test_many_messages_get_the_verdicts_of_single_ones(model: Path, jobs: int) -> None:
    found = judge_all(lambda now: open_filter(str(model), current=now), jobs)
    assert found == judge_each(open_filter(str(model)), messages())


@pytest.mark.usefixtures("reader")
def test_model_that_reads_more_views_may_replace_one_between_two_shards(model: Path, tmp_path: Path) -> None:
    first = tmp_path / "first.nbspam"
    run("train", model.parent / "mail", "-q", "-m", first, "--views", "header")
    opened: Iterator[Filter] = iter([open_filter(str(first))])
    later = open_filter(str(model))
    found = judge_all(lambda _: next(opened, later), 1)
    assert found.count("\n") == N_MESSAGES
    assert found.endswith(judge_each(open_filter(str(model)), messages()[-50:]))


@pytest.mark.parametrize("odd", [0.5, -1, "seven", 1 << 60])
def test_odd_count_is_found_when_all_tokens_are_read(model: Path, tmp_path: Path, odd: object) -> None:
    damaged = tmp_path / "damaged.nbspam"
    shutil.copy(model, damaged)
    with contextlib.closing(sqlite3.connect(damaged)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE token SET documents_1 = ? WHERE text = 'doctor'", (odd,))
        connection.commit()
    judge = ModelJudge(open_filter(str(damaged)))
    with pytest.raises(DamagedModelError):
        for _ in range(2):
            [block] = judge.read(messages()[:150]).blocks
            judge.joints(block)
