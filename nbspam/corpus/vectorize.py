"""Labelled mail as a feature matrix, or as sequences of codes, in a file.

Columns are the codes of a vocabulary or the numeric features.  Formats:
npz   : words: a scipy CSR matrix (scipy.sparse.load_npz) with the arrays `words` and `event_model`;
        numeric: the dense float64 array `features`, NaN where missing, with the array `columns`.
        Both with `labels` (int64, class numbers), `classes` and `names`; nothing needs pickle.
jsonl : one object a message: `name`, `label`, and `codes` (multinomial: one a token, in order; bernoulli:
        the distinct ones, ascending) or `features` (name to value, null where missing).
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbspam.corpus.executor import run_shards
from nbspam.corpus.item import Item, Skipped
from nbspam.corpus.reading import Progress, cut_shards, read_messages
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.errors import BadDataError, NoInputError
from nbspam.settings import want_words
from nbspam.tokens.bag import NUMERIC, VIEWS, Tokens, number_views
from nbspam.tokens.numeric import NAMES

Values = NDArray[Any]


class Vector(NamedTuple):
    """One message.  label : class number;  values : what its Columns make of its tokens"""

    name: str
    label: int
    values: Values


class WordColumns:
    """The codes of a vocabulary.

    A message is the sequence of its tokens' codes (int32): header, body, structure; a token outside the
    vocabulary is code 0, NOTAWORD.  Its row has the counts (multinomial) or ones (bernoulli).
    """

    def __init__(self, vocabulary: Vocabulary, event_model: str = "multinomial") -> None:
        self.wanted = want_words(vocabulary.token_pattern)
        self.classes = vocabulary.classes
        self.names = [word.text for word in vocabulary.words]
        self._event_model = event_model
        self._codes = {name: code for code, name in enumerate(self.names) if code}
        self._views = [view for view in number_views(vocabulary.views) if view < len(VIEWS)]  # no measures

    def values(self, tokens: Tokens) -> Values:
        """What is kept of a message."""
        views = tokens.views()
        # A token may hold half of a surrogate pair, which a vocabulary file cannot.
        texts = (token.encode("utf-8", "replace").decode() for view in self._views for token in views[view])
        return np.array([self._codes.get(token, 0) for token in texts], np.int32)

    def cells(self, values: Values) -> tuple[Values, Values]:
        """The columns of a row, ascending, and their values."""
        codes, counts = np.unique(values, return_counts=True)
        return codes, (np.ones(len(codes), np.int32) if self._event_model == "bernoulli" else counts)

    def arrays(self, rows: list[Values]) -> dict[str, Values]:
        """The arrays of an npz file in addition to labels, classes and names."""
        cells = [self.cells(row) for row in rows]
        return {
            "data": np.concatenate([values for _, values in cells]).astype(np.int32),
            "indices": np.concatenate([codes for codes, _ in cells]),
            "indptr": np.cumsum([0, *(len(codes) for codes, _ in cells)]),
            "shape": np.array([len(rows), len(self.names)]),
            "format": np.array(b"csr"),
            "words": np.array(self.names),
            "event_model": np.array(self._event_model),
        }

    def content(self, values: Values) -> dict[str, object]:
        """The keys of a JSON object in addition to name and label."""
        return {"codes": (values if self._event_model == "multinomial" else self.cells(values)[0]).tolist()}


class NumericColumns:
    """The numeric features of docs/numeric-features.md: float64, NaN where missing."""

    wanted = frozenset((NUMERIC,))
    names = NAMES

    def __init__(self, classes: tuple[str, ...]) -> None:
        self.classes = classes

    def values(self, tokens: Tokens) -> Values:
        return np.array(tokens.numeric or [None] * len(NAMES), np.float64)

    def arrays(self, rows: list[Values]) -> dict[str, Values]:
        return {"features": np.array(rows).reshape(-1, len(NAMES)), "columns": np.array(NAMES)}

    def content(self, values: Values) -> dict[str, object]:
        known = [None if value != value else value for value in values.tolist()]
        return {"features": dict(zip(NAMES, known, strict=True))}


Columns = WordColumns | NumericColumns


def vectorize(
    items: Iterable[Item],
    classes: tuple[str, ...],
    columns: Columns,
    output: AbstractContextManager[BinaryIO],
    form: str,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[list[int], Skipped]:
    """Write the vectors of the items; how many messages of each class, and what could not be read.

    form : npz or jsonl; npz holds all vectors in memory
    A label has the same number in every file made with a vocabulary, so its classes must include `classes`.
    """
    _check_classes(classes, columns)
    messages = [0] * len(columns.classes)
    skipped: Skipped = []

    def vectors() -> Iterator[Vector]:
        for shard, unread in run_shards(partial(_read_shard, columns), cut_shards(items), jobs):
            skipped.extend(unread)
            for vector in shard:
                messages[vector.label] += 1
            yield from shard
            if progress:
                progress(len(shard))
        if not any(messages):
            raise NoInputError("SOURCE", "no readable message was found", "check SOURCE", "no-mail")

    with output as file:
        if form == "npz":
            _write_npz(file, list(vectors()), columns)
        else:
            file.writelines(_json_line(vector, columns) for vector in vectors())
    return messages, skipped


def _check_classes(classes: tuple[str, ...], columns: Columns) -> None:
    strangers = [name for name in classes if name not in columns.classes]
    if strangers:
        why = f"the vocabulary has no class {strangers[0]}; its classes: {', '.join(columns.classes)}"
        remedy = "build a vocabulary from mail of these classes, or leave the class out"
        raise BadDataError("SOURCE", why, remedy, "vocabulary-classes")


def _read_shard(columns: Columns, items: list[Item]) -> tuple[list[Vector], Skipped]:
    skipped: Skipped = []
    label_of = columns.classes.index
    vectors = [
        Vector(item.name, label_of(item.label), columns.values(tokens))
        for item, tokens in read_messages(items, skipped, columns.wanted)
    ]
    return vectors, skipped


def _write_npz(file: BinaryIO, vectors: list[Vector], columns: Columns) -> None:
    arrays: dict[str, Any] = {
        **columns.arrays([vector.values for vector in vectors]),
        "labels": np.array([vector.label for vector in vectors], np.int64),
        "classes": np.array(columns.classes),
        # Every program can read them: bytes that are not UTF-8 are written as escapes.
        "names": np.array([v.name.encode("utf-8", "backslashreplace").decode() for v in vectors], str),
    }
    np.savez_compressed(file, **arrays)


def _json_line(vector: Vector, columns: Columns) -> bytes:
    content = {"name": vector.name, "label": columns.classes[vector.label], **columns.content(vector.values)}
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"
