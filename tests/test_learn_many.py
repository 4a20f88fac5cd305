"""Many messages learned by one command: some at a time, with the result of one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbspam.cli import learn as command
from nbspam.store import learn as learning
from nbspam.store.learn import learn, unlearn
from nbspam.store.reader import open_model
from nbspam.store.text import dump
from tests.mail_samples import make_corpus
from tests.tiny_mail import mail, run

MANY = [mail(f"an offer of number{n} pills{n % 7}") for n in range(80)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model with a calibration, which depends on the order of what is learned."""
    folder = make_corpus(tmp_path / "mail", {"ham": 12, "spam": 12})
    run("train", "-q", "-j1", folder, "-m", tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    found = [tmp_path / f"{number:02}.eml" for number in range(len(MANY))]
    for path, data in zip(found, MANY, strict=True):
        path.write_bytes(data)
    return [str(path) for path in found]


def everything(model: Path) -> list[str]:
    return list(dump(open_model(str(model))))


def learn_command(model: Path, paths: list[str]) -> Any:
    return command.learn_command.main(
        ["spam", "-q", "-m", str(model), *paths], "learn", standalone_mode=False
    )


def test_many_messages_are_learned_as_one_by_one_in_few_transactions(
    model: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one_by_one = tmp_path / "one-by-one"
    one_by_one.write_bytes(model.read_bytes())
    for data in [*MANY, MANY[3], MANY[70]]:
        learn(str(one_by_one), "spam", data)
    begun: list[str] = []
    updating = learning.updating
    monkeypatch.setattr(learning, "updating", lambda path: begun.append(path) or updating(path))
    assert learn_command(model, [*paths, paths[3], paths[70]]) == 0
    assert everything(model) == everything(one_by_one)
    assert len(begun) == 3
    run("unlearn", "-q", "-m", model, *paths)
    for data in MANY:
        unlearn(str(one_by_one), data)
    assert everything(model) == everything(one_by_one)


def test_what_was_printed_is_done_and_nothing_else_when_learning_is_stopped(
    model: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    count = learning._count
    calls: list[int] = []

    def stopped(*given: Any) -> None:
        calls.append(1)
        if len(calls) == 40:
            raise RuntimeError("stopped")
        count(*given)

    monkeypatch.setattr(learning, "_count", stopped)
    with pytest.raises(RuntimeError):
        learn_command(model, paths)
    printed = capfdbinary.readouterr().out.decode().splitlines()
    assert printed == [f"learned\t{path}" for path in paths[:32]]
    monkeypatch.undo()
    again = run("learn", "spam", "-q", "-m", model, *paths).splitlines()
    assert [line.partition("\t")[0] for line in again] == ["already learned"] * 32 + ["learned"] * 48


def test_another_writer_has_its_turn_between_two_batches(
    model: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    other = mail("another program's message")
    monkeypatch.setattr(command.time, "sleep", lambda seconds: said.append(learn(str(model), "ham", other)))
    assert learn_command(model, paths) == 0
    assert said == ["learned", "already learned"]


def test_large_messages_are_learned_in_small_batches() -> None:
    large = [("-", b"x" * 3_000_000)] * 5
    assert [len(batch) for _, batch in command._batches(large)] == [2, 2, 1]
