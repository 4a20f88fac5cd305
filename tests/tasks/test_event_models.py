"""Every event model from the command line to the verdict, on the mail of data/."""

import shutil
from pathlib import Path

import pytest

from nbspam.corpus.labelled import open_labelled
from nbspam.filter import open_filter
from nbspam.learning.learn import learn_message
from nbspam.tasks.classify import ModelJudge
from tests.mail_samples import make_corpus
from tests.tiny_mail import counts, run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
MODELS = {
    "presence": ["--event-model", "presence", "--textbook"],
    "multinomial": ["--event-model", "multinomial"],
    "bernoulli": ["--event-model", "bernoulli"],
    "complement": ["--event-model", "complement"],
    "complement-normalised": ["--event-model", "complement", "--normalise"],
    "gaussian": ["--event-model", "gaussian"],
    "categorical": ["--event-model", "categorical"],
    "categorical-width": ["--event-model", "categorical", "--binning", "width", "--bins", "5"],
    "aode": ["--event-model", "aode", "--bins", "4"],
    "presence+gaussian": ["--features", "both"],
    "multinomial+categorical": [
        "--features", "both", "--event-model", "multinomial", "--numeric-model", "categorical",
    ],
    "complement+aode": ["--features", "both", "--event-model", "complement", "--numeric-model", "aode"],
    "alpha-0.2": ["--event-model", "bernoulli", "--alpha", "0.2", "--prior", "uniform"],
}  # fmt: skip
AVERAGED = {"views": [], "some-views": ["--views", "header,structure"]}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model file for each of MODELS, made when it is asked for."""
    folder = tmp_path_factory.mktemp("models")

    class Made(dict[str, Path]):
        def __missing__(self, name: str) -> Path:
            run("train", DATA, "-q", "-m", folder / f"{name}.nbspam", *(MODELS | AVERAGED)[name])
            self[name] = folder / f"{name}.nbspam"
            return self[name]

    return Made()


@pytest.mark.parametrize("name", [*MODELS, *AVERAGED, "four-classes", "four-textbook"])
def test_a_saved_model_scores_many_messages_as_one_by_one(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    """Also after another program changed the model between two shards."""
    model, folder = tmp_path / "model", DATA
    if name.startswith("four"):
        folder = make_corpus(tmp_path / "four", {"ham": 20, "news": 20, "spam": 20, "work": 20})
        run("train", folder, "-q", "-m", model, *(["--textbook"] if name == "four-textbook" else []))
    else:
        shutil.copy(trained[name], model)
    items = list(open_labelled([str(folder)]).items())[::5]
    classifier, judge = open_filter(str(model)), ModelJudge(open_filter(str(model)))
    for some in (items, items[:9]):
        found = [joint for block in judge.read(some).blocks for joint in judge.joints(block)]
        expected = [classifier.classify(item.read(), item.name).scored.scores for item in some]
        assert found == [pytest.approx(scores, rel=1e-12, abs=1e-12) for scores in expected]
        assert learn_message(str(model), "spam", NEW_MAIL + str(len(some)).encode()) == "learned"
        classifier.refresh()


NEW_MAIL = (
    b"From: a@b.example\nDate: Mon, 2 Sep 2002 12:30:00 +0000\nSubject: An UNSEEN one\n\n"
    b"Brand new words, 12 of 30!\n"
)


def test_a_message_of_the_same_words_with_other_features_has_another_form(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    """Capitals are of no token but of a feature: to forget the one for the other would not be exact."""
    path = tmp_path / "copy.nbspam"
    path.write_bytes(trained["gaussian"].read_bytes())
    before = counts(path)
    loud, low = (b"Subject: hi\n\n" + text for text in (b"HELLO THERE friend\n", b"hello there friend\n"))
    run("learn", "spam", "-q", "-m", path, stdin=loud)
    assert run("unlearn", "-q", "-m", path, stdin=low).startswith("learned in another form\t")
    run("unlearn", "-q", "-m", path, stdin=loud)
    assert counts(path) == before
