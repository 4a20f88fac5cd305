"""Labels that contradict each other, and those that the other mail says are wrong."""

import random
from pathlib import Path

import pytest

from nbspam.corpus.corpus import Corpus, read_corpus
from nbspam.corpus.labelled import open_labelled
from nbspam.learning.learn import MOVED, learn_message
from nbspam.tasks.check_labels import check_labels, choose_views
from tests.mail_samples import make_corpus, make_index
from tests.tiny_mail import run


def read(*paths: Path) -> Corpus:
    source = open_labelled(list(map(str, paths)))
    return read_corpus(source.items(), source.classes, 1, wanted=frozenset(("bigrams", "measures")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("mail") / "mail", {"ham": 150, "spam": 120}, noise=0.0)


def test_messages_under_the_wrong_label_are_listed_and_no_other(folder: Path, tmp_path: Path) -> None:
    names = [(path.parent.name, str(path)) for path in sorted(folder.rglob("*.eml"))]
    wrong = set(random.Random(1).sample(names, 5))
    swapped = {"ham": "spam", "spam": "ham"}
    lines = [(swapped[label] if (label, name) in wrong else label, name) for label, name in names]
    checked = check_labels(read(make_index(tmp_path, lines)))
    assert checked.in_doubt is not None
    assert {doubt.name for doubt in checked.in_doubt} == {name for _, name in wrong}
    for doubt in checked.in_doubt:
        assert doubt.other == swapped[doubt.label]
        assert doubt.clues
        assert all(nats > 0 for _, nats in doubt.clues)
    chances = [doubt.probability for doubt in checked.in_doubt]
    assert chances == sorted(chances, reverse=True)


def test_a_campaign_under_the_wrong_label_does_not_vouch_for_itself(folder: Path, tmp_path: Path) -> None:
    spam = sorted((folder / "spam").iterdir())[0]
    copies = []
    for number in range(6):
        copies.append(tmp_path / f"copy{number}.eml")
        copies[-1].write_bytes(spam.read_bytes() + b"another%d\n" % number)
    names = [(path.parent.name, str(path)) for path in sorted(folder.rglob("*.eml")) if path != spam]
    index = make_index(tmp_path, [*names, *(("ham", str(path)) for path in copies)])
    checked = check_labels(read(index))
    assert checked.in_doubt is not None
    assert {doubt.name for doubt in checked.in_doubt} == set(map(str, copies))


def test_a_message_under_two_labels_is_a_contradiction_and_not_a_doubt(folder: Path, tmp_path: Path) -> None:
    names = [(path.parent.name, str(path)) for path in sorted(folder.rglob("*.eml"))]
    spam = next(name for label, name in names if label == "spam")
    copy = tmp_path / "copy.eml"
    copy.write_bytes(b"From someone@example.org Sat Jan  3 01:05:34 2026\n" + Path(spam).read_bytes())
    checked = check_labels(read(make_index(tmp_path, [*names, ("ham", str(copy))])))
    assert [sorted(group) for group in checked.same] == [sorted([(str(copy), "ham"), (spam, "spam")])]
    assert checked.near == []
    assert checked.in_doubt == []


@pytest.mark.parametrize(
    "options",
    [[], ["--textbook"], ["--features", "both"], ["--views", "body"]],
    ids=lambda one: " ".join(one),
)
def test_messages_that_the_model_counted_as_another_class_are_listed(
    folder: Path, tmp_path: Path, options: list[str]
) -> None:
    model = str(tmp_path / "m")
    run("train", folder, "-m", model, "-q", *options)
    source = open_labelled([str(folder)])
    corpus = read_corpus(source.items(), source.classes, 1, wanted=choose_views(model))
    assert check_labels(corpus, model).counted_otherwise == []
    ham = str(next((folder / "ham").iterdir()))
    assert learn_message(model, "spam", Path(ham).read_bytes()) == MOVED
    assert check_labels(corpus, model).counted_otherwise == [(ham, "ham", ("spam",))]
