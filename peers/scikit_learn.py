"""scikit-learn's naive Bayes over words, through the same folds, split and replay as nbspam.

    python -m peers.scikit_learn SOURCE --folds 10 --event-model ComplementNB

The text is that of the file, header and all, as a beginner would feed it in; its defaults otherwise.
CountVectorizer makes the words; in a replay HashingVectorizer, for `partial_fit` needs a fixed vocabulary.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from nbspam.evaluation.outcomes import Outcome
from peers.common import Messages, evaluate, finish, make_parser

HASHES = 2**18
MODELS = {"MultinomialNB": MultinomialNB, "ComplementNB": ComplementNB, "BernoulliNB": BernoulliNB}


class Batch:
    """Trains one model on some rows and judges others."""

    def __init__(self, name: str, messages: Messages) -> None:
        self._model = MODELS[name]
        self._labels = messages.corpus.truth()
        self._texts = np.array([decoded(content) for content in messages.contents], dtype=object)

    def __call__(self, train: list[int], rows: list[int]) -> list[Outcome]:
        vectorizer = CountVectorizer()
        model = self._model().fit(vectorizer.fit_transform(self._texts[train]), self._labels[train])
        matrix = vectorizer.transform(self._texts[rows])
        return outcomes_of(model.predict_joint_log_proba(matrix))


class ScikitReplay:
    """One model that learns message by message."""

    def __init__(self, name: str, messages: Messages) -> None:
        self._model = MODELS[name]()
        texts = [decoded(content) for content in messages.contents]
        words = HashingVectorizer(n_features=HASHES, alternate_sign=False, norm=None)
        self._matrix = words.transform(texts)
        self._learned: set[int] = set()

    def score(self, message: int) -> Outcome:
        if len(self._learned) < 2:
            return Outcome(0, 0.0, (0.5, 0.5))
        return outcomes_of(self._model.predict_joint_log_proba(self._matrix[message]))[0]

    def learn(self, message: int, label: int) -> None:
        self._model.partial_fit(self._matrix[message], [label], classes=[0, 1])
        self._learned.add(label)


def outcomes_of(joint: np.ndarray) -> list[Outcome]:
    """The likelier class.  joint : float64 (n_messages, 2), its differences are the log-odds, unrounded"""
    odds = joint[:, 1] - joint[:, 0]
    shares = np.exp(-np.logaddexp(0, np.stack([odds, -odds], axis=1)))
    return [
        Outcome(int(one > 0), float(one), tuple(share.tolist()))
        for share, one in zip(shares, odds, strict=True)
    ]


def decoded(content: bytes) -> str:
    """UTF-8 if it is, else Latin-1, which every byte string is."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def main() -> None:
    parser = make_parser("Judge scikit-learn's naive Bayes as nbspam eval judges nbspam.")
    parser.add_argument("--event-model", choices=MODELS, default="MultinomialNB")
    options = parser.parse_args()
    name = options.event_model
    settings = {"filter": f"scikit-learn {name}"}
    finish(evaluate(options, settings, partial(Batch, name), partial(ScikitReplay, name)), options)


if __name__ == "__main__":
    main()
