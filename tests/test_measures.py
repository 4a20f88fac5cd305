"""Measures: what a bin says, and that all that counts words counts them."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus import Item, open_labelled
from nbspam.corpus.block import Block, BlockBuilder
from nbspam.corpus.blocks import merge_blocks
from nbspam.corpus.corpus import Corpus
from nbspam.filter import open_filter
from nbspam.model.evidence import measure_evidence
from nbspam.model.views import leave_one_out, prequential, view_evidence
from nbspam.settings import Settings, textbook
from nbspam.store.reader import open_model
from nbspam.tasks.evaluate import duplicate_groups
from nbspam.tasks.train import train
from nbspam.tokens.bag import MEASURES_VIEW, Tokens
from nbspam.tokens.measures import MEASURES, N_BINS, bins_of, measure_of


def test_the_evidence_of_a_bin_in_fractions() -> None:
    # Laplace over 4 bins: (3 + 1) / (10 + 4) against (1 + 1) / (6 + 4).
    assert measure_evidence((1, 3), (6, 10), 4) == pytest.approx([0.0, log(4 * 10 / (14 * 2))])
    assert measure_evidence((0, 0), (6, 10), 4) == [0.0, 0.0]  # never met: nothing
    assert measure_evidence((1, 0, 2), (6, 2, 3), 3) == pytest.approx(
        [0.0, log(1 / 5) - log(2 / 9), log(3 / 6) - log(2 / 9)]
    )


def random_block(n: int = 40, n_classes: int = 3) -> Block:
    """Dated messages with measures that lean to their class."""
    rng = np.random.default_rng(7)
    builder = BlockBuilder()
    for number in range(n):
        label = number % n_classes
        found = [bins_of(name)[int((label + rng.integers(0, 2)) % N_BINS[name])] for name in MEASURES]
        words = [f"w{w}" for w in rng.integers(0, 30, 5)]
        builder.add(str(number), label, Tokens([], words, [], found, date=float(rng.integers(0, 1000))), 100)
    return merge_blocks([builder.build()])


def by_hand(block: Block, row: int, counted: list[int]) -> list[list[float]]:
    """The evidence of a row's measures from the messages of some other rows, one after another."""
    texts = block.texts.split(b"\n")

    def tokens_of(which: int) -> dict[str, str]:
        columns = block.columns[block.starts[which] : block.starts[which + 1]]
        found = [texts[c].decode() for c in columns if block.views[c] == MEASURES_VIEW]
        return {measure_of(text): text for text in found}

    own, n_classes = tokens_of(row), int(block.labels.max()) + 1
    messages = [sum(block.labels[r] == k for r in counted) for k in range(n_classes)]
    found = []
    for name in MEASURES:
        same = [r for r in counted if tokens_of(r)[name] == own[name]]
        documents = [sum(block.labels[r] == k for r in same) for k in range(n_classes)]
        found.append(measure_evidence(documents, messages, N_BINS[name]))
    return found


def test_leave_one_out_and_prequential_measures_are_those_of_counting_anew() -> None:
    block, settings = random_block(), Settings()
    documents, _ = block.totals(3)
    order = np.argsort(block.dates, kind="stable")
    alone = view_evidence(block, leave_one_out(block, documents), settings).evidence[:, -len(MEASURES) :]
    as_they_came = view_evidence(block, prequential(block, documents, order), settings)
    for place, row in enumerate(order.tolist()):
        others = [r for r in range(len(block)) if r != row]
        assert alone[row] == pytest.approx(np.array(by_hand(block, row, others)), abs=1e-12)
        before = by_hand(block, row, order[:place].tolist())
        assert as_they_came.evidence[row, -len(MEASURES) :] == pytest.approx(np.array(before), abs=1e-12)


@pytest.fixture(scope="module")
def items(data: Path) -> list[Item]:
    return list(open_labelled([str(data / "index")]).items())[::3]


def test_each_message_is_in_one_bin_of_each_measure(items: list[Item], tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    train(items, ("ham", "spam"), path, Settings())
    model = open_model(path)
    assert model.documents[MEASURES_VIEW] == [len(MEASURES) * n for n in model.messages]
    totals: dict[str, list[int]] = {name: [0, 0] for name in MEASURES}
    query = f"SELECT text, documents_0, documents_1 FROM token WHERE view = {MEASURES_VIEW}"
    for text, *documents in model.connection.execute(query):
        totals[measure_of(text)] = [a + b for a, b in zip(totals[measure_of(text)], documents, strict=True)]
    assert all(counts == model.messages for counts in totals.values())


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


@pytest.mark.parametrize(
    "settings",
    [
        Settings(measures=False),
        Settings(second_alpha=0.0),
        Settings(second_alpha=0.0, diluted=False),
        Settings(views="header,body,structure"),
        Settings(views="body,measures"),
        Settings(threshold=1.0),
    ],
)
def test_options_of_classify_keep_the_evidence_that_the_calibration_weighs(
    settings: Settings, items: list[Item], tmp_path: Path
) -> None:
    path = str(tmp_path / "model")
    train(items, ("ham", "spam"), path, settings)
    for item in items[:5]:
        plain = open_filter(path).classify(item.read(), "")
        asked = open_filter(path, {"prior": "empirical", "alpha": repr(settings.alpha)}).classify(
            item.read(), ""
        )
        assert asked.scored.scores == plain.scored.scores


def test_messages_that_share_their_measures_alone_are_no_near_duplicates() -> None:
    """Short texts have as many measures as words."""
    builder = BlockBuilder()
    found = [bins_of(name)[0] for name in MEASURES]
    for number in range(6):
        builder.add(str(number), number % 2, Tokens([], [f"{number}-{w}" for w in range(4)], [], found), 9)
    corpus = Corpus(merge_blocks([builder.build()]), ("ham", "spam"), [], [], False)
    assert len(set(duplicate_groups(corpus).tolist())) == 6
