"""scikit-learn's naive Bayes over CountVectorizer, through the same folds as nbspam.

    python -m peers.scikit_learn SOURCE --folds 10 --event-model ComplementNB

The text is that of the file, header and all, as a beginner would feed it in; its defaults otherwise.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from nbspam.evaluation.outcomes import Outcome
from peers.common import Messages, arguments, by_folds, by_split, finish, read_messages

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
        joint = model.predict_joint_log_proba(matrix)
        shares = model.predict_proba(matrix)
        odds = joint[:, 1] - joint[:, 0]  # unrounded, where a probability would be 1
        return [
            Outcome(int(share.argmax()), float(one), tuple(share.tolist()))
            for share, one in zip(shares, odds, strict=True)
        ]


def decoded(content: bytes) -> str:
    """UTF-8 if it is, else Latin-1, which every byte string is."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def main() -> None:
    parser = arguments("Judge scikit-learn's naive Bayes as nbspam eval judges nbspam.")
    parser.add_argument("--event-model", choices=MODELS, default="MultinomialNB")
    options = parser.parse_args()
    if options.replay:
        parser.error("a replay would train anew for each message")
    messages = read_messages(options.source)
    settings = {"filter": f"scikit-learn CountVectorizer and {options.event_model}"}
    if options.test:

        def judge(both: Messages, train: list[int], rows: list[int]) -> list[Outcome]:
            return Batch(options.event_model, both)(train, rows)

        evaluation = by_split(messages, read_messages(options.test), judge, settings)
    else:
        batch = Batch(options.event_model, messages)
        evaluation = by_folds(messages, options.folds, options.seed, batch, settings)
    finish(evaluation, options)


if __name__ == "__main__":
    main()
