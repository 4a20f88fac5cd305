"""Laws of pruned models, for each way to count: sound, smaller, and still able to learn and unlearn."""

import random
import shutil
from pathlib import Path

import pytest

from nbspam.learning.learn import learn_messages
from nbspam.store.check import check_model
from nbspam.store.prune import prune
from nbspam.store.reader import open_model
from nbspam.tokens.bag import MEASURES_VIEW, NOTAWORD_VIEW
from tests.tiny_mail import run

KEPT_VIEWS = (NOTAWORD_VIEW, MEASURES_VIEW)  # that pruning leaves alone
WAYS = {"views": [], "multinomial": ["--event-model", "multinomial"], "fixed": ["--vocab", "v.tsv"]}


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each way."""
    folder = tmp_path_factory.mktemp("models")
    run("vocab", "build", data, "--size", "2000", "--view", "body", "-o", folder / "v.tsv", "-q")
    for way, options in WAYS.items():
        options = [folder / one if one == "v.tsv" else one for one in options]
        run("train", "-q", "-j1", data, "-m", folder / way, *options)
    return folder


@pytest.fixture(params=WAYS)
def model(request: pytest.FixtureRequest, trained: Path, tmp_path: Path) -> str:
    return str(shutil.copy(trained / request.param, tmp_path / "model"))


def rows(path: str) -> dict[str, tuple[int, ...]]:
    """text -> view and counts."""
    with open_model(path) as model:
        found = model.connection.ask("SELECT * FROM token")
    return {text: (view, *counts) for _, view, text, _, *counts in found}


def test_rare_tokens_go_and_all_others_keep_their_counts(model: str) -> None:
    before = rows(model)
    done = prune(model, min_count=3)
    after = rows(model)
    assert check_model(model) == []
    few = {text for text, row in before.items() if row[0] not in KEPT_VIEWS and sum(row[1::2]) < 3}
    assert (done.tokens, done.pruned) == (len(before), len(few)) and few
    assert done.after_bytes == Path(model).stat().st_size < done.before_bytes
    before.pop("NOTAWORD", None)
    assert {text: row for text, row in after.items() if text != "NOTAWORD"} == {
        text: row for text, row in before.items() if text not in few
    }


@pytest.mark.slow
def test_model_is_sound_while_mail_is_unlearned_and_learned(model: str, data: Path) -> None:
    """Also mail whose pruned tokens another message brought back."""
    prune(model, min_count=3)
    pruned = rows(model)
    mails = [(path.parent.name, path.read_bytes()) for path in sorted(data.glob("*/*"))]
    random.Random(1).shuffle(mails)
    fresh = [
        (label, b"Comments: a word more\nCc: neverseen@example.org\n" + mail) for label, mail in mails[:20]
    ]
    for label in ("ham", "spam"):
        learn_messages(model, label, [("", mail) for its, mail in fresh if its == label])
    assert rows(model).keys() > pruned.keys() or "NOTAWORD" in pruned
    every = [("", mail) for _, mail in mails + fresh]
    for start in range(0, len(every), 20):
        assert set(learn_messages(model, None, every[start : start + 20])) == {"forgotten"}
        assert check_model(model) == []
    with open_model(model) as opened:
        assert opened.messages == [0, 0]


def test_pruned_model_takes_no_mail_for_strange(trained: Path, tmp_path: Path) -> None:
    model = str(shutil.copy(trained / "views", tmp_path / "model"))
    strange = [f"X-{n}a: wholly{n} unknown{n}\n" for n in range(90)]
    (tmp_path / "mail").write_text("".join(strange) + "\nan offer")
    assert "unlike the mail" in run("explain", tmp_path / "mail", "-m", model)
    prune(model, min_count=3)
    assert "unlike the mail" not in run("explain", tmp_path / "mail", "-m", model)
