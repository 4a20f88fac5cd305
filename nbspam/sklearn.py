"""A classifier of messages that scikit-learn can clone, put into a Pipeline and validate; extra sklearn.

It holds the bytes of a model file, and opens them whenever it is asked.  So it can be pickled, and any thread
or process can use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from nbspam.corpus.executor import choose_jobs
from nbspam.corpus.item import Item, take_bytes
from nbspam.decision import Unread, Verdict
from nbspam.filter import Filter, open_filter
from nbspam.labels import parse_class_name
from nbspam.tasks.api import train
from nbspam.tasks.update import update

if TYPE_CHECKING:
    from nbspam.corpus.item import Given


class MailClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # it has no types
    """The filter of nbspam.train as an estimator of scikit-learn, with the same probabilities.

    A message is bytes, an email.message.Message or a path object.  The text of a label names its class:
    `ham` and `spam` in small letters.  As everywhere in nbspam a lost wanted message costs 9, unless `loss`
    says otherwise: `loss="0-1"` predicts the likeliest label.

    jobs     : processes; None for all cores.  All other parameters are those of nbspam.train
    classes_ : the labels, sorted
    model_   : the bytes of the model file
    """

    jobs: int | None

    def __init__(
        self,
        event_model: str | None = None,
        alpha: float | None = None,
        prior: str | None = None,
        features: str | None = None,
        views: str | None = None,
        threshold: float | None = None,
        normalise: bool = False,
        numeric_model: str | None = None,
        bins: int | None = None,
        binning: str | None = None,
        textbook: bool = False,
        token_pattern: str | None = None,
        loss: str | None = None,
        jobs: int | None = 1,
    ) -> None:
        # scikit-learn asks for an attribute for each, unchanged.
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})

    def fit(self, messages: Iterable[Given], labels: Iterable[Any]) -> MailClassifier:
        """Train on messages of two or more labels.

        The messages of a label keep their order, as files do in a folder; the calibration depends on it.
        """
        pairs = _check_labelled(messages, labels)
        classes = np.unique([label for _, label in pairs])
        if len(classes) < 2:
            raise ValueError(f"two classes or more are needed; the labels are of {classes.tolist()}")
        mail = {str(name): [data for data, label in pairs if str(label) == str(name)] for name in classes}
        with train(classes=mail, **self.get_params()) as spam_filter:
            self.model_, self.classes_ = Path(spam_filter.model.path).read_bytes(), classes
        return self

    def partial_fit(
        self, messages: Iterable[Given], labels: Iterable[Any], classes: Iterable[Any] | None = None
    ) -> MailClassifier:
        """Add messages to the model; the first call trains, and needs each label.

        classes : the labels that the first call must have; None for those that it has
        The counts are those of one `fit` on all messages; the calibration goes on learning.
        """
        pairs = _check_labelled(messages, labels)
        present = {str(label) for _, label in pairs}
        if not hasattr(self, "model_"):
            if missing := {*map(str, () if classes is None else classes)} - present:
                raise ValueError(f"the first call needs messages of each class; there are none of {missing}")
            return self.fit([data for data, _ in pairs], [label for _, label in pairs])
        items = [
            Item(f"message {n:,}", str(label), "", data=data) for n, (data, label) in enumerate(pairs, 1)
        ]
        with self._open() as spam_filter:
            update(items, tuple(present), spam_filter.model.path, choose_jobs(self.jobs))
            self.model_ = Path(spam_filter.model.path).read_bytes()
        return self

    def predict(self, messages: Iterable[Given]) -> NDArray[Any]:
        """The label decided for each message; `unsure` if `loss` allows that."""
        names = [verdict.label for verdict in self._judge(messages)]
        label_of = {str(label): label for label in self.classes_}
        return np.array([label_of.get(name, name) for name in names], None if names else self.classes_.dtype)

    def predict_proba(self, messages: Iterable[Given]) -> NDArray[np.float64]:
        """float64 (n_messages, n_classes), in the order of `classes_`; nan where undefined (alpha = 0)."""
        shares = [verdict.probabilities or {} for verdict in self._judge(messages)]
        rows = [[share.get(str(label), np.nan) for label in self.classes_] for share in shares]
        return np.array(rows, np.float64).reshape(-1, len(self.classes_))

    def _judge(self, messages: Iterable[Given]) -> Iterator[Verdict]:
        with self._open() as spam_filter:
            for verdict in spam_filter.classify_many(messages, self.jobs):
                if isinstance(verdict, Unread):
                    raise verdict.error
                yield verdict

    def _open(self) -> Filter:
        """The filter of the model, in a file that goes when it is closed."""
        check_is_fitted(self)
        folder = TemporaryDirectory(prefix="nbspam-")
        path = Path(folder.name, "model.nbspam")
        path.write_bytes(self.model_)
        spam_filter = open_filter(str(path))
        spam_filter.owner = folder
        return spam_filter


def _check_labelled(messages: Iterable[Given], labels: Iterable[Any]) -> list[tuple[bytes, Any]]:
    """The bytes and the label of each message; an error that says what cannot be learned."""
    mail, known = [*map(take_bytes, messages)], [*labels]
    check_consistent_length(mail, known)
    for label in known:
        is_sound = isinstance(label, (str, int, np.integer, np.bool_))
        if not is_sound or parse_class_name(str(label), "labels") != str(label):
            raise ValueError(f"a label is a str or an int, 'ham' and 'spam' in small letters, not {label!r}")
    return [*zip(mail, known, strict=True)]
