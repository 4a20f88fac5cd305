"""Messages that are learned in one transaction count as if each were learned alone."""

import random
import shutil
from pathlib import Path

import pytest

from nbspam.learning import learn
from nbspam.learning.autolearn import learn_verdict
from nbspam.learning.learn import learn_messages, split_batches
from nbspam.store import changes
from nbspam.store.check import check_model
from nbspam.store.ledger import list_entries
from nbspam.store.overlay import start_model
from nbspam.store.reader import open_model
from nbspam.store.text import dump_model
from nbspam.store.updater import Origin
from tests.learning.test_autolearn import ENOUGH, HAM, SPAM, messages
from tests.learning.test_forms import CLASSIFIED, DELIVERED, NOTE
from tests.tiny_mail import run, write_folders

# How the model was made
KINDS: dict[str, list[str]] = {
    "views": [],
    "overlay": [],
    "pruned": [],
    "textbook": ["--event-model", "multinomial"],
    "fixed vocabulary": ["--vocab", "VOCAB"],
    "numeric": ["--features", "both"],
}


@pytest.fixture(scope="module", params=KINDS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("batches")
    mail = write_folders(folder / "mail", {"ham": messages(HAM, ENOUGH), "spam": messages(SPAM, ENOUGH)})
    run("vocab", "build", mail, "-o", folder / "VOCAB", "--min-count", 3)
    options = [folder / word if word == "VOCAB" else word for word in KINDS[request.param]]
    run("train", mail, "-m", folder / "m", "-q", *options)
    if request.param == "pruned":
        run("model", "prune", "-q", "--min-count", 3, "-m", folder / "m")
    if request.param == "overlay":
        start_model(str(folder / "m"), str(folder / "overlay"))
        return folder / "overlay"
    return folder / "m"


MAIL = [
    *(messages(HAM, 4) + messages(SPAM, 4)),  # of training
    *(messages(HAM, 6, 900) + messages(SPAM, 6, 900)),
    *(CLASSIFIED, DELIVERED, NOTE, b"Received: from c.example by d.example\n" + NOTE),
]


@pytest.mark.parametrize(("seed", "rows"), [(0, changes.MAX_ROWS), (1, 20)])
def test_batch_counts_as_the_same_lessons_one_by_one(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, rows: int
) -> None:
    """Equal answers, ledgers, and models to the bit, also if the counts of a batch do not fit into memory."""
    one_by_one, in_batches = (str(shutil.copy(trained, tmp_path / name)) for name in "ab")
    choose = random.Random(seed)
    for number in range(8):
        label = choose.choice(["ham", "spam", "spam", None])
        lessons = [(f"/mail/{choose.randrange(2)}/{n}", choose.choice(MAIL)) for n in range(9)]
        own = choose.choice(MAIL)
        origin = Origin(f"learn {number}")
        monkeypatch.undo()
        learn_verdict(one_by_one, "spam", own, "classify")
        alone = [learn_messages(one_by_one, label, [lesson], origin)[0] for lesson in lessons]
        monkeypatch.setattr(changes, "MAX_ROWS", rows)
        learn_verdict(in_batches, "spam", own, "classify")
        assert learn_messages(in_batches, label, lessons, origin) == alone
        assert check_model(in_batches) == []
    assert list(dump_model(in_batches)) == list(dump_model(one_by_one))
    assert read_ledger(in_batches) == read_ledger(one_by_one)


def read_ledger(path: str) -> list[object]:
    """What the ledger says, without the numbers of the batches and the times of the filter's own verdicts."""
    with open_model(path) as model:
        entries = list_entries(model)
    return sorted([(not one.is_own and one.time_ms, one.source, one.messages) for one in entries], key=str)


def test_batches_grow_and_shrink_with_the_time_that_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, sizes = 0.0, []
    monkeypatch.setattr(learn.time, "monotonic", lambda: clock)
    for batch in split_batches(range(2_000), lambda _: 1):
        clock += len(batch) * (0.001 if sum(sizes) < 1_000 else 0.1)  # the disk becomes slow
        sizes.append(len(batch))
    assert sizes[:4] == [32, 64, 128, 256]
    assert max(sizes) * 0.001 <= learn.BATCH_SECONDS
    assert sizes[-2] * 0.1 <= 2 * learn.BATCH_SECONDS
    assert sum(sizes) == 2_000


def test_batch_of_large_messages_is_bounded_by_their_bytes() -> None:
    sizes = [len(batch) for batch in split_batches(range(20), lambda _: learn.BATCH_BYTES // 4)]
    assert sizes == [4] * 5
