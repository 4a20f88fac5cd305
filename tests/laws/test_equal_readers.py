"""The compiled core reads as Python does: the same tokens in the same order, counts and blocks.

equal.txt has the mail and the pages, as lines with names of words; what is computed of them is here.
"""

import re
import subprocess
import sys
import tomllib
from base64 import b64encode
from collections.abc import Iterable
from html.entities import html5
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbspam import __version__, limits, tokens
from nbspam.corpus.item import Item
from nbspam.corpus.reading import CoreBuilder, Mail, PythonBuilder, ShardReader
from nbspam.errors import UsageError
from nbspam.mail import parse
from nbspam.mail.headers import find_header, find_header_fields
from nbspam.mail.html.reader import MAX_REACH, MAX_RESOLVED, MAX_SHEETS, MAX_TAGS, read_html
from nbspam.mail.html.styles import MAX_ASKED, MAX_LOOKS, MAX_RULES, MAX_SELECTORS
from nbspam.model.block import Block
from nbspam.tables import read_table
from nbspam.tokens import count_tokens, describe_reader, find_core, key_tokens, read, read_in_python
from nbspam.tokens.bag import BIN_EDGES
from nbspam.tokens.measures import MAX_HOPS
from tests.laws.equal import LINES, PIECES, WANTED, WORDS, differ, expand, find_difference, make_mutant
from tests.laws.escapes import unescape
from tests.laws.test_examples import OF_BYTES, OF_TEXT, sources
from tests.laws.test_golden import MESSAGES
from tests.mail.test_hostile_families import FAMILIES, SAMPLE
from tests.mail.test_html_laws import BROKEN, SELECTORS, STYLES, TREES

ROOT = Path(__file__).resolve().parents[2]
HOSTILE_BYTES = 20_000
N_MUTANTS = 500  # make equal MUTATE=... reads more
BLOCK_FIELDS = ("starts", "columns", "counts", "labels", "has_words", "identities", "keys", "views")

compiled = find_core()
needs_core = pytest.mark.skipif(
    not hasattr(compiled, "parse_for_test"), reason=f"{describe_reader()}: make core builds one"
)

