"""The compiled core reads as Python does: the same tokens in the same order, counts and blocks."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbspam import __version__, limits, tokens
from nbspam.corpus.item import Item
from nbspam.corpus.reading import CoreBuilder, Mail, PythonBuilder, ShardReader
from nbspam.errors import UsageError
from nbspam.mail.headers import find_header, find_header_fields
from nbspam.model.block import Block
from nbspam.tables import read_table
from nbspam.tokens import KeyedTokens, count_tokens, describe_reader, find_core, read, read_in_python
from nbspam.tokens.bag import BIN_EDGES
from nbspam.tokens.measures import MAX_HOPS
from tests.laws.equal import GRAMMAR, PIECES, WANTED, find_difference, make_mutant
from tests.laws.test_golden import MESSAGES
from tests.mail.test_hostile_families import FAMILIES, SAMPLE

ROOT = Path(__file__).resolve().parents[2]
HOSTILE_BYTES = 20_000
N_MUTANTS = 1_500
BLOCK_FIELDS = ("starts", "columns", "counts", "labels", "sizes", "has_words", "identities", "keys", "views")

compiled = find_core()
needs_core = pytest.mark.skipif(compiled is None, reason=f"{describe_reader()}: make core builds one")


def mail_of_data() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "data").rglob("*.eml"))]


def differences(messages: Iterable[bytes]) -> list[str]:
    return [found for data in messages if (found := find_difference(data))]


@needs_core
@pytest.mark.parametrize("message", MESSAGES, ids=lambda path: path.stem)
def test_golden_messages_are_read_alike(message: Path) -> None:
    assert find_difference(message.read_bytes()) == ""


@needs_core
def test_the_core_leaves_few_golden_messages_to_python() -> None:
    before = sum(compiled.count_left().values())
    differences(path.read_bytes() for path in MESSAGES)
    assert sum(compiled.count_left().values()) - before <= len(MESSAGES) // 3, compiled.count_left()


@needs_core
def test_mail_of_data_is_read_alike() -> None:
    assert differences(mail_of_data()) == []


@needs_core
def test_broken_mail_is_read_alike(torture_files: list[Path]) -> None:
    assert differences(path.read_bytes() for path in torture_files) == []


@needs_core
@pytest.mark.slow
def test_real_mail_is_read_alike(spamassassin: Path) -> None:
    files = [path for path in sorted(spamassassin.rglob("*")) if path.is_file()]
    assert differences(path.read_bytes() for path in files[::5]) == []


@needs_core
@pytest.mark.slow
def test_hostile_mail_is_read_alike() -> None:
    for name, family in (FAMILIES | SAMPLE).items():
        assert find_difference(family(HOSTILE_BYTES)) == "", name


@needs_core
@pytest.mark.slow
def test_mutated_mail_is_read_alike() -> None:
    seeds = [*mail_of_data(), *(path.read_bytes() for path in MESSAGES)]
    for number in range(N_MUTANTS):
        name = f"law:{number}"
        assert find_difference(make_mutant(seeds, name)) == "", name


fields = st.sampled_from(
    ["From", "To", "Subject", "Date", "Received", "Message-ID", "X-Mailer", "Authentication-Results", "X"]
)
pieces = st.sampled_from([piece.decode("utf-8", "surrogateescape") for piece in PIECES])
texts = st.lists(st.one_of(pieces, st.text(max_size=20)), max_size=12).map("".join)


@needs_core
@given(st.lists(st.tuples(fields, texts), max_size=6), texts, st.sampled_from(["plain", "html", "x"]))
def test_any_mail_is_read_alike(header: list[tuple[str, str]], body: str, kind: str) -> None:
    lines = [f"{name}: {value}" for name, value in header]
    text = "\n".join([*lines, f"Content-Type: text/{kind}; charset=utf-8", "", body])
    assert find_difference(text.encode("utf-8", "surrogatepass" if "\udcff" not in text else "replace")) == ""


@needs_core
def test_fields_that_are_no_evidence_are_the_same() -> None:
    fields = read_table("fields")
    for name in fields["notes"] + fields["verdicts"]:
        for written in (name.replace("*", ""), name.replace("*", "a"), name.replace("*", "a") + "b"):
            assert find_difference(f"From: a@b.example\n{written}: words\n\ntext\n".encode()) == ""


@needs_core
def test_every_charset_has_the_same_names() -> None:
    for codec, names in read_table("charsets").items():
        for number, name in enumerate(names):
            label = (name, f"x-{name}*en", f"'{name}'", f"Windows-{name}", f"charset={name}:1988")[number % 5]
            head = f"Content-Type: text/plain; charset={label}\nSubject: =?{label}?q?=e4=e9?="
            assert find_difference(f"{head}\n\n".encode() + b"\xe4\xc1\xd2\n") == "", (codec, label)


@needs_core
def test_measures_are_binned_alike_at_every_edge() -> None:
    edges = {round(edge) for edges in BIN_EDGES.values() for edge in edges if 1 <= edge <= 600}
    for number in sorted(edges | {edge - 1 for edge in edges}):
        body = "!" * number + "\n" + "1" * number + "a" * (100 - min(number, 99))
        assert find_difference(f"Subject: {'s' * number}\n\n{body}\n".encode()) == ""
    hop = "Received: from a (unknown [192.0.2.7]) by b; Mon, 3 Jun 2024 10:00:00 +0200\n"
    for hops in (MAX_HOPS - 1, MAX_HOPS, MAX_HOPS + 1):
        assert find_difference((hop + "Received: x\n" * hops + "\n").encode()) == ""


@needs_core
def test_every_character_becomes_the_same_letters() -> None:
    codes = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    for first in range(0, len(codes), 1_000):
        text = " ".join(map(chr, codes[first : first + 1_000]))
        assert find_difference(f"Content-Type: text/plain; charset=utf-8\n\n{text}\n".encode()) == ""


@needs_core
def test_dates_are_read_alike() -> None:
    random = Random(1)
    for _ in range(500):
        day, month, zone = random.choice(GRAMMAR.split("¦")), random.choice(["Jan", "feb", "x"]), "+0200"
        year = random.choice(["1969", "1971", "2024", "2100", "2101", "24", "0024"])
        clock = random.choice(["10:00:00", "1:2:3", "24:00:00", "10:00", "10:00:60", "10.00.00"])
        zone = random.choice(["+0200", "-0000", "GMT", "utc", "EST", "+2", "", "(CET)", "+9999"])
        start = random.choice(["Mon, ", "mon ", "", day.replace("\n", "")])
        date = f"{start}{random.randrange(33)} {month} {year} {clock} {zone}"
        assert find_difference(f"Date: {date}\n\nx\n".encode("utf-8", "surrogateescape")) == "", date


@needs_core
def test_header_fields_are_found_alike() -> None:
    seeds = [path.read_bytes() for path in MESSAGES]
    for data in [*seeds, *(make_mutant(seeds, f"fields:{number}") for number in range(N_MUTANTS))]:
        assert compiled.find_fields(data) == (find_header(data), find_header_fields(data))


@needs_core
def test_defects_of_a_header_are_in_the_same_order() -> None:
    assert find_difference("Subject: ä\nTo: =?utf-8?q?=E4x?= a\nFrom: b@c.example\n\nx\n".encode()) == ""


@needs_core
def test_counted_tokens_are_the_same() -> None:
    for path in MESSAGES:
        data = path.read_bytes()
        ours, theirs = count_tokens(data, WANTED), KeyedTokens(read_in_python(data, WANTED))
        assert [list(view.items()) for view in ours.tokens] == [list(view.items()) for view in theirs.tokens]
        assert (ours.digest, ours.has_words) == (theirs.digest, theirs.has_words)


def blocks(builder: CoreBuilder | PythonBuilder, shards: list[list[bytes]]) -> list[Block]:
    found = []
    for shard in shards:
        messages = [Mail(f"{number}", number % 2, data) for number, data in enumerate(shard)]
        while messages:
            messages = messages[builder.read(messages) :]
        found.append(builder.build())
    return found


@needs_core
def test_blocks_have_the_same_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    mail = mail_of_data()[:120]
    shards, wanted = [mail[:50], mail[50:51], mail[40:]], frozenset(WANTED)
    ours = blocks(CoreBuilder(compiled, wanted), shards)
    monkeypatch.setattr(tokens, "_found", [(None, "")])
    theirs = blocks(PythonBuilder(wanted), shards)
    for one, other in zip(ours, theirs, strict=True):
        for name in BLOCK_FIELDS:
            mine, own = getattr(one, name), getattr(other, name)
            assert mine.dtype == own.dtype and np.array_equal(mine, own), name
        assert np.array_equal(one.dates, other.dates, equal_nan=True)
        assert (one.texts, one.names, one.lexicon.first) == (other.texts, other.names, other.lexicon.first)
        assert one.features.shape == other.features.shape


@needs_core
def test_an_interrupt_in_a_callback_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nbspam.mail.charset.decode", stop)
    data = b"Content-Type: text/plain; charset=koi8-r\n\n\xc1\xc2\xc3\n"
    with pytest.raises(KeyboardInterrupt):
        compiled.read(data, [])
    assert compiled.read(b"Subject: a\n\nb\n", []) is not None


@needs_core
def test_a_message_that_the_core_leaves_is_read_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    class Leaving:
        """A core that reads nothing."""

        read = count_tokens = staticmethod(lambda data, wanted: None)
        take_faults = staticmethod(lambda: ["core: panic at mail/headers.rs:1"])

        class Builder:
            def __init__(self, wanted: list[str]) -> None:
                own = compiled.Builder(wanted)
                self.add, self.build = own.add, own.build
                self.distinct, self.occurrences = own.distinct, own.occurrences

            def read(self, messages: list[bytes], most: int) -> list[None]:
                return [None]

    data = mail_of_data()[0]
    items = [Item("a", "ham", "a", data=data), Item("b", "spam", "b", data=MESSAGES[0].read_bytes())]
    expected = ShardReader(("ham", "spam"), frozenset(WANTED))(items).blocks[0]
    monkeypatch.setattr(tokens, "_found", [(Leaving, "")])
    found = ShardReader(("ham", "spam"), frozenset(WANTED))(items).blocks[0]
    for name in BLOCK_FIELDS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert read(data, WANTED).body == read_in_python(data, WANTED).body
    assert read(data, WANTED).failures == ["core: panic at mail/headers.rs:1"]
    assert count_tokens(data, WANTED).digest == KeyedTokens(read_in_python(data, WANTED)).digest


def test_both_readers_have_the_same_bounds() -> None:
    text = (ROOT / "core/src/limits.rs").read_text("utf-8")
    found = re.findall(r"const (\w+): \w+ = ([\d_]+)(?: << (\d+))?;", text)
    assert len(found) == text.count("const ") >= 4
    for name, number, shift in found:
        bound = getattr(limits, name, None) or getattr(limits.Allowance, name.lower())
        assert int(number) << int(shift or 0) == bound, name


# --- which reader runs ---


def test_the_core_has_the_version_of_nbspam() -> None:
    assert tomllib.loads((ROOT / "core/Cargo.toml").read_text("utf-8"))["package"]["version"] == __version__
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extras["core"] == [f"nbspam-core=={__version__}"]


def test_a_wrong_choice_of_reader_is_refused(tmp_path: Path) -> None:
    code = "from nbspam.__main__ import main; main()"
    command = [sys.executable, "-c", code, "train", ROOT / "data", "-m", "model"]
    environment = {"NBSPAM_CORE": "yes", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 64
    assert not list(tmp_path.iterdir())
    assert re.search(r"NBSPAM_CORE=yes.*\n  next: .*\[core\]", done.stderr)


@pytest.mark.parametrize(
    ("installed", "why"),
    [
        (None, "no compiled core is installed"),
        ({"__version__": "0.0.9"}, "the compiled core is of version 0.0.9"),
        ({}, "the compiled core cannot be loaded"),
    ],
)
def test_a_core_that_is_required_must_be_there(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, str] | None, why: str
) -> None:
    fake = None if installed is None else type("nbspam_core", (), installed)
    monkeypatch.setitem(sys.modules, "nbspam_core", fake)
    monkeypatch.setattr(tokens, "_found", [])
    monkeypatch.delenv("NBSPAM_CORE", raising=False)
    assert find_core() is None
    assert why in describe_reader()
    monkeypatch.setattr(tokens, "_found", [])
    monkeypatch.setenv("NBSPAM_CORE", "require")
    with pytest.raises(UsageError, match=why) as caught:
        find_core()
    assert "make core" in caught.value.remedy
