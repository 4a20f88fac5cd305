"""Vocabularies: numbered words with their counts, NOTAWORD first; and training on them."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam.corpus.labelled import open_labelled
from nbspam.corpus.vocabulary import (
    Vocabulary,
    build_vocabulary,
    escape_text,
    format_lines,
    read_vocabulary,
    unescape_text,
)
from nbspam.errors import BadDataError, NbspamError
from nbspam.store.check import TokenRow
from nbspam.store.reader import open_model
from nbspam.tokens.bag import NOTAWORD_VIEW
from tests.tiny_mail import mail, run, write_folders

CHINA = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao"]
OTHER = ["Tokyo Japan Chinese"]


@pytest.fixture
def china(tmp_path: Path) -> Path:
    """Manning et al. 2008, table 13.1."""
    return write_folders(tmp_path / "mail", {"china": map(mail, CHINA), "other": map(mail, OTHER)})


def rows(text: str) -> list[list[str]]:
    """The lines of a vocabulary file after its header."""
    return [line.split("\t") for line in text.splitlines()[6:]]


def test_a_vocabulary_counts_messages_and_occurrences_of_each_class(china: Path) -> None:
    found = rows(run("vocab", "build", china, "--view", "body", "-o", "-", "-q"))
    assert found == [
        ["0", "-", "NOTAWORD", "0", "0", "0", "0"],
        ["1", "body", "chinese", "3", "5", "1", "1"],
        ["2", "body", "beijing", "1", "1", "0", "0"],
        ["3", "body", "japan", "0", "0", "1", "1"],
        ["4", "body", "macao", "1", "1", "0", "0"],
        ["5", "body", "shanghai", "1", "1", "0", "0"],
        ["6", "body", "tokyo", "0", "0", "1", "1"],
    ]


def test_words_left_out_are_counted_as_notaword(china: Path) -> None:
    found = rows(run("vocab", "build", china, "--view", "body", "--size", "1", "-o", "-", "-q"))
    assert found == [["0", "-", "NOTAWORD", "3", "3", "1", "2"], ["1", "body", "chinese", "3", "5", "1", "1"]]


def test_words_of_a_list_are_spelled_as_tokens(china: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("# a dictionary\nTOKYO\nChinese\n\nnever-met\ntwo words\n", encoding="utf-8")
    found = rows(run("vocab", "build", china, "--word-list", words, "-o", "-", "-q"))
    assert found == [
        ["0", "-", "NOTAWORD", "3", "3", "1", "1"],
        ["1", "body", "tokyo", "0", "0", "1", "1"],
        ["2", "body", "chinese", "3", "5", "1", "1"],
        ["3", "body", "never-met", "0", "0", "0", "0"],
    ]


@pytest.mark.parametrize("size", [1, 40, 100_000])
@pytest.mark.parametrize("views", ["all", "body"])
def test_notaword_and_the_words_together_are_all_tokens(data: Path, size: int, views: str) -> None:
    source = open_labelled([str(data)])
    whole = build_vocabulary(source.items(), source.classes, views=views)[0]
    cut = build_vocabulary(source.items(), source.classes, size=size, views=views)[0]
    assert len(cut.words) == 1 + min(size, len(whole.words) - 1)
    for k in range(2):
        occurrences = [sum(word.occurrences[k] for word in one.words) for one in (whole, cut)]
        assert occurrences[0] == occurrences[1]


def test_training_on_a_vocabulary_counts_what_building_it_counted(data: Path, tmp_path: Path) -> None:
    run("vocab", "build", data, "--size", "200", "-o", tmp_path / "v.tsv", "-q")
    run("train", data, "--vocab", tmp_path / "v.tsv", "-m", tmp_path / "m", "-q")
    vocabulary = read_vocabulary(str(tmp_path / "v.tsv"))
    model = open_model(str(tmp_path / "m"))
    stored = model.counts([0, *vocabulary.keys()])
    for key, word in zip([0, *vocabulary.keys()], vocabulary.words, strict=True):
        assert stored[key][::2] == word.documents
        assert stored[key][1::2] == word.occurrences
    assert sum(model.words) == 201


def test_words_that_no_message_holds_count_in_the_vocabulary_size(china: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("chinese\ntokyo\nnever\never\n", encoding="utf-8")
    run("vocab", "build", china, "--word-list", words, "-o", tmp_path / "v.tsv", "-q")
    options = ["--vocab", tmp_path / "v.tsv", "--event-model", "multinomial", "-m", tmp_path / "m", "-q"]
    run("train", china, *options)
    facts = json.loads(run("model", "info", "--json", "-m", tmp_path / "m"))
    assert facts["vocabulary_size"] == 5  # 4 words and NOTAWORD


@given(st.text())
def test_escaped_text_comes_back(text: str) -> None:
    assert unescape_text(escape_text(text)) == text
    assert not set("\t\n\r") & set(escape_text(text))


@given(
    st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=8)
)
def test_a_written_vocabulary_reads_back_also_with_windows_line_ends(texts: list[str]) -> None:
    words = [TokenRow("NOTAWORD", NOTAWORD_VIEW, (1, 0), (2, 0))]
    words += [TokenRow(text, n % 3, (1, 1), (1, 4)) for n, text in enumerate(texts) if text != "NOTAWORD"]
    vocabulary = Vocabulary(("ham", "spam"), (3, 1), "all", words)
    text = "".join(format_lines(vocabulary))
    assert read_back(text) == read_back(text.replace("\n", "\r\n")) == vocabulary


def read_back(text: str) -> Vocabulary:
    """What read_vocabulary makes of this text."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        return read_vocabulary(file.name)


GOOD = (
    "#nbspam-vocabulary\t1\n#views\tall\n#codes\t2\n#classes\tham\tspam\n#messages\t3\t1\n"
    "code\tview\tword\tdocuments:ham\toccurrences:ham\tdocuments:spam\toccurrences:spam\n"
    "0\t-\tNOTAWORD\t1\t2\t0\t0\n1\tbody\tx\t3\t5\t1\t1\n"
)


@pytest.mark.parametrize("end", range(len("#nbspam-vocabulary"), len(GOOD) - 1))
def test_a_vocabulary_cut_short_anywhere_is_refused(end: int) -> None:
    with pytest.raises(BadDataError):
        read_back(GOOD[:end])


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("vocabulary\t1", "vocabulary\t9", "newer"),
        ("#messages\t3\t1", "#messages\t3", "lines 1-6"),
        ("ham\tspam\n#m", "spam\tham\n#m", "line 4"),
        ("1\tbody\tx\t3", "2\tbody\tx\t3", "line 8"),
        ("1\tbody\tx\t3", "1\tlegs\tx\t3", "line 8"),
        ("\t3\t5\t1\t1\n", "\t3\t-5\t1\t1\n", "line 8"),
        ("NOTAWORD", "word", "line 7"),
        ("\tx\t", "\ta\\q\t", "line 8"),
        ("1\tbody\tx\t3\t5\t1\t1\n", 2 * "1\tbody\tx\t3\t5\t1\t1\n", "line 3"),
        ("#codes\t2", "#codes\t1", "line 3"),
    ],
)
def test_a_damaged_vocabulary_is_refused_with_the_place(old: str, new: str, where: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(NbspamError, match=where):
        read_back(GOOD.replace(old, new))
