"""Measures and views in trained models: what is counted, and what scoring reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbspam.corpus import Item, open_labelled
from nbspam.corpus.corpus import Corpus
from nbspam.filter import open_filter
from nbspam.model.block import BlockBuilder, merge_blocks
from nbspam.settings import Settings, textbook
from nbspam.store.reader import open_model
from nbspam.tasks.evaluate import duplicate_groups
from nbspam.tasks.train import train
from nbspam.tokens.bag import MEASURES_VIEW, Tokens
from nbspam.tokens.measures import MEASURES, bins_of


@pytest.fixture(scope="module")
def items(data: Path) -> list[Item]:
    return list(open_labelled([str(data / "index")]).items())[::3]


def test_the_textbook_and_a_choice_of_views_know_no_measures(items: list[Item], tmp_path: Path) -> None:
    paths = {}
    for name, settings in {
        "default": Settings(),
        "textbook": Settings(averaged=False),
        "words": Settings(views="header,body,structure"),
        "measures": Settings(views="measures"),
    }.items():
        paths[name] = str(tmp_path / name)
        train(items, ("ham", "spam"), paths[name], settings)
    words = {name: open_model(path).words for name, path in paths.items()}
    assert words["default"][:3] == words["textbook"][:3] == words["words"][:3]
    assert words["textbook"][MEASURES_VIEW] == words["words"][MEASURES_VIEW] == 0
    assert words["measures"][:3] == [0, 0, 0]
    assert words["measures"][MEASURES_VIEW] == words["default"][MEASURES_VIEW] > 0
    assert not textbook(Settings()).measures
    for item in items[:20]:
        plain, other = (
            open_filter(paths[name], {"textbook": "1"}).classify(item.read(), "")
            for name in ("textbook", "default")
        )
        assert plain.scored.scores == pytest.approx(other.scored.scores, abs=1e-9)
    right = sum(open_filter(paths["measures"]).classify(i.read(), "").label == i.label for i in items)
    assert right > 0.7 * len(items)


def test_messages_that_share_their_measures_alone_are_no_near_duplicates() -> None:
    """Short texts have as many measures as words."""
    builder = BlockBuilder()
    found = [bins_of(name)[0] for name in MEASURES]
    for number in range(6):
        builder.add(str(number), number % 2, Tokens([], [f"{number}-{w}" for w in range(4)], [], found), 9)
    corpus = Corpus(merge_blocks([builder.build()]), ("ham", "spam"), [], [], False)
    assert len(set(duplicate_groups(corpus).tolist())) == 6
