"""`--autolearn`: the filter learns its own verdicts, and a label replaces them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from nbspam.corpus.corpus import read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.decision import LEARNABLE
from nbspam.evaluation.replay import Autolearn
from nbspam.learning import autolearn
from nbspam.learning.autolearn import MIN_LABELLED, learn_verdict
from nbspam.settings import Settings
from nbspam.store.check import check_model
from nbspam.tasks.judges import CorpusJudge
from nbspam.tasks.plan import Plan
from tests.store.changed_model import change
from tests.tiny_mail import counts, error, mail, program, run, write_folders

HAM = ["minutes", "agenda", "meeting", "report", "schedule", "lunch", "review", "budget"]
SPAM = ["pills", "casino", "winner", "cheap", "prize", "viagra", "lottery", "bonus"]
ENOUGH = MIN_LABELLED + 5


def messages(words: list[str], number: int, first: int = 0) -> list[bytes]:
    """Distinct messages of a class."""
    return [
        mail(f"{words[i % 8]} {words[i // 8 % 8]} {words[i // 64 % 8]} number{words[0]}{i}", words[i % 7])
        for i in range(first, first + number)
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("autolearn")
    classes = {"ham": messages(HAM, ENOUGH), "spam": messages(SPAM, ENOUGH)}
    write_folders(folder / "mail", classes)
    run("train", folder / "mail", "-m", folder / "m", "-q")
    return folder / "m"


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(trained, tmp_path / "model"))


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    """The same model, to compare with."""
    return Path(shutil.copy(trained, tmp_path / "copy"))


NEW_SPAM = mail("cheap casino pills prize zebra", "winner")
NEW_HAM = mail("meeting minutes agenda budget giraffe", "report")


def text(model: Path) -> str:
    """Everything in a model."""
    return run("model", "dump", "-m", model)


def count_own(model: Path) -> int:
    """How many messages the filter has learned itself."""
    return sum(json.loads(run("model", "info", "--json", "-m", model))["autolearned"].values())


def weights(model: Path) -> list[str]:
    return [line for line in text(model).splitlines() if line.startswith('["calibration"')]


@pytest.mark.parametrize(("data", "label"), [(NEW_SPAM, "spam"), (NEW_HAM, "ham")])
def test_a_verdict_is_counted_as_learn_counts_it_but_the_calibration_stays(
    model: Path, copy: Path, data: bytes, label: str
) -> None:
    before = weights(model)
    assert run("classify", "--autolearn", "-m", model, stdin=data).startswith(label)
    run("learn", label, "-m", copy, stdin=data)
    assert counts(model) == counts(copy)
    assert weights(model) == before != weights(copy)
    assert check_model(str(model)) == []


def test_a_message_is_learned_once_if_it_is_probable_and_not_labelled(model: Path) -> None:
    before = text(model)
    run("classify", "-m", model, stdin=NEW_SPAM)
    run("classify", "--autolearn", "-m", model, stdin=messages(SPAM, 1)[0])
    line = run("classify", "--autolearn", "-m", model, stdin=mail("xylophone quartz"))
    assert 1 - LEARNABLE < float(line.split("\t")[1]) < LEARNABLE
    assert text(model) == before
    run("classify", "--autolearn", "-m", model, stdin=NEW_SPAM)
    once = text(model)
    assert once != before
    run("classify", "--autolearn", "-m", model, stdin=NEW_SPAM)
    assert text(model) == once
    assert run("unlearn", "-m", model, stdin=NEW_SPAM) == "forgotten\t-\n"
    assert text(model) == before


@pytest.mark.parametrize(("label", "said"), [("spam", "learned\t-\n"), ("ham", "moved\t-\n")])
def test_later_label_counts_as_if_message_were_new(model: Path, copy: Path, label: str, said: str) -> None:
    run("classify", "--autolearn", "-m", model, stdin=NEW_SPAM)
    assert run("learn", label, "-m", model, stdin=NEW_SPAM) == said
    run("learn", label, "-m", copy, stdin=NEW_SPAM)
    assert (counts(model), weights(model)) == (counts(copy), weights(copy))
    assert count_own(model) == 0


def test_each_of_many_messages_is_judged_by_what_was_learned_before_it(model: Path, tmp_path: Path) -> None:
    new = messages(SPAM, 5, 500) + messages(HAM, 5, 500)
    paths = []
    for number, data in enumerate(new):
        paths.append(tmp_path / f"{number}.eml")
        paths[-1].write_bytes(data)
    one_by_one = Path(shutil.copy(model, tmp_path / "one"))
    together = run("classify", "--autolearn", "-m", model, *paths)
    apart = "".join(run("classify", "--autolearn", "-m", one_by_one, path) for path in paths)
    assert together == apart
    assert text(model) == text(one_by_one)
    assert count_own(model) == len(new)


@pytest.mark.parametrize("options", [(), ("-p",), ("--json",)])
def test_error_of_learning_does_not_change_verdict(model: Path, copy: Path, options: tuple[str, ...]) -> None:
    change(model, "DELETE FROM digest WHERE name = 'token'")  # no verdict asks for it
    expected = program("classify", *options, "-m", copy, stdin=NEW_SPAM)
    done = program("classify", *options, "--autolearn", "-m", model, stdin=NEW_SPAM)
    assert (done.returncode, done.stdout) == (0, expected.stdout)
    assert done.stderr.startswith(b"nbspam: not learned: ")
    assert b"Traceback" not in done.stderr


def test_a_filter_with_few_labelled_messages_does_not_learn_its_verdicts(tmp_path: Path) -> None:
    few = {"ham": messages(HAM, ENOUGH), "spam": messages(SPAM, MIN_LABELLED - 1)}
    run("train", write_folders(tmp_path / "mail", few), "-m", tmp_path / "m", "-q")
    before = text(tmp_path / "m")
    assert run("classify", "--autolearn", "-m", tmp_path / "m", stdin=NEW_SPAM).startswith("spam")
    assert text(tmp_path / "m") == before
    run("learn", "spam", "-m", tmp_path / "m", stdin=mail("lottery bonus"))
    run("classify", "--autolearn", "-m", tmp_path / "m", stdin=NEW_SPAM)
    assert count_own(tmp_path / "m") == 1


def test_autolearn_without_calibration_is_refused_and_mail_passes(trained: Path, tmp_path: Path) -> None:
    folder = trained.parent / "mail"
    run("train", folder, "--textbook", "-m", tmp_path / "m", "-q")
    for options in (("-m", tmp_path / "m"), ("-m", trained, "--textbook"), ("-m", trained, "--alpha", "1")):
        slug = "autolearn-uncalibrated" if len(options) == 2 else "autolearn-settings"
        assert slug in error("classify", "--autolearn", *options, status=64, stdin=NEW_SPAM)
        done = program("classify", "-p", "--autolearn", *options, stdin=NEW_SPAM)
        assert (done.returncode, done.stdout) == (75, NEW_SPAM)
    said = error("eval", "--replay", "--autolearn", "--textbook", folder, status=64)
    assert "autolearn-uncalibrated" in said
    assert "--replay" in error("eval", "--autolearn", folder, status=64)


def test_old_autolearned_messages_are_forgotten_without_a_trace(
    model: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autolearn, "MAX_AUTOLEARNED", 3)
    new = messages(SPAM, 3, 500) + messages(HAM, 3, 500)
    for data, label in zip(new, ["spam"] * 3 + ["ham"] * 3, strict=True):
        assert learn_verdict(str(model), label, data, "classify")
    for data in new[3:]:
        assert learn_verdict(str(copy), "ham", data, "classify")
    assert text(model) == text(copy)
    assert check_model(str(model)) == []
    assert run("learn", "spam", "-m", model, stdin=new[0]) == "learned\t-\n"
    run("learn", "spam", "-m", copy, stdin=new[0])
    assert text(model) == text(copy)


def test_a_replay_with_all_labels_is_one_without_autolearn(trained: Path) -> None:
    source = open_labelled([str(trained.parent / "mail")])
    corpus = read_corpus(source.items(), source.classes, wanted=Settings().wanted)
    order = np.argsort(np.arange(len(corpus.block)) % ENOUGH, kind="stable")
    plain, own = (CorpusJudge(corpus, Plan(Settings())) for _ in range(2))
    taught = Autolearn(own)
    for row in order.tolist():
        assert plain.score(row) == taught.score(row)
        truth = int(corpus.block.labels[row])
        plain.learn(row, truth)
        taught.learn(row, truth)
    assert plain.scorer().model.calibration() == own.scorer().model.calibration()


def test_a_copy_of_the_shared_model_learns_the_verdict(model: Path, copy: Path, tmp_path: Path) -> None:
    own, before = tmp_path / "own", model.read_bytes()
    folder = tmp_path / "new"
    folder.mkdir()
    for number, data in enumerate(messages(SPAM, 3, first=ENOUGH)):
        (folder / str(number)).write_bytes(data)
    said = run("classify", "--autolearn", "-m", own, "--start", model, folder)
    assert said == run("classify", "--autolearn", "-m", copy, folder)
    assert model.read_bytes() == before
    assert counts(own) == counts(copy)


def test_a_filter_that_is_corrected_too_often_stops_until_its_own_verdicts_are_undone(
    model: Path, copy: Path
) -> None:
    new = messages(SPAM, 40, 500)
    for data in new:
        assert learn_verdict(str(model), "spam", data, "serve someone")
    for data in new[:3]:
        assert learn_verdict(str(model), "spam", data + b"again\n", "classify")
        run("learn", "ham", "-m", model, stdin=data)
    run("learn", "spam", "-m", model, stdin=new[3])
    assert not learn_verdict(str(model), "spam", mail("the next"), "classify")
    info = run("model", "info", "-m", model)
    assert "4 more were labelled since, 3 of them as another class" in " ".join(info.split())
    for source in ("serve someone", "classify"):
        run("undo", "--source", source, "-q", "-m", model)
    for data, label in zip(new[:4], ["ham", "ham", "ham", "spam"], strict=True):
        run("learn", label, "-m", copy, stdin=data)
    assert counts(model) == counts(copy)
    assert check_model(str(model)) == []
    assert learn_verdict(str(model), "spam", mail("the next"), "classify")


def test_filter_goes_on_while_few_verdicts_are_corrected(model: Path) -> None:
    new = messages(SPAM, 40, 500)
    for data in new:
        assert learn_verdict(str(model), "spam", data, "classify")
    for data, label in zip(new, ["ham"] * 2 + ["spam"] * 38, strict=True):
        run("learn", label, "-m", model, stdin=data)
    assert learn_verdict(str(model), "spam", mail("the next"), "classify")


def test_undo_takes_out_what_the_filter_learned_and_a_label_of_it_too(model: Path, copy: Path) -> None:
    new = model.parent / "new.eml"
    new.write_bytes(NEW_SPAM)
    for label in ("", "spam", "ham"):
        run("classify", "--autolearn", "-m", model, new)
        if label:
            run("learn", label, "-m", model, new)
        assert run("undo", "--last", "-m", model).startswith("forgotten\t")
        assert counts(model) == counts(copy)
        assert check_model(str(model)) == []
