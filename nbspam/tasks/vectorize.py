"""Labelled mail and a vocabulary -> a file of vectors.

The use case: check that the classes are the vocabulary's (a label must mean the same number in every file
made with it), read in parallel, write in one of the formats, whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple

from nbspam.corpus import Item
from nbspam.corpus.item import Skipped
from nbspam.corpus.matrix import Coded, read_codes
from nbspam.corpus.matrix_formats import write
from nbspam.corpus.reading import Progress
from nbspam.corpus.vocabulary import Vocabulary
from nbspam.errors import BadDataError, NoInputError


class Vectorized(NamedTuple):
    """What was written: messages of each class, and tokens."""

    messages: tuple[int, ...]
    tokens: int
    skipped: Skipped


def vectorize(
    items: Iterable[Item],
    classes: tuple[str, ...],
    vocabulary: Vocabulary,
    output: AbstractContextManager[BinaryIO],
    event_model: str,
    form: str,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Vectorized:
    """Writes the vectors of the items to the output in the given form."""
    strangers = [name for name in classes if name not in vocabulary.classes]
    if strangers:
        why = f"the vocabulary has no class {strangers[0]}; its classes: {', '.join(vocabulary.classes)}"
        remedy = "build a vocabulary from mail of these classes, or leave the class out"
        raise BadDataError("SOURCE", why, remedy, "vocabulary-classes")
    counts = [0] * len(vocabulary.classes)
    tokens = 0
    skipped: Skipped = []

    def messages() -> Iterator[Coded]:
        nonlocal tokens
        for found, unread in read_codes(items, vocabulary, jobs):
            skipped.extend(unread)
            for message in found:
                counts[message.label] += 1
                tokens += len(message.codes)
            if progress:
                progress(len(found), sum(message.size_bytes for message in found))
            yield from found
        if not any(counts):
            raise NoInputError("SOURCE", "no readable message was found", "check SOURCE", "no-mail")

    with output as file:
        write(file, messages(), vocabulary, event_model, form)
    return Vectorized(tuple(counts), tokens, skipped)
