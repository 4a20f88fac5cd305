"""`nbspam vocab` and `nbspam vectorize`: the numbered words of mail, and messages as rows of numbers."""

from functools import partial
from typing import Any

from nbspam.cli import SOURCE, Group, Options, command, messages_text, plain, say
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

GROUP_HELP = """Build and show vocabularies: numbered words with their counts in each class.

Code 0 is NOTAWORD: every word that is not in the vocabulary."""


@command(
    *(*SOURCE, "output", "size", "min_count", "word_list", "view", "token_pattern"),
    *("jobs", "verbose", "quiet"),
)
def build_command(options: Options) -> None:
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
    pattern = options.token_pattern or ""
    split = partial(match_words, pattern) if pattern else partial(split_words, limit=100)
    word_list = options.word_list
    listed, odd = read_word_list(word_list, split) if word_list else (None, 0)
    check_writable(options.output, *list_inputs(options))
    source = open_source(options)
    with message_steps("Counting", source) as advance:
        vocabulary, skipped = build_vocabulary(
            source.items(),
            source.classes,
            options.size,
            options.min_count,
            listed,
            options.view or ("body" if word_list or pattern else "all"),
            options.jobs,
            advance,
            pattern,
        )
    write_lines(options.output, format_lines(vocabulary))
    say(_summary(vocabulary, odd))
    check_all_read(source.skipped, skipped)


def _summary(vocabulary: Vocabulary, odd: int) -> str:
    outside = vocabulary.words[0]
    codes, messages = amount(len(vocabulary.words), "code"), amount(sum(vocabulary.messages), "message")
    text = f"{codes} from {messages}; {amount(sum(outside.occurrences), 'occurrence')} outside."
    return text + (f"\nSkipped {odd:,} lines that are not one word." if odd else "")


@command("file", "vocab.top", "json")
def show_command(options: Options) -> None:
    """Show the first codes of a vocabulary with their counts: messages/occurrences in each class.

    With --json writes one object for each code.

    \b
    Example:
        nbspam vocab show vocab.tsv --top 50

    Exit status: 0 shown; 65 not a vocabulary; 66 no such file.
    """
    vocabulary = read_vocabulary(options.file)
    words = list(enumerate(vocabulary.words))[: options.top or None]
    if not options.json:
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


vocab_command = Group(GROUP_HELP, build=build_command, show=show_command)


@command(
    *(*SOURCE, "vectorize.features", "vectorize.vocab", "vectorize.event_model", "token_pattern"),
    *("output", "format", "jobs", "verbose", "quiet"),
)
def vectorize_command(options: Options) -> None:
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
    _check_options(options)
    vocabulary = read_vocabulary(options.vocab) if options.features == "words" else None
    check_writable(options.output, *list_inputs(options))
    source = open_source(options, allow_one_class=True)
    if vocabulary:
        check_same_pattern(options.token_pattern or vocabulary.token_pattern, vocabulary)
        columns: Columns = WordColumns(vocabulary, options.event_model or "multinomial")
    else:
        columns = NumericColumns(source.classes)
    with message_steps("Vectorizing", source) as advance:
        mail = source.items(), source.classes
        output, jobs = open_output(options.output), options.jobs
        counts, skipped = vectorize(*mail, columns, output, options.format, jobs, advance)
    say(f"{messages_text(columns.classes, counts)}, {amount(len(columns.names), 'column')}.")
    check_all_read(source.skipped, skipped)


def _check_options(options: Options) -> None:
    if options.features == "words" and options.vocab is None:
        raise UsageError("", "words need it", "add it, or take `features=numeric`", "usage", option="vocab")
    if options.features == "numeric":
        options.refuse(["vocab", "event_model", "token_pattern"], "is for words", "leave it out")