# One more than a bound allows, and what is not read because of it.
ALLOWED = limits.Allowance
MIXED = "Content-Type: multipart/mixed; boundary=b\n\n"
NESTED = "Content-Type: multipart/mixed; boundary=b{0}\n\n--b{0}\n"
UNBOUND = "Content-Type: multipart/mixed; boundary=b\n\n--c{}\n"
LIKELY = "".join(f"--a{n:03}\n\n" for n in range(ALLOWED.delimiter_lines // 1_000 + 1))
UUENCODED = "#0V%T\n" * (ALLOWED.uu_lines // 2)
FIELDS = "X: b\n" * (limits.MAX_HEADER_BYTES // 5)
RUSSIAN = "=?x?q?=D0=D2=C9=D7=C5=D4?="
BOUNDS_OF_MAIL = {
    "header": "Subject: a\n" + "X: b\n" * limits.MAX_HEADER_LINES + "\nc",
    "a long header": "X: a\n b\n" + "c" * limits.MAX_HEADER_BYTES + "\n d\n\ne",
    "headers without an end": f"Content-Type: message/rfc822\nFrom {'a' * 300}\n" * 60 + FIELDS + "\nc",
    "a name": "a" * limits.MAX_FIELD_NAME + ": b\nFrom: c\n" + "a" * (limits.MAX_FIELD_NAME + 1) + ": d\n\ne",
    "From lines": "From a\n" * (limits.MAX_FROM_LINES + 1) + "To: b\n\nc",
    "body": "To: a\n\n" + "b" * limits.MAX_SCORED_BYTES + "\r\nc",
    "multiparts": "".join(map(NESTED.format, range(limits.MAX_NESTING + 2))) + "\ntext",
    "messages": "Content-Type: message/rfc822\n\n" * (limits.MAX_NESTING + 2) + "text",
    "parts": MIXED + "--b\n\na\n" * (ALLOWED.parts + 1),
    "words": "Subject: " + "=?utf-8?q?a?= b " * (ALLOWED.encoded_words + 1) + "\n\nc",
    "guesses": f"X: {RUSSIAN}\n" * (ALLOWED.guesses + 1) + "To: a\n\nb",
    "boundaries": "".join(map(UNBOUND.format, range(ALLOWED.boundary_guesses + 1))) + "Content-ID: a\n\nb",
    "delimiters": MIXED + "--c\n" * ALLOWED.delimiter_lines + "--b\n\na",
    "likely delimiters": f"Content-Type: multipart/mixed\n\n{LIKELY}--b\n\na\n--b\n",
    "parameters": "Content-Type: text/html" + "; a=b" * limits.MAX_PARAMETERS + "; charset=koi8-r\n\n\xc1",
    "a parameter": f"Content-Type: text/plain; a={'b' * limits.MAX_PARAMETER_BYTES}; charset=koi8-r\n\n\xc1",
    "base64": "Content-Transfer-Encoding: base64\n\n" + "QQ==\n" * (limits.MAX_BASE64_RUNS + 1),
    "uuencode": "To: a\n\n" + "begin 644 a\n#0V%T\n`\nend\n" * (limits.MAX_UU_BLOCKS + 1) + "b",
    "lines of uuencode": MIXED + f"--b\n\nbegin 644 a\n{UUENCODED}end\n" * 2,
}
BOUNDS_OF_PAGES = {
    "tags": "<b>" * MAX_TAGS + "<i>&amp;</i>",
    "open elements": "<p style=display:none>" + "<b>" * MAX_REACH + "</p>text",
    "sheets": "<style>.a{}</style>" * MAX_SHEETS + "<style>p{color:#fff}</style><p>text",
    "rules": "<style>" + "b{color:#fff}" * MAX_RULES + "p{color:#fff}</style><p>text",
    "selectors": "<style>" + "b:a," * MAX_SELECTORS + "p{color:#fff}</style><p>text",
    "marks": f"<style>{''.join(f'.a{n} p{{color:#fff}}' for n in range(MAX_ASKED))}</style>"
    "<div class=a98>one<p>two</div><div class=a99>one<p>two",
    "looks": f"<style>{'p{color:#fff}' * MAX_RULES}</style>"
    + "".join(f"<p id={n}>text" for n in range(MAX_LOOKS // MAX_RULES + 1)),
    "addresses": "<base href=http://a/>" + "<a href=b>c</a><img src=d>" * (MAX_RESOLVED + 1),
    "an address": f"<a href={'é' * 5_000}>",
}


def encode(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]


def measures() -> Iterable[str]:
    """Each measure at every edge of its bins."""
    edges = {round(edge) for edges in BIN_EDGES.values() for edge in edges if 1 <= edge <= 600}
    for number in sorted(edges | {edge - 1 for edge in edges}):
        yield f"Subject: {'s' * number}\n\n{'!' * number}\n{'1' * number}{'a' * (100 - min(number, 99))}\n"
    hop = "Received: from a (unknown [192.0.2.7]) by b; Mon, 3 Jun 2024 10:00:00 +0200\n"
    for hops in (MAX_HOPS - 1, MAX_HOPS, MAX_HOPS + 1):
        yield hop + "Received: x\n" * hops + "\n"


def encoded_charsets() -> Iterable[bytes]:
    """Texts in base64 and in parameters."""
    for charset in WORDS["charset"]:
        for text in WORDS["text"]:
            name = "".join(f"%{byte:02x}" for byte in text).encode()
            head = b"Subject: =?" + charset + b"?b?" + b64encode(text) + b"?= x\nContent-Type: text/plain"
            yield head + b"; name*0*=" + charset + b"''" + name + b"\n\n" + text


CODES = [code for code in range(0x80, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
NUMBERS = [*range(400), 0xD800, 0xDFFF, 0xFFFD, 0x10FFFF, 0x110000, 10**7, 10**8]
NAMES = [
    *html5,
    *(f"#{number}" for number in NUMBERS),
    *(f"#x0{number}" for number in NUMBERS),
    "nosuch;",
    "#x",
    "",
]
NO_EVIDENCE = [name for part in ("notes", "verdicts") for name in read_table("fields")[part]]
CHARSETS = [name for names in read_table("charsets").values() for name in names]
LABELS = ("{}", "x-{}*en", "'{}'", "Windows-{}", "charset={}:1988")
COMPUTED = {
    "mixed": [MIXED.encode()],
    "bounds": [text.encode("latin-1") for text in BOUNDS_OF_MAIL.values()],
    "encoded_charsets": [*encoded_charsets()],
    "measures": encode(measures()),
    "letters": encode(" ".join(map(chr, CODES[n : n + 1_000])) for n in range(0, len(CODES), 1_000)),
    "no_evidence": encode(
        name.replace("*", "a" * n) + "b" * (n // 2) for name in NO_EVIDENCE for n in range(3)
    ),
    "bounds_of_pages": encode(BOUNDS_OF_PAGES.values()),
    "reference": encode(name[:end] for name in NAMES for end in (None, -1)),
    "label": encode(LABELS[n % 5].format(name) for n, name in enumerate(CHARSETS)),
    "number": encode(f"{0.02 * 1.02**n:.4f}" for n in range(520)),
    "shade": encode(f"{n:02x}" for n in range(256)),
}


def check_tokens(messages: Iterable[bytes]) -> None:
    for data in messages:
        assert find_difference(data) == "", data[:500]


def check_message(data: bytes) -> None:
    """Compare all that is read of a message, but the codec that was used: no token tells it."""
    core = compiled.parse_for_test(data)
    assert differ(core, parse(data)) == "", data[:500]


def check_page(page: str) -> None:
    assert differ(compiled.read_html_for_test(page), read_html(page)) == "", page[:500]


@needs_core
@pytest.mark.parametrize("line", LINES["messages"])
def test_messages_are_read_alike(line: bytes) -> None:
    for data in expand(line, COMPUTED):
        check_message(data)


@needs_core
@pytest.mark.parametrize("line", LINES["mail"])
def test_mail_is_read_alike(line: bytes) -> None:
    check_tokens(expand(line, COMPUTED))


@needs_core
@pytest.mark.parametrize("line", LINES["pages"])
def test_pages_are_read_alike(line: bytes) -> None:
    for page in expand(line, COMPUTED):
        check_page(page.decode())


@needs_core
@pytest.mark.parametrize("section", [*OF_TEXT, *OF_BYTES])
def test_examples_are_read_alike(section: str) -> None:
    for source in map(unescape, sources(section)):
        if section in OF_TEXT:
            check_page(source.decode())
        line = source.replace(b"\n", b"\n ")
        for name in (b"Subject", b"Date", b"Received", b"Content-Type"):
            check_message(name + b": " + line + b"\n\n" + source)
        check_tokens(
            [source, b"Content-Type: text/html\nDate: " + line + b"\nTo: " + line + b"\n\n" + source]
        )


def mail_of_data() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "data").rglob("*.eml"))]


@needs_core
def test_mail_of_data_and_golden_mail_are_read_alike_and_little_is_left_to_python() -> None:
    check_tokens(mail_of_data())
    before = sum(compiled.count_left().values())
    check_tokens(path.read_bytes() for path in MESSAGES)
    assert sum(compiled.count_left().values()) - before <= len(MESSAGES) // 3, compiled.count_left()


@needs_core
def test_broken_mail_is_read_alike(torture_files: list[Path]) -> None:
    check_tokens(path.read_bytes() for path in torture_files)


@needs_core
@pytest.mark.slow
def test_real_mail_is_read_alike(spamassassin: Path) -> None:
    files = [path for path in sorted(spamassassin.rglob("*")) if path.is_file()]
    check_tokens(path.read_bytes() for path in files[::10])


@needs_core
@pytest.mark.slow
def test_hostile_and_mutated_mail_are_read_alike() -> None:
    check_tokens(family(HOSTILE_BYTES) for family in (FAMILIES | SAMPLE).values())
    seeds = [*mail_of_data(), *(path.read_bytes() for path in MESSAGES)]
    check_tokens(make_mutant(seeds, f"law:{number}") for number in range(N_MUTANTS))


@needs_core
def test_dates_are_read_alike() -> None:
    random = Random(1)
    draw = lambda section: random.choice(WORDS[section])  # noqa: E731
    for _ in range(500):
        date = draw("day") + b"%d %s %s " % (random.randrange(33), draw("month"), draw("year"))
        check_tokens([b"Date: " + date + draw("clock") + b" " + draw("zone") + b"\n\nx\n"])


fields = st.sampled_from(WORDS["field"])
pieces = st.sampled_from([*PIECES, b"\n", b" words "]) | st.text(max_size=20).map(str.encode)
values = st.lists(pieces, max_size=12).map(b"".join)
bodies = st.lists(values, max_size=4).map(b"\n--b\n".join)
rules = st.lists(st.tuples(SELECTORS.map("".join), STYLES), max_size=4)


@needs_core
@given(st.lists(st.tuples(fields, values), max_size=6), st.sampled_from(WORDS["kind"]), bodies)
@example([(b"Subject", b"=\0?utf-8?q?a?= ~\0{VPND~}")], b"text/plain", b"")  # no encoded word as it was sent
def test_any_mail_is_read_alike(header: list[tuple[bytes, bytes]], kind: bytes, body: bytes) -> None:
    head = b"".join(name + b": " + value + b"\n" for name, value in header)
    data = head + b"Content-Type: " + kind + b"\n\n--b\n" + body
    check_message(data)
    check_tokens([data])


@needs_core
@given(st.lists(BROKEN | TREES, max_size=4).map("".join))
@example("a<!-- b --> c --!> d<?e> f --!> g<!--!> h-->i")
@example("<img alt='a\f\tb\x1cc'\falt=d>")
@example("<a b='>'>c<p d=\"\n&copy=1\u212a\">e&NotEqualTilde;&ampx<svg><text>f<tspan y=1>g<title>h")
def test_any_page_is_read_alike(source: str) -> None:
    check_page(source)


@needs_core
@given(rules, STYLES, STYLES)
@example([("p", "color:hsl(0,0%,99%)")], "font-size:nan px", "color:rgb(0.5 1_0 2.5)")
def test_any_style_is_read_alike(rules: list[tuple[str, str]], first: str, second: str) -> None:
    sheet = "".join(f"{selector}{{{style}}}" for selector, style in rules)
    check_page(f'<style>{sheet}</style><p class=a style="{first}">one<td id=a style="{second}">two<b>three')


@needs_core
def test_header_fields_are_found_alike() -> None:
    seeds = [path.read_bytes() for path in MESSAGES]
    for data in [*seeds, *(make_mutant(seeds, f"fields:{number}") for number in range(N_MUTANTS))]:
        assert compiled.find_fields(data) == (find_header(data), find_header_fields(data))


@needs_core
def test_counted_tokens_are_the_same() -> None:
    for path in MESSAGES:
        data = path.read_bytes()
        ours, theirs = count_tokens(data, WANTED), key_tokens(read_in_python(data, WANTED))
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

    monkeypatch.setattr("nbspam.mail.parse", stop)
    data = b"Content-Type: text/plain; charset=utf-7\n\n\xc1\xc2\xc3\n"
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
            def __init__(self, wanted: list[str], n_classes: int, most_bytes: int) -> None:
                own = compiled.Builder(wanted, n_classes, most_bytes)
                self.add, self.build = own.add, own.build
                self.is_full, self.occurrences = own.is_full, own.occurrences

            def read(self, messages: list[bytes], labels: list[int], most: int) -> list[None]:
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
    assert count_tokens(data, WANTED).digest == key_tokens(read_in_python(data, WANTED)).digest


def test_both_readers_have_the_same_bounds() -> None:
    text = (ROOT / "core/src/limits.rs").read_text("utf-8")
    found = re.findall(r"(?:const )?(\w+):(?: \w+ =)? ([\d_]+)(?: << (\d+))?[;,]", text)
    assert len(found) == text.count("const ") + text.count(": i64") >= 15
    for name, number, shift in found:
        bound = getattr(limits, name, None) or getattr(limits.Allowance, name)
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
