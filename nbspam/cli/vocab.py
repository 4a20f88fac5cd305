"""`nbspam vocab` and `nbspam vectorize`: the numbered words of mail, and messages as rows of numbers."""

from functools import partial
from typing import Any

import click

from nbspam.cli import messages_text, plain, say
from nbspam.cli.options import ANY_PATH, SOURCE, LongGroup, options
from nbspam.cli.progress import check_all_read, message_steps
from nbspam.cli.shared import check_writable, list_inputs, open_output, open_source, write_lines
from nbspam.cli.tables import console, print_rows, print_sentence, write_json
from nbspam.corpus.vectorize import Columns, NumericColumns, WordColumns, vectorize
from nbspam.corpus.vocabulary import (
    VIEW_COLUMN,
    Vocabulary,
    build_vocabulary,
    check_same_pattern,
    format_lines,
    read_vocabulary,
    read_word_list,
)
from nbspam.errors import UsageError
from nbspam.labels import amount, format_counts
from nbspam.store.check import TokenRow
from nbspam.tokens.own_words import match_words
from nbspam.tokens.words import split_words


@click.group("vocab", cls=LongGroup)
def vocab_command() -> None:
    """Build and show vocabularies: numbered words with their counts in each class.

    Code 0 is NOTAWORD: every word that is not in the vocabulary.
    """


@vocab_command.command("build")
@options(*SOURCE, "output", "size", "min_count", "word_list", "view", "token_pattern")
@options("jobs", "verbose", "quiet")
def build_command(output: str, word_list: str | None, view: str | None, quiet: bool, **given: Any) -> None:
    """Build a vocabulary: number the words of labelled mail, those in most messages first.

    Ties are ordered by occurrences, then by the alphabet.  Writes UTF-8, one line for each code, with tabs
    between the fields: code, view, word, and for each class the messages that hold the word and its
    occurrences.

    \b
    Example:
        nbspam vocab build ~/Maildir -o vocab.tsv --size 5000 --min-count 2
        nbspam train ~/Maildir --vocab vocab.tsv --textbook --event-model multinomial -m textbook.nbspam

    Exit status: 0 built; 64 usage; 65 bad data; 66 no mail, or mail that cannot be read (built from the
    rest); 73 cannot create the file; 74 I/O.
    """
    pattern = given["token_pattern"] or ""
    split = partial(match_words, pattern) if pattern else partial(split_words, limit=100)
    listed, odd = read_word_list(word_list, split) if word_list else (None, 0)
    check_writable(output, word_list, *list_inputs(given))
    source = open_source(given)
    with message_steps("Counting", source, quiet) as advance:
        vocabulary, skipped = build_vocabulary(
            source.items(),
            source.classes,
            given["size"],
            given["min_count"],
            listed,
            view or ("body" if word_list or pattern else "all"),
            given["jobs"],
            advance,
            pattern,
        )
    write_lines(output, format_lines(vocabulary))
    say(_summary(vocabulary, odd), quiet)
    check_all_read(source.skipped, skipped)


def _summary(vocabulary: Vocabulary, odd: int) -> str:
    outside = vocabulary.words[0]
    codes, messages = amount(len(vocabulary.words), "code"), amount(sum(vocabulary.messages), "message")
    text = f"{codes} from {messages}; {amount(sum(outside.occurrences), 'occurrence')} outside."
    return text + (f"\nSkipped {odd:,} lines that are not one word." if odd else "")


@vocab_command.command("show")
@click.argument("file", type=ANY_PATH)
@options("vocab.top", "json")
def show_command(file: str, top: int, json: bool) -> None:
    """Show the first codes of a vocabulary with their counts: messages/occurrences in each class.

    With --json writes one object for each code.

    \b
    Example:
        nbspam vocab show vocab.tsv --top 50

    Exit status: 0 shown; 65 not a vocabulary; 66 no such file.
    """
    vocabulary = read_vocabulary(file)
    words = list(enumerate(vocabulary.words))[: top or None]
    if not json:
        _show(vocabulary, words)
        return
    for code, word in words:
        write_json(_content(vocabulary, code, word))


def _content(vocabulary: Vocabulary, code: int, word: TokenRow) -> dict[str, Any]:
    return {
        "code": code,
        "word": word.text,
        "view": VIEW_COLUMN[word.view],
        "documents": dict(zip(vocabulary.classes, word.documents, strict=True)),
        "occurrences": dict(zip(vocabulary.classes, word.occurrences, strict=True)),
    }


def _show(vocabulary: Vocabulary, words: list[tuple[int, TokenRow]]) -> None:
    codes = amount(len(vocabulary.words), "code")
    counts = format_counts(vocabulary.classes, vocabulary.messages)
    title = f"{codes} of view {vocabulary.views}, counted in {counts}; messages/occurrences a class\n"
    print_sentence(console(), title)
    heads, rows = ["code", "view", *map(plain, vocabulary.classes), "word"], []
    for code, word in words:
        pairs = [f"{n}/{times}" for n, times in zip(word.documents, word.occurrences, strict=True)]
        rows.append([str(code), VIEW_COLUMN[word.view], *pairs, plain(word.text)])
    print_rows(heads, rows, heads[1:-1], is_headed=True)


@click.command("vectorize")
@options(*SOURCE, "vectorize.features", "vectorize.vocab", "vectorize.event_model", "token_pattern")
@options("output", "format", "jobs", "verbose", "quiet")
def vectorize_command(features: str, output: str, form: str, jobs: int, quiet: bool, **given: Any) -> None:
    """Turn labelled mail into a matrix, or into sequences of codes.

    A row is a message.  With --features words a column is a code of the vocabulary, and column 0 is
    NOTAWORD.  With --features numeric a column is one of docs/numeric-features.md; nan is a missing value.

    npz is for numpy.load, without pickle: labels, class names and message names; with words a scipy CSR
    matrix (scipy.sparse.load_npz) and the words; with numeric features a dense matrix and the names of its
    columns.  jsonl has the features by name, or the codes: under multinomial one for each token, in order.

    \b
    Example:
        nbspam vectorize ~/Maildir --vocab vocab.tsv -o x.npz
        nbspam vectorize ~/Maildir --features numeric --format jsonl -o -

    Exit status: 0 written; 64 usage; 65 bad data; 66 no mail, or mail that cannot be read (the rest is
    written); 73 cannot create the file; 74 I/O.
    """
    _check_options(features, given)
    vocabulary = read_vocabulary(given["vocab"]) if features == "words" else None
    check_writable(output, *list_inputs(given))
    source = open_source(given, allow_one_class=True)
    if vocabulary:
        check_same_pattern(given["token_pattern"] or vocabulary.token_pattern, vocabulary)
        columns: Columns = WordColumns(vocabulary, given["event_model"] or "multinomial")
    else:
        columns = NumericColumns(source.classes)
    with message_steps("Vectorizing", source, quiet) as advance:
        items, file = source.items(), open_output(output)
        counts, skipped = vectorize(items, source.classes, columns, file, form, jobs, advance)
    say(f"{messages_text(columns.classes, counts)}, {amount(len(columns.names), 'column')}.", quiet)
    check_all_read(source.skipped, skipped)


def _check_options(features: str, given: dict[str, Any]) -> None:
    if features == "words" and given["vocab"] is None:
        raise UsageError("", "words need it", "add it, or take `features=numeric`", "usage", option="vocab")
    for option in ("vocab", "event_model", "token_pattern"):
        if features == "numeric" and given[option] is not None:
            raise UsageError(given[option], "is for words", "leave it out", "usage", option=option)
