"""`nbspam label`: the screen, driven by textual's pilot, and what its keys do to the model."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest import mock

import pytest
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Footer

from nbspam.cli.label_screen import LabelScreen
from nbspam.corpus.source import Source
from nbspam.corpus.walk import SourcePart
from nbspam.errors import CannotCreateError
from nbspam.filter import open_filter
from nbspam.tasks.label import Labelling, make_empty_model
from tests.tiny_mail import counts, error, mail, program, run, write_folders

DRAWN = random.Random(1)


def body(of: str) -> str:
    """A text that tells its class, and 60 words that no other message has."""
    return " ".join([of, *(f"w{DRAWN.randrange(10**6)}" for _ in range(60))])


HAM = [mail(body("dear neighbours"), body("")[:40]) for _ in range(6)]
SPAM = [mail(body("cheap offer"), body("")[:40]) for _ in range(6)]
SAME = body("cheap offer")
CAMPAIGN = [mail(SAME + end) for end in ("a", "b", "c")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """6 ham, 6 spam of their own and 3 spam of one campaign."""
    return write_folders(tmp_path / "mail", {"ham": HAM, "spam": SPAM + CAMPAIGN})


def labelling(folder: Path, model: Path) -> Labelling:
    paths = [str(folder / name) for name in ("ham", "spam")]
    return Labelling(str(model), [*Source([*map(SourcePart, paths)]).items()])


def use(found: Labelling, keys: Callable[[Pilot[Exception]], Awaitable[None]]) -> Exception | None:
    """Show the screen without a terminal, and press keys; what the screen ends with."""
    screen = LabelScreen(found)

    async def pressed() -> None:
        async with screen.run_test(size=(80, 24)) as pilot:
            await keys(pilot)

    asyncio.run(pressed())
    return screen.return_value


def shown(pilot: Pilot[Exception], name: str) -> str:
    return str(pilot.app.query_one(f"#{name}").render())


def truth(found: Labelling) -> str:
    """The class of the message that is shown: its folder."""
    assert found.asked
    return Path(found.asked.item.path).parent.name


async def label_all(pilot: Pilot[Exception], found: Labelling, most: int = 100) -> None:
    for _ in range(most):
        if found.asked:
            await pilot.press(truth(found)[0])


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_a_key_ends_it(folder: Path, tmp_path: Path, key: str) -> None:
    async def press(pilot: Pilot[Exception]) -> None:
        await pilot.press(key)
        assert not pilot.app.is_running

    use(labelling(folder, tmp_path / "m"), press)


def test_labels_are_what_train_counts_and_each_message_comes_once(folder: Path, tmp_path: Path) -> None:
    model, seen = tmp_path / "model", labelling(folder, tmp_path / "model")
    chosen: dict[str, list[bytes]] = {"ham": [], "spam": []}

    async def keys(pilot: Pilot[Exception]) -> None:
        assert "0 ham, 0 spam labelled. 13 left" in shown(pilot, "state")
        while seen.asked:
            chosen[truth(seen)].append(seen.asked.data)
            await pilot.press(truth(seen)[0])
        assert "6 ham, 7 spam labelled. 0 left" in shown(pilot, "state")
        assert "No message is left" in shown(pilot, "text")
        await pilot.press("h", "s", "space", "q")

    assert use(seen, keys) is None
    assert sum(data in CAMPAIGN for data in chosen["spam"]) == 1
    run("train", "-q", "-j1", write_folders(tmp_path / "same", chosen), "-m", tmp_path / "trained")
    assert counts(model) == counts(tmp_path / "trained")
    assert labelling(folder, model).asked is None


def test_the_next_message_is_the_one_that_classify_is_least_sure_of(folder: Path, tmp_path: Path) -> None:
    found = labelling(folder, tmp_path / "model")

    async def keys(pilot: Pilot[Exception]) -> None:
        assert "learns from the first ham and the first spam" in shown(pilot, "state")
        while found.labelled["ham"] * found.labelled["spam"] < 4:
            await label_all(pilot, found, 1)
        spam_filter, left = open_filter(str(tmp_path / "model")), found.left
        while found.asked:  # all that is left comes if it is skipped
            odds = spam_filter.classify(found.asked.data).log_odds
            assert odds == pytest.approx(found.asked.log_odds, abs=1e-9)
            skipped.append(abs(odds))
            await pilot.press("space")
        assert len(skipped) == left
        for _ in skipped:
            await pilot.press("u")
        assert found.asked and found.left == left

    skipped: list[float] = []
    use(found, keys)
    assert skipped == sorted(skipped)


def test_undo_takes_the_label_out_of_the_counts(folder: Path, tmp_path: Path) -> None:
    model, found = tmp_path / "model", labelling(folder, tmp_path / "model")

    async def keys(pilot: Pilot[Exception]) -> None:
        await label_all(pilot, found, 3)
        before, asked = counts(model), found.asked
        await pilot.press("h", "u", "s", "u")
        assert (counts(model), found.asked) == (before, asked)
        await pilot.press("u", "u", "u", "u")
        assert "0 ham, 0 spam labelled. 13 left" in shown(pilot, "state")

    use(found, keys)
    make_empty_model(str(tmp_path / "empty"))
    assert counts(model) == counts(tmp_path / "empty")


def test_a_message_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    hostile = b"From: [red]a\x1b]0;title\x07\nSubject: s\n\n[bold]x\x1b[2J\nend\n"
    folder = write_folders(tmp_path, {"ham": [hostile], "spam": []})

    async def keys(pilot: Pilot[Exception]) -> None:
        assert "[red]a\\x1b]0;title\\x07" in shown(pilot, "head")
        assert shown(pilot, "text") == "[bold]x\\x1b[2J\nend"

    use(labelling(folder, tmp_path / "model"), keys)


def test_a_model_that_cannot_be_made_ends_the_screen_with_the_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = labelling(folder, tmp_path / "file" / "model")
    assert isinstance(use(found, lambda pilot: pilot.press("h")), CannotCreateError)


def test_keys_and_text_fit_a_terminal_of_40_columns(tmp_path: Path) -> None:
    folder = write_folders(tmp_path, {"ham": [mail("dear neighbours " * 20)], "spam": []})
    screen = LabelScreen(labelling(folder, tmp_path / "model"))

    async def look() -> None:
        async with screen.run_test(size=(40, 24)) as pilot:
            await pilot.pause()
            assert max(key.region.right for key in screen.query_one(Footer).children) <= 40
            assert screen.query_one(VerticalScroll).max_scroll_x == 0

    asyncio.run(look())


def test_it_says_why_there_is_nothing_to_label(folder: Path, tmp_path: Path) -> None:
    model, maildir = tmp_path / "model", write_folders(tmp_path / "Maildir", {"cur": [], "new": []})
    (maildir / "cur" / "1:2,T").write_bytes(HAM[0])
    run("train", "-q", "-j1", folder, "-m", model)
    with mock.patch("nbspam.cli.label.sys"):  # a terminal
        assert b"Nothing to label in 15 messages" in program("label", folder, "-m", model).stderr
        said = error("label", maildir, "-m", model, status=66)
    assert "left out: 1 (deleted)" in said and "no messages in it" in said


def test_without_a_terminal_it_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "[no-terminal]" in error("label", folder, "-m", tmp_path / "model", status=64)
