"""The estimator: scikit-learn's conventions, and the probabilities of nbspam.train."""

import email
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import nbspam
from nbspam.sklearn import MailClassifier
from tests.tiny_mail import counts, mail

pytestmark = pytest.mark.slow

# Of scikit-learn's own checks those that bring no numbers: mail is text.
CHECKS = (
    *("cloneable", "repr", "tags_renamed"),
    *("no_attributes_set_in_init", "get_params_invariance", "set_params", "mixin_order"),
    *("valid_tag_types", "parameters_default_constructible"),
)
HAM = [mail("minutes of the meeting"), mail("lunch at noon"), mail("the plan")]
SPAM = [mail("cheap pills"), mail("a prize for you")]
MESSAGES, LABELS = [*HAM, *SPAM], ["ham"] * 3 + ["spam"] * 2


@pytest.fixture(scope="module")
def labelled(data: Path) -> tuple[list[Path], list[str]]:
    paths = [*sorted((data / "ham").glob("*.eml")), *sorted((data / "spam").glob("*.eml"))]
    return paths, [path.parent.name for path in paths]


@pytest.mark.parametrize("name", CHECKS)
def test_checks_of_scikit_learn_that_suit_text(name: str) -> None:
    check = getattr(estimator_checks, f"check_estimator_{name}", None)
    check = check or getattr(estimator_checks, f"check_{name}", None)
    if check is None:
        pytest.skip("another version of scikit-learn")
    check("MailClassifier", MailClassifier())


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"event_model": "bernoulli", "alpha": 0.5, "loss": "FP=3,FN=1,unsure=0.1"},
        {"features": "numeric", "event_model": "categorical", "bins": 4},
        {"textbook": True, "token_pattern": r"\w\w+"},
    ],
)
def test_probabilities_are_those_of_train_to_the_bit(
    labelled: tuple[list[Path], list[str]], data: Path, parameters: dict[str, Any]
) -> None:
    paths, labels = labelled
    made = nbspam.train(data, jobs=1, **parameters)
    fitted = MailClassifier(**parameters).fit(paths, labels)
    asked = paths[::7]
    verdicts = [made.classify(path) for path in asked]
    shares = np.array([[*(verdict.probabilities or {}).values()] for verdict in verdicts])
    assert np.array_equal(fitted.predict_proba(asked), shares)
    assert fitted.predict(asked).tolist() == [verdict.label for verdict in verdicts]
    for again in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(paths, labels)):
        assert np.array_equal(again.predict_proba(asked), shares)


def test_messages_are_bytes_paths_and_messages_of_the_standard_library(tmp_path: Path) -> None:
    path = tmp_path / "message.eml"
    path.write_bytes(SPAM[0])
    mixed = [*HAM, path, email.message_from_bytes(SPAM[1])]
    fitted = MailClassifier().fit(MESSAGES, LABELS)
    assert np.array_equal(
        MailClassifier().fit(mixed, LABELS).predict_proba(mixed), fitted.predict_proba(MESSAGES)
    )
    assert fitted.predict(np.array([path], object)).tolist() == fitted.predict(SPAM[:1]).tolist()
    assert fitted.predict([]).shape == (0,)
    assert fitted.predict_proba([]).shape == (0, 2)


def test_it_works_where_scikit_learn_takes_an_estimator(labelled: tuple[list[Path], list[str]]) -> None:
    paths, labels = (values[::3] for values in labelled)
    for estimator in (MailClassifier(), make_pipeline(MailClassifier(loss="0-1"))):
        alone = cross_val_score(estimator, paths, labels, cv=3, error_score="raise")
        assert alone.mean() > 0.7
        assert cross_val_score(estimator, paths, labels, cv=3, n_jobs=2).tolist() == alone.tolist()
    search = GridSearchCV(MailClassifier(textbook=True), {"alpha": [0.01, 1]}, cv=2, scoring="roc_auc")
    assert search.fit(paths, labels).best_params_["alpha"] in (0.01, 1)


def test_classes_are_sorted_as_labels_whatever_the_order_of_messages() -> None:
    messages = [*SPAM, *HAM, mail("the report", "for work"), mail("the figures", "for work")]
    labels = np.array(["spam"] * 2 + ["ham"] * 3 + ["работа"] * 2)
    fitted = MailClassifier().fit(messages, labels)
    assert fitted.classes_.tolist() == ["ham", "spam", "работа"]
    probabilities = fitted.predict_proba(messages)
    assert fitted.classes_[probabilities.argmax(axis=1)].tolist() == labels.tolist()
    assert np.allclose(probabilities.sum(axis=1), 1)
    mixed = [0, 5, 2, 1, 3, 6, 4]
    again = MailClassifier().fit([messages[n] for n in mixed], labels[mixed])
    expected = nbspam.train(
        ham=[messages[n] for n in mixed if 1 < n < 5],
        spam=[messages[n] for n in mixed if n < 2],
        classes={"работа": [messages[n] for n in mixed if n > 4]},
    )
    odds = (expected.classify(messages[0]).probabilities or {})["spam"]
    assert again.predict_proba(messages[:1])[0, 1] == odds


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1], [False] * 3 + [True] * 2, ["0"] * 3 + ["1"] * 2])
def test_labels_that_are_no_text_come_back_as_they_are(labels: list[Any]) -> None:
    fitted = MailClassifier().fit(MESSAGES, labels).partial_fit(MESSAGES[:1], labels[:1], classes=None)
    assert fitted.predict(MESSAGES).tolist() == labels
    assert fitted.predict([]).dtype == np.array(labels).dtype
    assert fitted.predict_proba(MESSAGES).argmax(axis=1).tolist() == [0, 0, 0, 1, 1]


