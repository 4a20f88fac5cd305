"""Every event model from the command line to the verdict, on the mail of data/."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus import Source, open_labelled
from nbspam.corpus.reading import read_blocks
from nbspam.filter import open_filter
from nbspam.model.block import Block, merge_blocks, select_rows
from nbspam.model.textbook import TextbookModel, count_features_of
from nbspam.settings import Settings, from_text
from nbspam.store.reader import open_model
from nbspam.tasks.judges import BatchJudge, count_whole
from tests.tiny_mail import program

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


def run(*arguments: object, status: int = 0, stdin: bytes = b"") -> tuple[str, str]:
    """stdout and stderr of the command."""
    done = program(*arguments, stdin=stdin)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def numeric_blocks(source: Source) -> list[Block]:
    parts = read_blocks(source.items(), source.classes, 1, frozenset(("numeric",)))
    return [block for shard in parts for block in shard.blocks]


@pytest.fixture(scope="module")
def block() -> Block:
    return merge_blocks(numeric_blocks(open_labelled([str(DATA)])))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model file for each of MODELS, made when it is asked for."""
    folder = tmp_path_factory.mktemp("models")

    class Made(dict[str, Path]):
        def __missing__(self, name: str) -> Path:
            run("train", DATA, "-q", "-m", folder / f"{name}.nbspam", *MODELS[name])
            self[name] = folder / f"{name}.nbspam"
            return self[name]

    return Made()


def textbook_of(path: Path, block: Block) -> TextbookModel:
    return counted(from_text(open_model(str(path)).settings), block)


def counted(settings: Settings, block: Block) -> TextbookModel:
    return TextbookModel(settings, ("ham", "spam"), block.count(2), count_features_of(block, settings, 2))


@pytest.mark.parametrize("name", MODELS)
def test_one_message_and_the_batch_get_the_same_scores(
    name: str, trained: dict[str, Path], block: Block
) -> None:
    joint = textbook_of(trained[name], block).log_joint(block)
    classifier = open_filter(str(trained[name]))
    for row in range(0, len(block), 5):
        path = Path(block.names[row])
        verdict = classifier.classify(path.read_bytes(), str(path))
        assert verdict.scored.scores == pytest.approx(joint[row].tolist(), rel=1e-12, abs=1e-9), path


def test_without_smoothing_the_absence_of_a_word_of_every_message_rules_a_class_out(
    trained: dict[str, Path], block: Block
) -> None:
    classifier = open_filter(str(trained["bernoulli"]), {"alpha": "0"})
    assert all(classifier.scorer.words.certain)
    scored = classifier.classify(b"", "-").scored
    assert scored.scores == [-math.inf, -math.inf]
    assert scored.parts[-2].text == "a word of every message is absent"
    settings = classifier.settings
    some = select_rows(block, np.arange(0, len(block), 9))
    joint = counted(settings, block).log_joint(some)
    for row, name in enumerate(some.names):
        one = classifier.classify(Path(name).read_bytes(), name).scored.scores
        assert one == pytest.approx(joint[row].tolist(), rel=1e-12, abs=1e-9), name


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_a_verdict_add_up_to_its_scores(name: str, trained: dict[str, Path]) -> None:
    classifier = open_filter(str(trained[name]))
    for mail in (
        b"",
        b"Subject: hello\n\nnever met words qwx zzk\n",
        (DATA / "spam" / "0002.eml").read_bytes(),
    ):
        scored = classifier.classify(mail, "-").scored
        for k in range(2):
            assert math.fsum(part.values[k] for part in scored.parts) == pytest.approx(
                scored.scores[k], abs=1e-9
            )
        assert scored.posteriors is not None
        assert math.fsum(map(math.exp, scored.posteriors)) == pytest.approx(1)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_beats_the_larger_class(name: str, trained: dict[str, Path], block: Block) -> None:
    joint = textbook_of(trained[name], block).log_joint(block)
    assert (joint.argmax(axis=1) == block.labels).mean() > np.bincount(block.labels).max() / len(block) + 0.05


