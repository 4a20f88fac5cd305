"""Counts of many messages: the same from the core's threads, from Python's blocks, and in little memory."""

from __future__ import annotations

import numpy as np
import pytest

from nbspam import tokens
from nbspam.corpus import accumulator
from nbspam.corpus.accumulator import Accumulator
from nbspam.corpus.item import Item
from nbspam.model.block import ROW_ARRAYS
from nbspam.settings import Settings
from nbspam.tokens import read_in_python
from nbspam.tokens.bag import identify_message
from tests.conftest import ROOT

CLASSES = ("ham", "spam")
SETTINGS = Settings().of(CLASSES)
compiled = pytest.importorskip("nbspam_core")


def list_items() -> list[Item]:
    """Mail of data/, some of it twice or in both classes, one message without text and one of no mail."""
    items = []
    for label in CLASSES:
        for path in sorted((ROOT / "data" / label).iterdir())[:150]:
            items.append(Item(path.name, label, str(path)))
    again = [item._replace(name=f"{item.name} again") for item in items[::9]]
    moved = [item._replace(label="spam") for item in items[:5]]
    odd = [Item("empty", "ham", "", data=b""), Item("binary", "spam", "", data=b"\0\xff" * 99)]
    return [*items, *again, *moved, *odd, Item("gone", "ham", "/none/of/it")]


def count(items: list[Item], **options: object) -> Accumulator:
    mail = Accumulator(CLASSES, SETTINGS, **options)  # type: ignore[arg-type]
    mail.read(items)
    return mail


def check_same(mail: Accumulator, other: Accumulator) -> None:
    block, expected = mail.recent(), other.recent()
    for name in (*ROW_ARRAYS, "starts", "columns", "counts", "keys", "views"):
        if name != "forms":  # Python's blocks work them out when they are asked for
            assert np.array_equal(getattr(block, name), getattr(expected, name), equal_nan=name == "dates"), (
                name
            )
    assert (block.texts, block.names) == (expected.texts, expected.names)
    assert np.array_equal(block.digests(), expected.digests())
    counts, others = mail.counts(), other.counts()
    for name in ("keys", "views", "documents", "occurrences", "messages"):
        assert np.array_equal(getattr(counts, name), getattr(others, name)), name
    assert counts.texts == others.texts
    for one, its in zip(zip(*mail.learned, strict=True), zip(*other.learned, strict=True), strict=True):
        assert np.array_equal(np.concatenate(one), np.concatenate(its))
    assert mail.skipped == other.skipped


@pytest.mark.parametrize(
    ("jobs", "max_bytes", "kept"),
    [(1, None, 12_000), (2, None, 12_000), (2, 200_000, 12_000), (1, 50_000, 60), (3, 400_000, 60)],
)
def test_the_core_counts_as_python_does(
    monkeypatch: pytest.MonkeyPatch, jobs: int, max_bytes: int | None, kept: int
) -> None:
    monkeypatch.setattr(accumulator, "KEPT_MESSAGES", kept)
    monkeypatch.setattr(accumulator, "MAX_PENDING_PAIRS", 10_000)
    items = list_items()
    mail = count(items, jobs=jobs, max_bytes=max_bytes)
    monkeypatch.setattr(tokens, "_found", [(None, "")])
    check_same(mail, count(items))


def test_a_message_that_the_core_leaves_is_counted_and_has_a_form() -> None:
    data = (ROOT / "data" / "spam").iterdir().__next__().read_bytes()
    builders = [compiled.Builder(list(SETTINGS.wanted), 2, 1 << 30) for _ in range(2)]
    builders[0].read([data], [1], 1 << 30)
    read = read_in_python(data, SETTINGS.wanted)
    views = ["\n".join(view).encode("utf-8", "replace") for view in read.views()]
    builders[1].add(views, identify_message(read), 1)
    for ours, others in zip(*[sorted(builder.build().items()) for builder in builders], strict=True):
        assert ours == others
    ours, others = [compiled.add_up_builders([builder]) for builder in builders]
    assert ours == others
    assert len(ours["keys"]) > 0
