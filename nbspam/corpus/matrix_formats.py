"""Rows and sequences as files: npz, svmlight, jsonl.

Hides the three layouts.
npz      : data, indices, indptr, shape, format of scipy.sparse.save_npz (load_npz reads it), and labels
           (int64, class numbers), classes, names, words (Unicode), event_model; nothing needs pickle.
svmlight : `TARGET CODE:VALUE ... # NAME`, codes from 1 as the format has it (column j of the matrix is
           j + 1); TARGET is -1 and +1 for two classes, 1 .. K for more.
jsonl    : one object a message: name, label, and `codes`: under multinomial the sequence in order, under
           bernoulli the distinct codes, ascending.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np
from scipy import sparse

from nbspam.corpus.matrix import Coded, row_of
from nbspam.corpus.vocabulary import Vocabulary

FORMATS = ("npz", "svmlight", "jsonl")


def write(
    file: BinaryIO, messages: Iterable[Coded], vocabulary: Vocabulary, event_model: str, form: str
) -> None:
    """Writes the messages in one of FORMATS; only npz holds the matrix in memory."""
    if form == "npz":
        _write_npz(file, messages, vocabulary, event_model)
    elif form == "svmlight":
        file.writelines(_svmlight_lines(messages, len(vocabulary.classes), event_model))
    else:
        file.writelines(_json_lines(messages, vocabulary.classes, event_model))


def _write_npz(file: BinaryIO, messages: Iterable[Coded], vocabulary: Vocabulary, event_model: str) -> None:
    names: list[str] = []
    labels: list[int] = []
    rows = []
    for message in messages:
        names.append(_clean(message.name))
        labels.append(message.label)
        rows.append(row_of(message.codes, event_model))
    ends = np.cumsum([0, *(len(row.codes) for row in rows)])
    matrix = sparse.csr_matrix(
        (
            np.concatenate([np.zeros(0, np.int32), *(row.values for row in rows)]),
            np.concatenate([np.zeros(0, np.int32), *(row.codes for row in rows)]),
            ends,
        ),
        shape=(len(rows), len(vocabulary.words)),
    )
    np.savez_compressed(
        file,
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        shape=np.array(matrix.shape),
        format=np.array(b"csr"),
        labels=np.array(labels, np.int64),
        classes=np.array(vocabulary.classes),
        names=np.array(names, str),
        words=np.array([word.text for word in vocabulary.words]),
        event_model=np.array(event_model),
    )


def _clean(name: str) -> str:
    """A file name that every program can read: bytes that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _svmlight_lines(messages: Iterable[Coded], n_classes: int, event_model: str) -> Iterator[bytes]:
    for message in messages:
        row = row_of(message.codes, event_model)
        target = f"{2 * message.label - 1:+d}" if n_classes == 2 else str(message.label + 1)
        pairs = [
            f"{code + 1}:{value}" for code, value in zip(row.codes.tolist(), row.values.tolist(), strict=True)
        ]
        name = _clean(message.name).encode("unicode_escape").decode("ascii")  # a line stays a line
        yield f"{' '.join([target, *pairs])} # {name}\n".encode()


def _json_lines(messages: Iterable[Coded], classes: tuple[str, ...], event_model: str) -> Iterator[bytes]:
    for message in messages:
        codes = message.codes if event_model == "multinomial" else row_of(message.codes, event_model).codes
        content = {"name": message.name, "label": classes[message.label], "codes": codes.tolist()}
        yield json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
