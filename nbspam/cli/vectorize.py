"""`nbspam vectorize`."""

from __future__ import annotations

from typing import Any

import click

from nbspam.cli.output import check_writable, output_file
from nbspam.cli.render import MessageSteps, check_all_read, left_out_lines, say
from nbspam.cli.shared import (
    jobs_option,
    labelled_source,
    named_files,
    quiet_option,
    shows_progress,
    source_options,
    verbose_option,
)
from nbspam.cli.texts import amount, counts_text
from nbspam.corpus.matrix import EVENT_MODELS
from nbspam.corpus.matrix_formats import FORMATS
from nbspam.corpus.vocabulary import Vocabulary, read_vocabulary
from nbspam.tasks.vectorize import Vectorized, vectorize


@click.command("vectorize")
@source_options
@click.option("--vocab", metavar="FILE", required=True, help="The vocabulary whose codes are the columns.")
@click.option(
    "--event-model",
    type=click.Choice(EVENT_MODELS),
    required=True,
    help="bernoulli: 1 where the word is there; multinomial: how often, or the sequence.",
)
@click.option("-o", "--output", metavar="FILE", required=True, help="The file to write; - is stdout.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="npz",
    show_default=True,
    help="The form of the file.",
)
@jobs_option
@verbose_option
@quiet_option
def vectorize_command(
    vocab: str, event_model: str, output: str, form: str, jobs: int, quiet: bool, **given: Any
) -> None:
    """Turn labelled mail into a matrix, or into sequences of codes, over a vocabulary.

    A row is a message, a column a code of the vocabulary; column 0 is NOTAWORD.  Bernoulli rows hold 1
    where the word is in the message, multinomial rows how often it is.

    npz is a scipy CSR matrix (scipy.sparse.load_npz) with labels, class names, message names and words
    beside it (numpy.load, without pickle).  svmlight numbers columns from 1 and has -1 and +1 for two
    classes, 1, 2, ... in class order for more.  jsonl keeps the order: under multinomial `codes` has the code
    of each token in turn.

    \b
    Example:
        nbspam vectorize ~/Maildir --vocab vocab.tsv --event-model multinomial -o x.npz
        nbspam vectorize data --vocab vocab.tsv --event-model multinomial --format jsonl -o -

    Exit status: 0 written; 64 usage; 65 bad data; 66 no mail, or some that cannot be read: all other is
    written; 73 cannot create the file; 74 I/O.
    """
    vocabulary = read_vocabulary(vocab)
    check_writable(output, vocab, *named_files(given))
    source = labelled_source(given, allow_one_class=True)
    shown = shows_progress(quiet)
    with MessageSteps("Vectorizing", source, shown) as progress:
        done = vectorize(
            source.items(),
            source.classes,
            vocabulary,
            output_file(output),
            event_model,
            form,
            jobs,
            progress.advance,
        )
    if not quiet:
        say("\n".join([_summary(vocabulary, done), *left_out_lines(source)]))
    check_all_read(source.skipped, done.skipped)


def _summary(vocabulary: Vocabulary, done: Vectorized) -> str:
    """How much was written."""
    counts = counts_text(vocabulary.classes, done.messages)
    messages, tokens = amount(sum(done.messages), "message"), amount(done.tokens, "token")
    return f"{messages} ({counts}) of {tokens}, {amount(len(vocabulary.words), 'code')}."
