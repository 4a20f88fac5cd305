"""`nbspam vectorize`."""

from __future__ import annotations

from typing import Any

import click

from nbspam.cli import amount, counts_text
from nbspam.cli.options import SOURCE
from nbspam.cli.output import check_writable, output_file
from nbspam.cli.render import check_all_read, message_steps, say
from nbspam.cli.shared import labelled_source, named_files, options, source_argument
from nbspam.corpus.vectorize import (
    Columns,
    NumericColumns,
    Vectorized,
    WordColumns,
    vectorize,
)
from nbspam.corpus.vocabulary import read_vocabulary
from nbspam.errors import UsageError


@click.command("vectorize")
@source_argument
@options(*SOURCE, "vectorize.features", "vectorize.vocab", "vectorize.event_model", "output", "format")
@options("jobs", "verbose", "quiet")
def vectorize_command(features: str, output: str, form: str, jobs: int, quiet: bool, **given: Any) -> None:
    """Turn labelled mail into a matrix, or into sequences of codes.

    A row is a message.  With --features words a column is a code of the vocabulary, and column 0 is
    NOTAWORD.  With --features numeric a column is one of docs/numeric-features.md; nan is a missing value.

    npz is for numpy.load, without pickle: labels, class names and message names; with words a scipy CSR
    matrix (scipy.sparse.load_npz) and the words; with numeric features a dense matrix and the names of its
    columns.  svmlight numbers columns from 1 and has -1 and +1 for two classes, 1, 2, ... in class order
    for more.  jsonl has the features by name, or the codes: under multinomial one for each token, in order.

    \b
    Example:
        nbspam vectorize ~/Maildir --vocab vocab.tsv -o x.npz
        nbspam vectorize ~/Maildir --features numeric --format jsonl -o -

    Exit status: 0 written; 64 usage; 65 bad data; 66 no mail, or mail that cannot be read (the rest is
    written); 73 cannot create the file; 74 I/O.
    """
    _check_options(features, given)
    vocabulary = read_vocabulary(given["vocab"]) if features == "words" else None
    check_writable(output, *named_files(given))
    source = labelled_source(given, allow_one_class=True)
    if vocabulary:
        columns: Columns = WordColumns(vocabulary, given["event_model"])
    else:
        columns = NumericColumns(source.classes)
    with message_steps("Vectorizing", source, quiet) as advance:
        items, file = source.items(), output_file(output)
        done = vectorize(items, source.classes, columns, file, form, jobs, advance)
    if not quiet:
        say(_summary(columns, done))
    check_all_read(source.skipped, done.skipped)


def _check_options(features: str, given: dict[str, Any]) -> None:
    for option in ("vocab", "event_model"):
        if features == "words" and given[option] is None:
            remedy = "add it, or take `features=numeric`"
            raise UsageError("", "is needed for words", remedy, "usage", option=option)
        if features == "numeric" and given[option] is not None:
            why = "numeric features are no words of a vocabulary"
            raise UsageError(given[option], why, "leave it out", "features", option=option)


def _summary(columns: Columns, done: Vectorized) -> str:
    messages, counts = amount(sum(done.messages), "message"), counts_text(columns.classes, done.messages)
    if isinstance(columns, NumericColumns):
        return f"{messages} ({counts}), {amount(len(columns.names), 'numeric feature')}."
    tokens, codes = amount(done.tokens, "token"), amount(len(columns.names), "code")
    return f"{messages} ({counts}) of {tokens}, {codes}."
