"""What holds for the tokens of every mail, honest or hostile."""

import math
import quopri
import sys
from base64 import encodebytes
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nbspam.limits import MAX_TOKENS
from nbspam.tokens import read, read_in_python
from nbspam.tokens.bag import READ_VIEWS, Tokens, identify_message
from nbspam.tokens.numeric import NAMES
from nbspam.tokens.words import MAX_WORD

MAX_TOKEN = 170  # characters: a name and two words, each an address of twice MAX_WORD


def check(found: Tokens, seen: dict[str, int]) -> None:
    for view, tokens in enumerate(found.views()):
        assert len(tokens) <= MAX_TOKENS
        for token in tokens:
            assert token.split() == [token], "white space"
            assert len(token) <= MAX_TOKEN
            assert seen.setdefault(token, view) == view, "in two views"
    for name, value in zip(NAMES, found.numeric, strict=False):  # none unless they were asked for
        assert value is None or math.isfinite(value), name
        if "share" in name and value is not None and name != "visible_html_share":
            assert 0 <= value <= 1, name


def files_of(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]


def test_the_longest_token_is_a_pair_of_addresses() -> None:
    address = "a@" + "b" * (2 * MAX_WORD - 2)
    tokens = read(f"Subject: {address} {address}\n\n".encode()).header
    assert max(map(len, tokens)) == MAX_TOKEN - 1
    specification = Path(__file__).parents[2] / "docs" / "tokens.md"
    assert f"at most {MAX_TOKEN} characters" in specification.read_text(encoding="utf-8")


def test_real_tokens_hold_no_white_space_and_belong_to_one_view(data: Path, spamassassin: Path) -> None:
    seen: dict[str, int] = {}
    for path in files_of(data) + files_of(spamassassin)[::6]:
        check(read(path.read_bytes(), ("bigrams", "raw", "measures", "signature")), seen)
    assert set(seen.values()) == set(range(len(READ_VIEWS)))


def test_broken_mail_gives_sound_tokens(torture_files: list[Path]) -> None:
    seen: dict[str, int] = {}
    for path in torture_files:
        found = read(path.read_bytes(), ("measures", "signature", "numeric"))
        check(found, seen)
        assert found.failures == []
    assert len(seen) > 10_000


@given(st.binary(max_size=400), st.text(max_size=200))
def test_any_bytes_and_any_text_become_tokens(raw: bytes, text: str) -> None:
    written = text.encode("utf-8", "surrogatepass")
    for data in (
        raw,
        b"Subject: " + raw + b"\n\n" + raw,
        b"Content-Type: text/html\n\n" + written,
        b"Content-Type: text/html\n\n<a href=" + raw,
        b"Content-Type: text/plain; charset=utf-8\n\nhttp://" + written,
        b"Content-Type: message/rfc822\n\n" + raw,
        b"Content-Type: multipart/mixed\n\n--b\n" + raw,
        b"Date: " + raw,
        b"From: @\n\n" + raw,
    ):
        found = read(data, ("bigrams", "raw", "measures", "signature", "numeric"))
        check(found, {})
        assert found.failures == []


def test_flood_of_links_pushes_out_no_token_of_the_whole_message() -> None:
    url = "http://a.example/" + "/".join(f"w{number}" for number in range(30))
    flood = f"From: a\nTo: b\nContent-Type: text/html\n\n{f'<a href={url}>{url} </a><img src={url}>' * 500}"
    found = read(flood.encode()).structure
    assert len(found) == MAX_TOKENS
    assert {"type=text/html", "parts=1", "order=from>to"} <= set(found)


def memories() -> list[Any]:
    """All that the reader remembers."""
    rooms = ("nbspam.mail", "nbspam.tokens")
    modules = [module for name, module in sys.modules.items() if name.startswith(rooms)]
    return [value for module in modules for value in vars(module).values() if hasattr(value, "cache_clear")]


def test_the_tokens_are_the_same_whatever_was_read_before(data: Path) -> None:
    files = files_of(data)[:400]
    for memory in memories():
        memory.cache_clear()
    for path in files:
        read_in_python(path.read_bytes())
    assert sum(memory.cache_info().currsize for memory in memories()) > 100
    knowing = [read_in_python(path.read_bytes()).views() for path in files]
    for path, views in zip(files, knowing, strict=True):
        for memory in memories():
            memory.cache_clear()
        assert read_in_python(path.read_bytes()).views() == views


ENCODERS = {"8bit": bytes, "quoted-printable": quopri.encodestring, "base64": encodebytes}
PARTS = st.tuples(
    st.sampled_from(["text/plain", "text/html", "application/octet-stream"]),
    st.sampled_from(["utf-8", "koi8-r", "windows-1252"]),
    st.text(st.sampled_from(" \n\t.=+-<>&;/:@aZ9é€жя中"), max_size=300).map(lambda text: f"{text}cherries\n"),
)


def write_mail(parts: list[tuple[str, str, str]], encoding: str) -> bytes:
    """A mail with the same header and parts in a transfer encoding.  parts : types, charsets and texts"""
    found = b"From: a@pear.example\nSubject: cherries\nMIME-Version: 1.0\n"
    if len(parts) > 1:
        found += b'Content-Type: multipart/mixed; boundary="=_b"\n'
    for kind, charset, text in parts:
        found += b"\n--=_b\n" if len(parts) > 1 else b""
        found += f"Content-Type: {kind}; charset={charset}\n".encode()
        found += f"Content-Transfer-Encoding: {encoding}\n\n".encode()
        found += ENCODERS[encoding](text.encode(charset, "replace"))
    return found


@given(st.lists(PARTS, min_size=1, max_size=3))
def test_a_mail_is_the_same_in_each_transfer_encoding(parts: list[tuple[str, str, str]]) -> None:
    forms = [write_mail(parts, encoding) for encoding in ENCODERS]
    assert len({identify_message(reader(form)) for form in forms for reader in (read, read_in_python)}) == 1
    other = write_mail([*parts[:-1], ("text/plain", "utf-8", "dates\n")], "8bit")
    assert identify_message(read(other)) != identify_message(read(forms[0]))