RARE_SPAM = "ham=0.999,spam=0.001"


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings("multinomial"),
        Settings("complement", features="both", numeric_model="categorical"),
    ],
    ids=["averaged", "words", "both"],
)
def test_lambda_is_chosen_under_the_prior_that_the_model_is_to_have(settings: Settings, block: Block) -> None:
    """Where spam hardly ever comes, ham that is lost costs most, and a careful lambda loses less of it."""
    whole, classes = count_whole(block, 2), ("ham", "spam")

    def chosen(prior: str) -> float:
        judge = BatchJudge(whole, settings.replaced(prior=prior), classes, automatic=True)
        judge.learn(np.arange(len(block)))
        return judge.settings.alpha

    assert chosen(RARE_SPAM) != chosen("empirical") == chosen("smoothed")


def tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What was counted: all but settings and calibration."""
    connection = sqlite3.connect(path)
    names = (
        "class",
        "view",
        "view_total",
        "token",
        "histogram",
        "learned",
        "numeric_feature",
        "numeric_count",
    )
    found = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in names}
    connection.close()
    return found


NEW_MAIL = (
    b"From: a@b.example\nDate: Mon, 2 Sep 2002 12:30:00 +0000\nSubject: An UNSEEN one\n\n"
    b"Brand new words, 12 of 30!\n"
)


def test_a_message_of_the_same_words_with_other_features_is_another(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    """Capitals are of no token but of a feature: to forget the one for the other would not be exact."""
    path = tmp_path / "copy.nbspam"
    path.write_bytes(trained["gaussian"].read_bytes())
    before = tables(path)
    loud, low = (b"Subject: hi\n\n" + text for text in (b"HELLO THERE friend\n", b"hello there friend\n"))
    run("learn", "spam", "-q", "-m", path, stdin=loud)
    out, _ = run("unlearn", "-q", "-m", path, stdin=low)
    assert out.startswith("was never learned\t")
    run("unlearn", "-q", "-m", path, stdin=loud)
    assert tables(path) == before


@pytest.mark.parametrize("name", ["multinomial", "gaussian", "aode", "complement+aode"])
def test_learning_and_unlearning_restores_every_count(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "copy.nbspam"
    path.write_bytes(trained[name].read_bytes())
    before = tables(path)
    run("learn", "spam", "-q", "-m", path, stdin=NEW_MAIL)
    assert tables(path) != before
    run("unlearn", "-q", "-m", path, stdin=NEW_MAIL)
    assert tables(path) == before


@pytest.mark.parametrize("name", ["categorical", "aode", "presence+gaussian"])
def test_learning_message_by_message_equals_adding_in_bulk(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    new = tmp_path / "spam"
    new.mkdir()
    for n in range(6):
        (new / f"{n}.eml").write_bytes(NEW_MAIL.replace(b"30", b"3%d" % n) + b"filler " * n * n)
    one, other = tmp_path / "one.nbspam", tmp_path / "other.nbspam"
    for path in (one, other):
        path.write_bytes(trained[name].read_bytes())
    run("learn", "spam", "-q", "-m", one, *sorted(new.iterdir()))
    run("train", "--update", "--spam", new, "-q", "-m", other)
    assert tables(one) == tables(other)


def test_the_number_of_processes_changes_no_count(tmp_path: Path, trained: dict[str, Path]) -> None:
    run("train", DATA, "-q", "-j", "2", "-m", tmp_path / "two.nbspam", *MODELS["complement+aode"])
    assert tables(tmp_path / "two.nbspam") == tables(trained["complement+aode"])


# Bad input


@pytest.mark.parametrize(
    ("trained_as", "asked", "remedy"),
    [
        ("presence", "gaussian", "--features numeric or --features both"),
        ("gaussian", "presence", "--features words or --features both"),
        ("gaussian", "aode", "train again with --event-model aode"),
    ],
)
def test_a_model_without_the_counts_names_the_remedy(
    trained_as: str, asked: str, remedy: str, trained: dict[str, Path]
) -> None:
    _, error = run("classify", "--event-model", asked, "-m", trained[trained_as], stdin=NEW_MAIL, status=64)
    assert remedy in error


@pytest.mark.parametrize("other", ["gaussian", "categorical"])
def test_the_numeric_model_can_be_chosen_when_a_message_is_scored(
    other: str, trained: dict[str, Path]
) -> None:
    out, _ = run("classify", "--json", "--event-model", other, "-m", trained["aode"], stdin=NEW_MAIL)
    again, _ = run("classify", "--json", "-m", trained["aode"], stdin=NEW_MAIL)
    assert json.loads(out)["log_odds"] != json.loads(again)["log_odds"]


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["--event-model", "categorical", "--bins", "1"], "bins"),
        (["--event-model", "categorical", "--bins", "1001"], "bins"),
        (["--event-model", "aode", "--bins", "101"], "bins"),
        (["--prior", "ham=0.4,spam=0.4"], "prior"),
        (["--prior", "ham=0.4,work=0.6"], "prior"),
        (["--event-model", "gaussian", "--features", "words"], "features"),
        (["--event-model", "bernoulli", "--features", "numeric"], "features"),
        (["--alpha", "-1"], "alpha"),
        (["--alpha", "much"], "alpha"),
        (["--loss", "FP=-1"], "loss"),
        (["--prior-weight", "10"], "usage"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], slug: str, tmp_path: Path) -> None:
    _, error = run("train", DATA, "-m", tmp_path / "m.nbspam", *arguments, status=64)
    assert f"[{slug}]" in error
    assert "next:" in error
    assert not (tmp_path / "m.nbspam").exists()


def test_a_class_without_messages_is_refused(tmp_path: Path) -> None:
    for name in ("ham", "spam"):
        (tmp_path / "mail" / name).mkdir(parents=True)
    (tmp_path / "mail" / "ham" / "1").write_bytes(NEW_MAIL)
    _, error = run("train", tmp_path / "mail", "-m", tmp_path / "m.nbspam", status=66)
    assert "spam" in error


# lambda


@pytest.mark.parametrize(
    "event_model", ["presence", "multinomial", "bernoulli", "complement", "categorical", "aode"]
)
def test_alpha_auto_is_stored_and_said(event_model: str, tmp_path: Path) -> None:
    path = tmp_path / "m.nbspam"
    _, said = run("train", DATA, "--event-model", event_model, "--alpha", "auto", "-m", path)
    alpha = float(open_model(str(path)).settings["alpha"])
    assert alpha > 0
    assert f"alpha = {alpha:g}." in said


def test_without_smoothing_an_unseen_word_everywhere_is_unsure(trained: dict[str, Path]) -> None:
    out, _ = run("classify", "--json", "--alpha", "0", "-m", trained["multinomial"], stdin=b"\n\nqwxzzk\n")
    verdict = json.loads(out)
    assert (verdict["label"], verdict["log_odds"], verdict["probabilities"]) == ("unsure", None, None)


# Prior models


@pytest.mark.parametrize(
    "name", ["presence", "bernoulli", "complement-normalised", "gaussian", "complement+aode"]
)
def test_a_prior_at_its_own_size_scores_as_itself(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    """No own mail, and the prior worth as many messages as it has: the same counts, so the same scores."""
    path = tmp_path / "cold.nbspam"
    weight = sum(open_model(str(trained[name])).messages)
    arguments = ("--prior-model", trained[name], "--prior-weight", weight, *MODELS[name])
    run("train", "-q", "-m", path, *arguments)
    one, other = open_filter(str(trained[name])), open_filter(str(path))
    for mail in (NEW_MAIL, (DATA / "ham" / "0001.eml").read_bytes()):
        expected = one.classify(mail, "-").scored.scores
        assert other.classify(mail, "-").scored.scores == pytest.approx(expected, abs=1e-9)


def test_a_filter_with_a_prior_model_works_before_its_first_message(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "cold.nbspam"
    run("train", DATA, "-q", "-m", tmp_path / "prior.nbspam")
    run("train", "-q", "--prior-model", tmp_path / "prior.nbspam", "--prior-weight", "246", "-m", path)
    out, _ = run("classify", "-m", path, DATA / "spam" / "0002.eml", DATA / "ham" / "0001.eml")
    assert [line.split("\t")[0] for line in out.splitlines()] == ["spam", "ham"]


@pytest.mark.parametrize("name", ["multinomial", "complement+aode"])
def test_a_model_on_a_prior_learns_and_unlearns_exactly(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "cold.nbspam"
    run("train", "-q", "--prior-model", trained[name], "-m", path, *MODELS[name])
    before = tables(path)
    for mail in (NEW_MAIL, (DATA / "spam" / "0002.eml").read_bytes()):
        run("learn", "spam", "-q", "-m", path, stdin=mail)
    for mail in ((DATA / "spam" / "0002.eml").read_bytes(), NEW_MAIL):
        run("unlearn", "-q", "-m", path, stdin=mail)
    assert tables(path) == before


def test_own_mail_and_a_prior_at_full_weight_equal_one_training(tmp_path: Path) -> None:
    """The power prior at weight m0 is a merge of counts."""
    for name in ("ham", "spam"):
        for half in (0, 1):
            (tmp_path / str(half) / name).mkdir(parents=True)
        for n, path in enumerate(sorted((DATA / name).iterdir())):
            (tmp_path / str(n % 2) / name / path.name).write_bytes(path.read_bytes())
    common = ("--event-model", "bernoulli", "--alpha", "0.5")
    run("train", DATA, "-q", "-m", tmp_path / "whole", *common)
    run("train", tmp_path / "0", "-q", "-m", tmp_path / "half", *common)
    weight = sum(open_model(str(tmp_path / "half")).messages)
    prior = ("--prior-model", tmp_path / "half", "--prior-weight", weight)
    run("train", tmp_path / "1", "-q", "-m", tmp_path / "both", *prior, *common)
    one, other = open_filter(str(tmp_path / "whole")), open_filter(str(tmp_path / "both"))
    for mail in (b"", NEW_MAIL, (DATA / "spam" / "0002.eml").read_bytes()):
        expected = one.classify(mail, "-").scored.scores
        assert other.classify(mail, "-").scored.scores == pytest.approx(expected, rel=1e-9)


def test_the_formulas_work_a_word_out_with_the_counts_of_the_prior(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    """A prior at its own size is the model itself, so the numbers are the same."""
    weight = sum(open_model(str(trained["multinomial"])).messages)
    prior = ("--prior-model", trained["multinomial"], "--prior-weight", weight)
    run("train", "-q", "-m", tmp_path / "cold", *prior, *MODELS["multinomial"])
    found = []
    for path in (trained["multinomial"], tmp_path / "cold"):
        out, _ = run("model", "info", "--json", "--word", "hello", "-m", path)
        (section,) = [one for one in json.loads(out)["formulas"] if "hello" in one["title"]]
        found.append(section["lines"])
    assert "once in a message it adds" in dict(found[0])
    assert found[0] == found[1]


def test_a_prior_of_another_vocabulary_is_refused_and_one_of_the_same_forgets(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    model, vocabulary = tmp_path / "m", tmp_path / "vocab.tsv"
    run("vocab", "build", DATA, "--size", "200", "-q", "-o", vocabulary)
    options = ("-q", "--vocab", vocabulary, *MODELS["multinomial"])
    run("train", DATA, "-m", tmp_path / "same", *options)
    _, error = run("train", "--prior-model", trained["multinomial"], "-m", model, *options, status=64)
    assert "[prior-vocabulary]" in error
    run("train", "--prior-model", tmp_path / "same", "-m", model, *options)
    before = tables(model)
    run("learn", "spam", "-q", "-m", model, stdin=NEW_MAIL)
    run("unlearn", "-q", "-m", model, stdin=NEW_MAIL)
    assert tables(model) == before


def test_a_prior_that_stands_on_a_prior_is_refused(trained: dict[str, Path], tmp_path: Path) -> None:
    run("train", "-q", "--prior-model", trained["presence"], "-m", tmp_path / "one.nbspam")
    _, error = run(
        "train", "--prior-model", tmp_path / "one.nbspam", "-m", tmp_path / "two.nbspam", status=64
    )
    assert "[prior-stacked]" in error


# K classes


TOPICS = {
    "lists": b"List-Id: <users.list.example>\nFrom: user%d@list.example\n\nthe thread on patches, rules %d\n",
    "private": b"From: ann@family.example\n\nDear %d, dinner at home with the children on day %d\n",
    "spam": b"From: win%d@shop.example\n\nBUY cheap pills now!!! Only $%d http://192.0.2.7/\n",
    "work": b"From: boss@office.example\n\nThe quarterly report %d and the meeting agenda %d attached\n",
}
CLASSES = ("lists", "private", "work", "spam")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mail")
    for name, text in TOPICS.items():
        (folder / name).mkdir()
        for n in range(12):
            (folder / name / f"{n}.eml").write_bytes(b"Subject: %d\n" % n + text % (n, n * n))
    return folder


@pytest.mark.parametrize(
    "event_model", ["presence", "multinomial", "bernoulli", "complement", "gaussian", "categorical", "aode"]
)
def test_four_classes_go_through_train_and_classify(event_model: str, folders: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.nbspam"
    run("train", folders, "-q", "-m", path, "--event-model", event_model)
    assert open_model(str(path)).classes == CLASSES
    right = 0
    for name, text in TOPICS.items():
        out, _ = run("classify", "--json", "-m", path, stdin=b"Subject: 77\n" + text % (77, 99))
        verdict = json.loads(out)
        assert list(verdict["probabilities"]) == list(CLASSES)
        assert sum(verdict["probabilities"].values()) == pytest.approx(1)
        assert min(verdict["risks"], key=verdict["risks"].get) == verdict["label"]
        right += verdict["label"] == name
    assert right >= 3


def test_a_loss_matrix_given_to_train_decides(folders: Path, tmp_path: Path) -> None:
    rows = ("lists 0 9 9 9", "private 9 0 9 9", "work 9 9 0 9", "spam 9 9 9 0", "unsure 0.1 0.1 0.1 0")
    matrix = "\n".join(("lists private work spam", *rows))
    (tmp_path / "loss").write_text(matrix)
    path = tmp_path / "m.nbspam"
    run("train", folders, "-q", "-m", path, "--loss", tmp_path / "loss")
    (tmp_path / "loss").unlink()  # the model keeps it
    out, _ = run("classify", "--json", "-m", path, stdin=b"Subject: hm\n\nnothing known here\n")
    verdict = json.loads(out)
    assert verdict["label"] == "unsure"
    for action, costs in (("lists", (0, 9, 9, 9)), ("unsure", (0.1, 0.1, 0.1, 0))):
        expected = sum(c * verdict["probabilities"][name] for c, name in zip(costs, CLASSES, strict=True))
        assert verdict["risks"][action] == pytest.approx(expected)


def test_a_given_prior_moves_every_class(folders: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.nbspam"
    run("train", folders, "-q", "-m", path, "--event-model", "multinomial")
    given = {"lists": 0.1, "private": 0.2, "work": 0.3, "spam": 0.4}
    prior = ",".join(f"{name}={value}" for name, value in given.items())
    one, _ = run("classify", "--json", "--prior", "uniform", "-m", path, stdin=b"Subject: 7\n\nmeeting\n")
    two, _ = run("classify", "--json", "--prior", prior, "-m", path, stdin=b"Subject: 7\n\nmeeting\n")
    before, after = json.loads(one)["probabilities"], json.loads(two)["probabilities"]
    weighed = {name: before[name] * given[name] for name in CLASSES}
    for name in CLASSES:
        assert after[name] == pytest.approx(weighed[name] / sum(weighed.values()))


@pytest.mark.parametrize("name", ["empirical", "smoothed", "uniform"])
def test_a_named_prior_may_be_written_in_capitals(name: str, trained: dict[str, Path]) -> None:
    small, _ = run("classify", "--json", "--prior", name, "-m", trained["multinomial"], stdin=NEW_MAIL)
    large, _ = run(
        "classify", "--json", "--prior", f" {name.title()}", "-m", trained["multinomial"], stdin=NEW_MAIL
    )
    assert json.loads(large)["log_odds_interval"] == json.loads(small)["log_odds_interval"]
    assert Settings(prior=f" {name.title()}").as_text() == Settings(prior=name).as_text()
    assert Settings(prior=" Ham=1 ").prior == "Ham=1"
