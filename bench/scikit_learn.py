"""scikit-learn as a filter: `train MODEL HAM SPAM` with two lists of paths, `classify MODEL PATH ...`."""

import pickle
import sys
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB


def train(model: Path, *lists: Path) -> None:
    """Make a model; the class of a message is the number of its list."""
    named = [(name, number) for number, path in enumerate(lists) for name in path.read_text().splitlines()]
    names, classes = zip(*named, strict=True)
    words = CountVectorizer(input="filename", decode_error="replace")
    law = MultinomialNB().fit(words.fit_transform(names), classes)
    model.write_bytes(pickle.dumps((words, law)))


def classify(model: Path, *paths: Path) -> None:
    """Print the probability of spam of each message."""
    words, law = pickle.loads(model.read_bytes())
    for shares, path in zip(law.predict_proba(words.transform(paths)), paths, strict=True):
        print(f"{shares[1]:.6f}\t{path}")


if __name__ == "__main__":
    {"train": train, "classify": classify}[sys.argv[1]](*map(Path, sys.argv[2:]))