def test_scikit_learn_may_make_numbers_of_labels() -> None:
    shares = cross_val_predict(MailClassifier(), MESSAGES * 2, LABELS * 2, cv=2, method="predict_proba")
    assert shares.argmax(axis=1).tolist() == [0, 0, 0, 1, 1] * 2


def test_parameters_are_numbers_of_numpy_too() -> None:
    keywords = {"event_model": "categorical", "features": "numeric", "bins": np.int64(4), "jobs": np.int64(1)}
    MailClassifier(**keywords, textbook=np.bool_(False)).fit(MESSAGES, LABELS)
    normalised = MailClassifier(event_model="complement", normalise=np.bool_(True)).fit(MESSAGES, LABELS)
    plain = MailClassifier(event_model="complement", normalise=np.bool_(False)).fit(MESSAGES, LABELS)
    assert (normalised.predict_proba(HAM) != plain.predict_proba(HAM)).any()


def test_parts_give_the_counts_of_the_whole(tmp_path: Path) -> None:
    whole, parts = MailClassifier().fit(MESSAGES, LABELS), MailClassifier()
    parts.partial_fit(MESSAGES[2:4], LABELS[2:4], classes=["ham", "spam"])
    before = pickle.dumps(parts)
    parts.partial_fit(MESSAGES[:2], LABELS[:2]).partial_fit(MESSAGES[4:], LABELS[4:])
    for name, estimator in (("whole", whole), ("parts", parts)):
        (tmp_path / name).write_bytes(estimator.model_)
    tokens = [[line for line in counts(tmp_path / name) if "token" in line] for name in ("whole", "parts")]
    assert tokens[0] == tokens[1]
    assert nbspam.load(tmp_path / "parts").model.messages == [3, 2]
    assert pickle.loads(before).predict_proba(HAM).tolist() != parts.predict_proba(HAM).tolist()
    with pytest.raises(nbspam.NbspamError, match="no class work"):
        parts.partial_fit(HAM[:1], ["work"])
    with pytest.raises(ValueError, match=r"none of \{'spam'\}"):
        MailClassifier().partial_fit(HAM, LABELS[:3], classes=["ham", "spam"])


def test_any_thread_can_use_it() -> None:
    fitted = MailClassifier(loss="0-1").fit(MESSAGES, LABELS)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(fitted.predict(SPAM).tolist()))
    thread.start()
    thread.join()
    assert found == [["spam", "spam"]]


@pytest.mark.parametrize(
    ("messages", "labels", "error", "text"),
    [
        (MESSAGES, LABELS[:3], ValueError, r"\[5, 3\]"),
        ([], [], ValueError, r"two classes.*\[\]"),
        (HAM, LABELS[:3], ValueError, r"two classes.*\['ham'\]"),
        (MESSAGES, [*LABELS[:4], None], ValueError, "or an int.* None"),
        (MESSAGES, [0.1, 0.2, 0.3, 0.4, 0.5], ValueError, "or an int.* 0.1"),
        (MESSAGES, [*LABELS[:4], "Spam"], ValueError, "small letters, not 'Spam'"),
        (MESSAGES, [*LABELS[:4], "unsure"], nbspam.NbspamError, "name of a decision"),
        (MESSAGES, [*LABELS[:4], ""], nbspam.NbspamError, "cannot name a class"),
        ([*MESSAGES[:4], "text"], LABELS, TypeError, r"encode\(\)"),
        ([*MESSAGES[:4], Path("missing.eml")], LABELS, nbspam.NbspamError, "missing.eml"),
    ],
)
def test_what_cannot_be_learned_is_a_clear_error(
    messages: list[Any], labels: list[Any], error: type[Exception], text: str
) -> None:
    for learn in (MailClassifier().fit, MailClassifier().partial_fit):
        with pytest.raises(error, match=text):
            learn(messages, labels)


def test_use_before_fit_and_bad_mail_are_clear_errors() -> None:
    for use in (MailClassifier().predict, MailClassifier().predict_proba):
        with pytest.raises(NotFittedError):
            use(MESSAGES)
    fitted = MailClassifier().fit(MESSAGES, LABELS)
    for use in (fitted.predict, fitted.predict_proba):
        with pytest.raises(nbspam.NbspamError, match=r"missing\.eml"):
            use([*HAM, Path("missing.eml")])
    with pytest.raises(nbspam.NbspamError) as raised:
        MailClassifier(event_model="bayes").fit(MESSAGES, LABELS)
    assert raised.value.option == "event_model"
